// Types that ONNX states, as types of the graph.
#pragma once
#include "onnx/convert/importer.h"

// The type that ONNX states: bound symbols have their sizes, unknown parts are unknown.
struct type type_from_onnx(const struct importer *im, const struct onnx_type *t);
struct type type_of_tensor(const struct onnx_tensor *t);
struct type type_within_limits(struct type t);   // of unknown rank when it has more than MAX_ELEMENTS
int64_t dimension_of(const struct importer *im, const struct onnx_dimension *d);       // -1: not known
int64_t size_of_symbol(const struct importer *im, const struct onnx_string *symbol);   // that was bound; -1: it was not
