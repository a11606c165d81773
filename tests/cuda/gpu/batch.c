#include "tests/cuda/gpu/batch.h"

#include "backends/instructions/code_cache.h"
#include "backends/planning/plan.h"
#include "core/memory/arena.h"
#include "graph/graph_whole.h"
#include <stdio.h>
#include <string.h>

struct batching {
    const struct graph *g;
    struct graph *to;
    struct code_cache *codes;
    int64_t n;
    tensor_id *map;                       // of tensors of g
    bool *has_batch;                      // of tensors of g: n entries on axis 0
    node_id node;                         // of g
    struct attribute_value *attributes;   // of the new node
};

static const struct node *node_of(const struct batching *b)
{
    return &b->g->nodes.items[b->node];
}

static tensor_id input_of(const struct batching *b, uint32_t i)
{
    return graph_inputs(b->g, b->node)[i];
}

static bool reads_batch(const struct batching *b, uint32_t i)
{
    return b->has_batch[input_of(b, i)];
}

static const struct type *type_of(const struct batching *b, uint32_t i)
{
    return graph_type(b->g, input_of(b, i));
}

static struct attribute_value *attribute_of(const struct batching *b, const char *name)
{
    return &b->attributes[operator_find_attribute(node_of(b)->op, name)];
}

static bool set_first(struct batching *b, const char *name, int64_t value)
{
    struct attribute_value *a = attribute_of(b, name);
    if (!a->count)
        return false;
    int64_t *ints = arena_copy_array(b->g->arena, a->ints, a->count);
    ints[0] = value;
    a->ints = ints;
    return true;
}

// An input that is the same for all samples, once for each.
static bool repeat(struct batching *b, uint32_t i, tensor_id *inputs)
{
    const struct type *type = type_of(b, i);
    struct attribute_value shape = {(uint32_t)type->rank, NULL};
    int64_t dim[MAX_RANK];
    node_id node;
    if (reads_batch(b, i))
        return true;
    memcpy(dim, type->dim, sizeof dim);
    dim[0] = b->n;
    shape.ints = dim;
    if (type->rank == 0 || type->dim[0] != 1 ||
        !graph_add(b->to, operators[OP_BROADCAST], &shape, 1, &inputs[i], &node))
        return false;
    inputs[i] = graph_output_of(b->to, node, 0);
    return true;
}

static bool repeat_all(struct batching *b, tensor_id *inputs)
{
    return ALL(uint32_t, i, node_of(b)->n_inputs, repeat(b, i, inputs));
}

static bool is_pointwise(const struct batching *b)
{
    const struct code *code = code_cache_find(b->codes, b->g, b->node);
    bool is_pointwise = code->kind == CODE_MAP;
    for (int i = 0; is_pointwise && i < code->stages[0].n_reads; i++) {
        const struct affine_read *read = &code->stages[0].reads[i];
        is_pointwise = read_is_identity(read, type_of(b, (uint32_t)read->tensor), &code->stages[0].type);
    }
    return is_pointwise;
}

static bool is_alone(const struct batching *b)   // only the first input is for each sample
{
    for (uint32_t i = 1; i < node_of(b)->n_inputs; i++)
        if (reads_batch(b, i))
            return false;
    return reads_batch(b, 0);
}

static bool keeps_first_axis(const struct batching *b, const char *name, int first)
{
    const struct attribute_value *a = attribute_of(b, name);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->ints[i] == first)
            return false;
    return a->count > 0;
}

static bool batch_product(struct batching *b, tensor_id *inputs)
{
    if (type_of(b, 1)->rank == 2)
        return is_alone(b);
    return type_of(b, 0)->rank > 2 && repeat_all(b, inputs);
}

static bool batch_slice(struct batching *b)
{
    const struct attribute_value *start = attribute_of(b, "start"), *step = attribute_of(b, "step");
    return (!start->count || start->ints[0] == 0) && (!step->count || step->ints[0] == 1) && set_first(b, "size", b->n);
}

static bool batch_gather(const struct batching *b)
{
    int64_t axis = attribute_of(b, "axis")->ints[0];
    return axis == 0 ? !reads_batch(b, 0) : is_alone(b);
}

static bool batch_pad(const struct batching *b)
{
    const struct attribute_value *pads = attribute_of(b, "pads");
    return pads->count && pads->ints[0] == 0 && pads->ints[pads->count / 2] == 0;
}

// Changes attributes and inputs so that the operator does for each sample what it did for one. False: it cannot.
static bool batch_operator(struct batching *b, tensor_id *inputs)
{
    const struct node *n = node_of(b);
    const struct type *z = graph_type(b->g, n->first_output), *x = type_of(b, 0);
    if (z->rank == 0 || z->dim[0] != 1)
        return false;
    switch (n->op->id) {
    case OP_RESHAPE:
        return x->rank > 0 && x->dim[0] == 1 && set_first(b, "shape", b->n);
    case OP_BROADCAST:
        return x->rank == z->rank && set_first(b, "shape", b->n);
    case OP_TRANSPOSE:
        return attribute_of(b, "perm")->ints[0] == 0;
    case OP_MATMUL:
        return batch_product(b, inputs);
    case OP_CONV:
    case OP_POOLMAX:
    case OP_POOLAVG:
    case OP_LRN:
        return is_alone(b);
    case OP_CONCAT:
        return keeps_first_axis(b, "axis", 0) && repeat_all(b, inputs);
    case OP_SPLIT:
    case OP_SOFTMAX:
    case OP_LOGSOFTMAX:
    case OP_LAYERNORM:
    case OP_RMSNORM:
        return keeps_first_axis(b, "axis", 0) && is_alone(b);
    case OP_REDUCESUM:
    case OP_REDUCEMEAN:
    case OP_REDUCEMAX:
    case OP_REDUCEMIN:
        return keeps_first_axis(b, "axes", 0);
    case OP_SLICE:
        return batch_slice(b);
    case OP_GATHER:
        return batch_gather(b);
    case OP_PAD:
        return batch_pad(b);
    default:
        return is_pointwise(b) && repeat_all(b, inputs);
    }
}

static bool batch_leaf(struct batching *b)
{
    const struct node *n = node_of(b);
    struct type type = *graph_type(b->g, n->first_output);
    bool is_input = n->op == operators[OP_INPUT];
    if (is_input && (type.rank == 0 || type.dim[0] != 1))
        return false;
    type.dim[0] = is_input ? b->n : type.dim[0];
    b->map[n->first_output] = graph_add_leaf(b->to, n->op, n->attributes[0].ints[0], &type);
    b->has_batch[n->first_output] = is_input;
    return true;
}

static bool batch_node(struct batching *b)
{
    const struct node *n = node_of(b);
    tensor_id *inputs = arena_array(b->g->arena, tensor_id, n->n_inputs + 1);
    int n_attributes = operator_n_attributes(n->op);
    bool has_batch = false;
    node_id node;
    if (n->op->flags & OPERATOR_IS_LEAF)
        return batch_leaf(b);
    b->attributes = n_attributes ? arena_copy_array(b->g->arena, n->attributes, n_attributes) : NULL;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        inputs[i] = b->map[input_of(b, i)];
        has_batch = has_batch || reads_batch(b, i);
    }
    if ((has_batch && !batch_operator(b, inputs)) ||
        !graph_add(b->to, n->op, b->attributes, n->n_inputs, inputs, &node))
        return false;
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        b->map[n->first_output + i] = graph_output_of(b->to, node, i);
        b->has_batch[n->first_output + i] = has_batch;
        if (has_batch && graph_type(b->to, graph_output_of(b->to, node, i))->dim[0] != b->n)
            return false;
    }
    return true;
}

bool graph_with_batch(struct graph *ret_graph, const struct graph *g, int64_t n, char *ret_reason)
{
    struct batching b = {.g = g, .to = ret_graph, .codes = code_cache_new(), .n = n};
    bool *live = arena_array(g->arena, bool, g->nodes.count + 1), is_done = true;
    b.map = arena_array(g->arena, tensor_id, g->tensors.count + 1);
    b.has_batch = arena_array(g->arena, bool, g->tensors.count + 1);
    graph_init(ret_graph, g->arena);
    graph_mark_live(g, live);
    for (b.node = 0; is_done && b.node < g->nodes.count; b.node++)
        is_done = !live[b.node] || batch_node(&b);
    if (!is_done)
        snprintf(ret_reason, BATCH_REASON_SIZE, "node %u, a %s, does not keep samples apart on axis 0",
                 (unsigned)b.node - 1, g->nodes.items[b.node - 1].op->name);
    for (size_t i = 0; is_done && i < g->outputs.count; i++)
        graph_add_output(ret_graph, b.map[g->outputs.items[i]]);
    code_cache_free(b.codes);
    return is_done;
}
