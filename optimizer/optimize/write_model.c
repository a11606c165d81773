// The written model: the result, the original simplified, or the original, as an ONNX model or compiled.
#include "optimizer/optimize/write_model.h"

#include "onnx/format/model_save.h"
#include "optimizer/job/model_export.h"
#include "optimizer/optimize/compilation.h"

#include "core/memory/arena.h"
#include "core/system/file.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "onnx/format/tensor.h"
#include "optimizer/measure/runtime_verdict.h"

// --- the original simplified -----------------------------------------------------------------------------------------
// A simplified model is written instead of the original when it has fewer nodes, unless the user's runtime finds it
// slower or different.

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

// Is the model as import made it, without any rewrite, to be written instead of the original? Constants are computed,
// equal nodes one, dead and idle ones gone, batch normalizations a part of convolutions.
static bool simplify(struct optimizing *o, struct onnx_model **ret_model, struct exported_types *ret_types)
{
    struct error error = {0};
    if (o->options->is_simplification_skipped)
        return false;
    if (!optimizing_export(o, &o->model.graph, ret_model, ret_types, &error))
        return is_not_wanted(o, arena_string(&o->model.arena, error.message));
    o->report.written.nodes_after = (*ret_model)->graph->nodes.count;
    return o->report.written.nodes_after < o->report.written.nodes_before && is_as_good_in_runtime(o);
}

// --- writing ---------------------------------------------------------------------------------------------------------

// Bytes of initializers and of constants that are nodes, those of subgraphs, too.
static size_t bytes_of_weights(const struct onnx_model *model)
{
    size_t bytes;
    LOCAL_LIST(message_list, tensors);
    onnx_list_messages(&onnx_model_descriptor, model, &onnx_tensor_descriptor, &tensors);
    return SUM_ALL(size_t, size_t, i, tensors.count, onnx_tensor_size(tensors.items[i], &bytes) ? bytes : 0);
}

static void tell_of_fixed_inputs(const struct optimizing *o, const struct onnx_model *written)
{
    size_t n = o->file.model->graph->inputs.count - written->graph->inputs.count;
    if (n > 0)
        log_warning(o->options->log, "%s: %zu input%s with an initializer: what is written has constants there",
                    o->options->input, n, n == 1 ? "" : "s");
}

// The file is read back before it takes its place; types are NULL of the original, which is copied.
static bool write_if_wanted(struct optimizing *o, struct onnx_model *model, struct exported_types *types)
{
    struct onnx_reader reader = {exported_types_are_read_back, types};
    tell_of_fixed_inputs(o, model);
    o->report.written.files[1] = model->graph;
    o->report.written.file_types[1] = types ? arena_copy_array(&o->model.arena, types, 1) : NULL;
    o->report.written.nodes_after = model->graph->nodes.count;
    o->report.written.bytes_after = bytes_of_weights(model);
    return !o->options->output ||
           onnx_model_write(model, &o->file, o->options->output, 0, types ? &reader : NULL, o->error);
}

// A constant that cannot be computed, or is read back as another one, shows only when it is written.
static bool write_simplified(struct optimizing *o, struct onnx_model *simplified, struct exported_types *types)
{
    if (write_if_wanted(o, simplified, types))
        return true;
    o->report.written.is_simplified = false;
    if (o->error->code != EXIT_UNSUPPORTED)
        return false;
    o->report.written.not_simplified = arena_printf(&o->model.arena, "it cannot be written: %s", o->error->message);
    log_warning(o->options->log, "%s: simplified, %s", o->options->input, o->report.written.not_simplified);
    *o->error = (struct error){0};
    return write_if_wanted(o, o->file.model, NULL);
}

static bool write_original(struct optimizing *o)
{
    struct onnx_model *simplified;
    struct exported_types types;
    o->report.written.is_simplified = simplify(o, &simplified, &types);
    return o->report.written.is_simplified ? write_simplified(o, simplified, &types)
                                           : write_if_wanted(o, o->file.model, NULL);
}

// An operator that the model's operator set has no form for is no reason to leave the user without a model.
static bool write_original_instead(struct optimizing *o)
{
    if (o->error->code != EXIT_UNSUPPORTED)
        return false;
    o->report.written.kept_reason =
        arena_printf(&o->model.arena, "the result cannot be written: %s", o->error->message);
    o->report.written.is_optimized = false;
    *o->error = (struct error){0};
    return write_original(o);
}

// A file that was timed is written as it was timed.
static bool compile_model(struct optimizing *o)
{
    bool is_optimized = o->report.written.is_optimized;
    const char *timed = o->results.timed_files[is_optimized];
    struct file_map map FREED_BY(file_map_close) = {0};
    o->report.written.is_compiled = true;
    if (!timed)
        return optimizing_compile(o, is_optimized ? &o->results.found.graph : &o->model.graph, is_optimized,
                                  o->options->output, o->error);
    return file_map_open(&map, timed, o->error) &&
           file_write_text(o->options->output, (const char *)map.bytes, map.size, o->error);
}

static bool write_result(struct optimizing *o)
{
    struct onnx_model *optimized;
    struct exported_types types;
    if (optimizing_compiles(o->options))
        return compile_model(o);
    if (!o->report.written.is_optimized)
        return write_original(o);
    if (!optimizing_export(o, &o->results.found.graph, &optimized, &types, o->error))
        return write_original_instead(o);
    return write_if_wanted(o, optimized, &types) || write_original_instead(o);
}

bool optimizing_write(struct optimizing *o)
{
    phases_enter(&o->time.phases, PHASE_WRITING);
    o->report.written.nodes_before = o->file.model->graph->nodes.count;
    o->report.written.bytes_before = bytes_of_weights(o->file.model);
    interrupt_end_soon(true);
    bool is_written = write_result(o);
    interrupt_end_soon(false);
    return is_written;
}
