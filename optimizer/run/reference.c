// Inputs are made anew for each model, from their seed.
#include "optimizer/run/reference.h"

#include "core/memory/arena.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "optimizer/limits.def"
#include <string.h>

static bool record(const struct reference *r, struct model *m, const struct graph *g, int attempt, struct arena *arena,
                   struct recording *ret_recording, struct error *error)
{
    return model_record(m, g, r->n_inputs, &r->given, r->seed, attempt, r->rounds, arena, ret_recording, error);
}

static bool tells_more(const output_comparisons *more, const output_comparisons *all)
{
    return ANY(size_t, i, more->count, more->items[i].is_trustworthy && !all->items[i].is_trustworthy);
}

bool reference_record(struct reference *r, struct model *m, const struct graph *g, struct error *error)
{
    LOCAL_LIST(output_comparisons, all);
    LOCAL_LIST(output_comparisons, more);
    double started = clock_seconds();
    bool is_done = record(r, m, g, 0, &r->arena, &r->recordings[0], error);
    r->is_recorded[0] = is_done;
    if (is_done)
        recordings_compare(&r->recordings[0], &r->recordings[0], true, 0, &all);
    for (int i = 1; is_done && i < INPUT_ATTEMPTS && !outputs_are_trustworthy(&all); i++) {
        if (interrupt_requested() || clock_seconds() - started > SECONDS_OF_ATTEMPTS)
            break;
        is_done = record(r, m, g, i, &r->arena, &r->recordings[i], error);
        if (!is_done)
            break;
        recordings_compare(&r->recordings[i], &r->recordings[i], true, 0, &more);
        r->is_recorded[i] = tells_more(&more, &all);
        outputs_merge(&all, &more);
    }
    r->is_there = is_done;
    r->is_cut = interrupt_requested();
    return is_done;
}

bool reference_serves(const struct reference *r)
{
    return r->is_there && (!r->is_cut || interrupt_requested());
}

bool reference_compare(const struct reference *r, struct model *m, const struct graph *g, double tolerance,
                       output_comparisons *ret_outputs, struct error *error)
{
    LOCAL_LIST(output_comparisons, more);
    bool is_done = true;
    vec_clear(ret_outputs);
    for (int i = 0; is_done && i < INPUT_ATTEMPTS; i++) {
        ARENA(arena);
        struct recording own;
        if (!r->is_recorded[i])
            continue;
        is_done = record(r, m, g, i, &arena, &own, error);
        if (is_done)
            recordings_compare(&r->recordings[i], &own, true, tolerance, i ? &more : ret_outputs);
        outputs_merge(ret_outputs, &more);
    }
    return is_done;
}

void reference_free(struct reference *r)
{
    arena_free(&r->arena);
    arena_init(&r->arena);
    memset(r->recordings, 0, sizeof r->recordings);
    memset(r->is_recorded, 0, sizeof r->is_recorded);
    r->is_there = r->is_cut = false;
}
