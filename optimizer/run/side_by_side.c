// Models side by side: every other turn goes through the models backwards.
#include "optimizer/run/side_by_side.h"

#include "core/memory/memory.h"

bool models_time_side_by_side(const struct timed_model *requests, size_t n, int64_t warmup, int64_t repeats,
                              struct sample_summary *ret_summaries, struct error *error)
{
    size_t per_model = (size_t)repeats;
    double ignored;
    LOCAL_ARRAY(double, samples, n *per_model);
    bool is_done = true;
    for (int64_t turn = -warmup; is_done && turn < repeats; turn++)
        for (size_t i = 0; is_done && i < n; i++) {
            size_t which = turn % 2 ? n - 1 - i : i;
            double *to = turn < 0 ? &ignored : &samples[which * per_model + (size_t)turn];
            is_done = model_time(requests[which].model, requests[which].inputs, requests[which].outputs, to, error);
        }
    for (size_t i = 0; is_done && i < n; i++)
        ret_summaries[i] = sample_summarize(&samples[i * per_model], per_model);
    return is_done;
}
