// `run_graphs [--costs FILE] [--tf32] [--type f16] [--batch N] [--repeats N] [--save FOLDER] [--serve] [--kernels] GRAPH...`: runs
// graphs in text form (graph/text.h) on a GPU with random weights, and writes a line of JSON for each: the time of the
// whole graph, captured, the sum of its steps' measured costs, and what it has. Costs are kept in FILE. Weights of few
// entries are read from the file beside NAME.graph, NAME.values (`onnx_graph --values`), where there is one.
//
// With --kernels nothing is run: each step of a library is measured beside a kernel from its definition, a line each.
//
// With --batch a graph of one sample is run for N. With --save the folder gets what others need to do the same: the
// graph that was run (graph), the beginning of each weight and input (weight0, ..., raw; to be repeated until it is
// full), and the outputs (output0, ...). With --serve each graph stays ready after that, and for each line with a
// number on the standard input so many times, in seconds, are written, until an empty line.
#include "backends/backend.h"
#include "backends/costs/graph_cost.h"
#include "backends/cuda/cuda.h"
#include "backends/cuda/library.h"
#include "backends/cuda/measure.h"
#include "backends/cuda/tiles.h"
#include "backends/planning/plan_text.h"
#include "core/formats/sexp.h"
#include "core/numbers/random.h"
#include "core/numbers/statistics.h"
#include "core/system/file.h"
#include "core/system/signals.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include "graph/text.h"
#include "tests/cuda/gpu/batch.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_UP_RUNS 5
#define MOST_COMPARED 6   // tiles
#define BLOCK 65536       // entries of a weight or input that differ; the others repeat them

struct running {
    struct backend *backend;
    const char *type;     // in place of f32; NULL: as it is
    const char *folder;   // to save to; NULL: nothing is saved
    int64_t batch;
    bool is_serving, compares_kernels;
    size_t repeats;
    struct arena arena;   // of one graph
    struct graph g;
    struct error error;
};
struct leaves {
    size_t n;
    struct tensor_value *values;
};

// --- the graph -------------------------------------------------------------------------------------------------------

static const char *text_of_graph(struct running *r, const struct file_map *map)
{
    TEXT(text);
    const char *at = arena_string_n(&r->arena, (const char *)map->bytes, map->size);
    for (const char *next; r->type && (next = strstr(at, "f32")); at = next + 3) {
        text_add_n(&text, at, (size_t)(next - at));
        text_add(&text, r->type);
    }
    text_add(&text, at);
    return arena_string(&r->arena, text.chars);
}

static bool open_graph(struct running *r, const char *path)
{
    struct file_map map;
    const struct sexp *list;
    graph_init(&r->g, &r->arena);
    if (!file_map_open(&map, path, &r->error))
        return false;
    const char *text = text_of_graph(r, &map);
    file_map_close(&map);
    if (!sexp_parse(&r->arena, path, text, strlen(text), &list, &r->error) || !list->count ||
        !graph_parse(&list->items[0], path, &r->g, &r->error))
        return false;
    struct graph one = r->g;
    char reason[BATCH_REASON_SIZE];
    if (r->batch == 1)
        return true;
    bool is_made = graph_with_batch(&r->g, &one, r->batch, reason);
    graph_free(&one);
    return is_made || error_set_code(&r->error, EXIT_UNSUPPORTED, path, "no batches: %s", reason);
}

// --- values ----------------------------------------------------------------------------------------------------------

// Normal numbers of about the size that keeps a product's result as large as its operand; one block of them, repeated.
static void fill(struct tensor_value *v, struct random *random)
{
    enum dtype dtype = v->type.dtype;
    size_t size = dtype_size(dtype), n = (size_t)type_elements(&v->type), block = n < BLOCK ? n : BLOCK;
    LOCAL_ARRAY(double, numbers, block + 1);
    double fan_in = v->type.rank > 1 ? (double)n / (double)v->type.dim[v->type.rank == 2] : 1;
    struct tensor_value start = {type_make(dtype, 1, &(int64_t){(int64_t)block}), v->data};
    value_fill_random(&start, random, 2);
    if (dtype_is_float(dtype)) {
        elements_to_reals(dtype, v->data, block, numbers);
        for (size_t i = 0; i < block; i++)
            numbers[i] = fabs(numbers[i]) * sqrt(1 / fmax(1, fan_in)) * (i % 2 ? 1 : -1);
        elements_from_reals(dtype, numbers, block, v->data);
    }
    for (size_t at = block; at < n; at += block)
        memcpy((char *)v->data + at * size, v->data, (n - at < block ? n - at : block) * size);
}

static struct leaves fill_leaves(struct running *r, const struct operator* op, uint64_t seed)
{
    struct leaves leaves = {0, arena_array(&r->arena, struct tensor_value, r->g.nodes.count + 1)};
    struct random random = random_seed(seed);
    for (node_id n = 0; n < r->g.nodes.count; n++) {
        const struct node *node = &r->g.nodes.items[n];
        if (node->op != op || node->attributes[0].ints[0] < 0 ||
            (uint64_t)node->attributes[0].ints[0] >= r->g.nodes.count)
            continue;
        size_t index = (size_t)node->attributes[0].ints[0];
        leaves.values[index].type = *graph_type(&r->g, node->first_output);
        leaves.values[index].data = value_allocate(&r->arena, &leaves.values[index].type);
        fill(&leaves.values[index], &random);
        leaves.n = index + 1 > leaves.n ? index + 1 : leaves.n;
    }
    return leaves;
}

// "number entry entry ..." on each line, for weights that are named so.
static bool read_value(struct leaves *weights, char *line)
{
    char *at;
    unsigned long number = strtoul(line, &at, 10);
    if (number >= weights->n || !weights->values[number].data)
        return true;
    struct tensor_value *v = &weights->values[number];
    for (int64_t i = 0; i < type_elements(&v->type); i++) {
        char *end;
        double entry = strtod(at, &end);
        if (end == at)
            return false;
        elements_from_reals(v->type.dtype, &entry, 1, (char *)v->data + (size_t)i * dtype_size(v->type.dtype));
        at = end;
    }
    return true;
}

static bool read_values(struct running *r, const char *graph, struct leaves *weights)
{
    char path[512], line[1024];
    size_t stem = strlen(graph) - (strlen(graph) > 6 && strcmp(graph + strlen(graph) - 6, ".graph") == 0 ? 6 : 0);
    snprintf(path, sizeof path, "%.*s.values", (int)stem, graph);
    FILE *in = fopen(path, "r");
    bool is_sound = true;
    while (in && is_sound && fgets(line, sizeof line, in))
        is_sound = read_value(weights, line);
    if (in)
        fclose(in);
    return is_sound || error_set_code(&r->error, EXIT_BAD_INPUT, path, "a line has too few entries");
}

static double largest_entry(const struct tensor_value *v)
{
    double largest = 0, entry;
    for (int64_t i = 0; i < type_elements(&v->type); i++) {
        elements_to_reals(v->type.dtype, (const char *)v->data + (size_t)i * dtype_size(v->type.dtype), 1, &entry);
        largest = isfinite(entry) ? fmax(largest, fabs(entry)) : INFINITY;
    }
    return largest;
}

// --- running ---------------------------------------------------------------------------------------------------------

static bool time_model(struct running *r, struct model *m, const struct tensor_value *inputs,
                       struct tensor_value *outputs, struct sample_summary *ret_summary)
{
    double *samples = arena_array(&r->arena, double, r->repeats + 1), ignored;
    for (int i = 0; i < WARM_UP_RUNS; i++)
        if (!model_time(m, inputs, outputs, &ignored, &r->error))
            return false;
    for (size_t i = 0; i < r->repeats; i++)
        if (!model_time(m, inputs, outputs, &samples[i], &r->error))
            return false;
    *ret_summary = sample_summarize(samples, r->repeats);
    return true;
}

static void print_line(const struct running *r, const char *path, struct model *m, const struct estimate *e,
                       const struct sample_summary *s, double largest)
{
    const char *slash = strrchr(path, '/');
    printf(
        "{\"graph\": \"%s\", \"type\": \"%s\", \"batch\": %lld, \"device\": \"%s\", \"seconds\": %.6g, \"spread\": "
        "%.3f, "
        "\"sum_of_costs\": %.6g, \"steps\": %u, \"guessed\": %u, \"working_bytes\": %zu, \"largest_output\": %.6g}\n",
        slash ? slash + 1 : path, r->type ? r->type : "f32", (long long)r->batch, r->backend->device, s->median,
        s->spread, e->seconds, e->n_steps, e->n_guessed, model_plan(m)->arena_bytes, isfinite(largest) ? largest : -1);
    fflush(stdout);
}

// --- others ----------------------------------------------------------------------------------------------------------

static bool save_bytes(struct running *r, const char *name, size_t number, const struct tensor_value *v, size_t most)
{
    char path[512];
    size_t n = (size_t)type_elements(&v->type);
    snprintf(path, sizeof path, "%s/%s%zu", r->folder, name, number);
    return file_write_text(path, v->data, (n < most ? n : most) * dtype_size(v->type.dtype), &r->error);
}

static bool save(struct running *r, const struct leaves *weights, const struct leaves *inputs,
                 const struct tensor_value *outputs)
{
    struct text text = {0};
    char path[512];
    graph_print(&text, &r->g);
    snprintf(path, sizeof path, "%s/graph", r->folder);
    bool is_saved = file_write_text(path, text.chars, strlen(text.chars), &r->error);
    text_free(&text);
    for (size_t i = 0; is_saved && i < weights->n; i++)
        is_saved = !weights->values[i].data || save_bytes(r, "weight", i, &weights->values[i], BLOCK);
    for (size_t i = 0; is_saved && i < inputs->n; i++)
        is_saved = !inputs->values[i].data || save_bytes(r, "input", i, &inputs->values[i], BLOCK);
    for (size_t i = 0; is_saved && i < r->g.outputs.count; i++)
        is_saved = save_bytes(r, "output", i, &outputs[i], SIZE_MAX);
    return is_saved;
}

static bool serve(struct running *r, struct model *m, const struct tensor_value *inputs, struct tensor_value *outputs)
{
    char line[64];
    while (fgets(line, sizeof line, stdin) && *line != '\n') {
        double seconds;
        for (long n = strtol(line, NULL, 10); n > 0; n--) {
            if (!model_time(m, inputs, outputs, &seconds, &r->error))
                return false;
            printf("%.6g%s", seconds, n > 1 ? " " : "");
        }
        printf("\n");
        fflush(stdout);
    }
    return true;
}

static void compare_kernel(struct running *r, const struct plan *plan, const struct step *step,
                           const struct step_cost *cost, const char *by, const choice_list *among)
{
    struct step_cost compared;
    TEXT(text);
    step_print(&text, plan, step);
    for (char *c = text.chars; *c; c++)
        *c = *c == '"' ? ' ' : *c;
    if (cuda_measure(r->backend, plan, step, among, cost->seconds, &compared, &r->error))
        printf("{\"kernel\": \"%s\", \"step\": \"%s\", \"best\": %.6g, \"choice\": \"%s\", \"by\": \"%s\", "
               "\"seconds\": %.6g, \"as\": \"%s\"}\n",
               step->kernel->name, text.chars, cost->seconds, cost->choice, by, compared.seconds, compared.choice);
    fflush(stdout);
}

// Beside a kernel from the definition, and by those tiles that are worth a trial. A kernel that is far slower than the
// library is not measured well.
static void compare_kernels(void *context, const struct plan *plan, const struct step *step,
                            const struct step_cost *cost)
{
    struct running *r = context;
    choice_list tiles = {0}, all = {0}, engines = {0};
    struct kernel_tile ignored;
    if (!cuda_is_library_step(step))
        return;
    cuda_list_tiles((struct cuda_backend *)r->backend, plan, step, MOST_COMPARED, &tiles);
    r->backend->methods->list_choices(r->backend, plan, step, &all);
    for (size_t i = 0; i < all.count; i++)
        if (!kernel_tile_parse(all.items[i].text, &ignored) && strcmp(all.items[i].text, CHOICE_GENERATED) != 0)
            vec_push(&engines, all.items[i]);
    compare_kernel(r, plan, step, cost, "library", &engines);
    vec_push(&tiles, ((struct listed_choice){.text = CHOICE_GENERATED}));
    for (size_t i = 0; i < tiles.count; i++)
        compare_kernel(r, plan, step, cost, "kernel", &(choice_list){&tiles.items[i], 1, 1});
    vec_free(&tiles);
    vec_free(&all);
    vec_free(&engines);
}

static bool run_graph(struct running *r, const char *path)
{
    struct estimate estimate;
    struct sample_summary summary;
    double largest = 0;
    if (!open_graph(r, path) || !backend_estimate(r->backend, &r->g, &estimate, &r->error))
        return false;
    if (r->compares_kernels)
        return backend_visit_steps(r->backend, &r->g, compare_kernels, r, &r->error);
    struct leaves weights = fill_leaves(r, operators[OP_WEIGHT], 1), inputs = fill_leaves(r, operators[OP_INPUT], 2);
    struct model *m = NULL;
    if (read_values(r, path, &weights))
        m = backend_prepare(r->backend, &r->g, weights.n, weights.values, &r->error);
    if (!m)
        return false;
    struct tensor_value *outputs = arena_array(&r->arena, struct tensor_value, r->g.outputs.count + 1);
    model_allocate_outputs(m, outputs, &r->arena);
    bool is_run = time_model(r, m, inputs.values, outputs, &summary);
    for (size_t i = 0; is_run && i < r->g.outputs.count; i++)
        largest = fmax(largest, largest_entry(&outputs[i]));
    is_run = is_run && (!r->folder || save(r, &weights, &inputs, outputs));
    if (is_run)
        print_line(r, path, m, &estimate, &summary, largest);
    is_run = is_run && (!r->is_serving || serve(r, m, inputs.values, outputs));
    model_free(m);
    return is_run;
}

static const char *value_of(int argc, char **argv, int *at)
{
    return *at + 1 < argc ? argv[++*at] : "";
}

int main(int argc, char **argv)
{
    struct running r = {.repeats = 50, .batch = 1};
    struct backend_options options = {.cost_file = "", .seconds_per_step = 0.02};
    bool is_failed = false;
    int first = 1;
    signals_install();   // what was measured until then is kept
    for (; first < argc && strncmp(argv[first], "--", 2) == 0; first++) {
        if (strcmp(argv[first], "--costs") == 0)
            options.cost_file = value_of(argc, argv, &first);
        else if (strcmp(argv[first], "--type") == 0)
            r.type = value_of(argc, argv, &first);
        else if (strcmp(argv[first], "--repeats") == 0)
            r.repeats = (size_t)strtoul(value_of(argc, argv, &first), NULL, 10);
        else if (strcmp(argv[first], "--batch") == 0)
            r.batch = strtol(value_of(argc, argv, &first), NULL, 10);
        else if (strcmp(argv[first], "--save") == 0)
            r.folder = value_of(argc, argv, &first);
        else if (strcmp(argv[first], "--serve") == 0)
            r.is_serving = true;
        else if (strcmp(argv[first], "--kernels") == 0)
            r.compares_kernels = true;
        else if (strcmp(argv[first], "--tf32") == 0)
            options.allows_tf32 = true;
    }
    r.repeats = r.repeats < 1 ? 1 : r.repeats;
    r.batch = r.batch < 1 ? 1 : r.batch;
    r.backend = cuda_backend_open(&options, &r.error);
    if (!r.backend || !backend_can_run(r.backend)) {
        fprintf(stderr, "run_graphs: %s\n", r.backend ? "no GPU" : r.error.message);
        backend_close(r.backend);
        return 77;
    }
    for (int i = first; i < argc; i++) {
        arena_init(&r.arena);
        if (!run_graph(&r, argv[i])) {
            error_exit(argv[i], &r.error);
            if (r.is_serving && r.error.code == EXIT_UNSUPPORTED)
                printf("{\"absent\": \"%s\"}\n", r.error.message);
            is_failed = true;
        }
        graph_free(&r.g);
        arena_free(&r.arena);
    }
    backend_close(r.backend);
    return is_failed;
}
