// From a plan's loops to what runs: axes merged and ordered, values given places, instructions given functions.
#include "backends/cpu/loops_internal.h"

#include "core/memory/arena.h"
#include <string.h>

#define ENTRIES_IN_CACHE 32768
#define LONGEST_PERIOD (VECTOR_BLOCK / 2)

// --- axes ------------------------------------------------------------------------------------------------------------

struct axes {
    int n;
    int order[LOOP_MAX_RANK];
};

static int64_t size_of_stride(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

// Axes from..to (those of size 1 left out) with the strides of one access in descending order.
static struct axes order_axes(const struct loop *l, int from, int to, const struct loop_access *leading)
{
    struct axes axes = {0};
    for (int i = from; i < to; i++) {
        int at = axes.n;
        if (l->dim[i] == 1)
            continue;
        for (; at > 0 && size_of_stride(leading->stride[axes.order[at - 1]]) < size_of_stride(leading->stride[i]); at--)
            axes.order[at] = axes.order[at - 1];
        axes.order[at] = i;
        axes.n++;
    }
    return axes;
}

static void take_axis(struct compiled_loop *c, const struct loop *l, int to, int from)
{
    c->dim[to] = l->dim[from];
    for (int i = 0; i < l->n_operands; i++)
        c->operands[i].stride[to] = l->operands[i].stride[from];
    for (int i = 0; i < l->n_results; i++)
        c->results[i].to.stride[to] = from < l->rank ? l->results[i].to.stride[from] : 0;
}

static bool can_merge(const struct compiled_loop *c, int outer, int inner)
{
    for (int i = 0; i < c->n_operands; i++)
        if (c->operands[i].stride[outer] != c->operands[i].stride[inner] * c->dim[inner])
            return false;
    for (int i = 0; i < c->n_results; i++)
        if (c->results[i].to.stride[outer] != c->results[i].to.stride[inner] * c->dim[inner])
            return false;
    return true;
}

static void drop_axis(struct compiled_loop *c, int axis, int end)
{
    for (int a = axis; a + 1 < end; a++) {
        c->dim[a] = c->dim[a + 1];
        for (int i = 0; i < c->n_operands; i++)
            c->operands[i].stride[a] = c->operands[i].stride[a + 1];
        for (int i = 0; i < c->n_results; i++)
            c->results[i].to.stride[a] = c->results[i].to.stride[a + 1];
    }
}

// Puts the given axes at `first`, merging those that follow one another everywhere; gives how many are left (at least
// one: an axis of size 1 when there is nothing).
static int place_axes(struct compiled_loop *c, const struct loop *l, struct axes axes, int first)
{
    int n = 0;
    for (int i = 0; i < axes.n; i++) {
        take_axis(c, l, first + n, axes.order[i]);
        n++;
        if (n >= 2 && can_merge(c, first + n - 2, first + n - 1)) {
            c->dim[first + n - 1] *= c->dim[first + n - 2];
            drop_axis(c, first + n - 2, first + n);
            n--;
        }
    }
    if (n == 0) {
        c->dim[first] = 1;
        for (int i = 0; i < c->n_operands; i++)
            c->operands[i].stride[first] = 0;
        for (int i = 0; i < c->n_results; i++)
            c->results[i].to.stride[first] = 0;
        n = 1;
    }
    return n;
}

static const struct loop_access *leading_operand(const struct loop *l)
{
    const struct loop_access *best = &l->operands[0];
    int most = -1;
    for (int i = 0; i < l->n_operands; i++) {
        int n = 0;
        for (int a = l->rank; a < l->rank + l->n_reduced; a++)
            n += l->operands[i].stride[a] != 0;
        if (n > most) {
            most = n;
            best = &l->operands[i];
        }
    }
    return best;
}

static void copy_accesses(struct compiled_loop *c, const struct loop *l, int n_shared, struct arena *arena)
{
    c->n_operands = l->n_operands;
    c->n_results = l->n_results;
    c->operands = arena_array(arena, struct compiled_access, l->n_operands + 1);
    c->results = arena_array(arena, struct compiled_result, l->n_results + 1);
    for (int i = 0; i < l->n_operands; i++) {
        c->operands[i] = (struct compiled_access){.memory = l->operands[i].memory,
                                                  .dtype = l->operands[i].dtype,
                                                  .size = (int64_t)dtype_size(l->operands[i].dtype),
                                                  .offset = l->operands[i].offset};
        memcpy(c->operands[i].shared_stride, l->operands[i].stride, sizeof(int64_t) * (size_t)n_shared);
    }
    for (int i = 0; i < l->n_results; i++) {
        const struct loop_access *to = &l->results[i].to;
        c->results[i].value = l->results[i].value;
        c->results[i].to = (struct compiled_access){
            .memory = to->memory, .dtype = to->dtype, .size = (int64_t)dtype_size(to->dtype), .offset = to->offset};
        memcpy(c->results[i].to.shared_stride, to->stride, sizeof(int64_t) * (size_t)n_shared);
    }
}

// --- modes -----------------------------------------------------------------------------------------------------------

static bool is_plain_copy(const struct loop *l)
{
    return l->n_instructions == 0 && l->n_reduced == 0 && l->n_results == 1 && l->n_operands == 1 &&
           l->operands[0].dtype == l->results[0].to.dtype;
}

// Along results when that walks through memory and the reduced axes do not.
static bool suits_columns(const struct compiled_loop *c)
{
    int inner = c->rank - 1, reduced = c->rank + c->n_reduced - 1;
    int along_results = 0, along_reduced = 0;
    for (int i = 0; i < c->n_operands; i++) {
        along_results += c->operands[i].stride[inner] == 1;
        along_reduced += c->operands[i].stride[reduced] == 1;
    }
    return c->dim[inner] >= 8 && (along_results > along_reduced || c->dim[reduced] < 4);
}

static enum loop_mode mode_of(const struct compiled_loop *c, const struct loop *l)
{
    if (is_plain_copy(l))
        return LOOP_COPIES;
    if (l->n_reduced == 0)
        return LOOP_MAPS;
    return suits_columns(c) ? LOOP_REDUCES_COLUMNS : LOOP_REDUCES_ROWS;
}

// A short inner axis that some operands have alone (the channels of an image that is scaled by channel) and the axis
// before it become one, along which these operands are repeated: blocks are long then.
static bool can_repeat(const struct compiled_loop *c)
{
    int outer = c->rank - 2, inner = c->rank - 1;
    if (c->mode != LOOP_MAPS || outer < 0 || c->dim[inner] > LONGEST_PERIOD)
        return false;
    for (int i = 0; i < c->n_operands; i++)
        if (c->operands[i].stride[outer] != 0 &&
            c->operands[i].stride[outer] != c->operands[i].stride[inner] * c->dim[inner])
            return false;
    for (int i = 0; i < c->n_results; i++)
        if (c->results[i].to.stride[outer] != c->results[i].to.stride[inner] * c->dim[inner])
            return false;
    return true;
}

static void repeat_short_axis(struct compiled_loop *c)
{
    int outer = c->rank - 2, inner = c->rank - 1;
    if (!can_repeat(c))
        return;
    c->period = c->dim[inner];
    for (int i = 0; i < c->n_operands; i++)
        c->operands[i].is_repeated = c->operands[i].stride[outer] == 0 && c->operands[i].stride[inner] != 0;
    c->dim[inner] *= c->dim[outer];
    drop_axis(c, outer, c->rank);
    c->rank--;
}

// --- instructions ----------------------------------------------------------------------------------------------------

static int arity_of(const struct instruction *i)
{
    return i->kind == INSTRUCTION_APPLY ? function_arity((enum scalar_function)i->fn) : 1;
}

static void choose_function(struct compiled_loop *c, const struct vector_functions *vector, struct compiled_code *code)
{
    const struct instruction *i = &code->instruction;
    int arity = arity_of(i);
    bool a = value_is_uniform(c, i->a), b = arity < 2 || value_is_uniform(c, i->b);
    bool third = arity < 3 || value_is_uniform(c, i->c);
    code->apply = vector->apply[i->fn];
    code->is_uniform = a && b && third;
    if (code->is_uniform)
        code->form = FORM_ONCE;
    else if (arity == 2 && b && vector->apply_right[i->fn])
        code->form = FORM_RIGHT;
    else if (arity == 2 && a && vector->apply_left[i->fn])
        code->form = FORM_LEFT;
    else
        code->form = FORM_VECTORS;
    code->apply_scalar = code->form == FORM_RIGHT ? vector->apply_right[i->fn] : vector->apply_left[i->fn];
}

static void note_phase_uses(struct compiled_loop *c, const struct loop *l, int from, int to, bool *used)
{
    for (int i = from; i < to; i++) {
        const struct instruction *at = &l->instructions[i];
        const uint16_t operands[] = {at->a, at->b, at->c};
        for (int k = 0; at->kind != INSTRUCTION_CONSTANT && k < arity_of(at); k++)
            if (!(operands[k] & VALUE_OF_INSTRUCTION))
                used[operands[k]] = true;
    }
}

static void compile_code(struct compiled_loop *c, const struct loop *l, const struct vector_functions *vector,
                         struct arena *arena)
{
    int inner = c->mode == LOOP_REDUCES_ROWS ? c->rank + c->n_reduced - 1 : c->rank - 1;
    c->n_code = l->n_instructions;
    c->code = arena_array(arena, struct compiled_code, l->n_instructions + 1);
    c->reduction = l->n_instructions;
    for (int i = 0; i < l->n_instructions; i++)
        if (l->instructions[i].kind == INSTRUCTION_REDUCE)
            c->reduction = i;
    c->used_before = arena_array(arena, bool, l->n_operands + 1);
    c->used_after = arena_array(arena, bool, l->n_operands + 1);
    bool has_reduction = c->reduction < l->n_instructions;
    note_phase_uses(c, l, 0, has_reduction ? c->reduction + 1 : l->n_instructions, c->used_before);
    note_phase_uses(c, l, has_reduction ? c->reduction + 1 : l->n_instructions, l->n_instructions, c->used_after);
    for (int i = 0; i < l->n_results; i++)
        if (!(l->results[i].value & VALUE_OF_INSTRUCTION))
            (has_reduction ? c->used_after : c->used_before)[l->results[i].value] = true;
    for (int i = 0; i < l->n_operands; i++) {
        struct compiled_access *o = &c->operands[i];
        o->is_uniform = o->stride[inner] == 0;
        o->is_direct = o->dtype == DTYPE_F32 && o->stride[inner] == 1 && !o->is_repeated;
    }
    for (int i = 0; i < l->n_instructions; i++) {
        struct compiled_code *code = &c->code[i];
        code->instruction = l->instructions[i];
        if (code->instruction.kind == INSTRUCTION_APPLY) {
            choose_function(c, vector, code);
        } else if (code->instruction.kind == INSTRUCTION_CONSTANT) {
            code->is_uniform = true;
            code->form = FORM_CONSTANT;
        } else {
            code->is_uniform = c->mode == LOOP_REDUCES_ROWS;
            code->form = FORM_REDUCTION;
        }
        if (c->mode == LOOP_REDUCES_ROWS && i > c->reduction) {
            code->is_uniform = true;
            code->form = code->instruction.kind == INSTRUCTION_CONSTANT ? FORM_CONSTANT : FORM_ONCE;
        }
    }
}

// --- places of values ------------------------------------------------------------------------------------------------

static int last_use_of(const struct compiled_loop *c, uint16_t value)
{
    int last = -1;
    for (int i = 0; i < c->n_code; i++) {
        const struct instruction *at = &c->code[i].instruction;
        const uint16_t operands[] = {at->a, at->b, at->c};
        for (int k = 0; at->kind != INSTRUCTION_CONSTANT && k < arity_of(at); k++)
            if (operands[k] == value)
                last = i;
    }
    for (int i = 0; i < c->n_results; i++)
        if (c->results[i].value == value)
            last = c->n_code;
    return last;
}

// A value that is stored densely as f32 is computed where it is stored.
static int result_that_holds(const struct compiled_loop *c, uint16_t value, int inner)
{
    for (int i = 0; i < c->n_results; i++)
        if (c->results[i].value == value && c->results[i].to.dtype == DTYPE_F32 && c->results[i].to.stride[inner] == 1)
            return i;
    return -1;
}

// Slots are blocks of scratch. Operands that must be loaded keep theirs; instructions share slots over time. Two more
// serve uniform operands of functions that take vectors only.
static void place_values(struct compiled_loop *c, struct arena *arena)
{
    int inner = c->rank - 1;
    int *free_from = arena_array(arena, int, c->n_operands + c->n_code + 4);   // of every slot
    c->n_slots = 0;
    for (int i = 0; i < c->n_operands; i++)
        if (!c->operands[i].is_direct) {
            c->operands[i].slot = c->n_slots;
            free_from[c->n_slots++] = c->n_code + 1;
        }
    for (int i = 0; i < c->n_code; i++) {
        struct compiled_code *code = &c->code[i];
        uint16_t value = (uint16_t)(VALUE_OF_INSTRUCTION | i);
        code->result = c->mode == LOOP_MAPS && !code->is_uniform ? result_that_holds(c, value, inner) : -1;
        if (code->result >= 0)
            c->results[code->result].is_in_place = true;
        int slot = code->instruction.kind == INSTRUCTION_REDUCE ? c->n_slots : 0, last = last_use_of(c, value);
        while (slot < c->n_slots && free_from[slot] > i)
            slot++;
        if (slot == c->n_slots)
            c->n_slots++;
        code->slot = slot;
        free_from[slot] = code->instruction.kind == INSTRUCTION_REDUCE || last < i ? c->n_code + 1 : last;
    }
    c->spare_slot = c->n_slots;
    c->n_slots += 5;
}

// --- loops -----------------------------------------------------------------------------------------------------------

static double work_of(const struct compiled_loop *c)
{
    double places = 1;
    for (int i = 0; i < c->rank + c->n_reduced; i++)
        places *= (double)c->dim[i];
    return places * (2 + c->n_code + c->n_operands);
}

static void compile_loop(struct compiled_loop *c, const struct loop *l, int n_shared,
                         const struct vector_functions *vector, struct arena *arena)
{
    copy_accesses(c, l, n_shared, arena);
    c->rank = place_axes(c, l, order_axes(l, n_shared, l->rank, &l->results[0].to), 0);
    if (l->n_reduced)
        c->n_reduced = place_axes(c, l, order_axes(l, l->rank, l->rank + l->n_reduced, leading_operand(l)), c->rank);
    c->mode = mode_of(c, l);
    repeat_short_axis(c);
    compile_code(c, l, vector, arena);
    place_values(c, arena);
    c->work = work_of(c);
}

static int64_t places_on_shared(const struct step *step, int n_shared)
{
    int64_t places = 1;
    for (int i = 0; i < n_shared; i++)
        places *= step->loops[0].dim[i];
    return places;
}

// Several loops share as few axes as leave enough places for all threads and little enough work at each place to stay
// in the cache: every place costs some setting up.
static int useful_shared_axes(const struct step *step, int threads)
{
    int64_t most = 0;
    int n = step->n_shared;
    for (int i = 0; i < step->n_loops; i++) {
        int64_t places = 1;
        for (int k = 0; k < step->loops[i].rank + step->loops[i].n_reduced; k++)
            places *= step->loops[i].dim[k];
        most = places > most ? places : most;
    }
    while (step->n_loops > 1 && n > 1 && places_on_shared(step, n - 1) >= 4 * threads &&
           most / places_on_shared(step, n - 1) <= ENTRIES_IN_CACHE)
        n--;
    return n;
}

static bool only_copies(const struct compiled_loops *loops)
{
    for (int i = 0; i < loops->n_loops; i++) {
        if (loops->loops[i].mode != LOOP_COPIES)
            return false;
        for (int k = 0; k < loops->n_loops; k++)
            if (loops->loops[i].operands[0].memory == loops->loops[k].results[0].to.memory)
                return false;
    }
    return true;
}

struct compiled_loops *loops_prepare(const struct step *step, const struct vector_functions *vector, int threads,
                                     struct arena *arena)
{
    struct compiled_loops *loops = arena_new(arena, struct compiled_loops);
    loops->n_shared = useful_shared_axes(step, threads);
    if (places_on_shared(step, loops->n_shared) < threads)
        loops->n_shared = 0;
    loops->vector = vector;
    loops->threads = threads;
    for (int i = 0; i < loops->n_shared; i++)
        loops->shared[i] = step->loops[0].dim[i];
    loops->n_shared_places = places_on_shared(step, loops->n_shared);
    loops->n_loops = step->n_loops;
    loops->loops = arena_array(arena, struct compiled_loop, step->n_loops);
    int n_slots = 1;
    for (int i = 0; i < step->n_loops; i++) {
        compile_loop(&loops->loops[i], &step->loops[i], loops->n_shared, vector, arena);
        n_slots = loops->loops[i].n_slots > n_slots ? loops->loops[i].n_slots : n_slots;
    }
    loops->are_independent = only_copies(loops);
    loops->scratch_of_thread = (size_t)n_slots * VECTOR_BLOCK;
    loops->scratch = arena_alloc(arena, loops->scratch_of_thread * sizeof(float) * (size_t)threads, 64);
    return loops;
}
