// `benchmark_schedules COSTS FILE...`: tries every schedule of register tiles of the convolutions that each file lists, as
// tests/cuda/convolutions.txt does, and keeps the trials in the cost database. Searches are then compared on what they
// would have found there: of each file one row for each way, with trials, the quality (the sum of the least of all
// schedules over the sum of what was found), and that of the convolution that fares worst; means over SEEDS seeds.
#include "backends/backend.h"
#include "backends/contract/choice.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/trials.h"
#include "backends/cpu/cpu.h"
#include "backends/planning/planner.h"
#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "graph/text.h"
#include "tests/benchmarks/listed_conv.h"
#include "tuning/model/cost_model.h"
#include "tuning/reuse/arborescence.h"
#include "tuning/reuse/reuse.h"
#include "tuning/search/grid_search.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BATCH 32
#define BATCH_OF_SEARCH 12
#define MOST_TRIALS 96   // of a search from nothing
#define SEEDS 10
#define MOST_CONVOLUTIONS 32

// A convolution whose schedules were all tried.
struct recorded {
    struct schedule_space space;
    struct grid grid;
    struct reuse_loops loops;
    double *seconds;   // of every point of the grid; 0: it does not suit
    struct schedule_features *features;
    VEC(struct reuse_schedule) schedules;
    double least;
};
struct record {
    size_t n;
    struct recorded of[MOST_CONVOLUTIONS];
};

// --- recording -------------------------------------------------------------------------------------------------------

static void try_batch(struct backend *b, const struct plan *plan, const struct step *step, choice_list *list)
{
    struct step_cost cost;
    b->methods->make_ready(b, plan, step, list);
    for (size_t i = 0; i < list->count; i++)
        backend_try(b, plan, step, list->items[i].text, INFINITY, &cost);
    vec_clear(list);
}

static void begin_record(struct recorded *r, const struct schedule_space *space)
{
    *r = (struct recorded){.space = *space, .grid = {.n_axes = space->n_axes}, .least = INFINITY};
    for (int i = 0; i < space->n_axes; i++)
        r->grid.sizes[i] = space->axes[i].n;
    r->loops = (struct reuse_loops){.n = space->n_loops, .n_space = space->n_space_loops};
    memcpy(r->loops.extents, space->loops, sizeof r->loops.extents);
    r->seconds = mem_alloc_zero((size_t)grid_count(&r->grid) * sizeof *r->seconds);
    r->features = mem_alloc_zero((size_t)grid_count(&r->grid) * sizeof *r->features);
}

static void print_point(const struct recorded *r, int64_t point, char choice[CHOICE_SIZE])
{
    int64_t places[GRID_AXES];
    grid_coordinates(&r->grid, point, places);
    schedule_space_print(&r->space, places, choice);
}

static void try_all(struct recorded *r, struct backend *b, const struct plan *plan, const struct step *step)
{
    choice_list list = {0};
    for (int64_t point = 0; point < grid_count(&r->grid); point++) {
        struct listed_choice c = {.precision = PRECISION_EXACT};
        struct step_cost cost;
        print_point(r, point, c.text);
        if (b->methods->describe_choice(b, plan, step, c.text, &r->features[point]) &&
            !backend_recall_trial(b, plan, step, c.text, &cost))
            vec_push(&list, c);
        if (list.count == BATCH)
            try_batch(b, plan, step, &list);
    }
    try_batch(b, plan, step, &list);
    vec_free(&list);
}

static void record_step(struct record *record, struct backend *b, const struct plan *plan, const struct step *step,
                        const struct schedule_space *space)
{
    struct recorded *r = &record->of[record->n++];
    begin_record(r, space);
    try_all(r, b, plan, step);
    for (int64_t point = 0; point < grid_count(&r->grid); point++) {
        char choice[CHOICE_SIZE];
        struct step_cost cost;
        const struct schedule_features *f = &r->features[point];
        print_point(r, point, choice);
        if (!b->methods->describe_choice(b, plan, step, choice, &r->features[point]) ||
            !backend_recall_trial(b, plan, step, choice, &cost))
            continue;
        r->seconds[point] = cost.seconds;
        r->least = fmin(r->least, cost.seconds);
        vec_push(&r->schedules,
                 ((struct reuse_schedule){point, f->blocks, f->lanes, f->packed_bytes, f->far_bytes, f->near_bytes}));
    }
}

static void record_line(struct record *record, struct backend *b, const char *line)
{
    struct arena arena;
    struct graph g;
    struct plan plan = {0};
    struct error error = {0};
    struct text text = {0};
    const struct sexp *list;
    schedule_spaces spaces = {0};
    arena_init(&arena);
    graph_init(&g, &arena);
    struct listed_conv conv;
    bool is_conv = listed_conv_read(line, &conv);
    if (is_conv)
        listed_conv_print(&text, &conv);
    if (is_conv && sexp_parse(&arena, "graph", text.chars, strlen(text.chars), &list, &error) &&
        graph_parse(&list->items[0], "graph", &g, &error)) {
        uint8_t *layouts = arena_array(&arena, uint8_t, g.tensors.count);
        memset(layouts, LAYOUT_CHANNELS_LAST, g.tensors.count);
        struct plan_request request = backend_plan_request(b, &g, layouts, &arena);
        bool is_planned = plan_make(&plan, &request, &error);
        for (size_t i = 0; is_planned && i < plan.steps.count; i++) {
            b->methods->list_spaces(b, &plan, &plan.steps.items[i], &spaces);
            if (spaces.count && record->n < MOST_CONVOLUTIONS)
                record_step(record, b, &plan, &plan.steps.items[i], &spaces.items[spaces.count - 1]);
            vec_clear(&spaces);
        }
        plan_free(&plan);
    }
    if (error.message[0])
        printf("%s\n", error.message);
    vec_free(&spaces);
    text_free(&text);
    graph_free(&g);
    arena_free(&arena);
    backend_save_costs(b, &error);
}

// --- searches --------------------------------------------------------------------------------------------------------

struct found {
    size_t n_trials;
    double seconds;
    int64_t point;
};
struct searching {
    const struct recorded *r;
    struct cost_model *model;   // or NULL
    size_t step;
};

static void list_features(const struct schedule_features *f, double ret[COST_MODEL_FEATURES])
{
    const double all[COST_MODEL_FEATURES] = {f->operations,
                                             f->useful,
                                             f->blocks,
                                             f->lanes,
                                             f->packed_bytes,
                                             f->near_bytes,
                                             f->far_bytes,
                                             f->tile_vectors,
                                             f->vector_loads,
                                             f->unrolled,
                                             f->lanes / f->blocks,
                                             f->packed_bytes / f->blocks};
    memcpy(ret, all, sizeof all);
}

static bool suits(void *context, int64_t point)
{
    return ((const struct searching *)context)->r->seconds[point] > 0;
}

static bool predict(void *context, int64_t point, double *ret_value)
{
    const struct searching *s = context;
    double features[COST_MODEL_FEATURES];
    list_features(&s->r->features[point], features);
    return s->model && cost_model_predict(s->model, s->step, features, ret_value);
}

static void note(struct found *f, const struct recorded *r, int64_t point)
{
    f->n_trials++;
    if (r->seconds[point] < f->seconds) {
        f->seconds = r->seconds[point];
        f->point = point;
    }
}

static struct found search_from_nothing(const struct recorded *r, struct cost_model *model, size_t most, uint64_t seed)
{
    struct searching s = {r, model, model ? cost_model_add_step(model) : 0};
    struct found f = {.seconds = INFINITY};
    struct grid_search *search = grid_search_new(&(struct grid_search_problem){
        r->grid, r->schedules.count <= most ? SEARCH_EXHAUSTIVE : SEARCH_EVOLUTIONARY, seed, &s, suits, predict});
    int64_t points[BATCH_OF_SEARCH];
    while (f.n_trials < most) {
        size_t left = most - f.n_trials;
        size_t n = grid_search_propose(search, left < BATCH_OF_SEARCH ? left : BATCH_OF_SEARCH, points);
        for (size_t i = 0; i < n; i++) {
            double features[COST_MODEL_FEATURES];
            note(&f, r, points[i]);
            grid_search_tell(search, points[i], r->seconds[points[i]]);
            list_features(&r->features[points[i]], features);
            if (model)
                cost_model_add(model, s.step, features, r->seconds[points[i]]);
        }
        if (model)
            cost_model_fit(model);
        if (!n)
            break;
    }
    grid_search_free(search);
    return f;
}

static const struct reuse_schedule *schedule_of(const struct recorded *r, int64_t point)
{
    size_t i = 0;
    while (r->schedules.items[i].point != point)
        i++;
    return &r->schedules.items[i];
}

static struct found search_by_reuse(const struct recorded *r, const struct recorded *of, const struct found *best)
{
    struct found f = {.seconds = INFINITY};
    struct reuse_search *search =
        reuse_search_new(&r->loops, r->schedules.items, r->schedules.count, &of->loops, schedule_of(of, best->point));
    int64_t points[BATCH_OF_SEARCH];
    for (size_t n; (n = reuse_search_propose(search, BATCH_OF_SEARCH, points));)
        for (size_t i = 0; i < n; i++) {
            note(&f, r, points[i]);
            reuse_search_tell(search, points[i], r->seconds[points[i]]);
        }
    reuse_search_free(search);
    return f;
}

static void plan_reuse(const struct record *record, size_t most, uint64_t seed, int *ret_parents)
{
    struct arc arcs[MOST_CONVOLUTIONS * (MOST_CONVOLUTIONS + 1)];
    int n = (int)record->n, into[MOST_CONVOLUTIONS + 1];
    size_t n_arcs = 0;
    for (int to = 0; to < n; to++) {
        const struct recorded *a = &record->of[to];
        size_t alone = a->schedules.count < most ? a->schedules.count : most;
        arcs[n_arcs++] = (struct arc){n, to, (double)alone};
        for (int from = 0; from < n; from++) {
            const struct recorded *b = &record->of[from];
            if (from == to || !reuse_is_possible(&a->loops, &b->loops))
                continue;
            double trials = reuse_estimate_trials(&a->loops, a->schedules.items, a->schedules.count, &b->loops,
                                                  b->schedules.items, b->schedules.count, seed);
            arcs[n_arcs++] = (struct arc){from, to, fmax(trials, 1)};
        }
    }
    arborescence_find(n + 1, n, arcs, n_arcs, into);
    for (int to = 0; to < n; to++)
        ret_parents[to] = arcs[into[to]].from;
}

static void reuse_all(const struct record *record, size_t most, uint64_t seed, struct found *ret_found,
                      size_t *ret_roots)
{
    int parents[MOST_CONVOLUTIONS], n = (int)record->n;
    bool is_done[MOST_CONVOLUTIONS + 1] = {false};
    struct cost_model *model = cost_model_new();
    plan_reuse(record, most, seed, parents);
    is_done[n] = true;
    for (int left = n; left;)
        for (int i = 0; i < n; i++) {
            if (is_done[i] || !is_done[parents[i]])
                continue;
            const struct recorded *r = &record->of[i];
            *ret_roots += parents[i] == n;
            ret_found[i] = parents[i] == n ? search_from_nothing(r, model, most, seed)
                                           : search_by_reuse(r, &record->of[parents[i]], &ret_found[parents[i]]);
            if (isinf(ret_found[i].seconds))   // nothing lies in the ranges
                ret_found[i] = search_from_nothing(r, model, most, seed);
            is_done[i] = true;
            left--;
        }
    cost_model_free(model);
}

// --- the table -------------------------------------------------------------------------------------------------------

struct row {
    double trials, found, least, worst;
};

static void add_found(struct row *row, const struct record *record, const struct found *found)
{
    for (size_t i = 0; i < record->n; i++) {
        row->trials += (double)found[i].n_trials / SEEDS;
        row->found += found[i].seconds;
        row->least += record->of[i].least;
        row->worst = fmin(row->worst, record->of[i].least / found[i].seconds);
    }
}

static void print_row(const char *name, const struct row *row)
{
    printf("| %s | %.0f | %.1f %% | %.1f %% |\n", name, row->trials, 1e2 * row->least / row->found, 1e2 * row->worst);
}

static struct row search_all(const struct record *record, bool learns, size_t most)
{
    struct row row = {.worst = 1};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct found found[MOST_CONVOLUTIONS];
        struct cost_model *model = learns ? cost_model_new() : NULL;
        for (size_t i = 0; i < record->n; i++)
            found[i] = search_from_nothing(&record->of[i], model, most, seed);
        add_found(&row, record, found);
        if (model)
            cost_model_free(model);
    }
    return row;
}

static struct row reuse_by_all(const struct record *record, size_t most, double *ret_roots)
{
    struct row row = {.worst = 1};
    size_t roots = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct found found[MOST_CONVOLUTIONS];
        reuse_all(record, most, seed, found, &roots);
        add_found(&row, record, found);
    }
    *ret_roots = (double)roots / SEEDS;
    return row;
}

static void compare(const char *name, const struct record *record)
{
    size_t all = 0;
    for (size_t i = 0; i < record->n; i++)
        all += record->of[i].schedules.count;
    printf("%s: %zu convolutions, %zu schedules\n", name, record->n, all);
    for (size_t most = 12; most <= MOST_TRIALS; most *= 2) {
        char text[96];
        double roots;
        struct row alone = search_all(record, false, most), learned = search_all(record, true, most);
        struct row reuse = reuse_by_all(record, most, &roots);
        snprintf(text, sizeof text, "%zu from nothing, alone", most);
        print_row(text, &alone);
        snprintf(text, sizeof text, "%zu from nothing, with the model", most);
        print_row(text, &learned);
        snprintf(text, sizeof text, "%zu from nothing of %.1f convolutions, the others reuse", most, roots);
        print_row(text, &reuse);
    }
}

static void free_record(struct record *record)
{
    for (size_t i = 0; i < record->n; i++) {
        struct recorded *r = &record->of[i];
        mem_free(r->seconds, (size_t)grid_count(&r->grid) * sizeof *r->seconds);
        mem_free(r->features, (size_t)grid_count(&r->grid) * sizeof *r->features);
        vec_free(&r->schedules);
    }
}

int main(int argc, char **argv)
{
    struct error error = {0};
    const struct backend_options options = {.threads = 1, .cost_file = argv[1], .seconds_per_step = 0.02};
    struct backend *b = argc < 2 ? NULL : cpu_backend_open(&options, &error);
    for (int i = 2; b && i < argc; i++) {
        char line[512];
        struct record record = {0};
        FILE *f = fopen(argv[i], "r");
        while (f && fgets(line, sizeof line, f))
            record_line(&record, b, line);
        if (f)
            fclose(f);
        compare(argv[i], &record);
        free_record(&record);
    }
    if (b)
        backend_close(b);
    return b ? 0 : 1;
}
