// A simplified model is written instead of the original when it has fewer nodes, unless the user's runtime finds it
// slower or different.
#include "optimizer/simplification.h"

#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "optimizer/model_export.h"
#include "optimizer/runtime_verdict.h"

static bool is_not_wanted(struct optimizing *o, const char *reason)
{
    o->report.written.not_simplified = reason;
    log_info(o->options->log, "the model is not simplified: %s", reason);
    return false;
}

static bool is_slower(const struct runtime_verdict *v)
{
    return v->is_timed && v->times.gain.high < 1;
}

static bool is_judged(struct optimizing *o, struct runtime_verdict *v)
{
    enum phase former = phases_enter(&o->time.phases, PHASE_TIMING);
    bool is_judged = optimizing_judge_in_runtime(o, &o->model.graph, v);
    phases_enter(&o->time.phases, former);
    return is_judged;
}

// A machine that others use, too, finds even equal models different at times: slower is what is so twice.
static bool is_as_good_in_runtime(struct optimizing *o)
{
    struct runtime_verdict *v = &o->report.there.simplified;
    if (o->options->is_timing_skipped)
        optimizing_check_in_runtime(o, &o->model.graph, v);
    else if (!o->runtime.is_open || !is_judged(o, v) || (is_slower(v) && !is_judged(o, v)))
        return true;
    else
        o->report.there.name = arena_string(&o->model.arena, runtime_name(&o->runtime));
    return v->failure     ? is_not_wanted(o, v->failure)
           : v->differs   ? is_not_wanted(o, "its outputs would differ")
           : is_slower(v) ? is_not_wanted(o, "it would be slower")
                          : true;
}

bool optimizing_simplify(struct optimizing *o, struct onnx_model **ret_model, struct exported_types *ret_types)
{
    struct error error = {0};
    if (o->options->is_simplification_skipped)
        return false;
    if (!optimizing_export(o, &o->model.graph, ret_model, ret_types, &error))
        return is_not_wanted(o, arena_string(&o->model.arena, error.message));
    o->report.written.nodes_after = (*ret_model)->graph->nodes.count;
    return o->report.written.nodes_after < o->report.written.nodes_before && is_as_good_in_runtime(o);
}
