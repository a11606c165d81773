// Weights: leaves of the graph whose elements are known.
#pragma once
#include "onnx/convert/imported_model.h"
#include "onnx/convert/importer.h"

// All elements of a weight, contiguous, in the form of its element type, aligned: a view into the file where possible.
// False with an error for weights without elements known to us (strings, sparse).
bool imported_weight_data(struct imported_model *m, size_t index, const void **ret_data, struct error *error);
const void *weight_elements(struct imported_model *m, struct imported_weight *w);   // the same; NULL: it has none
// imported_weight_data for as long as it is not released as often: copies are given back then, and pages of the file.
bool imported_weight_acquire(struct imported_model *m, size_t index, const void **ret_data, struct error *error);
void imported_weight_release(struct imported_model *m, size_t index, const void *data);
// The data of a weight that is none of the model's is taken as it is and must live in the model's arena.
tensor_id weight_add(struct imported_model *m, struct imported_weight weight);
struct imported_weight *weight_of(const struct imported_model *m, tensor_id tensor);   // NULL: no weight leaf
