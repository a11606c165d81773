// The part that functions making ONNX nodes share: reading the operator's attributes and types, activations, and
// leaving broadcasts to ONNX, which does them by itself.
#include "onnx/convert/export/making.h"

#include "operators/elementwise/fused_activation.h"

int64_t opset_of(const struct making *m)
{
    return m->x->model->opset;
}

const struct attribute_value *attribute_of(const struct making *m, const char *name)
{
    return &m->node->attributes[operator_find_attribute(m->node->op, name)];
}

int64_t int_of(const struct making *m, const char *name)
{
    return attribute_of(m, name)->ints[0];
}

double real_of(const struct making *m, const char *name)
{
    return real_from_bits(int_of(m, name));
}

const struct type *input_type(const struct making *m, uint32_t input)
{
    return graph_type(m->x->graph, m->inputs[input]);
}

const struct type *output_type(const struct making *m)
{
    return graph_type(m->x->graph, m->node->first_output);
}

const char *input_name(const struct making *m, uint32_t input)
{
    return name_of(m->x, m->inputs[input]);
}

const char *list_initializer(const struct making *m, uint32_t count, const int64_t *values)
{
    int64_t n = count;
    return int_initializer(m->x, 1, &n, values);
}

// ---- element types ----
// The rewrite of a valid model need not be valid, as operators got some of their types later than others.

#define NEVER INT64_MAX
#define FIRST_OF_BF16 13

enum dtype_set {
#define DTYPE(enumerator, name, bytes, onnx, class) enumerator = 1 << DTYPE_##enumerator,
#include "expressions/dtypes.def"
#undef DTYPE
    REALS = F16 | BF16 | F32 | F64,
    BYTES = I8 | U8,
    NARROW = I8 | U8 | I16 | U16,
    WIDE = I32 | U32 | I64 | U64,
    SIGNED = I8 | I16 | I32 | I64,
    UNSIGNED = U8 | U16 | U32 | U64,
    INTEGERS = SIGNED | UNSIGNED,
};

static const struct restriction {
    int dtypes;
    int64_t first_opset;
    const char *names;
} restrictions[] = {
#define RESTRICTED(dtypes, first_opset, names) {dtypes, first_opset, names},
#include "onnx/convert/export/element_types.def"
};

bool onnx_has_element_type(const char *op_type, enum dtype dtype, int64_t opset)
{
    int64_t first = dtype == DTYPE_BF16 ? FIRST_OF_BF16 : 0;
    for (size_t i = 0; i < sizeof restrictions / sizeof restrictions[0]; i++)
        if (restrictions[i].dtypes & 1 << dtype && restrictions[i].first_opset > first &&
            onnx_words_have(restrictions[i].names, op_type))
            first = restrictions[i].first_opset;
    return opset >= first;
}

bool is_written_for(const struct making *m, const char *op_type, enum dtype dtype)
{
    return onnx_has_element_type(op_type, dtype, opset_of(m)) ||
           cannot_export(m->x, "%s of %s needs another operator set", op_type, dtype_name(dtype));
}

// ---- nodes of the same form ----

// A node that reads all inputs of the operator.
struct onnx_node *emit_plain(const struct making *m, const char *op_type, const char *output)
{
    const char *names[MAX_OUTPUTS];
    uint32_t n = m->node->n_inputs < MAX_OUTPUTS ? m->node->n_inputs : MAX_OUTPUTS;
    for (uint32_t i = 0; i < n; i++)
        names[i] = input_name(m, i);
    return emit(m->x, op_type, n, names, output);
}

static void copy_attribute(const struct making *m, struct onnx_node *n, int i)
{
    const struct attribute *a = &m->node->op->attributes[i];
    const struct attribute_value *value = &m->node->attributes[i];
    switch (a->kind) {
    case ATTRIBUTE_INT:
        set_int_attribute(m->x, n, a->name, value->ints[0]);
        break;
    case ATTRIBUTE_INTS:
        set_ints_attribute(m->x, n, a->name, value->count, value->ints);
        break;
    case ATTRIBUTE_REAL:
        set_float_attribute(m->x, n, a->name, real_from_bits(value->ints[0]));
        break;
    case ATTRIBUTE_DTYPE:
        set_int_attribute(m->x, n, a->name, dtype_to_onnx((enum dtype)value->ints[0]));
        break;
    case ATTRIBUTE_CHOICE:
        if (value->ints[0] != a->standard)
            set_text_attribute(m->x, n, a->name, a->choices[value->ints[0]]);
        break;
    case ATTRIBUTE_NONE:
        break;
    }
}

void make_plain(struct making *m, const struct row *row)
{
    struct onnx_node *n = emit_plain(m, row->onnx, m->output);
    for (int i = 0; i < operator_n_attributes(m->node->op); i++)
        copy_attribute(m, n, i);
}

// ---- activations ----

static bool has_relu(const struct making *m)
{
    return int_of(m, "act") == ACTIVATION_RELU;
}

// The value that has its activation still before it.
const char *inner_output(const struct making *m)
{
    return has_relu(m) ? fresh_name(m->x, m->node->op->name) : m->output;
}

void finish_with_activation(const struct making *m, const char *inner)
{
    if (has_relu(m) && is_written_for(m, "Relu", output_type(m)->dtype))
        emit(m->x, "Relu", 1, &inner, m->output);
}

// ---- broadcasts: ONNX does them by itself ----

tensor_id behind_broadcast(const struct graph *g, tensor_id tensor)
{
    const struct node *n = graph_producer(g, tensor);
    return n->op->id == OP_BROADCAST ? g->edges.items[n->first_input] : tensor;
}

// Does numpy's rule make exactly the wanted shape of these?
static bool broadcast_to_shape(const struct graph *g, uint32_t n, const tensor_id *tensors, const struct type *wanted)
{
    if (LARGEST(int, 0, uint32_t, i, n, graph_type(g, tensors[i])->rank) != wanted->rank)
        return false;
    for (int axis = 0; axis < wanted->rank; axis++) {
        int64_t size = 1;
        for (uint32_t i = 0; i < n; i++) {
            const struct type *t = graph_type(g, tensors[i]);
            int own = axis - (wanted->rank - t->rank);
            if (own >= 0 && t->dim[own] != 1)
                size = t->dim[own];
        }
        if (size != wanted->dim[axis])
            return false;
    }
    return true;
}

// The inputs with as many broadcasts left away as the shape of the result allows. PRelu broadcasts its slope alone.
static void strip_broadcasts(const struct making *m, uint32_t n, tensor_id *ret_inputs)
{
    const struct graph *g = m->x->graph;
    for (uint32_t i = 0; i < n; i++)
        ret_inputs[i] = m->inputs[i];
    for (uint32_t i = m->node->op->id == OP_PRELU; i < n; i++) {
        ret_inputs[i] = behind_broadcast(g, m->inputs[i]);
        if (!broadcast_to_shape(g, n, ret_inputs, output_type(m)))
            ret_inputs[i] = m->inputs[i];
    }
}

struct onnx_node *emit_elementwise(const struct making *m, const char *op_type)
{
    tensor_id inputs[3];
    const char *names[3];
    uint32_t n = m->node->n_inputs;
    strip_broadcasts(m, n, inputs);
    for (uint32_t i = 0; i < n; i++)
        names[i] = name_of(m->x, inputs[i]);
    return emit(m->x, op_type, n, names, m->output);
}
