// Names in the text: tile, part, batch and stage are numbers; i0, ... places of a result, n0, ... of terms; member is a
// thread's number in its share, which takes the rows and columns from `down` and `across` on.
#include "backends/generated/definitions/kernel_tiles.h"

#include "backends/generated/definitions/definition_text.h"
#include "backends/generated/definitions/kernel_definition.h"
#include "backends/generated/kernel_loops.h"
#include "core/memory/arena.h"
#include "core/numbers/integers.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WARP 32
#define FRAGMENT_ROWS 16   // of tensor cores
#define FRAGMENT_COLUMNS 8
#define FRAGMENT_DEPTH 8
#define FRAGMENT_HELD 4   // results of a thread
#define MOST_THREADS 1024
#define MOST_HELD 128
#define MOST_DEPTH 256
#define MOST_UNROLLED 2048   // multiply-adds of a thread
#define MOST_SHARED_BYTES 49152
#define MOST_SCRATCH_BYTES ((size_t)32 << 20)
#define MOST_BLOCKS 65535

struct tiling {
    struct definition_text w;
    const struct contraction *c;
    const struct kernel_tile *s;
    struct kernel_tile_shape shape;
};

// --- schedules -------------------------------------------------------------------------------------------------------

void kernel_tile_print(const struct kernel_tile *s, char ret_text[KERNEL_TILE_SIZE])
{
    snprintf(ret_text, KERNEL_TILE_SIZE, "%s m:%d n:%d r:%d c:%d k:%d s:%d t:%d p:%d", s->has_cores ? "cores" : "tile",
             s->rows, s->columns, s->down, s->across, s->depth, s->stages, s->shares, s->parts);
}

bool kernel_tile_parse(const char *text, struct kernel_tile *ret_tile)
{
    struct kernel_tile s = {.has_cores = strncmp(text, "cores ", 6) == 0};
    char again[KERNEL_TILE_SIZE];
    int n = sscanf(text, "%*5[a-z] m:%4d n:%4d r:%4d c:%4d k:%4d s:%4d t:%4d p:%4d", &s.rows, &s.columns, &s.down,
                   &s.across, &s.depth, &s.stages, &s.shares, &s.parts);
    if (n != 8)
        return false;
    kernel_tile_print(&s, again);
    *ret_tile = s;
    return strcmp(again, text) == 0;
}

// Fragments, or vectors of four, in as many banks as can be.
static int padding_of(const struct kernel_tile *s)
{
    return s->has_cores ? 8 : 4;
}

static bool has_sizes(const struct kernel_tile *s)
{
    return s->rows >= 1 && s->columns >= 1 && s->down >= 1 && s->across >= 1 && s->depth >= 1 && s->shares >= 1 &&
           s->parts >= 1 && s->rows <= MOST_HELD && s->columns <= MOST_HELD && s->down <= MOST_THREADS &&
           s->across <= MOST_THREADS && s->depth <= MOST_DEPTH && s->shares <= MOST_THREADS &&
           (s->stages == 2 || (s->stages == 0 && !s->has_cores));
}

static bool suits_threads(const struct kernel_tile *s, const struct kernel_tile_shape *k)
{
    bool is_divided = k->depth % s->shares == 0 && (!s->has_cores || k->depth / s->shares % FRAGMENT_DEPTH == 0);
    return k->threads <= MOST_THREADS && k->threads % WARP == 0 && k->held <= MOST_HELD && k->depth <= MOST_DEPTH &&
           (s->stages ? is_divided : k->depth * k->held <= MOST_UNROLLED);
}

static bool suits_parts(const struct kernel_tile *s, const struct kernel_tile_shape *k)
{
    return s->parts == 1 || (s->parts <= k->stages && s->parts * k->stages <= INT32_MAX &&
                             k->tiles <= KERNEL_COUNTERS && k->scratch_bytes <= MOST_SCRATCH_BYTES);
}

bool kernel_tile_shape_of(const struct contraction *c, const struct kernel_tile *s, struct kernel_tile_shape *ret)
{
    if (!has_sizes(s) || c->window > MOST_DEPTH)
        return false;
    struct kernel_tile_shape k = {.depth = s->depth * (int)c->window};
    int64_t members = (int64_t)s->down * s->across * (s->has_cores ? WARP : 1);
    if (members * s->shares > MOST_THREADS)
        return false;
    k.held = s->rows * s->columns * (s->has_cores ? FRAGMENT_HELD : 1);
    k.rows = (int64_t)s->rows * s->down * (s->has_cores ? FRAGMENT_ROWS : 1);
    k.columns = (int64_t)s->columns * s->across * (s->has_cores ? FRAGMENT_COLUMNS : 1);
    k.tiles = c->of[SIDE_BATCHES].count * divide_up(c->of[SIDE_ROWS].count, k.rows) *
              divide_up(c->of[SIDE_COLUMNS].count, k.columns);
    k.stages = divide_up(c->outer, s->depth);
    k.members = (int)members;
    k.threads = k.members * s->shares;
    int64_t of_stages = s->stages * k.depth * (k.rows + k.columns + 2 * padding_of(s));
    int64_t of_shares = s->shares > 1 ? (int64_t)k.threads * k.held : 0;
    k.shared_bytes = (size_t)(of_stages + of_shares + 1) * sizeof(float);
    k.scratch_bytes = s->parts > 1 ? (size_t)(k.tiles * s->parts * k.members) * (size_t)k.held * sizeof(float) : 0;
    *ret = k;
    return suits_threads(s, &k) && suits_parts(s, &k) && k.shared_bytes <= MOST_SHARED_BYTES &&
           k.tiles * s->parts <= MOST_BLOCKS;
}

// --- places ----------------------------------------------------------------------------------------------------------

static struct text *body_of(struct tiling *t)
{
    return &t->w.k.body;
}

// The places on the axes of a side, from their number.
static void add_places(struct tiling *t, enum contraction_side side, const char *number)
{
    const struct contraction_places *p = &t->c->of[side];
    int64_t behind = 1;
    for (int i = p->n - 1; i >= 0; behind *= p->axes[i--].dim) {
        text_printf(body_of(t), "const index p%d_%d = %s / %" PRId64, side, i, number, behind);
        if (i > 0)
            text_printf(body_of(t), " %% %" PRId64, p->axes[i].dim);
        text_add(body_of(t), ";\n");
    }
}

// Places of a result, from those of these sides; a factor goes by no others.
static void add_indices(struct tiling *t, bool of_rows, bool of_columns)
{
    const bool is_known[N_SIDES] = {of_rows, of_columns, true};
    for (int axis = 0; axis < t->w.stage->type.rank; axis++) {
        text_printf(body_of(t), "const index i%d = 0", axis);
        for (int side = 0; side < N_SIDES; side++)
            for (int i = 0; is_known[side] && i < t->c->of[side].n; i++)
                if (t->c->of[side].axes[i].axis == axis)
                    text_printf(body_of(t), " + p%d_%d * %" PRId64, side, i, t->c->of[side].axes[i].scale);
        text_add(body_of(t), ";\n");
    }
}

// The places of term `kk` of a stage.
static void add_terms(struct tiling *t)
{
    const struct contraction *c = t->c;
    int64_t behind = 1, divisor = c->is_outer_dense ? t->s->depth : c->window;
    text_printf(
        body_of(t), "const index n%" PRId64 " = stage * %d + kk %c %" PRId64 ", in_window = kk %c %" PRId64 ";\n",
        c->sums[0], t->s->depth, c->is_outer_dense ? '%' : '/', divisor, c->is_outer_dense ? '/' : '%', divisor);
    for (int i = c->n_sums - 1; i > 0; i--) {
        int64_t extent = t->w.d->extents.items[c->sums[i]];
        text_printf(body_of(t), "const index n%" PRId64 " = in_window / %" PRId64 " %% %" PRId64 ";\n", c->sums[i],
                    behind, extent);
        behind *= extent;
    }
}

// --- operands --------------------------------------------------------------------------------------------------------

static const char letters[] = "xy";   // of the factors of rows and columns

static int64_t places_of(const struct tiling *t, enum contraction_side side)
{
    return side == SIDE_ROWS ? t->shape.rows : t->shape.columns;
}

// Reads the entry of a factor at a place and a term: 0 behind the last term, and the last place instead of those behind
// it, of which nothing is stored.
static void add_read(struct tiling *t, enum contraction_side side, const char *place, const char *into)
{
    const struct contraction *c = t->c;
    struct text *out = body_of(t);
    bool has_rest = c->outer % t->s->depth != 0;
    int64_t count = c->of[side].count;
    text_printf(out, "{\nconst index wanted = %s;\nconst index place = ", place);
    if (count % places_of(t, side))
        text_printf(out, "wanted > %" PRId64 " ? %" PRId64 " : ", count - 1, count - 1);
    text_add(out, "wanted;\n");
    add_places(t, side, "place");
    add_indices(t, side == SIDE_ROWS, side == SIDE_COLUMNS);
    add_terms(t);
    if (has_rest)
        text_printf(out, "%s = 0;\nif (n%" PRId64 " < %" PRId64 ") {\n", into, c->sums[0], c->outer);
    int value = definition_text_read(&t->w, &t->w.d->nodes.items[c->factors[side]]);
    text_printf(out, t->s->has_cores ? "%s = ROUNDED(v%d);\n" : "%s = v%d;\n", into, value);
    text_add(out, has_rest ? "}\n}\n" : "}\n");
}

// Each thread reads or holds some entries of a stage; those that follow one another in memory are of neighbours.
static void add_entries(struct tiling *t, enum contraction_side side, bool is_read)
{
    struct text *out = body_of(t);
    int64_t places = places_of(t, side), entries = places * t->shape.depth;
    bool is_by_places = t->c->is_by_places[side], has_rest = entries % t->shape.threads != 0;
    int64_t divisor = is_by_places ? places : t->shape.depth;
    char letter = letters[side], place[64], into[32];
    text_printf(out, "UNROLL for (int n = 0; n < %" PRId64 "; n++) {\nconst int entry = n * BLOCK + t;\n",
                divide_up(entries, t->shape.threads));
    if (has_rest)
        text_printf(out, "if (entry < %" PRId64 ") {\n", entries);
    text_printf(out, "const int at = entry %c %" PRId64 ", kk = entry %c %" PRId64 ";\n", is_by_places ? '%' : '/',
                divisor, is_by_places ? '/' : '%', divisor);
    snprintf(place, sizeof place, "%s_tile * %" PRId64 " + at", side == SIDE_ROWS ? "row" : "column", places);
    snprintf(into, sizeof into, "next_%c[n]", letter);
    if (is_read)
        add_read(t, side, place, into);
    else
        text_printf(out, "held_%c[into][kk][at] = next_%c[n];\n", letter, letter);
    text_add(out, has_rest ? "}\n}\n" : "}\n");
}

static void add_both_entries(struct tiling *t, bool is_read)
{
    add_entries(t, SIDE_ROWS, is_read);
    add_entries(t, SIDE_COLUMNS, is_read);
}

static void declare_next(struct tiling *t)
{
    for (int side = SIDE_ROWS; side <= SIDE_COLUMNS; side++)
        text_printf(body_of(t), "real next_%c[%" PRId64 "];\n", letters[side],
                    divide_up(places_of(t, (enum contraction_side)side) * t->shape.depth, t->shape.threads));
}

// --- sums ------------------------------------------------------------------------------------------------------------

static void add_member(struct tiling *t)
{
    int each = t->s->has_cores ? WARP : 1;
    text_printf(body_of(t), "const int lane = member %% %d, across = member / %d %% %d, down = member / %d;\n", WARP,
                each, t->s->across, t->s->across * each);
}

static void open_members(struct tiling *t)
{
    text_printf(body_of(t), "const int share = t / %d, member = t %% %d;\n", t->shape.members, t->shape.members);
    add_member(t);
}

static void add_products(struct tiling *t)
{
    text_printf(body_of(t),
                "UNROLL for (int i = 0; i < %d; i++) {\nUNROLL for (int j = 0; j < %d; j++)\n"
                "MINE(sum)[i * %d + j] += x[i] * y[j];\n}\n",
                t->s->rows, t->s->columns, t->s->columns);
}

static void declare_factors(struct tiling *t)
{
    text_printf(body_of(t), "real x[%d], y[%d];\n", t->s->rows, t->s->columns);
}

static void add_fragments_of_stage(struct tiling *t, int depth)
{
    const struct kernel_tile *s = t->s;
    text_printf(body_of(t),
                "UNROLL for (int f = 0; f < %d; f++)\nMULTIPLY_FRAGMENTS(MINE(sum) + f * %d, "
                "&held_x[from][share * %d + k][(down * %d + f / %d) * %d], %d, "
                "&held_y[from][share * %d + k][(across * %d + f %% %d) * %d], %d, lane);\n",
                s->rows * s->columns, FRAGMENT_HELD, depth, s->rows, s->columns, FRAGMENT_ROWS,
                (int)t->shape.rows + padding_of(s), depth, s->columns, s->columns, FRAGMENT_COLUMNS,
                (int)t->shape.columns + padding_of(s));
}

static void add_products_of_stage(struct tiling *t)
{
    const struct kernel_tile *s = t->s;
    int depth = t->shape.depth / s->shares;
    text_printf(body_of(t), "%sfor (int k = 0; k < %d; k += %d) {\n",
                depth * t->shape.held <= MOST_UNROLLED ? "UNROLL " : "", depth, s->has_cores ? FRAGMENT_DEPTH : 1);
    if (s->has_cores) {
        add_fragments_of_stage(t, depth);
    } else {
        declare_factors(t);
        text_printf(body_of(t),
                    "UNROLL for (int i = 0; i < %d; i++) x[i] = held_x[from][share * %d + k][down * %d + i];\n"
                    "UNROLL for (int j = 0; j < %d; j++) y[j] = held_y[from][share * %d + k][across * %d + j];\n",
                    s->rows, depth, s->rows, s->columns, depth, s->columns);
        add_products(t);
    }
    text_add(body_of(t), "}\n");
}

static void add_staged_sums(struct tiling *t)
{
    struct text *out = body_of(t);
    text_add(out, "THREADS(t) {\nconst index stage = first;\nconst int into = 0;\n");
    declare_next(t);
    add_both_entries(t, true);
    add_both_entries(t, false);
    text_add(out, "}\nSYNC;\nfor (index done = first; done < end; done++) {\nTHREADS(t) {\n"
                  "const int from = (done - first) % 2, into = 1 - from;\nconst index stage = done + 1;\n");
    open_members(t);
    declare_next(t);
    text_add(out, "if (stage < end) {\n");
    add_both_entries(t, true);
    text_add(out, "}\n");
    add_products_of_stage(t);
    text_add(out, "if (stage < end) {\n");
    add_both_entries(t, false);
    text_add(out, "}\n}\nSYNC;\n}\n");
}

static void add_direct_factor(struct tiling *t, enum contraction_side side)
{
    bool is_rows = side == SIDE_ROWS;
    char place[96], into[16];
    snprintf(place, sizeof place, "%s * %" PRId64 " + %s + i * %d", is_rows ? "row_tile" : "column_tile",
             places_of(t, side), is_rows ? "down" : "across", is_rows ? t->s->down : t->s->across);
    snprintf(into, sizeof into, "%c[i]", letters[side]);
    text_printf(body_of(t), "UNROLL for (int i = 0; i < %d; i++) ", is_rows ? t->s->rows : t->s->columns);
    add_read(t, side, place, into);
}

static void add_direct_sums(struct tiling *t)
{
    text_add(body_of(t), "THREADS(t) {\n");
    open_members(t);
    text_printf(body_of(t),
                "for (index stage = first + share; stage < end; stage += %d) {\n"
                "UNROLL for (int kk = 0; kk < %d; kk++) {\n",
                t->s->shares, t->shape.depth);
    declare_factors(t);
    add_direct_factor(t, SIDE_ROWS);
    add_direct_factor(t, SIDE_COLUMNS);
    add_products(t);
    text_add(body_of(t), "}\n}\n}\n");
}

// --- results ---------------------------------------------------------------------------------------------------------

// The place of result `e` of a member.
static void add_result_places(struct tiling *t)
{
    const struct kernel_tile *s = t->s;
    text_printf(body_of(t), "const index row = row_tile * %d + ", (int)t->shape.rows);
    if (s->has_cores)
        text_printf(body_of(t), "(down * %d + e / 4 / %d) * 16 + e %% 4 / 2 * 8 + lane / 4", s->rows, s->columns);
    else
        text_printf(body_of(t), "down * %d + e / %d * %d", s->stages ? s->rows : 1, s->columns,
                    s->stages ? 1 : s->down);
    text_printf(body_of(t), ";\nconst index column = column_tile * %d + ", (int)t->shape.columns);
    if (s->has_cores)
        text_printf(body_of(t), "(across * %d + e / 4 %% %d) * 8 + lane %% 4 * 2 + e %% 2;\n", s->columns, s->columns);
    else
        text_printf(body_of(t), "across * %d + e %% %d * %d;\n", s->stages ? s->columns : 1, s->columns,
                    s->stages ? 1 : s->across);
}

static void add_result(struct tiling *t, const struct loop *epilogue)
{
    struct definition_text *w = &t->w;
    const struct contraction *c = t->c;
    add_member(t);
    add_result_places(t);
    text_printf(body_of(t), "if (row < %" PRId64 " && column < %" PRId64 ") {\nconst real v%d = value;\n",
                c->of[SIDE_ROWS].count, c->of[SIDE_COLUMNS].count, w->n_names);
    add_places(t, SIDE_ROWS, "row");
    add_places(t, SIDE_COLUMNS, "column");
    add_indices(t, true, true);
    w->names[c->sum] = w->n_names++;
    vec_push(&w->in_scope, c->sum);
    definition_text_store(w, 0, epilogue, definition_text_value(w, w->stage->body));
    definition_text_leave(w, 0);
    text_add(body_of(t), "}\n}\n");
}

// All results of a thread, which has them in registers.
static void open_own_results(struct tiling *t)
{
    text_printf(body_of(t), "THREADS(t) {\nUNROLL for (int e = 0; e < %d; e++) {\n", t->shape.held);
}

// All results of a block.
static void open_results(struct tiling *t)
{
    text_printf(body_of(t),
                "THREADS(t) {\nfor (int n = t; n < %d; n += BLOCK) {\nconst int e = n / %d, member = n %% %d;\n",
                t->shape.held * t->shape.members, t->shape.members, t->shape.members);
}

static void add_sum_of_shares(struct tiling *t)
{
    text_printf(body_of(t),
                "real value = 0;\n"
                "UNROLL for (int i = 0; i < %d; i++) value += shared[(e * %d + i) * %d + member];\n",
                t->s->shares, t->s->shares, t->shape.members);
}

static void add_parts(struct tiling *t, const struct loop *epilogue)
{
    struct definition_text *w = &t->w;
    int size = t->shape.held * t->shape.members, scratch = 0, counters = 0;
    w->is_failed =
        w->is_failed ||
        !kernel_add_pointer(&w->k, (struct kernel_pointer){KERNEL_SCRATCH, DTYPE_F32, 0, true}, &scratch) ||
        !kernel_add_pointer(&w->k, (struct kernel_pointer){KERNEL_COUNTER_MEMORY, DTYPE_I32, 0, true}, &counters);
    if (t->s->shares > 1) {
        open_results(t);
        add_sum_of_shares(t);
    } else {
        open_own_results(t);
        text_add(body_of(t), "const int n = e * BLOCK + t;\nconst real value = MINE(sum)[e];\n");
    }
    text_printf(body_of(t),
                "a%d[tile * %d + n] = value;\n}\n}\nCOUNT_BLOCKS(&a%d[tile / %d], %d, is_last);\n"
                "if (is_last) {\n",
                scratch, size, counters, t->s->parts, t->s->parts);
    open_results(t);
    text_printf(body_of(t),
                "real value = 0;\n"
                "UNROLL for (int i = 0; i < %d; i++) value += FRESH(a%d[(tile - part + i) * %d + n]);\n",
                t->s->parts, scratch, size);
    add_result(t, epilogue);
    text_add(body_of(t), "}\n}\n");
}

static void add_results(struct tiling *t, const struct loop *epilogue)
{
    if (t->s->shares > 1) {
        open_own_results(t);
        text_add(body_of(t), "shared[e * BLOCK + t] = MINE(sum)[e];\n}\n}\nSYNC;\n");
    }
    if (t->s->parts > 1) {
        add_parts(t, epilogue);
    } else if (t->s->shares > 1) {
        open_results(t);
        add_sum_of_shares(t);
        add_result(t, epilogue);
        text_add(body_of(t), "}\n");
    } else {
        open_own_results(t);
        text_add(body_of(t), "const int member = t;\nconst real value = MINE(sum)[e];\n");
        add_result(t, epilogue);
        text_add(body_of(t), "}\n");
    }
}

// --- the whole -------------------------------------------------------------------------------------------------------

static void declare_shared(struct tiling *t)
{
    struct text *out = body_of(t);
    for (int side = SIDE_ROWS; t->s->stages && side <= SIDE_COLUMNS; side++)
        text_printf(out, "SHARED real held_%c[2][%d][%d];\n", letters[side], t->shape.depth,
                    (int)places_of(t, (enum contraction_side)side) + padding_of(t->s));
    if (t->s->shares > 1)
        text_printf(out, "SHARED real shared[%d];\n", t->shape.threads * t->shape.held);
    if (t->s->parts > 1)
        text_add(out, "SHARED int is_last;\n");
    text_printf(out, "OWN(sum, %d);\n", t->shape.held);
}

static void write_kernel(struct tiling *t, const struct loop *epilogue)
{
    struct text *out = body_of(t);
    int64_t across = divide_up(t->c->of[SIDE_COLUMNS].count, t->shape.columns);
    int64_t down = divide_up(t->c->of[SIDE_ROWS].count, t->shape.rows), stages = t->shape.stages;
    int parts = t->s->parts;
    declare_shared(t);
    text_printf(out,
                "for (index tile = block; tile < %" PRId64 "; tile += n_blocks) {\n"
                "const index part = tile %% %d, column_tile = tile / %d %% %" PRId64 ";\n"
                "const index row_tile = tile / %" PRId64 " %% %" PRId64 ", batch = tile / %" PRId64 ";\n"
                "const index first = part * %" PRId64 " / %d, end = (part + 1) * %" PRId64 " / %d;\n",
                t->w.k.blocks, parts, parts, across, parts * across, down, parts * across * down, stages, parts, stages,
                parts);
    add_places(t, SIDE_BATCHES, "batch");
    open_own_results(t);
    text_add(out, "MINE(sum)[e] = 0;\n}\n}\n");
    if (t->s->stages)
        add_staged_sums(t);
    else
        add_direct_sums(t);
    add_results(t, epilogue);
    text_add(out, "SYNC;\n}\n");
}

static const struct view *list_views(const struct definition *d, const struct step *step, struct arena *arena)
{
    struct view *views = arena_array(arena, struct view, d->n_inputs + 1);
    memcpy(views, step->operands, (size_t)d->n_inputs * sizeof *views);
    views[d->n_inputs] = step->results[0];
    return views;
}

bool kernels_from_contraction(const struct definition *d, const struct step *step, const struct kernel_tile *tile,
                              const char *prelude, struct arena *arena, struct generated_kernels *ret_kernels)
{
    struct contraction c;
    struct tiling t = {.c = &c, .s = tile};
    struct definition_text *w = &t.w;
    if (!definition_is_in_single_precision(d))
        return false;
    *w = (struct definition_text){.arena = arena, .d = d, .names = arena_array(arena, int, d->nodes.count + 1)};
    w->views = list_views(d, step, arena);
    w->stage = &d->stages[0];
    if (!contraction_of(d, w->views, arena, &c) || !kernel_tile_shape_of(&c, tile, &t.shape))
        return false;
    memset(w->names, 0xff, d->nodes.count * sizeof *w->names);
    w->k = (struct kernel_text){.real = REAL_F32, .threads = t.shape.threads, .blocks = t.shape.tiles * tile->parts};
    w->k.has_wide_index = definition_text_has_wide_index(w);
    write_kernel(&t, step->n_loops ? &step->loops[0] : NULL);
    if (!w->is_failed)
        kernels_add(ret_kernels, &w->k, prelude, arena);
    ret_kernels->scratch_bytes = t.shape.scratch_bytes;
    kernel_text_free(&w->k);
    vec_free(&w->in_scope);
    return !w->is_failed;
}
