// `benchmark_choices [threads=N] FILE...`: what every choice of a step takes, as the cost database measures it.
// Files have lines as tests/cuda/convolutions.txt, or `product ROWSxINNERxCOLUMNS [gelu]`. A row for each in each layout
// of images: microseconds of the library's way, then of each choice.
#include "backends/costs/choices.h"
#include "backends/backend.h"
#include "backends/contract/choice.h"
#include "backends/costs/layout_policy.h"
#include "backends/cpu/cpu.h"
#include "backends/planning/planner.h"
#include "core/formats/sexp.h"
#include "core/text/error.h"
#include "graph/text.h"
#include "tests/benchmarks/listed_conv.h"
#include "tests/support/scoped.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool print_product(struct text *text, const char *line)
{
    long m, k, n;
    if (sscanf(line, "product %ldx%ldx%ld", &m, &k, &n) != 3)
        return false;
    text_printf(text,
                "(graph (let x (input 0) (f32 %ld %ld)) (let w (weight 0) (f32 %ld %ld)) (let v (weight 1) (f32 %ld))"
                "(let b (broadcast :shape %ld %ld v)) (let c (matmul x w)) (let a (ewadd c b)) %s (output z))",
                m, k, k, n, n, m, n, strstr(line, "gelu") ? "(let z (gelu a))" : "(let z (relu a))");
    return true;
}

static void measure_step(struct backend *b, const struct plan *plan, const struct step *step)
{
    choice_list list = {0};
    struct error error = {0};
    b->methods->list_choices(b, plan, step, &list);
    double least = INFINITY, library = 0;
    for (size_t i = 0; i < list.count; i++) {
        choice_list one = {0};
        struct step_cost cost = {0};
        vec_push(&one, list.items[i]);
        if (!b->methods->measure(b, plan, step, &one, INFINITY, &cost, &error))
            cost.seconds = NAN;
        printf("  %s %.1f", i ? list.items[i].text : "library", 1e6 * cost.seconds);
        if (cost.error > 0)
            printf(" (error %.2g)", cost.error);
        if (!i)
            library = cost.seconds;
        else if (cost.seconds < least)
            least = cost.seconds;
        vec_free(&one);
    }
    printf("  ratio %.2f\n", library / least);
    vec_free(&list);
}

static void measure_line(struct backend *b, const char *line, enum layout layout)
{
    ARENA(arena);
    struct graph g FREED_BY(graph_free);
    struct plan plan = {0};
    struct error error = {0};
    TEXT(text);
    const struct sexp *list;
    graph_init(&g, &arena);
    struct listed_conv conv;
    bool is_conv = listed_conv_read(line, &conv);
    if (is_conv)
        listed_conv_print(&text, &conv);
    if ((is_conv || print_product(&text, line)) &&
        sexp_parse(&arena, "graph", text.chars, strlen(text.chars), &list, &error) &&
        graph_parse(&list->items[0], "graph", &g, &error)) {
        uint8_t *layouts = arena_array(&arena, uint8_t, g.tensors.count);
        memset(layouts, (int)layout, g.tensors.count);
        struct plan_request request = backend_plan_request(b, &g, layouts, &arena);
        if (plan_make(&plan, &request, &error))
            for (size_t i = 0; i < plan.steps.count; i++)
                if (plan.steps.items[i].n_operands == 2) {
                    printf("%s %.*s\n", layout_name(layout), (int)strcspn(line, "\n"), line);
                    measure_step(b, &plan, &plan.steps.items[i]);
                }
        plan_free(&plan);
    }
    if (error.message[0])
        printf("%s\n", error.message);
}

int main(int argc, char **argv)
{
    int threads = 1;
    struct error error = {0};
    for (int i = 1; i < argc; i++)
        sscanf(argv[i], "threads=%d", &threads);
    struct backend *b = cpu_backend_open(&(struct backend_options){.threads = threads, .cost_file = ""}, &error);
    for (int i = 1; b && i < argc; i++) {
        char line[512];
        FILE *f = strchr(argv[i], '=') ? NULL : fopen(argv[i], "r");
        while (f && fgets(line, sizeof line, f)) {
            measure_line(b, line, LAYOUT_CHANNELS_LAST);
            if (strncmp(line, "product", 7) != 0)
                measure_line(b, line, LAYOUT_BLOCKS_OF_16);
        }
        if (f)
            fclose(f);
    }
    if (b)
        backend_close(b);
    return b ? 0 : 1;
}
