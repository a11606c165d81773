// Runs a graph on a device and by the reference, on random values, and compares.
#pragma once
#include "backends/planning/plan_text.h"
#include "core/system/workers.h"
#include "expressions/elements.h"
#include "graph/text.h"
#include "tests/backends/device.h"
#include "tests/support/reference_graph.h"

#define MOST_LEAVES 64
#define MOST_OUTPUTS 64

static inline void fill_leaves(const struct graph *g, const struct operator* op, struct tensor_value *values,
                               struct arena *arena, struct random *random)
{
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        if (node->op != op)
            continue;
        struct tensor_value *v = &values[node->attributes[0].ints[0]];
        v->type = *graph_type(g, node->first_output);
        v->data = value_allocate(arena, &v->type);
        value_fill_random(v, random, 9);
    }
}

static inline double tolerance_of(enum dtype dtype)
{
    return dtype == DTYPE_F16 ? 4e-3 : dtype == DTYPE_BF16 ? 3e-2 : dtype == DTYPE_F64 ? 1e-12 : 1e-5;
}

// The largest difference, as a share of what is tolerated; infinity where one has NaN and the other has not.
static inline double share_of_tolerance(const struct tensor_value *got, const struct tensor_value *wanted)
{
    size_t n = (size_t)type_elements(&wanted->type);
    LOCAL_ARRAY(double, a, n);
    LOCAL_ARRAY(double, b, n);
    double most = 0, worst = 0;
    elements_to_reals(got->type.dtype, got->data, n, a);
    elements_to_reals(wanted->type.dtype, wanted->data, n, b);
    for (size_t i = 0; i < n; i++) {
        bool is_same = a[i] == b[i] || (isnan(a[i]) && isnan(b[i]));
        most = isfinite(b[i]) && fabs(b[i]) > most ? fabs(b[i]) : most;
        worst = is_same || fabs(a[i] - b[i]) <= worst ? worst : isnan(a[i] - b[i]) ? INFINITY : fabs(a[i] - b[i]);
    }
    if (worst == 0)
        return 0;
    return dtype_is_float(wanted->type.dtype) ? worst / (tolerance_of(wanted->type.dtype) * most) : INFINITY;
}

// One thread, from the last part to the first.
static inline void run_backward(void *context, int parts, parallel_function *function, void *argument)
{
    for (int part = parts; part-- > 0;)
        function(argument, part, parts);
}

// Two runs on different inputs, outputs poisoned: the second must not see anything of the first, and is by workers of
// ours, where the device asks them. `allowed` multiplies the tolerance, for deep graphs; choices may be NULL.
static inline void check_model_by(struct backend *device, const struct graph *g, const uint8_t *layouts,
                                  const step_choices *choices, uint64_t seed, double allowed)
{
    ARENA(arena);
    struct error error = {0};
    struct tensor_value inputs[MOST_LEAVES] = {0}, weights[MOST_LEAVES] = {0};
    struct tensor_value got[MOST_OUTPUTS], wanted[MOST_OUTPUTS];
    struct random random = random_seed(seed);
    fill_leaves(g, operators[OP_WEIGHT], weights, &arena, &random);
    struct given_weights given = {MOST_LEAVES, weights, NULL};
    struct model *m = backend_prepare_from(device, g, layouts, choices, &given, &error);
    if (!m)
        fail_msg("%s", error.message);
    model_allocate_outputs(m, got, &arena);
    for (int run = 0; run < 2; run++) {
        fill_leaves(g, operators[OP_INPUT], inputs, &arena, &random);
        for (size_t i = 0; i < g->outputs.count; i++)
            memset(got[i].data, 0xff, type_bytes(&got[i].type));
        struct workers workers = {.run = run_backward};
        if (!model_run_on(m, run ? &workers : NULL, inputs, got, &error) ||
            !reference_run_graph(g, MOST_LEAVES, inputs, MOST_LEAVES, weights, wanted, &arena, &error))
            fail_msg("%s", error.message);
        for (size_t i = 0; i < g->outputs.count; i++) {
            double share = share_of_tolerance(&got[i], &wanted[i]);
            if (share <= allowed)
                continue;
            TEXT(text);
            graph_print(&text, g);
            plan_print(&text, model_plan(m));
            for (size_t k = 0; choices && k < choices->count; k++)
                text_printf(&text, "%s by %s\n", choices->items[k].step, choices->items[k].choice);
            print_error("%s", text.chars);
            fail_msg("seed %llu: output %zu is off by %g times the tolerance", (unsigned long long)seed, i, share);
        }
    }
    model_free(m);
}

static inline void check_model_with(struct backend *device, const struct graph *g, const uint8_t *layouts,
                                    uint64_t seed, double allowed)
{
    check_model_by(device, g, layouts, NULL, seed, allowed);
}

static inline void check_model(struct backend *device, const struct graph *g, uint64_t seed, double allowed)
{
    check_model_with(device, g, NULL, seed, allowed);
}

// And which are not fused with their readers: each fourth, by every second seed.
static inline const uint8_t *random_layouts(const struct graph *g, struct arena *arena, uint64_t seed)
{
    struct random random = random_seed(seed), of_fusion = random_seed(~seed);
    uint8_t *layouts = arena_array(arena, uint8_t, g->tensors.count + 1);
    for (tensor_id t = 0; t < g->tensors.count; t++) {
        layouts[t] = (uint8_t)random_below(&random, LAYOUT_COUNT);
        layouts[t] |= seed % 2 && random_below(&of_fusion, 4) == 0 ? PLAN_APART : 0;
    }
    return layouts;
}

static inline const uint8_t *same_layouts(const struct graph *g, struct arena *arena, enum layout layout)
{
    uint8_t *layouts = arena_array(arena, uint8_t, g->tensors.count + 1);
    memset(layouts, layout, g->tensors.count);
    return layouts;
}
