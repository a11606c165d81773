// An instruction is one call for a block of values. Loops of a step run one after the other.
//
//   axes      those of results, then the reduced ones, the first of each kind of one place; those that follow one
//             another for all accesses are one
//   a block   what lies within `unit` places on each axis: many on the last two of results, or on the last two reduced
//             ones where reading goes along these, and one on all others
#include "backends/cpu/loops/loops.h"

#include "backends/cpu/loops/copy.h"
#include "backends/cpu/loops/functions.h"
#include "backends/cpu/loops/parallel.h"
#include "backends/generated/nest.h"
#include "backends/limits.def"
#include "backends/planning/plan_memory.h"
#include "core/memory/arena.h"
#include "core/numbers/integers.h"
#include <math.h>

#define BLOCK 1024   // values of a block at most
#define MOST_AXES (LOOP_MAX_RANK + 2)
#define MOST_VALUES 192
#define ROWS_OF_PARTIAL_SUM 32
#define FEWEST_COLUMNS 8   // that are worth a vector

struct compiled_access {
    memory_id memory;
    enum dtype dtype;
    int64_t size, offset, stride[MOST_AXES];   // bytes of an entry; entries
};
struct compiled_loop {
    const struct loop *loop;
    bool is_copy, goes_along_reduced;
    int rank, n_reduced;   // of axes as above
    int64_t dim[MOST_AXES], unit[MOST_AXES];
    struct compiled_access *operands, *results;
    int reduction;   // its number among the instructions; their number: there is none
    double work;
};
struct compiled_loops {
    int threads, n_loops;
    struct compiled_loop *loops;
    float *scratch;
    size_t scratch_of_thread;   // floats
};

// --- axes ------------------------------------------------------------------------------------------------------------

static void set_axis(struct compiled_loop *c, int axis, int64_t dim, const int64_t *strides)
{
    c->dim[axis] = dim;
    for (int i = 0; i < c->loop->n_operands + c->loop->n_results; i++)
        c->operands[i].stride[axis] = strides ? strides[i] : 0;   // results stand behind operands
}

// Axes first .. first + n of the loop behind one of a single place, in descending order of strides of one access. Gives
// how many they are then, at least two.
static int place_axes(struct compiled_loop *c, int first, int n, int leading, int at, struct arena *arena)
{
    struct nest nest = nest_of_loop(c->loop, first, n, ' ', arena);
    nest_simplify(&nest, leading);
    set_axis(c, at, 1, NULL);
    for (int i = 0; i < nest.n; i++)
        set_axis(c, at + 1 + i, nest.dim[i], nest.stride[i]);
    if (nest.n == 0)
        set_axis(c, at + 1, 1, NULL);
    return nest.n ? nest.n + 1 : 2;
}

static int operand_of_most_reduced(const struct loop *l)
{
    int best = 0, most = -1;
    for (int i = 0; i < l->n_operands; i++) {
        int n = (int)COUNT(int, a, l->n_reduced, l->operands[i].stride[l->rank + a] != 0);
        if (n > most) {
            most = n;
            best = i;
        }
    }
    return best;
}

// Along results where that walks through memory and the reduced axes do not.
static bool reads_along_reduced(const struct compiled_loop *c)
{
    int inner = c->rank - 1, reduced = c->rank + c->n_reduced - 1, along_results = 0, along_reduced = 0;
    for (int i = 0; i < c->loop->n_operands; i++) {
        along_results += c->operands[i].stride[inner] == 1;
        along_reduced += c->operands[i].stride[reduced] == 1;
    }
    return c->n_reduced && (c->dim[inner] < FEWEST_COLUMNS ||
                            (along_results <= along_reduced && c->dim[reduced] >= FEWEST_COLUMNS / 2));
}

// --- blocks ----------------------------------------------------------------------------------------------------------

static int inner_axis(const struct compiled_loop *c)
{
    return c->rank + (c->goes_along_reduced ? c->n_reduced : 0) - 1;
}

static int64_t blocks_on(const struct compiled_loop *c, int axis)
{
    return (c->dim[axis] + c->unit[axis] - 1) / c->unit[axis];
}

static int64_t count_blocks(const struct compiled_loop *c, int first, int n)
{
    return PRODUCT_ALL(int64_t, int, i, n, blocks_on(c, first + i));
}

// Every thread gets its share of the columns where there are few blocks.
static void cut_into_blocks(struct compiled_loop *c, int threads)
{
    int inner = inner_axis(c), outer = inner - 1;
    int64_t share = (c->dim[inner] + threads - 1) / threads;
    for (int i = 0; i < c->rank + c->n_reduced; i++)
        c->unit[i] = 1;
    c->unit[inner] = c->dim[inner] ? smaller_of(BLOCK, c->dim[inner]) : 1;
    if (!c->goes_along_reduced && count_blocks(c, 0, c->rank) < threads && share >= FEWEST_COLUMNS)
        c->unit[inner] = smaller_of(c->unit[inner], share);
    if (c->unit[inner] == c->dim[inner])
        c->unit[outer] = c->dim[outer] ? smaller_of(BLOCK / c->dim[inner], c->dim[outer]) : 1;
}

// --- preparing -------------------------------------------------------------------------------------------------------

static struct compiled_access access_from(const struct loop_access *a)
{
    return (struct compiled_access){
        .memory = a->memory, .dtype = a->dtype, .size = (int64_t)dtype_size(a->dtype), .offset = a->offset};
}

static void prepare_accesses(struct compiled_loop *c, struct arena *arena)
{
    const struct loop *l = c->loop;
    c->operands = arena_array(arena, struct compiled_access, l->n_operands + l->n_results + 1);
    c->results = c->operands + l->n_operands;
    for (int i = 0; i < l->n_operands; i++)
        c->operands[i] = access_from(&l->operands[i]);
    for (int i = 0; i < l->n_results; i++)
        c->results[i] = access_from(&l->results[i].to);
}

static bool is_plain_copy(const struct loop *l)
{
    return l->n_instructions == 0 && l->n_reduced == 0 && l->n_results == 1 && l->n_operands == 1 &&
           l->operands[0].dtype == l->results[0].to.dtype;
}

static void prepare_loop(struct compiled_loop *c, const struct loop *l, int threads, struct arena *arena)
{
    c->loop = l;
    c->is_copy = is_plain_copy(l);
    prepare_accesses(c, arena);
    c->rank = place_axes(c, 0, l->rank, l->n_operands, 0, arena);
    if (l->n_reduced)
        c->n_reduced = place_axes(c, l->rank, l->n_reduced, operand_of_most_reduced(l), c->rank, arena);
    while (c->reduction < l->n_instructions && l->instructions[c->reduction].kind != INSTRUCTION_REDUCE)
        c->reduction++;
    c->goes_along_reduced = reads_along_reduced(c);
    cut_into_blocks(c, threads);
    c->work = (2 + l->n_instructions + l->n_operands) * loop_places(l);
}

struct compiled_loops *loops_prepare(const struct step *step, int threads, struct arena *arena)
{
    struct compiled_loops *loops = arena_new(arena, struct compiled_loops);
    int most = 0;
    loops->threads = threads;
    loops->n_loops = step->n_loops;
    loops->loops = arena_array(arena, struct compiled_loop, step->n_loops + 1);
    for (int i = 0; i < step->n_loops; i++) {
        const struct loop *l = &step->loops[i];
        prepare_loop(&loops->loops[i], l, threads, arena);
        most = l->n_operands + l->n_instructions > most ? l->n_operands + l->n_instructions : most;
    }
    loops->scratch_of_thread = ((size_t)most + 1) * BLOCK;
    loops->scratch = arena_alloc(arena, loops->scratch_of_thread * sizeof(float) * (size_t)threads, 64);
    return loops;
}

// --- values ----------------------------------------------------------------------------------------------------------

// A thread at work on a loop.
struct running {
    const struct compiled_loop *loop;
    char *const *memory;
    float *scratch;                    // a slot for each operand, then for each instruction, then for a partial sum
    int64_t place[MOST_AXES];          // the first of the block
    int64_t rows, columns;             // of the block
    int inner;                         // the axis of columns
    const float *value[MOST_VALUES];   // operands, then instructions
    const char *loaded[MOST_VALUES];   // of an operand: what its slot has of memory
    int64_t n_loaded[MOST_VALUES];
};

static int number_of(const struct running *r, uint16_t value)
{
    return value & VALUE_OF_INSTRUCTION ? r->loop->loop->n_operands + (value & ~VALUE_OF_INSTRUCTION) : value;
}

static const float *value_of(const struct running *r, uint16_t value)
{
    return r->value[number_of(r, value)];
}

static float *slot_of(const struct running *r, int number)
{
    return r->scratch + (size_t)number * BLOCK;
}

static char *address_of(const struct running *r, const struct compiled_access *a)
{
    int64_t offset = SUM_ALL(int64_t, int, i, r->loop->rank + r->loop->n_reduced, r->place[i] * a->stride[i]);
    return r->memory[a->memory] + (a->offset + offset) * a->size;
}

static void enter_block(struct running *r, int inner)
{
    const struct compiled_loop *c = r->loop;
    r->inner = inner;
    r->columns = smaller_of(c->unit[inner], c->dim[inner] - r->place[inner]);
    r->rows = smaller_of(c->unit[inner - 1], c->dim[inner - 1] - r->place[inner - 1]);
}

// How the values of a block stand in memory: rows that follow one another are one.
struct span {
    int64_t rows, columns, outer, inner;   // strides
};

static struct span span_of(const struct running *r, const struct compiled_access *a)
{
    struct span s = {r->rows, r->columns, a->stride[r->inner - 1], a->stride[r->inner]};
    if (s.columns == 1)
        s = (struct span){1, s.rows, 0, s.outer};
    else if (s.rows == 1 || s.outer == s.inner * s.columns)
        s = (struct span){1, s.rows * s.columns, 0, s.inner};
    return s;
}

static bool is_dense(const struct compiled_access *a, const struct span *s)
{
    return a->dtype == DTYPE_F32 && s->rows == 1 && (s->inner == 1 || s->columns == 1);
}

// Entries that all blocks of a row read are loaded once.
static const float *load(struct running *r, int operand)
{
    const struct compiled_access *a = &r->loop->operands[operand];
    const char *from = address_of(r, a);
    struct span s = span_of(r, a);
    float *slot = slot_of(r, operand);
    if (is_dense(a, &s))
        return (const float *)(const void *)from;
    if (r->loaded[operand] == from && r->n_loaded[operand] >= s.rows * s.columns)
        return slot;
    r->loaded[operand] = from;
    r->n_loaded[operand] = s.rows * s.columns;
    for (int64_t row = 0; row < s.rows; row++)
        functions_load(a->dtype, slot + row * s.columns, from + row * s.outer * a->size, s.inner, s.columns);
    return slot;
}

static bool is_reduced(const struct compiled_loop *c, int operand)
{
    return ANY(int, i, c->n_reduced, c->operands[operand].stride[c->rank + i] != 0);
}

// Behind a reduction nothing reads what it goes over.
static void load_operands(struct running *r, bool is_behind)
{
    for (int i = 0; i < r->loop->loop->n_operands; i++)
        if (!is_behind || !is_reduced(r->loop, i))
            r->value[i] = load(r, i);
}

static void fill(float *z, float value, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        z[i] = value;
}

static void set_constants(struct running *r)
{
    const struct loop *l = r->loop->loop;
    for (int i = 0; i < l->n_instructions; i++) {
        r->value[l->n_operands + i] = slot_of(r, l->n_operands + i);
        if (l->instructions[i].kind == INSTRUCTION_CONSTANT)
            fill(slot_of(r, l->n_operands + i), (float)l->instructions[i].constant, BLOCK);
    }
}

// The last value is computed where it is stored as it is, when nothing is read any more that may have stood there; any
// other in its slot.
static float *room_for(const struct running *r, int instruction)
{
    const struct loop *l = r->loop->loop;
    if (instruction + 1 < l->n_instructions)
        return slot_of(r, l->n_operands + instruction);
    for (int i = 0; i < l->n_results; i++) {
        const struct compiled_access *a = &r->loop->results[i];
        struct span s = span_of(r, a);
        if (l->results[i].value == (VALUE_OF_INSTRUCTION | instruction) && is_dense(a, &s))
            return (float *)(void *)address_of(r, a);
    }
    return slot_of(r, l->n_operands + instruction);
}

static void run_instructions(struct running *r, int from, int to)
{
    const struct loop *l = r->loop->loop;
    for (int i = from; i < to; i++) {
        const struct instruction *at = &l->instructions[i];
        int arity = function_arity((enum scalar_function)at->fn);
        if (at->kind != INSTRUCTION_APPLY)
            continue;
        const float *a = value_of(r, at->a), *b = arity > 1 ? value_of(r, at->b) : NULL;
        float *z = room_for(r, i);
        functions_apply((enum scalar_function)at->fn, z, a, b, arity > 2 ? value_of(r, at->c) : NULL,
                        r->rows * r->columns);
        r->value[l->n_operands + i] = z;
    }
}

static void store_results(const struct running *r)
{
    const struct loop *l = r->loop->loop;
    for (int i = 0; i < l->n_results; i++) {
        const struct compiled_access *a = &r->loop->results[i];
        const float *value = value_of(r, l->results[i].value);
        struct span s = span_of(r, a);
        char *to = address_of(r, a);
        for (int64_t row = 0; row < s.rows && (const char *)value != to; row++)
            functions_store(a->dtype, to + row * s.outer * a->size, s.inner, value + row * s.columns, s.columns);
    }
}

// --- blocks of results -----------------------------------------------------------------------------------------------

// Moves to the index-th block on n axes.
static void go_to(struct running *r, int first, int n, int64_t index)
{
    for (int i = first + n - 1; i >= first; i--) {
        int64_t blocks = blocks_on(r->loop, i);
        r->place[i] = index % blocks * r->loop->unit[i];
        index /= blocks;
    }
}

static void go_on(struct running *r, int first, int n)
{
    for (int i = first + n - 1; i >= first; i--) {
        r->place[i] += r->loop->unit[i];
        if (r->place[i] < r->loop->dim[i])
            return;
        r->place[i] = 0;
    }
}

static void map_block(struct running *r)
{
    enter_block(r, r->loop->rank - 1);
    load_operands(r, false);
    run_instructions(r, 0, r->loop->loop->n_instructions);
    store_results(r);
}

static float start_of_reduction(enum scalar_function f)
{
    return f == FN_ADD ? 0 : f == FN_MUL ? 1 : f == FN_MAX ? -INFINITY : INFINITY;
}

// The value of a block that is reduced.
static const float *next_block(struct running *r, const struct instruction *reduce)
{
    const struct compiled_loop *c = r->loop;
    enter_block(r, inner_axis(c));
    load_operands(r, false);
    run_instructions(r, 0, c->reduction);
    go_on(r, c->rank, c->n_reduced);
    return value_of(r, reduce->a);
}

static void reduce_rows(struct running *r, const struct instruction *reduce, float *z)
{
    enum scalar_function f = (enum scalar_function)reduce->fn;
    int64_t n = count_blocks(r->loop, r->loop->rank, r->loop->n_reduced);
    *z = start_of_reduction(f);
    for (int64_t i = 0; i < n; i++) {
        const float *value = next_block(r, reduce);
        *z = functions_reduce(f, *z, value, r->rows * r->columns);
    }
}

// Sums go to a partial one first, which is added to the whole one every so often: errors grow with the number of
// partial sums, not of terms.
static void reduce_columns(struct running *r, const struct instruction *reduce, float *z)
{
    const struct compiled_loop *c = r->loop;
    enum scalar_function f = (enum scalar_function)reduce->fn;
    float *partial = slot_of(r, c->loop->n_operands + c->loop->n_instructions);
    int64_t n = count_blocks(c, c->rank, c->n_reduced), size = r->rows * r->columns;
    fill(z, start_of_reduction(f), size);
    for (int64_t i = 0; i < n; i++) {
        if (i % ROWS_OF_PARTIAL_SUM == 0)
            fill(partial, start_of_reduction(f), size);
        const float *value = next_block(r, reduce);
        functions_apply(f, partial, partial, value, NULL, size);
        if ((i + 1) % ROWS_OF_PARTIAL_SUM == 0 || i + 1 == n)
            functions_apply(f, z, z, partial, NULL, size);
    }
}

static void reduce_block(struct running *r)
{
    const struct compiled_loop *c = r->loop;
    const struct instruction *reduce = &c->loop->instructions[c->reduction];
    float *z = slot_of(r, c->loop->n_operands + c->reduction);
    enter_block(r, c->rank - 1);
    (c->goes_along_reduced ? reduce_rows : reduce_columns)(r, reduce, z);
    enter_block(r, c->rank - 1);
    load_operands(r, true);
    run_instructions(r, c->reduction + 1, c->loop->n_instructions);
    store_results(r);
}

// --- copies ----------------------------------------------------------------------------------------------------------

// The outermost axis that is long enough to be shared among threads.
static int axis_to_share(const struct compiled_loop *c, int threads)
{
    int best = 0;
    for (int i = 0; i < c->rank; i++) {
        if (c->dim[i] >= 4 * threads)
            return i;
        if (c->dim[i] > c->dim[best])
            best = i;
    }
    return best;
}

static void copy_part(struct running *r, int part, int parts)
{
    const struct compiled_loop *c = r->loop;
    const struct compiled_access *source = &c->operands[0], *target = &c->results[0];
    int64_t dim[MOST_AXES], source_stride[MOST_AXES], target_stride[MOST_AXES];
    int axis = axis_to_share(c, parts);
    for (int i = 0; i < c->rank; i++) {
        dim[i] = c->dim[i];
        source_stride[i] = source->stride[i] * source->size;
        target_stride[i] = target->stride[i] * target->size;
    }
    r->place[axis] = c->dim[axis] * part / parts;
    dim[axis] = c->dim[axis] * (part + 1) / parts - r->place[axis];
    if (dim[axis] > 0)
        copy_box(address_of(r, target), address_of(r, source), c->rank, dim, target_stride, source_stride,
                 target->size);
}

// --- running ---------------------------------------------------------------------------------------------------------

struct loop_run {
    const struct compiled_loops *loops;
    const struct compiled_loop *loop;
    char *const *memory;
};

static void run_part(void *argument, int part, int parts)
{
    const struct loop_run *run = argument;
    const struct compiled_loop *c = run->loop;
    struct running r = {.loop = c,
                        .memory = run->memory,
                        .scratch = run->loops->scratch + run->loops->scratch_of_thread * (size_t)part};
    int64_t blocks = count_blocks(c, 0, c->rank);
    if (c->is_copy) {
        copy_part(&r, part, parts);
        return;
    }
    set_constants(&r);
    go_to(&r, 0, c->rank, blocks * part / parts);
    for (int64_t i = blocks * part / parts; i < blocks * (part + 1) / parts; i++) {
        if (c->n_reduced)
            reduce_block(&r);
        else
            map_block(&r);
        go_on(&r, 0, c->rank);
    }
}

void loops_run(const struct compiled_loops *loops, const struct workers *workers, char *const *memory)
{
    for (int i = 0; i < loops->n_loops; i++) {
        struct loop_run run = {loops, &loops->loops[i], memory};
        double worth = run.loop->work / WORTH_A_THREAD + 1;
        parallel_for(workers, worth < loops->threads ? (int)worth : loops->threads, run_part, &run);
    }
}
