// Element types of ONNX, and the payload of a tensor wherever it is: raw_data, a typed field, or an external file.
#pragma once
#include "onnx/format/model.h"

enum onnx_type_id {   // TensorProto.DataType
    ONNX_UNDEFINED = 0,
    ONNX_FLOAT = 1,
    ONNX_UINT8 = 2,
    ONNX_INT8 = 3,
    ONNX_UINT16 = 4,
    ONNX_INT16 = 5,
    ONNX_INT32 = 6,
    ONNX_INT64 = 7,
    ONNX_STRING = 8,
    ONNX_BOOL = 9,
    ONNX_FLOAT16 = 10,
    ONNX_DOUBLE = 11,
    ONNX_UINT32 = 12,
    ONNX_UINT64 = 13,
    ONNX_COMPLEX64 = 14,
    ONNX_COMPLEX128 = 15,
    ONNX_BFLOAT16 = 16,
};

const char *onnx_type_name(int64_t data_type);   // "float16"; "type 99" is "unknown"
unsigned onnx_type_bits(int64_t data_type);      // per element; 0 for strings and unknown types

// Elements, or bytes of the packed payload (types of 2 and 4 bits share bytes). False: a dimension is negative or the
// product does not fit.
bool onnx_tensor_count(const struct onnx_tensor *t, size_t *ret_count);
bool onnx_tensor_size(const struct onnx_tensor *t, size_t *ret_bytes);
const char *onnx_tensor_label(const struct onnx_tensor *t);   // its name, for people
bool onnx_tensor_is_external(const struct onnx_tensor *t);

// Dimensions, element type and the size of the payload agree. Tensors of types unknown to us pass.
bool onnx_tensor_check(const struct onnx_tensor *t, const char *file, struct error *error);

// All elements, contiguous and little-endian as in raw_data, aligned to their size: a view into the file where it is
// already so, else a copy in `a`. Not for strings, segments or unknown types. `ret->at` is not NULL even when empty.
bool onnx_tensor_decode(const struct onnx_tensor *t, struct arena *a, const char *file, struct onnx_bytes *ret,
                        struct error *error);
