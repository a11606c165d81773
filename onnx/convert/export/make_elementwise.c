// Element-wise operators as ONNX nodes.
#include "onnx/convert/export/making.h"

bool make_elementwise(struct making *m, const struct row *row)
{
    emit_elementwise(m, row->onnx);
    return true;
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
bool make_product(struct making *m, const struct row *row)
{
    enum dtype dtype = output_type(m)->dtype;
    for (int i = 0; i < 2 && (dtype == DTYPE_F32 || dtype == DTYPE_F64); i++)
        if (is_own_square(m, m->inputs[1 - i], m->inputs[i])) {
            emit(m->x, "Pow", 2, (const char *[]){input_name(m, i), real_initializer(m->x, dtype, 3)}, m->output);
            return true;
        }
    return make_elementwise(m, row);
}

// Runtimes do this in floating point, which does not hold large integers of 64 bits.
bool make_fmod(struct making *m, const struct row *row)
{
    enum dtype dtype = output_type(m)->dtype;
    if (dtype == DTYPE_I64 || dtype == DTYPE_U64)
        return cannot_export(m->x, "a remainder of 64-bit integers has no exact form in ONNX");
    set_int_attribute(m->x, emit_elementwise(m, row->onnx), "fmod", 1);
    return true;
}

// ---- element-wise formulas ----

bool make_silu(struct making *m, const struct row *row)
{
    const char *x = input_name(m, 0), *gate = fresh_name(m->x, "sigmoid");
    emit(m->x, "Sigmoid", 1, &x, gate);
    emit(m->x, "Mul", 2, (const char *[]){x, gate}, m->output);
    return true;
}

// A bound that is not there is the largest finite number.
bool make_clip(struct making *m, const struct row *row)
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
        return true;
    }
    names[1] = low == -largest ? NULL : real_initializer(m->x, dtype, low);
    names[2] = high == largest ? NULL : real_initializer(m->x, dtype, high);
    emit(m->x, row->onnx, names[2] ? 3 : names[1] ? 2 : 1, names, m->output);
    return true;
}
