// Runs compiled loops: threads share the longest axis, vectors of one row at a time go through the instructions.
#include "backends/cpu/loops_internal.h"

#include "backends/cpu/parallel.h"
#include <math.h>
#include <string.h>

// Below this many scalar operations another thread costs more than it saves.
#define WORTH_A_THREAD 20000.0
#define MOST_VALUES 192
#define ROWS_OF_PARTIAL_SUM 32

// One thread at work on one loop.
struct running {
    const struct compiled_loop *loop;
    const struct vector_functions *vector;
    char *const *memory;
    const int64_t *shared;   // the place on shared axes, or NULL
    int n_shared;
    float *scratch;
    int64_t place[LOOP_MAX_RANK];                             // the first of the block
    const float *operand[MOST_VALUES], *value[MOST_VALUES];   // vectors
    float uniform_operand[MOST_VALUES], uniform[MOST_VALUES];
    const char *repeated[MOST_VALUES];   // of a repeated operand: what its slot is full of
};

static char *address_of(const struct running *r, const struct compiled_access *a, int n_axes)
{
    int64_t offset = a->offset;
    for (int i = 0; i < r->n_shared; i++)
        offset += r->shared[i] * a->shared_stride[i];
    for (int i = 0; i < n_axes; i++)
        offset += r->place[i] * a->stride[i];
    return r->memory[a->memory] + offset * a->size;
}

static float *slot_of(const struct running *r, int slot)
{
    return r->scratch + (size_t)slot * VECTOR_BLOCK;
}

// --- values ----------------------------------------------------------------------------------------------------------

static void load_vector(const struct running *r, const struct compiled_access *o, int64_t stride, float *z,
                        const char *from, int64_t n)
{
    if (o->dtype == DTYPE_F32)
        r->vector->load(z, (const float *)(const void *)from, stride, n);
    else
        r->vector->load_as(o->dtype, z, from, stride, n);
}

// Over and over in the operand's slot, which nothing else uses.
static void repeat_operand(struct running *r, int number)
{
    const struct compiled_access *o = &r->loop->operands[number];
    int64_t period = r->loop->period, end = VECTOR_BLOCK / period * period;
    const char *from = address_of(r, o, r->loop->rank - 1);
    float *z = slot_of(r, o->slot);
    r->operand[number] = z;
    if (r->repeated[number] == from)
        return;
    load_vector(r, o, o->stride[r->loop->rank - 1], z, from, period);
    for (int64_t n = period; n < end; n += period)
        memcpy(z + n, z, (size_t)period * sizeof *z);
    r->repeated[number] = from;
}

static void load_operands(struct running *r, const bool *used, int n_axes, int inner, bool is_scalar_phase, int64_t n)
{
    const struct compiled_loop *c = r->loop;
    for (int i = 0; i < c->n_operands; i++) {
        const struct compiled_access *o = &c->operands[i];
        if (!used[i])
            continue;
        if (o->is_repeated) {
            repeat_operand(r, i);
            continue;
        }
        const char *from = address_of(r, o, n_axes);
        if (is_scalar_phase || o->is_uniform) {
            load_vector(r, o, 1, &r->uniform_operand[i], from, 1);
        } else if (o->is_direct) {
            r->operand[i] = (const float *)(const void *)from;
        } else {
            float *z = slot_of(r, o->slot);
            load_vector(r, o, o->stride[inner], z, from, n);
            r->operand[i] = z;
        }
    }
}

static float uniform_of(const struct running *r, uint16_t value)
{
    return value & VALUE_OF_INSTRUCTION ? r->uniform[value & ~VALUE_OF_INSTRUCTION] : r->uniform_operand[value];
}

// The value as a vector, in the k-th spare slot if it is uniform.
static const float *vector_of(const struct running *r, uint16_t value, int k, int64_t n)
{
    if (value_is_uniform(r->loop, value)) {
        float *z = slot_of(r, r->loop->spare_slot + k);
        r->vector->fill(z, uniform_of(r, value), n);
        return z;
    }
    return value & VALUE_OF_INSTRUCTION ? r->value[value & ~VALUE_OF_INSTRUCTION] : r->operand[value];
}

static float *room_for(const struct running *r, const struct compiled_code *code)
{
    if (code->result < 0)
        return slot_of(r, code->slot);
    return (float *)(void *)address_of(r, &r->loop->results[code->result].to, r->loop->rank);
}

static void apply_once(struct running *r, int number)
{
    const struct compiled_code *code = &r->loop->code[number];
    const struct instruction *i = &code->instruction;
    int arity = function_arity((enum scalar_function)i->fn);
    float a = uniform_of(r, i->a), b = arity > 1 ? uniform_of(r, i->b) : 0, c = arity > 2 ? uniform_of(r, i->c) : 0;
    code->apply(&r->uniform[number], &a, &b, &c, 1);
}

static void apply_to_vectors(struct running *r, int number, int64_t n)
{
    const struct compiled_code *code = &r->loop->code[number];
    const struct instruction *i = &code->instruction;
    int arity = function_arity((enum scalar_function)i->fn);
    float *z = room_for(r, code);
    const float *a = vector_of(r, i->a, 0, n), *b = arity > 1 ? vector_of(r, i->b, 1, n) : a;
    code->apply(z, a, b, arity > 2 ? vector_of(r, i->c, 2, n) : a, n);
    r->value[number] = z;
}

static void run_code(struct running *r, int from, int to, int64_t n)
{
    for (int number = from; number < to; number++) {
        const struct compiled_code *code = &r->loop->code[number];
        const struct instruction *i = &code->instruction;
        float *z;
        switch (code->form) {
        case FORM_VECTORS:
            apply_to_vectors(r, number, n);
            break;
        case FORM_RIGHT:
            z = room_for(r, code);
            code->apply_scalar(z, vector_of(r, i->a, 0, n), uniform_of(r, i->b), n);
            r->value[number] = z;
            break;
        case FORM_LEFT:
            z = room_for(r, code);
            code->apply_scalar(z, vector_of(r, i->b, 0, n), uniform_of(r, i->a), n);
            r->value[number] = z;
            break;
        case FORM_ONCE:
            apply_once(r, number);
            break;
        case FORM_CONSTANT:
            r->uniform[number] = (float)i->constant;
            break;
        case FORM_REDUCTION:
            break;
        }
    }
}

static void store_results(struct running *r, bool is_scalar_phase, int64_t n)
{
    const struct compiled_loop *c = r->loop;
    for (int i = 0; i < c->n_results; i++) {
        const struct compiled_result *result = &c->results[i];
        const struct compiled_access *to = &result->to;
        if (result->is_in_place)
            continue;
        char *address = address_of(r, to, c->rank);
        int64_t stride = to->stride[c->rank - 1];
        float one;
        const float *vector = &one;
        if (is_scalar_phase)
            one = uniform_of(r, result->value);
        else
            vector = vector_of(r, result->value, 3, n);
        if (to->dtype == DTYPE_F32)
            r->vector->store((float *)(void *)address, stride, vector, n);
        else
            r->vector->store_as(to->dtype, address, stride, vector, n);
    }
}

// --- walking ---------------------------------------------------------------------------------------------------------

// Sets place[first .. first + n) to the index-th place of these axes in row-major order.
static void go_to(struct running *r, int first, int n, int64_t index)
{
    for (int i = first + n - 1; i >= first; i--) {
        r->place[i] = index % r->loop->dim[i];
        index /= r->loop->dim[i];
    }
}

static void step_on(struct running *r, int first, int n)
{
    for (int i = first + n - 1; i >= first; i--) {
        if (++r->place[i] < r->loop->dim[i])
            return;
        r->place[i] = 0;
    }
}

static int64_t places_on(const struct compiled_loop *c, int first, int n)
{
    int64_t places = 1;
    for (int i = first; i < first + n; i++)
        places *= c->dim[i];
    return places;
}

// Results are cut into blocks: of equal size along the inner axis, small enough for all threads to get some.
struct blocks {
    int64_t size, per_row, count;
};

static struct blocks cut_into_blocks(const struct compiled_loop *c, int threads)
{
    int64_t inner = c->mode == LOOP_REDUCES_ROWS ? 1 : c->dim[c->rank - 1];
    int64_t rows = places_on(c, 0, c->mode == LOOP_REDUCES_ROWS ? c->rank : c->rank - 1);
    int64_t unit = c->period ? c->period : 16, most = c->period ? VECTOR_BLOCK / unit * unit : VECTOR_BLOCK;
    struct blocks b = {.size = inner < most ? inner : most};
    if (rows < threads && inner > 32) {
        int64_t share = ((inner + threads - 1) / threads + unit - 1) / unit * unit;
        b.size = share < b.size ? share : b.size;
    }
    b.per_row = (inner + b.size - 1) / b.size;
    b.count = rows * b.per_row;
    return b;
}

// --- modes -----------------------------------------------------------------------------------------------------------

static void map_block(struct running *r, int64_t n)
{
    const struct compiled_loop *c = r->loop;
    load_operands(r, c->used_before, c->rank, c->rank - 1, false, n);
    run_code(r, 0, c->n_code, n);
    store_results(r, false, n);
}

static float start_of_reduction(uint8_t fn)
{
    return fn == FN_ADD ? 0 : fn == FN_MUL ? 1 : fn == FN_MAX ? -INFINITY : INFINITY;
}

// Sums go to a partial vector first, which is added to the whole one every so often: errors grow with the number of
// partial sums, not of terms.
static void reduce_column_block(struct running *r, int64_t n)
{
    const struct compiled_loop *c = r->loop;
    const struct compiled_code *code = &c->code[c->reduction];
    uint8_t fn = code->instruction.fn;
    vector_function *join = r->vector->apply[fn];
    float *whole = slot_of(r, code->slot), *partial = slot_of(r, c->spare_slot + 4);
    int64_t places = places_on(c, c->rank, c->n_reduced);
    r->vector->fill(whole, start_of_reduction(fn), n);
    memset(&r->place[c->rank], 0, sizeof(int64_t) * (size_t)c->n_reduced);
    for (int64_t first = 0; first < places; first += ROWS_OF_PARTIAL_SUM) {
        int64_t end = first + ROWS_OF_PARTIAL_SUM < places ? first + ROWS_OF_PARTIAL_SUM : places;
        r->vector->fill(partial, start_of_reduction(fn), n);
        for (int64_t i = first; i < end; i++) {
            load_operands(r, c->used_before, c->rank + c->n_reduced, c->rank - 1, false, n);
            run_code(r, 0, c->reduction, n);
            join(partial, partial, vector_of(r, code->instruction.a, 3, n), NULL, n);
            step_on(r, c->rank, c->n_reduced);
        }
        join(whole, whole, partial, NULL, n);
    }
    r->value[c->reduction] = whole;
    load_operands(r, c->used_after, c->rank, c->rank - 1, false, n);
    run_code(r, c->reduction + 1, c->n_code, n);
    store_results(r, false, n);
}

static double reduce_vector(const struct running *r, uint8_t fn, const float *a, int64_t n, double so_far)
{
    double part;
    switch (fn) {
    case FN_ADD:
        return so_far + (double)r->vector->sum(a, n);
    case FN_MUL:
        return so_far * (double)r->vector->product(a, n);
    case FN_MAX:
        part = (double)r->vector->max(a, n);
        return so_far != so_far || part != part ? so_far + part : part > so_far ? part : so_far;
    default:
        part = (double)r->vector->min(a, n);
        return so_far != so_far || part != part ? so_far + part : part < so_far ? part : so_far;
    }
}

static void reduce_row(struct running *r)
{
    const struct compiled_loop *c = r->loop;
    const struct compiled_code *code = &c->code[c->reduction];
    int inner = c->rank + c->n_reduced - 1;
    double result = (double)start_of_reduction(code->instruction.fn);
    int64_t rows = places_on(c, c->rank, c->n_reduced - 1), length = c->dim[inner];
    memset(&r->place[c->rank], 0, sizeof(int64_t) * (size_t)c->n_reduced);
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t at = 0; at < length; at += VECTOR_BLOCK) {
            int64_t n = length - at < VECTOR_BLOCK ? length - at : VECTOR_BLOCK;
            r->place[inner] = at;
            load_operands(r, c->used_before, inner + 1, inner, false, n);
            run_code(r, 0, c->reduction, n);
            result = reduce_vector(r, code->instruction.fn, vector_of(r, code->instruction.a, 3, n), n, result);
        }
        r->place[inner] = 0;
        step_on(r, c->rank, c->n_reduced - 1);
    }
    r->uniform[c->reduction] = (float)result;
    load_operands(r, c->used_after, c->rank, inner, true, 1);
    run_code(r, c->reduction + 1, c->n_code, 1);
    store_results(r, true, 1);
}

static void run_blocks(struct running *r, const struct blocks *b, int64_t from, int64_t to)
{
    const struct compiled_loop *c = r->loop;
    int outer = c->mode == LOOP_REDUCES_ROWS ? c->rank : c->rank - 1;
    int64_t inner = c->dim[c->rank - 1];
    go_to(r, 0, outer, from / b->per_row);
    int64_t at = from % b->per_row;
    for (int64_t i = from; i < to; i++) {
        int64_t first = at * b->size, n = inner - first < b->size ? inner - first : b->size;
        if (c->mode == LOOP_REDUCES_ROWS) {
            reduce_row(r);
        } else {
            r->place[c->rank - 1] = first;
            (c->mode == LOOP_MAPS ? map_block : reduce_column_block)(r, n);
        }
        if (++at == b->per_row) {
            at = 0;
            step_on(r, 0, outer);
        }
    }
}

// --- copies ----------------------------------------------------------------------------------------------------------

// Rows from..to of the outermost axis that is long enough to be shared among threads.
static void copy_part(struct running *r, int axis, int64_t from, int64_t to)
{
    const struct compiled_loop *c = r->loop;
    const struct compiled_access *source = &c->operands[0], *target = &c->results[0].to;
    int64_t dim[LOOP_MAX_RANK], source_stride[LOOP_MAX_RANK], target_stride[LOOP_MAX_RANK];
    memset(r->place, 0, sizeof r->place);
    r->place[axis] = from;
    for (int i = 0; i < c->rank; i++) {
        dim[i] = i == axis ? to - from : c->dim[i];
        source_stride[i] = source->stride[i] * source->size;
        target_stride[i] = target->stride[i] * target->size;
    }
    copy_box(address_of(r, target, c->rank), address_of(r, source, c->rank), c->rank, dim, target_stride, source_stride,
             target->size);
}

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

// --- loops -----------------------------------------------------------------------------------------------------------

static void start_running(struct running *r, const struct compiled_loops *loops, const struct compiled_loop *loop,
                          char *const *memory, const int64_t *shared, int thread)
{
    r->loop = loop;
    r->vector = loops->vector;
    r->memory = memory;
    r->shared = shared;
    r->n_shared = loops->n_shared;
    r->scratch = loops->scratch + loops->scratch_of_thread * (size_t)thread;
    for (int i = 0; loop->period && i < loop->n_operands; i++)
        r->repeated[i] = NULL;
}

static int threads_worth(const struct compiled_loops *loops, double work)
{
    int worth = (int)(work / WORTH_A_THREAD) + 1;
    return worth < loops->threads ? worth : loops->threads;
}

static void run_share(const struct compiled_loops *loops, const struct compiled_loop *c, char *const *memory, int part,
                      int parts)
{
    struct running r;
    start_running(&r, loops, c, memory, NULL, part);
    if (c->mode == LOOP_COPIES) {
        int axis = axis_to_share(c, parts);
        int64_t from = c->dim[axis] * part / parts, to = c->dim[axis] * (part + 1) / parts;
        if (from < to)
            copy_part(&r, axis, from, to);
        return;
    }
    struct blocks b = cut_into_blocks(c, parts);
    run_blocks(&r, &b, b.count * part / parts, b.count * (part + 1) / parts);
}

bool loops_share_axes(const struct compiled_loops *loops)
{
    return loops->n_shared > 0;
}

void loops_run_place(const struct compiled_loops *loops, char *const *memory, const int64_t *shared, int part)
{
    struct running r;
    for (int i = 0; i < loops->n_loops; i++) {
        const struct compiled_loop *c = &loops->loops[i];
        start_running(&r, loops, c, memory, shared, part);
        if (c->mode == LOOP_COPIES) {
            copy_part(&r, 0, 0, c->dim[0]);
            continue;
        }
        struct blocks b = cut_into_blocks(c, 1);
        run_blocks(&r, &b, 0, b.count);
    }
}

struct shared_run {
    const struct compiled_loops *loops;
    const struct compiled_loop *first;
    int n;   // loops, from the first on
    char *const *memory;
};

static void run_places(void *argument, int part, int parts)
{
    const struct shared_run *run = argument;
    const struct compiled_loops *loops = run->loops;
    int64_t shared[MAX_RANK];
    int64_t to = loops->n_shared_places * (part + 1) / parts;
    for (int64_t i = loops->n_shared_places * part / parts; i < to; i++) {
        int64_t rest = i;
        for (int a = loops->n_shared - 1; a >= 0; a--) {
            shared[a] = rest % loops->shared[a];
            rest /= loops->shared[a];
        }
        loops_run_place(loops, run->memory, shared, part);
    }
}

// Each part is one of every loop: nobody waits in between.
static void run_shares(void *argument, int part, int parts)
{
    const struct shared_run *run = argument;
    for (int i = 0; i < run->n; i++)
        run_share(run->loops, &run->first[i], run->memory, part, parts);
}

static double work_of(const struct shared_run *run)
{
    double work = 0;
    for (int i = 0; i < run->n; i++)
        work += run->first[i].work;
    return work;
}

void loops_run(const struct compiled_loops *loops, const struct workers *workers, char *const *memory)
{
    struct shared_run run = {loops, loops->loops, loops->n_loops, memory};
    if (loops->n_shared > 0) {
        int parts = threads_worth(loops, work_of(&run) * (double)loops->n_shared_places);
        parallel_for(workers, parts, run_places, &run);
        return;
    }
    run.n = loops->are_independent ? loops->n_loops : 1;
    for (const struct compiled_loop *end = loops->loops + loops->n_loops; run.first < end; run.first += run.n)
        parallel_for(workers, threads_worth(loops, work_of(&run)), run_shares, &run);
}
