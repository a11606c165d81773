// The contest of taso-opt in our own executor: the original and each finalist, under every policy of layouts that gives
// another plan. "Before" is the fastest way to run the original, so a gain is one over that.
#include "optimizer/measure/contenders.h"

#include "backends/backend.h"
#include "backends/costs/graph_cost.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/verdicts.h"
#include "backends/cpu/cpu.h"
#include "core/memory/hash.h"
#include "core/system/interrupt.h"
#include "core/system/machine_load.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "optimizer/limits.def"
#include "optimizer/run/contest.h"
#include "optimizer/run/model_weights.h"
#include <math.h>

// --- our executor ----------------------------------------------------------------------------------------------------

static struct model *prepare(struct contenders *f, struct contender *c, struct error *error)
{
    struct given_weights weights = {f->o->model.weights.count, f->weights, &f->o->weight_source};
    if (!c->file)
        return backend_prepare_from(f->o->backend, c->graph, c->layouts, c->choices, &weights, error);
    return compiled_model_open(&c->compiled, c->file, error)
               ? compiled_model_prepare(&c->compiled, f->o->backend, error)
               : NULL;
}

static void release(struct contender *c)
{
    compiled_model_close(&c->compiled);
    c->compiled = (struct compiled_model){0};
    arena_free(&c->arena);
    mem_free(c->pad, c->pad_bytes);
}

// Something in front, of a size of its own in each load: so where a model lies is not the same.
bool contenders_load(struct contenders *f, size_t i, struct error *error)
{
    struct contender *c = &f->all.items[i];
    enum phase former = phases_enter(&f->o->time.phases, PHASE_LOADING);
    c->pad_bytes = (size_t)random_below(&f->random, LARGEST_PAD) + 1;
    c->pad = mem_alloc(c->pad_bytes);
    arena_init(&c->arena);
    c->model = prepare(f, c, error);
    if (c->model) {
        c->outputs = arena_array(&c->arena, struct tensor_value, c->graph->outputs.count + 1);
        model_allocate_outputs(c->model, c->outputs, &c->arena);
        mem_give_back();
    }
    phases_enter(&f->o->time.phases, former);
    f->o->time.remaining.loading = f->o->time.phases.seconds[PHASE_LOADING];
    f->o->time.remaining.n_loads++;
    if (!c->model)
        release(c);
    return c->model;
}

static bool run(void *context, size_t i, double *ret_seconds, struct error *error)
{
    struct contenders *f = context;
    struct contender *c = &f->all.items[i];
    progress_update(&f->progress, f->n_loads - 1, NULL);
    return model_time(c->model, f->inputs.values, c->outputs, ret_seconds, error);
}

void contenders_unload(struct contenders *f, size_t i)
{
    model_free(f->all.items[i].model);
    release(&f->all.items[i]);
}

static bool load(void *context, size_t i, struct error *error)
{
    ((struct contenders *)context)->n_loads++;
    return contenders_load(context, i, error);
}

static void forget_loads(void *context, size_t n)
{
    ((struct contenders *)context)->n_loads -= n;
}

// Two take part in the final, and are loaded again and again: their code stays.
static void unload(void *context, size_t i)
{
    struct contenders *f = context;
    contenders_unload(f, i);
    if (f->n_loads <= f->all.count)
        backend_forget_code(f->o->backend);
}

// --- who takes part --------------------------------------------------------------------------------------------------

double contender_estimate(struct optimizing *o, const struct contender *c)
{
    struct estimate estimate = {0};
    struct error error = {0};
    o->backend->policy = c->policy;
    return backend_estimate(o->backend, c->graph, &estimate, &error) ? estimate.seconds : 0;
}

// Memory that finding them took goes at once.
static bool find_layouts(struct contenders *f, struct contender *c, struct error *error)
{
    ARENA(arena);
    bool are_found = backend_find_layouts(f->o->backend, c->graph, &arena, &c->layouts, error);
    if (are_found && c->layouts)
        c->layouts = arena_copy(&f->arena, c->layouts, c->graph->tensors.count, 1);
    return are_found;
}

// Other plans than those that are there already, of models that there is room for.
static void enter(struct contenders *f, const struct graph *g, size_t finalist, enum layout_policy policy)
{
    struct optimizing *o = f->o;
    struct contender fresh = {.graph = g, .policy = policy, .finalist = finalist};
    struct error error = {0};
    o->backend->policy = policy;
    bool is_new = backend_has_room(o->backend, g, &fresh.bytes, &error) &&
                  backend_hash_plan(o->backend, g, &fresh.plan_hash, &error) && find_layouts(f, &fresh, &error) &&
                  ALL(size_t, i, f->all.count,
                      (f->all.items[i].finalist != finalist || f->all.items[i].plan_hash != fresh.plan_hash));
    if (!is_new)
        return;
    fresh.estimate = contender_estimate(o, &fresh);
    vec_push(&f->all, fresh);
}

// Layouts are chosen by costs unless the user wants none that are.
static bool chooses_layouts(const struct optimizing *o)
{
    return o->search.layout != STRATEGY_STANDARD && o->search.layout != STRATEGY_GRAPH_ONLY;
}

// Plans that look hopeless beside another of the same graph, by costs that may be wrong: how much is above what
// corrections change. Runs with plain layouts took half of the time.
static void drop_hopeless(struct contenders *f, size_t first)
{
    double least = INFINITY;
    size_t n = first;
    for (size_t i = first; i < f->all.count; i++)
        if (f->all.items[i].estimate > 0)
            least = fmin(least, f->all.items[i].estimate);
    for (size_t i = first; i < f->all.count; i++)
        if (f->all.items[i].estimate <= HOPELESS_PLAN * least)
            f->all.items[n++] = f->all.items[i];
    f->all.count = n;
}

// Layouts that the search did not price are seldom the fastest: where time is limited nobody waits for their prices.
static bool is_worth_its_price(struct contenders *f, const struct graph *g, enum layout_policy policy)
{
    struct coster *coster = &f->o->backend->coster;
    struct estimate ignored;
    f->o->backend->policy = policy;
    return (f->o->options->total_seconds == 0 && !interrupt_requested()) || coster->estimate(coster, g, true, &ignored);
}

static void enter_with_all_layouts(struct contenders *f, const struct graph *whole, size_t finalist)
{
    struct graph *g = arena_new(&f->arena, struct graph);
    graph_cut(g, whole, finalist == NOT_A_FINALIST ? NULL : &f->o->model.graph, &f->o->inputs.cut);
    vec_push(&f->graphs, g);
    size_t first = f->all.count;
    if (!chooses_layouts(f->o) || is_worth_its_price(f, g, LAYOUTS_STANDARD))
        enter(f, g, finalist, LAYOUTS_STANDARD);
    if (chooses_layouts(f->o))
        enter(f, g, finalist, LAYOUTS_BEST);
    if (f->o->backend->tuned)
        enter(f, g, finalist, LAYOUTS_TUNED);
    if (is_worth_its_price(f, g, LAYOUTS_PLAIN))
        enter(f, g, finalist, LAYOUTS_PLAIN);
    drop_hopeless(f, first);
}

static void open_empty(struct contenders *f, struct optimizing *o)
{
    *f = (struct contenders){.o = o, .random = random_seed((uint64_t)o->options->seed)};
}

static void make_inputs(struct contenders *f)
{
    struct optimizing *o = f->o;
    struct graph whole FREED_BY(graph_free);
    graph_cut(&whole, &o->model.graph, NULL, &o->inputs.cut);
    model_inputs_fill(&f->inputs, &whole, o->inputs.cut.n_inputs, (uint64_t)o->options->seed, INDEX_LIMIT, &f->arena);
    model_inputs_give(&f->inputs, &o->inputs.given);
    f->weights = model_list_weights(&o->model, &whole);
    backend_rest(o->backend);
}

void contenders_open(struct contenders *f, struct optimizing *o)
{
    open_empty(f, o);
    enter_with_all_layouts(f, &o->model.graph, NOT_A_FINALIST);
    for (size_t i = 0; i < o->results.finalists.count; i++)
        if (optimizing_is_rewritten(o, i))
            enter_with_all_layouts(f, &o->results.finalists.items[i].result.graph, i);
    make_inputs(f);
}

void contenders_close(struct contenders *f)
{
    for (size_t i = 0; i < f->graphs.count; i++)
        graph_free(f->graphs.items[i]);
    vecs_free(f, graphs, all);
    arena_free(&f->arena);
}

// The search has left less memory than there was in the beginning.
bool contenders_lacks_room(const struct contenders *f)
{
    struct optimizing *o = f->o;
    struct error error = {0};
    bool has_room = ALL(size_t, i, f->all.count, backend_has_room(o->backend, f->all.items[i].graph, NULL, &error));
    if (has_room)
        return false;
    log_warning(o->options->log, "%s: not timed: %s", o->options->input, error.message);
    *o->error = (struct error){0};
    return true;
}

// --- verdicts of earlier contests ------------------------------------------------------------------------------------

static bool is_result(const struct contenders *f, size_t i)
{
    return f->all.items[i].finalist != NOT_A_FINALIST;
}

// The fingerprint of a contest of these two, or of all (`pair` NULL); 0: there is none.
static uint64_t hash_contest(const struct contenders *f, const size_t *pair)
{
    size_t n = pair ? 2 : f->all.count;
    uint64_t hash = hash_bytes(&f->o->options->measure_seconds, sizeof f->o->options->measure_seconds, CONTEST_LOADS);
    for (size_t k = 0; k < n; k++) {
        size_t i = pair ? pair[k] : k;
        if (f->all.items[i].plan_hash == 0 || f->knows_nothing)
            return 0;
        hash = hash_mix(hash_mix(hash, is_result(f, i)), f->all.items[i].plan_hash);
    }
    return hash;
}

static size_t find_plan(const struct contenders *f, uint64_t plan_hash, bool is_of_result)
{
    return FIRST_OF(size_t, i, f->all.count, f->all.items[i].plan_hash == plan_hash && is_result(f, i) == is_of_result);
}

static bool recall(void *context, const size_t *pair, struct earlier_verdict *ret_verdict)
{
    const struct contenders *f = context;
    struct verdict v;
    uint64_t contest = hash_contest(f, pair);
    if (contest == 0 || !verdict_find(f->o->backend->costs, contest, &v))
        return false;
    *ret_verdict =
        (struct earlier_verdict){find_plan(f, v.original, false), find_plan(f, v.result, true), v.gain, v.seconds};
    f->o->report.timing.run_of_verdict = v.run;
    return ret_verdict->original < f->all.count && (ret_verdict->result < f->all.count) == (v.result > 0);
}

static void keep_verdict(struct contenders *f, uint64_t contest, struct contest_outcome *outcome)
{
    bool has_result = outcome->result < f->all.count;
    const struct sample_summary *of_winner = &outcome->times[has_result];
    struct verdict v = {.original = f->all.items[outcome->original].plan_hash,
                        .result = has_result ? f->all.items[outcome->result].plan_hash : 0,
                        .gain = has_result ? outcome->gain : (struct ratio_summary){0},
                        .seconds = of_winner->median,
                        .spread = of_winner->spread};
    if (has_result && !outcome->is_settled)
        v.gain.n_loads = 1;   // too few to be believed
    verdict_keep(f->o->backend->costs, contest, &v);
    if (has_result && outcome->is_settled && verdict_find(f->o->backend->costs, contest, &v))
        outcome->gain = v.gain;   // as whoever finds it will be told
}

// That of two serves a contest among others, too, which they win. One that is not settled takes the place of one that
// is doubted, and nobody relies on it. An earlier one keeps its date.
static void keep_verdicts(struct contenders *f, struct contest_outcome *outcome)
{
    uint64_t all = hash_contest(f, NULL);
    if (all == 0 || interrupt_requested() || !(outcome->is_settled || outcome->is_doubted))
        return;
    keep_verdict(f, all, outcome);
    if (outcome->result < f->all.count)
        keep_verdict(f, hash_contest(f, (const size_t[]){outcome->original, outcome->result}), outcome);
}

// --- the contest -----------------------------------------------------------------------------------------------------

static void report_contender(struct optimizing *o, const struct contender *c, const struct sample_summary *times)
{
    bool is_result = c->finalist != NOT_A_FINALIST;
    struct timed_contender told = {.is_result = is_result,
                                   .preference = is_result ? o->results.finalists.items[c->finalist].preference : NULL,
                                   .layouts = layout_policy_names[c->policy],
                                   .estimate = contender_estimate(o, c),
                                   .seconds = *times};
    vec_push(&o->report.timing.contenders, told);
}

static void report_outcome(struct contenders *f, const struct contest_outcome *outcome, bool is_interleaved)
{
    struct report *r = &f->o->report;
    const size_t numbers[2] = {outcome->original, outcome->result};
    vec_clear(&r->timing.contenders);
    for (size_t i = 0; i < f->all.count; i++)
        report_contender(f->o, &f->all.items[i], &outcome->qualifying[i]);
    r->timing.n_timed = outcome->result < f->all.count ? 2 : 1;
    for (int i = 0; i < r->timing.n_timed; i++) {
        const struct contender *c = &f->all.items[numbers[i]];
        r->timing.layouts[i] = layout_policy_names[c->policy];
        r->timing.estimates[i] = r->timing.contenders.items[numbers[i]].estimate;
        r->timing.times[i] = outcome->times[i];
        f->o->results.policies[i] = c->policy;
    }
    r->timing.is_interleaved = is_interleaved;
    r->timing.is_earlier = outcome->is_earlier;
    r->timing.gain = outcome->gain;
    r->timing.is_faster = r->timing.n_timed == 2 && ratio_is_a_gain(&outcome->gain);
}

// Bytes for loaded contenders: little of the program's memory, half of a device's own.
static size_t room_for_models(const struct backend *b)
{
    size_t half = mem_available() / 2;
    if (b->methods->executor && b->methods->executor->own_memory)
        return b->methods->executor->own_memory(b) / 2;
    return half < BYTES_AT_ONCE ? half : BYTES_AT_ONCE;
}

// The number of models loaded at once, of which there is always one.
static size_t most_loaded(const struct contenders *f)
{
    size_t room = room_for_models(f->o->backend);
    size_t largest = LARGEST(size_t, 1, size_t, i, f->all.count, f->all.items[i].bytes);
    return largest <= room ? room / largest : 1;
}

static const struct sample_summary *list_profiles(struct contenders *f)
{
    struct sample_summary *list = arena_array(&f->arena, struct sample_summary, f->all.count + 1);
    for (size_t i = 0; i < f->all.count; i++)
        for (size_t k = 0; k < f->o->results.profiled.count; k++)
            if (f->o->results.profiled.items[k].hash == f->all.items[i].plan_hash)
                list[i] = f->o->results.profiled.items[k].seconds;
    return list;
}

static const double *list_estimates(struct contenders *f)
{
    double *list = arena_array(&f->arena, double, f->all.count + 1);
    for (size_t i = 0; i < f->all.count; i++)
        list[i] = f->all.items[i].estimate;
    return list;
}

static bool hold_once(struct contenders *f, const struct contest *c, struct contest_outcome *outcome)
{
    struct contest_runner runner = {f, load, run, unload, forget_loads, .recall = recall};
    f->n_loads = 0;
    progress_start(&f->progress, f->o->options->progress, "timing the models", contest_most_loads(c));
    f->progress.countdown = &f->o->time.remaining.countdown;
    f->progress.later = remaining_time_after_contest(&f->o->time.remaining);
    bool is_held = contest_hold(&runner, c, outcome, f->o->error);
    progress_end(&f->progress);
    if (is_held && !outcome->is_disturbed && !outcome->is_undecided)
        keep_verdicts(f, outcome);
    return is_held;
}

void optimizing_tell_of_one_thread(struct optimizing *o)
{
    TEXT(load);
    machine_print_load(&load);
    log_warning(o->options->log, "this machine is busy (%s): models are timed on one thread",
                load.chars ? load.chars : "");
    o->report.timing.is_on_one_thread = true;
}

// A single thread is timed by what it did: others take nothing from that but what they do to caches.
static bool hold_on_one_thread(struct contenders *f, const struct contest *c, struct contest_outcome *outcome)
{
    struct contest again = *c;
    again.expected = NULL;
    again.earlier = NULL;
    f->knows_nothing = true;
    int threads = cpu_backend_use_threads(f->o->backend, 1);
    bool is_held = hold_once(f, &again, outcome);
    cpu_backend_use_threads(f->o->backend, threads);
    optimizing_tell_of_one_thread(f->o);
    return is_held;
}

static bool hold(struct contenders *f, size_t *ret_finalist)
{
    size_t n = f->all.count;
    bool *are_results = arena_array(&f->arena, bool, n);
    struct contest c = {.n = n,
                        .is_result = are_results,
                        .seconds = f->o->options->measure_seconds,
                        .loads = CONTEST_LOADS,
                        .deadline = time_limit_of_timing(&f->o->time.limit),
                        .worth = f->o->time.phases.seconds[PHASE_SEARCHING],
                        .prepares_all = true,
                        .earlier = list_profiles(f),
                        .expected = list_estimates(f),
                        .most_loaded = most_loaded(f)};
    struct contest_outcome outcome = {.qualifying = arena_array(&f->arena, struct sample_summary, n)};
    for (size_t i = 0; i < n; i++)
        are_results[i] = is_result(f, i);
    bool is_held = hold_once(f, &c, &outcome);
    if (is_held && outcome.is_disturbed && f->o->options->device == DEVICE_CPU && f->o->options->threads != 1)
        is_held = hold_on_one_thread(f, &c, &outcome);
    if (!is_held)
        return optimizing_is_cut(f->o) || contenders_lacks_room(f);
    f->o->report.timing.is_disturbed = outcome.is_disturbed;
    f->o->report.timing.is_cut = outcome.is_undecided || outcome.is_disturbed;
    if (f->o->report.timing.is_cut)
        return true;
    if (outcome.result < n)
        *ret_finalist = f->all.items[outcome.result].finalist;
    report_outcome(f, &outcome, c.most_loaded >= 2);
    return true;
}

bool optimizing_hold_contest(struct optimizing *o, size_t *ret_finalist)
{
    struct contenders f;
    if (!backend_can_run(o->checker))
        return true;
    contenders_open(&f, o);
    bool is_done = f.all.count == 0 || hold(&f, ret_finalist);
    contenders_close(&f);
    return is_done;
}

static void enter_file(struct contenders *f, const struct graph *g, const char *file)
{
    struct contender c = {.graph = g, .file = file};
    struct error ignored = {0};
    backend_has_room(f->o->backend, g, &c.bytes, &ignored);
    vec_push(&f->all, c);
}

double contenders_gain(struct optimizing *o, const struct graph *g, const char *const files[2])
{
    static const bool are_results[] = {false, true};
    struct contenders f FREED_BY(contenders_close);
    struct contest_outcome outcome = {.gain = {0}};
    open_empty(&f, o);
    enter_file(&f, g, files[0]);
    enter_file(&f, g, files[1]);
    make_inputs(&f);
    const struct contest c = {.n = 2,
                              .is_result = are_results,
                              .seconds = o->options->measure_seconds,
                              .loads = CONTEST_LOADS,
                              .deadline = time_limit_of_timing(&o->time.limit),
                              .prepares_all = true,
                              .most_loaded = most_loaded(&f)};
    bool is_held = hold_once(&f, &c, &outcome) && !outcome.is_disturbed && !outcome.is_undecided;
    if (!is_held)
        *o->error = (struct error){0};
    return is_held && ratio_is_a_gain(&outcome.gain) ? outcome.gain.ratio : 0;
}

bool optimizing_time_result(struct optimizing *o)
{
    struct finalist only = {.preference = o->report.found.preference, .result = o->results.found};
    size_t unused;
    vec_push(&o->results.finalists, only);
    bool is_done = optimizing_hold_contest(o, &unused);
    vec_free(&o->results.finalists);
    return is_done;
}
