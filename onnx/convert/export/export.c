// The exporter. Nodes of the graph are visited from the last to the first, so that everything that reads a tensor has
// asked for it before it is decided how the tensor is written; the ONNX nodes are then sorted by the graph's order.
#include "onnx/convert/export/export.h"

#include "core/text/error.h"
#include "graph/graph_whole.h"
#include "onnx/convert/export/export_model.h"
#include "onnx/convert/export/make_conv_pool.h"
#include "onnx/convert/export/make_shape.h"
#include "onnx/convert/export/making.h"
#include "onnx/convert/fold_constants.h"
#include "operators/extra_operators.h"

#include <string.h>

#define LARGEST_REPETITION 4096   // elements
#define LARGEST_CONSTANT (INT64_C(1) << 30)

// ---- what is there ----

// A node that depends on symbols is no constant, though it may be made of weights alone: numbers repeated to a size.
static bool varies(const struct exporter *x, const struct node *n)
{
    return ANY(uint32_t, i, n->n_outputs,
               sizes_type_varies(&x->model->symbols.sizes, graph_type(x->graph, n->first_output + i)));
}

static void find_constants(struct exporter *x)
{
    const struct graph *g = x->graph;
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        x->is_constant[n] = (node->op->id == OP_WEIGHT || node->op->define) && !varies(x, node);
        for (uint32_t i = 0; i < node->n_inputs; i++)
            x->is_constant[n] &= x->is_constant[g->tensors.items[graph_inputs(g, n)[i]].producer];
    }
}

// ---- names that are fixed ----

static void fix_name(struct exporter *x, tensor_id tensor, const char *name)
{
    const struct node *producer = graph_producer(x->graph, tensor);
    if (producer->op->id != OP_WEIGHT && !x->tensor_names[tensor] && name_set_add(&x->names.values, name))
        x->tensor_names[tensor] = name;
}

static void fix_names_of_leaves(struct exporter *x)
{
    const struct graph *g = x->graph;
    vec_each(&g->nodes, node)
        if (node->op->id == OP_INPUT)
            fix_name(x, node->first_output, x->model->inputs.items[node->attributes[0].ints[0]].name);
    for (size_t i = 0; i < x->model->inputs.count; i++)
        name_set_add(&x->names.values, x->model->inputs.items[i].name);
    for (size_t i = 0; i < x->model->weights.count; i++) {
        const struct imported_weight *w = &x->model->weights.items[i];
        if (w->name && (w->tensor || w->sparse) && name_set_add(&x->names.values, w->name))
            x->weight_names[i] = w->name;
    }
}

// Subgraphs refer to outer values by name, so these values must have that name.
static void fix_names_of_captured(struct exporter *x)
{
    const struct graph *g = x->graph;
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        if (!x->wanted.nodes[n] || node->op->id != OP_OPAQUE)
            continue;
        const struct imported_opaque *o = opaque_of(x, node);
        for (uint32_t i = 0; i < o->n_captured; i++)
            fix_name(x, graph_inputs(g, n)[o->n_inputs + i], o->captured[i]);
    }
}

static void fix_names_of_outputs(struct exporter *x)
{
    for (size_t i = 0; i < x->graph->outputs.count; i++)
        fix_name(x, x->graph->outputs.items[i], x->model->outputs.items[i].name);
}

// A second name for a tensor.
static void give_alias(struct exporter *x, tensor_id tensor, const char *alias)
{
    const char *name = name_of(x, tensor);
    if (strcmp(name, alias) == 0)
        return;
    if (name_set_add(&x->names.values, alias))
        emit(x, "Identity", 1, &name, alias);
}

// ---- what still is as it was imported ----
// The same applications, down to the node's inputs. There it is enough that the values are the same: a rewrite further
// up keeps the value key.

struct matching {
    const struct exporter *x;
    uint32_t n_inputs;
    const tensor_id *imported;   // of the node's inputs, in the imported graph
    tensor_id *found;            // in the graph
};

// Is `imported` an input of the node? Then the graph's tensor must have its value.
static bool bind_input(struct matching *match, tensor_id tensor, tensor_id imported, bool *ret_is_same)
{
    uint64_t value = match->x->graph->tensors.items[tensor].value;
    bool is_input = false;
    for (uint32_t i = 0; i < match->n_inputs; i++) {
        if (match->imported[i] != imported)
            continue;
        is_input = true;
        *ret_is_same = match->x->model->graph.tensors.items[imported].value == value;
        match->found[i] = tensor;
    }
    return is_input;
}

static bool match_tensors(struct matching *match, tensor_id tensor, tensor_id imported);

static bool match_inputs(struct matching *match, const struct node *a, const struct node *b, bool is_swapped)
{
    const tensor_id *inputs = match->x->graph->edges.items + a->first_input;
    const tensor_id *imported = match->x->model->graph.edges.items + b->first_input;
    return ALL(uint32_t, i, a->n_inputs, match_tensors(match, inputs[i], imported[is_swapped ? 1 - i : i]));
}

// The import of one ONNX node is a handful of applications, so recursion is shallow.
static bool match_tensors(struct matching *match, tensor_id tensor, tensor_id imported)
{
    const struct graph *g = match->x->graph, *source = &match->x->model->graph;
    const struct node *a = graph_producer(g, tensor), *b = graph_producer(source, imported);
    bool is_same = false;
    if (bind_input(match, tensor, imported, &is_same))
        return is_same;
    return g->tensors.items[tensor].output == source->tensors.items[imported].output && node_is_same_operation(a, b) &&
           (match_inputs(match, a, b, false) ||
            ((a->op->flags & OPERATOR_IS_COMMUTATIVE) && match_inputs(match, a, b, true)));
}

// Is what the graph has at `tensor` still what import made of the node that `origin` names? Then ret_inputs (one per
// input of that node) has the graph's tensor for each input that is no weight; NO_TENSOR for weights and omitted ones.
static bool match_origin(const struct exporter *x, tensor_id tensor, const struct imported_origin *origin,
                         tensor_id *ret_inputs)
{
    const struct onnx_node *n = x->model->file->model->graph->nodes.items[origin->node];
    struct matching match = {x, (uint32_t)n->inputs.count + 1, x->model->origins.node_inputs[origin->node], ret_inputs};
    for (uint32_t i = 0; i < match.n_inputs; i++)
        ret_inputs[i] = NO_TENSOR;
    return match_tensors(&match, tensor, origin->tensor) &&
           !ANY(uint32_t, i, match.n_inputs,
                match.imported[i] != NO_TENSOR && ret_inputs[i] == NO_TENSOR &&
                    !weight_of(x->model, match.imported[i]));
}

// ---- new nodes ----
// Export's side of the table of ONNX operators. Operators whose nodes are always constant, or never made by a rewrite,
// have no row.

static const struct row rows[OP_COUNT] = {
#define ONNX_OPERATOR(name, first, last, inputs, import, op, export) [OP_##op] = {name, first, make_##export},
#define EXPORTED_OPERATOR(op, name, first, export) [OP_##op] = {name, first, make_##export},
#include "onnx/convert/operators/operators.def"
};

#define FIRST_OPSET 7   // from which on anything new is written

static void make_nodes(struct exporter *x, node_id node)
{
    const struct node *n = &x->graph->nodes.items[node];
    const struct row *row = &rows[n->op->id];
    int64_t first_opset = row->first_opset < FIRST_OPSET ? FIRST_OPSET : row->first_opset;
    struct making m = {x, node, n, graph_inputs(x->graph, node), NULL};
    if (!row->make)
        cannot_export(x, "the operator %s cannot be written as ONNX", n->op->name);
    else if (x->model->opset < first_opset)
        cannot_export(x, "the operator %s needs operator set %d", n->op->name, (int)first_opset);
    if (n->n_outputs == 1)
        m.output = name_of(x, n->first_output);
    if (!x->failed && (n->n_inputs == 0 || is_written_for(&m, row->onnx, input_type(&m, 0)->dtype)))
        row->make(&m, row);
}

// ---- writing ----

static const char *name_of_input(struct exporter *x, tensor_id imported, tensor_id found)
{
    if (found != NO_TENSOR)
        return name_of(x, found);
    const struct node *leaf = graph_producer(&x->model->graph, imported);
    return name_of_weight(x, (size_t)leaf->attributes[0].ints[0]);
}

// Outputs that nothing reads keep their names when these are free.
static void name_unused_output(struct exporter *x, struct onnx_string *s)
{
    if (s->size && !name_set_add(&x->names.values, s->text))
        set_name(s, fresh_name(x, "unused"));
}

// The outputs of the graph's node are the copy's from `first` on.
static void name_outputs(struct exporter *x, struct onnx_node *copy, const struct node *node, uint32_t first)
{
    for (uint32_t i = 0; i < copy->outputs.count; i++) {
        tensor_id tensor = node->first_output + i - first;
        bool is_there = i >= first && i - first < node->n_outputs;
        if (is_there && (x->wanted.tensors[tensor] || x->tensor_names[tensor]))
            set_name(&copy->outputs.items[i], name_of(x, tensor));
        else
            name_unused_output(x, &copy->outputs.items[i]);
    }
}

static void keep_node(struct exporter *x, node_id n, uint32_t index, uint32_t output, const tensor_id *found)
{
    const struct node *node = &x->graph->nodes.items[n];
    const tensor_id *imported = x->model->origins.node_inputs[index];
    struct onnx_node *copy = copy_node(x, index);
    copy->inputs.count += imported[copy->inputs.count] != NO_TENSOR;
    for (size_t i = 0; i < copy->inputs.count; i++)
        if (imported[i] != NO_TENSOR)
            set_name(&copy->inputs.items[i], name_of_input(x, imported[i], found[i]));
    name_outputs(x, copy, node, node->n_outputs == 1 ? output : 0);
}

static tensor_id wanted_output(const struct exporter *x, node_id n)
{
    const struct node *node = &x->graph->nodes.items[n];
    uint32_t output = FIRST_OF(uint32_t, i, node->n_outputs, x->wanted.tensors[node->first_output + i]);
    return output < node->n_outputs ? node->first_output + output : NO_TENSOR;
}

// Outputs of one application that came from different ONNX nodes cannot be restored by one of them.
static bool has_common_origin(const struct exporter *x, const struct node *node, uint32_t index)
{
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        const struct imported_origin *o =
            imported_model_find_origin(x->model, x->graph->tensors.items[node->first_output + i].value);
        if (x->wanted.tensors[node->first_output + i] &&
            (!o || o->node != index || (node->n_outputs > 1 && o->output != i)))
            return false;
    }
    return true;
}

static bool keep_original(struct exporter *x, node_id n)
{
    const struct node *node = &x->graph->nodes.items[n];
    tensor_id tensor = wanted_output(x, n);
    const struct imported_origin *origin = imported_model_find_origin(x->model, x->graph->tensors.items[tensor].value);
    if (!origin || origin->node == NO_ORIGIN || !has_common_origin(x, node, origin->node))
        return false;
    struct arena_mark mark = arena_mark(x->arena);
    tensor_id *found = arena_array(x->arena, tensor_id, source_node(x, origin->node)->inputs.count + 1);
    if (!match_origin(x, tensor, origin, found)) {
        arena_release(x->arena, mark);
        return false;
    }
    keep_node(x, n, origin->node, origin->output, found);
    return true;
}

static void keep_opaque(struct exporter *x, node_id n)
{
    const struct node *node = &x->graph->nodes.items[n];
    const struct imported_opaque *o = opaque_of(x, node);
    const tensor_id *inputs = graph_inputs(x->graph, n), *imported = x->model->origins.node_inputs[o->node];
    struct onnx_node *copy = copy_node(x, o->node);
    for (uint32_t i = 0, next = 0; i < copy->inputs.count; i++) {
        if (imported[i] == NO_TENSOR)
            continue;
        bool is_left_out = initial_state_is_zero(x->model, x->graph, copy, i, inputs[next]);
        set_name(&copy->inputs.items[i], is_left_out ? "" : name_of(x, inputs[next]));
        next++;
    }
    name_outputs(x, copy, node, 0);
}

static void compute_constant(struct exporter *x, node_id n)
{
    const struct node *node = &x->graph->nodes.items[n];
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        tensor_id tensor = node->first_output + i;
        const struct type *type = graph_type(x->graph, tensor);
        if (x->wanted.tensors[tensor])
            computed_initializer(x, tensor, type->rank, type->dim, name_of(x, tensor));
    }
}

// Constants are computed, except large ones that are mere repetition, and what no memory would hold.
static bool is_worth_computing(const struct exporter *x, node_id n)
{
    const struct node *node = &x->graph->nodes.items[n];
    for (uint32_t i = 0; x->is_constant[n] && i < node->n_outputs; i++) {
        int64_t n_elements = type_elements(graph_type(x->graph, node->first_output + i));
        bool is_moved;
        if (n_elements > LARGEST_CONSTANT || (n_elements > LARGEST_REPETITION &&
                                              constant_grows(x->graph, node->first_output + i, &is_moved) && is_moved))
            return false;
    }
    return x->is_constant[n];
}

// An elementwise operator that reads what import found to say the same many times: ONNX repeats it by itself.
static bool reads_repetition(const struct exporter *x, node_id n)
{
    const struct graph *g = x->graph;
    const struct node *node = &g->nodes.items[n];
    for (uint32_t i = 0; node->op->flags & OPERATOR_IS_ELEMENTWISE && i < node->n_inputs; i++) {
        const struct tensor *t = &g->tensors.items[graph_inputs(g, n)[i]];
        const struct imported_origin *origin = imported_model_find_origin(x->model, t->value);
        if (x->is_constant[t->producer] && g->nodes.items[t->producer].op->id == OP_BROADCAST && origin &&
            origin->node == NO_ORIGIN)
            return true;
    }
    return false;
}

// Is there a better form than the original nodes, several of which it takes the place of?
static bool is_one_with_others(struct exporter *x, node_id n)
{
    return reads_repetition(x, n) || is_divided_further(x, n) || divides_part(x, n) || joins_concatenations(x, n) ||
           is_written_as_gemm(x, n);
}

static void write_node(struct exporter *x, node_id n)
{
    const struct node *node = &x->graph->nodes.items[n];
    x->current = n;
    if ((node->op->flags & OPERATOR_IS_LEAF) || wanted_output(x, n) == NO_TENSOR)
        return;
    if (node->op->id == OP_OPAQUE)
        keep_opaque(x, n);
    else if (!is_one_with_others(x, n) && keep_original(x, n))
        return;
    else if (is_worth_computing(x, n))
        compute_constant(x, n);
    else
        make_nodes(x, n);
}

// Right before the first node whose subgraph refers to it: an output may have the same name.
static void give_aliases_to_captured(struct exporter *x)
{
    for (node_id n = 0; n < x->graph->nodes.count; n++) {
        const struct node *node = &x->graph->nodes.items[n];
        const struct imported_opaque *o = x->wanted.nodes[n] && node->op->id == OP_OPAQUE ? opaque_of(x, node) : NULL;
        x->current = n;
        for (uint32_t i = 0; o && i < o->n_captured; i++)
            give_alias(x, graph_inputs(x->graph, n)[o->n_inputs + i], o->captured[i]);
    }
}

static bool write_nodes(struct exporter *x)
{
    give_aliases_to_captured(x);
    for (size_t i = 0; i < x->graph->outputs.count; i++) {
        x->current = (node_id)x->graph->nodes.count;
        give_alias(x, x->graph->outputs.items[i], x->model->outputs.items[i].name);
    }
    for (node_id n = (node_id)x->graph->nodes.count; !x->failed && n-- > 0;)
        if (x->wanted.nodes[n])
            write_node(x, n);
    return !x->failed;
}

// ---- the whole ----

static void begin(struct exporter *x)
{
    const struct graph *g = x->graph;
    x->wanted.nodes = arena_array(x->arena, bool, g->nodes.count + 1);
    x->is_constant = arena_array(x->arena, bool, g->nodes.count + 1);
    x->wanted.uses = arena_array(x->arena, uint32_t, g->tensors.count + 1);
    x->wanted.tensors = arena_array(x->arena, bool, g->tensors.count + 1);
    x->tensor_names = arena_array(x->arena, const char *, g->tensors.count + 1);
    x->divided_by = arena_array(x->arena, node_id, g->tensors.count + 1);
    for (tensor_id t = 0; t < g->tensors.count; t++)
        x->divided_by[t] = NO_NODE;
    x->wanted.weights = arena_array(x->arena, bool, x->model->weights.count + 1);
    x->weight_names = arena_array(x->arena, const char *, x->model->weights.count + 1);
    graph_mark_live(g, x->wanted.nodes);
    graph_count_reads(x->graph, x->wanted.nodes, x->wanted.uses);
    find_constants(x);
    collect_original_names(x);
    fix_names_of_leaves(x);
    fix_names_of_captured(x);
    fix_names_of_outputs(x);
}

// Outputs have names of the model, and an output may have a second one.
static struct exported_types types_of_names(const struct exporter *x)
{
    const struct graph *g = x->graph;
    struct exported_types types = {.model = x->model,
                                   .items = arena_array(x->arena, struct exported_type, g->tensors.count + 1)};
    for (tensor_id t = 0; t < g->tensors.count; t++)
        if (x->wanted.tensors[t] && x->tensor_names[t])
            types.items[types.count++] =
                (struct exported_type){x->tensor_names[t], *graph_type(g, t), g->tensors.items[t].value};
    return types;
}

bool export_model(struct imported_model *m, const struct graph *g, struct onnx_model **ret_model,
                  struct exported_types *ret_types, struct error *error)
{
    struct exporter x = {.model = m, .graph = g, .error = error, .arena = &m->arena};
    begin(&x);
    bool is_written = write_nodes(&x);
    if (is_written)
        *ret_model = assemble_model(&x);
    if (is_written && ret_types)
        *ret_types = types_of_names(&x);
    key_set_free(&x.names.values);
    key_set_free(&x.names.nodes);
    key_set_free(&x.names.original);
    key_set_free(&x.names.stems);
    vecs_free(&x, names.stem_numbers, nodes, initializers, sizes);
    return is_written;
}

const char *exported_operator_name(enum operator_id op)
{
    return rows[op].onnx;
}
