// The parts of the job ask these of it: which device, how large the model is, whether anything is timed.
#include "optimizer/job/optimization.h"

#include "backends/cpu/cpu.h"
#include "backends/cuda/cuda.h"
#include "backends/fake/fake.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "optimizer/limits.def"

struct backend_options optimizing_backend_options(struct optimizing *o)
{
    const struct optimize_options *options = o->options;
    return (struct backend_options){.threads = (int)options->threads,
                                    .cost_file = options->costs,
                                    .allows_tf32 = options->allows_tf32,
                                    .is_guest = options->is_guest,
                                    .prepares_to_write = options->is_guest && options->is_check_skipped,
                                    .log = options->log,
                                    .weights = &o->weight_source};
}

struct backend *optimizing_open_device(struct optimizing *o, const struct backend_options *chosen, struct error *error)
{
    return o->options->device == DEVICE_FAKE
               ? fake_backend_open(&(struct fake_device){.has_layouts = true, .least_share = 0.9, .of_rows = 3}, error)
           : o->options->device == DEVICE_CUDA ? cuda_backend_open(chosen, error)
                                               : cpu_backend_open(chosen, error);
}

size_t optimizing_bytes_of_weights(const struct optimizing *o)
{
    return SUM_ALL(size_t, size_t, i, o->model.weights.count, type_bytes(&o->model.weights.items[i].type));
}

bool optimizing_has_large_weights(const struct optimizing *o)
{
    return optimizing_bytes_of_weights(o) > WEIGHTS_OF_A_LARGE_MODEL;
}

bool optimizing_is_timed(const struct optimizing *o)
{
    return !o->options->is_timing_skipped && (o->runtime.is_open || o->checker == o->backend);
}

bool optimizing_is_rewritten(const struct optimizing *o, size_t finalist)
{
    return o->results.finalists.items[finalist].result.steps.count > 0;
}

bool optimizing_is_cut(struct optimizing *o)
{
    if (!interrupt_requested())
        return false;
    o->report.timing.is_cut = true;
    *o->error = (struct error){0};
    return true;
}

const char *optimizing_reason_of_end(const struct optimizing *o)
{
    return time_limit_ends(&o->time.limit) ? "the time was over" : "interrupted";
}
