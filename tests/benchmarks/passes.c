// `benchmark_passes RECORD SECONDS MODEL.onnx...`: XTAT's experiment. Searches of several kinds tune each model for so
// long, on one thread, from an empty cost database. Nothing is measured twice: what a step took, and what processor
// time it took to compile and to measure that, is kept in the file RECORD (a cost database of its own), and counts for
// each search that asks for it. What a search does itself is counted, not timed: so much for each node of each candidate,
// and for each schedule that is described. So all are compared on the same costs at equal time, and a record replays to
// the same numbers on any machine, however busy.
//
// For each search: what the model takes by the sum of its steps before, and after a quarter, half and all of the time;
// how many times less time it needed than each of two sequential ones to be as good as that was in the end, within a
// thousandth (0: it never was); steps, and what each pass gave. In the end, the same of all models.
#include "tuning/passes.h"

#include "backends/backend.h"
#include "backends/costs/cost_database.h"
#include "backends/cpu/cpu.h"
#include "backends/planning/plan_text.h"
#include "core/memory/hash.h"
#include "core/memory/key_set.h"
#include "core/text/text.h"
#include "tests/onnx/with_model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define SECONDS_PER_STEP 0.004
#define MOST_POINTS 4096
#define WITHIN 1.001
#define MOST_MODELS 64
#define LEAST_SECONDS 1e-7   // of a row
#define LEAST_SECONDS_OF_SEARCH 1e-3
#define HASH_OF_NOTHING 0x7461736f
#define SECONDS_OF_NODE 4e-6   // that a candidate takes to be planned and priced, for each node, as measured
#define SECONDS_OF_DESCRIPTION 1e-6

#define IN_ORDER(strategy)                                                                                             \
    "(" strategy " 0.25 (layout 1)) (" strategy " 0.25 (fusion 1)) (exhaustive 0.5 (schedules 1))"
#define HALVES(strategy) "(" strategy " 0.5 (layout 1)) (" strategy " 0.5 (fusion 1))"
#define JOINT(strategy) "(" strategy " 1 by-gain (layout 1) (fusion 2) (schedules 6))"
enum kind { SEQUENTIAL, SEQUENTIAL_EXHAUSTIVE, GRAPH_SEQUENTIAL, GRAPH_SEQUENTIAL_EXHAUSTIVE };
#define N_ASIDE 2   // sequential searches that each is compared with
#define ALL_PASSES                                                                                                     \
    {                                                                                                                  \
        SEQUENTIAL, SEQUENTIAL_EXHAUSTIVE                                                                              \
    }
#define GRAPH_PASSES                                                                                                   \
    {                                                                                                                  \
        GRAPH_SEQUENTIAL, GRAPH_SEQUENTIAL_EXHAUSTIVE                                                                  \
    }
static const struct {
    const char *name, *schedule;
    bool lacks_store, lacks_learning;
    enum kind aside[N_ASIDE];
} kinds[] = {
    [SEQUENTIAL] = {"sequential", IN_ORDER("annealing"), .aside = ALL_PASSES},
    [SEQUENTIAL_EXHAUSTIVE] = {"sequential, exhaustive", IN_ORDER("exhaustive"), .aside = ALL_PASSES},
    [GRAPH_SEQUENTIAL] = {"layouts, then fusion", HALVES("annealing"), .aside = GRAPH_PASSES},
    [GRAPH_SEQUENTIAL_EXHAUSTIVE] = {"layouts, then fusion, exhaustive", HALVES("exhaustive"), .aside = GRAPH_PASSES},
    {"layouts and fusion", "(annealing 1 (layout 5) (fusion 5))", .aside = GRAPH_PASSES},
    {"joint, as --tune", NULL, .aside = ALL_PASSES},
    {"joint, annealing", JOINT("annealing"), .aside = ALL_PASSES},
    {"joint, annealing, no ConfStore", JOINT("annealing"), .lacks_store = true, .aside = ALL_PASSES},
    {"joint, annealing, schedules not learned", JOINT("annealing"), .lacks_learning = true, .aside = ALL_PASSES},
    {"joint, exhaustive", JOINT("exhaustive"), .aside = ALL_PASSES},
    {"joint, evolution", JOINT("evolution"), .aside = ALL_PASSES},
    {"joint, model", JOINT("model"), .aside = ALL_PASSES},
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

struct outcome {   // of a kind, on a model
    double before, quarter, half, after;
    struct beside {
        bool is_any;       // did the sequential search find anything?
        bool is_reached;   // was it as good as that?
        double less_time;
    } beside[N_ASIDE];
};
struct experiment {
    struct cost_database *record;
    double seconds;
    size_t n_models;
    struct outcome outcomes[N_KINDS][MOST_MODELS];
};

// --- what was measured -----------------------------------------------------------------------------------------------

// Stands in front of the methods of a backend.
struct recorder {
    struct backend_methods methods;
    const struct backend_methods *real;
    struct cost_database *record;
    struct arena arena;
    struct key_set compiled;   // in this search
    double spent;              // on answers, by the record
    double own;                // on the search itself, as counted
};
typedef char row_key[40];

static struct recorder *recorder_of(const struct backend *b)
{
    return (struct recorder *)b->methods;
}

// A hash is as good as the question here: a collision would be one answer that is wrong.
static void name_row(row_key ret, const char *kind, const struct plan *plan, const struct step *step,
                     const struct listed_choice *choices, size_t n)
{
    struct text text FREED_BY(text_free) = {0};
    step_print(&text, plan, step);
    for (size_t i = 0; i < n; i++)
        text_printf(&text, " %d %s", choices[i].precision, choices[i].text);
    snprintf(ret, sizeof(row_key), "%s %016llx", kind,
             (unsigned long long)hash_bytes(text.chars, text.count, HASH_OF_NOTHING));
}

// With compilers, which are other processes.
static double processor_seconds(void)
{
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    return (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec + children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
           1e-6 * (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec + children.ru_utime.tv_usec +
                           children.ru_stime.tv_usec);
}

static void keep_seconds(struct recorder *r, const char *row, double seconds)
{
    const struct step_cost cost = {.seconds = seconds};
    cost_database_add(r->record, row, &cost);
}

// A choice that cannot be had has no row of costs.
static void find_out(struct recorder *r, struct backend *b, const struct plan *plan, const struct step *step,
                     const choice_list *among, double best, struct step_cost cost, const char *measured,
                     const char *took)
{
    struct error ignored = {0};
    double start = processor_seconds();
    bool is_had = r->real->measure(b, plan, step, among, best, &cost, &ignored);
    cost.is_doubtful = false;
    keep_seconds(r, took, fmax(processor_seconds() - start, LEAST_SECONDS));
    if (is_had)
        cost_database_add(r->record, measured, &cost);
}

static bool measure(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                    double best, struct step_cost *ret_cost, struct error *error)
{
    struct recorder *r = recorder_of(b);
    struct step_cost seconds;
    row_key measured, took;
    name_row(measured, "measured", plan, step, among->items, among->count);
    name_row(took, "took", plan, step, among->items, among->count);
    if (!cost_database_find(r->record, took, &seconds))
        find_out(r, b, plan, step, among, best, *ret_cost, measured, took);
    r->spent += cost_database_find(r->record, took, &seconds) ? seconds.seconds : 0;
    bool is_had = cost_database_find(r->record, measured, ret_cost);
    ret_cost->is_old = false;
    return is_had || error_set(error, NULL, 0, 0, "cannot be measured");
}

static void compile(struct recorder *r, struct backend *b, const struct plan *plan, const struct step *step,
                    const choice_list *new)
{
    double start = processor_seconds();
    r->real->make_ready(b, plan, step, new, true);
    double seconds = fmax(processor_seconds() - start, LEAST_SECONDS);
    for (size_t i = 0; i < new->count; i++) {
        row_key row;
        name_row(row, "compiled", plan, step, &new->items[i], 1);
        keep_seconds(r, row, seconds / (double)new->count);
    }
}

// Each choice has its share of the unit that it was compiled in.
static void make_ready(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                       bool is_now)
{
    struct recorder *r = recorder_of(b);
    choice_list new = {0};
    row_key row;
    struct step_cost cost;
    for (size_t i = 0; i < among->count; i++) {
        name_row(row, "compiled", plan, step, &among->items[i], 1);
        if (!cost_database_find(r->record, row, &cost))
            vec_push(&new, among->items[i]);
    }
    if (new.count)
        compile(r, b, plan, step, &new);
    for (size_t i = 0; i < among->count; i++) {
        name_row(row, "compiled", plan, step, &among->items[i], 1);
        size_t n = r->compiled.keys.count;
        if (key_set_add(&r->compiled, &r->arena, row, strlen(row)) == n && cost_database_find(r->record, row, &cost))
            r->spent += cost.seconds;
    }
    vec_free(&new);
}

static bool describe(const struct backend *b, const struct plan *plan, const struct step *step, const char *choice,
                     struct schedule_features *ret_features)
{
    struct recorder *r = recorder_of(b);
    r->own += SECONDS_OF_DESCRIPTION;
    return r->real->describe_choice(b, plan, step, choice, ret_features);
}

// --- one search ------------------------------------------------------------------------------------------------------

struct trajectory {
    struct recorder recorder;
    double seconds_of_step;   // of the search itself
    size_t n;
    struct point {
        double seconds, cost;
    } points[MOST_POINTS];
    struct passes_report report;
};

static double spent(void *context)
{
    const struct recorder *r = &((const struct trajectory *)context)->recorder;
    return r->spent + r->own;
}

static void note(void *context, double before, double now, size_t n_evaluated)
{
    struct trajectory *t = context;
    t->recorder.own += t->seconds_of_step;
    if (t->n < MOST_POINTS && (t->n == 0 || now < t->points[t->n - 1].cost))
        t->points[t->n++] = (struct point){spent(t), now};
}

static double cost_at(const struct trajectory *t, double seconds)
{
    double cost = t->report.joint.before;
    for (size_t i = 0; i < t->n && t->points[i].seconds - t->report.joint.started <= seconds; i++)
        cost = t->points[i].cost;
    return cost;
}

// From when the costs of the standard candidate are known. INFINITY: it never was.
static double time_to(const struct trajectory *t, double cost)
{
    if (t->report.joint.before <= cost)
        return 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->points[i].cost <= cost)
            return t->points[i].seconds - t->report.joint.started;
    return INFINITY;
}

static bool search(struct trajectory *t, const struct graph *g, struct cost_database *record, double seconds,
                   size_t kind, struct error *error)
{
    const struct backend_options options = {.threads = 1, .cost_file = "", .seconds_per_step = SECONDS_PER_STEP};
    struct backend *b = cpu_backend_open(&options, error);
    *t = (struct trajectory){.seconds_of_step = SECONDS_OF_NODE * (double)g->nodes.count};
    if (!b)
        return false;
    t->recorder = (struct recorder){.methods = *b->methods, .real = b->methods, .record = record};
    t->recorder.methods.measure = measure;
    t->recorder.methods.make_ready = make_ready;
    t->recorder.methods.describe_choice = describe;
    b->methods = &t->recorder.methods;
    struct passes *p = passes_new(b);
    const struct passes_options asked = {.n_graphs = 1,
                                         .graphs = &g,
                                         .schedule = kinds[kind].schedule,
                                         .seconds = seconds,
                                         .seed = 1,
                                         .has_store = !kinds[kind].lacks_store,
                                         .learns_nothing = kinds[kind].lacks_learning,
                                         .clock = spent,
                                         .context = t,
                                         .progress = note};
    bool is_done = passes_search(p, &asked, &t->report, error);
    passes_free(p);
    b->methods = t->recorder.real;
    key_set_free(&t->recorder.compiled);
    arena_free(&t->recorder.arena);
    backend_close(b);
    return is_done;
}

// --- the table -------------------------------------------------------------------------------------------------------

static struct beside compare_with(const struct trajectory *t, const struct trajectory *sequential, double seconds)
{
    double aim = sequential->report.joint.after * WITHIN, time = time_to(t, aim), its_time = time_to(sequential, aim);
    return (struct beside){.is_any = its_time > 0,
                           .is_reached = isfinite(time),
                           .less_time = its_time / fmax(fmin(time, seconds), LEAST_SECONDS_OF_SEARCH)};
}

static void print_row(const char *name, const struct trajectory *t, double seconds, const struct outcome *o)
{
    const struct joint_report *j = &t->report.joint;
    printf("| %s | %.3f | %.3f | %.3f | %.3f |", name, j->before * 1e3, cost_at(t, seconds / 4) * 1e3,
           cost_at(t, seconds / 2) * 1e3, j->after * 1e3);
    for (size_t i = 0; i < N_ASIDE; i++)
        printf(" %.2f |", o->beside[i].is_any && o->beside[i].is_reached ? o->beside[i].less_time : 0);
    for (size_t i = PASS_FUSION; i < N_TUNED_PASSES; i++)
        printf(" %zu, %.3f |", j->of[i].n_steps, j->of[i].gain);
    printf("\n");
    fflush(stdout);
}

static void tell_outcomes(struct experiment *e, const struct trajectory *all)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        struct outcome *o = &e->outcomes[i][e->n_models];
        o->before = all[i].report.joint.before;
        o->quarter = cost_at(&all[i], e->seconds / 4);
        o->half = cost_at(&all[i], e->seconds / 2);
        o->after = all[i].report.joint.after;
        for (size_t k = 0; k < N_ASIDE; k++)
            o->beside[k] = compare_with(&all[i], &all[kinds[i].aside[k]], e->seconds);
        print_row(kinds[i].name, &all[i], e->seconds, o);
    }
    e->n_models++;
}

static bool compare(struct imported_model *m, void *context, struct error *error)
{
    struct experiment *e = context;
    static struct trajectory trajectories[N_KINDS];
    bool is_done = true;
    printf("%s, %.0f s\n| search | before | quarter | half | all | less time | than exhaustive | fusion | layout | "
           "schedules |\n",
           m->file->path, e->seconds);
    for (size_t i = 0; is_done && i < N_KINDS; i++)
        is_done = search(&trajectories[i], &m->graph, e->record, e->seconds, i, error) &&
                  cost_database_write(e->record, error);
    if (is_done)
        tell_outcomes(e, trajectories);
    return is_done;
}

static int compare_doubles(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

// Times are of those that came to be as good; the last number is what a search ends with beside the other.
static void print_comparison(const struct experiment *e, size_t kind, size_t k)
{
    double ratios[MOST_MODELS], logs = 0, ends = 0;
    size_t n = 0, n_found = 0, n_never = 0, n_twice = 0;
    for (size_t i = 0; i < e->n_models; i++) {
        const struct beside *o = &e->outcomes[kind][i].beside[k];
        ends += log(e->outcomes[kind][i].after / e->outcomes[kinds[kind].aside[k]][i].after);
        n_found += o->is_any;
        n_never += o->is_any && !o->is_reached;
        if (!o->is_any || !o->is_reached)
            continue;
        n_twice += o->less_time >= 2;
        logs += log(o->less_time);
        ratios[n++] = o->less_time;
    }
    qsort(ratios, n, sizeof *ratios, compare_doubles);
    if (n)
        printf(" %.2f | %.2f, %.2f, %.2f | %zu of %zu | %zu | %.3f |", exp(logs / (double)n), ratios[n / 4],
               ratios[n / 2], ratios[3 * n / 4], n_twice, n_found, n_never, exp(ends / (double)e->n_models));
}

// Geometric means after a quarter, half and all of the time, then quartiles and the most.
static void print_gains(const struct experiment *e, size_t kind)
{
    double gains[MOST_MODELS], quarter = 0, half = 0, all = 0;
    size_t n = e->n_models;
    for (size_t i = 0; i < n; i++) {
        const struct outcome *o = &e->outcomes[kind][i];
        gains[i] = o->before / o->after;
        quarter += log(o->before / o->quarter);
        half += log(o->before / o->half);
        all += log(gains[i]);
    }
    qsort(gains, n, sizeof *gains, compare_doubles);
    printf("| %s | %.3f, %.3f, %.3f | %.3f, %.3f, %.3f, %.3f |", kinds[kind].name, exp(quarter / (double)n),
           exp(half / (double)n), exp(all / (double)n), gains[n / 4], gains[n / 2], gains[3 * n / 4], gains[n - 1]);
}

static void print_summary(const struct experiment *e)
{
    printf("%zu models\n| search | gain after a quarter, half, all | quartiles, most | less time | quartiles | twice | "
           "never | ends with | than exhaustive | quartiles | twice | never | ends with |\n",
           e->n_models);
    for (size_t kind = 0; e->n_models && kind < N_KINDS; kind++) {
        print_gains(e, kind);
        for (size_t k = 0; k < N_ASIDE; k++)
            print_comparison(e, kind, k);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    static struct experiment e;
    const struct import_options options = {.fold_limit = IMPORT_FOLD_LIMIT, .expands = true};
    struct error error = {0};
    int n_failed = 0;
    if (argc < 4 || argc > 3 + MOST_MODELS || !cost_database_open(&e.record, argv[1], "a record", &error)) {
        fprintf(stderr, "benchmark_passes RECORD SECONDS MODEL.onnx...: %s\n", error.message);
        return 2;
    }
    e.seconds = strtod(argv[2], NULL);
    for (int i = 3; i < argc; i++)
        if (!with_model(argv[i], &options, compare, &e, &error)) {
            fprintf(stderr, "%s: %s\n", argv[i], error.message);
            n_failed++;
        }
    print_summary(&e);
    cost_database_free(e.record);
    return n_failed > 0;
}
