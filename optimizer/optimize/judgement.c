// Searching and judging: what is found has types at all sizes, is compared with the original, and timed.
#include "optimizer/optimize/judgement.h"

#include "backends/backend.h"
#include "backends/costs/graph_cost.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "optimizer/measure/runtime_verdict.h"
#include "optimizer/optimize/output_check.h"
#include "optimizer/optimize/search_phase.h"
#include <string.h>

// The original is written then, and it does not matter whether the result computes the same.
static bool has_lost_before(const struct optimizing *o)
{
    return o->report.timing.is_earlier && o->report.timing.n_timed == 2 && !o->report.timing.is_faster;
}

const char *optimizing_reason_not_to_check(const struct optimizing *o)
{
    return o->results.found.steps.count == 0 ? "nothing was changed"
           : !backend_can_run(o->checker)    ? "this device runs nothing"
           : o->report.timing.is_disturbed   ? "this machine is busy"
           : o->report.timing.is_cut         ? optimizing_reason_of_end(o)
           : has_lost_before(o)              ? "it was not faster before"
           : o->options->is_check_skipped    ? "by request"
                                             : NULL;
}

static bool can_be_judged(const struct optimizing *o)
{
    bool is_checked_here = backend_can_run(o->checker) && !o->options->is_check_skipped;
    bool is_open = o->results.found.steps.count > 0 && !o->report.timing.is_cut && !has_lost_before(o);
    return is_open && (is_checked_here || o->runtime.is_open);
}

// A cost database that lacks steps of the result is not silent about it.
static void tell_of_guesses(const struct optimizing *o)
{
    struct graph runnable FREED_BY(graph_free) = {0};
    struct estimate estimate;
    TEXT(text);
    struct error error = {0};
    if (o->checker == o->backend)
        return;
    graph_cut(&runnable, &o->results.found.graph, NULL, &o->inputs.cut);
    if (backend_estimate(o->backend, &runnable, &estimate, &error) && estimate.n_guessed &&
        backend_explain(o->backend, &runnable, true, &text, &error)) {
        log_warning(o->options->log, "costs are guessed of %u of the result's %u step%s; --verbose lists them",
                    estimate.n_guessed, estimate.n_steps, plural_ending(estimate.n_steps));
        log_info(o->options->log, "guessed costs:\n%s", text.chars);
    }
}

// The rewritten model may take more memory than the original.
static bool has_room_for_result(struct optimizing *o)
{
    struct graph runnable FREED_BY(graph_free);
    struct error error = {0};
    graph_cut(&runnable, &o->results.found.graph, &o->model.graph, &o->inputs.cut);
    o->report.timing.is_too_large = !backend_has_room(o->checker, &runnable, NULL, &error);
    if (o->report.timing.is_too_large)
        log_warning(o->options->log, "%s: the result: %s", o->options->input, error.message);
    return !o->report.timing.is_too_large;
}

// Each rewrite was made at all probes; here the whole result is.
static bool is_typed_at_probes(struct optimizing *o)
{
    bool is_typed = true;
    for (int k = 0; is_typed && k < N_PROBES; k++) {
        struct graph before FREED_BY(graph_free) = {0}, after FREED_BY(graph_free) = {0};
        struct cut_plan at = o->inputs.cut;
        memcpy(at.binding, o->model.symbols.sizes.probes[k], sizeof at.binding);
        is_typed = graph_cut(&before, &o->model.graph, &o->results.found.graph, &at) &&
                   graph_cut(&after, &o->results.found.graph, &o->model.graph, &at) &&
                   graphs_have_equal_outputs(&before, &after);
    }
    return is_typed;
}

// Nothing is left of a result that is none for all sizes.
static void refuse_result_of_some_sizes(struct optimizing *o)
{
    if (!o->inputs.cut.sizes || o->results.found.steps.count == 0 || is_typed_at_probes(o))
        return;
    log_warning(o->options->log, "%s: the result has no types at some sizes, and is dropped", o->options->input);
    graph_free(&o->results.found.graph);
    graph_copy(&o->results.found.graph, &o->model.graph);
    vec_clear(&o->results.found.steps);
}

static bool judge(struct optimizing *o)
{
    if (can_be_judged(o) && has_room_for_result(o) && !optimizing_judge(o))
        return false;
    if (o->options->is_timing_skipped && o->results.found.steps.count > 0 && o->report.check.verdict != CHECK_FAILED)
        optimizing_check_in_runtime(o, &o->results.found.graph, &o->report.there.result);
    return true;
}

bool optimizing_search_and_judge(struct optimizing *o)
{
    if (!optimizing_search(o))
        return false;
    refuse_result_of_some_sizes(o);
    tell_of_guesses(o);
    o->report.check.verdict = CHECK_SKIPPED;
    o->report.check.reason = optimizing_reason_not_to_check(o);
    return judge(o);
}
