// The rows of all ONNX messages; numbers and names are those of onnx.proto.
#include "onnx/format/schema.h"

#include "onnx/format/model.h"

#define ROW(number, kind, type, member)                                                                                \
    {                                                                                                                  \
        number, ONNX_FIELD_##kind, offsetof(struct type, member), NULL, false                                          \
    }
#define TEXT(number, type, member)                                                                                     \
    {                                                                                                                  \
        number, ONNX_FIELD_STRING, offsetof(struct type, member), NULL, true                                           \
    }
#define SUB(number, kind, type, member, message)                                                                       \
    {                                                                                                                  \
        number, ONNX_FIELD_##kind, offsetof(struct type, member), &message, false                                      \
    }
#define DESCRIPTOR(type, text, rows, one_of_bits)                                                                      \
    {                                                                                                                  \
        .name = text, .size = sizeof(struct type), .fields = rows, .field_count = sizeof(rows) / sizeof((rows)[0]),    \
        .one_of = (one_of_bits)                                                                                        \
    }

static const struct onnx_field entry_rows[] = {
    ROW(1, STRING, onnx_entry, key),
    TEXT(2, onnx_entry, value),
};
static const struct onnx_descriptor entry_descriptor = DESCRIPTOR(onnx_entry, "StringStringEntryProto", entry_rows, 0);

static const struct onnx_field opset_rows[] = {
    ROW(1, STRING, onnx_opset, domain),
    ROW(2, INT, onnx_opset, version),
};
static const struct onnx_descriptor opset_descriptor = DESCRIPTOR(onnx_opset, "OperatorSetIdProto", opset_rows, 0);

static const struct onnx_field dimension_rows[] = {
    ROW(1, INT, onnx_dimension, value),
    ROW(2, STRING, onnx_dimension, symbol),
    ROW(3, STRING, onnx_dimension, denotation),
};
static const struct onnx_descriptor dimension_descriptor =
    DESCRIPTOR(onnx_dimension, "TensorShapeProto.Dimension", dimension_rows, 1u << 1 | 1u << 2);

static const struct onnx_field shape_rows[] = {
    SUB(1, MESSAGES, onnx_shape, dimensions, dimension_descriptor),
};
static const struct onnx_descriptor shape_descriptor = DESCRIPTOR(onnx_shape, "TensorShapeProto", shape_rows, 0);

static const struct onnx_field tensor_type_rows[] = {
    ROW(1, INT, onnx_tensor_type, elem_type),
    SUB(2, MESSAGE, onnx_tensor_type, shape, shape_descriptor),
};
static const struct onnx_descriptor tensor_type_descriptor =
    DESCRIPTOR(onnx_tensor_type, "TypeProto.Tensor", tensor_type_rows, 0);

static const struct onnx_field element_type_rows[] = {
    SUB(1, MESSAGE, onnx_element_type, element, onnx_type_descriptor),
};
static const struct onnx_descriptor element_type_descriptor =
    DESCRIPTOR(onnx_element_type, "TypeProto.Sequence", element_type_rows, 0);

static const struct onnx_field map_type_rows[] = {
    ROW(1, INT, onnx_map_type, key_type),
    SUB(2, MESSAGE, onnx_map_type, value, onnx_type_descriptor),
};
static const struct onnx_descriptor map_type_descriptor = DESCRIPTOR(onnx_map_type, "TypeProto.Map", map_type_rows, 0);

static const struct onnx_field opaque_type_rows[] = {
    ROW(1, STRING, onnx_opaque_type, domain),
    ROW(2, STRING, onnx_opaque_type, name),
};
static const struct onnx_descriptor opaque_type_descriptor =
    DESCRIPTOR(onnx_opaque_type, "TypeProto.Opaque", opaque_type_rows, 0);

static const struct onnx_field type_rows[] = {
    SUB(1, MESSAGE, onnx_type, tensor, tensor_type_descriptor),
    SUB(4, MESSAGE, onnx_type, sequence, element_type_descriptor),
    SUB(5, MESSAGE, onnx_type, map, map_type_descriptor),
    ROW(6, STRING, onnx_type, denotation),
    SUB(7, MESSAGE, onnx_type, opaque, opaque_type_descriptor),
    SUB(8, MESSAGE, onnx_type, sparse_tensor, tensor_type_descriptor),
    SUB(9, MESSAGE, onnx_type, optional, element_type_descriptor),
};
const struct onnx_descriptor onnx_type_descriptor =
    DESCRIPTOR(onnx_type, "TypeProto", type_rows, 1u << 1 | 1u << 4 | 1u << 5 | 1u << 7 | 1u << 8 | 1u << 9);

static const struct onnx_field value_info_rows[] = {
    ROW(1, STRING, onnx_value_info, name),
    SUB(2, MESSAGE, onnx_value_info, type, onnx_type_descriptor),
    TEXT(3, onnx_value_info, doc_string),
    SUB(4, MESSAGES, onnx_value_info, metadata, entry_descriptor),
};
const struct onnx_descriptor onnx_value_info_descriptor =
    DESCRIPTOR(onnx_value_info, "ValueInfoProto", value_info_rows, 0);

static const struct onnx_field segment_rows[] = {
    ROW(1, INT, onnx_segment, begin),
    ROW(2, INT, onnx_segment, end),
};
static const struct onnx_descriptor segment_descriptor =
    DESCRIPTOR(onnx_segment, "TensorProto.Segment", segment_rows, 0);

static const struct onnx_field tensor_rows[] = {
    ROW(1, INTS, onnx_tensor, dims),
    ROW(2, INT, onnx_tensor, data_type),
    SUB(3, MESSAGE, onnx_tensor, segment, segment_descriptor),
    ROW(4, RECORDS, onnx_tensor, float_data),
    ROW(5, RECORDS, onnx_tensor, int32_data),
    ROW(6, RECORDS, onnx_tensor, string_data),
    ROW(7, RECORDS, onnx_tensor, int64_data),
    ROW(8, STRING, onnx_tensor, name),
    ROW(9, BYTES, onnx_tensor, raw_data),
    ROW(10, RECORDS, onnx_tensor, double_data),
    ROW(11, RECORDS, onnx_tensor, uint64_data),
    TEXT(12, onnx_tensor, doc_string),
    SUB(13, MESSAGES, onnx_tensor, external_data, entry_descriptor),
    ROW(14, INT, onnx_tensor, data_location),
    SUB(16, MESSAGES, onnx_tensor, metadata, entry_descriptor),
};
const struct onnx_descriptor onnx_tensor_descriptor = DESCRIPTOR(onnx_tensor, "TensorProto", tensor_rows, 0);

static const struct onnx_field sparse_tensor_rows[] = {
    SUB(1, MESSAGE, onnx_sparse_tensor, values, onnx_tensor_descriptor),
    SUB(2, MESSAGE, onnx_sparse_tensor, indices, onnx_tensor_descriptor),
    ROW(3, INTS, onnx_sparse_tensor, dims),
};
const struct onnx_descriptor onnx_sparse_tensor_descriptor =
    DESCRIPTOR(onnx_sparse_tensor, "SparseTensorProto", sparse_tensor_rows, 0);

static const struct onnx_field attribute_rows[] = {
    ROW(1, STRING, onnx_attribute, name),
    ROW(2, FLOAT, onnx_attribute, f),
    ROW(3, INT, onnx_attribute, i),
    ROW(4, BYTES, onnx_attribute, s),
    SUB(5, MESSAGE, onnx_attribute, t, onnx_tensor_descriptor),
    SUB(6, MESSAGE, onnx_attribute, g, onnx_graph_descriptor),
    ROW(7, FLOATS, onnx_attribute, floats),
    ROW(8, INTS, onnx_attribute, ints),
    ROW(9, BLOBS, onnx_attribute, strings),
    SUB(10, MESSAGES, onnx_attribute, tensors, onnx_tensor_descriptor),
    SUB(11, MESSAGES, onnx_attribute, graphs, onnx_graph_descriptor),
    TEXT(13, onnx_attribute, doc_string),
    SUB(14, MESSAGE, onnx_attribute, tp, onnx_type_descriptor),
    SUB(15, MESSAGES, onnx_attribute, type_protos, onnx_type_descriptor),
    ROW(20, INT, onnx_attribute, type),
    ROW(21, STRING, onnx_attribute, ref_attr_name),
    SUB(22, MESSAGE, onnx_attribute, sparse_tensor, onnx_sparse_tensor_descriptor),
    SUB(23, MESSAGES, onnx_attribute, sparse_tensors, onnx_sparse_tensor_descriptor),
};
const struct onnx_descriptor onnx_attribute_descriptor =
    DESCRIPTOR(onnx_attribute, "AttributeProto", attribute_rows, 0);

static const struct onnx_field node_rows[] = {
    ROW(1, STRINGS, onnx_node, inputs),
    ROW(2, STRINGS, onnx_node, outputs),
    ROW(3, STRING, onnx_node, name),
    ROW(4, STRING, onnx_node, op_type),
    SUB(5, MESSAGES, onnx_node, attributes, onnx_attribute_descriptor),
    TEXT(6, onnx_node, doc_string),
    ROW(7, STRING, onnx_node, domain),
    ROW(8, STRING, onnx_node, overload),
    SUB(9, MESSAGES, onnx_node, metadata, entry_descriptor),
};
const struct onnx_descriptor onnx_node_descriptor = DESCRIPTOR(onnx_node, "NodeProto", node_rows, 0);

static const struct onnx_field annotation_rows[] = {
    ROW(1, STRING, onnx_annotation, tensor_name),
    SUB(2, MESSAGES, onnx_annotation, parameters, entry_descriptor),
};
static const struct onnx_descriptor annotation_descriptor =
    DESCRIPTOR(onnx_annotation, "TensorAnnotation", annotation_rows, 0);

static const struct onnx_field graph_rows[] = {
    SUB(1, MESSAGES, onnx_graph, nodes, onnx_node_descriptor),
    ROW(2, STRING, onnx_graph, name),
    SUB(5, MESSAGES, onnx_graph, initializers, onnx_tensor_descriptor),
    TEXT(10, onnx_graph, doc_string),
    SUB(11, MESSAGES, onnx_graph, inputs, onnx_value_info_descriptor),
    SUB(12, MESSAGES, onnx_graph, outputs, onnx_value_info_descriptor),
    SUB(13, MESSAGES, onnx_graph, value_infos, onnx_value_info_descriptor),
    SUB(14, MESSAGES, onnx_graph, annotations, annotation_descriptor),
    SUB(15, MESSAGES, onnx_graph, sparse_initializers, onnx_sparse_tensor_descriptor),
    SUB(16, MESSAGES, onnx_graph, metadata, entry_descriptor),
};
const struct onnx_descriptor onnx_graph_descriptor = DESCRIPTOR(onnx_graph, "GraphProto", graph_rows, 0);

static const struct onnx_field training_info_rows[] = {
    SUB(1, MESSAGE, onnx_training_info, initialization, onnx_graph_descriptor),
    SUB(2, MESSAGE, onnx_training_info, algorithm, onnx_graph_descriptor),
    SUB(3, MESSAGES, onnx_training_info, initialization_bindings, entry_descriptor),
    SUB(4, MESSAGES, onnx_training_info, update_bindings, entry_descriptor),
};
static const struct onnx_descriptor training_info_descriptor =
    DESCRIPTOR(onnx_training_info, "TrainingInfoProto", training_info_rows, 0);

static const struct onnx_field function_rows[] = {
    ROW(1, STRING, onnx_function, name),
    ROW(4, STRINGS, onnx_function, inputs),
    ROW(5, STRINGS, onnx_function, outputs),
    ROW(6, STRINGS, onnx_function, attributes),
    SUB(7, MESSAGES, onnx_function, nodes, onnx_node_descriptor),
    TEXT(8, onnx_function, doc_string),
    SUB(9, MESSAGES, onnx_function, opsets, opset_descriptor),
    ROW(10, STRING, onnx_function, domain),
    SUB(11, MESSAGES, onnx_function, attribute_protos, onnx_attribute_descriptor),
    SUB(12, MESSAGES, onnx_function, value_infos, onnx_value_info_descriptor),
    ROW(13, STRING, onnx_function, overload),
    SUB(14, MESSAGES, onnx_function, metadata, entry_descriptor),
};
const struct onnx_descriptor onnx_function_descriptor = DESCRIPTOR(onnx_function, "FunctionProto", function_rows, 0);

static const struct onnx_field model_rows[] = {
    ROW(1, INT, onnx_model, ir_version),
    ROW(2, STRING, onnx_model, producer_name),
    ROW(3, STRING, onnx_model, producer_version),
    ROW(4, STRING, onnx_model, domain),
    ROW(5, INT, onnx_model, model_version),
    TEXT(6, onnx_model, doc_string),
    SUB(7, MESSAGE, onnx_model, graph, onnx_graph_descriptor),
    SUB(8, MESSAGES, onnx_model, opsets, opset_descriptor),
    SUB(14, MESSAGES, onnx_model, metadata, entry_descriptor),
    SUB(20, MESSAGES, onnx_model, training_infos, training_info_descriptor),
    SUB(25, MESSAGES, onnx_model, functions, onnx_function_descriptor),
};
const struct onnx_descriptor onnx_model_descriptor = DESCRIPTOR(onnx_model, "ModelProto", model_rows, 0);

const struct onnx_field *onnx_find_field(const struct onnx_descriptor *d, uint32_t number)
{
    for (size_t i = 0; i < d->field_count; i++)
        if (d->fields[i].number == number)
            return &d->fields[i];
    return NULL;
}
