// What several loops of a step compute of a row is computed by the first of them and kept for the others, and what one
// loop computes twice is computed once.
//
//     softmax    max x  |  sum exp(x - m)  |  exp(x - m) / s       the third reads what the second summed up
//     layernorm  sum x  |  sum (x - m)(x - m)  |  (x - m) / d      x - m is computed once, not three times
//
// At each place of the axes that they share, such loops run one after the other along one and the same axis: a row. A
// value that a loop computes on the way to its reduction is written to a row of the thread's scratch memory, and is an
// operand of the loops behind it. Values are the same numbers as before, to the last bit.
#include "backends/cpu/loops_internal.h"

#include "core/memory/arena.h"
#include <string.h>

#define NONE (-1)

struct source {   // loops that are looked at
    const struct step *step;
    int n_shared;
    struct arena *arena;
    struct loop_with_rows *loops;
    int n_rows;
    int64_t length;
};

static bool is_instruction(uint16_t value)
{
    return value & VALUE_OF_INSTRUCTION;
}

static int number_of(uint16_t value)
{
    return value & ~VALUE_OF_INSTRUCTION;
}

static int arity_of(const struct instruction *i)
{
    return i->kind == INSTRUCTION_CONSTANT ? 0
           : i->kind == INSTRUCTION_REDUCE ? 1
                                           : function_arity((enum scalar_function)i->fn);
}

static uint16_t *argument_of(struct instruction *i, int k)
{
    return k == 0 ? &i->a : k == 1 ? &i->b : &i->c;
}

static int reduction_of(const struct loop *l)
{
    for (int i = 0; i < l->n_instructions; i++)
        if (l->instructions[i].kind == INSTRUCTION_REDUCE)
            return i;
    return l->n_instructions;
}

// --- equal values ----------------------------------------------------------------------------------------------------

static bool is_same_function(const struct instruction *a, const struct instruction *b)
{
    return a->kind == b->kind && a->kind != INSTRUCTION_REDUCE && (a->kind != INSTRUCTION_APPLY || a->fn == b->fn) &&
           (a->kind != INSTRUCTION_CONSTANT || memcmp(&a->constant, &b->constant, sizeof a->constant) == 0);
}

static bool is_same_instruction(const struct instruction *a, const struct instruction *b)
{
    int arity = arity_of(a);
    return is_same_function(a, b) && (arity < 1 || a->a == b->a) && (arity < 2 || a->b == b->b) &&
           (arity < 3 || a->c == b->c);
}

// The first instruction of the same side of the reduction that computes the same.
static int first_equal(const struct loop *l, int number, int reduction)
{
    for (int i = number > reduction ? reduction + 1 : 0; i < number; i++)
        if (is_same_instruction(&l->instructions[i], &l->instructions[number]))
            return i;
    return number;
}

static void read_first_of_equals(struct loop *l, struct arena *arena)
{
    int reduction = reduction_of(l);
    uint16_t *first = arena_array(arena, uint16_t, l->n_instructions + 1);
    for (int i = 0; i < l->n_instructions; i++) {
        struct instruction *at = &l->instructions[i];
        for (int k = 0; k < arity_of(at); k++) {
            uint16_t *a = argument_of(at, k);
            *a = is_instruction(*a) ? first[number_of(*a)] : *a;
        }
        first[i] = (uint16_t)(VALUE_OF_INSTRUCTION | first_equal(l, i, reduction));
    }
    for (int i = 0; i < l->n_results; i++)
        if (is_instruction(l->results[i].value))
            l->results[i].value = first[number_of(l->results[i].value)];
}

// --- rows ------------------------------------------------------------------------------------------------------------

// The only axis behind the shared ones with several places, or NONE.
static int axis_of_row(const struct loop *l, int n_shared)
{
    int axis = NONE;
    for (int i = n_shared; i < l->rank + l->n_reduced; i++)
        if (l->dim[i] > 1) {
            if (axis != NONE)
                return NONE;
            axis = i;
        }
    return axis;
}

static void note_values_along(struct loop_with_rows *l)
{
    int end = l->axis < l->loop.rank ? l->loop.n_instructions : reduction_of(&l->loop);
    for (int i = 0; l->axis != NONE && i < end; i++) {
        struct instruction *at = &l->loop.instructions[i];
        for (int k = 0; at->kind == INSTRUCTION_APPLY && k < arity_of(at); k++) {
            uint16_t a = *argument_of(at, k);
            l->is_along[i] = l->is_along[i] ||
                             (is_instruction(a) ? l->is_along[number_of(a)] : l->loop.operands[a].stride[l->axis] != 0);
        }
    }
}

static void begin_loop(struct source *s, int number)
{
    const struct loop *given = &s->step->loops[number];
    struct loop_with_rows *l = &s->loops[number];
    l->loop = *given;
    l->loop.instructions = arena_copy_array(s->arena, given->instructions, given->n_instructions);
    l->loop.results = arena_copy_array(s->arena, given->results, given->n_results);
    read_first_of_equals(&l->loop, s->arena);
    l->axis = s->n_shared > 0 ? axis_of_row(&l->loop, s->n_shared) : NONE;
    l->is_along = arena_array(s->arena, bool, given->n_instructions + 1);
    l->is_needed = arena_array(s->arena, bool, given->n_instructions + 1);
    l->row_of_instruction = arena_array(s->arena, int, given->n_instructions + 1);
    l->row_read = arena_array(s->arena, int, given->n_instructions + 1);
    for (int i = 0; i < given->n_instructions; i++)
        l->row_of_instruction[i] = l->row_read[i] = NONE;
    note_values_along(l);
}

// --- what an earlier loop has computed -------------------------------------------------------------------------------

static bool is_written_between(const struct source *s, memory_id memory, int from, int to)
{
    for (int i = from; i < to; i++)
        for (int k = 0; k < s->step->loops[i].n_results; k++)
            if (s->step->loops[i].results[k].to.memory == memory)
                return true;
    return false;
}

static bool is_same_access(const struct source *s, const struct loop_access *a, int axis_of_a,
                           const struct loop_access *b, int axis_of_b)
{
    return a->memory == b->memory && a->dtype == b->dtype && a->offset == b->offset && !a->block && !b->block &&
           a->stride[axis_of_a] == b->stride[axis_of_b] &&
           memcmp(a->stride, b->stride, sizeof *a->stride * (size_t)s->n_shared) == 0;
}

// What the loop `to` reads as the earlier one does, and nothing writes in between.
static int find_operand(const struct source *s, int from, int to, int operand)
{
    const struct loop_with_rows *a = &s->loops[from], *b = &s->loops[to];
    const struct loop_access *wanted = &b->loop.operands[operand];
    for (int i = 0; i < a->loop.n_operands && !is_written_between(s, wanted->memory, from, to); i++)
        if (is_same_access(s, &a->loop.operands[i], a->axis, wanted, b->axis))
            return i;
    return NONE;
}

static bool has_arguments(struct instruction *at, struct instruction *wanted, const int *twins, const int *operands)
{
    for (int k = 0; k < arity_of(at); k++) {
        uint16_t a = *argument_of(at, k), w = *argument_of(wanted, k);
        int twin = is_instruction(w) ? twins[number_of(w)] : operands[w];
        if (is_instruction(a) != is_instruction(w) || twin == NONE || number_of(a) != twin)
            return false;
    }
    return true;
}

static int find_instruction(const struct loop *l, struct instruction *wanted, const int *twins, const int *operands)
{
    int reduction = reduction_of(l);
    for (int i = 0; i < reduction; i++)
        if (is_same_function(&l->instructions[i], wanted) &&
            has_arguments(&l->instructions[i], wanted, twins, operands))
            return i;
    return NONE;
}

// Of each instruction of the loop `to`: the one of `from`, before its reduction, that computes the same, or NONE.
static int *find_twins(const struct source *s, int from, int to)
{
    const struct loop_with_rows *b = &s->loops[to];
    int *twins = arena_array(s->arena, int, b->loop.n_instructions + 1);
    int *operands = arena_array(s->arena, int, b->loop.n_operands + 1);
    int reduction = reduction_of(&b->loop);
    for (int i = 0; i < b->loop.n_operands; i++)
        operands[i] = find_operand(s, from, to, i);
    for (int i = 0; i < b->loop.n_instructions; i++)
        twins[i] =
            i < reduction ? find_instruction(&s->loops[from].loop, &b->loop.instructions[i], twins, operands) : NONE;
    return twins;
}

static bool can_give_rows(const struct source *s, const struct loop_with_rows *from, const struct loop_with_rows *to)
{
    return from->axis != NONE && to->axis != NONE && from->axis >= from->loop.rank &&
           from->loop.dim[from->axis] == to->loop.dim[to->axis] && to->loop.dim[to->axis] <= LONGEST_KEPT_ROW &&
           (s->n_rows == 0 || s->length == to->loop.dim[to->axis]);
}

// The row where the instruction of an earlier loop stands, a new one if need be, or NONE.
static int row_of(struct source *s, struct loop_with_rows *from, int instruction)
{
    int *row = &from->row_of_instruction[instruction];
    if (from->row_read[instruction] != NONE)
        return from->row_read[instruction];
    if (*row == NONE && from->is_needed[instruction] && s->n_rows < MOST_KEPT_ROWS) {
        s->length = from->loop.dim[from->axis];
        *row = s->n_rows++;
    }
    return *row;
}

// --- what is left to compute -----------------------------------------------------------------------------------------

static int find_row(struct source *s, int number, int instruction, int *const *twins)
{
    struct loop_with_rows *l = &s->loops[number];
    for (int from = 0; l->is_along[instruction] && from < number; from++) {
        int row = twins[from] && twins[from][instruction] != NONE ? row_of(s, &s->loops[from], twins[from][instruction])
                                                                  : NONE;
        if (row != NONE)
            return row;
    }
    return NONE;
}

static void need(struct loop_with_rows *l, uint16_t value)
{
    if (is_instruction(value))
        l->is_needed[number_of(value)] = true;
}

// From the results back: what a row has is not computed, nor is what only that needs.
static void note_what_is_needed(struct source *s, int number, int *const *twins)
{
    struct loop_with_rows *l = &s->loops[number];
    for (int i = 0; i < l->loop.n_results; i++)
        need(l, l->loop.results[i].value);
    for (int i = l->loop.n_instructions - 1; i >= 0; i--) {
        struct instruction *at = &l->loop.instructions[i];
        if (at->kind == INSTRUCTION_REDUCE)
            l->is_needed[i] = true;
        if (!l->is_needed[i])
            continue;
        l->row_read[i] = find_row(s, number, i, twins);
        for (int k = 0; l->row_read[i] == NONE && k < arity_of(at); k++)
            need(l, *argument_of(at, k));
    }
}

static void find_rows(struct source *s, int number)
{
    int **twins = arena_array(s->arena, int *, number + 1);
    for (int from = 0; from < number; from++)
        twins[from] = can_give_rows(s, &s->loops[from], &s->loops[number]) ? find_twins(s, from, number) : NULL;
    note_what_is_needed(s, number, twins);
}

// --- the loops that are left -----------------------------------------------------------------------------------------

static uint16_t read_row(struct loop_with_rows *l, int row)
{
    for (int i = 0; i < l->loop.n_operands; i++)
        if (l->row_of_operand[i] == row)
            return (uint16_t)i;
    int number = l->loop.n_operands++;
    l->loop.operands[number] = (struct loop_access){.dtype = DTYPE_F32};
    l->loop.operands[number].stride[l->axis] = 1;
    l->row_of_operand[number] = row;
    return (uint16_t)number;
}

static void finish_loop(struct source *s, int number)
{
    const struct loop *given = &s->step->loops[number];
    struct loop_with_rows *l = &s->loops[number];
    int n = 0, n_given = l->loop.n_instructions;
    uint16_t *place = arena_array(s->arena, uint16_t, n_given + 1);
    l->loop.operands = arena_array(s->arena, struct loop_access, given->n_operands + MOST_KEPT_ROWS);
    l->row_of_operand = arena_array(s->arena, int, given->n_operands + MOST_KEPT_ROWS);
    if (given->n_operands)
        memcpy(l->loop.operands, given->operands, sizeof *given->operands * (size_t)given->n_operands);
    for (int i = 0; i < given->n_operands + MOST_KEPT_ROWS; i++)
        l->row_of_operand[i] = NONE;
    for (int i = 0; i < n_given; i++) {
        struct instruction at = l->loop.instructions[i];
        if (!l->is_needed[i] || l->row_read[i] != NONE) {
            place[i] = l->row_read[i] != NONE ? read_row(l, l->row_read[i]) : 0;
            continue;
        }
        for (int k = 0; k < arity_of(&at); k++) {
            uint16_t *a = argument_of(&at, k);
            *a = is_instruction(*a) ? place[number_of(*a)] : *a;
        }
        l->loop.instructions[n] = at;
        l->row_of_instruction[n] = l->row_of_instruction[i];
        place[i] = (uint16_t)(VALUE_OF_INSTRUCTION | n++);
    }
    l->loop.n_instructions = n;
    for (int i = 0; i < l->loop.n_results; i++)
        if (is_instruction(l->loop.results[i].value))
            l->loop.results[i].value = place[number_of(l->loop.results[i].value)];
}

struct loops_with_rows loops_keep_rows(const struct step *step, int n_shared, struct arena *arena)
{
    struct source s = {.step = step, .n_shared = n_shared, .arena = arena};
    s.loops = arena_array(arena, struct loop_with_rows, step->n_loops);
    for (int i = 0; i < step->n_loops; i++) {
        begin_loop(&s, i);
        find_rows(&s, i);
    }
    for (int i = 0; i < step->n_loops; i++)
        finish_loop(&s, i);
    return (struct loops_with_rows){s.loops, s.n_rows, s.length};
}
