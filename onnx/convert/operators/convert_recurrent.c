// Recurrent networks, written out step by step. In each direction the products of the inputs with the weights of a gate
// are made for all times at once; a step adds the product of the state with the recurrent weights. With W, R, P and the
// biases as ONNX names them, and f, g, h the activations:
//     RNN    H' = f(x W + H R)
//     GRU    z = f(x W + H R), r likewise, n = g(x W + (r H) R) or g(x W + r (H R + Rb)), H' = (1 - z) n + z H
//     LSTM   i = f(x W + H R + P C), f likewise, C' = f C + i g(x W + H R), o = f(x W + H R + P C'), H' = o h(C')
// Sequences that are shorter than the longest keep their state behind their end, where the outputs are 0.
#include "onnx/convert/operators/converters.h"

#include <math.h>
#include <string.h>

#define MAX_GATES 4
#define MAX_FUNCTIONS 3
#define MOST_STEPS 1024   // of all directions

struct direction;
struct recurrence;
struct cell {
    int n_gates, n_functions;
    bool has_second_state, adds_recurrent_bias_apart;
    const char *standard[MAX_FUNCTIONS];
    void (*step)(const struct recurrence *r, struct direction *d, int64_t time);
};
struct activation_function {
    const char *name;
    int n_parameters;   // alpha, beta
    int op;             // OP_COUNT: alpha * x + beta
    bool scales;        // alpha * op(beta * x)
};
struct chosen_function {
    const struct activation_function *function;
    double alpha, beta;
};
struct direction {
    bool is_reverse;
    struct chosen_function functions[MAX_FUNCTIONS];
    tensor_id inputs[MAX_GATES];      // x W + biases: (time, batch, hidden)
    tensor_id recurrent[MAX_GATES];   // R transposed: (hidden, hidden)
    tensor_id bias[MAX_GATES];        // of R where it is not among the inputs': (batch, hidden)
    tensor_id peephole[MAX_GATES];    // (batch, hidden), or NO_TENSOR
    tensor_id state, second;          // H and C: (batch, hidden)
};
struct recurrence {
    struct conversion *c;
    const struct cell *cell;
    int64_t n_times, batch, size, hidden, n_directions;
    bool is_batch_first;
    tensor_id x;         // (time, batch, size)
    tensor_id lengths;   // (batch, 1), or NO_TENSOR
    double clip;         // infinite: none
    bool is_forget_input;
    bool is_linear_before_reset;
    struct direction directions[2];
};

// ---- small things ----

static tensor_id plus(const struct recurrence *r, tensor_id x, tensor_id y)
{
    return binary(r->c, OP_EWADD, x, y);
}

static tensor_id times(const struct recurrence *r, tensor_id x, tensor_id y)
{
    return binary(r->c, OP_EWMUL, x, y);
}

static tensor_id one_minus(const struct recurrence *r, tensor_id x)
{
    return binary(r->c, OP_SUB, constant_like(r->c, x, 1), x);
}

static tensor_id swapped(struct conversion *c, tensor_id x)
{
    return transpose_by(c, x, (int64_t[]){1, 0, 2});
}

static tensor_id entry_of(struct conversion *c, tensor_id x, int64_t index)   // of axis 0
{
    struct type type = *type_of(c, x);
    return reshape_to(c, part_of(c, x, 0, index, 1), type.rank - 1, &type.dim[1]);
}

// The i-th of n equal parts of a vector of rows, in every row of the batch.
static tensor_id row_for_all(const struct recurrence *r, tensor_id vector, int64_t index)
{
    tensor_id part = part_of(r->c, vector, 0, index * r->hidden, r->hidden);
    return broadcast_to(r->c, part, 2, (int64_t[]){r->batch, r->hidden});
}

// ---- activations ----

static const struct activation_function functions[] = {
    {"Affine", 2, OP_COUNT, false},
    {"Elu", 1, OP_ELU, false},
    {"HardSigmoid", 2, OP_HARDSIGMOID, false},
    {"LeakyRelu", 1, OP_LEAKYRELU, false},
    {"Relu", 0, OP_RELU, false},
    {"ScaledTanh", 2, OP_TANH, true},
    {"Sigmoid", 0, OP_SIGMOID, false},
    {"Softplus", 0, OP_SOFTPLUS, false},
    {"Softsign", 0, OP_SOFTSIGN, false},
    {"Tanh", 0, OP_TANH, false},
    {"ThresholdedRelu", 1, OP_THRESHOLDEDRELU, false},
};

static tensor_id curve(const struct recurrence *r, const struct chosen_function *f, tensor_id x)
{
    struct given_attribute parameters[] = {real("alpha", f->alpha), real("beta", f->beta), {0}};
    parameters[f->function->n_parameters].name = NULL;
    return apply(r->c, (enum operator_id)f->function->op, INPUTS(x), parameters);
}

static tensor_id activate(const struct recurrence *r, const struct chosen_function *f, tensor_id x)
{
    if (f->function->scales)
        return scale_by(r->c, unary(r->c, OP_TANH, scale_by(r->c, x, f->beta)), f->alpha);
    return f->function->op == OP_COUNT ? add_scalar(r->c, scale_by(r->c, x, f->alpha), f->beta) : curve(r, f, x);
}

// The activation of the sum of a gate; runtimes do not clip the state of a cell.
static tensor_id activate_sum(const struct recurrence *r, const struct chosen_function *f, tensor_id sum)
{
    return activate(r, f, isfinite(r->clip) ? clip_between(r->c, sum, -r->clip, r->clip) : sum);
}

static const struct activation_function *find_function(const struct onnx_bytes *given, const char *standard)
{
    return FIND(functions, sizeof functions / sizeof *functions, f,
                given ? onnx_bytes_are(given, f->name) : strcmp(standard, f->name) == 0);
}

static bool next_of(struct conversion *c, const struct onnx_attribute *list, size_t *at, double *ret_value)
{
    if (!list || *at >= list->floats.count)
        return cannot(c, "parameters of its activations are not given, for which runtimes have different ones");
    *ret_value = (double)list->floats.items[(*at)++];
    return true;
}

// Functions of both directions, one after the other. Parameters are listed for those functions alone that have any.
static bool choose_functions(struct recurrence *r)
{
    const struct onnx_attribute *names = onnx_node_find(r->c->node, "activations");
    const struct onnx_attribute *alphas = onnx_node_find(r->c->node, "activation_alpha");
    const struct onnx_attribute *betas = onnx_node_find(r->c->node, "activation_beta");
    size_t n_functions = (size_t)r->cell->n_functions, n = (size_t)r->n_directions * n_functions;
    size_t next_alpha = 0, next_beta = 0;
    if (names && names->strings.count != n)
        return cannot(r->c, "its activations are not %zu", n);
    for (size_t i = 0; i < n; i++) {
        struct chosen_function *f = &r->directions[i / n_functions].functions[i % n_functions];
        f->function = find_function(names ? &names->strings.items[i] : NULL, r->cell->standard[i % n_functions]);
        if (!f->function)
            return cannot(r->c, "one of its activations is none of ONNX's");
        if ((f->function->n_parameters > 0 && !next_of(r->c, alphas, &next_alpha, &f->alpha)) ||
            (f->function->n_parameters > 1 && !next_of(r->c, betas, &next_beta, &f->beta)))
            return false;
    }
    return true;
}

// ---- cells ----

static tensor_id of_state(const struct recurrence *r, const struct direction *d, int gate, tensor_id state)
{
    return matmul(r->c, state, d->recurrent[gate]);
}

static tensor_id sum_of_gate(const struct recurrence *r, const struct direction *d, int gate, int64_t time)
{
    return plus(r, entry_of(r->c, d->inputs[gate], time), of_state(r, d, gate, d->state));
}

static void step_rnn(const struct recurrence *r, struct direction *d, int64_t time)
{
    d->state = activate_sum(r, &d->functions[0], sum_of_gate(r, d, 0, time));
}

static void step_gru(const struct recurrence *r, struct direction *d, int64_t time)
{
    enum { UPDATE, RESET, HIDDEN };
    tensor_id update = activate_sum(r, &d->functions[0], sum_of_gate(r, d, UPDATE, time));
    tensor_id reset = activate_sum(r, &d->functions[0], sum_of_gate(r, d, RESET, time));
    tensor_id rest = r->is_linear_before_reset
                         ? times(r, reset, plus(r, of_state(r, d, HIDDEN, d->state), d->bias[HIDDEN]))
                         : plus(r, of_state(r, d, HIDDEN, times(r, reset, d->state)), d->bias[HIDDEN]);
    tensor_id hidden = activate_sum(r, &d->functions[1], plus(r, entry_of(r->c, d->inputs[HIDDEN], time), rest));
    d->state = plus(r, times(r, one_minus(r, update), hidden), times(r, update, d->state));
}

static tensor_id with_peephole(const struct recurrence *r, const struct direction *d, int gate, tensor_id sum,
                               tensor_id cell)
{
    return d->peephole[gate] == NO_TENSOR ? sum : plus(r, sum, times(r, d->peephole[gate], cell));
}

static void step_lstm(const struct recurrence *r, struct direction *d, int64_t time)
{
    enum { INPUT, OUTPUT, FORGET, CELL };
    tensor_id sums[MAX_GATES];
    for (int gate = 0; gate < MAX_GATES; gate++)
        sums[gate] = sum_of_gate(r, d, gate, time);
    const struct chosen_function *f = d->functions;
    tensor_id input = activate_sum(r, &f[0], with_peephole(r, d, INPUT, sums[INPUT], d->second));
    tensor_id forget = r->is_forget_input
                           ? one_minus(r, input)
                           : activate_sum(r, &f[0], with_peephole(r, d, FORGET, sums[FORGET], d->second));
    d->second = plus(r, times(r, forget, d->second), times(r, input, activate_sum(r, &f[1], sums[CELL])));
    tensor_id output = activate_sum(r, &f[0], with_peephole(r, d, OUTPUT, sums[OUTPUT], d->second));
    d->state = times(r, output, activate(r, &f[2], d->second));
}

// ---- inputs ----

static tensor_id matrix_of_gate(const struct recurrence *r, tensor_id stacked, int gate)
{
    return transpose_by(r->c, part_of(r->c, stacked, 0, gate * r->hidden, r->hidden), (int64_t[]){1, 0});
}

// Initial states are zeros when they are not given.
static tensor_id initial_state(const struct recurrence *r, uint32_t input, int64_t direction)
{
    tensor_id given = input_of(r->c, input);
    if (given == NO_TENSOR)
        return broadcast_to(r->c, scalar_constant(r->c, type_of(r->c, r->x)->dtype, 0), 2,
                            (int64_t[]){r->batch, r->hidden});
    return entry_of(r->c, r->is_batch_first ? swapped(r->c, given) : given, direction);
}

static void prepare_gate(const struct recurrence *r, struct direction *d, int gate, tensor_id w, tensor_id bias)
{
    int64_t all[] = {r->n_times, r->batch, r->hidden};
    int n = r->cell->n_gates;
    bool is_apart = r->cell->adds_recurrent_bias_apart && gate == n - 1;
    d->inputs[gate] = matmul(r->c, r->x, matrix_of_gate(r, w, gate));
    if (bias == NO_TENSOR) {
        if (is_apart)
            d->bias[gate] = constant_like(r->c, d->state, 0);
        return;
    }
    tensor_id of_x = row_for_all(r, bias, gate), of_h = row_for_all(r, bias, n + gate);
    d->bias[gate] = of_h;
    d->inputs[gate] = plus(r, d->inputs[gate], broadcast_to(r->c, is_apart ? of_x : plus(r, of_x, of_h), 3, all));
}

static void prepare_direction(struct recurrence *r, int64_t index)
{
    struct direction *d = &r->directions[index];
    struct conversion *c = r->c;
    tensor_id w = entry_of(c, input_of(c, 1), index), recurrent = entry_of(c, input_of(c, 2), index);
    tensor_id bias = entry_of(c, input_of(c, 3), index);
    tensor_id peepholes = r->cell->has_second_state ? entry_of(c, input_of(c, 7), index) : NO_TENSOR;
    d->is_reverse = index == 1 || text_attribute_is(r->c, "direction", "reverse", "forward");
    d->state = initial_state(r, 5, index);
    d->second = r->cell->has_second_state ? initial_state(r, 6, index) : NO_TENSOR;
    for (int gate = 0; gate < r->cell->n_gates; gate++) {
        d->recurrent[gate] = matrix_of_gate(r, recurrent, gate);
        d->peephole[gate] = peepholes == NO_TENSOR || gate == 3 ? NO_TENSOR : row_for_all(r, peepholes, gate);
        prepare_gate(r, d, gate, w, bias);
    }
}

static bool has_shape(const struct recurrence *r, uint32_t input, int rank, const int64_t *dim)
{
    struct type wanted = type_make(type_of(r->c, r->x)->dtype, rank, dim);
    return input_of(r->c, input) == NO_TENSOR || type_equal(type_of(r->c, input_of(r->c, input)), &wanted) ||
           cannot(r->c, "input %u has not the shape that the others ask for", input + 1);
}

static bool has_fitting_inputs(const struct recurrence *r)
{
    int64_t n = r->cell->n_gates * r->hidden, d = r->n_directions;
    const int64_t state[2][3] = {{d, r->batch, r->hidden}, {r->batch, d, r->hidden}};
    return has_shape(r, 1, 3, (int64_t[]){d, n, r->size}) && has_shape(r, 2, 3, (int64_t[]){d, n, r->hidden}) &&
           has_shape(r, 3, 2, (int64_t[]){d, 2 * n}) && has_shape(r, 5, 3, state[r->is_batch_first]) &&
           (!r->cell->has_second_state ||
            (has_shape(r, 6, 3, state[r->is_batch_first]) && has_shape(r, 7, 2, (int64_t[]){d, 3 * r->hidden})));
}

static bool read_lengths(struct recurrence *r)
{
    tensor_id lengths = input_of(r->c, 4);
    r->lengths = NO_TENSOR;
    if (lengths == NO_TENSOR)
        return true;
    const struct type *type = type_of(r->c, lengths);
    if (type->dtype != DTYPE_I32 || type->rank != 1 || type->dim[0] != r->batch)
        return cannot(r->c, "its lengths are not one for each sequence");
    r->lengths = reshape_to(r->c, lengths, 2, (int64_t[]){r->batch, 1});
    return true;
}

static bool read_recurrence(struct recurrence *r)
{
    struct conversion *c = r->c;
    for (uint32_t i = 0; i < c->n_inputs; i++)
        if (c->inputs[i] != NO_TENSOR && !type_is_known(type_of(c, c->inputs[i])))
            return cannot(c, "the type of input %u is not known", i + 1);
    if (type_of(c, input_of(c, 0))->rank != 3 || type_of(c, input_of(c, 2))->rank != 3)
        return cannot(c, "its inputs are no sequences and no weights of gates");
    r->is_batch_first = int_attribute(c, "layout", 0) == 1;
    r->x = r->is_batch_first ? swapped(c, input_of(c, 0)) : input_of(c, 0);
    const struct type *x = type_of(c, r->x);
    r->n_times = x->dim[0];
    r->batch = x->dim[1];
    r->size = x->dim[2];
    r->hidden = type_of(c, input_of(c, 2))->dim[2];
    r->n_directions = text_attribute_is(c, "direction", "bidirectional", "forward") ? 2 : 1;
    r->clip = float_attribute(c, "clip", INFINITY);
    r->is_forget_input = int_attribute(c, "input_forget", 0) != 0;
    r->is_linear_before_reset = int_attribute(c, "linear_before_reset", 0) != 0;
    if (!dtype_is_float(x->dtype) || r->n_times < 1 || r->n_times > MOST_STEPS / r->n_directions)
        return cannot(c, "it has no steps, or too many to be written out");
    return int_attribute(c, "hidden_size", r->hidden) == r->hidden && r->clip > 0 && has_fitting_inputs(r) &&
           read_lengths(r) && choose_functions(r);
}

// ---- the whole ----

// `value` where the sequence is not over at that time, else `other`.
static tensor_id while_it_lasts(const struct recurrence *r, int64_t time, tensor_id value, tensor_id other)
{
    if (r->lengths == NO_TENSOR || value == NO_TENSOR)
        return value;
    int64_t dim[] = {r->batch, r->hidden};
    tensor_id here = constant_like(r->c, r->lengths, (double)time);
    tensor_id lasts = broadcast_to(r->c, binary(r->c, OP_LESS, here, r->lengths), 2, dim);
    return apply(r->c, OP_WHERE, INPUTS(lasts, value, other), NULL);
}

// Fills the outputs of all times, each (1, 1, batch, hidden).
static void run_direction(const struct recurrence *r, struct direction *d, tensor_id *ret_outputs)
{
    for (int64_t step = 0; step < r->n_times && d->state != NO_TENSOR; step++) {
        int64_t time = d->is_reverse ? r->n_times - 1 - step : step;
        tensor_id state = d->state, second = d->second;
        r->cell->step(r, d, time);
        tensor_id output = while_it_lasts(r, time, d->state, constant_like(r->c, d->state, 0));
        ret_outputs[time] = reshape_to(r->c, output, 4, (int64_t[]){1, 1, r->batch, r->hidden});
        d->state = while_it_lasts(r, time, d->state, state);
        d->second = while_it_lasts(r, time, d->second, second);
    }
}

static tensor_id joined(struct conversion *c, int axis, int64_t n, const tensor_id *parts)
{
    return n == 1 ? parts[0] : apply(c, OP_CONCAT, (size_t)n, parts, WITH(integer("axis", axis)));
}

static bool give_sequence(const struct recurrence *r, tensor_id *const *outputs)
{
    tensor_id all[2];
    for (int64_t i = 0; i < r->n_directions; i++)
        all[i] = joined(r->c, 0, r->n_times, outputs[i]);
    tensor_id y = joined(r->c, 1, r->n_directions, all);
    if (r->is_batch_first && y != NO_TENSOR)
        y = transpose_by(r->c, y, (int64_t[]){2, 0, 1, 3});
    return give(r->c, 0, y);
}

// Runtimes give zeros for a sequence that is empty, whatever its initial state is.
static tensor_id last_state(const struct recurrence *r, uint32_t initial, tensor_id state)
{
    return input_of(r->c, initial) == NO_TENSOR ? state : while_it_lasts(r, 0, state, constant_like(r->c, state, 0));
}

static bool give_state(const struct recurrence *r, uint32_t output, const tensor_id *states)
{
    tensor_id parts[2];
    for (int64_t i = 0; i < r->n_directions; i++)
        parts[i] = reshape_to(r->c, states[i], 3, (int64_t[]){1, r->batch, r->hidden});
    tensor_id y = joined(r->c, 0, r->n_directions, parts);
    return output >= r->c->n_outputs || give(r->c, output, r->is_batch_first ? swapped(r->c, y) : y);
}

static bool convert_recurrence(struct conversion *c, const struct cell *cell)
{
    struct recurrence r = {.c = c, .cell = cell};
    tensor_id *outputs[2], states[2], second[2];
    if (!read_recurrence(&r))
        return cannot(c, "its attributes are no network's");
    for (int64_t i = 0; i < r.n_directions; i++) {
        outputs[i] = arena_array(&c->importer->scratch, tensor_id, r.n_times + 1);
        prepare_direction(&r, i);
        run_direction(&r, &r.directions[i], outputs[i]);
        states[i] = last_state(&r, 5, r.directions[i].state);
        second[i] = cell->has_second_state ? last_state(&r, 6, r.directions[i].second) : NO_TENSOR;
        if (states[i] == NO_TENSOR)
            return cannot(c, "its steps have no type");
    }
    return give_sequence(&r, outputs) && give_state(&r, 1, states) &&
           (!cell->has_second_state || give_state(&r, 2, second));
}

bool convert_rnn(struct conversion *c)
{
    static const struct cell cell = {1, 1, false, false, {"Tanh"}, step_rnn};
    return convert_recurrence(c, &cell);
}

bool convert_gru(struct conversion *c)
{
    static const struct cell cell = {3, 2, false, true, {"Sigmoid", "Tanh"}, step_gru};
    return convert_recurrence(c, &cell);
}

bool convert_lstm(struct conversion *c)
{
    static const struct cell cell = {4, 3, true, false, {"Sigmoid", "Tanh", "Tanh"}, step_lstm};
    return convert_recurrence(c, &cell);
}
