// Sizes of symbolic dimensions: --shape options bind some, the rest stay symbols that are bound at each probe.
#pragma once
#include "onnx/convert/importer.h"

// The types of the model's inputs, with --shape options applied; fills im->symbols.
bool bind_shapes(struct importer *im, struct type *ret_types);
// The dimensions of inputs that these types leave open, each symbol once; false: there are too many for struct sizes.
bool find_symbols(struct importer *im, const struct type *types, struct imported_model *ret_model);
// An axis of an input that is of another size in another binding of the symbols.
bool axis_varies(const struct conversion *c, tensor_id tensor, int axis);
