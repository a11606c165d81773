// Making ONNX nodes, attributes and initializers.
#pragma once
#include "onnx/convert/export/exporter.h"

const struct onnx_graph *source_of(const struct exporter *x);
const struct onnx_node *source_node(const struct exporter *x, uint32_t index);
// An original node, with lists of inputs and outputs of its own, added to the new nodes.
struct onnx_node *copy_node(struct exporter *x, uint32_t index);
void set_name(struct onnx_string *s, const char *name);
// Adds one to a list that began empty.
void add_message(struct exporter *x, struct onnx_list *list, const void *message);
struct onnx_node *emit(struct exporter *x, const char *op_type, uint32_t n_inputs, const char *const *inputs,
                       const char *output);
void add_output(struct exporter *x, struct onnx_node *n, const char *name);
void set_int_attribute(struct exporter *x, struct onnx_node *n, const char *name, int64_t value);
void set_float_attribute(struct exporter *x, struct onnx_node *n, const char *name, double value);
void set_text_attribute(struct exporter *x, struct onnx_node *n, const char *name, const char *value);
void set_ints_attribute(struct exporter *x, struct onnx_node *n, const char *name, uint32_t count,
                        const int64_t *values);
// New initializers; give the name.
const char *int_initializer(struct exporter *x, int rank, const int64_t *dim, const int64_t *values);
const char *real_initializer(struct exporter *x, enum dtype dtype, double value);   // of rank 0
const char *data_initializer(struct exporter *x, const struct type *type, const void *data, const char *name);
// The elements of a constant tensor under another shape, as an initializer; NULL (failed) when it cannot be computed.
const char *computed_initializer(struct exporter *x, tensor_id tensor, int rank, const int64_t *dim, const char *name);
const char *cannot_export(struct exporter *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Names of the nodes that were made, each once, and the rules that made them as metadata.
void name_made_nodes(struct exporter *x);
