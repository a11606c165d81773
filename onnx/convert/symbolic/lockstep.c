// Import of a model whose symbols stay. It is imported at several bindings of them at once, node by node, and a node is
// in the graph only if what was made of it is the same everywhere, up to sizes that are one function of the symbols
// each (graph/sizes.h). All else is opaque: exporters' computations with shapes, and nodes whose form depends on sizes.
//
// What an opaque node makes of shapes is still *known* at each binding. A node that is told a size by it (Reshape,
// Expand) is converted as if it were constant; the graph does not read it then. Only arithmetic that is one function of
// all sizes is known that way: comparisons and roundings are not, as they may come out otherwise at other bindings.
#include "onnx/convert/symbolic/lockstep.h"

#include "onnx/convert/bind_shapes.h"
#include "onnx/convert/import/equal_nodes.h"
#include "onnx/convert/import/import.h"
#include "onnx/convert/read_node.h"
#include "onnx/convert/reshape_sizes.h"
#include "onnx/convert/symbolic/shape_arithmetic.h"
#include "operators/traits.h"

#include <string.h>

#define MOST_KNOWN 64   // elements of a value that is known

// An attempt with known values for inputs; the same without computing constants; on the tensors alone.
enum attempt { WITH_VALUES, WITHOUT_FOLDING, ON_TENSORS, N_ATTEMPTS };

// --- sizes -----------------------------------------------------------------------------------------------------------

static bool fit_dimension(struct lockstep *l, const struct type *const *types, int axis)
{
    struct size_form form;
    EACH_PROBE(int64_t, at, k, types[k]->dim[axis]);
    return sizes_fit(l->sizes, at, &form);
}

// Types of equal element type and rank, with dimensions that are functions of the symbols. Others are passed
// over: tensors of such types may stand in a graph, as long as no attribute depends on them.
static bool are_one_type(struct lockstep *l, const struct type *const *types, bool *ret_fits)
{
    *ret_fits = true;
    if (ANY(int, k, N_PROBES, types[k]->dtype != types[0]->dtype || types[k]->rank != types[0]->rank))
        return false;
    for (int i = 0; i < types[0]->rank; i++)
        *ret_fits &= fit_dimension(l, types, i);
    return true;
}

static bool have_one_type(struct lockstep *l, tensor_id t)
{
    bool fits;
    EACH_PROBE(const struct type *, types, k, graph_type(graph_of(l, k), t));
    return are_one_type(l, types, &fits);
}

// --- weights ---------------------------------------------------------------------------------------------------------

static bool is_same_weight(const struct lockstep *l, size_t index)
{
    struct imported_weight *first = &l->models[0]->weights.items[index];
    for (int k = 1; k < N_PROBES; k++) {
        struct imported_weight *w = &l->models[k]->weights.items[index];
        if (w->tensor != first->tensor || w->sparse != first->sparse || !type_equal(&w->type, &first->type))
            return false;
        if (w->tensor || w->sparse)
            continue;
        const void *a = weight_elements(l->models[0], first), *b = weight_elements(l->models[k], w);
        if (!a || !b || memcmp(a, b, type_bytes(&w->type)) != 0)
            return false;
    }
    return true;
}

static bool are_same_weights(const struct lockstep *l)
{
    size_t n = l->models[0]->weights.count, first = l->n_weights + l->n_values;
    return ALL(int, k, N_PROBES, l->models[k]->weights.count == n) &&
           ALL(size_t, i, n, i < first || is_same_weight(l, i));
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static bool stands_for_value(const struct lockstep *l, const struct graph *g, tensor_id t)
{
    node_id producer = g->tensors.items[t].producer;
    return producer >= l->mark.nodes && producer < l->mark.nodes + l->n_values;
}

static bool reads_same(const struct lockstep *l, node_id n)
{
    const struct graph *g = graph_of(l, 0);
    const struct node *node = &g->nodes.items[n];
    const tensor_id *a = graph_inputs(g, n);
    if (ANY(uint32_t, i, node->n_inputs, stands_for_value(l, g, a[i])))
        return false;
    for (int k = 1; k < N_PROBES; k++) {
        const tensor_id *b = graph_inputs(graph_of(l, k), n);
        bool is_swapped = node->n_inputs == 2 && (node->op->flags & OPERATOR_IS_COMMUTATIVE) && a[0] != b[0];
        if (ANY(uint32_t, i, node->n_inputs, a[i] != b[is_swapped ? 1 - i : i]))
            return false;
    }
    return true;
}

static bool is_same_attribute(struct lockstep *l, node_id n, int attribute)
{
    const struct operator* op = graph_of(l, 0)->nodes.items[n].op;
    EACH_PROBE(const struct attribute_value *, values, k, &graph_of(l, k)->nodes.items[n].attributes[attribute]);
    if (ANY(int, k, N_PROBES, values[k]->count != values[0]->count))
        return false;
    for (uint32_t i = 0; i < values[0]->count; i++) {
        struct size_form form;
        EACH_PROBE(int64_t, at, k, values[k]->ints[i]);
        if (sizes_role_varies(op, attribute) ? !sizes_fit(l->sizes, at, &form) : varies(at))
            return false;
    }
    return true;
}

// Nothing is cut of an axis of any size, and to no such size: what lies beyond a tensor is cut off silently.
static bool cuts_fixed_axes(const struct lockstep *l, node_id n)
{
    const struct graph *g = graph_of(l, 0);
    const struct node *node = &g->nodes.items[n];
    int role = node->op->id == OP_SLICE ? operator_find_role(node->op, ROLE_SIZE) : -1;
    for (uint32_t i = 0; role >= 0 && i < node->attributes[role].count; i++)
        for (int k = 1; k < N_PROBES; k++) {
            const struct graph *other = graph_of(l, k);
            int64_t size = other->nodes.items[n].attributes[role].ints[i];
            int64_t all = graph_type(other, graph_inputs(other, n)[0])->dim[i];
            bool is_fixed = all == graph_type(g, graph_inputs(g, n)[0])->dim[i];
            if (size != all && !(is_fixed && size == node->attributes[role].ints[i]))
                return false;
        }
    return true;
}

// Export has a form for it: before ONNX allowed zeros, a Reshape cannot say that two of its sizes are nothing.
static bool has_form(const struct lockstep *l, node_id n)
{
    const struct graph *g = graph_of(l, 0);
    const struct node *node = &g->nodes.items[n];
    struct reshape_sizes said;
    if (node->op->id != OP_RESHAPE || l->c[0].opset >= OPSET_OF_ALLOWED_ZEROS ||
        !sizes_type_varies(l->sizes, graph_type(g, node->first_output)))
        return true;
    const struct attribute_value *shape = node_attribute(node, ROLE_SHAPE);
    return reshape_sizes_of(l->sizes, graph_type(g, graph_inputs(g, n)[0]), shape->count, shape->ints, &said) &&
           !said.allows_zero;
}

static int64_t window_size(const struct lockstep *l, int k, node_id n, int axis)
{
    const struct graph *g = graph_of(l, k);
    const struct node *node = &g->nodes.items[n];
    return operator_pools(node->op) ? node_attribute(node, ROLE_KERNEL)->ints[axis]
                                    : graph_type(g, graph_inputs(g, n)[1])->dim[2 + axis];
}

static void derive_places(struct lockstep *l, node_id n, int axis)
{
    const struct graph *g = graph_of(l, 0);
    const struct node *node = &g->nodes.items[n];
    const struct attribute_value *a = node->attributes;
    const int64_t *pad = a[operator_find_role(node->op, ROLE_WINDOW_PADS)].ints;
    int64_t stride = a[operator_find_role(node->op, ROLE_STRIDE)].ints[axis];
    int64_t dilation = a[operator_find_role(node->op, ROLE_DILATION)].ints[axis], size = window_size(l, 0, n, axis);
    if (ANY(int, k, N_PROBES, window_size(l, k, n, axis) != size))
        return;
    EACH_PROBE(int64_t, at, k, graph_type(graph_of(l, k), graph_inputs(graph_of(l, k), n)[0])->dim[2 + axis]);
    int n_axes = graph_type(g, graph_inputs(g, n)[0])->rank - 2;
    int64_t room = pad[axis] + pad[n_axes + axis] - ((size - 1) * dilation + 1);
    sizes_add_quotient(l->sizes, at, room + stride, stride);
}

// A window goes on by its stride as long as there is room: what it makes has (image + room) / stride + 1 places.
static void derive_sizes(struct lockstep *l, node_id n)
{
    const struct graph *g = graph_of(l, 0);
    for (int i = 2; operator_has_windows(g->nodes.items[n].op) && i < graph_type(g, graph_inputs(g, n)[0])->rank; i++)
        derive_places(l, n, i - 2);
}

static bool is_same_node(struct lockstep *l, node_id n)
{
    EACH_PROBE(const struct node *, nodes, k, &graph_of(l, k)->nodes.items[n]);
    const struct node *first = nodes[0];
    if (ANY(int, k, N_PROBES,
            nodes[k]->op != first->op || nodes[k]->n_inputs != first->n_inputs ||
                nodes[k]->n_outputs != first->n_outputs) ||
        ANY(int, i, operator_n_attributes(first->op), !is_same_attribute(l, n, i)))
        return false;
    derive_sizes(l, n);
    return ALL(uint32_t, i, first->n_outputs, have_one_type(l, first->first_output + i)) && reads_same(l, n) &&
           cuts_fixed_axes(l, n) && has_form(l, n);
}

static bool have_same_nodes(struct lockstep *l)
{
    size_t n_nodes = graph_of(l, 0)->nodes.count, first = l->mark.nodes + l->n_values;
    return ALL(int, k, N_PROBES, graph_of(l, k)->nodes.count == n_nodes) &&
           ALL(node_id, n, n_nodes, n < first || is_same_node(l, n));
}

static bool have_same_outputs(const struct lockstep *l)
{
    return !ANY(uint32_t, i, l->c[0].n_outputs,
                ANY(int, k, N_PROBES,
                    l->c[k].outputs[i] != l->c[0].outputs[i] ||
                        (l->c[k].outputs[i] != NO_TENSOR && stands_for_value(l, graph_of(l, k), l->c[k].outputs[i]))));
}

// --- one attempt -----------------------------------------------------------------------------------------------------

static bool reads_values(const struct lockstep *l)
{
    return ANY(uint32_t, i, l->c[0].n_inputs, known_at(l, 0, l->c[0].inputs[i]));
}

// Weights stand for the inputs that are known.
static void put_values(struct lockstep *l, int k)
{
    struct conversion *c = &l->c[k];
    tensor_id *inputs = arena_array(&l->importers[k].scratch, tensor_id, c->n_inputs + 1);
    l->n_values = 0;
    for (uint32_t i = 0; i < c->n_inputs; i++) {
        const void *value = known_at(l, k, c->inputs[i]);
        inputs[i] = c->inputs[i];
        if (!value)
            continue;
        struct imported_weight w = {.type = *type_of(c, c->inputs[i]), .data = value, .is_of_binding = true};
        inputs[i] = weight_add(c->model, w);
        l->n_values++;
    }
    c->inputs = inputs;
}

static void take_back_all(struct lockstep *l)
{
    for (int k = 0; k < N_PROBES; k++) {
        struct importer *im = &l->importers[k];
        import_take_back(im, l->mark);
        l->models[k]->weights.count = l->n_weights;
        im->folding.is_forbidden = false;
    }
    l->n_values = 0;
}

static bool convert_everywhere(struct lockstep *l, uint32_t index, enum attempt how, bool folds)
{
    bool is_converted = true;
    l->n_values = 0;
    for (int k = 0; k < N_PROBES; k++) {
        struct importer *im = &l->importers[k];
        l->c[k] = import_begin_node(im, index);
        im->folding.is_forbidden = !folds;
        if (how != ON_TENSORS)
            put_values(l, k);
    }
    for (int k = 0; k < N_PROBES; k++) {
        bool is_here = import_convert(&l->importers[k], &l->c[k]);
        l->importers[k].folding.is_forbidden = false;
        is_converted = is_converted && is_here;
    }
    return is_converted;
}

static bool reads_constants(struct lockstep *l)
{
    return ALL(uint32_t, i, l->c[0].n_inputs,
               l->c[0].inputs[i] == NO_TENSOR || is_constant(&l->c[0], l->c[0].inputs[i]));
}

static bool makes_equal_types(const struct lockstep *l)
{
    for (uint32_t i = 0; i < l->c[0].n_outputs; i++)
        for (int k = 1; k < N_PROBES; k++) {
            tensor_id a = l->c[0].outputs[i], b = l->c[k].outputs[i];
            if (a != NO_TENSOR && b != NO_TENSOR && !type_equal(type_of(&l->c[0], a), type_of(&l->c[k], b)))
                return false;
        }
    return true;
}

// Constants whose types differ are not the same one, so that none is computed.
static bool convert_all(struct lockstep *l, uint32_t index, enum attempt how)
{
    bool is_converted = convert_everywhere(l, index, how, false);
    if (how == WITHOUT_FOLDING || !reads_constants(l) || (is_converted && !makes_equal_types(l)))
        return is_converted;
    take_back_all(l);
    return convert_everywhere(l, index, how, true);
}

static bool is_slice(const struct lockstep *l)
{
    return onnx_node_is(l->c[0].node, "Slice") && l->c[0].n_outputs == 1;
}

// A size beyond the tensor means the tensor's where a node is told by what it reads how to cut.
static bool is_cut_by_values(const struct lockstep *l)
{
    return is_slice(l) &&
           ANY(uint32_t, i, l->c[0].n_inputs,
               i > 0 && l->c[0].inputs[i] != NO_TENSOR && stands_for_value(l, graph_of(l, 0), l->c[0].inputs[i]));
}

static bool makes_weight(const struct lockstep *l)
{
    return ANY(uint32_t, i, l->c[0].n_outputs,
               l->c[0].outputs[i] != NO_TENSOR && weight_of(l->models[0], l->c[0].outputs[i]));
}

static bool is_same_everywhere(struct lockstep *l)
{
    return !(l->n_values > 0 && (is_cut_by_values(l) || (makes_weight(l) && !is_arithmetic_of_shapes(l)))) &&
           have_same_outputs(l) && are_same_weights(l) && have_same_nodes(l);
}

// --- what an opaque node makes ---------------------------------------------------------------------------------------

// Places that a Slice is told, which steps by ones.
static bool read_cuts_by_ones(struct conversion *c, struct slice_lists *ret)
{
    return has_known_inputs(c, 1) && read_slice_lists(c, ret) &&
           ALL(uint32_t, i, ret->steps.count, ret->steps.items[i] == 1);
}

// Entries that are left out at one end of an axis. False: an axis of any size may have fewer at some size.
static bool are_left_out(struct lockstep *l, bool is_table, int64_t entries, int64_t *at)
{
    bool is_told_sizes = varies(at);
    for (int k = 0; is_table && !is_told_sizes && k < N_PROBES; k++)
        at[k] = at[k] < 0 ? 0 : at[k] > entries ? entries : at[k];
    return is_table || is_never_negative(l, at);
}

// Entries beyond an axis are cut off silently. An axis of any size is cut within it at all sizes. A table, an axis of
// one size, that is told sizes is taken to be as long as they say: where it is shorter, the model has no result, which
// lockstep_check.c looks for.
static bool note_cut(struct lockstep *l, const struct slice_lists *cuts, uint32_t i)
{
    int64_t before[N_PROBES], behind[N_PROBES];
    int axis = 0;
    for (int k = 0; k < N_PROBES; k++) {
        const struct type *x = type_of(&l->c[k], l->c[k].inputs[0]);
        int64_t start = cuts[k].starts.items[i], end = cuts[k].ends.items[i];
        if (!normalize_axis(&l->c[k], cuts[k].axes.items ? cuts[k].axes.items[i] : i, x->rank, &axis))
            return false;
        before[k] = start < 0 ? start + x->dim[axis] : start;
        behind[k] = end >= LONGEST_AXIS ? 0 : end < 0 ? -end : x->dim[axis] - end;
    }
    bool is_table = !axis_varies(&l->c[0], l->c[0].inputs[0], axis);
    int64_t entries = type_of(&l->c[0], l->c[0].inputs[0])->dim[axis];
    if (!are_left_out(l, is_table, entries, before) || !are_left_out(l, is_table, entries, behind))
        return false;
    for (int k = 0; k < N_PROBES; k++)
        l->types[k][0].dim[axis] -= before[k] + behind[k];
    return true;
}

static void note_types_of_cut(struct lockstep *l)
{
    struct slice_lists cuts[N_PROBES];
    for (int k = 0; k < N_PROBES; k++) {
        if (!read_cuts_by_ones(&l->c[k], &cuts[k]))
            return;
        const struct type *x = type_of(&l->c[k], l->c[k].inputs[0]);
        l->types[k][0] = type_make(x->dtype, x->rank, x->dim);
    }
    l->is_typed = ALL(uint32_t, i, cuts[0].starts.count, note_cut(l, cuts, i));
}

static void note_types(struct lockstep *l)
{
    if (ANY(int, k, N_PROBES, ANY(uint32_t, i, l->c[k].n_outputs, l->c[k].outputs[i] == NO_TENSOR)))
        return;
    for (int k = 0; k < N_PROBES; k++)
        for (uint32_t i = 0; i < l->c[k].n_outputs; i++) {
            const struct type *t = type_of(&l->c[k], l->c[k].outputs[i]);
            l->types[k][i] = type_make(t->dtype, t->rank, t->dim);
        }
    l->is_typed = true;
}

// A node that is no operator of the graph may still have a type that known sizes tell, as what is resized to them.
static void note_inferred_types(struct lockstep *l)
{
    l->is_typed = true;
    for (int k = 0; k < N_PROBES; k++) {
        import_infer_types(&l->importers[k], &l->c[k], l->types[k]);
        for (uint32_t i = 0; i < l->c[k].n_outputs; i++)
            l->is_typed = l->is_typed && type_is_known(&l->types[k][i]);
    }
}

static void note_values(struct lockstep *l)
{
    const struct type *t = type_of(&l->c[0], l->c[0].outputs[0]);
    if (l->c[0].n_outputs != 1 || !is_arithmetic_of_shapes(l) || !makes_integers(l) || type_elements(t) > MOST_KNOWN)
        return;
    for (int k = 0; k < N_PROBES; k++) {
        const struct imported_weight *w = weight_of(l->models[k], l->c[k].outputs[0]);
        if (!w || !type_equal(&w->type, t))
            return;
    }
    for (int k = 0; k < N_PROBES; k++)
        l->values[k] = weight_elements(l->models[k], weight_of(l->models[k], l->c[k].outputs[0]));
}

static bool is_known_to_vary(const struct lockstep *l, uint32_t input)
{
    tensor_id t = input < l->c[0].n_inputs ? l->c[0].inputs[input] : NO_TENSOR;
    const void *first = known_at(l, 0, t);
    return first &&
           ANY(int, k, N_PROBES, memcmp(first, known_at(l, k, t), type_bytes(graph_type(graph_of(l, 0), t))) != 0);
}

// A slice that ends before it starts has no entries: a difference of sizes is no size of it, and nothing here may be
// something elsewhere. A step beyond the end may be one within.
static bool may_end_before_start(struct lockstep *l, const struct type *const *types)
{
    bool is_range = onnx_node_is(l->c[0].node, "Range");
    if (!is_range && !onnx_node_is(l->c[0].node, "Slice"))
        return false;
    for (int i = 0; i < types[0]->rank; i++) {
        EACH_PROBE(int64_t, at, k, types[k]->dim[i]);
        if (at[0] == 0 || !is_never_negative(l, at))
            return true;
    }
    return is_known_to_vary(l, is_range ? 2 : 4);
}

// Types of one kind, whose sizes are known for every binding; or of none.
static void agree_on_types(struct lockstep *l)
{
    for (uint32_t i = 0; i < l->c[0].n_outputs; i++) {
        EACH_PROBE(const struct type *, types, k, &l->types[k][i]);
        bool fits = true, is_known = ALL(int, k, N_PROBES, type_is_known(types[k]));
        enum dtype dtype = types[0]->dtype;
        if (is_known && !l->is_denied[l->c[0].index] && are_one_type(l, types, &fits) && fits &&
            !may_end_before_start(l, types))
            continue;
        for (int k = 0; k < N_PROBES; k++)
            l->types[k][i] =
                (struct type){.dtype = types[k]->dtype == dtype ? dtype : DTYPE_NONE, .rank = RANK_UNKNOWN};
    }
}

static bool value_depends(const struct lockstep *l, tensor_id t, uint32_t symbol)
{
    const struct type *type = graph_type(graph_of(l, 0), t);
    const int64_t *value = type->dtype == DTYPE_I64 ? known_at(l, 0, t) : NULL;
    return value && ANY(int64_t, i, type_elements(type), sizes_depends(l->sizes, value[i], symbol));
}

static bool type_depends(const struct lockstep *l, tensor_id t, uint32_t symbol)
{
    const struct type *type = graph_type(graph_of(l, 0), t);
    return ANY(int, i, type->rank, sizes_depends(l->sizes, type->dim[i], symbol));
}

static bool node_depends(const struct lockstep *l, uint32_t symbol)
{
    return FIND(l->c[0].inputs, l->c[0].n_inputs, t,
                *t != NO_TENSOR && (type_depends(l, *t, symbol) || value_depends(l, *t, symbol))) != NULL;
}

// Which symbols the node's inputs depend on, as words of a reason.
static const char *symbols_of_inputs(const struct lockstep *l)
{
    const struct imported_model *m = l->models[0];
    struct arena *arena = &l->models[0]->arena;
    const char *text = "";
    for (uint32_t j = 0; j < l->sizes->n_symbols; j++)
        if (node_depends(l, j))
            text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", m->symbols.list.items[j].name);
    return text;
}

// A size that is a quotient, say, as that of an image after a pooling.
static bool makes_odd_sizes(struct lockstep *l)
{
    for (uint32_t i = 0; l->is_typed && i < l->c[0].n_outputs; i++) {
        bool fits = true;
        EACH_PROBE(const struct type *, types, k, &l->types[k][i]);
        if (type_is_known(types[0]) && are_one_type(l, types, &fits) && !fits)
            return true;
    }
    return false;
}

static bool pads_to_same(const struct conversion *c)
{
    return onnx_node_is(c->node, "Conv MaxPool AveragePool LpPool") &&
           (text_attribute_is(c, "auto_pad", "SAME_UPPER", "NOTSET") ||
            text_attribute_is(c, "auto_pad", "SAME_LOWER", "NOTSET"));
}

// A node whose pads depend on the image's size, as with SAME and strides, is kept; what it makes has yet one size for
// each stride that begins in the image.
static void derive_same_sizes(struct lockstep *l)
{
    struct integers strides = ints_attribute(&l->c[0], "strides");
    if (!l->is_typed || !pads_to_same(&l->c[0]))
        return;
    for (uint32_t i = 0; i < strides.count; i++) {
        int64_t at[N_PROBES];
        for (int k = 0; k < N_PROBES; k++) {
            const struct type *image = graph_type(graph_of(l, k), l->c[k].inputs[0]);
            if (image->rank != 2 + (int)strides.count || strides.items[i] < 1)
                return;
            at[k] = image->dim[2 + i];
        }
        sizes_add_quotient(l->sizes, at, strides.items[i] - 1, strides.items[i]);
    }
}

static uint32_t find_equal_everywhere(struct lockstep *l)
{
    uint32_t equal = import_find_equal(&l->importers[0], &l->c[0], l->types[0]);
    return ALL(int, k, N_PROBES, import_find_equal(&l->importers[k], &l->c[k], l->types[k]) == equal) ? equal
                                                                                                      : TABLE_NONE;
}

static void keep_opaque(struct lockstep *l, uint32_t index)
{
    bool is_known = l->values[0] != NULL;
    for (int k = 0; k < N_PROBES; k++) {
        struct conversion last = l->c[k];
        l->c[k] = import_begin_node(&l->importers[k], index);
        l->c[k].known_types = last.known_types;
        memcpy(l->c[k].reason, last.reason, sizeof last.reason);
        if (!l->is_typed)
            import_infer_types(&l->importers[k], &l->c[k], l->types[k]);
    }
    derive_same_sizes(l);
    const char *symbols = symbols_of_inputs(l);
    const char *reason = is_known             ? "it computes with sizes"
                         : makes_odd_sizes(l) ? "a size that it makes is no sum and no product of symbols"
                                              : "what it does depends on sizes";
    agree_on_types(l);
    uint32_t equal = find_equal_everywhere(l);
    for (int k = 0; k < N_PROBES; k++) {
        cannot(&l->c[k], "%s", reason);
        import_opaque(&l->importers[k], &l->c[k], l->types[k], equal);
    }
    if (equal != TABLE_NONE)
        return;
    for (int k = 0; k < N_PROBES; k++) {
        vec_last(&l->models[k]->opaques).is_kept_for_sizes = !is_known;
        vec_last(&l->models[k]->opaques).symbols = symbols;
    }
}

static void remember_values(struct lockstep *l)
{
    tensor_id t = l->c[0].outputs[0];
    for (int k = 0; k < N_PROBES && l->values[0]; k++) {
        struct importer *im = &l->importers[k];
        while (im->known.count <= t)
            vec_push(&im->known, NULL);
        im->known.items[t] = l->values[k];
    }
}

// --- all nodes -------------------------------------------------------------------------------------------------------

static void begin_node(struct lockstep *l, uint32_t index)
{
    size_t n = ((const struct onnx_node *)l->importers[0].source->nodes.items[index])->outputs.count;
    l->mark = graph_mark(graph_of(l, 0));
    l->n_weights = l->models[0]->weights.count;
    l->is_typed = false;
    for (int k = 0; k < N_PROBES; k++) {
        l->c[k] = (struct conversion){0};
        l->types[k] = arena_array(&l->importers[k].scratch, struct type, n + 1);
        l->values[k] = NULL;
    }
}

static void import_node_everywhere(struct lockstep *l, uint32_t index)
{
    bool is_done = false;
    struct arena_mark marks[N_PROBES];
    for (int k = 0; k < N_PROBES; k++)
        marks[k] = arena_mark(&l->importers[k].scratch);
    begin_node(l, index);
    for (int how = WITH_VALUES; !is_done && !l->is_denied[index] && how < N_ATTEMPTS; how++) {
        bool is_converted = convert_all(l, index, (enum attempt)how);
        is_done = is_converted && is_same_everywhere(l);
        if (is_done)
            break;
        if (!l->is_typed && is_slice(l))
            note_types_of_cut(l);
        else if (!l->is_typed && is_converted)
            note_types(l);
        if (is_converted && how == WITH_VALUES)
            note_values(l);
        if (!is_converted && !is_slice(l) && how == WITH_VALUES && l->n_values > 0)
            note_inferred_types(l);
        take_back_all(l);
        if (l->values[0] || (how == WITHOUT_FOLDING && !reads_values(l)))
            break;
    }
    if (!is_done)
        keep_opaque(l, index);
    for (int k = 0; k < N_PROBES; k++)
        import_define_outputs(&l->importers[k], &l->c[k]);
    if (!is_done)
        remember_values(l);
    for (int k = 0; k < N_PROBES; k++)
        arena_release(&l->importers[k].scratch, marks[k]);
}

static bool import_leaves(struct lockstep *l, const bool **ret_is_live)
{
    if (ANY(int, k, N_PROBES, !import_begin(&l->importers[k], ret_is_live)))
        return false;
    for (tensor_id t = 0; t < graph_of(l, 0)->tensors.count; t++)
        have_one_type(l, t);
    return true;
}

bool import_everywhere(struct lockstep *l)
{
    const bool *is_live;
    if (!import_leaves(l, &is_live))
        return false;
    for (size_t i = 0; i < l->importers[0].source->nodes.count; i++)
        if (is_live[i])
            import_node_everywhere(l, (uint32_t)i);
    import_outputs(&l->importers[0]);
    return true;
}
