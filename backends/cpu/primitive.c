// Weights are found packed, or else packed when the step is prepared; those that are not known then, before each run.
#include "backends/cpu/primitive.h"

#include "backends/cpu/loops.h"
#include "core/memory/arena.h"
#include "core/text/error.h"

void cpu_primitive_free(void *state)
{
    onednn_free(((struct cpu_primitive *)state)->primitive);
}

size_t cpu_primitive_scratch_bytes(const void *state)
{
    return onednn_scratch_bytes(((const struct cpu_primitive *)state)->primitive);
}

bool cpu_primitive_describe_weights(const void *state, struct packing *ret_packing)
{
    return onednn_describe_weights(((const struct cpu_primitive *)state)->primitive, ret_packing);
}

int cpu_primitive_packed_operand(const void *state)
{
    const struct cpu_primitive *p = state;
    return !p->fallback && p->has_constant_weights ? 1 : -1;
}

size_t cpu_primitive_weights(const void *state, char **ret_weights)
{
    const struct cpu_primitive *p = state;
    *ret_weights = p->packed;
    return onednn_weights_bytes(p->primitive);
}

static bool give_weights(struct cpu_primitive *p, const struct step_request *r)
{
    struct packing packing;
    size_t bytes = onednn_weights_bytes(p->primitive);
    if (p->has_constant_weights && cpu_primitive_describe_weights(p, &packing))
        p->packed = (char *)cpu_find_packed(r, &packing, bytes);
    if (p->packed)
        return true;
    p->packed = arena_alloc(r->arena, bytes, 64);
    if (!cpu_provide_plain(r))
        return false;
    return !p->has_constant_weights ||
           onednn_pack_weights(p->primitive, &p->plain_weights, address_of_view(r->memory, &p->weights), p->packed) ||
           error_set_code(r->error, EXIT_UNSUPPORTED, NULL, "oneDNN refuses to pack the weights of a %s",
                          r->step->kernel->name);
}

void *cpu_primitive_finish(struct cpu_primitive *p, const struct step_request *r)
{
    if (!p->primitive) {
        p->fallback = !p->has_weights || cpu_provide_plain(r) ? cpu_fallback_prepare(r) : NULL;
        return p->fallback ? p : NULL;
    }
    if (!p->has_weights || give_weights(p, r))
        return p;
    cpu_primitive_free(p);
    return NULL;
}

bool cpu_primitive_run(void *state, char *const *memory, char *scratch)
{
    struct cpu_primitive *p = state;
    if (p->fallback)
        return cpu_fallback_run(p->fallback, memory);
    if (p->has_weights && !p->has_constant_weights &&
        !onednn_pack_weights(p->primitive, &p->plain_weights, address_of_view(memory, &p->weights), p->packed))
        return false;
    struct onednn_arguments a = {.source = address_of_view(memory, &p->source),
                                 .weights = p->packed,
                                 .target = address_of_view(memory, &p->target),
                                 .scratch = scratch};
    if (p->has_weights)
        cpu_epilogue_arguments(&p->epilogue, p->loop, memory, &a);
    bool is_done = onednn_run(p->primitive, &a);
    if (is_done && p->loops)
        loops_run(p->loops, memory);
    return is_done;
}
