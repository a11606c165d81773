// A schedule is adopted when it is faster than the choice so far by more than noise, where both are timed by turns: a
// trial alone says which schedules come into that contest.
#include "tuning/step_tuner.h"

#include "backends/costs/step_cost.h"
#include "backends/costs/trials.h"
#include "core/memory/memory.h"
#include "core/numbers/statistics.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "tuning/reuse/reuse.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FEW_SCHEDULES 96     // are tried all
#define FINALISTS 3          // that are timed beside the choice so far
#define NEAR_THE_BEST 1.05   // times the best trial: what may be a finalist
#define ROUNDS 3
#define LEAST_GAIN 0.02   // of the seconds so far
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

static void recall_trials(struct step_tuner *t)
{
    const struct step_tuning *s = &t->tuning;
    struct grid g = grid_of(&t->space);
    for (int64_t point = 0, n = grid_count(&g); point < n; point++) {
        char choice[CHOICE_SIZE];
        struct step_cost cost;
        if (!suits(t, point))
            continue;
        print_point(t, point, choice);
        if (backend_recall_trial(s->backend, s->plan, s->step, choice, &cost)) {
            tell(t, point, cost.seconds);
            t->state.n_recalled++;
        }
    }
}

static size_t count_suitable(struct step_tuner *t)
{
    struct grid g = grid_of(&t->space);
    size_t n = 0;
    for (int64_t point = 0; point < grid_count(&g); point++)
        n += suits(t, point);
    return n;
}

// What is worth a trial without any search.
static void start_from_listed(struct step_tuner *t)
{
    const struct step_tuning *s = &t->tuning;
    choice_list listed = {0};
    struct grid g = grid_of(&t->space);
    int64_t places[GRID_AXES];
    s->backend->methods->list_choices(s->backend, s->plan, s->step, &listed);
    for (size_t i = 0; i < listed.count; i++)
        if (schedule_space_parse(&t->space, listed.items[i].text, places))
            grid_search_start_from(t->search, grid_point(&g, places));
    vec_free(&listed);
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
    t->state.before = t->state.now = best->seconds;
    snprintf(t->state.choice, sizeof t->state.choice, "%s", best->choice);
    return true;
}

struct step_tuner *step_tuner_new(const struct step_tuning *tuning)
{
    struct step_tuner *t = mem_alloc_zero(sizeof *t);
    t->tuning = *tuning;
    t->space = *tuning->space;
    t->best = t->settled = INFINITY;
    size_t n = count_suitable(t);
    if (!n || !find_choice_so_far(t)) {
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

const struct schedule_space *step_tuner_space(const struct step_tuner *t)
{
    return &t->space;
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

double step_tuner_reuse_trials(struct step_tuner *t, struct step_tuner *from, uint64_t seed)
{
    struct reuse_loops own = loops_of(&t->space), other = loops_of(&from->space);
    bool is_alike = strcmp(t->space.family, from->space.family) == 0 && t != from;
    if (!is_alike || !reuse_is_possible(&own, &other))
        return 0;
    list_schedules(t);
    list_schedules(from);
    return reuse_estimate_trials(&own, t->schedules.items, t->schedules.count, &other, from->schedules.items,
                                 from->schedules.count, seed);
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

// Of those that were tried before reuse knows what they take.
static size_t keep_untried(struct step_tuner *t, int64_t *points, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        char choice[CHOICE_SIZE];
        struct step_cost cost;
        const struct step_tuning *s = &t->tuning;
        if (grid_search_take(t->search, points[i])) {
            points[kept++] = points[i];
            continue;
        }
        print_point(t, points[i], choice);
        if (backend_recall_trial(s->backend, s->plan, s->step, choice, &cost))
            reuse_search_tell(t->reuse, points[i], cost.seconds);
    }
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

static bool try_points(struct step_tuner *t, const int64_t *points, size_t n)
{
    const struct step_tuning *s = &t->tuning;
    choice_list choices = {0};
    for (size_t i = 0; i < n; i++) {
        struct listed_choice choice = {.precision = t->space.precision};
        print_point(t, points[i], choice.text);
        vec_push(&choices, choice);
    }
    s->backend->methods->make_ready(s->backend, s->plan, s->step, &choices);
    for (size_t i = 0; i < n && !interrupt_requested(); i++) {
        struct step_cost cost;
        double best = fmin(t->best, t->state.now);
        bool is_had = backend_try(s->backend, s->plan, s->step, choices.items[i].text, best, &cost);
        if (is_had || !interrupt_requested())
            tell(t, points[i], is_had ? cost.seconds : INFINITY);
        t->state.n_tried += is_had;
    }
    vec_free(&choices);
    return !interrupt_requested();
}

// --- the contest -----------------------------------------------------------------------------------------------------

struct finalist {
    char choice[CHOICE_SIZE];
    struct step_cost cost;   // of the last round
    double seconds[ROUNDS];
    bool is_out;
};

// The choice so far is the first. What is far behind the best trial does not come in.
static size_t pick_finalists(const struct step_tuner *t, struct finalist *ret)
{
    int64_t points[FINALISTS];
    size_t n = grid_search_best(t->search, FINALISTS, points), count = 1;
    snprintf(ret[0].choice, sizeof ret[0].choice, "%s", t->state.choice);
    for (size_t i = 0; i < n; i++) {
        struct step_cost cost;
        struct finalist *f = &ret[count];
        print_point(t, points[i], f->choice);
        bool is_known = backend_recall_trial(t->tuning.backend, t->tuning.plan, t->tuning.step, f->choice, &cost);
        count += is_known && cost.seconds <= NEAR_THE_BEST * t->best && strcmp(f->choice, ret[0].choice) != 0;
    }
    return count;
}

static void time_round(const struct step_tuner *t, struct finalist *finalists, size_t n, int round)
{
    const struct step_tuning *s = &t->tuning;
    for (size_t i = 0; i < n; i++) {
        struct finalist *f = &finalists[i];
        enum precision precision = round + 1 < ROUNDS ? PRECISION_EXACT : t->space.precision;
        bool is_last = i && round + 1 == ROUNDS;
        f->is_out = f->is_out || !backend_time_choice(s->backend, s->plan, s->step, f->choice,
                                                      is_last ? precision : PRECISION_EXACT, &f->cost);
        f->seconds[round] = f->cost.seconds;
    }
}

static double typical_seconds(struct finalist *f)
{
    return sample_summarize(f->seconds, ROUNDS).median;
}

static void adopt(struct step_tuner *t, struct finalist *f, double seconds)
{
    const struct step_tuning *s = &t->tuning;
    f->cost.seconds = seconds;
    backend_adopt_choice(s->backend, s->plan, s->step, t->space.precision, &f->cost);
    snprintf(t->state.choice, sizeof t->state.choice, "%s", f->choice);
}

// The ratio counts that both have when they are timed by turns: the machine may be slower now than it was at first.
static void settle(struct step_tuner *t)
{
    struct finalist finalists[1 + FINALISTS] = {0};
    size_t n = pick_finalists(t, finalists), best = 0;
    t->settled = t->best;
    for (int round = 0; n > 1 && round < ROUNDS; round++)
        time_round(t, finalists, n, round);
    if (n <= 1 || interrupt_requested() || finalists[0].is_out)
        return;
    double so_far = typical_seconds(&finalists[0]), least = so_far * (1 - LEAST_GAIN);
    for (size_t i = 1; i < n; i++) {
        double seconds = finalists[i].is_out ? INFINITY : typical_seconds(&finalists[i]);
        best = seconds < least ? i : best;
        least = fmin(least, seconds);
    }
    if (!best)
        return;
    adopt(t, &finalists[best], least);
    t->state.now *= least / so_far;
    t->state.n_fruitless = 0;
}

// The machine may be faster or slower than it was when the cost database learned of it.
static void time_choice_so_far(struct step_tuner *t)
{
    struct step_cost cost;
    const struct step_tuning *s = &t->tuning;
    t->is_timed = true;
    if (backend_time_choice(s->backend, s->plan, s->step, t->state.choice, PRECISION_EXACT, &cost))
        t->state.before = t->state.now = cost.seconds;
}

bool step_tuner_advance(struct step_tuner *t, size_t n_trials)
{
    int64_t points[MOST_BATCH];
    if (!t->is_timed)
        time_choice_so_far(t);
    size_t most = n_trials < MOST_BATCH ? n_trials : MOST_BATCH, n = propose_reuse(t, most, points);
    if (!n)
        n = grid_search_propose(t->search, most, points);
    t->state.is_over = n == 0;
    t->state.n_fruitless++;
    if (n && !try_points(t, points, n))
        return false;
    if (t->best < t->settled && t->best < t->state.now)
        settle(t);
    if (t->tuning.model)
        cost_model_fit(t->tuning.model);
    return !interrupt_requested();
}
