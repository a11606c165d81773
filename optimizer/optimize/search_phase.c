// Estimates are sums of steps measured alone, and some are wrong by more than rewrites gain. So the search is done
// several times, each with another preference, and what was found is timed whole, by turns: the fastest stays.
#include "optimizer/optimize/search_phase.h"

#include "backends/backend.h"
#include "backends/costs/step_cost.h"
#include "graph/graph_whole.h"
#include "optimizer/limits.def"
#include "optimizer/measure/calibration.h"
#include "optimizer/measure/contenders.h"
#include "optimizer/measure/estimator.h"

#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "optimizer/measure/region_contest.h"
#include "optimizer/measure/session_costs.h"
#include "optimizer/optimize/output_check.h"
#include "optimizer/optimize/rules.h"
#include "optimizer/optimize/tuning_phase.h"
#include "optimizer/optimize/weight_range.h"
#include "optimizer/search/backtracking/backtracking.h"
#include "optimizer/search/result.h"
#include "optimizer/search/saturation/saturation.h"
#include "optimizer/search/translation_validation.h"
#include <math.h>

// --- one search ------------------------------------------------------------------------------------------------------

// The costs that a search is told to believe.
struct preference {
    const char *name;
    double operator_share;   // of the original's time comes on top, for each of its operators as much
    double least_gain;       // of a rewrite; 0: the search's standard
    double hope;             // share that groups cost less which no session of the user's runtime had
};

static const struct preference preferences[] = {
    {"as estimated", 0, 0, 0},
    {"few operators", 0.1, 0, 0.3},
    {"large gains", 0, 0.01, 0},
};
enum { N_PREFERENCES = sizeof preferences / sizeof *preferences };

// The same on all machines, unless somebody asks for little.
static size_t memory_of_search(const struct optimize_options *options)
{
    size_t most = search_standard_options.max_memory, asked = (size_t)options->max_memory / 2;
    return asked > 0 && asked < most ? asked : most;
}

// A rewrite that holds for all sizes of a model with symbols is found out by validating.
static struct search_options search_options_of(const struct optimizing *o)
{
    const struct optimize_options *options = o->options;
    struct search_options s = search_standard_options;
    s.alpha = options->alpha;
    s.budget = options->budget;
    s.patience = options->patience;
    s.seconds = options->seconds;
    s.progress = options->progress;
    s.validates = !options->is_validation_skipped || o->inputs.cut.sizes;
    s.max_memory = memory_of_search(options);
    s.weights = o->search.weight_limits;
    return s;
}

static void forget_preference(struct optimizing *o, const struct graph *g, struct search_result *result)
{
    struct estimator plain = optimizing_estimator(o);
    search_result_reprice(result, estimator_seconds(&plain, g), estimator_seconds(&plain, &result->graph));
}

// The relation of a search to another one that is done for the same result.
enum turn { TURN_ONLY, TURN_BEFORE_ANOTHER, TURN_GOES_ON };

static void take_turn(struct search_options *options, enum turn turn)
{
    if (turn == TURN_BEFORE_ANOTHER)
        options->renewing_gain *= SHARE_OF_RENEWING_GAIN;
    if (turn == TURN_GOES_ON)
        options->patience = (int64_t)ceil(SHARE_OF_PATIENCE * (double)options->patience);
}

// Goes on from what was found.
static void saturate(struct optimizing *o, const struct cost_model *cost, double time_left, struct search_result *found)
{
    struct saturation_options s = saturation_standard_options;
    double left = time_left > 0 ? fmax(time_left - found->statistics.seconds, 1e-3) : 0;
    s.exploration.most_nodes = (size_t)o->options->most_enodes;
    s.exploration.rounds = (uint32_t)o->options->rounds_of_rules;
    s.exploration.k_multi = (uint32_t)o->options->k_multi;
    s.weights = o->search.weight_limits;
    s.exploration.most_memory = memory_of_search(o->options);
    s.exploration.threads = (uint32_t)o->options->search_threads;
    s.exploration.seconds = s.extraction.seconds = left;
    s.validator = o->options->is_validation_skipped ? NULL : o->search.validator;
    s.is_chosen = o->rules.is_of_egraph.items;
    s.most_unknown = o->options->search == SEARCH_BOTH ? MOST_UNKNOWN : UINT32_MAX;
    saturation_improve(found, &o->rules.set, cost, &s);
}

static void search_with_policy(struct optimizing *o, const struct graph *g, const struct preference *preference,
                               enum layout_policy policy, double time_left, enum turn turn,
                               struct search_result *ret_result)
{
    struct search_options options = search_options_of(o);
    LOCAL_VEC(void *, workers);
    struct estimator own = optimizing_estimator(o);
    own.policy = policy;
    own.per_operator = optimizing_seconds_per_operator(o, preference->operator_share);
    for (size_t i = 0; i < o->search.workers.count; i++) {
        o->search.workers.items[i].policy = policy;
        o->search.workers.items[i].per_operator = own.per_operator;
        vec_push(&workers, &o->search.workers.items[i]);
    }
    struct cost_model cost = {estimator_seconds, &own, workers.count, workers.items};
    if (!o->backend->methods->has_exact_costs) {
        cost.known_seconds = estimator_known_seconds;
        cost.expected_seconds = o->search.step_costs ? NULL : estimator_expected_seconds;
    }
    options.seconds = time_left;
    options.validator = o->search.validator;
    take_turn(&options, turn);
    o->time.remaining.n_turns_left -= o->time.remaining.n_turns_left > 0;
    o->time.remaining.has_measured = o->backend->coster.measured.n_steps > 0;
    o->time.remaining.processors_measuring =
        o->search.step_costs ? o->search.step_costs->measured.processor_seconds : 0;
    phases_enter(&o->time.phases, PHASE_SEARCHING);
    options.later = remaining_time_after_search(&o->time.remaining);
    options.repeats = remaining_time_repeats(&o->time.remaining, turn == TURN_BEFORE_ANOTHER);
    options.countdown = &o->time.remaining.countdown;
    options.measuring =
        o->search.step_costs ? &o->search.step_costs->measured.seconds : &o->backend->coster.measured.seconds;
    if (preference->least_gain > 0)
        options.least_gain = preference->least_gain;
    if (o->options->search == SEARCH_SATURATION && !o->inputs.cut.sizes)
        options.budget = 0;
    if (o->search.step_costs)
        step_costs_hope(o->search.step_costs, preference->hope);
    struct rule_set rules;
    optimizing_rules_of_backtracking(o, &rules);
    bool is_rewritten = o->search.layout != STRATEGY_LAYOUT_ONLY;
    if (!is_rewritten)
        vec_clear(&rules.rules);
    search_graph(g, &rules, &cost, &options, ret_result);
    if (is_rewritten && o->options->search != SEARCH_BACKTRACKING && !o->inputs.cut.sizes &&
        turn != TURN_BEFORE_ANOTHER && preference == &preferences[0])
        saturate(o, &cost, time_left, ret_result);
    vec_free(&rules.rules);
    if (o->search.step_costs)
        step_costs_hope(o->search.step_costs, 0);
    if (own.per_operator > 0)
        forget_preference(o, g, ret_result);
}

// --- joint is not worse than sequential ------------------------------------------------------------------------------

static double time_left_after(double time_left, double started)
{
    double spent = clock_seconds() - started;
    return time_left > 0 ? fmax(time_left - spent, 1e-3) : 0;
}

// Prices of layouts that are hopeless say nothing of rewrites under the best ones, and take as long to measure. For
// what is derived standard ones take their place.
static bool are_plain_prices_worth_it(struct optimizing *o)
{
    struct estimator best = optimizing_estimator(o), plain = best;
    plain.policy = LAYOUTS_PLAIN;
    return o->backend->methods->has_exact_costs || o->rules.n_derived > 0 ||
           estimator_seconds(&plain, &o->model.graph) <= HOPELESS_PLAN * estimator_seconds(&best, &o->model.graph);
}

// The place where the first one ends may decide what the second one comes to, so it is patient with smaller gains.
// A search under other prices goes other ways, and may come to something better in the end. So what sequential comes to
// is where this one begins, where that is better than the original with its best layouts. What is found is told by the
// prices of these layouts, which it is run with; so the first one, which measures others, has a quarter of the time.
// A result found before an interruption is kept where its best layouts have no price yet. Of operators that were
// derived row-major prices say little, as windows of them have kernels for other layouts; the standard ones are nearly
// best.
static void search_jointly(struct optimizing *o, const struct preference *preference, double time_left,
                           struct search_result *ret_result)
{
    struct search_result plain FREED_BY(search_result_free);
    struct estimator best = optimizing_estimator(o);
    double started = clock_seconds();
    search_with_policy(o, &o->model.graph, preference, o->rules.n_derived ? LAYOUTS_STANDARD : LAYOUTS_PLAIN,
                       SHARE_OF_PLAIN * time_left, TURN_BEFORE_ANOTHER, &plain);
    double before = estimator_seconds(&best, &o->model.graph), after = estimator_seconds(&best, &plain.graph);
    bool is_better = after < before || (interrupt_requested() && !isfinite(after));
    search_with_policy(o, is_better ? &plain.graph : &o->model.graph, preference, LAYOUTS_BEST,
                       time_left_after(time_left, started), is_better ? TURN_GOES_ON : TURN_ONLY, ret_result);
    if (is_better)
        search_result_put_in_front(ret_result, &plain, before);
    search_result_add_former(ret_result, &plain);
}

static void search(struct optimizing *o, const struct preference *preference, double time_left,
                   struct search_result *ret_result)
{
    if (o->search.layout == STRATEGY_JOINT && preference == &preferences[0] && are_plain_prices_worth_it(o))
        search_jointly(o, preference, time_left, ret_result);
    else
        search_with_policy(o, &o->model.graph, preference, optimizing_policy_of(o->search.layout), time_left, TURN_ONLY,
                           ret_result);
}

// --- several, and the best of them ----------------------------------------------------------------------------------

static size_t n_finalists(const struct optimizing *o)
{
    bool can_choose = optimizing_is_timed(o) && !optimizing_has_large_weights(o);
    bool is_rewritten = o->search.layout != STRATEGY_LAYOUT_ONLY;
    size_t wanted = (size_t)o->options->finalists;
    return !can_choose || !is_rewritten || wanted < 1 ? 1 : wanted < N_PREFERENCES ? wanted : N_PREFERENCES;
}

// Kept when it is a graph that the others are not.
static bool is_new(const struct optimizing *o, const struct search_result *result)
{
    return ALL(size_t, i, o->results.finalists.count,
               !graph_equal(&o->results.finalists.items[i].result.graph, &result->graph)) &&
           result->steps.count > 0;
}

static bool is_calibrated(const struct optimizing *o)
{
    bool is_wanted = !o->options->is_calibration_skipped && optimizing_is_timed(o);
    return is_wanted && (o->runtime.is_open ? o->search.step_costs != NULL
                                            : o->options->device == DEVICE_CPU && !optimizing_has_large_weights(o));
}

// A guest's --time has begun with what the original costs.
static double seconds_of_time(const struct optimizing *o, double started)
{
    double limit = o->options->seconds, end = o->backend->measuring.choices_end + (1 - SHARE_OF_CHOICES) * limit;
    return o->backend->measuring.choices_end > 0 ? fmax(end - started, 1e-3) : limit;
}

// The less of --time and what --total-time leaves; 0: no limit.
static double seconds_to_search(const struct optimizing *o, double started)
{
    double end = time_limit_of_searching(&o->time.limit), limit = seconds_of_time(o, started);
    if (end == 0)
        return limit;
    double left =
        fmax(end - started, 1e-3) * (is_calibrated(o) && o->report.found.n_searches == 0 ? SHARE_OF_FIRST : 1);
    return limit > 0 ? fmin(limit, left) : left;
}

static void search_with_preferences(struct optimizing *o)
{
    double started = clock_seconds(), limit = seconds_to_search(o, started);
    size_t n = n_finalists(o);
    o->time.remaining.n_turns_left =
        limit > 0 ? 0 : n + (o->search.layout == STRATEGY_JOINT);   // else they share the time
    for (size_t i = 0; i < n; i++) {
        double left = limit > 0 ? limit - (clock_seconds() - started) : 0;
        if (i > 0 && (interrupt_requested() || left < 0))
            break;
        struct finalist next = {.preference = preferences[i].name};
        search(o, &preferences[i], left, &next.result);
        log_info(o->options->log, "%s: %.4g ms by estimates instead of %.4g, in %zu rewrites", preferences[i].name,
                 1e3 * next.result.seconds_after, 1e3 * next.result.seconds_before, next.result.steps.count);
        if (o->results.finalists.count == 0 || is_new(o, &next.result))
            vec_push(&o->results.finalists, next);
        else
            search_result_free(&next.result);
    }
}

// Layouts of what the search gave, as they will be; where several are timed, the fastest one's replace them.
static void set_policy_of_result(struct optimizing *o)
{
    bool is_assigned_after = o->search.layout == STRATEGY_SEQUENTIAL || o->search.layout == STRATEGY_LAYOUT_ONLY;
    o->report.costs.layout_strategy = optimize_layouts[o->search.layout];
    o->results.policies[0] = o->results.policies[1] =
        is_assigned_after ? LAYOUTS_BEST : optimizing_policy_of(o->search.layout);
}

static size_t first_that_is_rewritten(const struct optimizing *o)
{
    for (size_t i = 0; i < o->results.finalists.count; i++)
        if (optimizing_is_rewritten(o, i))
            return i;
    return 0;
}

static void keep_finalist(struct optimizing *o, size_t kept)
{
    o->results.found = o->results.finalists.items[kept].result;
    o->report.found.preference = o->results.finalists.items[kept].preference;
    o->report.found.n_finalists = o->results.finalists.count;
    for (size_t i = 0; i < o->results.finalists.count; i++)
        if (i != kept) {
            search_result_add_refuted(&o->results.found, &o->results.finalists.items[i].result);
            search_result_free(&o->results.finalists.items[i].result);
        }
    vec_free(&o->results.finalists);
}

// The cheapest by the costs that are known now. SIZE_MAX: none costs less than the original.
static size_t find_cheapest(struct optimizing *o)
{
    struct estimator e = optimizing_estimator(o);
    double least = estimator_seconds(&e, &o->model.graph);
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < o->results.finalists.count; i++) {
        double seconds = estimator_seconds(&e, &o->results.finalists.items[i].result.graph);
        best = optimizing_is_rewritten(o, i) && seconds < least ? i : best;
        least = best == i ? seconds : least;
    }
    return best;
}

static size_t choose_by_estimates(struct optimizing *o)
{
    size_t cheapest = o->results.finalists.count > 1 ? find_cheapest(o) : SIZE_MAX;
    return cheapest == SIZE_MAX ? first_that_is_rewritten(o) : cheapest;
}

static bool choose_finalist(struct optimizing *o, size_t *ret_best)
{
    *ret_best = optimizing_is_timed(o) ? first_that_is_rewritten(o) : choose_by_estimates(o);
    if (!optimizing_is_timed(o) || (interrupt_requested() && !optimizing_is_rewritten(o, *ret_best)))
        return true;
    time_limit_enter(&o->time.limit, TIME_TO_TIME);
    phases_enter(&o->time.phases, PHASE_TIMING);
    if (!o->runtime.is_open)
        return optimizing_hold_contest(o, ret_best);
    *ret_best = optimizing_hold_contest_of_regions(o);
    return true;
}

// --- from corrected costs --------------------------------------------------------------------------------------------

// A result that running models have shown to gain stays: another search may not find the way to it again.
static void leave(struct optimizing *o, size_t finalist)
{
    size_t n = 0;
    for (size_t i = 0; i < o->results.finalists.count; i++)
        if (i == finalist)
            o->results.finalists.items[n++] = o->results.finalists.items[i];
        else
            search_result_free(&o->results.finalists.items[i].result);
    o->results.finalists.count = n;
    if (n > 0)
        forget_preference(o, &o->model.graph, &o->results.finalists.items[0].result);
}

static void search_with_workers(struct optimizing *o)
{
    phases_enter(&o->time.phases, PHASE_SEARCHING);
    optimizing_open_estimators(o);
    search_with_preferences(o);
    optimizing_close_estimators(o);
    backend_rest(o->backend);
    o->time.remaining.n_searches = ++o->report.found.n_searches;
}

static bool calibrate(struct optimizing *o, bool may_search_again, double *ret_change)
{
    if (!o->runtime.is_open)
        return optimizing_calibrate(o, may_search_again, ret_change);
    optimizing_calibrate_in_runtime(o, ret_change);
    return true;
}

// Workers read the database: it has to have what was corrected.
static bool search_until_costs_agree(struct optimizing *o)
{
    double change = 0;
    search_with_workers(o);
    if (!is_calibrated(o) || interrupt_requested())
        return true;
    for (;;) {
        bool may_search_again = o->report.found.n_searches < MOST_SEARCHES;
        if (!calibrate(o, may_search_again, &change))
            return false;
        struct error error = {0};
        if (change < ENOUGH_AGREEMENT || !may_search_again || interrupt_requested() ||
            !backend_save_costs(o->backend, &error))
            return true;
        leave(o, find_cheapest(o));
        remaining_time_search_again(&o->time.remaining, "costs differ in the models, and it searches again");
        search_with_workers(o);
    }
}

// --- with tuned kernels ----------------------------------------------------------------------------------------------

// Tuning and its search have no time but what is left for searching.
static bool may_tune(const struct optimizing *o)
{
    double end = time_limit_of_searching(&o->time.limit);
    bool has_time = end == 0 || clock_seconds() < end;
    return o->options->tune_minutes > 0 && !o->results.passes && !interrupt_requested() && has_time;
}

// The untuned result is the first finalist, and so what an interrupted job comes to. Where nothing is timed it goes
// once the original costs less with tuned kernels.
static bool search_tuned(struct optimizing *o, size_t *ret_best)
{
    double change;
    time_limit_enter(&o->time.limit, TIME_TO_SEARCH);
    leave(o, *ret_best);
    *ret_best = 0;
    struct untuned *untuned = optimizing_tune_untuned(o, 0);
    if (!untuned)
        return true;
    if (!optimizing_is_timed(o) && !interrupt_requested())
        leave(o, find_cheapest(o));
    remaining_time_search_again(&o->time.remaining, "kernels are tuned, and it searches again");
    search_with_workers(o);
    bool is_done = !is_calibrated(o) || interrupt_requested() || calibrate(o, false, &change);
    optimizing_tune_passes(o, untuned);
    time_limit_enter(&o->time.limit, TIME_TO_TIME);
    is_done = is_done && choose_finalist(o, ret_best);
    if (is_done && !optimizing_adopt_tuned(o, untuned, *ret_best)) {
        leave(o, 0);
        *ret_best = 0;
    }
    optimizing_forget_untuned(untuned);
    return is_done;
}

// A step that other programs disturbed when it was measured is measured again first, if the original has it, and runs
// that left costs are tried by some of these, unless costs are believed by request. Not where nothing is timed: then
// the same database leads to the same result; but guests are timed by others.
static void repair_doubtful_costs(struct optimizing *o)
{
    struct estimator e = optimizing_estimator(o);
    size_t n_measured = o->backend->coster.measured.n_steps;
    if (o->options->is_timing_skipped && !o->options->is_guest)
        return;
    o->backend->measuring.repairs = o->options->is_calibration_skipped ? REPAIRS_DOUBTFUL : REPAIRS_ON_TRIAL;
    double limit = o->options->seconds > 0 ? SHARE_OF_REPAIRS * o->options->seconds : SECONDS_OF_REPAIRS;
    o->backend->measuring.repairs_end = clock_seconds() + fmin(SECONDS_OF_REPAIRS, limit);
    double of_run = estimator_seconds(&e, &o->model.graph);
    o->time.remaining.of_run = isfinite(of_run) ? of_run : 0;
    o->backend->measuring.repairs = REPAIRS_NOTHING;
    struct error error = {0};
    if (o->backend->coster.measured.n_steps > n_measured)
        backend_forget_costs(o->backend);
    if (!backend_save_costs(o->backend, &error))
        log_info(o->options->log, "%s", error.message);
}

static double price_original(void *context)
{
    struct optimizing *o = context;
    struct estimator e = optimizing_estimator(o);
    return estimator_seconds(&e, &o->model.graph);
}

static void price_original_in_runtime(struct optimizing *o)
{
    size_t n = !o->search.step_costs
                   ? 0
                   : step_costs_price_original(o->search.step_costs, &o->weight_source, price_original, o);
    if (n > 0 && !interrupt_requested())
        log_warning(o->options->log,
                    "%s: %zu part%s of it could not be timed alone in %s: what %s is guessed; --verbose tells which",
                    o->options->input, n, plural_ending(n), runtime_name(&o->runtime),
                    n == 1 ? "it costs" : "they cost");
    double change;
    if (o->search.step_costs && is_calibrated(o) && !interrupt_requested())
        optimizing_calibrate_in_runtime(o, &change);
}

static struct remaining_time remaining_time_of(const struct optimizing *o)
{
    bool runs = o->runtime.is_open || backend_can_run(o->checker);
    return (struct remaining_time){.weight_bytes = runs ? (double)optimizing_bytes_of_weights(o) : 0,
                                   .of_timing = runs && optimizing_is_timed(o) ? o->options->measure_seconds : 0,
                                   .is_calibrated = is_calibrated(o),
                                   .phases = &o->time.phases,
                                   .n_contenders = USUAL_LAYOUTS * (1 + n_finalists(o)),
                                   .countdown = o->time.remaining.countdown};
}

bool optimizing_search(struct optimizing *o)
{
    struct validator validator FREED_BY(validator_free);
    o->time.remaining = remaining_time_of(o);
    validator_init(&validator);
    validator.sizes = o->inputs.cut.sizes;
    validator.is_strict = o->options->keeps_nan || o->rules.keeps_every_bit;
    o->search.validator = &validator;
    time_limit_enter(&o->time.limit, TIME_TO_SEARCH);
    phases_enter(&o->time.phases, PHASE_SEARCHING);
    optimizing_limit_weights(o);
    if (o->options->is_guest && o->options->seconds > 0)
        o->backend->measuring.choices_end = clock_seconds() + SHARE_OF_CHOICES * o->options->seconds;
    set_policy_of_result(o);
    price_original_in_runtime(o);
    repair_doubtful_costs(o);
    optimizing_judge_kernels(o);
    bool is_done = search_until_costs_agree(o);
    size_t best = 0;
    is_done = is_done && choose_finalist(o, &best);
    if (is_done && may_tune(o))
        is_done = search_tuned(o, &best);
    uint64_t n_checked = validator.checked, n_too_costly = validator.too_costly, n_not_general = validator.not_general;
    o->search.validator = NULL;
    keep_finalist(o, best);
    o->results.found.statistics.validated = n_checked - n_too_costly;
    o->results.found.statistics.not_validated = n_too_costly;
    o->report.found.n_not_general = n_not_general;
    struct estimator e = optimizing_estimator(o);
    e.policy = o->results.policies[1];
    struct estimate of_result = {.seconds = INFINITY};
    estimator_estimate(&e, &o->results.found.graph, &of_result);
    o->report.costs.seconds_with_layouts = of_result.seconds;
    o->report.costs.layout_gap = of_result.gap;
    return is_done;
}
