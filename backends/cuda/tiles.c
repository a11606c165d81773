// Cycles of a multiprocessor that a tile takes are guessed: of instructions, of loads, and of waiting for memory where
// few threads are there to wait, wave after wave.
#include "backends/cuda/tiles.h"

#include "backends/limits.def"
#include "core/memory/arena.h"
#include "graph/graph_whole.h"
#include <math.h>

#define SCHEDULERS 4
#define MOST_KEPT 16
#define ROWS_FOR_LIBRARY 48   // of both factors of a product: with more a library is faster

struct guessed_tile {
    struct kernel_tile tile;
    double cycles;
    int64_t rows, columns;
};
struct guessing {
    const struct contraction *c;
    double multiprocessors, bytes_in_cycle;
    bool takes_cores;
    int n;
    struct guessed_tile kept[MOST_KEPT];   // the best first
};

// --- cycles ----------------------------------------------------------------------------------------------------------

struct work {
    double instructions, loads;   // of a warp, for a term
};

static struct work work_of_term(const struct contraction *c, const struct kernel_tile *s,
                                const struct kernel_tile_shape *k)
{
    double of_read[2];
    for (int f = 0; f < 2; f++)
        of_read[f] = TILE_READ_INSTRUCTIONS + (c->is_guarded[f] ? TILE_GUARD_INSTRUCTIONS : 0);
    struct work w = {(double)s->rows * s->columns, 0};
    if (!s->stages) {
        w.instructions += s->rows * of_read[0] / 2 + s->columns * of_read[1] / 2;
        w.loads = s->rows + s->columns;
        return w;
    }
    double each = (double)s->shares / k->threads;
    w.loads = s->has_cores ? (4 * s->rows + 2 * s->columns) / 8.0 : (s->rows + s->columns) / 4.0;
    w.instructions = (s->has_cores ? w.instructions * TILE_FRAGMENT_CYCLES / 8 : w.instructions) + w.loads;
    w.instructions += each * ((double)k->rows * of_read[0] + (double)k->columns * of_read[1]);
    w.loads += 2 * each * (double)(k->rows + k->columns);
    return w;
}

static double resident_blocks(const struct kernel_tile_shape *k)
{
    double by_threads = RESIDENT_THREADS / k->threads;
    double by_registers = RESIDENT_REGISTERS / (k->threads * (k->held + TILE_REGISTERS_BESIDE));
    return fmax(1, floor(fmin(fmin(by_threads, by_registers), RESIDENT_SHARED_BYTES / (double)k->shared_bytes)));
}

static double cycles_of(const struct guessing *g, const struct kernel_tile *s, const struct kernel_tile_shape *k)
{
    struct work w = work_of_term(g->c, s, k);
    double blocks = (double)k->tiles * s->parts, resident = resident_blocks(k);
    double of_each = ceil(blocks / g->multiprocessors), stages = ceil((double)k->stages / s->parts);
    double together = fmin(of_each, resident) * k->threads / (32.0 * SCHEDULERS);   // warps of a scheduler
    double depth = (double)k->depth / (s->stages ? s->shares : 1),
           steps = s->stages ? stages : ceil(stages / s->shares);
    double busy = depth * fmax(w.instructions, SCHEDULERS * w.loads) * fmax(1, together);
    double waiting = s->stages ? fmax(busy + TILE_MEETING_CYCLES, TILE_WAITING_CYCLES) : busy + TILE_WAITING_CYCLES;
    double cycles = steps * waiting * ceil(of_each / resident);
    double bytes = blocks * (double)(k->rows + k->columns) * stages * k->depth * sizeof(float);
    cycles = fmax(cycles, bytes / g->bytes_in_cycle);
    if (s->shares > 1)
        cycles += TILE_MEETING_CYCLES + (double)k->held * s->shares;
    if (s->parts > 1)
        cycles += TILE_COUNTING_CYCLES + (double)k->rows * (double)k->columns * s->parts / 16;
    return cycles;
}

// --- tiles -----------------------------------------------------------------------------------------------------------

static bool is_better_for_size(const struct guessing *g, const struct guessed_tile *t)
{
    EACH(g->kept, g->n, k)
        if (k->rows == t->rows && k->columns == t->columns && k->tile.stages == t->tile.stages &&
            k->tile.has_cores == t->tile.has_cores && k->cycles <= t->cycles)
            return false;
    return g->n < MOST_KEPT || g->kept[g->n - 1].cycles > t->cycles;
}

static void drop_of_size(struct guessing *g, const struct guessed_tile *t)
{
    int n = 0;
    EACH(g->kept, g->n, k)
        if (k->rows != t->rows || k->columns != t->columns || k->tile.stages != t->tile.stages ||
            k->tile.has_cores != t->tile.has_cores)
            g->kept[n++] = *k;
    g->n = n < MOST_KEPT ? n : MOST_KEPT - 1;
}

static void keep(struct guessing *g, const struct guessed_tile *t)
{
    if (!is_better_for_size(g, t))
        return;
    drop_of_size(g, t);
    int at = g->n++;
    for (; at > 0 && g->kept[at - 1].cycles > t->cycles; at--)
        g->kept[at] = g->kept[at - 1];
    g->kept[at] = *t;
}

static void try_tile(struct guessing *g, const struct kernel_tile *s)
{
    struct kernel_tile_shape k;
    if (!kernel_tile_shape_of(g->c, s, &k) || k.threads < 64)
        return;
    struct guessed_tile t = {*s, cycles_of(g, s, &k), k.rows, k.columns};
    keep(g, &t);
}

// The most of the outermost sum with so many terms in all, of which direct ones must come out even.
static int depth_for(const struct contraction *c, int terms, bool is_even)
{
    int64_t depth = terms;
    while (depth > 1 && (depth * c->window > terms || (is_even && c->outer % depth)))
        depth /= 2;
    return (int)depth;
}

static void try_shares_and_parts(struct guessing *g, struct kernel_tile s)
{
    for (s.shares = 1; s.shares <= 32; s.shares *= 2)
        for (s.parts = 1; s.parts <= 16; s.parts *= 2)
            try_tile(g, &s);
}

static void try_tiles_of(struct guessing *g, struct kernel_tile s)
{
    int most_down = s.stages ? 16 : 8, least_across = s.stages ? 8 : 16, most_across = s.stages ? 16 : 128;
    if (s.has_cores)
        most_down = 4, least_across = 1, most_across = 4;
    for (s.rows = 1; s.rows <= 8; s.rows *= 2)
        for (s.columns = 1; s.columns <= 8; s.columns *= 2)
            for (s.down = 1; s.down <= most_down; s.down *= 2)
                for (s.across = least_across; s.across <= most_across; s.across *= 2)
                    try_shares_and_parts(g, s);
}

static void try_tiles(struct guessing *g)
{
    const struct contraction *c = g->c;
    try_tiles_of(g, (struct kernel_tile){.depth = depth_for(c, c->window > 1 ? (int)c->window : 8, true)});
    for (int terms = 8; terms <= 32; terms *= 2)
        try_tiles_of(g, (struct kernel_tile){.depth = depth_for(c, terms, false), .stages = 2});
    for (int depth = 8; g->takes_cores && depth <= 32; depth *= 2)
        try_tiles_of(g, (struct kernel_tile){.has_cores = true, .depth = depth, .stages = 2});
}

// The guess compares tiles with stages and others less surely than those of a kind.
static void bring_other_kind_forward(struct guessing *g)
{
    int at = FIRST_OF(int, i, g->n, g->kept[i].tile.stages != g->kept[0].tile.stages);
    if (at >= g->n || g->kept[at].cycles > DOUBTFUL_TILE * g->kept[0].cycles)
        return;
    struct guessed_tile other = g->kept[at];
    for (; at > 1; at--)
        g->kept[at] = g->kept[at - 1];
    g->kept[1] = other;
}

// --- steps -----------------------------------------------------------------------------------------------------------

static bool read_contraction(const struct plan *plan, const struct step *step, struct arena *arena,
                             struct definition *d, struct contraction *ret_contraction)
{
    struct view views[3] = {step->operands[0], step->operands[1], step->results[0]};
    return graph_define(plan->graph, step->node, d, arena) && d->n_inputs == 2 &&
           contraction_of(d, views, arena, ret_contraction);
}

static bool is_for_library(const struct step *step, const struct contraction *c)
{
    return step->kernel == &cuda_kernel_product && c->of[SIDE_BATCHES].count == 1 &&
           c->of[SIDE_ROWS].count > ROWS_FOR_LIBRARY && c->of[SIDE_COLUMNS].count > ROWS_FOR_LIBRARY;
}

bool cuda_suits_tile(const struct cuda_backend *b, const struct step *step, const struct kernel_tile *tile)
{
    bool is_rounded = ANY(int, i, 2, step->operands[i].dtype != DTYPE_F16 && step->operands[i].dtype != DTYPE_BF16);
    return !tile->has_cores || !is_rounded || b->base.options.allows_tf32;
}

void cuda_list_tiles(const struct cuda_backend *b, const struct plan *plan, const struct step *step, int most,
                     choice_list *list)
{
    ARENA(arena);
    struct definition d FREED_BY(definition_free) = {0};
    struct contraction c;
    if (!read_contraction(plan, step, &arena, &d, &c) || is_for_library(step, &c))
        return;
    const struct gpu_information *i = &b->information;
    struct guessing g = {.c = &c, .multiprocessors = fmax(1, i->multiprocessors)};
    double cycles_in_second = i->flops_per_second / (2 * MULTIPLIERS * g.multiprocessors);
    g.bytes_in_cycle = CACHE_RATE * i->bytes_per_second / cycles_in_second;
    g.takes_cores = cuda_suits_tile(b, step, &(struct kernel_tile){.has_cores = true});
    try_tiles(&g);
    bring_other_kind_forward(&g);
    for (int n = 0; n < most && n < g.n; n++) {
        struct listed_choice choice = {.text = ""};
        kernel_tile_print(&g.kept[n].tile, choice.text);
        vec_push(list, choice);
    }
}
