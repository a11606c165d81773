// `benchmark_passes SECONDS MODEL.onnx...`: XTAT's experiment. Searches of several kinds tune each model for so long, on
// one thread, from an empty cost database. Nothing is measured twice: what a step took, and how long it took to find
// that, is recorded, and counts for each search that asks for it. So all are compared on the same costs at equal time,
// which is that of measuring and compiling, and the search's own. For each search: what the model takes by the sum of
// its steps before, and after a quarter, half and all of the time; how many times less time it needed than the
// sequential one to be as good as that was in the end, within a thousandth (0: it never was); steps, and what each pass
// gave.
#include "tuning/passes.h"

#include "backends/backend.h"
#include "backends/cpu/cpu.h"
#include "backends/planning/plan_text.h"
#include "core/memory/arena.h"
#include "core/memory/key_set.h"
#include "core/system/clock.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "onnx/convert/import.h"
#include "onnx/format/model_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_PER_STEP 0.01
#define MOST_POINTS 4096
#define WITHIN 1.001

static const struct {
    const char *name, *schedule;
    bool has_store, predicts;
} kinds[] = {
    {"sequential", "(annealing 0.25 (layout 1)) (annealing 0.25 (fusion 1)) (exhaustive 0.5 (schedules 1))", true,
     false},
    {"joint", "(annealing 0.5 (fusion 5) (layout 5) (schedules 1)) (exhaustive 0.5 (schedules 1))", true, false},
    {"joint, no store", "(annealing 0.5 (fusion 5) (layout 5) (schedules 1)) (exhaustive 0.5 (schedules 1))", false,
     false},
    {"joint, a model of steps", "(annealing 0.5 (fusion 5) (layout 5) (schedules 1)) (exhaustive 0.5 (schedules 1))",
     true, true},
    {"joint, exhaustive", "(exhaustive 0.5 (fusion 5) (layout 5) (schedules 1)) (exhaustive 0.5 (schedules 1))", true,
     false},
    {"joint, evolution", "(evolution 0.5 (fusion 5) (layout 5) (schedules 1)) (exhaustive 0.5 (schedules 1))", true,
     false},
    {"joint, model", "(model 0.5 (fusion 5) (layout 5) (schedules 1)) (exhaustive 0.5 (schedules 1))", true, false},
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

// --- what was measured -----------------------------------------------------------------------------------------------

struct recorded {
    bool is_had;
    struct step_cost cost;
    double seconds;   // that it took to find out
};
// Stands in front of the methods of a backend.
struct recorder {
    struct backend_methods methods;
    const struct backend_methods *real;
    struct record {
        struct arena arena;
        struct key_set keys;
        VEC(struct recorded) all;
    } * record;
    double spent;                   // on answers, by the record
    double started, spent_itself;   // processor time: of the search, and on finding answers
};

static struct recorder *recorder_of(struct backend *b)
{
    return (struct recorder *)b->methods;
}

static void print_question(struct text *text, const struct plan *plan, const struct step *step,
                           const choice_list *among)
{
    step_print(text, plan, step);
    for (size_t i = 0; i < among->count; i++)
        text_printf(text, " %d %s", among->items[i].precision, among->items[i].text);
}

// The number of its answer; n: it is new.
static uint32_t find_answer(struct recorder *r, const struct text *question)
{
    return key_set_add(&r->record->keys, &r->record->arena, question->chars, question->count);
}

static bool measure(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                    double best, struct step_cost *ret_cost, struct error *error)
{
    struct recorder *r = recorder_of(b);
    struct text question = {0};
    print_question(&question, plan, step, among);
    uint32_t number = find_answer(r, &question);
    if (number == r->record->all.count) {
        struct recorded fresh = {.cost = *ret_cost};
        double started = clock_cpu_seconds();
        fresh.is_had = r->real->measure(b, plan, step, among, best, &fresh.cost, error);
        fresh.seconds = clock_cpu_seconds() - started;
        r->spent_itself += fresh.seconds;
        vec_push(&r->record->all, fresh);
    }
    const struct recorded *answer = &r->record->all.items[number];
    r->spent += answer->seconds;
    *ret_cost = answer->cost;
    text_free(&question);
    return answer->is_had;
}

static void make_ready(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among)
{
    struct recorder *r = recorder_of(b);
    struct text question = {0};
    text_add(&question, "compile ");
    print_question(&question, plan, step, among);
    uint32_t number = find_answer(r, &question);
    if (number == r->record->all.count) {
        struct recorded fresh = {.is_had = true};
        double started = clock_seconds(), processor_started = clock_cpu_seconds();
        r->real->make_ready(b, plan, step, among);
        fresh.seconds = clock_seconds() - started;
        r->spent_itself += clock_cpu_seconds() - processor_started;
        vec_push(&r->record->all, fresh);
    }
    r->spent += r->record->all.items[number].seconds;
    text_free(&question);
}

// --- one search ------------------------------------------------------------------------------------------------------

struct trajectory {
    struct recorder recorder;
    size_t n;
    struct point {
        double seconds, cost;
    } points[MOST_POINTS];
    struct passes_report report;
};

static double spent(void *context)
{
    const struct recorder *r = &((const struct trajectory *)context)->recorder;
    return r->spent + clock_cpu_seconds() - r->started - r->spent_itself;
}

static void note(void *context, double before, double now, size_t n_evaluated)
{
    struct trajectory *t = context;
    if (t->n < MOST_POINTS && (t->n == 0 || now < t->points[t->n - 1].cost))
        t->points[t->n++] = (struct point){spent(t), now};
}

static double cost_at(const struct trajectory *t, double seconds)
{
    double cost = t->report.joint.before;
    for (size_t i = 0; i < t->n && t->points[i].seconds <= seconds; i++)
        cost = t->points[i].cost;
    return cost;
}

// INFINITY: it never was.
static double time_to(const struct trajectory *t, double cost)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->points[i].cost <= cost)
            return t->points[i].seconds;
    return INFINITY;
}

static bool search(struct trajectory *t, const struct graph *g, struct record *record, double seconds, size_t kind,
                   struct error *error)
{
    const struct backend_options options = {.threads = 1, .cost_file = "", .seconds_per_step = SECONDS_PER_STEP};
    struct backend *b = cpu_backend_open(&options, error);
    *t = (struct trajectory){0};
    if (!b)
        return false;
    t->recorder =
        (struct recorder){.methods = *b->methods, .real = b->methods, .record = record, .started = clock_cpu_seconds()};
    t->recorder.methods.measure = measure;
    t->recorder.methods.make_ready = make_ready;
    b->methods = &t->recorder.methods;
    struct passes *p = passes_new(b);
    const struct passes_options asked = {.n_graphs = 1,
                                         .graphs = &g,
                                         .schedule = kinds[kind].schedule,
                                         .seconds = seconds,
                                         .seed = 1,
                                         .has_store = kinds[kind].has_store,
                                         .predicts = kinds[kind].predicts,
                                         .clock = spent,
                                         .context = t,
                                         .progress = note};
    bool is_done = passes_search(p, &asked, &t->report, error);
    passes_free(p);
    b->methods = t->recorder.real;
    backend_close(b);
    return is_done;
}

// --- the table -------------------------------------------------------------------------------------------------------

static void print_row(const char *name, const struct trajectory *t, double seconds, double aim, double time_of_aim)
{
    const struct joint_report *j = &t->report.joint;
    printf("| %s | %.3f | %.3f | %.3f | %.3f | %.2f |", name, j->before * 1e3, cost_at(t, seconds / 4) * 1e3,
           cost_at(t, seconds / 2) * 1e3, j->after * 1e3, time_of_aim / time_to(t, aim));
    for (size_t i = PASS_FUSION; i < N_TUNED_PASSES; i++)
        printf(" %zu, %.3f |", j->of[i].n_steps, j->of[i].gain);
    printf("\n");
    fflush(stdout);
}

static bool compare(const char *path, const struct graph *g, double seconds, struct error *error)
{
    static struct trajectory trajectories[N_KINDS];
    struct record record = {0};
    bool is_done = true;
    arena_init(&record.arena);
    printf("%s, %.0f s\n| search | before | quarter | half | all | less time | fusion | layout | schedules |\n", path,
           seconds);
    for (size_t i = 0; is_done && i < N_KINDS; i++) {
        is_done = search(&trajectories[i], g, &record, seconds, i, error);
        double aim = trajectories[0].report.joint.after * WITHIN;
        if (is_done)
            print_row(kinds[i].name, &trajectories[i], seconds, aim, time_to(&trajectories[0], aim));
    }
    vec_free(&record.all);
    key_set_free(&record.keys);
    arena_free(&record.arena);
    return is_done;
}

static bool compare_on_file(const char *path, double seconds, struct error *error)
{
    struct onnx_file file;
    struct imported_model model;
    const struct import_options options = {.fold_limit = IMPORT_FOLD_LIMIT, .expands = true};
    if (!onnx_file_open(&file, path, error))
        return false;
    bool is_done = import_model(&model, &file, &options, error);
    if (is_done) {
        is_done = compare(path, &model.graph, seconds, error);
        imported_model_free(&model);
    }
    onnx_file_close(&file);
    return is_done;
}

int main(int argc, char **argv)
{
    int n_failed = argc < 3;
    for (int i = 2; i < argc; i++) {
        struct error error = {0};
        if (!compare_on_file(argv[i], strtod(argv[1], NULL), &error)) {
            fprintf(stderr, "%s: %s\n", argv[i], error.message);
            n_failed++;
        }
    }
    return n_failed > 0;
}
