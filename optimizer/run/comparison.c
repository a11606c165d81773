// Inputs from seeds, and outputs of several rounds recorded and compared.
#include "optimizer/run/comparison.h"

#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include "core/system/interrupt.h"
#include "expressions/elements.h"
#include "graph/graph_whole.h"
#include "optimizer/limits.def"
#include <assert.h>
#include <math.h>

// --- inputs ----------------------------------------------------------------------------------------------------------

void model_inputs_fill(struct model_inputs *ret_inputs, const struct graph *g, size_t count, uint64_t seed,
                       int64_t integers, struct arena *arena)
{
    *ret_inputs = (struct model_inputs){count, arena_array(arena, struct tensor_value, count + 1)};
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
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
        value_fill_random(value, &random, integers);
    }
}

static double varied(double x, int kind)
{
    double size = fabs(x);
    return kind == 1 ? size : kind == 2 ? x / 64 : kind == 3 ? size / (1 + size) : kind == 4 ? 1 + size : x;
}

static void vary(struct tensor_value *value, int kind)
{
    enum { PIECE = 1024 };
    double reals[PIECE];
    enum dtype dtype = value->type.dtype;
    int64_t n = type_elements(&value->type);
    for (int64_t at = 0; at < n; at += PIECE) {
        size_t count = (size_t)(n - at < PIECE ? n - at : PIECE);
        char *place = (char *)value->data + (size_t)at * dtype_size(dtype);
        elements_to_reals(dtype, place, count, reals);
        for (size_t i = 0; i < count; i++)
            reals[i] = varied(reals[i], kind);
        elements_from_reals(dtype, reals, count, place);
    }
}

void model_inputs_vary(struct model_inputs *inputs, int attempt)
{
    enum { KINDS = 5 };
    for (size_t i = 0; attempt > 0 && i < inputs->count; i++) {
        uint64_t mixed = random_keyed((uint64_t)attempt, i) % KINDS;
        if (inputs->values[i].data && dtype_is_float(inputs->values[i].type.dtype))
            vary(&inputs->values[i], attempt < KINDS ? attempt : (int)mixed);
    }
}

void model_inputs_give(struct model_inputs *inputs, const struct model_inputs *given)
{
    for (size_t i = 0; i < given->count && i < inputs->count; i++)
        if (given->values[i].data && inputs->values[i].data &&
            type_equal(&given->values[i].type, &inputs->values[i].type))
            inputs->values[i] = given->values[i];
}

// --- comparing -------------------------------------------------------------------------------------------------------

bool model_record(struct model *m, const struct graph *g, size_t n_inputs, const struct model_inputs *given,
                  uint64_t seed, int attempt, int rounds, struct arena *arena, struct recording *ret_recording,
                  struct error *error)
{
    size_t n = g->outputs.count;
    ARENA(scratch);
    bool is_run = true;
    *ret_recording = (struct recording){0, n, arena_array(arena, struct tensor_value, (size_t)rounds * n + 1)};
    for (int round = 0; is_run && round < rounds && (round == 0 || !interrupt_requested()); round++) {
        struct arena_mark mark = arena_mark(&scratch);
        struct model_inputs inputs;
        struct tensor_value *outputs = &ret_recording->values[(size_t)round * n];
        model_inputs_fill(&inputs, g, n_inputs, random_keyed(seed, (uint64_t)round), INDEX_LIMIT, &scratch);
        model_inputs_vary(&inputs, attempt);
        if (round == 0 && attempt == 0)
            model_inputs_give(&inputs, given);
        model_allocate_outputs(m, outputs, arena);
        is_run = model_run(m, inputs.values, outputs, error);
        ret_recording->rounds += is_run;
        arena_release(&scratch, mark);
    }
    return is_run;
}

double comparison_tolerance(const struct graph *g, bool allows_tf32, double wanted)
{
    bool is_rough = allows_tf32 || ANY(tensor_id, t, g->tensors.count,
                                       graph_type(g, t)->dtype == DTYPE_F16 || graph_type(g, t)->dtype == DTYPE_BF16);
    return is_rough ? fmax(wanted, TOLERANCE_OF_HALVES) : wanted;
}

void recordings_compare(const struct recording *a, const struct recording *b, bool is_where_finite, double tolerance,
                        output_comparisons *ret_outputs)
{
    size_t n_rounds = (size_t)(a->rounds < b->rounds ? a->rounds : b->rounds);
    assert(n_rounds > 0 && a->n_outputs == b->n_outputs);
    vec_clear(ret_outputs);
    for (size_t i = 0; i < a->n_outputs; i++) {
        struct output_comparison all = {0};
        for (size_t at = i; at < n_rounds * a->n_outputs; at += a->n_outputs) {
            struct output_comparison round = output_compare(&a->values[at], &b->values[at], is_where_finite);
            output_add_round(&all, &round);
        }
        all.is_equal_enough = output_is_within(&all, tolerance);
        vec_push(ret_outputs, all);
    }
}
