// taso-verify derivations: programs that are equal to a definition, found by search; rules for some sizes, of families.
#include "core/system/file.h"
#include "core/text/text.h"
#include "derivation/matching/table.h"
#include "derivation/programs/check.h"
#include "derivation/programs/cost.h"
#include "derivation/search/report.h"
#include "expressions/definition_parse.h"
#include "optimizer/derive/families.h"
#include "programs/verify/command.h"
#include "programs/verify/commands.h"
#include <stdio.h>
#include <string.h>

struct options {
    int64_t depth, programs, show;
    bool forgets, does_not_converge;
    const char *output, *made_of;
    struct option_list weights;
};
static const struct option_spec specs[] = {
    {"depth", OPTION_INTEGER, offsetof(struct options, depth), .low = 0, .high = 12, .metavar = "N",
     .help = "steps of explorative derivation"},
    {"programs", OPTION_INTEGER, offsetof(struct options, programs), .low = 1, .high = 1000000, .metavar = "N",
     .help = "programs that are explored"},
    {"show", OPTION_INTEGER, offsetof(struct options, show), .low = 0, .high = 1000000, .metavar = "N",
     .help = "programs that are printed, the cheapest first"},
    {"made-of", OPTION_TEXT, offsetof(struct options, made_of), .metavar = "TEXT",
     .help = "programs are printed of these operators alone, as \"matmul (f32 54 5) (f32 5 49)\""},
    {"no-fingerprints", OPTION_FLAG, offsetof(struct options, forgets),
     .help = "programs that were met are explored again, to count them"},
    {"no-converging", OPTION_FLAG, offsetof(struct options, does_not_converge),
     .help = "operators are recognized and not derived toward, to count them"},
    {"output", OPTION_TEXT, offsetof(struct options, output), .letter = 'o', .metavar = "FILE",
     .help = "the rules that are derived of families"},
    {"weights", OPTION_LIST, offsetof(struct options, weights), .metavar = "x1",
     .help = "an input that is known beforehand"},
    {0}};
static const struct program program = {
    .name = "taso-verify derivations",
    .usage = "FILE|FAMILIES.rules [options]",
    .summary =
        "Derives what a definition computes of other operators: prints the rules that lead there, formulas, and\n"
        "what is an operator. Each program that is printed was compared over a prime field with the definition.\n"
        "Of rules that have their source as their target, derives the source at random sizes: rules for these sizes,\n"
        "of which scripts/family-rules makes candidates for all.",
    .epilog = "The file has lines as x0 f32[4,8], x1 f32[8,5] and z[i,j] f32[4,5] = sum(k < 8) (x0[i,k] * x1[k,j]).\n"
              "Exit codes: 0 done, 1 a program is not equal, 2 wrong command line, 3 bad input.",
    .options = specs,
};

// --- input -----------------------------------------------------------------------------------------------------------

static bool read_definition(struct command *c, const char *path, struct definition *ret_definition, struct error *error)
{
    struct file_map map FREED_BY(file_map_close) = {0};
    return file_map_open(&map, path, error) &&
           definition_parse(&c->arena, path, (const char *)map.bytes, map.size, ret_definition, error);
}

static bool find_weights(const struct options *options, int n_inputs, uint32_t *ret_weights, struct error *error)
{
    *ret_weights = 0;
    for (size_t i = 0; i < options->weights.count; i++) {
        char name[16];
        int input = 0;
        while (input < n_inputs && (snprintf(name, sizeof name, "x%d", input), strcmp(name, options->weights.items[i])))
            input++;
        if (input == n_inputs || input >= MOST_WEIGHTS)
            return error_set_code(error, EXIT_USAGE, NULL, "--weights: no input %.40s", options->weights.items[i]);
        *ret_weights |= 1u << input;
    }
    return true;
}

// --- output ----------------------------------------------------------------------------------------------------------

static void print_cost(struct text *out, const char *which, struct program_cost cost)
{
    text_printf(out, "%s: %.0f operations, %.0f bytes, %d operators, %d eOperators\n", which,
                cost.operations + cost.others, cost.bytes, cost.n_applications, cost.n_others);
}

static bool is_made_of(const struct search *s, size_t place, const char *wanted)
{
    TEXT(text);
    applications_print(&text, s->dv, s->results.items[place].program);
    return !wanted || (text.chars && strcmp(text.chars, wanted) == 0);
}

static bool show_result(const struct search *s, int original, size_t place)
{
    static const struct check_limits limits = {.n_random = 64, .most_work = 1e8};
    const struct derived_program *r = &s->results.items[place];
    bool agrees = programs_agree(s->dv, original, r->program, place, &limits);
    TEXT(text);
    text_printf(&text, "%zu: %s, as many as %.0f bytes moved, by ", place + 1, agrees ? "equal" : "NOT EQUAL", r->cost);
    search_print_path(&text, s, r->state);
    text_add(&text, s->states.items[r->state].before < 0 ? "matching alone\n" : "\n");
    print_cost(&text, "original", program_cost(s->dv, original));
    print_cost(&text, "derived", program_cost(s->dv, r->program));
    program_print(&text, s->dv, r->program);
    printf("%s\n", text.chars);
    return agrees;
}

static int show_search(const struct search *s, int original, const struct options *options)
{
    TEXT(counters);
    size_t n_wrong = 0, n_shown = 0;
    for (size_t i = 0; i < s->results.count && n_shown < (size_t)options->show; i++)
        if (is_made_of(s, i, options->made_of)) {
            n_wrong += !show_result(s, original, i);
            n_shown++;
        }
    search_print_counters(&counters, s);
    printf("%s", counters.chars);
    return n_wrong ? EXIT_CHECK_FAILED : EXIT_DONE;
}

static int derive(struct command *c, const struct definition *d, uint32_t weights, struct error *error)
{
    const struct options *options = c->options;
    struct iterator_tables tables FREED_BY(iterator_tables_free);
    struct derivation dv FREED_BY(derivation_end);
    struct search s = {0};
    struct search_limits limits = search_standard_limits;
    int code = COMMAND_FAILED;
    limits.depth = (int)options->depth;
    limits.most_programs = (size_t)options->programs;
    limits.forgets = options->forgets;
    limits.does_not_converge = options->does_not_converge;
    iterator_tables_compute(&c->arena, &tables);
    derivation_begin(&dv, &c->arena, d->n_inputs, d->inputs, &tables);
    dv.weights = weights;
    int original = derivation_add(&dv, d);
    if (original == NO_SCOPE)
        error_set(error, NULL, 0, 0, "derivation is of one output of floating-point numbers");
    else {
        search_run(&s, &dv, original, &limits);
        code = show_search(&s, original, options);
        search_free(&s);
    }
    return code;
}

// --- families --------------------------------------------------------------------------------------------------------

static bool write_rules(const struct rule_set *set, const char *path, struct error *error)
{
    TEXT(text);
    for (size_t i = 0; i < set->rules.count; i++)
        rule_print(&text, set->rules.items[i]);
    return path ? file_write_text(path, text.chars ? text.chars : "", text.count, error)
                : fputs(text.chars ? text.chars : "", stdout) >= 0;
}

static bool derive_family(const struct rule *family, const struct iterator_tables *tables, struct rule_set *rules,
                          struct error *error)
{
    size_t before = rules->rules.count, n = family_derive(rules, family, tables);
    if (n == 0)
        return error_set(error, NULL, family->line, family->column,
                         "%s is no family: its target is not its source, or no sizes were found for it", family->name);
    fprintf(stderr, "%s: derived at %zu sizes, %zu rules\n", family->name, n, rules->rules.count - before);
    return true;
}

static int derive_families(struct command *c, const char *path, struct error *error)
{
    const struct options *options = c->options;
    struct iterator_tables tables;
    struct rule_set rules;
    if (!rule_set_read(&c->rules, path, error))
        return COMMAND_FAILED;
    rule_set_init(&rules, &c->arena);
    iterator_tables_compute(&c->arena, &tables);
    bool is_done = ALL(size_t, i, c->rules.rules.count, derive_family(c->rules.rules.items[i], &tables, &rules, error));
    is_done = is_done && write_rules(&rules, options->output, error);
    iterator_tables_free(&tables);
    rule_set_free(&rules);
    return is_done ? EXIT_DONE : COMMAND_FAILED;
}

static int derive_file(struct command *c, int count, char **arguments, struct error *error)
{
    struct definition d FREED_BY(definition_free) = {0};
    uint32_t weights;
    if (count != 1) {
        error_set_code(error, EXIT_USAGE, NULL, "expected the file of a definition (see --help)");
        return COMMAND_FAILED;
    }
    if (text_ends_with(arguments[0], ".rules"))
        return derive_families(c, arguments[0], error);
    if (!read_definition(c, arguments[0], &d, error))
        return COMMAND_FAILED;
    bool is_known = find_weights(c->options, d.n_inputs, &weights, error);
    return is_known ? derive(c, &d, weights, error) : COMMAND_FAILED;
}

int command_derivations(int argc, char **argv)
{
    struct options options = {
        .depth = search_standard_limits.depth, .programs = (int64_t)search_standard_limits.most_programs, .show = 1};
    return command_run(&program, &options, argc, argv, derive_file);
}
