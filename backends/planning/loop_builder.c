// Lists grow in the plan's arena by doubling.
#include "backends/planning/loop_builder.h"

#include "core/memory/arena.h"
#include <string.h>

static void *grown(struct arena *a, const void *items, int count, int *capacity, size_t size)
{
    if (count < *capacity)
        return (void *)items;
    *capacity = *capacity ? 2 * *capacity : 4;
    void *more = arena_alloc(a, (size_t)*capacity * size, 16);
    if (count)
        memcpy(more, items, (size_t)count * size);
    return more;
}

uint16_t loop_add_operand(struct planner *p, struct loop *loop, const struct loop_access *access)
{
    loop->operands = grown(p->arena, loop->operands, loop->n_operands, &loop->operand_capacity, sizeof *access);
    loop->operands[loop->n_operands] = *access;
    return (uint16_t)loop->n_operands++;
}

uint16_t loop_add_instruction(struct planner *p, struct loop *loop, struct instruction instruction)
{
    loop->instructions =
        grown(p->arena, loop->instructions, loop->n_instructions, &loop->instruction_capacity, sizeof instruction);
    loop->instructions[loop->n_instructions] = instruction;
    return (uint16_t)(VALUE_OF_INSTRUCTION | loop->n_instructions++);
}

void loop_add_result(struct planner *p, struct loop *loop, uint16_t value, const struct loop_access *to)
{
    loop->results = grown(p->arena, loop->results, loop->n_results, &loop->result_capacity, sizeof *loop->results);
    loop->results[loop->n_results++] = (struct loop_result){value, *to};
}

struct loop *planner_add_loop(struct planner *p, struct step *step, int rank, int n_reduced, const int64_t *dim)
{
    struct loop *more = arena_array(p->arena, struct loop, step->n_loops + 1);
    if (step->n_loops)
        memcpy(more, step->loops, sizeof *more * (size_t)step->n_loops);
    step->loops = more;
    struct loop *loop = &more[step->n_loops++];
    loop->rank = rank;
    loop->n_reduced = n_reduced;
    memcpy(loop->dim, dim, sizeof *dim * (size_t)(rank + n_reduced));
    return loop;
}

struct loop_access access_of_view(const struct view *v)
{
    struct loop_access access = {.memory = v->memory,
                                 .dtype = v->dtype,
                                 .offset = v->offset,
                                 .block = v->block,
                                 .block_variable = v->block_axis};
    memcpy(access.stride, v->stride, sizeof v->stride[0] * (size_t)v->rank);
    return access;
}

void planner_add_copy(struct planner *p, struct step *step, const struct view *from, const struct view *to)
{
    struct loop *loop = planner_add_loop(p, step, from->rank, 0, from->dim);
    struct loop_access source = access_of_view(from), target = access_of_view(to);
    loop_add_result(p, loop, loop_add_operand(p, loop, &source), &target);
}

// Whole blocks, from the beginning of one on, along one variable of the result.
bool planner_can_read_blocks(const struct affine_read *read, const struct view *v, const int64_t *dim)
{
    int variable = -1;
    for (int i = 0; i < read->n_terms; i++) {
        if (read->terms[i].axis != v->block_axis)
            continue;
        if (variable >= 0 || read->terms[i].coefficient != 1)
            return false;
        variable = read->terms[i].variable;
    }
    return ALL(int, i, read->n_terms, read->terms[i].variable != variable || read->terms[i].axis == v->block_axis) &&
           variable >= 0 && dim[variable] % v->block == 0 && read->base[v->block_axis] % v->block == 0;
}

struct loop_access planner_access_of_read(const struct affine_read *read, const struct view *v)
{
    struct loop_access access = {.memory = v->memory, .dtype = v->dtype, .offset = v->offset, .block = v->block};
    for (int a = 0; a < v->rank; a++)
        access.offset += read->base[a] / (v->block && a == v->block_axis ? v->block : 1) * v->stride[a];
    for (int i = 0; i < read->n_terms; i++) {
        access.stride[read->terms[i].variable] += read->terms[i].coefficient * v->stride[read->terms[i].axis];
        if (v->block && read->terms[i].axis == v->block_axis)
            access.block_variable = read->terms[i].variable;
    }
    return access;
}

bool instruction_commutes(const struct instruction *i)
{
    return i->kind == INSTRUCTION_APPLY && (i->fn == FN_ADD || i->fn == FN_MUL || i->fn == FN_MAX || i->fn == FN_MIN);
}

void instruction_sort_operands(struct instruction *i)
{
    if (instruction_commutes(i) && i->a > i->b) {
        uint16_t a = i->a;
        i->a = i->b;
        i->b = a;
    }
}

uint16_t planner_append_code(struct planner *p, struct loop *loop, const struct stage_code *stage,
                             const uint16_t *reads)
{
    uint16_t values[CODE_MAX_INSTRUCTIONS];
#define VALUE(v) ((v)&VALUE_OF_INSTRUCTION ? values[(v) & ~VALUE_OF_INSTRUCTION] : reads[v])
    for (int i = 0; i < stage->n_instructions; i++) {
        struct instruction at = stage->instructions[i];
        if (at.kind != INSTRUCTION_CONSTANT) {
            int arity = at.kind == INSTRUCTION_APPLY ? function_arity((enum scalar_function)at.fn) : 1;
            at.a = VALUE(at.a);
            at.b = arity > 1 ? VALUE(at.b) : 0;
            at.c = arity > 2 ? VALUE(at.c) : 0;
            instruction_sort_operands(&at);
        }
        values[i] = loop_add_instruction(p, loop, at);
    }
    return VALUE(stage->result);
#undef VALUE
}
