// A schedule is adopted when it is faster than the choice so far by more than noise, where both are timed by turns: a
// trial alone says which schedules come into that contest.
#include "tuning/step_tuner.h"

#include "backends/costs/step_cost.h"
#include "backends/costs/trials.h"
#include "core/memory/memory.h"
#include "core/numbers/statistics.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "tuning/limits.def"
#include "tuning/reuse/reuse.h"
#include "tuning/timings.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FINALISTS 3   // that are timed beside the choice so far
#define ROUNDS 5
#define MOST_BATCH 64

struct step_tuner {
    struct step_tuning tuning;
    struct schedule_space space;
    struct grid_search *search;
    size_t number;                          // of the step in the model
    double best;                            // trial
    double settled;                         // the best trial when finalists were timed last
    struct reuse_search *reuse;             // NULL: nothing is reused, or not any more
    VEC(struct reuse_schedule) schedules;   // all that suit, listed when they are asked for first
    bool is_timed;                          // the choice at first
    double known;                           // what the database says of the choice so far
    struct step_tuner_state state;
};

// --- points of the space ---------------------------------------------------------------------------------------------

static struct grid grid_of(const struct schedule_space *s)
{
    struct grid g = {.n_axes = s->n_axes};
    for (int i = 0; i < s->n_axes; i++)
        g.sizes[i] = s->axes[i].n;
    return g;
}

static void print_point(const struct step_tuner *t, int64_t point, char ret_choice[CHOICE_SIZE])
{
    struct grid g = grid_of(&t->space);
    int64_t places[GRID_AXES];
    grid_coordinates(&g, point, places);
    schedule_space_print(&t->space, places, ret_choice);
}

static bool describe(const struct step_tuner *t, int64_t point, struct schedule_features *ret_features)
{
    char choice[CHOICE_SIZE];
    const struct step_tuning *s = &t->tuning;
    print_point(t, point, choice);
    return s->backend->methods->describe_choice(s->backend, s->plan, s->step, choice, ret_features);
}

static bool suits(void *context, int64_t point)
{
    struct schedule_features ignored;
    return describe(context, point, &ignored);
}

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

static bool predict(void *context, int64_t point, double *ret_value)
{
    const struct step_tuner *t = context;
    struct schedule_features features;
    double listed[COST_MODEL_FEATURES];
    if (!t->tuning.model || !describe(t, point, &features))
        return false;
    list_features(&features, listed);
    return cost_model_predict(t->tuning.model, t->number, listed, ret_value);
}

// --- beginning -------------------------------------------------------------------------------------------------------

static void tell(struct step_tuner *t, int64_t point, double seconds)
{
    struct schedule_features features;
    double listed[COST_MODEL_FEATURES];
    grid_search_tell(t->search, point, seconds);
    if (t->reuse)
        reuse_search_tell(t->reuse, point, seconds);
    if (isinf(seconds))
        return;
    t->best = fmin(t->best, seconds);
    if (!t->tuning.model || !describe(t, point, &features))
        return;
    list_features(&features, listed);
    cost_model_add(t->tuning.model, t->number, listed, seconds);
}

static bool recall(const struct step_tuner *t, int64_t point, struct step_cost *ret_cost)
{
    const struct step_tuning *s = &t->tuning;
    char choice[CHOICE_SIZE];
    print_point(t, point, choice);
    return s->former_key ? backend_recall_former_trial(s->backend, s->former_key, choice, ret_cost)
                         : backend_recall_trial(s->backend, s->plan, s->step, choice, ret_cost);
}

static void recall_trials(struct step_tuner *t)
{
    struct grid g = grid_of(&t->space);
    struct step_cost cost;
    for (int64_t point = 0, n = grid_count(&g); point < n && !interrupt_requested(); point++)
        if (suits(t, point) && recall(t, point, &cost)) {
            tell(t, point, cost.seconds);
            t->state.n_recalled++;
        }
}

static size_t count_suitable(struct step_tuner *t)
{
    struct grid g = grid_of(&t->space);
    return SUM_ALL(size_t, int64_t, point, grid_count(&g), !interrupt_requested() && suits(t, point));
}

// The schedules worth a trial without any search.
static void start_from_listed(struct step_tuner *t)
{
    const struct step_tuning *s = &t->tuning;
    LOCAL_LIST(choice_list, listed);
    struct grid g = grid_of(&t->space);
    int64_t places[GRID_AXES];
    s->backend->methods->list_choices(s->backend, s->plan, s->step, &listed);
    for (size_t i = 0; i < listed.count; i++)
        if (schedule_space_parse(&t->space, listed.items[i].text, places))
            grid_search_start_from(t->search, grid_point(&g, places));
}

static bool find_choice_so_far(struct step_tuner *t)
{
    struct step_prices prices;
    struct error ignored = {0};
    const struct step_tuning *s = &t->tuning;
    if (!step_prices_find(s->backend, s->plan, s->step, &prices, &ignored))
        return false;
    const struct step_cost *exact = &prices.of[PRECISION_EXACT], *own = &prices.of[t->space.precision];
    const struct step_cost *best = own->seconds > 0 && own->seconds < exact->seconds ? own : exact;
    t->state.before = t->state.now = t->known = best->seconds;
    snprintf(t->state.choice, sizeof t->state.choice, "%s", best->choice);
    return true;
}

struct step_tuner *step_tuner_new(const struct step_tuning *tuning)
{
    struct step_tuner *t = mem_alloc_zero(sizeof *t);
    t->tuning = *tuning;
    t->space = *tuning->space;
    t->best = t->settled = INFINITY;
    t->state.before = t->state.now = INFINITY;
    size_t n = count_suitable(t);
    if (!n || (!tuning->is_bridge && !find_choice_so_far(t))) {
        mem_free(t, sizeof *t);
        return NULL;
    }
    t->number = tuning->model ? cost_model_add_step(tuning->model) : 0;
    t->search = grid_search_new(&(struct grid_search_problem){
        .grid = grid_of(&t->space),
        .strategy = n <= FEW_SCHEDULES ? SEARCH_EXHAUSTIVE : SEARCH_EVOLUTIONARY,
        .seed = tuning->seed,
        .context = t,
        .suits = suits,
        .predict = predict,
    });
    t->state.n_suitable = n;
    recall_trials(t);
    t->state.n_fruitless = t->state.n_recalled / FORMER_BATCH;
    if (t->state.n_fruitless > MOST_FORMER_BATCHES)
        t->state.n_fruitless = MOST_FORMER_BATCHES;
    start_from_listed(t);
    return t;
}

void step_tuner_free(struct step_tuner *t)
{
    if (t->reuse)
        reuse_search_free(t->reuse);
    vec_free(&t->schedules);
    grid_search_free(t->search);
    mem_free(t, sizeof *t);
}

const struct step_tuner_state *step_tuner_state(const struct step_tuner *t)
{
    return &t->state;
}

// --- reuse -----------------------------------------------------------------------------------------------------------

static struct reuse_loops loops_of(const struct schedule_space *s)
{
    struct reuse_loops l = {.n = s->n_loops, .n_space = s->n_space_loops};
    memcpy(l.extents, s->loops, sizeof l.extents);
    return l;
}

static struct reuse_schedule schedule_of(int64_t point, const struct schedule_features *f)
{
    return (struct reuse_schedule){point, f->blocks, f->lanes, f->packed_bytes, f->far_bytes, f->near_bytes};
}

static void list_schedules(struct step_tuner *t)
{
    struct grid g = grid_of(&t->space);
    struct schedule_features f;
    for (int64_t point = 0; !t->schedules.count && point < grid_count(&g); point++)
        if (describe(t, point, &f))
            vec_push(&t->schedules, schedule_of(point, &f));
}

struct reuse_node step_tuner_node(struct step_tuner *t)
{
    list_schedules(t);
    return (struct reuse_node){.family = t->space.family,
                               .loops = loops_of(&t->space),
                               .schedules = t->schedules.items,
                               .n_schedules = t->schedules.count,
                               .is_bridge = t->tuning.is_bridge};
}

void step_tuner_reuse(struct step_tuner *t, struct step_tuner *from)
{
    struct reuse_loops own = loops_of(&t->space), other = loops_of(&from->space);
    struct schedule_features f;
    int64_t best;
    if (t->reuse || !grid_search_best(from->search, 1, &best) || !describe(from, best, &f))
        return;
    const struct reuse_schedule schedule = schedule_of(best, &f);
    list_schedules(t);
    t->reuse = reuse_search_new(&own, t->schedules.items, t->schedules.count, &other, &schedule);
    t->state.is_reusing = true;
}

// Points that were tried before are left out, as reuse knows what they take.
static size_t keep_untried(struct step_tuner *t, int64_t *points, size_t n)
{
    size_t kept = 0;
    struct step_cost cost;
    for (size_t i = 0; i < n; i++)
        if (grid_search_take(t->search, points[i]))
            points[kept++] = points[i];
        else if (recall(t, points[i], &cost))
            reuse_search_tell(t->reuse, points[i], cost.seconds);
    return kept;
}

static size_t propose_reuse(struct step_tuner *t, size_t most, int64_t *ret_points)
{
    size_t n, kept = 0;
    while (t->reuse && !kept) {
        n = reuse_search_propose(t->reuse, most, ret_points);
        kept = keep_untried(t, ret_points, n);
        if (n)
            continue;
        reuse_search_free(t->reuse);
        t->reuse = NULL;
        t->state.is_reusing = false;
    }
    return kept;
}

// --- trials ----------------------------------------------------------------------------------------------------------

static void add_timing(timing_list *list, const char *choice, enum precision precision)
{
    struct timing t = {.precision = precision};
    snprintf(t.choice, sizeof t.choice, "%s", choice);
    vec_push(list, t);
}

static bool time_all(const struct step_tuner *t, timing_list *timings, size_t of_a_job, double best,
                     struct error *error)
{
    const struct step_tuning *s = &t->tuning;
    if (s->command)
        return timings_ask(s->command, timings_step_key(s->backend, s->plan, s->step), timings, of_a_job, best, error);
    timings_take(s->backend, s->plan, s->step, timings, best);
    return !interrupt_requested();
}

// Trials before an interruption are kept; nothing is known of the others.
static bool try_points(struct step_tuner *t, const int64_t *points, size_t n, struct error *error)
{
    const struct step_tuning *s = &t->tuning;
    LOCAL_LIST(timing_list, timings);
    for (size_t i = 0; i < n; i++) {
        char choice[CHOICE_SIZE];
        print_point(t, points[i], choice);
        add_timing(&timings, choice, PRECISION_EXACT);
    }
    bool is_done = time_all(t, &timings, TRIALS_OF_A_JOB, fmin(t->best, t->state.now), error);
    for (size_t i = 0; i < n; i++) {
        const struct timing *own = &timings.items[i];
        if (own->is_had)
            backend_keep_trial(s->backend, s->plan, s->step, own->choice, &own->cost);
        if (own->is_had || is_done)
            tell(t, points[i], own->is_had ? own->cost.seconds : INFINITY);
        t->state.n_tried += own->is_had;
    }
    return is_done;
}

// --- the contest -----------------------------------------------------------------------------------------------------

// The choice so far is the first. What is far behind the best trial does not come in. Rounds are timed by turns; the
// last one says what choices err.
static size_t list_contest(const struct step_tuner *t, timing_list *ret_timings)
{
    int64_t points[FINALISTS];
    size_t n = grid_search_best(t->search, FINALISTS, points), count;
    add_timing(ret_timings, t->state.choice, PRECISION_EXACT);
    for (size_t i = 0; i < n; i++) {
        struct step_cost cost;
        char choice[CHOICE_SIZE];
        print_point(t, points[i], choice);
        if (recall(t, points[i], &cost) && cost.seconds <= NEAR_THE_BEST * t->best &&
            strcmp(choice, t->state.choice) != 0)
            add_timing(ret_timings, choice, PRECISION_EXACT);
    }
    count = ret_timings->count;
    for (size_t i = count; count > 1 && i < ROUNDS * count; i++) {
        bool is_last = i / count + 1 == ROUNDS && i % count > 0;
        add_timing(ret_timings, ret_timings->items[i % count].choice, is_last ? t->space.precision : PRECISION_EXACT);
    }
    return count;
}

// INFINITY: it could not be had once.
static double typical_seconds(const timing_list *timings, size_t finalist, size_t n)
{
    double seconds[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        const struct timing *t = &timings->items[i * n + finalist];
        if (!t->is_had)
            return INFINITY;
        seconds[i] = t->cost.seconds;
    }
    return sample_summarize(seconds, ROUNDS).median;
}

static void adopt(struct step_tuner *t, const struct timing *timing, double seconds)
{
    const struct step_tuning *s = &t->tuning;
    struct step_cost cost = timing->cost;
    cost.seconds = seconds;
    backend_adopt_choice(s->backend, s->plan, s->step, t->space.precision, &cost);
    snprintf(t->state.choice, sizeof t->state.choice, "%s", timing->choice);
}

// The ratio counts that both have when they are timed by turns: the machine may be slower now than it was when it
// measured what this is compared with.
static void settle(struct step_tuner *t, const timing_list *timings, size_t n)
{
    double so_far = typical_seconds(timings, 0, n), least = so_far * (1 - LEAST_GAIN);
    size_t best = 0;
    for (size_t i = 1; i < n && isfinite(so_far); i++) {
        double seconds = typical_seconds(timings, i, n);
        best = seconds < least ? i : best;
        least = fmin(least, seconds);
    }
    if (!best)
        return;
    t->known = fmin(least, t->known * least / so_far);
    adopt(t, &timings->items[(ROUNDS - 1) * n + best], t->known);
    t->state.now *= least / so_far;
    t->state.n_fruitless = 0;
}

static bool hold_contest(struct step_tuner *t, struct error *error)
{
    LOCAL_LIST(timing_list, timings);
    size_t n = list_contest(t, &timings);
    bool is_done = n < 2 || time_all(t, &timings, timings.count, INFINITY, error);
    t->settled = t->best;
    if (n > 1 && is_done)
        settle(t, &timings, n);
    return is_done;
}

// The machine may be faster or slower than it was when the cost database learned of it.
static bool time_choice_so_far(struct step_tuner *t, struct error *error)
{
    LOCAL_LIST(timing_list, timings);
    t->is_timed = true;
    add_timing(&timings, t->state.choice, PRECISION_EXACT);
    bool is_done = time_all(t, &timings, 1, INFINITY, error);
    if (timings.items[0].is_had)
        t->state.before = t->state.now = timings.items[0].cost.seconds;
    return is_done;
}

bool step_tuner_advance(struct step_tuner *t, size_t n_trials, struct error *error)
{
    int64_t points[MOST_BATCH];
    bool is_bridge = t->tuning.is_bridge;
    if (!t->is_timed && !is_bridge && !time_choice_so_far(t, error))
        return false;
    size_t most = n_trials < MOST_BATCH ? n_trials : MOST_BATCH;
    size_t n = grid_search_propose_starts(t->search, most, points);
    if (!n)
        n = propose_reuse(t, most, points);
    if (!n)
        n = grid_search_propose(t->search, most, points);
    t->state.is_over = n == 0;
    t->state.n_fruitless++;
    if (n && !try_points(t, points, n, error))
        return false;
    if (!is_bridge && t->best < t->settled && t->best < t->state.now && !hold_contest(t, error))
        return false;
    if (t->tuning.model)
        cost_model_fit(t->tuning.model);
    return !interrupt_requested();
}

void step_tuner_list_best(const struct step_tuner *t, size_t most, choice_list *list)
{
    LOCAL_ARRAY(int64_t, points, most);
    size_t n = grid_search_best(t->search, most, points);
    for (size_t i = 0; i < n; i++) {
        struct listed_choice choice = {.precision = t->space.precision};
        print_point(t, points[i], choice.text);
        vec_push(list, choice);
    }
}
