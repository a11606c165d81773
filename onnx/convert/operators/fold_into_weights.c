// f(x, w) + b, times s plus t, is f(x, w * s) + (b * s + t), and w * s depends on weights only. f is a convolution,
// or a product, whose columns are channels in whatever order transpositions and reshapes put them; or a ConvTranspose
// node. Such a node is converted again with other weights, and export writes it: the convolution that it becomes here
// is no use to others.
#include "onnx/convert/operators/fold_into_weights.h"

#include "core/text/error.h"
#include "expressions/definition.h"
#include "expressions/elements.h"
#include "expressions/magnitude.h"
#include "graph/graph_whole.h"
#include "onnx/convert/operators/converters.h"
#include "operators/traits.h"

#include <math.h>

#define MOST_MOVES 8   // transpositions and reshapes between weights and numbers

// --- what is linear --------------------------------------------------------------------------------------------------

static bool find_without_bias(struct conversion *c, tensor_id tensor, struct linear *ret)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, tensor);
    bool is_conv = operator_convolves(n->op);
    if (!is_conv && n->op->id != OP_MATMUL)
        return false;
    *ret = (struct linear){.node = g->tensors.items[tensor].producer,
                           .input = g->edges.items[n->first_input],
                           .weights = g->edges.items[n->first_input + 1],
                           .bias = NO_TENSOR,
                           .axis = is_conv ? 1 : type_of(c, tensor)->rank - 1,
                           .weight_axis = is_conv ? 0 : 1};
    return is_constant(c, ret->weights) && (is_conv || type_of(c, ret->weights)->rank == 2);
}

// The weight that was broadcast, when it varies along this axis alone; NO_TENSOR: it is something else.
static tensor_id channels_behind(const struct conversion *c, tensor_id tensor, int axis)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, tensor);
    if (n->op->id != OP_BROADCAST)
        return NO_TENSOR;
    tensor_id numbers = g->edges.items[n->first_input];
    const struct type *t = type_of(c, numbers), *all = type_of(c, tensor);
    if (t->rank != all->rank - axis || t->dim[0] != all->dim[axis] || type_elements(t) != t->dim[0])
        return NO_TENSOR;
    while ((n = graph_producer(g, numbers))->op->id == OP_RESHAPE)
        numbers = g->edges.items[n->first_input];
    return is_weight(c, numbers) ? numbers : NO_TENSOR;
}

bool find_linear(struct conversion *c, tensor_id tensor, struct linear *ret)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, tensor);
    if (n->op->id != OP_EWADD)
        return find_without_bias(c, tensor, ret);
    for (uint32_t i = 0; i < 2; i++) {
        tensor_id made = g->edges.items[n->first_input + i], other = g->edges.items[n->first_input + 1 - i];
        if (!tensor_is_read_once(c, made) || !find_without_bias(c, made, ret))
            continue;
        ret->bias = channels_behind(c, other, ret->axis);
        if (ret->bias != NO_TENSOR)
            return true;
    }
    return false;
}

// --- moves -----------------------------------------------------------------------------------------------------------

// Entry i of the axis has channel i / run % n.
struct channels {
    int axis;
    int64_t run, n;
};
struct moved_linear {
    struct linear linear;
    node_id moves[MOST_MOVES];   // the last first
    int n_moves;
    struct channels channels;
};

static int64_t entries_behind(const struct type *t, int axis)
{
    return entries_between(t, axis + 1, t->rank);
}

// Before a reshape channels lie along one axis, too, unless they are spread over several.
static bool find_axis_before(const struct type *before, const struct type *behind, struct channels *channels)
{
    int64_t run = channels->run * entries_behind(behind, channels->axis);
    for (int i = before->rank - 1; run > 0 && i >= 0; i--) {
        int64_t inner = entries_behind(before, i);
        if (inner == 0 || run % inner || before->dim[i] == 0 || before->dim[i] * inner % (run * channels->n))
            continue;
        channels->axis = i;
        channels->run = run / inner;
        return true;
    }
    return false;
}

static bool go_before(struct conversion *c, node_id move, struct channels *channels)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = &g->nodes.items[move];
    if (n->op->id == OP_RESHAPE)
        return find_axis_before(type_of(c, graph_inputs(g, move)[0]), type_of(c, n->first_output), channels);
    channels->axis = (int)node_attribute(n, ROLE_PERMUTATION)->ints[channels->axis];
    return true;
}

static bool is_move(const struct graph *g, node_id n)
{
    return g->nodes.items[n].op->id == OP_TRANSPOSE || g->nodes.items[n].op->id == OP_RESHAPE;
}

// The ConvTranspose node that a tensor is of; NO_ORIGIN: none.
static uint32_t transposed_node(const struct conversion *c, tensor_id tensor)
{
    const struct imported_origin *origin =
        imported_model_find_origin(c->model, c->model->graph.tensors.items[tensor].value);
    uint32_t index = origin ? origin->node : NO_ORIGIN;
    return index != NO_ORIGIN && onnx_node_is(node_at(c, index), "ConvTranspose") ? index : NO_ORIGIN;
}

static bool find_moved(struct conversion *c, uint32_t input, struct channels channels, struct moved_linear *ret)
{
    const struct graph *g = &c->model->graph;
    tensor_id tensor = input_of(c, input);
    *ret = (struct moved_linear){.channels = channels};
    if (channels.n < 1 || type_of(c, tensor)->dim[channels.axis] != channels.n || !input_is_read_once(c, input))
        return false;
    for (node_id n; is_move(g, n = g->tensors.items[tensor].producer); ret->moves[ret->n_moves++] = n) {
        tensor = graph_inputs(g, n)[0];
        if (ret->n_moves == MOST_MOVES || !go_before(c, n, &ret->channels) || !tensor_is_read_once(c, tensor) ||
            transposed_node(c, tensor) != NO_ORIGIN)
            return false;
    }
    return find_linear(c, tensor, &ret->linear) && ret->channels.axis == ret->linear.axis;
}

static tensor_id moved_again(struct conversion *c, const struct moved_linear *m, tensor_id z)
{
    for (int i = m->n_moves - 1; z != NO_TENSOR && i >= 0; i--) {
        struct application a = application_at(c, m->moves[i]);
        z = apply_application(c, &a, INPUTS(z));
    }
    return z;
}

// --- numbers that fit ------------------------------------------------------------------------------------------------
// 40 times 3000 is infinite in halves, where 40 x and 120000 x are numbers, and so is 1e36 times 1e6 in floats. How
// large the products are at most is found without making them.

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

// --- other weights ---------------------------------------------------------------------------------------------------

// Integers wrap, and doubles do not: what leaves the type, or the integers that doubles have, is left to the runtime.
static bool is_exact(enum dtype dtype, double number)
{
    return dtype_is_float(dtype) || fabs(number) < fmin(ldexp(1, 8 * (int)dtype_size(dtype) - 1), 0x1p53);
}

const double *bias_with_numbers(struct conversion *c, tensor_id bias, enum dtype dtype, const struct channel_numbers *n)
{
    double *sum = arena_array(&c->importer->scratch, double, n->count + 1);
    struct reals list = {0};
    if (bias != NO_TENSOR &&
        (!is_weight(c, bias) || !constant_reals(c, bias, SIZE_MAX, &list) || list.count != n->count))
        return NULL;
    for (uint32_t i = 0; i < n->count; i++) {
        double factor = n->factors ? n->factors[i] : 1, offset = n->offsets ? n->offsets[i] : 0;
        double product = list.items ? list.items[i] * factor : 0;
        sum[i] = product + offset;
        if (!is_exact(dtype, factor) || !is_exact(dtype, offset) || !is_exact(dtype, product) ||
            !is_exact(dtype, sum[i]))
            return NULL;
    }
    return sum;
}

static const double *for_channels(struct conversion *c, const struct channels *channels, uint32_t n,
                                  const double *numbers)
{
    double *ret = arena_array(&c->importer->scratch, double, n + 1);
    for (uint32_t i = 0; numbers && i < n; i++)
        ret[i] = numbers[i / channels->run % channels->n];
    return numbers ? ret : NULL;
}

static tensor_id scaled_weights(struct conversion *c, const struct linear *l, const struct channel_numbers *n)
{
    int64_t count = n->count;
    tensor_id factors = real_weight(c, type_of(c, l->weights)->dtype, 1, &count, n->factors);
    return binary(c, OP_EWMUL, l->weights, spread_along(c, factors, l->weight_axis, l->weights));
}

static bool give_with_numbers(struct conversion *c, const struct moved_linear *m, const struct channel_numbers *numbers)
{
    const struct linear *l = &m->linear;
    struct type type = *type_of(c, l->weights);
    int64_t count = type.dim[l->weight_axis];
    struct channel_numbers n = {(uint32_t)count, for_channels(c, &m->channels, (uint32_t)count, numbers->factors),
                                for_channels(c, &m->channels, (uint32_t)count, numbers->offsets)};
    const double *sum = bias_with_numbers(c, l->bias, type.dtype, &n);
    if (!sum || !numbers_fit(type.dtype, n.count, sum) ||
        (n.factors &&
         !factors_fit_weights(c, l->weights, n.count, n.factors, (uint32_t)entries_behind(&type, l->weight_axis))))
        return false;
    struct application a = application_at(c, l->node);
    tensor_id z = apply_application(c, &a, INPUTS(l->input, n.factors ? scaled_weights(c, l, &n) : l->weights));
    c->is_rewritten = true;
    if (z != NO_TENSOR && (n.offsets || l->bias != NO_TENSOR))
        z = binary(c, OP_EWADD, z, spread_along(c, real_weight(c, type.dtype, 1, &count, sum), l->axis, z));
    return give(c, 0, moved_again(c, m, z));
}

// --- numbers of a normalization --------------------------------------------------------------------------------------

bool read_normalization(struct conversion *c, const tensor_id *statistics, double epsilon, struct channel_numbers *ret)
{
    enum { SCALE, SHIFT, MEAN, VARIANCE, N_STATISTICS };
    struct reals s[N_STATISTICS];
    if (ANY(int, i, N_STATISTICS,
            !is_weight(c, statistics[i]) || !constant_reals(c, statistics[i], SIZE_MAX, &s[i]) ||
                s[i].count != s[0].count))
        return false;
    double *factors = arena_array(&c->importer->scratch, double, s[0].count + 1);
    double *offsets = arena_array(&c->importer->scratch, double, s[0].count + 1);
    for (uint32_t i = 0; i < s[0].count; i++) {
        factors[i] = s[SCALE].items[i] / sqrt(s[VARIANCE].items[i] + epsilon);
        offsets[i] = s[SHIFT].items[i] - s[MEAN].items[i] * factors[i];
    }
    *ret = (struct channel_numbers){s[0].count, factors, offsets};
    return true;
}

// --- ConvTranspose ---------------------------------------------------------------------------------------------------

enum { IMAGE, KERNEL, BIAS, N_INPUTS };

// The kernel is (C, F / groups, ...): channel f of group g is its entry f of those C that belong to g.
static bool fit_transposed(struct conversion *c, tensor_id kernel, int64_t groups, const double *factors)
{
    const struct type *type = type_of(c, kernel);
    uint32_t of_group = (uint32_t)type->dim[1];
    return ALL(uint32_t, g, groups,
               factors_fit_weights(c, kernel, of_group, factors + g * of_group, (uint32_t)entries_behind(type, 1)));
}

static tensor_id scaled_transposed(struct conversion *c, tensor_id kernel, int64_t groups, const double *factors)
{
    struct type type = *type_of(c, kernel);
    int64_t split[MAX_RANK] = {groups, type.dim[0] / groups}, by_channel[MAX_RANK] = {groups, 1, type.dim[1]};
    for (int i = 1; i < type.rank; i++)
        split[i + 1] = type.dim[i];
    for (int i = 3; i <= type.rank; i++)
        by_channel[i] = 1;
    tensor_id numbers = real_weight(c, type.dtype, type.rank + 1, by_channel, factors);
    tensor_id parts = reshape_to(c, kernel, type.rank + 1, split);
    numbers = broadcast_to(c, numbers, type.rank + 1, split);
    return parts == NO_TENSOR ? parts : reshape_to(c, binary(c, OP_EWMUL, parts, numbers), type.rank, type.dim);
}

static bool give_transposed(struct conversion *c, uint32_t node, const struct channel_numbers *n)
{
    tensor_id output = NO_TENSOR, *inputs = arena_array(&c->model->arena, tensor_id, N_INPUTS + 1);
    struct conversion t = *c;
    t.node = node_at(c, node);
    t.index = node;
    t.inputs = c->model->origins.node_inputs[node];
    t.n_inputs = N_INPUTS;
    t.n_outputs = 1;
    if (!is_constant(c, t.inputs[KERNEL]))
        return false;
    struct type kernel = *type_of(c, t.inputs[KERNEL]);
    int64_t groups = int_attribute(&t, "group", 1), channels = n->count;
    const double *sum = bias_with_numbers(c, t.inputs[BIAS], kernel.dtype, n);
    if (!sum || kernel.rank + 1 > MAX_RANK || !numbers_fit(kernel.dtype, n->count, sum) ||
        kernel.dim[1] * groups != channels || (n->factors && !fit_transposed(c, t.inputs[KERNEL], groups, n->factors)))
        return false;
    inputs[IMAGE] = t.inputs[IMAGE];
    inputs[KERNEL] = n->factors ? scaled_transposed(c, t.inputs[KERNEL], groups, n->factors) : t.inputs[KERNEL];
    inputs[BIAS] = real_weight(c, kernel.dtype, 1, &channels, sum);
    inputs[N_INPUTS] = NO_TENSOR;
    t.inputs = inputs;
    t.outputs = &output;
    if (!convert_conv_transpose(&t))
        return false;
    c->stands_for = (struct origin_node){t.index, inputs};
    return give(c, 0, output);
}

// --- numbers ---------------------------------------------------------------------------------------------------------

bool give_normalized(struct conversion *c, uint32_t input, const struct channel_numbers *n)
{
    struct moved_linear m;
    uint32_t transposed = transposed_node(c, input_of(c, input));
    if (transposed != NO_ORIGIN)
        return input_is_read_once(c, input) && give_transposed(c, transposed, n);
    return type_of(c, input_of(c, input))->rank > 1 && find_moved(c, input, (struct channels){1, 1, n->count}, &m) &&
           give_with_numbers(c, &m, n);
}

// A constant that has a number for each entry of that axis, and one only: (C, 1, 1) or (1, C, 1, 1) for axis 1.
static bool varies_along(const struct type *t, const struct type *x, int axis)
{
    int own = axis - (x->rank - t->rank);
    return own >= 0 && t->rank <= x->rank && ALL(int, i, t->rank, t->dim[i] == (i == own ? x->dim[axis] : 1));
}

static bool read_numbers(struct conversion *c, uint32_t input, uint32_t numbers, int axis, struct reals *ret_list)
{
    tensor_id x = input_of(c, numbers);
    return is_weight(c, x) && axis >= 0 && varies_along(type_of(c, x), type_of(c, input_of(c, input)), axis) &&
           constant_reals(c, x, SIZE_MAX, ret_list) && ALL(uint32_t, i, ret_list->count, isfinite(ret_list->items[i]));
}

// Images have an axis of channels.
static bool give_by_channel(struct conversion *c, uint32_t input, uint32_t numbers, bool are_factors)
{
    struct reals n;
    return type_of(c, input_of(c, input))->rank > 2 && read_numbers(c, input, numbers, 1, &n) &&
           give_normalized(
               c, input,
               &(struct channel_numbers){n.count, are_factors ? n.items : NULL, are_factors ? NULL : n.items});
}

bool give_shifted(struct conversion *c, uint32_t input, uint32_t offsets)
{
    return give_by_channel(c, input, offsets, false);
}

bool give_scaled(struct conversion *c, uint32_t input, uint32_t factors)
{
    struct reals n;
    struct moved_linear m;
    int last = type_of(c, input_of(c, input))->rank - 1;
    return give_by_channel(c, input, factors, true) ||
           (read_numbers(c, input, factors, last, &n) &&
            find_moved(c, input, (struct channels){last, 1, n.count}, &m) &&
            give_with_numbers(c, &m, &(struct channel_numbers){n.count, n.items, NULL}));
}
