// The parts of a node that converters need: its inputs, attributes, and the numbers of constants.
#include "onnx/convert/read_node.h"

#include "expressions/elements.h"
#include "onnx/convert/importer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool cannot(struct conversion *c, const char *format, ...)
{
    va_list arguments;
    if (c->reason[0])
        return false;
    va_start(arguments, format);
    vsnprintf(c->reason, sizeof c->reason, format, arguments);
    va_end(arguments);
    return false;
}

bool give(struct conversion *c, uint32_t output, tensor_id tensor)
{
    if (tensor == NO_TENSOR)
        return cannot(c, "the result has no type");
    if (output >= c->n_outputs)
        return cannot(c, "the node has too few outputs");
    c->outputs[output] = tensor;
    return true;
}

static bool name_is_read_once(const struct conversion *c, const struct onnx_string *name)
{
    const struct named_value *value = name_find(c->importer, name);
    return value && value->uses - value->uses_of_sizes == 1;
}

bool tensor_is_read_once(const struct conversion *c, tensor_id tensor)
{
    const struct imported_origin *origin =
        imported_model_find_origin(c->model, c->model->graph.tensors.items[tensor].value);
    return !origin || name_is_read_once(c, &(struct onnx_string){origin->name, strlen(origin->name)});
}

bool input_is_read_once(const struct conversion *c, uint32_t input)
{
    return name_is_read_once(c, &c->node->inputs.items[input]) && tensor_is_read_once(c, input_of(c, input));
}

tensor_id input_of(const struct conversion *c, uint32_t input)
{
    return input < c->n_inputs ? c->inputs[input] : NO_TENSOR;
}

bool wants_output(const struct conversion *c, uint32_t output)
{
    const struct named_value *value =
        output < c->n_outputs ? name_find(c->importer, &c->node->outputs.items[output]) : NULL;
    return value && value->uses > 0;
}

const struct type *type_of(const struct conversion *c, tensor_id tensor)
{
    static const struct type none;
    return tensor == NO_TENSOR ? &none : graph_type(&c->model->graph, tensor);
}

bool has_known_inputs(struct conversion *c, uint32_t n)
{
    for (uint32_t i = 0; i < n || i < c->n_inputs; i++) {
        if (input_of(c, i) == NO_TENSOR && i >= n)
            continue;
        if (input_of(c, i) == NO_TENSOR)
            return cannot(c, "input %u is missing", i + 1);
        const struct type *t = type_of(c, c->inputs[i]);
        if (!type_is_known(t))
            return cannot(c, "the type of input %u is not known", i + 1);
        if (!dtype_has_numbers(t->dtype))
            return cannot(c, "input %u has elements of type %s", i + 1, dtype_name(t->dtype));
    }
    return true;
}

// ---- attributes ----

int64_t int_attribute(const struct conversion *c, const char *name, int64_t standard)
{
    const struct onnx_attribute *a = onnx_node_find(c->node, name);
    return a ? a->i : standard;
}

double float_attribute(const struct conversion *c, const char *name, double standard)
{
    const struct onnx_attribute *a = onnx_node_find(c->node, name);
    return a ? (double)a->f : standard;
}

bool has_attribute(const struct conversion *c, const char *name)
{
    return onnx_node_find(c->node, name) != NULL;
}

struct integers ints_attribute(const struct conversion *c, const char *name)
{
    const struct onnx_attribute *a = onnx_node_find(c->node, name);
    return a ? (struct integers){a->ints.items, (uint32_t)a->ints.count} : (struct integers){0};
}

bool list_within(struct conversion *c, const char *name, int n, int64_t standard, int64_t low, int64_t high,
                 int64_t *ret_items)
{
    struct integers list = ints_attribute(c, name);
    if (list.count != 0 && list.count != (uint32_t)n)
        return cannot(c, "%s has %u entries", name, list.count);
    for (int i = 0; i < n; i++) {
        ret_items[i] = list.count ? list.items[i] : standard;
        if (ret_items[i] < low || ret_items[i] > high)
            return cannot(c, "%s is out of range", name);
    }
    return true;
}

bool text_attribute_is(const struct conversion *c, const char *name, const char *text, const char *standard)
{
    const struct onnx_attribute *a = onnx_node_find(c->node, name);
    return a ? onnx_bytes_are(&a->s, text) : strcmp(text, standard) == 0;
}

// ---- constants ----

bool is_weight(const struct conversion *c, tensor_id tensor)
{
    return tensor != NO_TENSOR && weight_of(c->model, tensor) != NULL;
}

bool is_constant(struct conversion *c, tensor_id tensor)
{
    const struct graph *g = &c->model->graph;
    struct importer *im = c->importer;
    if (tensor == NO_TENSOR)
        return false;
    node_id wanted = g->tensors.items[tensor].producer;
    for (node_id n = (node_id)im->folding.is_constant.count; n <= wanted; n++) {
        const struct node *node = &g->nodes.items[n];
        bool is_it = node->op->id == OP_WEIGHT || node->op->define;
        for (uint32_t i = 0; i < node->n_inputs; i++)
            is_it &= im->folding.is_constant.items[g->tensors.items[graph_inputs(g, n)[i]].producer];
        vec_push(&im->folding.is_constant, is_it);
    }
    return im->folding.is_constant.items[wanted];
}

static bool constant_elements(struct conversion *c, tensor_id tensor, size_t limit, const void **ret_data,
                              const struct type **ret_type)
{
    if (!is_weight(c, tensor))
        return cannot(c, "an input that sets sizes or parameters is not constant");
    *ret_type = type_of(c, tensor);
    return (type_is_known(*ret_type) && (size_t)type_elements(*ret_type) <= limit &&
            (*ret_data = weight_elements(c->model, weight_of(c->model, tensor)))) ||
           cannot(c, "a constant input cannot be read");
}

bool constant_ints(struct conversion *c, tensor_id tensor, size_t limit, struct integers *ret_list)
{
    const void *data;
    const struct type *type;
    if (!constant_elements(c, tensor, limit, &data, &type))
        return false;
    size_t n = (size_t)type_elements(type);
    int64_t *items = arena_array(&c->importer->scratch, int64_t, n + 1);
    elements_to_integers(type->dtype, data, n, items);
    *ret_list = (struct integers){items, (uint32_t)n};
    return true;
}

bool constant_reals(struct conversion *c, tensor_id tensor, size_t limit, struct reals *ret_list)
{
    const void *data;
    const struct type *type;
    if (!constant_elements(c, tensor, limit, &data, &type))
        return false;
    size_t n = (size_t)type_elements(type);
    if (!elements_fit_reals(type->dtype, data, n))
        return cannot(c, "a constant integer has more digits than are computed with");
    double *items = arena_array(&c->importer->scratch, double, n + 1);
    elements_to_reals(type->dtype, data, n, items);
    *ret_list = (struct reals){items, (uint32_t)n};
    return true;
}

bool constant_int(struct conversion *c, tensor_id tensor, int64_t *ret_number)
{
    struct integers list;
    if (!constant_ints(c, tensor, 1, &list) || list.count != 1)
        return cannot(c, "an input is no single number");
    *ret_number = list.items[0];
    return true;
}

bool constant_real(struct conversion *c, tensor_id tensor, double *ret_number)
{
    struct reals list;
    if (!constant_reals(c, tensor, 1, &list) || list.count != 1)
        return cannot(c, "an input is no single number");
    *ret_number = list.items[0];
    return true;
}

bool is_filled_with(struct conversion *c, tensor_id tensor, double value)
{
    double first;
    const void *data;
    const struct type *type;
    const struct node *n = tensor == NO_TENSOR ? NULL : graph_producer(&c->model->graph, tensor);
    if (n && n->op->id == OP_BROADCAST)
        tensor = c->model->graph.edges.items[n->first_input];
    if (!is_weight(c, tensor) || !dtype_has_numbers(type_of(c, tensor)->dtype) ||
        !constant_elements(c, tensor, MAX_ELEMENTS, &data, &type) || type_elements(type) < 1)
        return false;
    size_t bytes = type_bytes(type), size = bytes / (size_t)type_elements(type);
    elements_to_reals(type->dtype, data, 1, &first);
    return first == value && memcmp(data, (const char *)data + size, bytes - size) == 0;
}

bool list_of(struct conversion *c, const char *attribute, uint32_t input, struct integers *ret_list)
{
    *ret_list = ints_attribute(c, attribute);
    return ret_list->items || input_of(c, input) == NO_TENSOR ||
           constant_ints(c, input_of(c, input), MAX_OUTPUTS, ret_list);
}

bool read_slice_lists(struct conversion *c, struct slice_lists *ret_lists)
{
    struct slice_lists l;
    if (!list_of(c, "starts", 1, &l.starts) || !list_of(c, "ends", 2, &l.ends) || !list_of(c, "axes", 3, &l.axes) ||
        !list_of(c, "steps", 4, &l.steps))
        return false;
    *ret_lists = l;
    return (l.starts.items && l.ends.count == l.starts.count && (!l.axes.items || l.axes.count == l.starts.count) &&
            (!l.steps.items || l.steps.count == l.starts.count)) ||
           cannot(c, "its lists differ in length");
}

// ---- shapes ----

bool common_shape(struct conversion *c, const struct type *a, const struct type *b, struct type *ret_shape)
{
    int rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t dim[MAX_RANK];   // the result may be one of the two
    for (int i = 0; i < rank; i++) {
        int64_t x = i < rank - a->rank ? 1 : a->dim[i - (rank - a->rank)];
        int64_t y = i < rank - b->rank ? 1 : b->dim[i - (rank - b->rank)];
        c->is_unfit |= x != y && x != 1 && y != 1;
        if (x != y && x != 1 && y != 1)
            return cannot(c, "the shapes cannot be broadcast to one");
        dim[i] = x == 1 ? y : x;
    }
    *ret_shape = type_make(a->dtype, rank, dim);
    return true;
}

int64_t entries_between(const struct type *t, int from, int to)
{
    return PRODUCT_ALL(int64_t, int, i, to - from, t->dim[from + i]);
}

bool normalize_axis(struct conversion *c, int64_t axis, int rank, int *ret_axis)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return cannot(c, "there is no axis %lld", (long long)axis);
    *ret_axis = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

bool set_of_axes(struct conversion *c, struct integers axes, int rank, uint32_t *ret_set)
{
    int axis;
    *ret_set = 0;
    return ALL(uint32_t, i, axes.count,
               normalize_axis(c, axes.items[i], rank, &axis) && (*ret_set |= UINT32_C(1) << axis));
}

bool axes_of_list(struct conversion *c, int rank, uint32_t n, int *ret_axes)
{
    uint32_t seen = 0;
    struct integers named = ints_attribute(c, "axes");
    if (n != (has_attribute(c, "axes") ? named.count : (uint32_t)rank))
        return cannot(c, "a list has not as many entries as there are axes");
    for (uint32_t i = 0; i < n; i++) {
        if (!normalize_axis(c, named.items ? named.items[i] : (int64_t)i, rank, &ret_axes[i]))
            return false;
        if (seen >> ret_axes[i] & 1)
            return cannot(c, "an axis is named twice");
        seen |= UINT32_C(1) << ret_axes[i];
    }
    return true;
}

bool read_axes(struct conversion *c, int rank, struct axes *ret_axes)
{
    struct integers list;
    uint32_t reduced;
    *ret_axes = (struct axes){0};
    if (!list_of(c, "axes", 1, &list))
        return false;
    ret_axes->is_nothing = list.count == 0 && int_attribute(c, "noop_with_empty_axes", 0);
    if (!set_of_axes(c, list, rank, &reduced))
        return false;
    for (int i = 0; i < rank; i++)
        if (list.count == 0 || reduced >> i & 1)
            ret_axes->axis[ret_axes->count++] = i;
    return true;
}

int64_t scaled_size(int64_t size, double scale)
{
    double exact = floor((double)size * scale);
    bool is_clear = scale > 0 && exact < (double)MAX_ELEMENTS && exact == (double)floorf((float)size * (float)scale);
    return is_clear ? (int64_t)exact : -1;
}
