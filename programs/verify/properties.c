// taso-verify properties: is every property true of the operators' definitions?
#include "core/system/clock.h"
#include "core/system/files_used.h"
#include "core/system/in_hand.h"
#include "core/text/json.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "programs/verify/command.h"
#include "programs/verify/commands.h"
#include "properties/shipped_properties.h"
#include "verifier/entailment/z3_theory.h"
#include "verifier/limits.h"
#include "verifier/rules/property_verdict.h"
#include "verifier/symbolic_proof/symbolic.h"
#include "verifier/testing/judge.h"
#include <inttypes.h>
#include <omp.h>
#include <string.h>

struct options {
    const char *folder, *json;
    int64_t threads, bound;
    int64_t steps;
    bool all, quiet, theory;
};
static const struct option_spec specs[] = {
    {"all", OPTION_FLAG, offsetof(struct options, all), .help = "validate every property, also those that ship"},
    {"bound", OPTION_INTEGER, offsetof(struct options, bound), .low = 0, .high = 8, .metavar = "N",
     .help = "try every size up to N (0: up to the first at which there are instances), and ask for no argument"},
    {"theory", OPTION_FLAG, offsetof(struct options, theory),
     .help = "look for contradictions, and for properties that follow from the others"},
    {"steps", OPTION_INTEGER, offsetof(struct options, steps), .low = 1, .high = 4e9, .metavar = "N",
     .beside = {"--theory"}, .help = "steps of Z3 for each such question"},
    {"properties", OPTION_TEXT, offsetof(struct options, folder), .metavar = "FOLDER", .files = NO_FILES,
     .help = "where the *.properties files are, when no file is named"},
    {"threads", OPTION_INTEGER, offsetof(struct options, threads), .letter = 'j', .low = 0, .high = 1024,
     .metavar = "N", .help = "threads; 0: all that this process may use"},
    {"json", OPTION_TEXT, offsetof(struct options, json), .metavar = "FILE",
     .help = "write the verdicts, and counterexamples with their numbers, as JSON"},
    {"quiet", OPTION_FLAG, offsetof(struct options, quiet), .letter = 'q', .help = "print failures and totals only"},
    {0}};
static const struct program program = {
    .name = "taso-verify properties",
    .usage = "[FILE.properties ...] [options]",
    .summary = "Validates properties from the operators' definitions: values, types, split trees and definedness.",
    .epilog = "Exit codes: 0 all are proved or axioms, 1 one is false, undecided or, without --bound, only checked, "
              "2 wrong command line, 3 bad input.",
    .options = specs,
};

struct outcome {
    struct property_verdict verdict;
    bool is_known;   // it ships: the suite has validated it
    double seconds;
};
struct properties_run {
    const struct options *options;
    struct arena *arena;
    struct property_set *set;
    struct property_set shipped;
    struct outcome *outcomes;   // of each property
    struct in_hand in_hand;
    double seconds;
};

// Rules rest on properties, so that tests are no proof of one. Up to a bound there is nothing but tests.
static bool is_good(const struct properties_run *run, const struct outcome *o)
{
    bool is_checked = run->options->bound && o->verdict.standing == PROPERTY_CHECKED;
    return property_verdict_is_good(&o->verdict) || is_checked;
}

static void validate(struct properties_run *run, struct judge *judge, struct symbolic_prover *symbols,
                     const struct property *p, struct outcome *o)
{
    double started = clock_seconds();
    o->is_known = !run->options->all && !run->options->bound && shipped_properties_have(&run->shipped, p);
    if (!o->is_known)
        o->verdict = property_verdict_find(p, judge, symbols);
    o->seconds = clock_seconds() - started;
}

static void init_judge(const struct properties_run *run, struct judge *j)
{
    judge_init(j);
    j->largest_size = (int)run->options->bound;
    j->instance_limit = PROPERTY_INSTANCE_LIMIT;
    j->step_limit = PROPERTY_STEP_LIMIT;
}

static void validate_all(struct properties_run *run)
{
    double started = clock_seconds();
    int threads = run->options->threads ? (int)run->options->threads : omp_get_max_threads();
    int64_t n = (int64_t)run->set->properties.count;
    run->outcomes = arena_array(run->arena, struct outcome, n + 1);
    in_hand_start(&run->in_hand, run->arena, run->options->quiet ? NULL : stderr, "properties", (uint64_t)n, threads);
#pragma omp parallel num_threads(threads)
    {
        struct judge judge FREED_BY(judge_free);
        struct symbolic_prover symbols FREED_BY(symbolic_prover_free);
        init_judge(run, &judge);
        symbolic_prover_init(&symbols);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < n; i++) {
            const struct property *p = run->set->properties.items[i];
            in_hand_take(&run->in_hand, omp_get_thread_num(), p->name);
            validate(run, &judge, run->options->bound ? NULL : &symbols, p, &run->outcomes[i]);
            in_hand_finish(&run->in_hand, omp_get_thread_num());
        }
    }
    in_hand_end(&run->in_hand);
    run->seconds = clock_seconds() - started;
}

static enum property_standing standing_of(const struct properties_run *run, size_t i)
{
    const struct outcome *o = &run->outcomes[i];
    return !o->is_known ? o->verdict.standing : run->set->properties.items[i]->axiom ? PROPERTY_AXIOM : PROPERTY_PROVED;
}

static void print_outcome(const struct properties_run *run, size_t i)
{
    const struct property *p = run->set->properties.items[i];
    const struct outcome *o = &run->outcomes[i];
    TEXT(out);
    text_printf(&out, "%s: ", p->name);
    if (o->is_known)
        text_printf(&out, "%s (it ships)\n", property_standing_name(standing_of(run, i)));
    else {
        property_verdict_print(&out, &o->verdict);
        text_printf(&out, ", %.0f ms\n", 1e3 * o->seconds);
    }
    const struct text *counterexample = &property_verdict_counterexample(&o->verdict)->text;
    if (counterexample->count)
        text_printf(&out, "  %s:%u:%u: %s\n", p->file, p->line, p->column, counterexample->chars);
    log_show(stdout, out.chars);
}

static void print_meanings(const struct properties_run *run)
{
    bool occurs[PROPERTY_STANDINGS] = {0};
    for (size_t i = 0; i < run->set->properties.count; i++)
        occurs[standing_of(run, i)] = true;
    for (int i = 0; i < PROPERTY_STANDINGS && !run->options->quiet; i++)
        if (occurs[i])
            printf("\"%s\": %s\n", property_standing_name((enum property_standing)i),
                   property_standing_meaning((enum property_standing)i));
}

static void add_json(struct text *out, const struct properties_run *run, size_t i)
{
    const struct property *p = run->set->properties.items[i];
    json_begin(out, NULL, '{');
    json_add_string(out, "name", p->name);
    json_add_string(out, "file", p->file);
    json_add_count(out, "line", p->line);
    json_add_string(out, "verdict", property_standing_name(standing_of(run, i)));
    json_add_string(out, "meaning", property_standing_meaning(standing_of(run, i)));
    counterexample_add_json(out, "counterexample", property_verdict_counterexample(&run->outcomes[i].verdict));
    json_end(out, '}');
}

static bool write_json(const struct properties_run *run, struct error *error)
{
    TEXT(items);
    for (size_t i = 0; run->options->json && i < run->set->properties.count; i++)
        add_json(&items, run, i);
    return !run->options->json || command_write_list(run->options->json, "properties", &items, error);
}

static bool print_all(const struct properties_run *run)
{
    uint64_t counts[PROPERTY_STANDINGS] = {0}, known = 0, failed = 0, instances = 0;
    for (size_t i = 0; i < run->set->properties.count; i++) {
        const struct outcome *o = &run->outcomes[i];
        known += o->is_known;
        counts[o->verdict.standing] += !o->is_known;
        failed += !o->is_known && !is_good(run, o);
        instances += o->verdict.tested.instances;
        if (!run->options->quiet || (!o->is_known && !is_good(run, o)))
            print_outcome(run, i);
    }
    print_meanings(run);
    printf("properties: %zu, in %.1f s, at %" PRIu64 " instance%s: %" PRIu64 " that ship", run->set->properties.count,
           run->seconds, instances, plural_ending(instances), known);
    for (int i = 0; i < PROPERTY_STANDINGS; i++)
        printf(", %" PRIu64 " %s", counts[i], property_standing_name((enum property_standing)i));
    printf("\n");
    return failed == 0;
}

// --- the set as a theory ---------------------------------------------------------------------------------------------

// A rule that is checked up to a bound may be false beyond it.
static bool holds(const struct properties_run *run, size_t i)
{
    const struct outcome *o = &run->outcomes[i];
    return o->is_known || property_verdict_is_good(&o->verdict);
}

static void print_uses(const struct entailment *e)
{
    for (uint32_t i = 0; i < e->n_uses; i++)
        printf(" %s", e->uses[i]);
    printf("\n");
}

// Properties that hold do so of the operators, all at once. So a contradiction has one that does not.
static bool print_contradictions(const struct properties_run *run)
{
    struct axioms axioms FREED_BY(axioms_free);
    struct entailment core;
    size_t count = 0;
    axioms_make(&axioms, run->set);
    struct theory *theory = theory_make(&axioms, (unsigned)run->options->steps);
    for (size_t i = 0; i < run->set->properties.count; i++) {
        const char *name = run->set->properties.items[i]->name;
        if (holds(run, i) || !theory_contradicts(theory, name, &core))
            continue;
        printf("contradiction: where %s speaks of them all tensors are equal, by:", name);
        print_uses(&core);
        count++;
    }
    theory_free(theory);
    if (count == 0)
        printf("no contradiction was found\n");
    return count > 0;
}

static struct property_set properties_that_hold(const struct properties_run *run)
{
    struct property_set set;
    property_set_init(&set, run->arena);
    for (size_t i = 0; i < run->set->properties.count; i++)
        if (holds(run, i))
            vec_push(&set.properties, run->set->properties.items[i]);
    return set;
}

// Properties written last are looked at first, and what follows from others is not used any more: so all that are named
// can be left out together.
static void print_redundant_ones(const struct properties_run *run)
{
    struct property_set set = properties_that_hold(run);
    size_t n = set.properties.count;
    struct entailment *proofs = arena_array(run->arena, struct entailment, n + 1);
    struct names left_out = {arena_array(run->arena, const char *, n + 1), 0};
    struct axioms axioms FREED_BY(axioms_free);
    axioms_make(&axioms, &set);
    struct theory *theory = theory_make(&axioms, (unsigned)run->options->steps);
    for (size_t i = n; i-- > 0;) {
        struct equation eq = equation_of_property(set.properties.items[i]);
        left_out.items[left_out.count++] = eq.name;
        proofs[i] = theory_prove(theory, &eq, &left_out);
        left_out.count -= proofs[i].status != ENTAILMENT_PROVED;
    }
    for (size_t i = 0; i < n; i++)
        if (proofs[i].status == ENTAILMENT_PROVED) {
            printf("%s follows from:", set.properties.items[i]->name);
            print_uses(&proofs[i]);
        }
    printf("properties that follow from the others, all at once: %u\n", left_out.count);
    theory_free(theory);
    vec_free(&set.properties);
}

// False: a contradiction was found.
static bool examine_theory(const struct properties_run *run)
{
    bool is_consistent = !print_contradictions(run);
    print_redundant_ones(run);
    return is_consistent;
}

static bool read_all(struct properties_run *run, char **files, int count, struct error *error)
{
    return ALL(int, i, count, property_set_read(run->set, files[i], error)) &&
           (count > 0 || property_set_read_folder(run->set, run->options->folder, error));
}

static bool check_files(const struct properties_run *run, char **files, int count, struct error *error)
{
    struct used_file *used = arena_array(run->arena, struct used_file, count + 1);
    for (int i = 0; i < count; i++)
        used[i] = (struct used_file){"a file of properties", files[i], FILE_READ};
    used[count] = (struct used_file){"--json", run->options->json, FILE_WRITTEN};
    return files_used_check(used, (size_t)count + 1, error);
}

static int run_on(struct command *c, int count, char **files, struct error *error)
{
    struct properties_run run = {.options = c->options, .arena = &c->arena, .set = &c->properties};
    if (!check_files(&run, files, count, error) || !read_all(&run, files, count, error))
        return COMMAND_FAILED;
    shipped_properties_read(&run.shipped, &c->arena);
    validate_all(&run);
    bool is_all_good = print_all(&run);
    bool is_written = write_json(&run, error);
    if (run.options->theory && !examine_theory(&run))
        is_all_good = false;
    for (size_t i = 0; i < run.set->properties.count; i++)
        property_verdict_free(&run.outcomes[i].verdict);
    property_set_free(&run.shipped);
    return !is_written ? COMMAND_FAILED : is_all_good ? EXIT_DONE : EXIT_CHECK_FAILED;
}

int command_properties(int argc, char **argv)
{
    char folder[SHARED_PATH_SIZE];
    struct options options = {.folder = property_standard_folder(folder), .steps = 200000};
    return command_run(&program, &options, argc, argv, run_on);
}
