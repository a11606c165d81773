// taso-run: runs one model or two on a device; prints latencies, measured in turns, and how far the outputs of the
// second model are from those of the first.
#include "backends/backend.h"
#include "backends/costs/graph_cost.h"
#include "backends/costs/plan_choices.h"
#include "backends/costs/step_cost.h"
#include "backends/cpu/cpu.h"
#include "backends/cuda/cuda.h"
#include "backends/planning/plan_text.h"
#include "core/memory/arena.h"
#include "core/numbers/statistics.h"
#include "core/system/clock.h"
#include "core/system/file.h"
#include "core/system/files_used.h"
#include "core/system/interrupt.h"
#include "core/system/program.h"
#include "core/system/signals.h"
#include "core/text/error.h"
#include "core/text/json.h"
#include "core/text/log.h"
#include "core/text/options.h"
#include "core/text/text.h"
#include "optimizer/limits.def"
#include "optimizer/run/loaded_model.h"
#include "optimizer/run/npy.h"
#include "optimizer/run/output_comparison.h"
#include "optimizer/run/side_by_side.h"
#include "optimizer/run/step_times.h"
#include "programs/files_in_runtime.h"
#include "programs/tuned_run.h"
#include "tuning/passes.h"
#include "tuning/timings.h"
#include <stdio.h>
#include <string.h>

#define NAME "taso-run"

enum device { DEVICE_CPU, DEVICE_CUDA };
static const char *const devices[] = {"cpu", "cuda", NULL};

struct options {
    int device, layout;
    struct option_list shapes;
    int64_t threads, warmup, repeats, seed, integers, fold_limit;
    double tolerance, measure_seconds, tune;
    const char *runtime, *python, *tune_part, *tune_with;
    const char *costs, *json, *save, *inputs, *kernels, *write_kernels;
    bool explain, estimate, plan, profile, measure_costs, repair, tf32, exact, tries, verbose;
};
static const struct options standard_options = {.warmup = 3,
                                                .repeats = 30,
                                                .seed = 1,
                                                .integers = 2,
                                                .fold_limit = IMPORT_FOLD_LIMIT,
                                                .tolerance = 1e-5,
                                                .measure_seconds = 3};

#define OURS "--no-runtime onnxruntime"   // only our own executor tells it
static const struct option_spec option_specs[] = {
    {"device", OPTION_CHOICE, offsetof(struct options, device), .choices = devices, .metavar = "NAME",
     .help = "where to run: cpu, cuda"},
    {"layout", OPTION_CHOICE, offsetof(struct options, layout), .choices = layout_policy_names, .metavar = "POLICY",
     .help =
         "layouts of tensors: standard (by rule), best (by the costs of steps, measured where unknown), plain (NCHW), "
         "tuned (best, and fused as taso-opt --tune found)"},
    {"runtime", OPTION_TEXT, offsetof(struct options, runtime), .metavar = "NAME", .files = 2,
     .beside = {"--device cpu", "--no-measure-costs"},
     .help = "where both run: taso (our own executor), or onnxruntime[:PROVIDER], in the contest that taso-opt holds"},
    {"python", OPTION_TEXT, offsetof(struct options, python), .metavar = "PROGRAM", .beside = {"--runtime"},
     .help = "the Python that has onnxruntime; the standard is what TASO_PYTHON names, or python3"},
    {"measure-seconds", OPTION_REAL, offsetof(struct options, measure_seconds), .low = 0, .high = 1e6,
     .metavar = "SECONDS", .beside = {"--runtime or --tune"},
     .help = "how long the contest lasts, about; longer while it is not decided"},
    {"shape", OPTION_LIST, offsetof(struct options, shapes), .metavar = "NAME=DIMS",
     .help = "shape of an input (data=1,3,224,224), or a symbolic dimension (batch=8)"},
    {"threads", OPTION_INTEGER, offsetof(struct options, threads), .low = 0, .high = 1024, .metavar = "N",
     .help = "threads to use; 0: all that this process may use"},
    {"repeats", OPTION_INTEGER, offsetof(struct options, repeats), .letter = 'n', .low = 1, .high = 1e6, .metavar = "N",
     .beside = {"--no-measure-costs"}, .help = "timed runs of each model"},
    {"warmup", OPTION_INTEGER, offsetof(struct options, warmup), .low = 0, .high = 1e6, .metavar = "N",
     .beside = {"--no-measure-costs"}, .help = "runs before that"},
    {"seed", OPTION_INTEGER, offsetof(struct options, seed), .metavar = "N", .beside = {"--no-measure-costs"},
     .help = "of the random inputs"},
    {"integers", OPTION_INTEGER, offsetof(struct options, integers), .low = 1, .high = 1e9, .metavar = "N",
     .beside = {"--no-measure-costs"}, .help = "integer inputs are from 0 to N - 1"},
    {"tolerance", OPTION_REAL, offsetof(struct options, tolerance), .low = 0, .high = 1e9, .metavar = "X",
     .beside = {"--no-measure-costs"}, .files = 2, .help = "largest max|a - b| / max|a| of two models that agree"},
    {"fold-limit", OPTION_INTEGER, offsetof(struct options, fold_limit), .is_size = true, .low = 0, .high = 1e12,
     .metavar = "N", .help = "entries of the largest constant that is computed at import"},
    {"estimate", OPTION_FLAG, offsetof(struct options, estimate), .beside = {"--no-measure-costs", OURS},
     .help = "print the sum of the steps' costs as well"},
    {"explain", OPTION_FLAG, offsetof(struct options, explain), .beside = {OURS},
     .help = "print every step with its cost"},
    {"profile", OPTION_FLAG, offsetof(struct options, profile), .beside = {"--no-measure-costs", OURS},
     .help = "print the time of every step within the model, beside its cost, the operations and bytes that it takes, "
             "and what share they are of what the processor can do at most"},
    {"plan", OPTION_FLAG, offsetof(struct options, plan), .beside = {"--no-measure-costs", OURS},
     .help = "print the steps in order"},
    {"measure-costs", OPTION_FLAG, offsetof(struct options, measure_costs),
     .help = "only find or measure the cost of every step, and keep them in the cost database"},
    {"repair", OPTION_FLAG, offsetof(struct options, repair), .beside = {"--measure-costs"},
     .help =
         "with --measure-costs: measure every step again, whatever the cost database says of it; what other programs "
         "disturb replaces only what is longer"},
    {"tune", OPTION_REAL, offsetof(struct options, tune), .low = 0, .high = 1e5, .metavar = "MINUTES",
     .beside = {"--device cpu", "--no-measure-costs"},
     .help = "first search schedules of the model's generated kernels for so long, and time it before and after; what "
             "is tried stays in the cost database, where the next search goes on"},
    {"tune-part", OPTION_TEXT, offsetof(struct options, tune_part), .metavar = "I/N", .beside = {"--tune"},
     .help = "tune every Nth step alone, beginning with the Ith of the first N: for N processes or machines, whose "
             "--costs files together are one"},
    {"tune-with", OPTION_TEXT, offsetof(struct options, tune_with), .metavar = "COMMAND", .beside = {"--tune"},
     .help =
         "time schedules by this command in a shell, a pool of equal machines that run taso-run MODEL --try: jobs go "
         "in, a line each, and their answers come out in any order"},
    {"try", OPTION_FLAG, offsetof(struct options, tries), .beside = {"--device cpu", "--no-tune"},
     .help = "time the schedules that jobs on stdin ask for, and print their answers (taso-run --tune-with)"},
    {"tf32", OPTION_FLAG, offsetof(struct options, tf32), .beside = {"--device cuda"},
     .help = "products of f32 on tensor cores that drop bits (cuda)"},
    {"exact", OPTION_FLAG, offsetof(struct options, exact), .beside = {"--device cpu"},
     .help =
         "no kernels that lose more digits than another order of sums does, as Winograd's convolutions do; else "
         "those that the cost database or the compiled model knows to be faster are used, as far as they move outputs "
         "by 0.8 of --tolerance at most"},
    {"costs", OPTION_TEXT, offsetof(struct options, costs), .metavar = "FILE",
     .help = "cost database, instead of the one in the cache folder"},
    {"kernels", OPTION_TEXT, offsetof(struct options, kernels), .metavar = "FILE", .beside = {"--device cpu"},
     .help = "take generated kernels from there, where --write-kernels wrote them: no compiler is needed for these"},
    {"write-kernels", OPTION_TEXT, offsetof(struct options, write_kernels), .metavar = "FILE",
     .beside = {"--device cpu", "--no-measure-costs"},
     .help = "write the generated kernels that the models run by there, as one shared object"},
    {"json", OPTION_TEXT, offsetof(struct options, json), .metavar = "FILE", .beside = {"--no-measure-costs"},
     .help = "write the report there as JSON"},
    {"inputs", OPTION_TEXT, offsetof(struct options, inputs), .metavar = "FOLDER",
     .help = "run on the arrays there instead of random ones: NAME.npy for an input of that name, or input_0.npy, "
             "input_1.npy, ... in the model's order"},
    {"save", OPTION_TEXT, offsetof(struct options, save), .metavar = "FOLDER", .beside = {"--no-measure-costs", OURS},
     .help = "write inputs and outputs into this folder, which is there already, as input_0.npy, output_0.npy, ..."},
    {"verbose", OPTION_FLAG, offsetof(struct options, verbose), .letter = 'v', .help = "say what is measured"},
    {0}};

static const struct program program = {
    .name = NAME,
    .usage = "A.onnx|A.taso [B.onnx|B.taso] [options]",
    .summary = "Runs one model or two on random inputs: latencies, measured in turns, and the difference of outputs.",
    .options = option_specs,
    .examples = "  taso-run model.onnx                          # how long one run takes\n"
                "  taso-run model.onnx fast.onnx                # which is faster, and do their outputs agree?\n"
                "  taso-run model.onnx --shape batch=8 --profile    # what each step takes\n"
                "  taso-run model.onnx --inputs arrays --save out   # on arrays of your own\n",
    .epilog =
        "Exit codes: 0 done; 1 the outputs of the two models differ, or say nothing (constant, zero, not finite);\n"
        "2 wrong usage; 3 an unreadable or invalid model; 4 unsupported; 70 internal error.",
};

// A subject is one of the models.
struct subject {
    const char *path;
    struct loaded_model loaded;
    struct arena arena;
    struct model *model;
    struct tensor_value *inputs, *outputs;
    double seconds_loading;   // the file, and preparing the model
    struct sample_summary latency;
    struct estimate estimate;
};
struct session {
    struct options options;
    struct backend *backend;
    struct passes *passes;   // by what tuning has found; NULL: not asked for
    struct log log;
    size_t n;
    struct subject subjects[2];
    output_comparisons outputs;   // of two models
    bool agrees;
};

// --- preparing -------------------------------------------------------------------------------------------------------

// A dimension that --shape leaves open is as large as in the user's arrays: the model is opened once more, with their
// shapes too.
static bool take_sizes_of_arrays(struct session *s, struct subject *subject, const struct import_options *options,
                                 struct error *error)
{
    struct loaded_model *m = &subject->loaded;
    size_t count = 0;
    const char **found = !s->options.inputs ? NULL
                                            : npy_list_shapes(s->options.inputs, m->graph, m->inputs, m->n_inputs,
                                                              &subject->arena, &count);
    if (count == 0)
        return true;
    const char **shapes = arena_array(&subject->arena, const char *, options->shape_count + count);
    for (size_t i = 0; i < options->shape_count + count; i++)
        shapes[i] = i < options->shape_count ? options->shapes[i] : found[i - options->shape_count];
    struct import_options with_arrays = *options;
    with_arrays.shapes = shapes;
    with_arrays.shape_count += count;
    loaded_model_close(m);
    return loaded_model_open(m, subject->path, &with_arrays, error);
}

// Shapes are for those that are not compiled.
static bool load_subject(struct session *s, struct subject *subject, struct error *error)
{
    bool has_say = s->n == 1 || !compiled_model_is_at(subject->path);
    struct import_options options = {.shapes = s->options.shapes.items,
                                     .shape_count = has_say ? s->options.shapes.count : 0,
                                     .fold_limit = s->options.fold_limit,
                                     .expands = true,
                                     .log = &s->log};
    if (!loaded_model_open(&subject->loaded, subject->path, &options, error) ||
        !take_sizes_of_arrays(s, subject, &options, error))
        return false;
    backend_expect_model(s->backend, subject->loaded.weight_bytes);
    return true;
}

static bool prepare_subject(struct session *s, struct subject *subject, struct error *error)
{
    const struct loaded_model *m = &subject->loaded;
    if (!loaded_model_check(m, error))
        return false;
    if (s->options.estimate && !backend_estimate(s->backend, m->graph, &subject->estimate, error))
        return false;
    subject->model = loaded_model_prepare(&subject->loaded, s->backend, error);
    if (!subject->model)
        return false;
    subject->inputs = loaded_model_make_inputs(m, (uint64_t)s->options.seed, s->options.integers, &subject->arena);
    if (s->options.inputs &&
        !npy_read_inputs(s->options.inputs, m->graph, m->inputs, m->n_inputs, subject->inputs, &subject->arena, error))
        return false;
    subject->outputs = arena_array(&subject->arena, struct tensor_value, m->graph->outputs.count + 1);
    model_allocate_outputs(subject->model, subject->outputs, &subject->arena);
    return true;
}

static void name_file_in_error(const struct subject *subject, struct error *error)
{
    if (!error->file[0])
        snprintf(error->file, sizeof error->file, "%s", subject->path);
}

static void close_subject(struct subject *subject)
{
    model_free(subject->model);
    loaded_model_close(&subject->loaded);
    arena_free(&subject->arena);
}

// --- comparing -------------------------------------------------------------------------------------------------------

static bool compare_subjects(struct session *s, struct error *error)
{
    struct subject *a = &s->subjects[0], *b = &s->subjects[1];
    size_t n = a->loaded.n_outputs;
    if (b->loaded.n_outputs != n)
        return error_set_code(error, EXIT_CHECK_FAILED, b->path, "%zu output%s, but %s has %zu", b->loaded.n_outputs,
                              plural_ending(b->loaded.n_outputs), a->path, n);
    for (size_t i = 0; i < n; i++) {
        struct output_comparison o = output_compare(&a->outputs[i], &b->outputs[i], false);
        o.name = a->loaded.outputs[i].name;
        o.is_equal_enough = output_is_within(&o, s->options.tolerance);
        vec_push(&s->outputs, o);
    }
    s->agrees = outputs_agree(&s->outputs);
    return true;
}

// --- reporting -------------------------------------------------------------------------------------------------------

static void print_estimate(const struct estimate *e)
{
    printf("  estimate %.3f ms in %u step%s (%u guessed)\n", e->seconds * 1e3, e->n_steps, plural_ending(e->n_steps),
           e->n_guessed);
    if (e->gap > 0)
        printf("  layouts  within %.2g %% of the least sum of costs that is possible\n", 1e2 * e->gap);
}

static void print_name(const char *before, const char *name)
{
    TEXT(line);
    text_add(&line, before);
    text_add_shown(&line, name);
    fputs(line.chars, stdout);
}

static void print_errors(const struct session *s, const struct subject *subject)
{
    struct inexact_steps e = plan_inexact_steps(s->backend, model_plan(subject->model));
    const struct within_error *w = &subject->loaded.within;
    if (!e.n_taken && !w->n_taken_back)
        return;
    printf("  errors   %u kernel%s that lose%s digits", e.n_taken, plural_ending(e.n_taken), e.n_taken == 1 ? "s" : "");
    if (!subject->loaded.is_compiled)
        printf(" move%s outputs by %.1e, %u taken back", e.n_taken == 1 ? "s" : "", w->difference, w->n_taken_back);
    printf("\n");
}

static void print_latency(const struct session *s, const struct subject *subject)
{
    const struct sample_summary *l = &subject->latency;
    print_name("", subject->path);
    printf("\n  latency  median %.3f ms  (quartiles %.3f .. %.3f, best %.3f, %zu run%s)\n", l->median * 1e3,
           l->quartile1 * 1e3, l->quartile3 * 1e3, l->minimum * 1e3, l->count, plural_ending(l->count));
    const struct plan *plan = model_plan(subject->model);
    printf("  loaded   in %.1f ms\n", subject->seconds_loading * 1e3);
    printf("  plan     %zu step%s, %.1f MiB of working memory\n", plan->steps.count, plural_ending(plan->steps.count),
           (double)plan->arena_bytes / (1 << 20));
    print_errors(s, subject);
    if (s->options.estimate)
        print_estimate(&subject->estimate);
}

static void print_types(const struct type *a, const struct type *b)
{
    TEXT(line);
    text_add(&line, ": ");
    type_print(&line, a);
    text_add(&line, " in the first, ");
    type_print(&line, b);
    text_add(&line, " in the second\n");
    fputs(line.chars, stdout);
}

static const struct imported_value *find_input(const struct loaded_model *m, const char *name)
{
    return FIND(m->inputs, m->n_inputs, x, strcmp(x->name, name) == 0);
}

// Models with other inputs are run on other numbers.
static void print_unequal_inputs(const struct loaded_model *a, const struct loaded_model *b)
{
    for (size_t i = 0; i < a->n_inputs; i++) {
        const struct imported_value *other = find_input(b, a->inputs[i].name);
        const struct type *type = graph_type(a->graph, a->inputs[i].tensor);
        if (other && type_equal(type, graph_type(b->graph, other->tensor)))
            continue;
        print_name("  input ", a->inputs[i].name);
        if (other)
            print_types(type, graph_type(b->graph, other->tensor));
        else
            printf(": only in the first\n");
    }
}

static void print_differences(const struct session *s)
{
    const struct subject *a = &s->subjects[0], *b = &s->subjects[1];
    printf("second / first  %.4f\n", b->latency.median / a->latency.median);
    print_unequal_inputs(&a->loaded, &b->loaded);
    for (size_t i = 0; i < s->outputs.count; i++) {
        TEXT(line);
        if (type_equal(&a->outputs[i].type, &b->outputs[i].type)) {
            output_print(&line, &s->outputs.items[i]);
            fputs(line.chars, stdout);
        } else {
            print_name("  output ", s->outputs.items[i].name);
            print_types(&a->outputs[i].type, &b->outputs[i].type);
        }
    }
    printf("%s\n", s->agrees ? "the outputs agree" : "the outputs do not agree");
}

static void add_subject(struct text *out, const struct session *s, const struct subject *subject)
{
    const struct sample_summary *l = &subject->latency;
    json_begin(out, NULL, '{');
    json_add_string(out, "file", subject->path);
    json_add_count(out, "runs", l->count);
    json_add_real(out, "median", l->median);
    json_add_real(out, "quartile1", l->quartile1);
    json_add_real(out, "quartile3", l->quartile3);
    json_add_real(out, "best", l->minimum);
    json_add_real(out, "worst", l->maximum);
    json_add_real(out, "mean", l->mean);
    json_add_real(out, "loading", subject->seconds_loading);
    json_add_count(out, "steps", model_plan(subject->model)->steps.count);
    json_add_count(out, "inexact_kernels", plan_inexact_steps(s->backend, model_plan(subject->model)).n_taken);
    json_add_count(out, "kernels_taken_back", subject->loaded.within.n_taken_back);
    json_add_real(out, "errors", subject->loaded.within.difference);
    json_add_count(out, "working_bytes", model_plan(subject->model)->arena_bytes);
    if (s->options.estimate) {
        json_add_real(out, "estimate", subject->estimate.seconds);
        json_add_count(out, "guessed_steps", subject->estimate.n_guessed);
        json_add_real(out, "layout_gap", subject->estimate.gap);
    }
    json_end(out, '}');
}

static void add_differences(struct text *out, const struct session *s)
{
    json_add_real(out, "ratio", s->subjects[1].latency.median / s->subjects[0].latency.median);
    json_add_bool(out, "agrees", s->agrees);
    outputs_add_json(out, &s->outputs);
}

static bool write_json(const struct session *s, struct error *error)
{
    TEXT(text);
    json_begin(&text, NULL, '{');
    json_add_string(&text, "device", s->backend->device);
    json_add_integer(&text, "seed", s->options.seed);
    json_begin(&text, "models", '[');
    for (size_t i = 0; i < s->n; i++)
        add_subject(&text, s, &s->subjects[i]);
    json_end(&text, ']');
    if (s->n == 2)
        add_differences(&text, s);
    text_add(&text, "}\n");
    return file_write_text(s->options.json, text.chars, text.count, error);
}

static bool save_values(const struct session *s, struct error *error)
{
    const struct subject *a = &s->subjects[0];
    char path[4096];
    bool is_done = true;
    for (size_t i = 0; is_done && i < a->loaded.n_inputs; i++) {
        snprintf(path, sizeof path, "%s/input_%zu.npy", s->options.save, i);
        is_done = npy_write(path, &a->inputs[i], error);
    }
    for (size_t i = 0; is_done && i < a->loaded.n_outputs; i++) {
        snprintf(path, sizeof path, "%s/output_%zu.npy", s->options.save, i);
        is_done = npy_write(path, &a->outputs[i], error);
    }
    return is_done;
}

static bool print_steps(struct session *s, const struct subject *subject, struct error *error)
{
    TEXT(text);
    bool is_done = true;
    backend_expect_model(s->backend, subject->loaded.weight_bytes);
    if (s->options.plan)
        plan_print(&text, model_plan(subject->model));
    if (s->options.explain)
        is_done = backend_explain(s->backend, subject->loaded.graph, false, &text, error);
    if (is_done && s->options.profile)
        is_done = step_times_add(&text, s->backend, subject->model, subject->inputs, subject->outputs,
                                 (size_t)s->options.repeats, error);
    if (text.count)
        log_show(stdout, text.chars);
    return is_done;
}

// --- the program -----------------------------------------------------------------------------------------------------

static bool run_subjects(struct session *s, struct error *error)
{
    struct timed_model requests[2];
    struct sample_summary latencies[2];
    for (size_t i = 0; i < s->n; i++)
        requests[i] = (struct timed_model){s->subjects[i].model, s->subjects[i].inputs, s->subjects[i].outputs};
    if (!models_time_side_by_side(requests, s->n, s->options.warmup, s->options.repeats, latencies, error))
        return false;
    for (size_t i = 0; i < s->n; i++)
        s->subjects[i].latency = latencies[i];
    return s->n < 2 || compare_subjects(s, error);
}

static bool report(struct session *s, struct error *error)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!print_steps(s, &s->subjects[i], error))
            return false;
        print_latency(s, &s->subjects[i]);
    }
    if (s->n == 2)
        print_differences(s);
    return (!s->options.save || save_values(s, error)) && (!s->options.json || write_json(s, error));
}

// Guessed costs are listed: a database that lacks a step is not silent about it.
static bool print_price(struct session *s, struct subject *subject, struct error *error)
{
    TEXT(text);
    bool is_done =
        backend_estimate(s->backend, subject->loaded.graph, &subject->estimate, error) &&
        (!s->options.explain || backend_explain(s->backend, subject->loaded.graph, false, &text, error)) &&
        (!subject->estimate.n_guessed || backend_explain(s->backend, subject->loaded.graph, true, &text, error));
    if (is_done) {
        print_name("", subject->path);
        printf("\n%s", text.chars ? text.chars : "");
        print_estimate(&subject->estimate);
    }
    return is_done;
}

static bool price_subjects(struct session *s, struct error *error)
{
    for (size_t i = 0; i < s->n; i++)
        if (!load_subject(s, &s->subjects[i], error) || !print_price(s, &s->subjects[i], error)) {
            name_file_in_error(&s->subjects[i], error);
            return false;
        }
    s->agrees = true;
    return true;
}

// Output that only a run gives is not left out silently.
static bool check_that_nothing_needs_a_run(const struct session *s, struct error *error)
{
    const struct options *o = &s->options;
    const char *wants = o->json      ? "--json"
                        : o->save    ? "--save"
                        : o->inputs  ? "--inputs"
                        : o->plan    ? "--plan"
                        : o->profile ? "--profile"
                                     : NULL;
    if (wants)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "no GPU to run on, as %s wants: only its costs are here",
                              wants);
    log_warning(&s->log, "no GPU to run on: only its costs are here");
    return true;
}

static bool read_part(const char *text, int *ret_part, int *ret_parts, struct error *error)
{
    int part = 1, parts = 1, end = 0;
    bool is_read = !text || (sscanf(text, "%4d/%4d%n", &part, &parts, &end) == 2 && !text[end]);
    *ret_part = part - 1;
    *ret_parts = parts;
    return (is_read && part >= 1 && part <= parts) ||
           error_set_code(error, EXIT_USAGE, NULL, "--tune-part %s: expected I/N, with I from 1 to N", text);
}

// The model becomes the tuned one.
static bool tune_subject(struct session *s, struct subject *subject, struct error *error)
{
    int part, parts;
    if (!read_part(s->options.tune_part, &part, &parts, error))
        return false;
    const struct tuned_run run = {.program = NAME,
                                  .backend = s->backend,
                                  .loaded = &subject->loaded,
                                  .inputs = subject->inputs,
                                  .seconds = 60 * s->options.tune,
                                  .measure_seconds = s->options.measure_seconds,
                                  .seed = (uint64_t)s->options.seed,
                                  .command = s->options.tune_with,
                                  .part = part,
                                  .parts = parts};
    interrupt_end_at_once(false);
    return tuned_run_replace(&run, &subject->model, error);
}

static bool try_schedules(struct session *s, struct error *error)
{
    struct subject *subject = &s->subjects[0];
    s->agrees = true;
    return load_subject(s, subject, error) && prepare_subject(s, subject, error) &&
           timings_answer(s->backend, model_plan(subject->model), stdin, stdout, error);
}

static bool run_and_report(struct session *s, struct error *error)
{
    interrupt_end_at_once(true);
    bool is_run = true;
    for (size_t i = 0; is_run && i < s->n; i++) {
        double started = clock_seconds();
        is_run = load_subject(s, &s->subjects[i], error) && prepare_subject(s, &s->subjects[i], error) &&
                 (s->options.tune == 0 || tune_subject(s, &s->subjects[i], error));
        s->subjects[i].seconds_loading = clock_seconds() - started;
        if (!is_run)
            name_file_in_error(&s->subjects[i], error);
    }
    is_run = is_run && run_subjects(s, error);
    interrupt_end_at_once(false);
    return is_run && report(s, error) &&
           (!s->options.write_kernels || cpu_write_kernels(s->backend, s->options.write_kernels, error));
}

// A file that is named is wanted, as costs are by who only measures. What else cannot be kept is a warning.
static bool keep_costs(struct session *s, struct error *error)
{
    return (!s->options.costs && !s->options.measure_costs) || backend_save_costs_last(s->backend, error);
}

static bool is_in_runtime(const struct options *o)
{
    return o->runtime && strcmp(o->runtime, "taso") != 0;
}

static bool give_inputs(struct session *s, struct subject *subject, struct error *error)
{
    const struct loaded_model *m = &subject->loaded;
    if (!loaded_model_check_inputs(m, error))
        return false;
    subject->inputs = loaded_model_make_inputs(m, (uint64_t)s->options.seed, s->options.integers, &subject->arena);
    return !s->options.inputs || npy_read_inputs(s->options.inputs, m->graph, m->inputs, m->n_inputs, subject->inputs,
                                                 &subject->arena, error);
}

static bool compare_in_runtime(struct session *s, struct error *error)
{
    struct subject *first = &s->subjects[0];
    struct files_in_runtime files = {.paths = {first->path, s->subjects[1].path},
                                     .runtime = s->options.runtime,
                                     .python = s->options.python,
                                     .threads = (int)s->options.threads,
                                     .seconds = s->options.measure_seconds,
                                     .tolerance = s->options.tolerance,
                                     .model = &first->loaded,
                                     .json = s->options.json};
    s->agrees = true;
    if (!load_subject(s, first, error) || !give_inputs(s, first, error)) {
        name_file_in_error(first, error);
        return false;
    }
    files.inputs = first->inputs;
    return files_in_runtime_compare(&files, error);
}

static bool run_session(struct session *s, struct error *error)
{
    struct backend_options options = {.threads = (int)s->options.threads,
                                      .cost_file = s->options.costs,
                                      .kernels = s->options.kernels,
                                      .allows_tf32 = s->options.tf32,
                                      .error_budget = s->options.exact ? 0 : s->options.tolerance * SHARE_OF_KERNELS,
                                      .log = &s->log};
    s->backend =
        s->options.device == DEVICE_CUDA ? cuda_backend_open(&options, error) : cpu_backend_open(&options, error);
    if (!s->backend)
        return false;
    s->backend->policy = (enum layout_policy)s->options.layout;
    if (s->backend->policy == LAYOUTS_TUNED) {
        s->passes = passes_new(s->backend);
        s->backend->tuned = passes_decisions(s->passes);
    }
    s->backend->measuring.repairs = s->options.repair ? REPAIRS_ALL : REPAIRS_NOTHING;
    if (is_in_runtime(&s->options))
        return compare_in_runtime(s, error);
    if (s->options.tries)
        return try_schedules(s, error);
    bool is_priced = s->options.measure_costs || !backend_can_run(s->backend);
    if (is_priced && !s->options.measure_costs && !check_that_nothing_needs_a_run(s, error))
        return false;
    return (is_priced ? price_subjects(s, error) : run_and_report(s, error)) && keep_costs(s, error);
}

static int run_program(int argc, char **argv)
{
    struct session s = {.options = standard_options, .log = {stderr, NAME, LOG_WARNING}};
    struct error error = {0};
    int code, count = argc - 1;
    signals_install();
    if (!options_begin(&program, &count, argv + 1, &s.options, &code))
        return code;
    if (count < 1 || count > 2) {
        error_set_code(&error, EXIT_USAGE, NULL, "expected one model or two; see --help");
        return error_exit(NAME, &error);
    }
    s.log.level = s.options.verbose ? LOG_DEBUG : LOG_WARNING;
    s.n = (size_t)count;
    for (size_t i = 0; i < s.n; i++)
        s.subjects[i].path = argv[1 + i];
    const struct used_file files[] = {
        {"the first model", s.subjects[0].path, FILE_READ},
        {"the second model", s.subjects[1].path, FILE_READ},
        {"--costs", s.options.costs && *s.options.costs ? s.options.costs : NULL, FILE_WRITTEN},
        {"--kernels", s.options.kernels, FILE_READ},
        {"--write-kernels", s.options.write_kernels, FILE_WRITTEN},
        {"--json", s.options.json, FILE_WRITTEN},
        {"--save", s.options.save, FOLDER_WRITTEN},
    };
    bool is_done = files_used_check(files, sizeof files / sizeof *files, &error) && run_session(&s, &error);
    bool agrees = s.n < 2 || s.agrees;
    for (size_t i = 0; i < s.n; i++)
        close_subject(&s.subjects[i]);
    vec_free(&s.outputs);
    if (s.passes)
        passes_free(s.passes);
    backend_close(s.backend);
    return !is_done ? error_exit(NAME, &error) : agrees ? EXIT_DONE : EXIT_CHECK_FAILED;
}

int main(int argc, char **argv)
{
    program_wait_passively_on_shared_machine(argv);
    program_begin();
    mem_give_back_large();
    return program_end(NAME, run_program(argc, argv));
}
