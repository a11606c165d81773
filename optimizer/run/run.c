// Weights on demand, outputs compared, and models timed in turns.
#include "optimizer/run/run.h"

#include "core/memory/arena.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include <math.h>
#include <string.h>

// --- weights -------------------------------------------------------------------------------------------------------

static const void *acquire(void *context, size_t index, struct error *error)
{
    const void *data;
    return imported_weight_acquire(context, index, &data, error) ? data : NULL;
}

static void release(void *context, size_t index, const void *data)
{
    imported_weight_release(context, index, data);
}

struct weight_source run_weight_source(struct imported_model *m)
{
    return (struct weight_source){m, acquire, release};
}

const struct tensor_value *run_list_weights(struct imported_model *m, const struct graph *g)
{
    struct tensor_value *values = arena_array(&m->arena, struct tensor_value, m->weights.count + 1);
    bool *live = mem_alloc_zero(g->nodes.count + 1);
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++)
        if (live[n] && g->nodes.items[n].op == operators[OP_WEIGHT])
            values[g->nodes.items[n].attributes[0].ints[0]].type = *graph_type(g, g->nodes.items[n].first_output);
    mem_free(live, g->nodes.count + 1);
    return values;
}

// --- comparing -------------------------------------------------------------------------------------------------------

#define PIECE 1024

struct comparison {
    struct output_difference d;
    double least, most;
    bool is_finite;
};

static void compare_entry(struct comparison *c, double a, double b)
{
    if (!isfinite(a)) {
        c->is_finite = false;
        if (!(a == b || (isnan(a) && isnan(b))))
            c->d.difference = INFINITY;
        return;
    }
    double difference = isfinite(b) ? fabs(a - b) : INFINITY;
    c->d.difference = difference > c->d.difference ? difference : c->d.difference;
    c->d.largest = fabs(a) > c->d.largest ? fabs(a) : c->d.largest;
    c->least = a < c->least ? a : c->least;
    c->most = a > c->most ? a : c->most;
}

struct output_difference run_compare_outputs(const struct tensor_value *reference, const struct tensor_value *other)
{
    struct comparison c = {.least = INFINITY, .most = -INFINITY, .is_finite = true};
    if (!type_equal(&reference->type, &other->type))
        return (struct output_difference){0, INFINITY, INFINITY, false};
    double a[PIECE], b[PIECE];
    size_t n = (size_t)type_elements(&reference->type), size = dtype_size(reference->type.dtype);
    for (size_t at = 0; at < n; at += PIECE) {
        size_t count = n - at < PIECE ? n - at : PIECE;
        elements_to_reals(reference->type.dtype, (const char *)reference->data + at * size, count, a);
        elements_to_reals(other->type.dtype, (const char *)other->data + at * size, count, b);
        for (size_t i = 0; i < count; i++)
            compare_entry(&c, a[i], b[i]);
    }
    c.d.relative = c.d.difference == 0 ? 0 : c.d.largest > 0 ? c.d.difference / c.d.largest : INFINITY;
    if (!dtype_is_float(reference->type.dtype) && c.d.difference > 0)
        c.d.relative = INFINITY;
    bool may_be_constant = n <= 1 || !dtype_is_float(reference->type.dtype);
    c.d.is_trustworthy =
        c.is_finite && n > 0 && c.d.largest > 0 && (may_be_constant || c.most - c.least > 1e-6 * c.d.largest);
    return c.d;
}

// --- timing ----------------------------------------------------------------------------------------------------------

static bool time_once(const struct run_request *r, double *ret_seconds, struct error *error)
{
    return model_time(r->model, r->inputs, r->outputs, ret_seconds, error);
}

bool run_time_side_by_side(const struct run_request *requests, size_t n, int64_t warmup, int64_t repeats,
                           struct sample_summary *ret_summaries, struct error *error)
{
    size_t per_model = (size_t)repeats;
    double *samples = mem_new_array(double, n *per_model), ignored;
    bool is_done = true;
    for (int64_t turn = -warmup; is_done && turn < repeats; turn++)
        for (size_t i = 0; is_done && i < n; i++) {
            size_t which = turn % 2 ? n - 1 - i : i;
            double *to = turn < 0 ? &ignored : &samples[which * per_model + (size_t)turn];
            is_done = time_once(&requests[which], to, error);
        }
    for (size_t i = 0; is_done && i < n; i++)
        ret_summaries[i] = sample_summarize(&samples[i * per_model], per_model);
    mem_free_array(samples, n * per_model);
    return is_done;
}
