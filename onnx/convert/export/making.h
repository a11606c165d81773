// Making ONNX nodes of one node of the graph. Private to onnx.
#pragma once
#include "onnx/convert/export/exporter.h"

struct making {
    struct exporter *x;
    node_id id;
    const struct node *node;
    const tensor_id *inputs;
    const char *output;   // name of the first output, when there is one only
};
struct row {
    const char *onnx;
    int64_t first_opset;
    void (*make)(struct making *m, const struct row *row);
};

int64_t opset_of(const struct making *m);
const struct attribute_value *attribute_of(const struct making *m, const char *name);
int64_t int_of(const struct making *m, const char *name);
double real_of(const struct making *m, const char *name);
const struct type *input_type(const struct making *m, uint32_t input);
const struct type *output_type(const struct making *m);
const char *input_name(const struct making *m, uint32_t input);
const char *list_initializer(const struct making *m, uint32_t count, const int64_t *values);

// May the first input of this operator, which the operator set has, be of this type there?
bool onnx_has_element_type(const char *op_type, enum dtype dtype, int64_t opset);
// Has the model's operator set the operator for this type of its first input? Otherwise cannot_export.
bool is_written_for(const struct making *m, const char *op_type, enum dtype dtype);
// A node that reads all inputs of the operator; one that reads them with broadcasts left away where ONNX makes them.
struct onnx_node *emit_plain(const struct making *m, const char *op_type, const char *output);
struct onnx_node *emit_elementwise(const struct making *m, const char *op_type);
tensor_id behind_broadcast(const struct graph *g, tensor_id tensor);   // itself when it is no broadcast

// Operators with an activation: where the result goes before it, and the node that applies it.
const char *inner_output(const struct making *m);
void finish_with_activation(const struct making *m, const char *inner);

// The functions make_... that operators.def names.
#define ONNX_OPERATOR(name, first, last, inputs, import, op, export)                                                   \
    void make_##export(struct making * m, const struct row *row);
#define EXPORTED_OPERATOR(op, name, first, export) void make_##export(struct making * m, const struct row *row);
#include "onnx/convert/operators/operators.def"
