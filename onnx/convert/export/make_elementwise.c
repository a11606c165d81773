// Element-wise operators, reductions, softmax and normalizations as ONNX nodes.
#include "onnx/convert/export/making.h"

void make_elementwise(struct making *m, const struct row *row)
{
    emit_elementwise(m, row->onnx);
}

// Is it the square of the tensor, and read by nobody else?
static bool is_own_square(const struct making *m, tensor_id square, tensor_id of)
{
    const struct graph *g = m->x->graph;
    const struct node *n = graph_producer(g, square);
    const tensor_id *inputs = g->edges.items + n->first_input;
    return n->op->id == OP_EWMUL && m->x->wanted.uses[square] == 1 && inputs[0] == of && inputs[1] == of;
}

// A cube is a power again, as import takes it apart: runtimes know the tanh form of gelu by that.
void make_product(struct making *m, const struct row *row)
{
    enum dtype dtype = output_type(m)->dtype;
    uint32_t i = FIRST_OF(uint32_t, k, 2, is_own_square(m, m->inputs[1 - k], m->inputs[k]));
    if (i < 2 && (dtype == DTYPE_F32 || dtype == DTYPE_F64))
        emit(m->x, "Pow", 2, (const char *[]){input_name(m, i), real_initializer(m->x, dtype, 3)}, m->output);
    else
        make_elementwise(m, row);
}

// Runtimes do this in floating point, which does not hold large integers of 64 bits.
void make_fmod(struct making *m, const struct row *row)
{
    enum dtype dtype = output_type(m)->dtype;
    if (dtype == DTYPE_I64 || dtype == DTYPE_U64)
        cannot_export(m->x, "a remainder of 64-bit integers has no exact form in ONNX");
    set_int_attribute(m->x, emit_elementwise(m, row->onnx), "fmod", 1);
}

// ---- element-wise formulas ----

void make_silu(struct making *m, const struct row *row)
{
    const char *x = input_name(m, 0), *gate = fresh_name(m->x, "sigmoid");
    emit(m->x, "Sigmoid", 1, &x, gate);
    emit(m->x, "Mul", 2, (const char *[]){x, gate}, m->output);
}

// A bound that is not there is the largest finite number.
void make_clip(struct making *m, const struct row *row)
{
    double low = real_of(m, "min"), high = real_of(m, "max");
    enum dtype dtype = output_type(m)->dtype;
    double largest = dtype_largest(opset_of(m) < 11 ? DTYPE_F32 : dtype);
    const char *names[3] = {input_name(m, 0), NULL, NULL};
    if (opset_of(m) < 11) {
        struct onnx_node *n = emit(m->x, row->onnx, 1, names, m->output);
        if (high != largest)
            set_float_attribute(m->x, n, "max", high);
        if (low != -largest)
            set_float_attribute(m->x, n, "min", low);
        return;
    }
    names[1] = low == -largest ? NULL : real_initializer(m->x, dtype, low);
    names[2] = high == largest ? NULL : real_initializer(m->x, dtype, high);
    emit(m->x, row->onnx, names[2] ? 3 : names[1] ? 2 : 1, names, m->output);
}

// ---- reductions, softmax and normalizations ----

void make_reduce(struct making *m, const struct row *row)
{
    const struct attribute_value *axes = attribute_of(m, "axes");
    const char *names[2] = {input_name(m, 0), NULL};
    bool is_input = opset_of(m) >= (m->node->op->id == OP_REDUCESUM ? 13 : 18);
    if (axes->count == 0) {
        emit(m->x, "Identity", 1, names, m->output);
        return;
    }
    if (is_input)
        names[1] = list_initializer(m, axes->count, axes->ints);
    struct onnx_node *n = emit(m->x, row->onnx, is_input ? 2 : 1, names, m->output);
    if (!is_input)
        set_ints_attribute(m->x, n, "axes", axes->count, axes->ints);
    set_int_attribute(m->x, n, "keepdims", int_of(m, "keepdims"));
}

void make_arg_reduce(struct making *m, const struct row *row)
{
    struct onnx_node *n = emit_plain(m, row->onnx, m->output);
    set_int_attribute(m->x, n, "axis", int_of(m, "axis"));
    set_int_attribute(m->x, n, "keepdims", int_of(m, "keepdims"));
    if (int_of(m, "ties") && opset_of(m) < 12)
        cannot_export(m->x, "%s of the last index needs operator set 12", row->onnx);
    if (int_of(m, "ties"))
        set_int_attribute(m->x, n, "select_last_index", 1);
}

void make_cumulative_sum(struct making *m, const struct row *row)
{
    int64_t axis = int_of(m, "axis");
    const char *names[2] = {input_name(m, 0), int_initializer(m->x, 0, NULL, &axis)};
    struct onnx_node *n = emit(m->x, row->onnx, 2, names, m->output);
    set_int_attribute(m->x, n, "exclusive", int_of(m, "exclusive"));
    set_int_attribute(m->x, n, "reverse", int_of(m, "reverse"));
}

// Softmax before operator set 13 takes all axes from its axis on for one.
void make_softmax(struct making *m, const struct row *row)
{
    int64_t axis = int_of(m, "axis"), rank = output_type(m)->rank, perm[MAX_RANK];
    const char *x = input_name(m, 0);
    if (opset_of(m) >= 13 || axis == rank - 1) {
        set_int_attribute(m->x, emit(m->x, row->onnx, 1, &x, m->output), "axis", axis);
        return;
    }
    for (int64_t i = 0; i < rank; i++)
        perm[i] = i;
    perm[axis] = rank - 1;
    perm[rank - 1] = axis;
    const char *there = fresh_name(m->x, "transpose"), *result = fresh_name(m->x, "softmax");
    set_ints_attribute(m->x, emit(m->x, "Transpose", 1, &x, there), "perm", (uint32_t)rank, perm);
    set_int_attribute(m->x, emit(m->x, row->onnx, 1, &there, result), "axis", rank - 1);
    set_ints_attribute(m->x, emit(m->x, "Transpose", 1, &result, m->output), "perm", (uint32_t)rank, perm);
}

// Up to operator set 20 scale and bias are per group.
void make_group_normalization(struct making *m, const struct row *row)
{
    if (opset_of(m) < 21)
        cannot_export(m->x, "the operator %s needs operator set 21", m->node->op->name);
    struct onnx_node *n = emit_plain(m, row->onnx, m->output);
    set_float_attribute(m->x, n, "epsilon", real_of(m, "epsilon"));
    set_int_attribute(m->x, n, "num_groups", int_of(m, "groups"));
}
