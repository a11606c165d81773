// The graph of a bridge is text: a convolution without strides, whose results go through an activation.
#include "tuning/bridges.h"

#include "backends/costs/layout_policy.h"
#include "backends/planning/planner.h"
#include "core/formats/sexp.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "graph/text.h"
#include <string.h>

// Results and sums of register tiles, and of transforms, which have no groups.
static bool find_sizes(const struct reuse_loops *l, int64_t ret_results[5], int64_t ret_sums[3])
{
    const int64_t *e = l->extents;
    if (l->n - l->n_space != 3 || (l->n_space != 5 && l->n_space != 4))
        return false;
    memcpy(ret_results, l->n_space == 5 ? e : (int64_t[5]){e[0], 1, e[1], e[2], e[3]}, 5 * sizeof *e);
    memcpy(ret_sums, e + l->n_space, 3 * sizeof *e);
    return true;
}

static void print_graph(struct text *text, const int64_t r[5], const int64_t s[3])
{
    int64_t pad[2] = {(s[1] - 1) / 2, (s[2] - 1) / 2};
    text_printf(text, "(graph (let x (input 0) (f32 %lld %lld %lld %lld))", (long long)r[0], (long long)(r[1] * s[0]),
                (long long)(r[3] + s[1] - 1 - 2 * pad[0]), (long long)(r[4] + s[2] - 1 - 2 * pad[1]));
    text_printf(text, " (let w (weight 0) (f32 %lld %lld %lld %lld))", (long long)(r[1] * r[2]), (long long)s[0],
                (long long)s[1], (long long)s[2]);
    text_printf(text, " (let y (conv :stride 1 1 :pad %lld %lld %lld %lld :group %lld x w))", (long long)pad[0],
                (long long)pad[1], (long long)pad[0], (long long)pad[1], (long long)r[1]);
    text_add(text, " (let z (relu y)) (output z))");
}

static bool parse(struct bridge *bridge, const struct text *text)
{
    const struct sexp *list;
    struct error ignored = {0};
    return sexp_parse(&bridge->arena, "bridge", text->chars, text->count, &list, &ignored) &&
           graph_parse(&list->items[0], "bridge", &bridge->graph, &ignored);
}

static bool make_plan(struct bridge *bridge, struct backend *b)
{
    struct error ignored = {0};
    size_t n = bridge->graph.tensors.count;
    uint8_t *layouts = arena_array(&bridge->arena, uint8_t, n);
    memset(layouts, LAYOUT_CHANNELS_LAST, n);
    struct plan_request request = backend_plan_request(b, &bridge->graph, layouts, &bridge->arena);
    return plan_make(&bridge->plan, &request, &ignored);
}

static bool has_loops(const struct schedule_space *s, const char *family, const struct reuse_loops *l)
{
    return strcmp(s->family, family) == 0 && s->n_loops == l->n && s->n_space_loops == l->n_space &&
           memcmp(s->loops, l->extents, (size_t)l->n * sizeof *l->extents) == 0;
}

static bool find_space(struct bridge *bridge, struct backend *b, const char *family, const struct reuse_loops *loops)
{
    LOCAL_LIST(schedule_spaces, spaces);
    for (size_t i = 0; !bridge->step && i < bridge->plan.steps.count; i++) {
        const struct step *step = &bridge->plan.steps.items[i];
        vec_clear(&spaces);
        b->methods->list_spaces(b, &bridge->plan, step, &spaces);
        for (size_t k = 0; !bridge->step && k < spaces.count; k++)
            if (has_loops(&spaces.items[k], family, loops)) {
                bridge->step = step;
                bridge->space = spaces.items[k];
            }
    }
    return bridge->step;
}

struct bridge *bridge_new(struct backend *b, const char *family, const struct reuse_loops *loops)
{
    int64_t results[5], sums[3];
    TEXT(text);
    if (!find_sizes(loops, results, sums))
        return NULL;
    struct bridge *bridge = mem_alloc_zero(sizeof *bridge);
    graph_init(&bridge->graph, &bridge->arena);
    print_graph(&text, results, sums);
    bool is_made = parse(bridge, &text) && make_plan(bridge, b) && find_space(bridge, b, family, loops);
    if (is_made)
        return bridge;
    bridge_free(bridge);
    return NULL;
}

void bridge_free(struct bridge *bridge)
{
    plan_free(&bridge->plan);
    graph_free(&bridge->graph);
    arena_free(&bridge->arena);
    mem_free(bridge, sizeof *bridge);
}
