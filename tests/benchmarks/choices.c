// `benchmark_choices [threads=N] [seconds=N] FILE...`: what every choice of a step takes, as the cost database measures
// it. Files have lines as tests/cuda/convolutions.txt, or `product ROWSxINNERxCOLUMNS [gelu]`. A row for each in each
// layout of images: microseconds of the library's way, then of each choice.
//
// Of a file *.onnx every distinct convolution, product and step of loops is measured in both layouts, some schedules of
// tiles always among the choices. A line for each choice, with tabs between: its kernel, the layout, what the step is,
// operations, bytes, least seconds by bytes and by functions, choice, seconds, error. `seconds` is how long it goes on;
// the exit code is 3 when there was no time for all.
#include "backends/backend.h"
#include "backends/costs/layout_policy.h"
#include "backends/cpu/cpu.h"
#include "backends/cpu/roofline.h"
#include "backends/planning/plan_memory.h"
#include "backends/planning/plan_text.h"
#include "backends/planning/planner.h"
#include "core/memory/key_set.h"
#include "core/system/clock.h"
#include "tests/benchmarks/listed_conv.h"
#include "tests/onnx/with_model.h"
#include "tests/support/graph_text.h"
#include <math.h>

static bool print_product(struct text *text, const char *line)
{
    long m, k, n;
    if (sscanf(line, "product %ldx%ldx%ld", &m, &k, &n) != 3)
        return false;
    text_printf(text,
                "x = f32 %ld %ld; w = weight f32 %ld %ld; v = weight f32 %ld; b = broadcast :shape %ld %ld v; "
                "c = matmul x w; a = ewadd c b; z = %s a",
                m, k, k, n, n, m, n, strstr(line, "gelu") ? "gelu" : "relu");
    return true;
}

static void measure_step(struct backend *b, const struct plan *plan, const struct step *step)
{
    LOCAL_LIST(choice_list, list);
    struct error error = {0};
    b->methods->list_choices(b, plan, step, &list);
    double least = INFINITY, library = 0;
    for (size_t i = 0; i < list.count; i++) {
        LOCAL_LIST(choice_list, one);
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
    }
    printf("  ratio %.2f\n", library / least);
}

static void measure_line(struct backend *b, const char *line, enum layout layout)
{
    ARENA(arena);
    struct graph g FREED_BY(graph_free) = {0};
    struct plan plan = {0};
    struct error error = {0};
    TEXT(text);
    struct listed_conv conv;
    bool is_conv = listed_conv_read(line, &conv);
    if (is_conv)
        listed_conv_print(&text, &conv);
    if ((is_conv || print_product(&text, line)) && graph_read_text(&g, &arena, text.chars, &error)) {
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

// --- models ----------------------------------------------------------------------------------------------------------

#define NEAR_PLACES 32768   // that are in the near cache, with their results

struct measuring {
    struct backend *b;
    struct arena arena;
    struct key_set seen;
    struct roofline roofline;
    double seconds_of[FN_COUNT];   // an entry
    double end;
    bool is_late;
};

// The step's computation, whatever the layout: operator, attributes, shapes, and what is behind it.
static void describe_step(struct text *out, const struct plan *plan, const struct step *step)
{
    const struct loop *l = step->n_loops ? &step->loops[0] : NULL;
    if (step->node == NO_NODE || strcmp(step->kernel->name, "loops") == 0) {
        step_print_key(out, plan, step);
        return;
    }
    const struct node *n = &plan->graph->nodes.items[step->node];
    text_printf(out, "%s %llx", n->op->name, (unsigned long long)n->label);
    for (int i = 0; i < step->n_operands; i++) {
        text_add(out, " ");
        for (int axis = 0; axis < step->operands[i].rank; axis++)
            text_printf(out, axis ? "x%lld" : "%lld", (long long)step->operands[i].dim[axis]);
    }
    for (int i = 0; l && i < l->n_instructions; i++)
        text_printf(out, " %s",
                    l->instructions[i].kind == INSTRUCTION_APPLY
                        ? function_name((enum scalar_function)l->instructions[i].fn)
                        : "constant");
}

// Seconds for functions that take longer than memory does, at their own rates.
static double seconds_of_functions(const struct measuring *m, const struct step *step)
{
    double seconds = 0;
    for (int i = 0; i < step->n_loops; i++)
        for (int k = 0; k < step->loops[i].n_instructions; k++) {
            const struct instruction *at = &step->loops[i].instructions[k];
            seconds += at->kind == INSTRUCTION_APPLY ? m->seconds_of[at->fn] * loop_places(&step->loops[i]) : 0;
        }
    return seconds;
}

static double best_seconds(struct measuring *m, const struct plan *plan, const struct step *step)
{
    LOCAL_LIST(choice_list, list);
    struct step_cost cost = {.seconds = INFINITY};
    m->b->methods->list_choices(m->b, plan, step, &list);
    m->b->methods->measure(m->b, plan, step, &list, INFINITY, &cost, &(struct error){0});
    return cost.seconds;
}

// The time of a function for an entry, of so many as the near cache holds.
static void find_rates(struct measuring *m)
{
    static const enum scalar_function functions[] = {FN_EXP, FN_SIGMOID, FN_TANH, FN_ERF};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        struct graph g FREED_BY(graph_free);
        struct plan plan FREED_BY(plan_free) = {0};
        struct error error = {0};
        TEXT(text);
        text_printf(&text, "x = f32 %d; z = %s x", NEAR_PLACES, function_name(functions[i]));
        if (!graph_read_text(&g, &m->arena, text.chars, &error))
            continue;
        struct plan_request request = backend_plan_request(m->b, &g, NULL, &m->arena);
        if (plan_make(&plan, &request, &error))
            m->seconds_of[functions[i]] = best_seconds(m, &plan, &plan.steps.items[0]) / NEAR_PLACES;
    }
}

// Where the library is at the processor's peak a search tries no tiles; here they are tried.
static void add_tiles(struct measuring *m, const struct plan *plan, const struct step *step, choice_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->items[i].text, "tile", 4) == 0)
            return;
    for (int vectors = 1; vectors <= 4; vectors *= 2) {
        struct listed_choice c = {.precision = PRECISION_EXACT};
        struct schedule_features ignored;
        snprintf(c.text, sizeof c.text, "tile (tile p:%d q:%d t:8)", 28 / vectors, vectors);
        if (m->b->methods->describe_choice(m->b, plan, step, c.text, &ignored))
            vec_push(list, c);
    }
}

static void print_choices(struct measuring *m, const struct plan *plan, const struct step *step, enum layout layout,
                          const char *key)
{
    LOCAL_LIST(choice_list, list);
    struct step_work w = step_work(plan, step);
    double both = fmin(w.bytes_read, w.bytes_written);
    double least = (2 * both + w.bytes_written - both) / m->roofline.copied + (w.bytes_read - both) / m->roofline.read;
    m->b->methods->list_choices(m->b, plan, step, &list);
    add_tiles(m, plan, step, &list);
    for (size_t i = 0; i < list.count; i++) {
        LOCAL_LIST(choice_list, one);
        struct step_cost cost = {0};
        struct error error = {0};
        vec_push(&one, list.items[i]);
        if (m->b->methods->measure(m->b, plan, step, &one, INFINITY, &cost, &error))
            printf("%s\t%s\t%s\t%.0f\t%.0f\t%.4g\t%.4g\t%s\t%.5g\t%.2g\n", step->kernel->name, layout_name(layout), key,
                   w.operations, w.bytes_read + w.bytes_written, least, seconds_of_functions(m, step),
                   list.items[i].text, cost.seconds, cost.error);
    }
}

static void measure_new_steps(struct measuring *m, const struct graph *g, enum layout layout, struct error *error)
{
    uint8_t *layouts = arena_array(&m->arena, uint8_t, g->tensors.count);
    memset(layouts, (int)layout, g->tensors.count);
    struct plan_request request = backend_plan_request(m->b, g, layouts, &m->arena);
    struct plan plan FREED_BY(plan_free) = {0};
    bool is_made = plan_make(&plan, &request, error);
    for (size_t i = 0; is_made && i < plan.steps.count && !m->is_late; i++) {
        const struct step *step = &plan.steps.items[i];
        TEXT(key);
        text_printf(&key, "%s ", layout_name(layout));
        size_t begin = key.count;
        describe_step(&key, &plan, step);
        size_t known = m->seen.keys.count;
        bool is_new = !step->is_constant && key_set_add(&m->seen, &m->arena, key.chars, key.count) == known;
        m->is_late = is_new && clock_seconds() > m->end;
        if (is_new && !m->is_late)
            print_choices(m, &plan, step, layout, key.chars + begin);
    }
}

static bool measure_model(struct imported_model *model, void *measuring, struct error *error)
{
    static const enum layout layouts[] = {LAYOUT_CHANNELS_LAST, LAYOUT_BLOCKS_OF_16};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        measure_new_steps(measuring, &model->graph, layouts[i], error);
    return !error->message[0];
}

// --- files -----------------------------------------------------------------------------------------------------------

static bool measure_lines(struct backend *b, const char *path)
{
    char line[512];
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        measure_line(b, line, LAYOUT_CHANNELS_LAST);
        if (strncmp(line, "product", 7) != 0)
            measure_line(b, line, LAYOUT_BLOCKS_OF_16);
    }
    return f && fclose(f) == 0;
}

static bool measure_file(struct measuring *m, const char *path, struct error *error)
{
    const struct import_options options = {.fold_limit = IMPORT_FOLD_LIMIT, .expands = true};
    const char *end = strrchr(path, '.');
    bool is_model = end && strcmp(end, ".onnx") == 0;
    return is_model ? with_model(path, &options, measure_model, m, error) : measure_lines(m->b, path);
}

int main(int argc, char **argv)
{
    int threads = 1, seconds = 1 << 20;
    bool is_done = true;
    struct error error = {0};
    struct measuring m = {.is_late = false};
    for (int i = 1; i < argc; i++)
        if (sscanf(argv[i], "threads=%d", &threads) == 0)
            sscanf(argv[i], "seconds=%d", &seconds);
    const struct backend_options options = {.threads = threads, .cost_file = ""};
    const char *last = argc > 1 ? strrchr(argv[argc - 1], '.') : NULL;
    m.b = cpu_backend_open(&options, &error);
    if (!m.b)
        return 1;
    if (last && strcmp(last, ".onnx") == 0) {
        cpu_roofline(m.b, &m.roofline);
        find_rates(&m);
    }
    m.end = clock_seconds() + seconds;
    for (int i = 1; i < argc; i++)
        if (!strchr(argv[i], '=') && !measure_file(&m, argv[i], &error)) {
            fprintf(stderr, "%s: %s\n", argv[i], error.message);
            is_done = false;
        }
    key_set_free(&m.seen);
    arena_free(&m.arena);
    backend_close(m.b);
    return !is_done ? 1 : m.is_late ? 3 : 0;
}
