// What stands before and behind a sum of channels becomes one sum.
#include "onnx/convert/operators/normalized_bias.h"

#include "core/memory/arena.h"
#include "onnx/convert/importer.h"
#include "onnx/convert/read_node.h"

const double *normalized_bias(struct conversion *c, tensor_id bias, uint32_t n_channels, const double *factors,
                              const double *offsets)
{
    double *sum = arena_array(&c->importer->scratch, double, n_channels + 1);
    const double *items = NULL;
    uint32_t count = n_channels;
    if (bias != NO_TENSOR &&
        (!is_weight(c, bias) || !constant_reals(c, bias, SIZE_MAX, &items, &count) || count != n_channels))
        return NULL;
    for (uint32_t i = 0; i < n_channels; i++)
        sum[i] = (items ? items[i] * (factors ? factors[i] : 1) : 0) + (offsets ? offsets[i] : 0);
    return sum;
}
