// Names of values and weights of the new model.
#pragma once
#include "onnx/convert/export/exporter.h"

// Names in use, each once.
bool name_set_has(const struct key_set *s, const char *name);
bool name_set_add(struct key_set *s, const char *name);   // false: it is there already
void collect_original_names(struct exporter *x);
const char *fresh_name(struct exporter *x, const char *stem);   // the stem outlives the exporter
// The name of a tensor or weight; asking for it means that it must be written.
const char *name_of(struct exporter *x, tensor_id tensor);
const char *name_of_weight(struct exporter *x, size_t index);
