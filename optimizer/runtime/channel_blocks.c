// Blocks begin at convolutions, and go on through what takes them as it is given them. Channels are turned by fours;
// images of fewer than a block are read as they are.
#include "optimizer/runtime/channel_blocks.h"

#include "backends/cpu/generated.h"
#include "core/memory/arena.h"
#include "operators/traits.h"

enum { AXIS_OF_CHANNELS = 1, FEWEST_CHANNELS = 8, CHANNELS_TURNED_AT_ONCE = 4 };

int64_t channel_block_here(void)
{
    return cpu_machine_here()->lanes == 16 ? 16 : 8;
}

static bool may_be_blocked(const struct step_groups *s, tensor_id t)
{
    const struct type *type = graph_type(s->graph, t);
    return s->varies[t] && type->dtype == DTYPE_F32 && type->rank == 4 &&
           type->dim[AXIS_OF_CHANNELS] >= FEWEST_CHANNELS;
}

static bool reads_few_channels(const struct step_groups *s, int64_t block, node_id n)
{
    const tensor_id *inputs = graph_inputs(s->graph, n);
    return operator_convolves(s->graph->nodes.items[n].op) &&
           graph_type(s->graph, inputs[0])->dim[AXIS_OF_CHANNELS] == graph_type(s->graph, inputs[1])->dim[1] &&
           graph_type(s->graph, inputs[1])->dim[1] < block;
}

// Its groups are all channels, single ones, or whole blocks.
static bool convolves_blocks(const struct step_groups *s, int64_t block, node_id n)
{
    const struct node *node = &s->graph->nodes.items[n];
    if (!operator_convolves(node->op) || !may_be_blocked(s, node->first_output))
        return false;
    const struct type *filters = graph_type(s->graph, graph_inputs(s->graph, n)[1]);
    int64_t groups = graph_type(s->graph, graph_inputs(s->graph, n)[0])->dim[AXIS_OF_CHANNELS] / filters->dim[1];
    int64_t in = filters->dim[1], out = filters->dim[0] / groups;
    return groups == 1             ? in < block || in % CHANNELS_TURNED_AT_ONCE == 0
           : (in == 1 && out == 1) ? groups % CHANNELS_TURNED_AT_ONCE == 0
                                   : in % block == 0 && out % block == 0;
}

// Runs on blocks what is given in blocks, and on other layouts what is not.
static bool takes_both(const struct node *n)
{
    return (n->op->flags & OPERATOR_IS_ELEMENTWISE) || operator_pools(n->op) ||
           (operator_joins(n->op) && n->attributes[0].ints[0] == AXIS_OF_CHANNELS);
}

static bool reads_blocks(const struct channel_blocks *b, node_id n)
{
    const struct step_groups *s = b->groups;
    const tensor_id *inputs = graph_inputs(s->graph, n);
    return ALL(uint32_t, i, s->graph->nodes.items[n].n_inputs, !s->varies[inputs[i]] || b->is_blocked[inputs[i]]);
}

static bool has_blocks(const struct channel_blocks *b, node_id n)
{
    const struct node *node = &b->groups->graph->nodes.items[n];
    return b->groups->is_run[n] && node->n_outputs == 1 && may_be_blocked(b->groups, node->first_output) &&
           (convolves_blocks(b->groups, b->block, n) || (takes_both(node) && reads_blocks(b, n)));
}

void channel_blocks_find(struct channel_blocks *b, const struct step_groups *s, int64_t block)
{
    const struct graph *g = s->graph;
    *b = (struct channel_blocks){.groups = s,
                                 .block = block,
                                 .is_blocked = arena_array(s->arena, bool, g->tensors.count + 1),
                                 .has_blocks = arena_array(s->arena, bool, g->nodes.count + 1)};
    for (node_id n = 0; n < g->nodes.count; n++)
        if (has_blocks(b, n))
            b->has_blocks[n] = b->is_blocked[g->nodes.items[n].first_output] = true;
}

bool channel_blocks_differ(const struct channel_blocks *b, node_id reader, tensor_id t)
{
    bool reads = b->has_blocks[reader] && !reads_few_channels(b->groups, b->block, reader);
    return may_be_blocked(b->groups, t) && b->is_blocked[t] != reads;
}

int channel_blocks_of_group(const struct step_groups *s, int64_t block, node_id first, tensor_id ret_tensors[2])
{
    int count = 0;
    for (node_id n = first; n != NO_NODE && count == 0; n = s->next[n]) {
        const struct node *node = &s->graph->nodes.items[n];
        if (!convolves_blocks(s, block, n))
            continue;
        ret_tensors[count++] = node->first_output;
        if (may_be_blocked(s, graph_inputs(s->graph, n)[0]) && !reads_few_channels(s, block, n))
            ret_tensors[count++] = graph_inputs(s->graph, n)[0];
    }
    return count;
}

bool channel_blocks_chain(struct graph *g, const struct type *type, int n)
{
    const struct operator* conv = operators[OP_CONV];
    struct attribute_value attributes[MAX_ATTRIBUTES];
    struct type filters = type_make(type->dtype, 4, (int64_t[]){type->dim[AXIS_OF_CHANNELS], 1, 1, 1});
    operator_standard_attributes(conv, g->arena, attributes);
    attributes[operator_find_role(conv, ROLE_GROUPS)] = (struct attribute_value){1, &type->dim[AXIS_OF_CHANNELS]};
    tensor_id inputs[2] = {graph_add_leaf(g, operators[OP_INPUT], 0, type)};
    bool is_built = true;
    for (int i = 0; is_built && i < n; i++) {
        node_id node;
        inputs[1] = graph_add_leaf(g, operators[OP_WEIGHT], i, &filters);
        is_built = graph_add(g, conv, attributes, 2, inputs, &node);
        inputs[0] = is_built ? graph_output_of(g, node, 0) : inputs[0];
    }
    graph_add_output(g, inputs[0]);
    return is_built;
}
