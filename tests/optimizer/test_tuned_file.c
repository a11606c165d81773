// The decisions of tuning are in the compiled model: it is planned as it was when it was written, and computes the
// same.
#include "core/system/temporary.h"
#include "optimizer/compiled/compile.h"
#include "tests/backends/processor.h"
#include "tests/support/parse_graph.h"

#define NETWORK                                                                                                        \
    "x = f32 1 16 8 8; w = weight f32 16 16 3 3; a = conv :stride 1 1 :pad 1 1 1 1 x w; b = relu a; c = ewadd b x; d " \
    "= sigmoid c"

// Nothing is fused.
static bool keep_all_apart(void *context, const struct graph *g, uint8_t *decisions)
{
    for (tensor_id t = 0; t < g->tensors.count; t++)
        if (!(graph_producer(g, t)->op->flags & OPERATOR_IS_LEAF))
            decisions[t] |= PLAN_APART;
    return false;
}

static struct model *prepare(void *context, const struct graph *g, const uint8_t *layouts,
                             const struct given_weights *weights, struct error *error)
{
    return backend_prepare_from(context, g, layouts, NULL, weights, error);
}

static void write_model(struct backend *cpu, const struct graph *g, float *weights, const char *path)
{
    static const char *const inputs[] = {"x"}, *const outputs[] = {"d"};
    const struct type types[] = {*graph_type(g, 0)};
    struct tensor_value value = {.type = *graph_type(g, 1), .data = weights};
    const struct compile_request request = {.graph = g,
                                            .weights = {1, &value, NULL},
                                            .n_inputs = 1,
                                            .n_outputs = 1,
                                            .input_names = inputs,
                                            .output_names = outputs,
                                            .input_types = types,
                                            .backend = cpu,
                                            .prepare = prepare,
                                            .context = cpu};
    OK(compiled_model_write(&request, path, &error));
}

static size_t run_model(struct backend *cpu, const char *path, float *input, float *ret_output)
{
    struct error error = {0};
    struct compiled_model m FREED_BY(compiled_model_close);
    if (!compiled_model_open(&m, path, &error))
        fail_msg("%s", error.message);
    struct model *model = compiled_model_prepare(&m, cpu, &error);
    assert_non_null(model);
    struct tensor_value x = {.type = *graph_type(&m.graph, m.inputs.items[0].tensor), .data = input};
    struct tensor_value y = {.type = *graph_type(&m.graph, m.outputs.items[0].tensor), .data = ret_output};
    assert_true(model_run(model, &x, &y, &error));
    size_t n = model_plan(model)->steps.count;
    model_free(model);
    return n;
}

TEST(decisions_are_in_the_file)
{
    ARENA(arena);
    GRAPH(g, &arena, NETWORK);
    static float x[16 * 64], w[16 * 16 * 9], fused[16 * 64], apart[16 * 64];
    const struct tuned_passes tuned = {NULL, keep_all_apart};
    struct random random = random_seed(1);
    struct temporary_folder folder FREED_BY(temporary_folder_remove) = {0};
    char path[sizeof folder.path + 16];
    assert_true(temporary_folder_make(&folder, &(struct error){0}));
    snprintf(path, sizeof path, "%s/tuned.taso", folder.path);
    for (size_t i = 0; i < COUNT_OF(x); i++)
        x[i] = (float)random_normal(&random);
    for (size_t i = 0; i < COUNT_OF(w); i++)
        w[i] = (float)random_normal(&random);
    CPU(cpu, .threads = 1);
    write_model(cpu, &g, w, path);
    size_t n_fused = run_model(cpu, path, x, fused);
    cpu->policy = LAYOUTS_TUNED;
    cpu->tuned = &tuned;
    write_model(cpu, &g, w, path);
    cpu->policy = LAYOUTS_STANDARD;
    cpu->tuned = NULL;
    size_t n_apart = run_model(cpu, path, x, apart);
    print_message("%zu steps, %zu apart\n", n_fused, n_apart);
    assert_true(n_apart > n_fused);
    for (size_t i = 0; i < COUNT_OF(fused); i++)
        assert_true(fabsf(fused[i] - apart[i]) < 1e-5);
}
