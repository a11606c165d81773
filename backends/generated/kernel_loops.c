// Kernels from the loops of a plan's step.
//
//   places         one thread for each place (four places when there are many), results in the order of memory
//   tiles          as places, but an operand lies across the result: 32 x 32 of it go through shared memory
//   columns        a reduction with enough results: one thread for each
//   rows           a reduction with few: one block for each, joined by a tree
//   shared axes    one block for each place on them; the loops follow one another inside of the block
//
// Loops that do not read or write what another one writes are parts of one launch; others are launched one by one.
#include "backends/generated/kernel_loops.h"

#include "backends/generated/independence.h"
#include "backends/generated/kernel_values.h"
#include "core/memory/arena.h"
#include "core/numbers/integers.h"
#include <inttypes.h>

#define THREADS_OF_BLOCK 256
#define MOST_BLOCKS 4096
#define TILE 32
#define ENOUGH_COLUMNS 4096   // results that keep a device busy with one thread each
#define ENOUGH_ROWS 64        // blocks that do
#define LARGE_PLACES 65536    // from here on a thread does UNROLLED places

#define MOST_SHARED_BYTES 40960   // of a kernel, all its loops together
#define TILE_BYTES (TILE * (TILE + 1) * 8)

#define UNROLLED 4
#define MOST_UNROLLED_OPERANDS 6

struct writing {
    struct kernel_text k;
    struct arena *arena;
    struct loop_values values;
    struct nest shared, inner, reduced;
    int shared_bytes;   // of the loops so far
};

static void open_nests(struct writing *w, const struct loop *loop, int n_shared)
{
    w->shared = nest_of_loop(loop, 0, n_shared, 's', w->arena);
    w->inner = nest_of_loop(loop, n_shared, loop->rank - n_shared, 'i', w->arena);
    w->reduced = nest_of_loop(loop, loop->rank, loop->n_reduced, 'r', w->arena);
    nest_simplify(&w->inner, loop->n_operands);
    nest_simplify(&w->reduced, 0);
}

static void enter(struct writing *w, bool is_reducing)
{
    const struct nest *nests[] = {&w->shared, &w->inner, &w->reduced};
    loop_values_enter(&w->values, is_reducing ? 3 : 2, nests);
}

// --- places ----------------------------------------------------------------------------------------------------------

static void add_map(struct writing *w)
{
    enter(w, false);
    loop_values_add_operands(&w->values);
    loop_values_add_results(&w->values);
}

static void add_places(struct writing *w, int64_t places)
{
    struct text *out = &w->k.body;
    text_printf(out, "for (index tile = block; tile < %" PRId64 "; tile += n_blocks)\nTHREADS(t) {\n",
                divide_up(places, w->k.threads));
    text_printf(out, "const index place = tile * BLOCK + t;\nif (place < %" PRId64 ") {\n", places);
    nest_add_places(&w->inner, out, "place");
    add_map(w);
    text_add(out, "}\n}\n");
}

// An operand is kept in an array.
static void add_held(struct writing *w, int operand, const char *place)
{
    text_printf(&w->k.body, "held%d%s = ", operand, place);
    loop_values_add_load(&w->values, &w->k.body, operand);
    text_add(&w->k.body, ";\n");
}

// All loads of a thread's places come before the first store, so that many are under way.
static void add_unrolled_places(struct writing *w, int64_t places)
{
    struct text *out = &w->k.body;
    const struct loop *loop = w->values.loop;
    text_printf(out, "for (index tile = block; tile < %" PRId64 "; tile += n_blocks)\nTHREADS(t) {\n",
                divide_up(places, (int64_t)w->k.threads * UNROLLED));
    for (int i = 0; i < loop->n_operands; i++)
        text_printf(out, "%s held%d[%d];\n", w->values.type, i, UNROLLED);
    for (int pass = 0; pass < 2; pass++) {
        text_printf(out,
                    "UNROLL for (int u = 0; u < %d; u++) {\nconst index place = (tile * %d + u) * BLOCK + t;\n"
                    "if (place < %" PRId64 ") {\n",
                    UNROLLED, UNROLLED, places);
        nest_add_places(&w->inner, out, "place");
        enter(w, false);
        for (int i = 0; i < loop->n_operands; i++)
            if (pass)
                text_printf(out, "const %s x%d = held%d[u];\n", w->values.type, i, i);
            else
                add_held(w, i, "[u]");
        if (pass)
            loop_values_add_results(&w->values);
        text_add(out, "}\n}\n");
    }
    text_add(out, "}\n");
}

// --- tiles -----------------------------------------------------------------------------------------------------------

// The axis along which the operand lies while the result lies along the last one; -1 when none.
static int axis_across(const struct nest *inner, int operand)
{
    int last = inner->n - 1;
    if (last < 1 || inner->dim[last] < 8 || inner->stride[last][operand] == 1 || inner->stride[last][operand] == 0)
        return -1;
    return PLACE_OF(int, i, last, inner->stride[i][operand] == 1 && inner->dim[i] >= 8);
}

// The first operand that lies across decides; only those that lie as it does go through shared memory.
static int axis_of_tiles(const struct loop *loop, const struct nest *inner)
{
    for (int i = 0; i < loop->n_operands; i++)
        if (axis_across(inner, i) >= 0)
            return axis_across(inner, i);
    return -1;
}

static void add_tile_numbers(struct writing *w, int across)
{
    struct text *out = &w->k.body;
    const struct nest *inner = &w->inner;
    int64_t behind = 1;
    for (int i = inner->n - 1; i >= 0; i--) {
        bool is_tiled = i == across || i == inner->n - 1;
        int64_t n = is_tiled ? divide_up(inner->dim[i], TILE) : inner->dim[i];
        text_printf(out, "const index %c%d = tile / %" PRId64 " %% %" PRId64 ";\n", is_tiled ? 'b' : 'i', i, behind, n);
        behind *= n;
    }
}

// In a pass threads run along one axis of the tile (column) and by rows over the other.
static void open_tile_pass(struct writing *w, int along, int over)
{
    text_printf(&w->k.body,
                "THREADS(t) {\nconst int column = t %% %d;\nfor (int row = t / %d; row < %d; row += BLOCK / %d) {\n"
                "const index i%d = b%d * %d + column, i%d = b%d * %d + row;\n"
                "if (i%d < %" PRId64 " && i%d < %" PRId64 ") {\n",
                TILE, TILE, TILE, TILE, along, along, TILE, over, over, TILE, along, w->inner.dim[along], over,
                w->inner.dim[over]);
}

// Operands that go through shared memory: those that lie across, as many as it holds.
static bool *choose_tiled(struct writing *w, int across)
{
    const struct loop *loop = w->values.loop;
    bool *is_tiled = arena_array(w->arena, bool, loop->n_operands + 1);
    for (int i = 0; i < loop->n_operands; i++)
        if (axis_across(&w->inner, i) == across && w->shared_bytes + TILE_BYTES <= MOST_SHARED_BYTES) {
            is_tiled[i] = true;
            w->shared_bytes += TILE_BYTES;
        }
    return is_tiled;
}

static void add_tiles(struct writing *w, int across)
{
    const bool *is_tiled = choose_tiled(w, across);
    struct text *out = &w->k.body;
    const struct loop *loop = w->values.loop;
    int last = w->inner.n - 1;
    int64_t tiles = divide_up(w->inner.dim[across], TILE) * divide_up(w->inner.dim[last], TILE);
    for (int i = 0; i < last; i++)
        tiles *= i == across ? 1 : w->inner.dim[i];
    for (int i = 0; i < loop->n_operands; i++)
        if (is_tiled[i])
            text_printf(out, "SHARED %s held%d[%d][%d];\n", w->values.type, i, TILE, TILE + 1);
    text_printf(out, "for (index tile = block; tile < %" PRId64 "; tile += n_blocks) {\n", tiles);
    add_tile_numbers(w, across);
    open_tile_pass(w, across, last);
    enter(w, false);
    for (int i = 0; i < loop->n_operands; i++)
        if (is_tiled[i])
            add_held(w, i, "[row][column]");
    text_add(out, "}\n}\n}\nSYNC;\n");
    open_tile_pass(w, last, across);
    enter(w, false);
    for (int i = 0; i < loop->n_operands; i++)
        if (is_tiled[i])
            text_printf(out, "const %s x%d = held%d[column][row];\n", w->values.type, i, i);
        else
            loop_values_add_operand(&w->values, i);
    loop_values_add_results(&w->values);
    text_add(out, "}\n}\n}\nSYNC;\n}\n");
    w->k.blocks = tiles;
}

// --- reductions ------------------------------------------------------------------------------------------------------

static enum scalar_function function_of_reduction(const struct loop *loop)
{
    return (enum scalar_function)loop->instructions[loop_text_reduction(loop)].fn;
}

// sum = f(sum, the value at these places), for places from `first` on, by steps of `step`.
static void add_accumulation(struct writing *w, const char *first, const char *step)
{
    struct text *out = &w->k.body;
    const struct loop *loop = w->values.loop;
    enum scalar_function fn = function_of_reduction(loop);
    char values[3][VALUE_NAME_SIZE] = {"sum"};
    text_add(out, "real sum = ");
    kernel_add_identity(&w->k, out, fn);
    text_printf(out, ";\nfor (index part = %s; part < %" PRId64 "; part += %s) {\n", first, nest_places(&w->reduced),
                step);
    nest_add_places(&w->reduced, out, "part");
    enter(w, true);
    loop_values_add_operands(&w->values);
    loop_text_add(out, &kernel_dialect, loop);
    loop_text_name(loop->instructions[loop_text_reduction(loop)].a, values[1]);
    text_add(out, "sum = ");
    kernel_add_call(out, fn, values);
    text_add(out, ";\n}\n");
}

static void store_reduced(struct writing *w, const char *reduction)
{
    enter(w, false);
    loop_values_add_reduced_results(&w->values, reduction);
}

// One thread for each result, among threads that are numbered from `first` by `step`.
static void add_columns(struct writing *w, const char *first, const char *step)
{
    struct text *out = &w->k.body;
    text_printf(out, "for (index place = %s; place < %" PRId64 "; place += %s) {\n", first, nest_places(&w->inner),
                step);
    nest_add_places(&w->inner, out, "place");
    add_accumulation(w, "0", "1");
    store_reduced(w, "sum");
    text_add(out, "}\n");
}

// One block for each result, from `first` by `step`. `partial` has been declared.
static void add_rows(struct writing *w, const char *first, const char *step)
{
    struct text *out = &w->k.body;
    int64_t places = nest_places(&w->inner);
    if (places > 1)
        text_printf(out, "for (index place = %s; place < %" PRId64 "; place += %s)", first, places, step);
    text_add(out, "{\n");
    nest_add_places(&w->inner, out, "place");
    text_add(out, "THREADS(t) {\n");
    add_accumulation(w, "t", "BLOCK");
    text_printf(out, "partial[t] = sum;\n}\nREDUCE(partial, f_%s);\nTHREADS(t) if (t == 0) {\n",
                function_name(function_of_reduction(w->values.loop)));
    store_reduced(w, "partial[0]");
    text_add(out, "}\nSYNC;\n}\n");
}

static bool is_along_results(const struct writing *w)
{
    const struct loop *loop = w->values.loop;
    int last = w->inner.n - 1;
    return ANY(int, i, loop->n_operands, last >= 0 && w->inner.stride[last][i] == 1);
}

static bool wants_columns(const struct writing *w, int64_t results, int64_t enough)
{
    int64_t parts = nest_places(&w->reduced);
    return parts <= 16 || (is_along_results(w) ? results >= enough / 4 : results >= enough && parts <= 64);
}

// --- whole loops -----------------------------------------------------------------------------------------------------

static bool has_rows(struct writing *w, const struct loop *loop)
{
    return loop->n_reduced && !wants_columns(w, nest_places(&w->inner), ENOUGH_COLUMNS);
}

static bool open_loop(struct writing *w, const struct loop *loop, int n_shared)
{
    open_nests(w, loop, n_shared);
    if (loop_real(loop) == REAL_F64)
        w->k.real = REAL_F64;
    w->k.has_wide_index = w->k.has_wide_index || loop_has_wide_index(loop);
    return loop_values_init(&w->values, &w->k, loop, w->arena);
}

// The loop over the blocks of a launch; w->k.blocks becomes how many it can use.
static void add_loop(struct writing *w, const struct loop *loop)
{
    int64_t places = nest_places(&w->inner);
    bool has_room = w->shared_bytes + TILE_BYTES <= MOST_SHARED_BYTES;
    int across = loop->n_reduced || !has_room ? -1 : axis_of_tiles(loop, &w->inner);
    if (loop->n_reduced && has_room && has_rows(w, loop)) {
        w->shared_bytes += THREADS_OF_BLOCK * 8;
        text_add(&w->k.body, "SHARED real partial[BLOCK];\n");
        add_rows(w, "block", "n_blocks");
        w->k.blocks = places;
    } else if (loop->n_reduced) {
        text_add(&w->k.body, "THREADS(t) {\n");
        add_columns(w, "block * BLOCK + t", "n_blocks * BLOCK");
        text_add(&w->k.body, "}\n");
        w->k.blocks = divide_up(places, w->k.threads);
    } else if (across >= 0) {
        add_tiles(w, across);
    } else if (places >= LARGE_PLACES && loop->n_operands <= MOST_UNROLLED_OPERANDS) {
        add_unrolled_places(w, places);
        w->k.blocks = divide_up(places, (int64_t)w->k.threads * UNROLLED);
    } else {
        add_places(w, places);
        w->k.blocks = divide_up(places, w->k.threads);
    }
    w->k.blocks = w->k.blocks < 1 ? 1 : w->k.blocks < MOST_BLOCKS ? w->k.blocks : MOST_BLOCKS;
}

static struct writing start(struct arena *arena, int threads)
{
    return (struct writing){.arena = arena, .k = {.threads = threads, .blocks = 1}};
}

static bool finish(struct writing *w, bool is_done, const char *prelude, struct generated_kernels *kernels)
{
    if (is_done)
        kernels_add(kernels, &w->k, prelude, w->arena);
    kernel_text_free(&w->k);
    return is_done;
}

static bool launch_one(const struct loop *loop, const char *prelude, struct arena *arena,
                       struct generated_kernels *kernels)
{
    struct writing w = start(arena, THREADS_OF_BLOCK);
    bool is_done = open_loop(&w, loop, 0);
    if (is_done)
        add_loop(&w, loop);
    return finish(&w, is_done, prelude, kernels);
}

// --- loops side by side ----------------------------------------------------------------------------------------------

static bool launch_side_by_side(const struct step *step, const char *prelude, struct arena *arena,
                                struct generated_kernels *kernels)
{
    struct writing w = start(arena, THREADS_OF_BLOCK);
    TEXT(all);
    int64_t blocks = 0;
    bool is_done = true;
    for (int i = 0; is_done && i < step->n_loops; i++) {
        is_done = open_loop(&w, &step->loops[i], 0);
        if (!is_done)
            break;
        text_clear(&w.k.body);
        add_loop(&w, &step->loops[i]);
        text_printf(&all,
                    "if (first_block >= %" PRId64 " && first_block < %" PRId64
                    ") {\nconst index block = first_block - %" PRId64 ", n_blocks = %" PRId64 ";\n",
                    blocks, blocks + w.k.blocks, blocks, w.k.blocks);
        text_add(&all, w.k.body.chars);
        text_add(&all, "}\n");
        blocks += w.k.blocks;
    }
    text_clear(&w.k.body);
    text_add(&w.k.body, "const index first_block = block;\n");
    text_add(&w.k.body, all.chars ? all.chars : "");
    w.k.blocks = blocks;
    return finish(&w, is_done, prelude, kernels);
}

// --- loops that share axes -------------------------------------------------------------------------------------------

static int64_t places_of(const struct loop *loop, int first, int end)
{
    return PRODUCT_ALL(int64_t, int, i, end - first, loop->dim[first + i]);
}

// A block as large as the work at one place, from a warp up.
static int threads_for(const struct step *step)
{
    const struct loop *l = step->loops;
    int64_t most =
        LARGEST(int64_t, 1, int, i, step->n_loops, places_of(&l[i], step->n_shared, l[i].rank + l[i].n_reduced));
    int threads = 32;
    while (threads < 512 && threads * 4 < most)
        threads *= 2;
    return threads;
}

static void add_shared_loop(struct writing *w, const struct loop *loop)
{
    struct text *out = &w->k.body;
    nest_add_places(&w->shared, out, "shared_place");
    if (!loop->n_reduced) {
        text_printf(out, "THREADS(t) for (index place = t; place < %" PRId64 "; place += BLOCK) {\n",
                    nest_places(&w->inner));
        nest_add_places(&w->inner, out, "place");
        add_map(w);
        text_add(out, "}\nSYNC;\n");
    } else if (wants_columns(w, nest_places(&w->inner), 4 * w->k.threads)) {
        text_add(out, "THREADS(t) {\n");
        add_columns(w, "t", "BLOCK");
        text_add(out, "}\nSYNC;\n");
    } else {
        add_rows(w, "0", "1");
    }
}

static bool launch_shared(const struct step *step, const char *prelude, struct arena *arena,
                          struct generated_kernels *kernels)
{
    struct writing w = start(arena, threads_for(step));
    int64_t places = places_of(&step->loops[0], 0, step->n_shared);
    bool is_done = true;
    text_printf(&w.k.body,
                "SHARED real partial[BLOCK];\nfor (index shared_place = block; shared_place < %" PRId64
                "; shared_place += n_blocks) {\n",
                places);
    for (int i = 0; is_done && i < step->n_loops; i++) {
        is_done = open_loop(&w, &step->loops[i], step->n_shared);
        text_add(&w.k.body, "{\n");
        if (is_done)
            add_shared_loop(&w, &step->loops[i]);
        text_add(&w.k.body, "}\n");
    }
    text_add(&w.k.body, "}\n");
    w.k.blocks = places < 65536 ? places : 65536;
    return finish(&w, is_done, prelude, kernels);
}

// --- steps -----------------------------------------------------------------------------------------------------------

bool kernels_from_loops(const struct step *step, const char *prelude, struct arena *arena,
                        struct generated_kernels *ret_kernels)
{
    int64_t rows = step->n_shared ? places_of(&step->loops[0], 0, step->n_shared) : 0;
    int64_t work = step->n_loops ? places_of(&step->loops[0], 0, step->loops[0].rank + step->loops[0].n_reduced) : 0;
    if (step->n_shared && (rows >= ENOUGH_ROWS || work <= LARGE_PLACES))
        return launch_shared(step, prelude, arena, ret_kernels);
    if (step->n_loops > 1 && loops_are_independent(step->n_loops, step->loops))
        return launch_side_by_side(step, prelude, arena, ret_kernels);
    return ALL(int, i, step->n_loops, launch_one(&step->loops[i], prelude, arena, ret_kernels));
}

void kernels_add(struct generated_kernels *kernels, struct kernel_text *k, const char *prelude, struct arena *arena)
{
    TEXT(text);
    kernel_text_finish(k, prelude, &text);
    struct generated_kernel kernel = {.text = arena_string(arena, text.chars),
                                      .blocks = (unsigned)k->blocks,
                                      .threads = (unsigned)k->threads,
                                      .n_pointers = k->n_pointers};
    kernel.pointers = k->n_pointers ? arena_copy_array(arena, k->pointers, k->n_pointers) : NULL;
    vec_push(&kernels->list, kernel);
}
