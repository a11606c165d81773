// Convolutions and products of graphs by random tiles, against the reference.
#pragma once
#include "backends/costs/graph_cost.h"
#include "backends/cuda/library.h"
#include "backends/generated/definitions/kernel_tiles.h"
#include "graph/graph_whole.h"
#include "tests/cuda/check_text.h"

struct tiling {
    struct random random;
    struct arena arena;
    step_choices given;
    int n_tiles, n_steps;
};

static inline int power_of_2(struct tiling *t, int most)
{
    return 1 << random_below(&t->random, (uint64_t)most);
}

static inline struct kernel_tile random_tile(struct tiling *t)
{
    struct kernel_tile s = {.has_cores = random_below(&t->random, 3) == 0};
    s.stages = s.has_cores || random_below(&t->random, 2) ? 2 : 0;
    s.rows = 1 + (int)random_below(&t->random, 4);
    s.columns = 1 + (int)random_below(&t->random, 4);
    s.down = power_of_2(t, s.has_cores ? 2 : 5);
    s.across = power_of_2(t, s.has_cores ? 2 : 6);
    s.depth = s.has_cores ? 8 * power_of_2(t, 2) : 1 + (int)random_below(&t->random, 16);
    s.shares = power_of_2(t, 5);
    s.parts = 1 + (int)random_below(&t->random, 4);
    return s;
}

static inline bool find_tile(struct tiling *t, const struct plan *plan, const struct step *step, char *ret_text)
{
    ARENA(arena);
    struct definition d FREED_BY(definition_free) = {0};
    struct view views[] = {step->operands[0], step->operands[1], step->results[0]};
    struct contraction c;
    struct kernel_tile_shape shape;
    if (!graph_define(plan->graph, step->node, &d, &arena) || !contraction_of(&d, views, &arena, &c))
        return false;
    for (int i = 0; i < 10000; i++) {
        struct kernel_tile s = random_tile(t);
        if (kernel_tile_shape_of(&c, &s, &shape) && shape.threads <= 256) {
            kernel_tile_print(&s, ret_text);
            return true;
        }
    }
    return false;
}

static inline void give_tile(void *context, const struct plan *plan, const struct step *step,
                             const struct step_cost *cost)
{
    struct tiling *t = context;
    TEXT(text);
    char tile[KERNEL_TILE_SIZE];
    if (!cuda_is_library_step(step))
        return;
    t->n_steps++;
    if (!find_tile(t, plan, step, tile))
        return;
    t->n_tiles++;
    step_print(&text, plan, step);
    vec_push(&t->given, ((struct step_choice){.step = arena_string(&t->arena, text.chars),
                                              .choice = arena_string(&t->arena, tile)}));
}

static inline void check_tiles(struct backend *device, struct tiling *t, const char *text, uint64_t seed,
                               double allowed)
{
    arena_init(&t->arena);
    GRAPH(g, &t->arena, text);
    assert_true(backend_visit_steps(device, &g, give_tile, t, &(struct error){0}));
    if (t->given.count)
        check_model_by(device, &g, NULL, &t->given, seed, allowed);
    vec_free(&t->given);
    arena_free(&t->arena);
}
