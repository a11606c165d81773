#include "optimizer/comparison.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/interrupt.h"
#include "core/random.h"
#include "optimizer/run/run.h"
#include <assert.h>
#include <math.h>

#define INDEX_LIMIT 16   // random integers stay below: they are mostly indices

// --- inputs ----------------------------------------------------------------------------------------------------------

void model_inputs_fill(struct model_inputs *ret_inputs, const struct graph *g, size_t count, uint64_t seed,
                       struct arena *arena)
{
    *ret_inputs = (struct model_inputs){count, arena_array(arena, struct tensor_value, count + 1)};
    bool *live = mem_new_array(bool, g->nodes.count + 1);
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        if (node->op->id != OP_INPUT || !live[n])
            continue;
        int64_t index = node->attributes[0].ints[0];
        struct tensor_value *value = &ret_inputs->values[index];
        struct random random = random_seed(random_keyed(seed, (uint64_t)index));
        value->type = *graph_type(g, node->first_output);
        value->data = value_allocate(arena, &value->type);
        value_fill_random(value, &random, INDEX_LIMIT);
    }
    mem_free_array(live, g->nodes.count + 1);
}

static struct tensor_value *allocate_outputs(const struct model *m, size_t n, struct arena *arena)
{
    struct tensor_value *outputs = arena_array(arena, struct tensor_value, n + 1);
    model_allocate_outputs(m, outputs, arena);
    return outputs;
}

// --- comparing -------------------------------------------------------------------------------------------------------

bool model_record(struct model *m, const struct graph *g, size_t n_inputs, uint64_t seed, int rounds,
                  struct arena *arena, struct recording *ret_recording, struct error *error)
{
    size_t n = g->outputs.count;
    struct arena scratch;
    bool is_run = true;
    *ret_recording = (struct recording){rounds, n, arena_array(arena, struct tensor_value, (size_t)rounds * n + 1)};
    arena_init(&scratch);
    for (int round = 0; is_run && round < rounds; round++) {
        struct arena_mark mark = arena_mark(&scratch);
        struct model_inputs inputs;
        struct tensor_value *outputs = &ret_recording->values[(size_t)round * n];
        model_inputs_fill(&inputs, g, n_inputs, random_keyed(seed, (uint64_t)round), &scratch);
        model_allocate_outputs(m, outputs, arena);
        is_run = model_run(m, inputs.values, outputs, error);
        arena_release(&scratch, mark);
    }
    arena_free(&scratch);
    return is_run;
}

#define TOLERANCE_OF_HALVES 1e-2

double comparison_tolerance(const struct graph *g, double wanted)
{
    for (tensor_id t = 0; t < g->tensors.count; t++)
        if (graph_type(g, t)->dtype == DTYPE_F16 || graph_type(g, t)->dtype == DTYPE_BF16)
            return fmax(wanted, TOLERANCE_OF_HALVES);
    return wanted;
}

// The worst of all rounds; one round in which the output varies is enough to trust it.
static void merge_round(struct output_comparison *c, const struct tensor_value *a, const struct tensor_value *b)
{
    struct output_difference d = run_compare_outputs(a, b);
    c->max_difference = fmax(c->max_difference, d.difference);
    c->max_magnitude = fmax(c->max_magnitude, d.largest);
    c->is_trustworthy = c->is_trustworthy || d.is_trustworthy;
}

void recordings_compare(const struct recording *a, const struct recording *b, double tolerance,
                        output_comparisons *ret_outputs)
{
    assert(a->rounds == b->rounds && a->n_outputs == b->n_outputs);
    vec_clear(ret_outputs);
    for (size_t i = 0; i < a->n_outputs; i++) {
        struct output_comparison c = {0};
        for (int round = 0; round < a->rounds; round++)
            merge_round(&c, &a->values[(size_t)round * a->n_outputs + i], &b->values[(size_t)round * a->n_outputs + i]);
        c.is_equal_enough = c.max_difference <= tolerance * c.max_magnitude;
        vec_push(ret_outputs, c);
    }
}

// --- timing ----------------------------------------------------------------------------------------------------------

#define WARM_UP_RUNS 2
#define LEAST_RUNS 11
#define MOST_RUNS 2000

struct timing {
    struct model *models[2];
    struct tensor_value *inputs, *outputs[2];
    VEC(double) times[2];
    VEC(double) ratios;
};

static bool time_one(struct timing *t, int which, double *ret_seconds, struct error *error)
{
    return model_time(t->models[which], t->inputs, t->outputs[which], ret_seconds, error);
}

// One run of each, the first by turns.
static bool time_round(struct timing *t, size_t round, struct error *error)
{
    double seconds[2] = {0};
    int first = t->models[1] ? (int)(round % 2) : 0;
    if (!time_one(t, first, &seconds[first], error))
        return false;
    if (t->models[1] && !time_one(t, 1 - first, &seconds[1 - first], error))
        return false;
    vec_push(&t->times[0], seconds[0]);
    if (t->models[1]) {
        vec_push(&t->times[1], seconds[1]);
        vec_push(&t->ratios, seconds[0] / seconds[1]);
    }
    return true;
}

static bool take_samples(struct timing *t, double seconds, struct error *error)
{
    double unused;
    for (int i = 0; i < WARM_UP_RUNS; i++)
        for (int which = 0; which < 2; which++)
            if (t->models[which] && !time_one(t, which, &unused, error))
                return false;
    double started = clock_seconds();
    for (size_t round = 0; round < MOST_RUNS; round++) {
        bool is_long_enough = clock_seconds() - started > seconds || interrupt_requested();
        if (round >= LEAST_RUNS && is_long_enough)
            break;
        if (!time_round(t, round, error))
            return false;
    }
    return true;
}

static void summarize(struct timing *t, struct side_by_side *ret_times)
{
    *ret_times = (struct side_by_side){0};
    ret_times->time_a = sample_summarize(t->times[0].items, t->times[0].count);
    if (!t->models[1])
        return;
    ret_times->time_b = sample_summarize(t->times[1].items, t->times[1].count);
    ret_times->ratio = sample_summarize(t->ratios.items, t->ratios.count).median;
    double uncertainty = sample_median_uncertainty(t->ratios.items, t->ratios.count);
    ret_times->ratio_low = ret_times->ratio * (1 - uncertainty);
    ret_times->ratio_high = ret_times->ratio * (1 + uncertainty);
}

struct side_by_side side_by_side_join(const struct side_by_side *a, const struct side_by_side *b)
{
    struct side_by_side joined = {.time_a = a->time_a, .time_b = b->time_a};
    joined.ratio = a->time_a.median / b->time_a.median;
    joined.ratio_low = a->time_a.quartile1 / b->time_a.quartile3;
    joined.ratio_high = a->time_a.quartile3 / b->time_a.quartile1;
    return joined;
}

bool models_time(struct model *a, struct model *b, const struct graph *graph_a, size_t n_inputs, uint64_t seed,
                 double seconds, struct side_by_side *ret_times, struct error *error)
{
    struct arena arena;
    struct model_inputs inputs;
    arena_init(&arena);
    model_inputs_fill(&inputs, graph_a, n_inputs, seed, &arena);
    struct timing t = {.models = {a, b}, .inputs = inputs.values};
    for (int which = 0; which < 2; which++)
        if (t.models[which])
            t.outputs[which] = allocate_outputs(t.models[which], graph_a->outputs.count, &arena);
    bool is_timed = take_samples(&t, seconds, error);
    if (is_timed)
        summarize(&t, ret_times);
    vec_free(&t.times[0]);
    vec_free(&t.times[1]);
    vec_free(&t.ratios);
    arena_free(&arena);
    return is_timed;
}
