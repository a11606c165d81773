// The decisions of tuning are in the compiled model: it is planned as it was when it was written, computes the same, and
// is what contests are held over.
#include "core/system/temporary.h"
#include "optimizer/compiled/compile.h"
#include "optimizer/measure/contenders.h"
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

static void write_model(struct backend *cpu, const struct graph *g, const struct given_weights *weights,
                        const char *path)
{
    static const char *const inputs[] = {"x"}, *const outputs[] = {"d"};
    const struct type types[] = {*graph_type(g, 0)};
    const struct compile_request request = {.graph = g,
                                            .weights = *weights,
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
    const struct tensor_value value = {.type = *graph_type(&g, 1), .data = w};
    const struct given_weights weights = {1, &value, NULL};
    write_model(cpu, &g, &weights, path);
    size_t n_fused = run_model(cpu, path, x, fused);
    cpu->policy = LAYOUTS_TUNED;
    cpu->tuned = &tuned;
    write_model(cpu, &g, &weights, path);
    cpu->policy = LAYOUTS_STANDARD;
    cpu->tuned = NULL;
    size_t n_apart = run_model(cpu, path, x, apart);
    print_message("%zu steps, %zu apart\n", n_fused, n_apart);
    assert_true(n_apart > n_fused);
    for (size_t i = 0; i < COUNT_OF(fused); i++)
        assert_true(fabsf(fused[i] - apart[i]) < 1e-5);
}

// The last weight is computed in a job, and is one of a file's.
#define SHARING                                                                                                        \
    "x = f32 1 64 8 8; u = weight f32 64 64 3 3; v = weight f32 64 64 3 3; w = weight f32 64 64 3 3; a = conv "        \
    ":stride "                                                                                                         \
    "1 1 :pad 1 1 1 1 x v; b = conv :stride 1 1 :pad 1 1 1 1 a v; c = conv :stride 1 1 :pad 1 1 1 1 b w; s = ewadd u " \
    "v; d = conv :stride 1 1 :pad 1 1 1 1 c s"

// From the weight that two steps share to that of the third.
static ptrdiff_t distance_of_third(const struct model *m)
{
    LOCAL_LIST(packed_weights, list);
    model_list_packed(m, &list);
    assert_true(list.count >= 3);
    assert_ptr_equal(list.items[0].data, list.items[1].data);
    return (const char *)list.items[2].data - (const char *)list.items[0].data;
}

// Contests in a job are held among models that it prepares, and say nothing of a file that lies otherwise.
TEST(a_file_lies_in_memory_as_the_model_it_was_made_of)
{
    ARENA(arena);
    GRAPH(g, &arena, SHARING);
    struct error error = {0};
    struct temporary_folder folder FREED_BY(temporary_folder_remove) = {0};
    char path[sizeof folder.path + 16];
    assert_true(temporary_folder_make(&folder, &error));
    snprintf(path, sizeof path, "%s/lies.taso", folder.path);
    struct tensor_value values[3];
    struct random random = random_seed(1);
    for (tensor_id i = 0; i < COUNT_OF(values); i++) {
        values[i] = (struct tensor_value){.type = *graph_type(&g, 1 + i)};
        values[i].data = value_allocate(&arena, &values[i].type);
        value_fill_random(&values[i], &random, 2);
    }
    const struct given_weights weights = {COUNT_OF(values), values, NULL};
    CPU(cpu, .threads = 1);
    struct model *of_job = prepare(cpu, &g, NULL, &weights, &error);
    assert_non_null(of_job);
    write_model(cpu, &g, &weights, path);
    struct compiled_model file FREED_BY(compiled_model_close);
    assert_true(compiled_model_open(&file, path, &error));
    struct model *of_file = compiled_model_prepare(&file, cpu, &error);
    assert_non_null(of_file);
    assert_int_equal(distance_of_third(of_file), distance_of_third(of_job));
    model_free(of_file);
    model_free(of_job);
}

#define LONG                                                                                                           \
    "x = f32 1 32 128 128; a = relu x; b = ewadd a x; c = ewmul b x; e = ewadd c x; f = ewmul e x; h = ewadd f x; "    \
    "d = ewmul h x"

// The files pass over memory once and seven times: a contest that prepared both from their graph would find them equal.
TEST(contests_are_held_over_files)
{
    ARENA(arena);
    GRAPH(g, &arena, LONG);
    const struct tuned_passes tuned = {NULL, keep_all_apart};
    struct error error = {0};
    struct temporary_folder folder FREED_BY(temporary_folder_remove) = {0};
    char paths[2][sizeof folder.path + 16];
    assert_true(temporary_folder_make(&folder, &error));
    CPU(cpu, .threads = 1);
    cpu->tuned = &tuned;
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof *paths, "%s/%d.taso", folder.path, i);
        cpu->policy = i ? LAYOUTS_STANDARD : LAYOUTS_TUNED;
        write_model(cpu, &g, &(struct given_weights){0, NULL, NULL}, paths[i]);
    }
    struct optimize_options options = {.measure_seconds = 0.1, .seed = 1};
    struct optimizing o = {.options = &options, .backend = cpu, .checker = cpu, .error = &error, .model = {.graph = g}};
    o.time.remaining.phases = &o.time.phases;
    cut_plan_init(&o.inputs.cut, &g, 1);
    double gain = contenders_gain(&o, &g, (const char *const[]){paths[0], paths[1]});
    print_message("%.2f times as fast fused\n", gain);
    assert_true(gain > 1);
    assert_true(contenders_gain(&o, &g, (const char *const[]){paths[1], paths[0]}) == 0);
    arena_free(&o.model.arena);
}
