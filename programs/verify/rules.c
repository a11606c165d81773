// taso-verify rules: every rule of a file proved, proved under conditions, or rejected.
#include "core/memory/memory.h"
#include "core/system/clock.h"
#include "core/system/file.h"
#include "core/system/files_used.h"
#include "core/system/in_hand.h"
#include "core/text/json.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "programs/verify/command.h"
#include "programs/verify/commands.h"
#include "substitutions/pattern.h"
#include "verifier/limits.h"
#include "verifier/rules/prove.h"
#include "verifier/rules/reversed.h"
#include "verifier/rules/rule_report.h"
#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *output, *rejected, *folder, *smt2, *json;
    int64_t threads, bound, instances, steps, slowest;
    bool quiet, z3, checked, conditions;
};
static const struct option_spec specs[] = {
    {"output", OPTION_TEXT, offsetof(struct options, output), .letter = 'o', .metavar = "FILE",
     .help = "proved rules, with conditions and certificates"},
    {"rejected", OPTION_TEXT, offsetof(struct options, rejected), .metavar = "FILE", .beside = {"--output"},
     .help = "rejected rules with the reasons (standard: the output's name with .rejected)"},
    {"bound", OPTION_INTEGER, offsetof(struct options, bound), .low = 0, .high = 8, .metavar = "N",
     .help = "test every size up to N (0: up to the first at which there are instances)"},
    {"instances", OPTION_INTEGER, offsetof(struct options, instances), .low = 1, .high = 1e12, .metavar = "N",
     .help = "at most N instances for each rule; a rule that has more is checked at so many"},
    {"properties", OPTION_TEXT, offsetof(struct options, folder), .metavar = "FOLDER", .beside = {"--z3"},
     .help = "where the *.properties files are"},
    {"z3", OPTION_FLAG, offsetof(struct options, z3), .help = "derive the rules from the properties too"},
    {"emit-smt2", OPTION_TEXT, offsetof(struct options, smt2), .metavar = "FOLDER", .beside = {"--z3"},
     .help = "write every obligation that Z3 proved as SMT-LIB 2, for other provers"},
    {"steps", OPTION_INTEGER, offsetof(struct options, steps), .low = 1, .high = 4e9, .metavar = "N",
     .beside = {"--z3"}, .help = "steps of Z3 for each obligation, after which it is not proved"},
    {"threads", OPTION_INTEGER, offsetof(struct options, threads), .letter = 'j', .low = 0, .high = 1024,
     .metavar = "N", .help = "threads; 0: all that this process may use"},
    {"conditions", OPTION_FLAG, offsetof(struct options, conditions),
     .help = "look for conditions under which rules are proved that are not as they stand"},
    {"checked", OPTION_FLAG, offsetof(struct options, checked),
     .help = "write rules that are checked at instances, and no more, among the proved ones"},
    {"slowest", OPTION_INTEGER, offsetof(struct options, slowest), .low = 0, .high = 1e9, .metavar = "N",
     .help = "name the N rules that took longest, with the seconds, on stderr"},
    {"json", OPTION_TEXT, offsetof(struct options, json), .metavar = "FILE",
     .help = "write the verdicts, and counterexamples with their numbers, as JSON"},
    {"quiet", OPTION_FLAG, offsetof(struct options, quiet), .letter = 'q', .help = "print totals only"},
    {0}};
static const struct program program = {
    .name = "taso-verify rules",
    .usage = "CANDIDATES.rules [-o PROVED.rules] [options]",
    .summary =
        "Proves substitution rules from the operators' definitions, for all shapes at which they may be applied.",
    .epilog = "Exit codes: 0 every rule is proved (with --checked: or checked), 1 one is refuted or undecided, and the "
              "files are written,\n2 wrong command line, 3 bad input.",
    .options = specs,
};

struct rules_run {
    int n_arenas;
    struct arena *arenas;   // one per thread: what the reports point to
    struct options *options;
    struct arena *arena;
    struct rule_set *set;
    struct axioms axioms;
    struct rule_report *reports;
    struct in_hand in_hand;
    double seconds;
};

// The provers of each thread.
struct provers {
    struct judge judge;
    struct theory *theory;   // NULL: no properties
    struct symbolic_prover symbols;
};

static void prove_one(struct rules_run *run, struct provers *p, int64_t i)
{
    double begun = clock_thread_seconds();
    const struct rule *rule = run->set->rules.items[i];
    prove_rule(&p->judge, p->theory, &p->symbols, rule, &run->arenas[omp_get_thread_num()], &run->reports[i]);
    run->reports[i].seconds = clock_thread_seconds() - begun;
}

static void set_limits(struct judge *judge, const struct options *options)
{
    judge->adds_conditions = options->conditions;
    judge->largest_size = (int)options->bound;
    judge->instance_limit = (uint64_t)options->instances;
}

// A rule that is another one read backwards is judged itself where that does not prove it. `original`: the other one,
// which was judged; NO_RULE: there is none.
static void prove_in_turn(struct rules_run *run, struct provers *p, int64_t i, uint32_t original)
{
    const struct rule *rule = run->set->rules.items[i];
    in_hand_take(&run->in_hand, omp_get_thread_num(), rule->name);
    if (original == NO_RULE || !prove_rule_reversed(&run->reports[original], rule, &run->reports[i]))
        prove_one(run, p, i);
    in_hand_finish(&run->in_hand, omp_get_thread_num());
}

// All threads go through the rules twice: first through those that are no other one read backwards.
static void prove_as_one_of_many(struct rules_run *run, const uint32_t *originals)
{
    int64_t n = (int64_t)run->set->rules.count;
    struct provers p = {.theory = run->options->z3 ? theory_make(&run->axioms, (unsigned)run->options->steps) : NULL};
    judge_init(&p.judge);
    symbolic_prover_init(&p.symbols);
    set_limits(&p.judge, run->options);
    for (int is_reversed = 0; is_reversed < 2; is_reversed++) {
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < n; i++)
            if ((originals[i] != NO_RULE) == is_reversed)
                prove_in_turn(run, &p, i, originals[i]);
    }
    if (p.theory)
        theory_free(p.theory);
    symbolic_prover_free(&p.symbols);
    judge_free(&p.judge);
}

static void prove_all(struct rules_run *run)
{
    size_t n = run->set->rules.count;
    double started = clock_seconds();
    int threads = run->options->threads ? (int)run->options->threads : omp_get_max_threads();
    run->n_arenas = threads;
    run->arenas = arena_array(run->arena, struct arena, threads);
    run->reports = arena_array(run->arena, struct rule_report, n + 1);
    const uint32_t *originals = find_reversed_rules((const struct rule *const *)run->set->rules.items, n, run->arena);
    in_hand_start(&run->in_hand, run->arena, run->options->quiet ? NULL : stderr, "rules", n, threads);
#pragma omp parallel num_threads(threads)
    prove_as_one_of_many(run, originals);
    in_hand_end(&run->in_hand);
    run->seconds = clock_seconds() - started;
}

// --- SMT-LIB ---------------------------------------------------------------------------------------------------------

#define MAX_OBLIGATIONS 64

static bool write_smt2_of(struct rules_run *run, struct theory *theory, const struct rule_report *report,
                          struct error *error)
{
    struct text texts[MAX_OBLIGATIONS] = {{0}};
    struct equation eq = equation_of_rule(&report->proved);
    uint32_t n = theory_print_smt2(theory, &eq, &report->entailment, texts, MAX_OBLIGATIONS);
    bool is_written = true;
    for (uint32_t i = 0; i < n; i++) {
        const char *path = arena_printf(run->arena, "%s/%s-%u.smt2", run->options->smt2, report->rule->name, i);
        is_written = is_written && file_write_text(path, texts[i].chars, texts[i].count, error);
        text_free(&texts[i]);
    }
    return is_written;
}

static bool write_smt2(struct rules_run *run, struct error *error)
{
    if (!run->options->smt2 || !run->options->z3)
        return true;
    struct theory *theory = theory_make(&run->axioms, (unsigned)run->options->steps);
    bool is_written =
        ALL(size_t, i, run->set->rules.count,
            !rule_report_is_derived(&run->reports[i]) || write_smt2_of(run, theory, &run->reports[i], error));
    theory_free(theory);
    return is_written;
}

// --- output ----------------------------------------------------------------------------------------------------------

COMPARISON(compare_reports, struct rule_report *,
           ORDER((*x)->rule->pattern.nodes.count, (*y)->rule->pattern.nodes.count) ?:
           strcmp((*x)->rule->name, (*y)->rule->name) ?: ORDER((*x)->rule->line, (*y)->rule->line))

static const struct rule_report **sort_reports(struct rules_run *run)
{
    size_t n = run->set->rules.count;
    const struct rule_report **sorted = arena_array(run->arena, const struct rule_report *, n + 1);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &run->reports[i];
    qsort(sorted, n, sizeof *sorted, compare_reports);
    return sorted;
}

static void add_comment(struct text *out, const char *lines)
{
    while (*lines) {
        size_t n = strcspn(lines, "\n");
        text_add(out, "; ");
        text_add_n(out, lines, n);
        text_add(out, "\n");
        lines += n + (lines[n] == '\n');
    }
}

static bool goes_with_proved(const struct rules_run *run, const struct rule_report *report)
{
    return rule_report_is_proved(report) || (run->options->checked && report->outcome == RULE_CHECKED);
}

static bool write_reports(struct rules_run *run, const char *path, bool wants_proved, struct error *error)
{
    const struct rule_report **sorted = sort_reports(run);
    TEXT(out);
    TEXT(reason);
    for (size_t i = 0; i < run->set->rules.count; i++) {
        if (goes_with_proved(run, sorted[i]) != wants_proved)
            continue;
        if (!wants_proved) {
            text_clear(&reason);
            text_printf(&reason, "%s: ", rule_outcome_name(sorted[i]->outcome));
            rule_report_print_reason(&reason, sorted[i]);
            add_comment(&out, reason.chars);
        }
        rule_print(&out, wants_proved ? &sorted[i]->proved : sorted[i]->rule);
    }
    return file_write_text(path, out.chars ? out.chars : "", out.count, error);
}

static bool write_all(struct rules_run *run, struct error *error)
{
    return !run->options->output || (write_reports(run, run->options->output, true, error) &&
                                     write_reports(run, run->options->rejected, false, error));
}

static void add_json(struct text *out, const struct rule_report *report)
{
    TEXT(condition);
    json_begin(out, NULL, '{');
    json_add_string(out, "name", report->rule->name);
    json_add_count(out, "line", report->rule->line);
    json_add_string(out, "verdict", rule_outcome_name(report->outcome));
    json_add_string(out, "meaning", rule_outcome_meaning(report->outcome));
    json_begin(out, "added_conditions", '[');
    for (uint32_t i = 0; i < report->added.count; i++) {
        text_clear(&condition);
        pattern_print_condition(&condition, &report->proved.pattern, &report->added.conditions[i]);
        json_add_string(out, NULL, condition.chars);
    }
    json_end(out, ']');
    counterexample_add_json(out, "counterexample", rule_report_counterexample(report));
    json_end(out, '}');
}

static bool write_json(const struct rules_run *run, struct error *error)
{
    TEXT(items);
    for (size_t i = 0; run->options->json && i < run->set->rules.count; i++)
        add_json(&items, &run->reports[i]);
    return !run->options->json || command_write_list(run->options->json, "rules", &items, error);
}

static void print_report(const struct rules_run *run, const struct rule_report *report)
{
    TEXT(out);
    text_printf(&out, "%s: %s", report->rule->name, rule_outcome_name(report->outcome));
    for (uint32_t i = 0; i < report->added.count; i++) {
        text_add(&out, " ");
        pattern_print_condition(&out, &report->proved.pattern, &report->added.conditions[i]);
    }
    if (report->reversed)
        text_printf(&out, " as %s is, its reverse", report->reversed->rule->name);
    else if (rule_report_is_proved(report))
        text_add(&out, rule_report_is_derived(report) ? " from the properties"
                       : report->law                  ? " by hand"
                                                      : " with symbols for sizes");
    text_add(&out, "\n");
    if (report->outcome != RULE_PROVED) {
        text_add(&out, "  ");
        rule_report_print_reason(&out, report);
        text_add(&out, "\n");
    }
    log_show(stdout, out.chars);
}

COMPARISON(compare_seconds, struct rule_report *, ORDER((*y)->seconds, (*x)->seconds))

static void print_slowest(struct rules_run *run)
{
    size_t n = run->set->rules.count, wanted = (size_t)run->options->slowest;
    const struct rule_report **sorted = sort_reports(run);
    qsort(sorted, n, sizeof *sorted, compare_seconds);
    for (size_t i = 0; i < n && i < wanted; i++)
        fprintf(stderr, "%8.3f s, %6.3f of Z3, %7" PRIu64 " instances: %s: %s\n", sorted[i]->seconds,
                sorted[i]->entailment.seconds,
                sorted[i]->has_direct ? sorted[i]->direct.instances : sorted[i]->first.instances, sorted[i]->rule->name,
                rule_outcome_name(sorted[i]->outcome));
}

static void print_all(const struct rules_run *run)
{
    uint64_t counts[RULE_OUTCOMES] = {0}, symbols = 0, laws = 0, derived = 0;
    double z3_seconds = 0;
    EACH(run->reports, run->set->rules.count, report) {
        bool is_proved = rule_report_is_proved(report);
        counts[report->outcome]++;
        derived += is_proved && rule_report_is_derived(report);
        symbols += is_proved && report->families;
        laws += is_proved && report->law;
        z3_seconds += report->entailment.seconds;
        if (!run->options->quiet)
            print_report(run, report);
    }
    for (int i = 0; i < RULE_OUTCOMES && !run->options->quiet; i++)
        if (counts[i])
            printf("\"%s\": %s\n", rule_outcome_name((enum rule_outcome)i), rule_outcome_meaning((enum rule_outcome)i));
    printf("%zu rule%s in %.1f s:", run->set->rules.count, plural_ending(run->set->rules.count), run->seconds);
    for (int i = 0; i < RULE_OUTCOMES; i++)
        printf("%s %" PRIu64 " %s", i ? "," : "", counts[i], rule_outcome_name((enum rule_outcome)i));
    printf("\nof the proved ones %" PRIu64 " follow from the properties (%.1f s of Z3), %" PRIu64
           " are proved with symbols for sizes, and %" PRIu64 " by hand\n",
           derived, z3_seconds, symbols, laws);
}

static bool check_files(struct rules_run *run, const char *path, struct error *error)
{
    struct options *o = run->options;
    if (o->output && !o->rejected)
        o->rejected = arena_printf(run->arena, "%s.rejected", o->output);
    const struct used_file files[] = {{"the input", path, FILE_REPLACEABLE},
                                      {"--output", o->output, FILE_REPLACED},
                                      {"--rejected", o->rejected, FILE_WRITTEN},
                                      {"--json", o->json, FILE_WRITTEN},
                                      {"--emit-smt2", o->smt2, FOLDER_WRITTEN}};
    return files_used_check(files, sizeof files / sizeof *files, error);
}

static bool is_every_rule_good(const struct rules_run *run)
{
    return ALL(size_t, i, run->set->rules.count, goes_with_proved(run, &run->reports[i]));
}

static bool prove_file(struct command *c, struct rules_run *run, const char *path, struct error *error)
{
    if (!check_files(run, path, error) || !rule_set_read(run->set, path, error) ||
        (run->options->z3 && !command_read_true_properties(c, &program, run->options->folder, error)))
        return false;
    if (run->options->z3)
        axioms_make(&run->axioms, &c->properties);
    prove_all(run);
    bool is_written = write_all(run, error) && write_json(run, error) && write_smt2(run, error);
    print_all(run);
    print_slowest(run);
    return is_written;
}

static void free_reports(struct rules_run *run)
{
    for (size_t i = 0; i < run->set->rules.count; i++)
        rule_report_free(&run->reports[i]);
    for (int t = 0; t < run->n_arenas; t++)
        arena_free(&run->arenas[t]);
    if (run->options->z3)
        axioms_free(&run->axioms);
}

static int run_on(struct command *c, int count, char **paths, struct error *error)
{
    struct options options = *(const struct options *)c->options;
    struct rules_run run = {.options = &options, .arena = &c->arena, .set = &c->rules};
    if (count != 1)
        error_set_code(error, EXIT_USAGE, NULL, "expected one file of rules (see --help)");
    bool is_done = count == 1 && prove_file(c, &run, paths[0], error);
    bool is_good = is_done && is_every_rule_good(&run);
    if (run.reports)
        free_reports(&run);
    return !is_done ? COMMAND_FAILED : is_good ? EXIT_DONE : EXIT_CHECK_FAILED;
}

int command_rules(int argc, char **argv)
{
    char folder[SHARED_PATH_SIZE];
    struct options options = {.instances = RULE_INSTANCE_LIMIT,
                              .z3 = true,
                              .conditions = true,
                              .steps = 200000,
                              .folder = property_standard_folder(folder)};
    mem_keep_freed();
    return command_run(&program, &options, argc, argv, run_on);
}
