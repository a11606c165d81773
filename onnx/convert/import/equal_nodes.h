// Nodes that are kept, of operators that are understood (quantization, recurrences, what depends on sizes), are
// functions of what they read: of two that do the same to the same tensors one is enough.
#pragma once
#include "onnx/convert/importer.h"

// The opaque that does the same to the same tensors, as its operator is known to be a function; TABLE_NONE: none does.
uint32_t import_find_equal(struct importer *im, const struct conversion *c, const struct type *types);
void import_note_kept(struct importer *im, const struct conversion *c);   // the last opaque, for those that follow
