// `search [NAME:N]...`: times the search with a made-up cost on synthetic graphs of N repeated blocks. Prints a row for
// each: nodes before and after, estimated gain, seconds, and what the search did.
#include "core/memory/memory.h"
#include "core/text/error.h"
#include "graph/graph.h"
#include "optimizer/search/backtracking/backtracking.h"
#include "optimizer/search/result.h"
#include "tests/benchmarks/search_cost.h"
#include "tests/support/scoped.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const standard_names[] = {"rnn:5", "attention:12", "inception:12", "inception:200",
                                             "inception:1250"};

// --- synthetic graphs ------------------------------------------------------------------------------------------------

struct builder {
    struct graph *g;
    struct arena *a;
    int64_t n_weights;
};

static tensor_id weight(struct builder *b, int rank, const int64_t *dim)
{
    struct type type = type_make(DTYPE_F32, rank, dim);
    return graph_add_leaf(b->g, operators[OP_WEIGHT], b->n_weights++, &type);
}

static tensor_id apply(struct builder *b, enum operator_id op, const char *attribute, uint32_t count,
                       const int64_t *ints, uint32_t n, const tensor_id *inputs)
{
    struct attribute_value values[MAX_ATTRIBUTES];
    node_id node;
    operator_standard_attributes(operators[op], b->a, values);
    if (attribute)
        values[operator_find_attribute(operators[op], attribute)] = (struct attribute_value){count, ints};
    if (!graph_add(b->g, operators[op], values, n, inputs, &node)) {
        fprintf(stderr, "%s: %s\n", operators[op]->name, graph_refusal(b->g));
        exit(70);
    }
    return graph_output_of(b->g, node, 0);
}

static tensor_id unary(struct builder *b, enum operator_id op, tensor_id x)
{
    return apply(b, op, NULL, 0, NULL, 1, &x);
}

static tensor_id binary(struct builder *b, enum operator_id op, tensor_id x, tensor_id y)
{
    return apply(b, op, NULL, 0, NULL, 2, (tensor_id[]){x, y});
}

static tensor_id conv_relu(struct builder *b, tensor_id x, int64_t filters, int64_t kernel)
{
    const int64_t *image = graph_type(b->g, x)->dim;
    int64_t pad = kernel / 2;
    tensor_id k = weight(b, 4, (int64_t[]){filters, image[1], kernel, kernel});
    tensor_id y = apply(b, OP_CONV, "pad", 4, (int64_t[]){pad, pad, pad, pad}, 2, (tensor_id[]){x, k});
    return unary(b, OP_RELU, y);
}

static void add_inception(struct builder *b, int64_t n)
{
    struct type type = type_make(DTYPE_F32, 4, (int64_t[]){1, 64, 28, 28});
    tensor_id x = graph_add_leaf(b->g, operators[OP_INPUT], 0, &type);
    int64_t axis = 1;
    for (int64_t i = 0; i < n; i++) {
        tensor_id branches[4] = {conv_relu(b, x, 16, 1), conv_relu(b, conv_relu(b, x, 8, 1), 16, 3),
                                 conv_relu(b, conv_relu(b, x, 8, 1), 16, 5), conv_relu(b, x, 16, 1)};
        x = apply(b, OP_CONCAT, "axis", 1, &axis, 4, branches);
    }
    graph_add_output(b->g, x);
}

static void add_rnn(struct builder *b, int64_t n)
{
    struct type type = type_make(DTYPE_F32, 2, (int64_t[]){1, 512});
    tensor_id h = graph_add_leaf(b->g, operators[OP_INPUT], 0, &type), w[16], gate[8];
    for (int i = 0; i < 16; i++)
        w[i] = weight(b, 2, (int64_t[]){512, 512});
    for (int64_t step = 1; step <= n; step++) {
        tensor_id x = graph_add_leaf(b->g, operators[OP_INPUT], step, &type);
        for (int i = 0; i < 8; i++)
            gate[i] =
                unary(b, i % 2 ? OP_SIGMOID : OP_RELU,
                      binary(b, OP_EWADD, binary(b, OP_MATMUL, x, w[2 * i]), binary(b, OP_MATMUL, h, w[2 * i + 1])));
        for (int i = 0; i < 4; i++)
            gate[i] = unary(b, OP_TANH, binary(b, i % 2 ? OP_EWADD : OP_EWMUL, gate[2 * i], gate[2 * i + 1]));
        h = unary(b, OP_TANH,
                  binary(b, OP_EWMUL, binary(b, OP_EWADD, gate[0], gate[1]), binary(b, OP_EWMUL, gate[2], gate[3])));
    }
    graph_add_output(b->g, h);
}

static void add_attention(struct builder *b, int64_t n)
{
    struct type type = type_make(DTYPE_F32, 2, (int64_t[]){64, 1024});
    tensor_id x = graph_add_leaf(b->g, operators[OP_INPUT], 0, &type), projected[3];
    for (int64_t i = 0; i < n; i++) {
        for (int j = 0; j < 3; j++) {
            tensor_id y = binary(b, OP_MATMUL, x, weight(b, 2, (int64_t[]){1024, 1024}));
            tensor_id bias = apply(b, OP_BROADCAST, "shape", 2, (int64_t[]){64, 1024}, 1,
                                   (tensor_id[]){weight(b, 1, (int64_t[]){1024})});
            y = apply(b, OP_RESHAPE, "shape", 3, (int64_t[]){64, 16, 64}, 1,
                      (tensor_id[]){binary(b, OP_EWADD, y, bias)});
            projected[j] =
                apply(b, OP_TRANSPOSE, "perm", 3, j == 1 ? (int64_t[]){1, 2, 0} : (int64_t[]){1, 0, 2}, 1, &y);
        }
        tensor_id attended = binary(b, OP_MATMUL, binary(b, OP_MATMUL, projected[0], projected[1]), projected[2]);
        attended = apply(b, OP_TRANSPOSE, "perm", 3, (int64_t[]){1, 0, 2}, 1, &attended);
        attended = apply(b, OP_RESHAPE, "shape", 2, (int64_t[]){64, 1024}, 1, &attended);
        x = binary(b, OP_EWADD, x, binary(b, OP_MATMUL, attended, weight(b, 2, (int64_t[]){1024, 1024})));
        tensor_id hidden = unary(b, OP_RELU, binary(b, OP_MATMUL, x, weight(b, 2, (int64_t[]){1024, 2048})));
        x = binary(b, OP_EWADD, x, binary(b, OP_MATMUL, hidden, weight(b, 2, (int64_t[]){2048, 1024})));
    }
    graph_add_output(b->g, x);
}

static const struct {
    const char *name;
    void (*add)(struct builder *b, int64_t n);
} kinds[] = {{"inception:", add_inception}, {"rnn:", add_rnn}, {"attention:", add_attention}};

static bool add_synthetic(struct graph *g, const char *name)
{
    struct builder b = {.g = g, .a = g->arena};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(name, kinds[i].name, strlen(kinds[i].name)) == 0) {
            kinds[i].add(&b, atoll(name + strlen(kinds[i].name)));
            return true;
        }
    return false;
}

// --- measuring -------------------------------------------------------------------------------------------------------

static void search_and_print(const char *name, const struct graph *g, const struct rule_set *rules)
{
    const struct cost_model cost = {made_up_seconds, NULL, 0, NULL};
    clock_t started = clock();   // of the processor: other programs do not count
    struct search_result r FREED_BY(search_result_free);
    search_graph(g, rules, &cost, &search_standard_options, &r);
    double seconds = (double)(clock() - started) / CLOCKS_PER_SEC;
    printf(
        "%-24s %6zu -> %6zu nodes, %9.3f -> %9.3f ms (%5.1f %%), %7.3f s, %llu expanded, %llu matches, %llu adopted, "
        "%llu/%llu regions repeated, %llu/%llu prices known, %llu duplicates, %llu cyclic, %zu MiB\n",
        name, g->nodes.count, r.graph.nodes.count, 1e3 * r.seconds_before, 1e3 * r.seconds_after,
        100 * (r.seconds_before / r.seconds_after - 1), seconds, (unsigned long long)r.statistics.expanded,
        (unsigned long long)r.statistics.matches, (unsigned long long)r.statistics.adopted,
        (unsigned long long)r.statistics.repeated, (unsigned long long)(r.statistics.regions + r.statistics.repeated),
        (unsigned long long)r.statistics.remembered, (unsigned long long)r.statistics.priced,
        (unsigned long long)r.statistics.duplicates, (unsigned long long)r.statistics.cyclic,
        mem_peak_resident() >> 20);
}

static bool measure(const char *name, const struct rule_set *rules, struct error *error)
{
    ARENA(a);
    struct graph g FREED_BY(graph_free);
    graph_init(&g, &a);
    bool is_synthetic = add_synthetic(&g, name);
    if (is_synthetic)
        search_and_print(name, &g, rules);
    return is_synthetic || error_set_code(error, EXIT_USAGE, name, "is no graph of blocks");
}

int main(int argc, char **argv)
{
    ARENA(a);
    struct rule_set rules FREED_BY(rule_set_free);
    struct error error = {0};
    rule_set_init(&rules, &a);
    bool is_fine =
        rule_set_read(&rules, getenv("TASO_RULES") ? getenv("TASO_RULES") : "substitutions/taso.rules", &error);
    int n_standard = (int)(sizeof standard_names / sizeof *standard_names);
    for (int i = 0; is_fine && i < (argc > 1 ? argc - 1 : n_standard); i++)
        is_fine = measure(argc > 1 ? argv[i + 1] : standard_names[i], &rules, &error);
    if (!is_fine)
        fprintf(stderr, "%s: %s\n", error.file, error.message);
    return is_fine ? 0 : 3;
}
