// Reads an e-graph, extracts from it in every way, and prints what each way costs.
#include "programs/extract_command.h"
#include "core/memory/arena.h"
#include "core/system/clock.h"
#include "core/system/file.h"
#include "core/system/files_used.h"
#include "core/system/interrupt.h"
#include "core/system/signals.h"
#include "core/text/error.h"
#include "core/text/json.h"
#include "core/text/options.h"
#include "core/text/text.h"
#include "egraph/extraction/best.h"
#include "egraph/extraction/components.h"
#include "egraph/extraction/greedy.h"
#include "egraph/extraction/ilp.h"
#include "egraph/extraction/read_json.h"
#include <stdio.h>

struct arguments {
    int64_t cheapest, branches;
    double seconds, program_seconds;
    const char *input, *json;
};

#define FIELD(name) offsetof(struct arguments, name)
static const struct option_spec specs[] = {
    {"cheapest", OPTION_INTEGER, FIELD(cheapest), .letter = 'k', .low = 1, .high = 1000, .metavar = "K",
     .help = "find the K cheapest selections, all different"},
    {"seconds", OPTION_REAL, FIELD(seconds), .low = 0, .high = 1e6, .metavar = "SECONDS",
     .help = "end the search for the best after this time; 0: no limit"},
    {"branches", OPTION_INTEGER, FIELD(branches), .low = 0, .high = 1e9, .metavar = "N",
     .help = "problems that the branch and bound looks at"},
    {"program-seconds", OPTION_REAL, FIELD(program_seconds), .low = 0, .high = 1e6, .metavar = "SECONDS",
     .help = "also solve the whole as Tensat's integer program, with order constraints where there are cycles, for at "
             "most this time; 0: do not"},
    {"json", OPTION_TEXT, FIELD(json), .metavar = "FILE", .help = "write the selections as JSON"},
    {0},
};

static const struct program program = {
    .name = "taso-opt extract",
    .usage = "EGRAPH.json [options]",
    .summary = "Takes the cheapest graph out of an e-graph in the JSON format of the EGRAPHS community's benchmark.",
    .epilog = "Exit codes: 0 done, 1 no graph can be taken out, 2 usage, 3 unreadable or invalid file,\n"
              "4 this build reads no JSON, 70 internal error. Ctrl-C ends the search with the best found.",
    .options = specs,
};

struct extracting {
    const struct arguments *arguments;
    struct extraction_problem problem;
    struct extraction_names names;
    uint32_t *choices;   // [cheapest][n_classes]
    double *costs;
    uint32_t n_found;
    struct extraction_answer answer;
};

static void print_size(const struct extracting *e)
{
    const struct extraction_problem *p = &e->problem;
    printf("%u nodes, %u classes, %zu roots; the largest strongly connected component has %u classes\n", p->n_nodes,
           p->n_classes, p->roots.count, components_largest(p));
}

static bool print_greedy(struct extracting *e, const char *name, greedy_fn *greedy)
{
    double cost, started = clock_seconds();
    bool is_possible = greedy(&e->problem, e->choices, &cost);
    if (is_possible)
        printf("%-18s %12.6g  %.4f s\n", name, cost, clock_seconds() - started);
    else
        printf("no graph can be taken out: without a cycle, or nodes that may not be taken, some root has no node\n");
    return is_possible;
}

static bool is_interrupted(void *context)
{
    return interrupt_requested();
}

static void print_program(struct extracting *e)
{
    static const char *const texts[] = {"optimal", "stopped by a limit", "stopped without a selection", "infeasible",
                                        "the solver failed"};
    const struct extraction_problem *p = &e->problem;
    double bound, cost, started = clock_seconds();
    struct ilp_question question = {.max_seconds = e->arguments->program_seconds, .is_interrupted = is_interrupted};
    question.form = components_largest(p) > 1 ? ILP_ORDERED : ILP_UNORDERED;
    if (!ilp_is_available()) {
        printf("%-18s this build was made without CBC\n", "integer program");
        return;
    }
    enum ilp_status status = ilp_solve(p, &question, e->choices, &bound);
    bool has_cost = status <= ILP_FEASIBLE && extraction_settle(p, e->choices, &cost);
    if (has_cost)
        printf("%-18s %12.6g  %.4f s, %s, lower bound %.6g\n", "integer program", cost, clock_seconds() - started,
               texts[status], bound);
    else
        printf("%-18s            -  %.4f s, %s\n", "integer program", clock_seconds() - started, texts[status]);
}

static void print_best(struct extracting *e)
{
    struct extraction_budget budget = extraction_standard_budget;
    const struct extraction_answer *a = &e->answer;
    budget.branches = (uint64_t)e->arguments->branches;
    budget.seconds = e->arguments->seconds;
    budget.is_interrupted = is_interrupted;
    double started = clock_seconds();
    e->n_found = extraction_find_cheapest(&e->problem, &budget, (uint32_t)e->arguments->cheapest, NULL, e->choices,
                                          e->costs, &e->answer);
    printf("%-18s %12.6g  %.4f s, %s, lower bound %.6g; %u nodes after reduction, %lu branches\n", "best", a->cost,
           clock_seconds() - started, extraction_end_text(a->end), a->bound, a->reduced_nodes,
           (unsigned long)a->branches);
    for (uint32_t i = 1; i < e->n_found; i++)
        printf("%17u. %12.6g\n", i + 1, e->costs[i]);
}

static void add_selection(struct text *out, const struct extracting *e, uint32_t place)
{
    const uint32_t *choice = e->choices + (size_t)place * e->problem.n_classes;
    json_begin(out, NULL, '{');
    json_add_real(out, "cost", e->costs[place]);
    json_begin(out, "choices", '{');
    for (uint32_t c = 0; c < e->problem.n_classes; c++)
        if (choice[c] != EXTRACTION_NONE)
            json_add_string(out, e->names.classes.items[c], e->names.nodes.items[choice[c]]);
    json_end(out, '}');
    json_end(out, '}');
}

static bool write_json(const struct extracting *e, struct error *error)
{
    TEXT(out);
    json_begin(&out, NULL, '{');
    json_add_real(&out, "bound", e->answer.bound);
    json_add_bool(&out, "is_proved", e->answer.end == EXTRACTION_PROVED);
    json_begin(&out, "selections", '[');
    for (uint32_t i = 0; i < e->n_found; i++)
        add_selection(&out, e, i);
    text_add(&out, "]}\n");
    return file_write_text(e->arguments->json, out.chars, out.count, error);
}

static int extract(struct extracting *e, struct error *error)
{
    print_size(e);
    if (!print_greedy(e, "greedy, trees", extraction_greedy_tree))
        return EXIT_CHECK_FAILED;
    print_greedy(e, "greedy, DAGs", extraction_greedy_dag);
    if (e->arguments->program_seconds > 0)
        print_program(e);
    print_best(e);
    if (e->arguments->json && !write_json(e, error))
        return error_exit(program.name, error);
    return EXIT_DONE;
}

static int run(const struct arguments *a)
{
    ARENA(arena);
    struct error error = {0};
    struct extracting e = {.arguments = a};
    struct used_file files[] = {{"the e-graph", a->input, FILE_READ}, {"--json", a->json, FILE_WRITTEN}};
    if (!files_used_check(files, sizeof files / sizeof *files, &error) ||
        !extraction_read_json(a->input, &e.problem, &e.names, &error))
        return error_exit(program.name, &error);
    size_t n_choices = (size_t)a->cheapest * e.problem.n_classes + 1;
    e.choices = arena_array(&arena, uint32_t, n_choices);
    e.costs = arena_array(&arena, double, a->cheapest);
    signals_install();
    int code = extract(&e, &error);
    extraction_free(&e.problem);
    extraction_names_free(&e.names);
    return code;
}

int extraction_command(int argc, char **argv)
{
    struct arguments arguments = {
        .cheapest = 1,
        .branches = (int64_t)extraction_standard_budget.branches,
        .seconds = 60,
    };
    struct error error = {0};
    int code;
    if (!options_begin(&program, &argc, argv, &arguments, &code))
        return code;
    if (argc != 1) {
        error_set_code(&error, EXIT_USAGE, NULL, "expected one e-graph; see taso-opt extract --help");
        return error_exit(program.name, &error);
    }
    arguments.input = argv[0];
    return run(&arguments);
}
