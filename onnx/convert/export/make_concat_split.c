// Concatenations and splits. Rules know them with two parts; a concatenation of concatenations on the same axis is
// written as one, and so is a split whose parts are split again: runtimes copy at each of them.
#include "onnx/convert/export/make_concat_split.h"

#include "onnx/convert/export/make_sizes.h"
#include "onnx/convert/export/making.h"

// --- concatenation ---------------------------------------------------------------------------------------------------

typedef VEC(const char *) name_list;

// Is the tensor made by a concatenation on that axis, for this one reader?
static bool is_part_of_concatenation(const struct exporter *x, tensor_id tensor, int64_t axis)
{
    const struct node *n = graph_producer(x->graph, tensor);
    return n->op->id == OP_CONCAT && n->attributes[0].ints[0] == axis && x->wanted.uses[tensor] == 1 &&
           !x->wanted.tensors[tensor] && !x->is_constant[x->graph->tensors.items[tensor].producer];
}

static void collect_joined(struct exporter *x, tensor_id tensor, int64_t axis, name_list *names)
{
    if (!is_part_of_concatenation(x, tensor, axis)) {
        vec_push(names, name_of(x, tensor));
        return;
    }
    node_id n = x->graph->tensors.items[tensor].producer;
    for (uint32_t i = 0; i < x->graph->nodes.items[n].n_inputs; i++)
        collect_joined(x, graph_inputs(x->graph, n)[i], axis, names);
}

bool joins_concatenations(const struct exporter *x, node_id node)
{
    const struct node *n = &x->graph->nodes.items[node];
    if (n->op->id != OP_CONCAT || x->is_constant[node])
        return false;
    return ANY(uint32_t, i, n->n_inputs,
               is_part_of_concatenation(x, graph_inputs(x->graph, node)[i], n->attributes[0].ints[0]));
}

bool make_concat(struct making *m, const struct row *row)
{
    LOCAL_LIST(name_list, names);
    for (uint32_t i = 0; i < m->node->n_inputs; i++)
        collect_joined(m->x, m->inputs[i], int_of(m, "axis"), &names);
    struct onnx_node *n = emit(m->x, row->onnx, (uint32_t)names.count, names.items, m->output);
    set_int_attribute(m->x, n, "axis", int_of(m, "axis"));
    return true;
}

// --- split -----------------------------------------------------------------------------------------------------------

bool is_divided_further(const struct exporter *x, node_id split)
{
    const struct node *n = &x->graph->nodes.items[split];
    return ANY(uint32_t, i, n->n_outputs, x->divided_by[n->first_output + i] != NO_NODE);
}

static const struct attribute_value *sizes_of(const struct node *split)
{
    return &split->attributes[operator_find_role(split->op, ROLE_PART_SIZES)];
}

static uint32_t count_parts(const struct exporter *x, node_id split)
{
    const struct node *n = &x->graph->nodes.items[split];
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        node_id further = x->divided_by[n->first_output + i];
        count += further == NO_NODE ? 1 : count_parts(x, further);
    }
    return count;
}

bool divides_part(const struct exporter *x, node_id split)
{
    const struct node *n = &x->graph->nodes.items[split];
    if (n->op->id != OP_SPLIT || x->is_constant[split])
        return false;
    tensor_id whole = graph_inputs(x->graph, split)[0];
    node_id producer = x->graph->tensors.items[whole].producer;
    const struct node *earlier = &x->graph->nodes.items[producer];
    return earlier->op->id == OP_SPLIT && earlier->attributes[0].ints[0] == n->attributes[0].ints[0] &&
           x->wanted.uses[whole] == 1 && count_parts(x, producer) + count_parts(x, split) <= MAX_OUTPUTS;
}

// A split of a part that nobody else reads becomes a part of the split that makes it, which comes later, as nodes are
// written from the last to the first.
static bool leave_to_earlier_split(const struct making *m)
{
    if (!divides_part(m->x, m->id))
        return false;
    m->x->divided_by[m->inputs[0]] = m->id;
    m->x->wanted.tensors[m->inputs[0]] = true;
    return true;
}

// Names and sizes of all parts, in order.
static void collect_parts(struct exporter *x, node_id split, name_list *names, int64_t *ret_sizes)
{
    const struct node *n = &x->graph->nodes.items[split];
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        tensor_id part = n->first_output + i;
        if (x->divided_by[part] != NO_NODE) {
            collect_parts(x, x->divided_by[part], names, ret_sizes);
            continue;
        }
        ret_sizes[names->count] = sizes_of(n)->ints[i];
        vec_push(names, name_of(x, part));
    }
}

static bool has_varying_size(const struct making *m, uint32_t count, const int64_t *sizes)
{
    return ANY(uint32_t, i, count, sizes_varies(&m->x->model->symbols.sizes, sizes[i]));
}

bool make_split(struct making *m, const struct row *row)
{
    int64_t sizes[MAX_OUTPUTS];
    bool is_input = opset_of(m) >= 13;
    LOCAL_LIST(name_list, parts);
    if (leave_to_earlier_split(m))
        return true;
    collect_parts(m->x, m->id, &parts, sizes);
    if (!is_input && has_varying_size(m, (uint32_t)parts.count, sizes))
        return cannot_export(m->x, "a split into sizes that are not known needs operator set 13");
    const char *names[2] = {input_name(m, 0), NULL};
    if (is_input)
        names[1] = list_of_sizes(m, (uint32_t)parts.count, sizes);
    struct onnx_node *n = emit(m->x, row->onnx, is_input ? 2 : 1, names, NULL);
    for (size_t i = 0; i < parts.count; i++)
        add_output(m->x, n, parts.items[i]);
    set_int_attribute(m->x, n, "axis", int_of(m, "axis"));
    if (!is_input)
        set_ints_attribute(m->x, n, "split", (uint32_t)parts.count, sizes);
    return true;
}
