// The limits of weights, from the options and the model's own weights.
#include "optimizer/optimize/weight_range.h"

#include "optimizer/limits.def"

#include "core/memory/memory.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include "optimizer/search/weight_bytes.h"
#include <math.h>

static size_t most_weight_bytes(const struct optimizing *o)
{
    size_t own = graph_weight_bytes(&o->model.graph), least = mem_sum(own, GROWTH_OF_SMALL_MODELS);
    double most = o->options->weight_growth * (double)own;
    return o->options->weight_growth <= 0 ? 0 : most > (double)least ? (size_t)most : least;
}

static bool is_looked_at(const struct type *type)
{
    return type->dtype == DTYPE_F16 || (dtype_is_float(type->dtype) && type_elements(type) <= MOST_ELEMENTS_LOOKED_AT);
}

// NaN: nothing is known of it.
static double magnitude_of_weight(struct optimizing *o, size_t index)
{
    const struct type *type = &o->model.weights.items[index].type;
    struct error ignored;
    const void *data;
    if (!is_looked_at(type) || !imported_weight_acquire(&o->model, index, &data, &ignored))
        return NAN;
    bool are_finite;
    double largest = elements_largest(type->dtype, data, (size_t)type_elements(type), &are_finite);
    imported_weight_release(&o->model, index, data);
    return largest;
}

static bool may_overflow(const struct optimizing *o, const double *magnitudes)
{
    return ANY(size_t, i, o->model.weights.count,
               o->model.weights.items[i].type.dtype == DTYPE_F16 || magnitudes[i] > NEVER_OVERFLOWS);
}

void optimizing_limit_weights(struct optimizing *o)
{
    double *magnitudes = arena_array(&o->model.arena, double, o->model.weights.count + 1);
    for (size_t i = 0; i < o->model.weights.count; i++)
        magnitudes[i] = magnitude_of_weight(o, i);
    o->search.weight_limits = (struct weight_limits){.most_bytes = most_weight_bytes(o)};
    if (!may_overflow(o, magnitudes))
        return;
    o->search.weight_limits.magnitudes = magnitudes;
    o->search.weight_limits.n_beyond = graph_weights_beyond_range(&o->model.graph, magnitudes);
}
