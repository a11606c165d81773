// Tensors as .npy files of NumPy: what taso-run --save writes and --inputs reads.
#pragma once
#include "expressions/value.h"
#include "onnx/convert/imported_model.h"

bool npy_write(const char *path, const struct tensor_value *value, struct error *error);   // bf16 as 16-bit integers
// The elements of a file that has exactly this type, in `arena`; NULL: error. `path` and `what`, the tensor's name, are
// for messages.
void *npy_parse(const char *path, const char *what, const struct type *type, const void *bytes, size_t size,
                struct arena *arena, struct error *error);
// The values of all inputs, from FOLDER/NAME.npy ('/' in names as '_') or else FOLDER/input_N.npy, N their places from
// 0. They are given by the indices of the inputs' leaves.
bool npy_read_inputs(const char *folder, const struct graph *g, const struct imported_value *inputs, size_t n,
                     struct tensor_value *ret_values, struct arena *arena, struct error *error);
// The rank and sizes alone of what that reads for one input. False: nothing tells them.
bool npy_find_shape(const char *folder, const char *name, size_t place, struct type *ret_shape, struct arena *arena);
// "NAME=3,8" for each input whose size the graph does not tell, and its array does.
const char **npy_list_shapes(const char *folder, const struct graph *g, const struct imported_value *inputs, size_t n,
                             struct arena *arena, size_t *ret_count);
