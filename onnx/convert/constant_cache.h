// Constants that were computed when a model was imported at another binding of its symbols. Private to onnx.
#pragma once
#include "onnx/convert/importer.h"

struct constant_cache *constant_cache_new(void);
void constant_cache_free(struct constant_cache *k);
// A look into `options->computed`; nothing is known without one, nor of what takes few operations. An output of the
// node that `c` converts, whose inputs are weights: NULL, or the elements, which live as long as the cache.
const void *constant_cache_find(const struct conversion *c, uint32_t output, double operations);
// The arena in which to compute an output that is to be noted then; NULL: it is not to be.
struct arena *constant_cache_arena(const struct conversion *c, uint32_t output, double operations);
void constant_cache_note(const struct conversion *c, uint32_t output, const void *data);
// Operations that computing constants took, whether they are kept or not, at all bindings.
void constant_cache_count(const struct conversion *c, double operations);
double constant_cache_operations(const struct constant_cache *k);
