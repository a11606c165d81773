// `benchmark_schedules compile|record|compare|after COSTS FILE...`: ETO's experiment, on the convolutions that each file lists, as
// tests/cuda/convolutions.txt does, with ` times N` behind those that a network has several times.
//
//     compile   the kernels of every schedule of register tiles of these convolutions, and of bridges between them
//     record    tries every schedule that COSTS lacks: this alone needs a quiet machine, and may be interrupted
//     compare   searches on what they would have found there, which is deterministic
//     after     of two files, or four, ...: the searches of the second where the first was tuned before
//
// For each file there is one row for each way, with trials, the quality (the sum of the least of all schedules over the
// sum of what was found), and that of the convolution that fares worst; means over SEEDS seeds, the worst of all.
#include "backends/backend.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/trials.h"
#include "backends/cpu/cpu.h"
#include "backends/planning/planner.h"
#include "core/system/clock.h"
#include "core/text/error.h"
#include "tests/benchmarks/listed_conv.h"
#include "tests/support/graph_text.h"
#include "tuning/bridges.h"
#include "tuning/model/cost_model.h"
#include "tuning/reuse/reuse_plan.h"
#include "tuning/search/grid_search.h"
#include <math.h>

#define BATCH 24
#define BATCH_OF_SEARCH 12
#define MOST_TRIALS 96
#define SEEDS 10
#define SEED_OF_PLANS 1   // so that bridges are the same
#define MOST_CONVOLUTIONS 48
#define MOST_BRIDGES 64
#define SECONDS_PER_STEP 0.004
#define SECONDS_BETWEEN_SAVES 5

static const size_t limits[] = {12, 24, 48, 64, MOST_TRIALS};   // of trials of a search from nothing; ETO has 64
#define N_LIMITS (sizeof limits / sizeof *limits)

enum work { COMPILE, RECORD, COMPARE, AFTER, N_WORKS };
// A convolution whose schedules were all tried.
struct recorded {
    struct schedule_space space;
    struct grid grid;
    struct reuse_loops loops;
    double *seconds;   // of every point of the grid; 0: it does not suit, or was not tried
    struct schedule_features *features;
    VEC(struct reuse_schedule) schedules;
    VEC(int64_t) starts;   // what planning would try without any search
    double least, n_times;
    bool is_bridge;
    bool is_known;   // of the network that was tuned before
};
struct record {
    struct backend *backend;
    enum work work;
    double saved;
    size_t n, n_bridges, n_lacking;   // convolutions, bridges behind them, schedules that were not tried
    struct recorded of[MOST_CONVOLUTIONS + MOST_BRIDGES];
};

// --- recording -------------------------------------------------------------------------------------------------------

static void begin_record(struct recorded *r, const struct schedule_space *space)
{
    *r = (struct recorded){.space = *space, .grid = {.n_axes = space->n_axes}, .least = INFINITY, .n_times = 1};
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

static void work_on_batch(struct record *record, const struct plan *plan, const struct step *step, choice_list *list)
{
    struct backend *b = record->backend;
    struct step_cost cost;
    if (record->work < COMPARE)
        b->methods->make_ready(b, plan, step, list, true);
    for (size_t i = 0; record->work == RECORD && i < list->count; i++)
        if (backend_time_choice(b, plan, step, list->items[i].text, PRECISION_EXACT, INFINITY, &cost))
            backend_keep_trial(b, plan, step, list->items[i].text, &cost);
    vec_clear(list);
    if (clock_seconds() - record->saved < SECONDS_BETWEEN_SAVES)
        return;
    backend_save_costs(b, &(struct error){0});
    record->saved = clock_seconds();
}

static void work_on_all(struct record *record, struct recorded *r, const struct plan *plan, const struct step *step)
{
    struct backend *b = record->backend;
    LOCAL_LIST(choice_list, list);
    for (int64_t point = 0; point < grid_count(&r->grid); point++) {
        struct listed_choice c = {.precision = PRECISION_EXACT};
        struct step_cost cost;
        print_point(r, point, c.text);
        if (b->methods->describe_choice(b, plan, step, c.text, &r->features[point]) &&
            !backend_recall_trial(b, plan, step, c.text, &cost))
            vec_push(&list, c);
        if (list.count == BATCH)
            work_on_batch(record, plan, step, &list);
    }
    work_on_batch(record, plan, step, &list);
}

static void note_point(struct record *record, struct recorded *r, const struct plan *plan, const struct step *step,
                       int64_t point)
{
    struct backend *b = record->backend;
    char choice[CHOICE_SIZE];
    struct step_cost cost;
    struct schedule_features *f = &r->features[point];
    print_point(r, point, choice);
    if (!b->methods->describe_choice(b, plan, step, choice, f))
        return;
    vec_push(&r->schedules,
             ((struct reuse_schedule){point, f->blocks, f->lanes, f->packed_bytes, f->far_bytes, f->near_bytes}));
    if (backend_recall_trial(b, plan, step, choice, &cost)) {
        r->seconds[point] = cost.seconds;
        r->least = fmin(r->least, cost.seconds);
    } else
        record->n_lacking++;
}

static void list_starts(struct record *record, struct recorded *r, const struct plan *plan, const struct step *step)
{
    LOCAL_LIST(choice_list, listed);
    int64_t places[GRID_AXES];
    record->backend->methods->list_choices(record->backend, plan, step, &listed);
    for (size_t i = 0; i < listed.count; i++)
        if (schedule_space_parse(&r->space, listed.items[i].text, places))
            vec_push(&r->starts, grid_point(&r->grid, places));
}

static void record_step(struct record *record, struct recorded *r, const struct plan *plan, const struct step *step,
                        const struct schedule_space *space)
{
    begin_record(r, space);
    work_on_all(record, r, plan, step);
    list_starts(record, r, plan, step);
    for (int64_t point = 0; point < grid_count(&r->grid); point++)
        note_point(record, r, plan, step, point);
}

// The first space that is exact: that of whole vectors.
static void record_plan(struct record *record, const struct plan *plan, double n_times)
{
    LOCAL_LIST(schedule_spaces, spaces);
    for (size_t i = 0; i < plan->steps.count; i++) {
        vec_clear(&spaces);
        record->backend->methods->list_spaces(record->backend, plan, &plan->steps.items[i], &spaces);
        for (size_t k = 0; k < spaces.count; k++)
            if (spaces.items[k].precision == PRECISION_EXACT && record->n < MOST_CONVOLUTIONS) {
                struct recorded *r = &record->of[record->n++];
                record_step(record, r, plan, &plan->steps.items[i], &spaces.items[k]);
                r->n_times = n_times;
                break;
            }
    }
}

static void record_line(struct record *record, const char *line)
{
    ARENA(arena);
    struct plan plan = {0};
    struct error error = {0};
    TEXT(text);
    struct listed_conv conv;
    double n_times = 1;
    const char *times = strstr(line, " times ");
    struct graph g FREED_BY(graph_free) = {0};
    bool is_conv = listed_conv_read(line, &conv);
    if (is_conv)
        listed_conv_print(&text, &conv);
    if (times)
        sscanf(times, " times %lf", &n_times);
    if (is_conv && graph_read_text(&g, &arena, text.chars, &error)) {
        uint8_t *layouts = arena_array(&arena, uint8_t, g.tensors.count);
        memset(layouts, LAYOUT_CHANNELS_LAST, g.tensors.count);
        struct plan_request request = backend_plan_request(record->backend, &g, layouts, &arena);
        if (plan_make(&plan, &request, &error))
            record_plan(record, &plan, n_times);
        plan_free(&plan);
    }
    if (error.message[0])
        printf("%s\n", error.message);
}

// --- plans of reuse --------------------------------------------------------------------------------------------------

static size_t trials_from_nothing(const struct recorded *r, size_t most)
{
    return r->schedules.count < most ? r->schedules.count : most;
}

static size_t list_nodes(const struct record *record, size_t most, bool has_bridges, struct reuse_node *ret_nodes)
{
    size_t n = record->n + (has_bridges ? record->n_bridges : 0);
    for (size_t i = 0; i < n; i++) {
        const struct recorded *r = &record->of[i];
        ret_nodes[i] = (struct reuse_node){.family = r->space.family,
                                           .loops = r->loops,
                                           .schedules = r->schedules.items,
                                           .n_schedules = r->schedules.count,
                                           .from_nothing = r->is_known ? 0 : (double)trials_from_nothing(r, most),
                                           .is_bridge = r->is_bridge};
    }
    return n;
}

static void free_recorded(struct recorded *r)
{
    mem_free(r->seconds, (size_t)grid_count(&r->grid) * sizeof *r->seconds);
    mem_free(r->features, (size_t)grid_count(&r->grid) * sizeof *r->features);
    vec_free(&r->schedules);
    vec_free(&r->starts);
}

// Only described as yet.
static void add_bridge(struct record *record, const struct reuse_bridge *wanted)
{
    struct recorded *r = &record->of[record->n + record->n_bridges];
    struct bridge *bridge =
        record->n_bridges < MOST_BRIDGES ? bridge_new(record->backend, wanted->family, &wanted->loops) : NULL;
    if (!bridge)
        return;
    begin_record(r, &bridge->space);
    for (int64_t point = 0; point < grid_count(&r->grid); point++)
        note_point(record, r, &bridge->plan, bridge->step, point);
    r->is_bridge = true;
    record->n_bridges++;
    bridge_free(bridge);
}

static void add_bridges(struct record *record, size_t most)
{
    struct reuse_node nodes[MOST_CONVOLUTIONS + MOST_BRIDGES];
    struct reuse_bridge bridges[MOST_BRIDGES];
    int parents[MOST_CONVOLUTIONS + MOST_BRIDGES];
    size_t n = list_nodes(record, most, false, nodes);
    reuse_plan_find(nodes, n, SEED_OF_PLANS, parents);
    n = list_nodes(record, most, true, nodes);   // of these each is listed once
    for (size_t i = record->n; i < n; i++)
        parents[i] = NOT_TUNED;
    size_t n_bridges = reuse_plan_list_bridges(nodes, n, parents, MOST_BRIDGES, bridges);
    for (size_t i = 0; i < n_bridges; i++)
        add_bridge(record, &bridges[i]);
}

static void mark_bridges(const struct record *record, size_t most, bool *is_needed)
{
    struct reuse_node nodes[MOST_CONVOLUTIONS + MOST_BRIDGES];
    int parents[MOST_CONVOLUTIONS + MOST_BRIDGES];
    size_t n = list_nodes(record, most, true, nodes);
    reuse_plan_find(nodes, n, SEED_OF_PLANS, parents);
    for (size_t i = record->n; i < n; i++)
        is_needed[i] = is_needed[i] || parents[i] != NOT_TUNED;
}

// Those that some plan takes are recorded; the others go.
static void record_bridges(struct record *record)
{
    bool is_needed[MOST_CONVOLUTIONS + MOST_BRIDGES] = {false};
    size_t n = record->n, n_candidates, n_lacking = record->n_lacking;   // of candidates nothing is known
    for (size_t i = 0; i < N_LIMITS; i++)
        add_bridges(record, limits[i]);
    for (size_t i = 0; i < N_LIMITS; i++)
        mark_bridges(record, limits[i], is_needed);
    n_candidates = record->n_bridges;
    record->n_lacking = n_lacking;
    record->n_bridges = 0;
    for (size_t i = n; i < n + n_candidates; i++) {
        struct recorded candidate = record->of[i], *r = &record->of[n + record->n_bridges];
        struct reuse_loops loops = candidate.loops;
        struct bridge *bridge = is_needed[i] ? bridge_new(record->backend, candidate.space.family, &loops) : NULL;
        free_recorded(&candidate);
        if (!bridge)
            continue;
        record_step(record, r, &bridge->plan, bridge->step, &bridge->space);
        r->is_bridge = true;
        record->n_bridges++;
        bridge_free(bridge);
    }
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

static const struct reuse_schedule *schedule_of(const struct recorded *r, int64_t point)
{
    size_t i = 0;
    while (r->schedules.items[i].point != point)
        i++;
    return &r->schedules.items[i];
}

// Reuse knows of those that were tried before what they take.
static size_t keep_untried(const struct recorded *r, struct grid_search *search, struct reuse_search *reuse,
                           int64_t *points, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (grid_search_take(search, points[i]))
            points[kept++] = points[i];
        else
            reuse_search_tell(reuse, points[i], r->seconds[points[i]] > 0 ? r->seconds[points[i]] : INFINITY);
    return kept;
}

// The trials of planning, then those of reuse; once they are over, whoever goes on has others.
static size_t propose(const struct recorded *r, struct grid_search *search, struct reuse_search *reuse, bool goes_on,
                      size_t most, int64_t *ret_points)
{
    size_t n = 1, kept = grid_search_propose_starts(search, most, ret_points);
    while (reuse && n && !kept) {
        n = reuse_search_propose(reuse, most, ret_points);
        kept = keep_untried(r, search, reuse, ret_points, n);
    }
    return kept || !goes_on ? kept : grid_search_propose(search, most, ret_points);
}

static void tell(struct searching *s, struct grid_search *search, struct reuse_search *reuse, struct found *f,
                 int64_t point)
{
    double features[COST_MODEL_FEATURES], seconds = s->r->seconds[point] > 0 ? s->r->seconds[point] : INFINITY;
    if (reuse)
        reuse_search_tell(reuse, point, seconds);
    if (isinf(seconds))
        return;
    note(f, s->r, point);
    grid_search_tell(search, point, seconds);
    list_features(&s->r->features[point], features);
    if (s->model)
        cost_model_add(s->model, s->step, features, seconds);
}

static struct found search(const struct recorded *r, struct cost_model *model, struct reuse_search *reuse, bool goes_on,
                           size_t most, uint64_t seed)
{
    struct searching s = {r, model, model ? cost_model_add_step(model) : 0};
    struct found f = {.seconds = INFINITY};
    struct grid_search *search = grid_search_new(&(struct grid_search_problem){
        r->grid, r->schedules.count <= most ? SEARCH_EXHAUSTIVE : SEARCH_EVOLUTIONARY, seed, &s, suits, predict});
    int64_t points[BATCH_OF_SEARCH];
    for (size_t i = 0; i < r->starts.count; i++)
        grid_search_start_from(search, r->starts.items[i]);
    while (f.n_trials < most) {
        size_t left = most - f.n_trials;
        size_t n = propose(r, search, reuse, goes_on, left < BATCH_OF_SEARCH ? left : BATCH_OF_SEARCH, points);
        for (size_t i = 0; i < n; i++)
            tell(&s, search, reuse, &f, points[i]);
        if (model)
            cost_model_fit(model);
        if (!n)
            break;
    }
    grid_search_free(search);
    return f;
}

static struct found search_from_nothing(const struct recorded *r, struct cost_model *model, size_t most, uint64_t seed)
{
    return search(r, model, NULL, true, most, seed);
}

// By reuse alone, or up to so many trials.
static struct found search_by_reuse(const struct recorded *r, const struct recorded *of, const struct found *best,
                                    struct cost_model *model, size_t goes_on_to, uint64_t seed)
{
    struct reuse_search *reuse =
        reuse_search_new(&r->loops, r->schedules.items, r->schedules.count, &of->loops, schedule_of(of, best->point));
    struct found f = search(r, model, reuse, goes_on_to > 0, goes_on_to ? goes_on_to : SIZE_MAX, seed);
    reuse_search_free(reuse);
    return f;
}

// Gives how many were searched from nothing.
static size_t reuse_all(const struct record *record, size_t most, bool has_bridges, size_t goes_on_to, uint64_t seed,
                        struct found *ret_found)
{
    struct reuse_node nodes[MOST_CONVOLUTIONS + MOST_BRIDGES];
    int parents[MOST_CONVOLUTIONS + MOST_BRIDGES];
    size_t n = list_nodes(record, most, has_bridges, nodes), n_roots = 0, n_left = n;
    bool is_done[MOST_CONVOLUTIONS + MOST_BRIDGES] = {false};
    struct cost_model *model = cost_model_new(true);
    reuse_plan_find(nodes, n, SEED_OF_PLANS, parents);
    while (n_left)
        for (size_t i = 0; i < n; i++) {
            bool is_root = parents[i] < 0, waits = !is_root && !is_done[parents[i]];
            const struct recorded *r = &record->of[i];
            if (is_done[i] || waits)
                continue;
            ret_found[i] = (struct found){.seconds = INFINITY};
            if (!is_root)
                ret_found[i] =
                    search_by_reuse(r, &record->of[parents[i]], &ret_found[parents[i]], model, goes_on_to, seed);
            if (parents[i] != NOT_TUNED && isinf(ret_found[i].seconds)) {   // or nothing lies in the ranges
                ret_found[i] = search_from_nothing(r, model, r->is_known ? MOST_TRIALS : most, seed);
                n_roots += !r->is_known;
            }
            is_done[i] = true;
            n_left--;
        }
    cost_model_free(model);
    return n_roots;
}

// --- the table -------------------------------------------------------------------------------------------------------

struct row {
    double trials, found, least, worst;
};

// Of bridges only the trials count; nothing of what was tuned before.
static void add_found(struct row *row, const struct record *record, const struct found *found, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct recorded *r = &record->of[i];
        row->trials += r->is_known ? 0 : (double)found[i].n_trials / SEEDS;
        if (r->is_bridge || r->is_known)
            continue;
        row->found += r->n_times * found[i].seconds;
        row->least += r->n_times * r->least;
        row->worst = fmin(row->worst, r->least / found[i].seconds);
    }
}

static void print_row(const char *name, const struct row *row)
{
    printf("| %s | %.0f | %.1f %% | %.1f %% |\n", name, row->trials, 1e2 * row->least / row->found, 1e2 * row->worst);
    fflush(stdout);
}

enum learning { LEARNS_NOTHING, LEARNS_RIDGE, LEARNS_TREES };
static void compare_searches(const struct record *record, enum learning learning, size_t most)
{
    static const char *const names[] = {"alone", "with ridge regression", "with trees, too"};
    struct row row = {.worst = 1};
    char text[96];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct found found[MOST_CONVOLUTIONS];
        struct cost_model *model = learning == LEARNS_NOTHING ? NULL : cost_model_new(learning == LEARNS_TREES);
        for (size_t i = 0; i < record->n; i++)
            if (!record->of[i].is_known)
                found[i] = search_from_nothing(&record->of[i], model, most, seed);
        add_found(&row, record, found, record->n);
        if (model)
            cost_model_free(model);
    }
    snprintf(text, sizeof text, "%zu from nothing, %s", most, names[learning]);
    print_row(text, &row);
}

static void compare_reuse(const struct record *record, bool has_bridges, size_t goes_on_to, size_t most)
{
    struct row row = {.worst = 1};
    size_t n_roots = 0;
    char text[96];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct found found[MOST_CONVOLUTIONS + MOST_BRIDGES];
        n_roots = reuse_all(record, most, has_bridges, goes_on_to, seed, found);
        add_found(&row, record, found, record->n + (has_bridges ? record->n_bridges : 0));
    }
    snprintf(text, sizeof text, "%zu from nothing of %zu, the others reuse%s", most, n_roots,
             has_bridges ? ", with bridges" : "");
    if (goes_on_to)
        snprintf(text, sizeof text, "%zu of each at most, others reuse and go on", goes_on_to);
    print_row(text, &row);
}

static void compare(const char *name, const struct record *record)
{
    size_t all = SUM_ALL(size_t, size_t, i, record->n, record->of[i].is_known ? 0 : record->of[i].schedules.count);
    printf("%s: %zu convolutions, %zu schedules, %zu not tried; %zu bridges\n| search | trials | quality | worst |\n",
           name, record->n, all, record->n_lacking, record->n_bridges);
    for (size_t i = 0; i < N_LIMITS; i++) {
        size_t most = limits[i];
        for (enum learning learning = LEARNS_NOTHING; learning <= LEARNS_TREES; learning++)
            compare_searches(record, learning, most);
        for (int has_bridges = 0; has_bridges <= (record->n_bridges > 0); has_bridges++)
            compare_reuse(record, has_bridges, 0, most);
        if (record->work == AFTER)
            compare_reuse(record, false, most / 3, most / 3);
    }
}

static void record_file(struct record *record, const char *path)
{
    char line[512];
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        record_line(record, line);
    if (f)
        fclose(f);
    else
        printf("%s cannot be read\n", path);
}

// NULL: there is none before.
static void work_on_file(struct backend *b, enum work work, const char *before, const char *path)
{
    static struct record record;
    record = (struct record){.backend = b, .work = work, .saved = clock_seconds()};
    if (before)
        record_file(&record, before);
    for (size_t i = 0; i < record.n; i++)
        record.of[i].is_known = true;
    record_file(&record, path);
    if (!before)
        record_bridges(&record);
    backend_save_costs(b, &(struct error){0});
    if (work >= COMPARE)
        compare(path, &record);
    for (size_t i = 0; i < record.n + record.n_bridges; i++)
        free_recorded(&record.of[i]);
}

int main(int argc, char **argv)
{
    static const char *const works[N_WORKS] = {"compile", "record", "compare", "after"};
    int work = 0;
    while (argc > 3 && work < N_WORKS && strcmp(argv[1], works[work]) != 0)
        work++;
    if (argc < 4 || work == N_WORKS)
        return 2;
    const struct backend_options options = {.threads = 1, .cost_file = argv[2], .seconds_per_step = SECONDS_PER_STEP};
    struct backend *b = cpu_backend_open(&options, &(struct error){0});
    int n = work == AFTER ? 2 : 1;
    for (int i = 3; b && i + n <= argc; i += n)
        work_on_file(b, (enum work)work, n > 1 ? argv[i] : NULL, argv[i + n - 1]);
    if (b)
        backend_close(b);
    return b ? 0 : 1;
}
