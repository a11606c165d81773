// `search [NAME:N]...`: times the search with a made-up cost on synthetic graphs of N repeated blocks. Prints a row for
// each: nodes before and after, estimated gain, seconds, and what the search did.
#include "core/text/error.h"
#include "optimizer/search/backtracking/backtracking.h"
#include "tests/benchmarks/search_cost.h"
#include "tests/support/graph_text.h"
#include <time.h>

static const char *const standard_names[] = {"rnn:5", "attention:12", "inception:12", "inception:200",
                                             "inception:1250"};

// --- synthetic graphs ------------------------------------------------------------------------------------------------

#define CONV_RELU(to, from, weights, pad)                                                                              \
    "w" to "# = weight f32 " weights "; c" to "# = conv :pad " pad " " from "# w" to "#; " to "# = relu c" to "#; "
#define GATE(i, function, w, u)                                                                                        \
    "p" i "# = matmul x# " w "; q" i "# = matmul h# " u "; s" i "# = ewadd p" i "# q" i "#; g" i "# = " function       \
    " s" i "#; "
#define PROJECTED(to, perm)                                                                                            \
    "w" to "# = weight f32 1024 1024; v" to "# = weight f32 1024; p" to "# = matmul x# w" to "#; "                     \
    "b" to "# = broadcast :shape 64 1024 v" to "#; s" to "# = ewadd p" to "# b" to "#; "                               \
    "r" to "# = reshape :shape 64 16 64 s" to "#; " to "# = transpose :perm " perm " r" to "#; "

#define PROJECTED_THRICE PROJECTED("a", "1 0 2") PROJECTED("c", "1 2 0") PROJECTED("d", "1 0 2")
#define BRANCHES                                                                                                       \
    CONV_RELU("a", "x", "16 64 1 1", "0 0 0 0")                                                                        \
    CONV_RELU("b", "x", "8 64 1 1", "0 0 0 0")                                                                         \
    CONV_RELU("d", "b", "16 8 3 3", "1 1 1 1")                                                                         \
    CONV_RELU("e", "x", "8 64 1 1", "0 0 0 0")                                                                         \
    CONV_RELU("f", "e", "16 8 5 5", "2 2 2 2") CONV_RELU("g", "x", "16 64 1 1", "0 0 0 0")
#define GATES                                                                                                          \
    GATE("0", "relu", "a", "b")                                                                                        \
    GATE("1", "sigmoid", "c", "d")                                                                                     \
    GATE("2", "relu", "e", "f")                                                                                        \
    GATE("3", "sigmoid", "g", "i")                                                                                     \
    GATE("4", "relu", "j", "k")                                                                                        \
    GATE("5", "sigmoid", "l", "m") GATE("6", "relu", "n", "o") GATE("7", "sigmoid", "p", "q")

static const struct {
    const char *name, *leaves, *block;
} kinds[] = {
    {"inception:", "x1 = f32 1 64 28 28; ", BRANCHES "x@ = concat 1 a# d# f# g#; "},
    {"rnn:", "h1 = f32 1 512; a b c d e f g i j k l m n o p q = weight f32 512 512; ",
     "x# = f32 1 512; " GATES "a# = ewmul g0# g1#; b# = ewadd g2# g3#; c# = ewmul g4# g5#; d# = ewadd g6# g7#; "
     "e# = tanh a#; f# = tanh b#; i# = tanh c#; j# = tanh d#; k# = ewadd e# f#; l# = ewmul i# j#; m# = ewmul k# l#; "
     "h@ = tanh m#; "},
    {"attention:", "x1 = f32 64 1024; ",
     PROJECTED_THRICE
     "e# = matmul a# c#; f# = matmul e# d#; g# = transpose :perm 1 0 2 f#; "
     "h# = reshape :shape 64 1024 g#; i# = weight f32 1024 1024; j# = matmul h# i#; k# = ewadd x# j#; "
     "l# = weight f32 1024 2048; m# = matmul k# l#; n# = relu m#; o# = weight f32 2048 1024; q# = matmul n# o#; "
     "x@ = ewadd k# q#; "},
};

// False: it is no graph of blocks.
static bool make_synthetic(struct graph *ret_graph, struct arena *a, const char *name, struct error *error)
{
    TEXT(text);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(name, kinds[i].name, strlen(kinds[i].name)) == 0) {
            text_add(&text, kinds[i].leaves);
            graph_text_add_blocks(&text, kinds[i].block, atoi(name + strlen(kinds[i].name)));
        }
    return text.count ? graph_read_text(ret_graph, a, text.chars, error)
                      : error_set_code(error, EXIT_USAGE, name, "is no graph of blocks");
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
    struct graph g FREED_BY(graph_free) = {0};
    bool is_made = make_synthetic(&g, &a, name, error);
    if (is_made)
        search_and_print(name, &g, rules);
    return is_made;
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
