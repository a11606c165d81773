// taso-verify model: are two models equal? By rules and structure, over the prime field, and in numbers.
#include "compare/field.h"
#include "compare/first_difference.h"
#include "compare/numbers.h"
#include "compare/saturate.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/options.h"
#include "core/text/text.h"
#include "onnx/convert/import/import.h"
#include "onnx/convert/symbolic/import_symbolic.h"
#include "onnx/format/check.h"
#include "onnx/format/model_file.h"
#include "programs/verify/commands.h"
#include "substitutions/standard_rules.h"
#include "substitutions/trusted_rules.h"
#include <inttypes.h>
#include <string.h>

struct options {
    const char *rules;
    struct option_list shapes;
    int64_t fold_limit, nodes, rounds, operations, seed, threads;
    double tolerance;
    bool rewrite, only_proved, field, numbers, quiet;
};
static const struct option_spec specs[] = {
    {"rules", OPTION_TEXT, offsetof(struct options, rules), .metavar = "FILE", .beside = {"--rewrite"},
     .help = "proved substitutions"},
    {"shape", OPTION_LIST, offsetof(struct options, shapes), .metavar = "NAME=1,3,224,224",
     .help = "the shape of an input, or SYMBOL=8 for a symbolic dimension; for both models"},
    {"rewrite", OPTION_FLAG, offsetof(struct options, rewrite), .help = "use the rules; structure alone otherwise"},
    {"only-proved", OPTION_FLAG, offsetof(struct options, only_proved), .beside = {"--rewrite"},
     .help = "of the rules only those that ship with this build as proved for all sizes"},
    {"nodes", OPTION_INTEGER, offsetof(struct options, nodes), .low = 0, .high = 1e7, .metavar = "N",
     .help = "e-nodes that rules may add between two findings"},
    {"rounds", OPTION_INTEGER, offsetof(struct options, rounds), .low = 0, .high = 1e6, .metavar = "N",
     .help = "rounds of rules, in all"},
    {"field", OPTION_FLAG, offsetof(struct options, field),
     .help = "evaluate what rules do not settle over the prime field"},
    {"operations", OPTION_INTEGER, offsetof(struct options, operations), .is_size = true, .low = 0, .high = 1e18,
     .metavar = "N", .beside = {"--field"},
     .help = "at most so many operations of one evaluation over the prime field"},
    {"numbers", OPTION_FLAG, offsetof(struct options, numbers), .help = "run both models on random inputs"},
    {"tolerance", OPTION_REAL, offsetof(struct options, tolerance), .low = 0, .high = 1, .metavar = "X",
     .beside = {"--numbers"}, .help = "largest allowed max|a - b| / max|a| of an output"},
    {"seed", OPTION_INTEGER, offsetof(struct options, seed), .low = 0, .high = 1e15, .metavar = "N",
     .beside = {"--field or --numbers"}, .help = "of the random inputs"},
    {"fold-limit", OPTION_INTEGER, offsetof(struct options, fold_limit), .is_size = true, .low = 0, .high = 1e12,
     .metavar = "N", .help = "compute constant tensors of up to N elements at import"},
    {"threads", OPTION_INTEGER, offsetof(struct options, threads), .letter = 'j', .low = 0, .high = 1024,
     .metavar = "N", .beside = {"--field or --numbers"},
     .help = "threads that the models run on; 0: all that this process may use"},
    {"quiet", OPTION_FLAG, offsetof(struct options, quiet), .letter = 'q', .help = "print the verdict only"},
    {0}};
static const struct program program = {
    .name = "taso-verify model",
    .usage = "A.onnx B.onnx [options]",
    .summary = "Are two models equal? By structure and proved rules, then over a prime field at the real shapes, then\n"
               "in numbers; says which of these succeeded.",
    .epilog =
        "Exit codes: 0 equal, 1 they differ or were not found to be equal, 2 wrong command line, 3 an unreadable\n"
        "or invalid file, 4 models that cannot be compared (other inputs or outputs), 70 internal error.",
    .options = specs,
};

struct subject {
    struct onnx_file file;
    struct imported_model model;
    bool is_open, is_imported;
};
struct model_comparison {
    struct options options;
    struct log log;
    struct subject subjects[2];
    struct arena arena;
    struct rule_set rules;
    size_t n_left_out;     // of the rules, as not proved
    const char *binding;   // of the symbols that --shape leaves open; NULL: there are none
    struct common_graph common;
    struct saturation saturation;
    struct field_result *field;   // of every output
    struct numbers_report numbers;
};

// --- reading ---------------------------------------------------------------------------------------------------------

static bool is_named(const struct onnx_string *name, const char *spec)
{
    size_t n = strcspn(spec, "=");
    return name->size == n && memcmp(name->text, spec, n) == 0;
}

static bool has_symbol(const struct onnx_value_info *input, const char *spec)
{
    const struct onnx_shape *shape = input->type && input->type->tensor ? input->type->tensor->shape : NULL;
    return shape && ANY(size_t, i, shape->dimensions.count, is_named(onnx_symbol(shape->dimensions.items[i]), spec));
}

static bool knows_name(const struct subject *s, const char *spec)
{
    const struct onnx_list *inputs = &s->file.model->graph->inputs;
    return ONNX_FIND(struct onnx_value_info, i, inputs, is_named(&i->name, spec) || has_symbol(i, spec));
}

// The models' inputs may have different names: a shape is for those models that know its name.
static bool import_subject(struct model_comparison *run, int which, struct error *error)
{
    struct subject *s = &run->subjects[which];
    const char *shapes[sizeof run->options.shapes.items / sizeof *run->options.shapes.items];
    size_t n = 0;
    for (size_t i = 0; i < run->options.shapes.count; i++) {
        const char *spec = run->options.shapes.items[i];
        if (knows_name(s, spec) || !knows_name(&run->subjects[1 - which], spec))
            shapes[n++] = spec;
    }
    struct import_options options = {
        .shapes = shapes, .shape_count = n, .fold_limit = run->options.fold_limit, .log = &run->log};
    s->is_imported = import_model(&s->model, &s->file, &options, error);
    return s->is_imported;
}

static bool open_subject(struct subject *s, const char *path, struct error *error)
{
    s->is_open = onnx_file_open(&s->file, path, error);
    return s->is_open && onnx_model_check(s->file.model, path, error);
}

static void forget_import(struct subject *s)
{
    if (s->is_imported)
        imported_model_free(&s->model);
    s->is_imported = false;
}

static void close_subjects(struct model_comparison *run)
{
    for (int i = 0; i < 2; i++)
        if (run->subjects[i].is_open)
            onnx_file_close(&run->subjects[i].file);
}

// --- printing --------------------------------------------------------------------------------------------------------

static bool is_equal_by_rules(const struct model_comparison *run, size_t output)
{
    const struct common_side *sides = run->common.sides;
    return common_tensors_are_equal(&run->common, sides[0].outputs[output], sides[1].outputs[output]);
}

static bool is_equal_in_field(const struct model_comparison *run, size_t output)
{
    return run->options.field && run->field[output].verdict == FIELD_EQUAL;
}

static void print_place(struct text *out, const struct type *t, int64_t place)
{
    int64_t index[MAX_RANK] = {0};
    for (int i = t->rank; i-- > 0;) {
        index[i] = place % t->dim[i];
        place /= t->dim[i];
    }
    text_add(out, "[");
    for (int i = 0; i < t->rank; i++)
        text_printf(out, "%s%" PRId64, i ? "," : "", index[i]);
    text_add(out, "]");
}

static const struct type *type_of_output(const struct model_comparison *run, size_t output)
{
    return graph_type(&run->common.graph, run->common.sides[0].outputs[output]);
}

static void print_first_difference(const struct model_comparison *run, struct text *out,
                                   const struct shared_classes *shared, int side)
{
    struct first_difference d = common_graph_find_difference(&run->common, shared, side);
    if (d.layer == NO_NODE)
        return;
    text_add(out, "    only in ");
    text_add_shown(out, run->subjects[side].file.path);
    text_add(out, ": ");
    text_add_shown(out, d.name ? d.name : "a tensor without a name");
    text_add(out, ", made by ");
    text_add_shown(out, common_graph_operator(&run->common, side, d.layer));
    text_add(out, "\n");
}

static void print_rules_stage(const struct model_comparison *run, struct text *out)
{
    const struct saturation *s = &run->saturation;
    struct shared_classes shared FREED_BY(shared_classes_free);
    size_t n_equal = SUM_ALL(size_t, size_t, i, run->common.n_outputs, is_equal_by_rules(run, i));
    if (run->n_left_out)
        text_printf(out, "rules:   left out, as this build does not know them as proved: %zu\n", run->n_left_out);
    text_printf(out, "rules:   %zu of %zu output%s equal by structure", n_equal, run->common.n_outputs,
                plural_ending(run->common.n_outputs));
    if (s->unions || s->constants)
        text_printf(out, " and rules (%u round%s, %zu union%s, %zu constant%s computed)", s->rounds,
                    plural_ending(s->rounds), s->unions, plural_ending(s->unions), s->constants,
                    plural_ending(s->constants));
    if (s->rounded)
        text_printf(out, ", where constants (%zu) are equal but for rounding, by up to %.2g of their largest entry",
                    s->rounded, s->largest_rounding);
    text_printf(out, "%s\n", s->is_exhausted ? "; the budget of nodes or rounds was spent" : "");
    shared_classes_init(&shared, &run->common);
    for (int side = 0; side < 2 && n_equal < run->common.n_outputs; side++)
        print_first_difference(run, out, &shared, side);
    if (n_equal < run->common.n_outputs &&
        (run->subjects[0].model.symbols.n_unbound || run->subjects[1].model.symbols.n_unbound))
        text_add(out, "    dimensions of inputs have no size, and rules see nothing behind them: --shape gives them\n");
}

static void print_output_name(struct text *out, const char *name)
{
    text_add(out, "    output ");
    text_add_shown(out, name);
}

static void print_field_result(const struct model_comparison *run, struct text *out, size_t i)
{
    const struct field_result *r = &run->field[i];
    if (r->verdict != FIELD_NOT_COMPARED)
        print_output_name(out, common_graph_output_name(&run->common, i));
    if (r->verdict == FIELD_EQUAL)
        text_printf(out, ": equal in all %" PRId64 " entries, %s\n", r->n_entries,
                    r->is_free ? "for random values of all that the models share" : "from random inputs on");
    else if (r->verdict == FIELD_AGREES) {
        text_printf(out, ": agrees in all %" PRId64 " entries, which proves nothing of comparisons and integers (",
                    r->n_entries);
        text_add_shown(out, r->decision);
        text_add(out, ")\n");
    } else if (r->verdict == FIELD_TOO_COSTLY)
        text_add(out, ": needs more than --operations\n");
    else if (r->verdict == FIELD_DIFFERENT) {
        text_printf(out, ": differs in %" PRId64 " of %" PRId64 " entries, first at ", r->n_different, r->n_entries);
        print_place(out, type_of_output(run, i), r->first_different);
        text_add(out, "\n");
    } else if (r->verdict == FIELD_UNKNOWN) {
        text_add(out, ": unknown, because functions have only stand-ins there (");
        text_add_shown(out, r->stand_in);
        text_printf(out, "): %" PRId64 " of %" PRId64 " entries do not agree, first at ", r->n_different, r->n_entries);
        print_place(out, type_of_output(run, i), r->first_different);
        text_add(out, "\n");
    }
}

static void print_field_stage(const struct model_comparison *run, struct text *out)
{
    size_t n_open = 0, n_equal = 0;
    if (!run->options.field)
        return;
    for (size_t i = 0; i < run->common.n_outputs; i++) {
        n_open += !is_equal_by_rules(run, i);
        n_equal += is_equal_in_field(run, i);
    }
    if (n_open)
        text_printf(out, "field:   %zu of %zu other output%s equal modulo 2^61 - 1\n", n_equal, n_open,
                    plural_ending(n_open));
    else
        text_add(out, "field:   nothing is left to compare modulo 2^61 - 1\n");
    for (size_t i = 0; i < run->common.n_outputs; i++)
        print_field_result(run, out, i);
}

static void print_numbers_result(const struct model_comparison *run, struct text *out, const struct numbers_result *r)
{
    print_output_name(out, r->of.name);
    text_printf(out, ": max|a-b| / max|a| = %.3g / %.4g", r->of.max_difference, r->of.max_magnitude);
    if (!r->of.is_equal_enough) {
        text_add(out, ", at ");
        if (r->output < run->common.n_outputs)
            print_place(out, type_of_output(run, r->output), r->of.place);
        else
            text_printf(out, "entry %" PRId64, r->of.place);
        text_printf(out, ": %.9g and %.9g", r->of.a, r->of.b);
    }
    text_printf(out, "%s\n", r->of.is_trustworthy ? "" : " (says nothing: constant, zero or not finite)");
}

static void print_numbers_stage(const struct model_comparison *run, struct text *out)
{
    const struct numbers_report *report = &run->numbers;
    if (!run->options.numbers)
        return;
    if (report->reason) {
        text_printf(out, "numbers: not run: %s\n", report->reason);
        return;
    }
    size_t n_equal = SUM_ALL(size_t, size_t, i, report->results.count, report->results.items[i].of.is_equal_enough);
    text_printf(out, "numbers: %zu of %zu output%s equal within %g\n", n_equal, report->results.count,
                plural_ending(report->results.count), report->tolerance);
    for (size_t i = 0; i < report->results.count; i++)
        print_numbers_result(run, out, &report->results.items[i]);
}

// --- the verdict -----------------------------------------------------------------------------------------------------

// Do the numbers of all outputs agree, and of what opaque nodes read? Those belong to every output.
static bool agree_in_numbers(const struct model_comparison *run, bool must_be_trustworthy)
{
    const struct numbers_report *report = &run->numbers;
    return !ANY(size_t, i, report->results.count,
                !report->results.items[i].of.is_equal_enough ||
                    (must_be_trustworthy && !report->results.items[i].of.is_trustworthy));
}

static bool is_every_output_compared(const struct model_comparison *run)
{
    return ALL(size_t, i, run->common.n_outputs, type_is_known(type_of_output(run, i)));
}

static void print_equality(const struct model_comparison *run, struct text *out, bool by_rules)
{
    const struct saturation *s = &run->saturation;
    text_add(out, by_rules ? "by structure and rules" : "by rules, and over the prime field where rules do not reach");
    if (s->rounded)
        text_printf(out, ", but for rounding of constants, by up to %.2g of the largest entry of one",
                    s->largest_rounding);
    text_add(out, "\n");
}

static bool decide(const struct model_comparison *run, struct text *out)
{
    bool by_rules = true, exactly = true, was_run = run->options.numbers && !run->numbers.reason;
    for (size_t i = 0; i < run->common.n_outputs; i++) {
        by_rules = by_rules && is_equal_by_rules(run, i);
        exactly = exactly && (is_equal_by_rules(run, i) || is_equal_in_field(run, i));
    }
    if (exactly) {
        text_add(out, was_run && !agree_in_numbers(run, false)
                          ? "the models differ in numbers, although they are equal as real functions: "
                          : "the models are equal: ");
        print_equality(run, out, by_rules);
    } else if (was_run && agree_in_numbers(run, true) && is_every_output_compared(run))
        text_add(out, "the models are equal in numbers alone: not by rules, nor over the prime field\n");
    else if (was_run && !agree_in_numbers(run, false))
        text_add(out, "the models differ\n");
    else {
        text_add(out, "the models were not found to be equal\n");
        return false;
    }
    return exactly ? !was_run || agree_in_numbers(run, false) : agree_in_numbers(run, true);
}

static bool report(const struct model_comparison *run)
{
    TEXT(stages);
    TEXT(verdict);
    if (run->binding) {
        text_add(&stages, "at ");
        text_add_shown(&stages, run->binding);
        text_add(&stages, ":\n");
        text_add(&verdict, "at ");
        text_add_shown(&verdict, run->binding);
        text_add(&verdict, " ");
    }
    if (run->common.has_other_names)
        text_add(&stages, "inputs or outputs have other names: they are paired by position\n");
    print_rules_stage(run, &stages);
    print_field_stage(run, &stages);
    print_numbers_stage(run, &stages);
    bool is_equal = decide(run, &verdict);
    if (!run->options.quiet)
        log_show(stdout, stages.chars);
    log_show(stdout, verdict.chars);
    return is_equal;
}

// --- the program -----------------------------------------------------------------------------------------------------

static bool compare(struct model_comparison *run, struct error *error)
{
    const struct numbers_options numbers = {.seed = (uint64_t)run->options.seed,
                                            .rounds = 2,
                                            .threads = (int)run->options.threads,
                                            .tolerance = run->options.tolerance,
                                            .log = &run->log};
    const struct saturation_budget budget = {.most_nodes = (size_t)run->options.nodes,
                                             .most_rounds = (uint32_t)run->options.rounds,
                                             .progress = run->options.quiet ? NULL : stderr};
    run->field = arena_array(&run->arena, struct field_result, run->common.n_outputs + 1);
    common_graph_saturate(&run->common, &run->rules, &budget, &run->saturation);
    if (run->options.field)
        common_graph_compare_in_field(&run->common, (uint64_t)run->options.seed, (double)run->options.operations,
                                      (int)run->options.threads, run->field);
    return !run->options.numbers || common_graph_compare_in_numbers(&run->common, &numbers, &run->numbers, error);
}

// That models are equal by a rule that says of itself that it is not proved would be no ground for anything.
static bool is_no_checked_rule(const struct rule *r, const void *context)
{
    (void)context;
    return !rule_is_only_checked(r);
}

static bool read_rules(struct model_comparison *run, struct error *error)
{
    const char *path = run->options.rules;
    if (!run->options.rewrite)
        return true;
    if (!rule_set_read(&run->rules, path, error) ||
        (run->options.only_proved && !proved_rules_keep(&run->rules, path, &run->log, &run->n_left_out, error)))
        return false;
    rule_set_filter(&run->rules, is_no_checked_rule, NULL);
    rule_set_add_backwards(&run->rules);
    return true;
}

// Compares both models as they are imported now.
static bool compare_once(struct model_comparison *run, bool *ret_equal, struct error *error)
{
    bool is_done = import_subject(run, 0, error) && import_subject(run, 1, error) &&
                   common_graph_make(&run->common, &run->subjects[0].model, &run->subjects[1].model, error);
    if (is_done) {
        is_done = compare(run, error);
        *ret_equal = is_done && report(run);
        numbers_report_free(&run->numbers);
        common_graph_free(&run->common);
    }
    for (int i = 0; i < 2; i++)
        forget_import(&run->subjects[i]);
    return is_done;
}

// --- symbols ---------------------------------------------------------------------------------------------------------

// Bindings with the smallest sizes, of those at which models with symbols are imported.
enum { FIRST_BINDING = 1, N_BINDINGS = 2 };

// A dimension without a number that has a name of its own is one of the model's; others are called INPUT[AXIS].
static bool has_named_symbols(const struct model_comparison *run, const struct imported_model *m)
{
    bool is_named = m->symbols.list.count > 0 &&
                    ALL(size_t, i, m->symbols.list.count, knows_name(&run->subjects[0], m->symbols.list.items[i].name));
    return is_named &&
           run->options.shapes.count + m->symbols.list.count <= sizeof run->options.shapes.items / sizeof(const char *);
}

static bool compare_at(struct model_comparison *run, const struct imported_model *m, const int64_t *binding,
                       bool *ret_equal, struct error *error)
{
    struct option_list *shapes = &run->options.shapes;
    TEXT(text);
    size_t n_given = shapes->count;
    for (size_t i = 0; i < m->symbols.list.count; i++) {
        shapes->items[shapes->count] =
            arena_printf(&run->arena, "%s=%" PRId64, m->symbols.list.items[i].name, binding[i]);
        text_printf(&text, "%s%s", i ? ", " : "", shapes->items[shapes->count++]);
    }
    run->binding = text.chars;
    bool is_done = compare_once(run, ret_equal, error);
    run->binding = NULL;
    shapes->count = n_given;
    return is_done;
}

// Compares both models at sizes that tell symbols apart, halved until the first one has a result; the verdict names
// them and says nothing of others.
static bool compare_at_bindings(struct model_comparison *run, const struct imported_model *m,
                                const struct import_options *options, bool *ret_equal, struct error *error)
{
    *ret_equal = true;
    for (int i = 0; i < N_BINDINGS; i++) {
        int64_t binding[MAX_SYMBOLS];
        bool is_equal = false;
        memcpy(binding, m->symbols.sizes.probes[FIRST_BINDING + i], sizeof binding);
        import_fit_binding(m, options, binding);
        if (!compare_at(run, m, binding, &is_equal, error))
            return false;
        *ret_equal = *ret_equal && is_equal;
    }
    return true;
}

static bool compare_all(struct model_comparison *run, bool *ret_equal, struct error *error)
{
    struct imported_model symbolic;
    struct error ignored = {0};
    const struct import_options options = {.shapes = run->options.shapes.items,
                                           .shape_count = run->options.shapes.count,
                                           .fold_limit = run->options.fold_limit};
    if (!import_symbolic(&symbolic, &run->subjects[0].file, &options, &ignored))
        return compare_once(run, ret_equal, error);
    bool is_done = has_named_symbols(run, &symbolic) ? compare_at_bindings(run, &symbolic, &options, ret_equal, error)
                                                     : compare_once(run, ret_equal, error);
    imported_model_free(&symbolic);
    return is_done;
}

static bool run_on(struct model_comparison *run, const char *a, const char *b, bool *ret_equal, struct error *error)
{
    return read_rules(run, error) && open_subject(&run->subjects[0], a, error) &&
           open_subject(&run->subjects[1], b, error) && compare_all(run, ret_equal, error);
}

int command_model(int argc, char **argv)
{
    struct model_comparison run = {.options = {.fold_limit = IMPORT_FOLD_LIMIT,
                                               .nodes = 20000,
                                               .rounds = 1000,
                                               .operations = (int64_t)1 << 36,
                                               .seed = 1,
                                               .tolerance = 1e-5,
                                               .rewrite = true,
                                               .field = true,
                                               .numbers = true}};
    struct error error = {.code = EXIT_BAD_INPUT};
    int code;
    bool is_done = false, is_equal = false;
    char rules[SHARED_PATH_SIZE];
    run.options.rules = standard_rules_file(rules);
    if (!options_begin(&program, &argc, argv, &run.options, &code))
        return code;
    run.log = (struct log){stderr, program.name, run.options.quiet ? LOG_QUIET : LOG_WARNING};
    rule_set_init(&run.rules, &run.arena);
    if (argc != 2)
        error_set_code(&error, EXIT_USAGE, NULL, "expected two models (see --help)");
    else
        is_done = run_on(&run, argv[0], argv[1], &is_equal, &error);
    close_subjects(&run);
    rule_set_free(&run.rules);
    arena_free(&run.arena);
    return !is_done ? error_exit(program.name, &error) : is_equal ? EXIT_DONE : EXIT_CHECK_FAILED;
}
