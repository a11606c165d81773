// Weights are found packed, or else packed when the step is prepared; those that are not known then, before each run.
#include "backends/cpu/primitive.h"

#include "backends/cpu/fallback.h"
#include "backends/cpu/kept_memory.h"
#include "backends/cpu/loops/loops.h"
#include "backends/planning/loop_builder.h"
#include "backends/planning/plan_blocks.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include <string.h>

void cpu_primitive_free(void *state)
{
    onednn_free(((struct cpu_primitive *)state)->primitive);
}

// --- results that are parts of something larger ----------------------------------------------------------------------

static enum layout layout_of_part(const struct view *v)
{
    for (enum layout l = 0; v->block && l < LAYOUT_COUNT; l++)
        if (layout_block(l) == v->block)
            return l;
    return v->rank > 2 && v->stride[1] == 1 ? LAYOUT_CHANNELS_LAST : LAYOUT_ROWS;
}

// Loops over two memories: 0 is scratch, 1 is that of the target.
static struct compiled_loops *compile_move(const struct view *from, const struct view *to, const struct step_request *r)
{
    struct view source = *from, target = *to;
    source.memory = 0;
    target.memory = 1;
    struct loop_access read = access_of_view(&source);
    struct loop_result written = {0, access_of_view(&target)};
    struct loop copy = {.rank = from->rank, .n_operands = 1, .n_results = 1, .operands = &read, .results = &written};
    memcpy(copy.dim, from->dim, sizeof from->dim);
    struct step step = {.n_loops = 1, .loops = loop_copy_without_blocks(&copy, r->arena)};
    return loops_prepare(&step, r->backend->threads, r->arena);
}

void cpu_primitive_find_written(struct cpu_primitive *p, const struct step_request *r)
{
    p->written = p->target;
    if (ANY(enum layout, l, LAYOUT_COUNT, view_has_layout(&p->target, l)))
        return;
    struct type type = type_make(p->target.dtype, p->target.rank, p->target.dim);
    p->written = view_dense(NO_MEMORY, &type, layout_of_part(&p->target));
    p->move = compile_move(&p->written, &p->target, r);
}

// The place in scratch memory.
static size_t place_of_written(const struct cpu_primitive *p)
{
    return (onednn_scratch_bytes(p->primitive) + 63) / 64 * 64;
}

// --- the primitive ---------------------------------------------------------------------------------------------------

size_t cpu_primitive_scratch_bytes(const void *state)
{
    const struct cpu_primitive *p = state;
    size_t bytes = p->move ? (size_t)view_elements(&p->written) * dtype_size(p->written.dtype) : 0;
    return place_of_written(p) + bytes;
}

bool cpu_primitive_describe_weights(const void *state, struct packing *ret_packing)
{
    const struct cpu_primitive *p = state;
    return p->primitive && onednn_describe_weights(p->primitive, ret_packing);
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
    struct packing packing, *described = NULL;
    size_t bytes = onednn_weights_bytes(p->primitive);
    bool is_packed;
    if (p->has_constant_weights && cpu_primitive_describe_weights(p, &packing))
        described = &packing;
    p->packed = cpu_place_packed(r, described, bytes, &is_packed);
    if (is_packed)
        return true;
    if (!cpu_provide_plain(r))
        return false;
    if (p->has_constant_weights &&
        !onednn_pack_weights(p->primitive, &p->plain_weights, address_of_view(r->memory, &p->weights), p->packed))
        return error_set_code(r->error, EXIT_UNSUPPORTED, NULL, "oneDNN refuses to pack the weights of a %s",
                              r->step->kernel->name);
    cpu_note_packed(r, described, bytes, p->packed);
    return true;
}

static bool fall_back(struct cpu_primitive *p, const struct step_request *r)
{
    p->fallback = !p->has_weights || cpu_provide_plain(r) ? cpu_fallback_prepare(r) : NULL;
    return p->fallback != NULL;
}

// A step that the library computes by its definition takes longer than a kernel that is generated from ours.
static void leave_reference(struct cpu_primitive *p, const struct step_request *r)
{
    if (!onednn_is_reference(p->primitive) || !fall_back(p, r))
        return;
    if (!cpu_fallback_is_generated(p->fallback)) {
        p->fallback = NULL;
        return;
    }
    onednn_free(p->primitive);
    p->primitive = NULL;
}

void *cpu_primitive_finish(struct cpu_primitive *p, const struct step_request *r)
{
    if (p->primitive)
        leave_reference(p, r);
    if (p->fallback)
        return p;
    if (!p->primitive)
        return fall_back(p, r) ? p : NULL;
    if (!p->has_weights || give_weights(p, r))
        return p;
    cpu_primitive_free(p);
    return NULL;
}

bool cpu_primitive_run(void *state, const struct execution *e)
{
    struct cpu_primitive *p = state;
    if (p->fallback)
        return cpu_fallback_run(p->fallback, e);
    if (p->has_weights && !p->has_constant_weights &&
        !onednn_pack_weights(p->primitive, &p->plain_weights, address_of_view(e->memory, &p->weights), p->packed))
        return false;
    struct onednn_arguments a = {.source = address_of_view(e->memory, &p->source),
                                 .weights = p->packed,
                                 .target = p->move ? e->scratch + place_of_written(p)
                                                   : address_of_view(e->memory, &p->target),
                                 .scratch = e->scratch};
    if (p->has_weights)
        cpu_epilogue_arguments(&p->epilogue, p->loop, e->memory, &a);
    bool is_done = onednn_run(p->primitive, e->workers, &a);
    if (is_done && p->move)
        loops_run(p->move, e->workers, (char *[]){a.target, e->memory[p->target.memory]});
    if (is_done)
        cpu_run_behind(p->loops, e);
    return is_done;
}
