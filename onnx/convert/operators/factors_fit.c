// Factors that are multiplied into weights: 40 times 3000 is infinite in halves, where 40 x and 120000 x are numbers,
// and so is 1e36 times 1e6 in floats. How large the products are at most is found without making them.
#include "onnx/convert/operators/factors_fit.h"

#include "core/text/error.h"
#include "expressions/definition.h"
#include "expressions/elements.h"
#include "expressions/magnitude.h"
#include "graph/graph_whole.h"
#include "onnx/convert/importer.h"
#include "onnx/convert/read_node.h"

#include <math.h>

#define SMALLEST_HALF 0x1p-14   // of full precision

// Integers wrap, whatever is multiplied first.
static bool is_finite_in(enum dtype dtype, double number)
{
    return !dtype_is_float(dtype) || fabs(number) <= dtype_largest(dtype);   // false of what is no number
}

static bool is_precise(enum dtype dtype, double number)
{
    return is_finite_in(dtype, number) && (dtype != DTYPE_F16 || number == 0 || fabs(number) >= SMALLEST_HALF);
}

// The largest of the weights that each factor is for: `run` in a row, again and again. What is no number is infinitely
// large.
static void note_magnitudes(enum dtype dtype, const char *elements, int64_t n, int64_t run, uint32_t n_factors,
                            double *ret_largest)
{
    run = n_factors == 1 ? n : run;
    for (int64_t start = 0; start < n; start += run) {
        bool are_finite;
        size_t count = (size_t)(n - start < run ? n - start : run);
        double most = elements_largest(dtype, elements + (size_t)start * dtype_size(dtype), count, &are_finite);
        double *largest = &ret_largest[start / run % n_factors];
        *largest = fmax(*largest, are_finite ? most : INFINITY);
    }
}

static bool find_magnitudes(struct conversion *c, tensor_id weights, uint32_t run, uint32_t n_factors,
                            double *ret_largest)
{
    const struct type *type = type_of(c, weights);
    size_t index = (size_t)graph_producer(&c->model->graph, weights)->attributes[0].ints[0];
    struct error ignored;
    const void *data;
    if (!dtype_has_numbers(type->dtype) || !imported_weight_acquire(c->model, index, &data, &ignored))
        return false;
    note_magnitudes(type->dtype, data, type_elements(type), run, n_factors, ret_largest);
    imported_weight_release(c->model, index, data);
    return true;
}

// A bound of what is computed from weights; INFINITY: no bound is known.
static double bound_of_constant(struct conversion *c, tensor_id tensor)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, tensor);
    node_id id = g->tensors.items[tensor].producer;
    double largest = 0, *of_inputs = arena_array(&c->importer->scratch, double, n->n_inputs + 1);
    struct definition d FREED_BY(definition_free) = {0};
    if (n->op->id == OP_WEIGHT)
        return find_magnitudes(c, tensor, 1, 1, &largest) ? largest : INFINITY;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        of_inputs[i] = bound_of_constant(c, graph_inputs(g, id)[i]);
    if (!n->op->define || !graph_define(g, id, &d, &c->importer->scratch))
        return INFINITY;
    double bound = definition_magnitude(&d, (int)g->tensors.items[tensor].output, of_inputs);
    return isnan(bound) ? INFINITY : bound;
}

static const double *largest_of_each(struct conversion *c, tensor_id weights, uint32_t run, uint32_t n_factors)
{
    double *largest = arena_array(&c->importer->scratch, double, n_factors + 1);
    for (uint32_t i = 0; i < n_factors; i++)
        largest[i] = 0;
    if (is_weight(c, weights))
        return find_magnitudes(c, weights, run, n_factors, largest) ? largest : NULL;
    double bound = type_of(c, weights)->dtype == DTYPE_F16 ? INFINITY : bound_of_constant(c, weights);
    for (uint32_t i = 0; i < n_factors; i++)
        largest[i] = bound;
    return largest;
}

bool factors_fit_weights(struct conversion *c, tensor_id weights, uint32_t n_factors, const double *factors,
                         uint32_t run)
{
    enum dtype dtype = type_of(c, weights)->dtype;
    const double *largest = largest_of_each(c, weights, run, n_factors);
    return largest &&
           ALL(uint32_t, i, n_factors, is_precise(dtype, factors[i]) && is_precise(dtype, factors[i] * largest[i]));
}

bool sum_fits(struct conversion *c, tensor_id a, tensor_id b)
{
    return is_finite_in(type_of(c, a)->dtype, bound_of_constant(c, a) + bound_of_constant(c, b));
}

bool numbers_fit(enum dtype dtype, uint32_t n, const double *numbers)
{
    return ALL(uint32_t, i, n, is_finite_in(dtype, numbers[i]));
}
