// Tensors of test data, from files of TensorProto.
#include "onnx/convert/values.h"

#include "core/text/error.h"
#include "onnx/convert/importer.h"
#include "onnx/format/tensor.h"

static bool decode_value(struct arena *a, const char *path, const struct file_map *map, struct tensor_value *ret_value,
                         struct error *error)
{
    void *message;
    struct onnx_bytes bytes;
    if (!onnx_message_parse(a, &onnx_tensor_descriptor, path, map->bytes, map->size, &message, error))
        return false;
    const struct onnx_tensor *t = message;
    struct type type = type_of_tensor(t);
    if (onnx_tensor_is_external(t) || !type_is_known(&type) || dtype_size(type.dtype) == 0)
        return error_set(error, path, 0, 0, "is no tensor of numbers");
    if (!onnx_tensor_decode(t, a, path, &bytes, error))
        return false;
    *ret_value = (struct tensor_value){type, arena_copy(a, bytes.at, bytes.size + (bytes.size == 0), 64)};
    return true;
}

bool onnx_value_read(struct arena *a, const char *path, struct tensor_value *ret_value, struct error *error)
{
    struct file_map map;
    if (!file_map_open(&map, path, error))
        return false;
    bool is_read = decode_value(a, path, &map, ret_value, error);
    file_map_close(&map);
    return is_read;
}
