// A table makes the parser, the range checks and --help of taso-opt, and the names that the library knows.
#include "optimizer/job/options.h"

#include "onnx/convert/imported_model.h"

const char *const optimize_searches[] = {"backtracking", "saturation", "both", NULL};
const char *const optimize_devices[] = {"cpu", "fake", "cuda", NULL};
const char *const optimize_layouts[] = {"standard", "joint", "sequential", "graph-only", "layout-only", "auto", NULL};

// The options that others have an effect with.
#define REWRITES "--no-layout layout-only"
#define BACKTRACKS "--search backtracking|both"
#define SATURATES "--search saturation|both"
#define RUNS_MODELS "--device cpu|cuda or --runtime onnxruntime"
#define TIMES_MODELS RUNS_MODELS " or --measure-command"

#define FIELD(name) offsetof(struct optimize_arguments, name)
const struct option_spec optimize_option_specs[] = {
    {"output", OPTION_TEXT, FIELD(optimize.output), .letter = 'o', .metavar = "FILE",
     .help =
         "where the optimized model goes: FILE.onnx; FILE.taso, compiled for taso-run and the library; or - for ONNX "
         "on standard output (the report is on stderr then); without it nothing is written",
     .group = "What is written"},
    {"json", OPTION_TEXT, FIELD(json), .metavar = "FILE", .help = "write the report as JSON too"},
    {"html", OPTION_TEXT, FIELD(html), .metavar = "FILE",
     .help = "write the report as a page with both files to zoom into"},
    {"explain", OPTION_FLAG, FIELD(is_explained), .beside = {"--no-quiet"},
     .help = "report everything, each rewrite with its estimated gain among it, and not ten lines alone"},
    {"quiet", OPTION_FLAG, FIELD(is_quiet), .letter = 'q', .help = "print errors only"},
    {"verbose", OPTION_FLAG, FIELD(is_verbose), .letter = 'v', .beside = {"--no-quiet"}, .help = "say more on the way"},
    {"shape", OPTION_LIST, FIELD(optimize.shapes), .metavar = "NAME=1,3,224,224",
     .help = "the shape of an input, or SYMBOL=8 for a symbolic dimension", .group = "What is given"},
    {"profile", OPTION_LIST, FIELD(optimize.profiles), .metavar = "SYMBOL=1,8",
     .help =
         "sizes of a symbolic dimension to optimize for; it stays symbolic. The standard is 1 for a first dimension, "
         "224 for those of images, else 128"},
    {"inputs", OPTION_TEXT, FIELD(optimize.inputs), .metavar = "FOLDER",
     .help =
         "check and time with the arrays there instead of the first random ones: NAME.npy for an input of that name, "
         "or input_0.npy, input_1.npy, ... in the model's order"},
    {"fold-limit", OPTION_INTEGER, FIELD(optimize.fold_limit), .is_size = true, .low = 0, .high = 1e12, .metavar = "N",
     .help = "compute constant tensors of up to N elements at import, and 64 N in all, in 1,000 N operations"},
    {"simplify", OPTION_FLAG, FIELD(is_simplified),
     .help =
         "where nothing else is gained, write the model with its constants computed, and without equal, dead and idle "
         "nodes, unless that is slower"},
    {"simplify-only", OPTION_FLAG, FIELD(optimize.is_only_simplified), .beside = {"--simplify"},
     .help = "search and measure nothing: write the simplified model, compared with the original in ONNX Runtime where "
             "that is there, within seconds"},
    {"device", OPTION_CHOICE, FIELD(optimize.device), .choices = optimize_devices, .metavar = "DEVICE",
     .help = "what to optimize for: cpu, cuda (docs/manual/cuda.md), fake (computed costs; runs nothing)",
     .group = "Where the model will run"},
    {"threads", OPTION_INTEGER, FIELD(optimize.threads), .low = 0, .high = 1024, .metavar = "N",
     .beside = {RUNS_MODELS}, .help = "threads that the model will run on; 0: all that this process may use"},
    {"runtime", OPTION_TEXT, FIELD(optimize.runtime), .metavar = "NAME", .beside = {"--no-measure-command"},
     .help = "where models are timed: taso (our own executor) or onnxruntime[:PROVIDER], whose providers are those of "
             "the Python that has it; the standard is onnxruntime when it is there, an .onnx file is written and the "
             "device is cpu"},
    {"python", OPTION_TEXT, FIELD(optimize.python), .metavar = "PROGRAM",
     .beside = {"--no-measure-command", "--device cpu or --runtime onnxruntime", "--no-runtime taso"},
     .help = "the Python that has onnxruntime; the standard is what TASO_PYTHON names, or python3"},
    {"measure-command", OPTION_TEXT, FIELD(optimize.measure_command), .metavar = "COMMAND", .beside = {"--measure"},
     .help = "time models by this command instead: it is given a model's path and prints the seconds of one run"},
    {"layout", OPTION_CHOICE, FIELD(optimize.layout), .choices = optimize_layouts, .metavar = "STRATEGY",
     .help = "how rewriting and choosing the layouts of tensors go together: joint, standard (by rule), sequential, "
             "graph-only, layout-only; auto: joint for our own executor, standard for other runtimes"},
    {"tf32", OPTION_FLAG, FIELD(optimize.allows_tf32), .beside = {"--device cuda"},
     .help = "products of f32 on tensor cores that drop bits (cuda)"},
    {"exact", OPTION_FLAG, FIELD(optimize.is_exact), .beside = {"--device cpu"},
     .help = "no kernels that lose more digits than another order of sums does, as Winograd's convolutions do: else "
             "they move outputs by 0.8 of --tolerance at most, in our own executor"},
    {"total-time", OPTION_REAL, FIELD(optimize.total_seconds), .low = 0, .high = 1e9, .metavar = "SECONDS",
     .help = "take about so long for everything: searching, measuring, timing, the check and writing; 0: no limit",
     .group = "How long it may take, and how much memory"},
    {"tune", OPTION_REAL, FIELD(optimize.tune_minutes), .low = 0, .high = 1e5, .metavar = "MINUTES",
     .beside = {"--device cpu"},
     .help =
         "search schedules of generated kernels for so long, half of it before the rewriting and half behind it, for "
         "models that our own executor runs; what is tried stays in the cost database"},
    {"time", OPTION_REAL, FIELD(optimize.seconds), .low = 0, .high = 1e9, .metavar = "SECONDS",
     .help = "stop the search after this time; 0: no limit"},
    {"max-memory", OPTION_INTEGER, FIELD(optimize.max_memory), .is_size = true, .low = 0, .high = 1e15,
     .metavar = "BYTES",
     .help = "what the program may hold in all: the search drops its costliest candidates first, models for which "
             "there is no room are not timed, and what then does not fit ends with exit code 4 and nothing written; "
             "0: three quarters of what is free in the beginning"},
    {"budget", OPTION_INTEGER, FIELD(optimize.budget), .low = 0, .high = 1e9, .metavar = "N",
     .beside = {BACKTRACKS, REWRITES},
     .help = "backtracking: graphs to expand; the search also ends after 1800 units of work (numbers that describe "
             "what is priced) for each of them, and 20000 for each node of the model"},
    {"patience", OPTION_INTEGER, FIELD(optimize.patience), .low = 0, .high = 1e9, .metavar = "N",
     .beside = {BACKTRACKS, REWRITES},
     .help = "backtracking: end the search when N graphs in a row were expanded, or as much work as four times as many "
             "matches take was done, without 0.1 % being gained; 0: no limit"},
    {"measure-seconds", OPTION_REAL, FIELD(optimize.measure_seconds), .low = 0, .high = 1e6, .metavar = "SECONDS",
     .beside = {TIMES_MODELS, "--measure"}, .help = "for how long to time both models"},
    {"finalists", OPTION_INTEGER, FIELD(optimize.finalists), .low = 1, .high = 3, .metavar = "N",
     .beside = {TIMES_MODELS, "--measure", REWRITES},
     .help = "search N times, with different preferences, and keep what is fastest when timed as a whole"},
    {"search-threads", OPTION_INTEGER, FIELD(optimize.search_threads), .low = 0, .high = 1024, .metavar = "N",
     .help = "threads that the search itself uses; 0: all that this process may use; the result is the same for any "
             "number"},
    {"check", OPTION_FLAG, FIELD(is_checked), .help = "compare the result with the original on random inputs",
     .group = "What has to hold of the result"},
    {"tolerance", OPTION_REAL, FIELD(optimize.tolerance), .low = 0, .high = 1, .metavar = "X",
     .beside = {RUNS_MODELS, "--check"},
     .help = "largest allowed max|a - b| / max|a| of an output; 0.01 at least where anything has 16 bits, and with "
             "--tf32"},
    {"validate", OPTION_FLAG, FIELD(is_validated),
     .help = "compute entries of every rewritten tensor both ways, over a prime field, before it is rewritten"},
    {"strict", OPTION_FLAG, FIELD(is_strict),
     .help =
         "end with exit code 5 where something of what is written is not known for sure: not checked, not timed, an "
         "output that says nothing, a rewrite that failed, nodes not understood, a runtime that refuses it"},
    {"measure", OPTION_FLAG, FIELD(is_timed),
     .help = "time both models, and keep the original unless the result is faster"},
    {"weight-growth", OPTION_REAL, FIELD(optimize.weight_growth), .low = 0, .high = 1e9, .metavar = "X",
     .beside = {REWRITES},
     .help = "the weights of the result take at most X times what the model's take, or 16 MB more; 0: no limit"},
    {"seed", OPTION_INTEGER, FIELD(optimize.seed), .low = 0, .high = 1e15, .metavar = "N",
     .beside = {RUNS_MODELS, "--check or --measure"}, .help = "of the random inputs"},
    {"search", OPTION_CHOICE, FIELD(optimize.search), .choices = optimize_searches, .metavar = "METHOD",
     .beside = {REWRITES},
     .help = "backtracking; saturation of e-graphs; or both: saturation from what backtracking found on",
     .group = "The search"},
    {"rules", OPTION_TEXT, FIELD(optimize.rules), .metavar = "FILE", .beside = {REWRITES}, .help = "the substitutions"},
    {"derive", OPTION_FLAG, FIELD(optimize.derives), .said = FIELD(optimize.says_whether_to_derive),
     .beside = {REWRITES, "--no-only-proved", "--no-strict-nan"},
     .help =
         "look for new operators, too, that hold for the products and convolutions of this model; in a FILE.onnx "
         "only what operators of ONNX are enough for. Unless it is said: in a FILE.taso at those that leave entries "
         "out (transposed and dilated convolutions, bands of products)"},
    {"without", OPTION_LIST, FIELD(optimize.without), .metavar = "RULE", .beside = {REWRITES},
     .help = "do not use this rule"},
    {"only-proved", OPTION_FLAG, FIELD(optimize.only_proved), .beside = {REWRITES},
     .help = "use only rules that ship with this build as proved for all sizes, in whatever file; certificates count "
             "for nothing"},
    {"strict-nan", OPTION_FLAG, FIELD(optimize.keeps_nan), .beside = {REWRITES},
     .help = "take only rewrites after which all entries are computed as before, to the last bit: NaN, infinities and "
             "signed zeros stay what they are"},
    {"max-rule-ops", OPTION_INTEGER, FIELD(optimize.max_rule_ops), .low = 0, .high = 1e9, .metavar = "N",
     .beside = {REWRITES}, .help = "use no rule with more than N operators on either side; 0: no limit"},
    {"alpha", OPTION_REAL, FIELD(optimize.alpha), .low = 1, .high = 100, .metavar = "X",
     .beside = {BACKTRACKS, REWRITES}, .help = "backtracking: keep graphs that cost up to X times the best so far"},
    {"egraph-rules", OPTION_TEXT, FIELD(optimize.egraph_rules), .metavar = "FILE", .beside = {SATURATES},
     .help =
         "saturation: the substitutions of its e-graph; the standard is egraph.rules, which ships beside taso.rules, "
         "or what --rules names"},
    {"egraph-nodes", OPTION_INTEGER, FIELD(optimize.most_enodes), .low = 1, .high = 1e9, .metavar = "N",
     .beside = {SATURATES}, .help = "saturation: e-nodes to make in each e-graph"},
    {"egraph-rounds", OPTION_INTEGER, FIELD(optimize.rounds_of_rules), .low = 0, .high = 1e9, .metavar = "N",
     .beside = {SATURATES}, .help = "saturation: how often all rules are applied in an e-graph, at most"},
    {"k-multi", OPTION_INTEGER, FIELD(optimize.k_multi), .low = 0, .high = 1e9, .metavar = "N", .beside = {SATURATES},
     .help = "saturation: in how many of these rounds rules with several outputs are"},
    {"costs", OPTION_TEXT, FIELD(optimize.costs), .metavar = "FILE", .beside = {RUNS_MODELS},
     .help = "cost database; the standard is a file in the cache folder"},
    {"calibrate", OPTION_FLAG, FIELD(is_calibrated),
     .help = "correct costs by what steps take inside of the models, and search again from these"},
    {0},
};

const struct optimize_arguments optimize_standard_arguments = {
    .optimize = {.fold_limit = IMPORT_FOLD_LIMIT,
                 .layout = STRATEGY_AUTO,
                 .budget = 1000,
                 .most_enodes = 5000,
                 .rounds_of_rules = 15,
                 .k_multi = 2,
                 .patience = 750,
                 .weight_growth = 1.1,
                 .seed = 1,
                 .rounds = 2,
                 .alpha = 1.05,
                 .tolerance = 1e-5,
                 .measure_seconds = 3,
                 .finalists = 3},
    .is_validated = true,
    .is_checked = true,
    .is_timed = true,
    .is_simplified = true,
    .is_calibrated = true,
};

void optimize_arguments_finish(struct optimize_arguments *a)
{
    a->optimize.is_validation_skipped = !a->is_validated && !a->optimize.keeps_nan;
    a->optimize.is_check_skipped = !a->is_checked;
    a->optimize.is_timing_skipped = !a->is_timed || a->optimize.is_only_simplified;
    a->optimize.is_simplification_skipped = !a->is_simplified;
    a->optimize.is_calibration_skipped = !a->is_calibrated;
    a->optimize.has_pictures = a->html;
}
