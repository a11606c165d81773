// Operators that only move entries but are no view: concatenation as one step of copies for each input that
// is not written in place, padding as
// loops of copies, gathering as its own kernel.
#include "backends/cpu/kernel.h"
#include "backends/cpu/loops/parallel.h"
#include "backends/cpu/step_tensors.h"
#include "backends/planning/loop_builder.h"
#include "backends/planning/planner.h"
#include "backends/planning/planner_concat.h"
#include "backends/planning/planner_layouts.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_steps.h"
#include "backends/planning/planner_views.h"
#include "core/memory/arena.h"
#include "expressions/elements.h"
#include <string.h>

// --- concat ----------------------------------------------------------------------------------------------------------

bool cpu_claim_concat(struct planner *p, node_id node)
{
    return planner_claim_concat(p, node, planner_layout_like_inputs(p, node), true);
}

// --- pad -------------------------------------------------------------------------------------------------------------

bool cpu_claim_pad(struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    const struct type *type = graph_type(g, n->first_output);
    const int64_t *pads = node_attribute(n, ROLE_PADS)->ints;
    if (type->dtype != DTYPE_F32)
        return false;
    struct view inner = planner_view(p, graph_inputs(g, node)[0], LAYOUT_ANY);
    if (inner.block)
        inner = planner_dense_instead(p, graph_inputs(g, node)[0], LAYOUT_CHANNELS_LAST);
    unsigned mask = planner_layouts(p, node) & LAYOUT_BIT(LAYOUT_CHANNELS_LAST);
    struct view result =
        planner_allocate_chosen(p, n->first_output, type, planner_choose(p, n->first_output, mask, LAYOUT_ROWS));
    struct loop_access from, to = access_of_view(&result);
    struct step *step = planner_add_loops_step(p, node, &result);
    struct loop *fill = planner_add_loop(p, step, type->rank, 0, type->dim);
    double value = cpu_attribute_real(n, "value");
    loop_add_result(
        p, fill, loop_add_instruction(p, fill, (struct instruction){.kind = INSTRUCTION_CONSTANT, .constant = value}),
        &to);
    for (int i = 0; i < inner.rank; i++) {
        int64_t begin = pads[i], end = pads[inner.rank + i];
        inner.offset += begin < 0 ? -begin * inner.stride[i] : 0;
        to.offset += begin > 0 ? begin * result.stride[i] : 0;
        inner.dim[i] += (begin < 0 ? begin : 0) + (end < 0 ? end : 0);
        if (inner.dim[i] <= 0)
            return true;
    }
    struct loop *loop = planner_add_loop(p, step, inner.rank, 0, inner.dim);
    from = access_of_view(&inner);
    loop_add_result(p, loop, loop_add_operand(p, loop, &from), &to);
    return true;
}

// --- gather ----------------------------------------------------------------------------------------------------------

#define WORTH_THREADS 65536   // bytes

struct prepared_gather {
    struct view source, indices, target;
    int64_t outer, size, inner_bytes, n_indices;   // of the source: before the axis, on it, behind it
    int threads;
};

bool cpu_claim_gather(struct planner *p, node_id node)
{
    const struct graph *g = planner_graph(p);
    const struct node *n = &g->nodes.items[node];
    struct view operands[2] = {planner_dense(p, graph_inputs(g, node)[0], LAYOUT_ROWS),
                               planner_dense(p, graph_inputs(g, node)[1], LAYOUT_ROWS)};
    struct view result = planner_allocate(p, graph_type(g, n->first_output), LAYOUT_ROWS);
    planner_add_step(p, &cpu_kernel_gather.base, node, 2, operands, 1, &result);
    return true;
}

static void *prepare_gather(const struct step_request *r)
{
    const struct node *n = &r->plan->graph->nodes.items[r->step->node];
    struct prepared_gather *s = arena_new(r->arena, struct prepared_gather);
    int64_t axis = cpu_attribute_int(n, ROLE_AXIS);
    *s = (struct prepared_gather){r->step->operands[0], r->step->operands[1], r->step->results[0], 1, 1, 1, 1,
                                  r->backend->threads};
    s->inner_bytes = (int64_t)dtype_size(s->source.dtype);
    s->size = s->source.dim[axis];
    s->n_indices = view_elements(&s->indices);
    for (int i = 0; i < s->source.rank; i++)
        *(i < axis ? &s->outer : &s->inner_bytes) *= i == axis ? 1 : s->source.dim[i];
    return s;
}

static int64_t index_at(const struct prepared_gather *s, const char *indices, int64_t i)
{
    int64_t index;
    elements_to_integers(s->indices.dtype, indices + (size_t)i * dtype_size(s->indices.dtype), 1, &index);
    index %= s->size;
    return index < 0 ? index + s->size : index;
}

struct gather_run {
    const struct prepared_gather *gather;
    const char *source, *indices;
    char *target;
};

static void gather_part(void *argument, int part, int parts)
{
    const struct gather_run *r = argument;
    const struct prepared_gather *s = r->gather;
    int64_t row = s->inner_bytes, count = s->outer * s->n_indices;
    for (int64_t i = count * part / parts; i < count * (part + 1) / parts; i++) {
        int64_t from = i / s->n_indices * s->size + index_at(s, r->indices, i % s->n_indices);
        memcpy(r->target + i * row, r->source + from * row, (size_t)row);
    }
}

static bool run_gather(void *state, const struct execution *e)
{
    const struct prepared_gather *s = state;
    struct gather_run r = {s, address_of_view(e->memory, &s->source), address_of_view(e->memory, &s->indices),
                           address_of_view(e->memory, &s->target)};
    bool is_worth_threads = s->outer * s->n_indices * s->inner_bytes > WORTH_THREADS;
    parallel_for(e->workers, is_worth_threads ? s->threads : 1, gather_part, &r);
    return true;
}

const struct cpu_kernel cpu_kernel_gather = {
    .base = {.name = "gather"},
    .prepare = prepare_gather,
    .run = run_gather,
};
