// Compiles definitions whose reads are affine: indices, then values, then what kind of code it is.
#include "backends/instructions/code.h"

#include "core/memory/arena.h"
#include "expressions/affine.h"
#include <string.h>

struct compiler {
    const struct definition *d;
    struct arena *arena;
    const struct stage *stage;
    int n_reduced;
    uint32_t reduced[MAX_RANK];   // variables of the definition
    int n_reads, n_instructions;
    struct affine_read reads[CODE_MAX_READS];
    struct instruction instructions[CODE_MAX_INSTRUCTIONS];
    bool has_reduced, is_inside_reduction;
    expr reduction;   // the one that was compiled first
    uint16_t reduction_value;
};
#define NO_VALUE UINT16_MAX

// --- indices ---------------------------------------------------------------------------------------------------------

static int place_of_variable(const struct compiler *c, int64_t variable)
{
    int64_t of_stage = variable - c->stage->first_variable;
    if (of_stage >= 0 && of_stage < c->stage->type.rank)
        return (int)of_stage;
    for (int i = 0; i < c->n_reduced; i++)
        if (c->reduced[i] == variable)
            return c->stage->type.rank + i;
    return -1;
}

// The coefficient of each place. False: the index is not affine in the stage's variables, or may be outside.
static bool compile_index(const struct compiler *c, expr e, int64_t size, int64_t *ret_base, int64_t *coefficients)
{
    struct affine_form form;
    if (!affine_form_of(c->d, e, &form) || !affine_form_is_of_variables(c->d, &form) ||
        !index_stays_inside(c->d, e, size))
        return false;
    *ret_base = form.base;
    for (int i = 0; i < form.n; i++) {
        int place = place_of_variable(c, c->d->nodes.items[form.terms[i].atom].value);
        if (place < 0)
            return false;
        coefficients[place] += form.terms[i].factor;
    }
    return true;
}

static uint16_t compile_read(struct compiler *c, const struct expr_node *n)
{
    const struct type *source = definition_tensor(c->d, n->value);
    struct affine_term terms[4 * MAX_RANK];
    struct affine_read read = {.tensor = (int)n->value};
    for (int axis = 0; axis < source->rank; axis++) {
        int64_t coefficients[2 * MAX_RANK] = {0};
        if (!compile_index(c, c->d->indices.items[n->a + (expr)axis], source->dim[axis], &read.base[axis],
                           coefficients))
            return NO_VALUE;
        for (int i = 0; i < 2 * MAX_RANK; i++)
            if (coefficients[i] && read.n_terms < 4 * MAX_RANK)
                terms[read.n_terms++] = (struct affine_term){(uint8_t)axis, (uint8_t)i, coefficients[i]};
    }
    for (int i = 0; i < c->n_reads; i++) {
        const struct affine_read *known = &c->reads[i];
        if (known->tensor == read.tensor && known->n_terms == read.n_terms &&
            memcmp(known->base, read.base, sizeof read.base) == 0) {
            bool is_same = ALL(int, k, read.n_terms,
                               known->terms[k].axis == terms[k].axis && known->terms[k].variable == terms[k].variable &&
                                   known->terms[k].coefficient == terms[k].coefficient);
            if (is_same)
                return (uint16_t)i;
        }
    }
    if (c->n_reads == CODE_MAX_READS)
        return NO_VALUE;
    read.terms = read.n_terms ? arena_copy_array(c->arena, terms, read.n_terms) : NULL;
    c->reads[c->n_reads] = read;
    return (uint16_t)c->n_reads++;
}

// --- values ----------------------------------------------------------------------------------------------------------

static uint16_t add_instruction(struct compiler *c, struct instruction instruction)
{
    if (c->n_instructions == CODE_MAX_INSTRUCTIONS)
        return NO_VALUE;
    c->instructions[c->n_instructions] = instruction;
    return (uint16_t)(VALUE_OF_INSTRUCTION | c->n_instructions++);
}

static uint16_t compile_scalar(struct compiler *c, expr e);

static uint16_t compile_apply(struct compiler *c, const struct expr_node *n)
{
    int arity = function_arity((enum scalar_function)n->fn);
    struct instruction i = {.kind = INSTRUCTION_APPLY, .fn = n->fn};
    i.a = compile_scalar(c, n->a);
    i.b = i.a != NO_VALUE && arity > 1 ? compile_scalar(c, n->b) : 0;
    i.c = i.b != NO_VALUE && arity > 2 ? compile_scalar(c, n->c) : 0;
    return i.a == NO_VALUE || i.b == NO_VALUE || i.c == NO_VALUE ? NO_VALUE : add_instruction(c, i);
}

// Nested reductions by one function are one reduction over several variables; there may be one in a stage.
static uint16_t compile_reduce(struct compiler *c, const struct expr_node *n)
{
    expr e = (expr)(n - c->d->nodes.items);
    if (c->has_reduced && c->reduction == e)
        return c->reduction_value;
    if (c->has_reduced || c->is_inside_reduction)
        return NO_VALUE;
    c->is_inside_reduction = true;
    uint8_t fn = n->fn;
    const struct expr_node *body = n;
    for (; body->kind == EXPR_REDUCE && body->fn == fn; body = &c->d->nodes.items[body->a]) {
        if (c->n_reduced == MAX_RANK)
            return NO_VALUE;
        c->reduced[c->n_reduced++] = (uint32_t)body->value;
    }
    uint16_t value = compile_scalar(c, (expr)(body - c->d->nodes.items));
    if (value == NO_VALUE)
        return NO_VALUE;
    c->is_inside_reduction = false;
    c->has_reduced = true;
    c->reduction = e;
    c->reduction_value = add_instruction(c, (struct instruction){.kind = INSTRUCTION_REDUCE, .fn = fn, .a = value});
    return c->reduction_value;
}

static uint16_t compile_scalar(struct compiler *c, expr e)
{
    const struct expr_node *n = &c->d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
        return add_instruction(c, (struct instruction){.kind = INSTRUCTION_CONSTANT, .constant = n->real});
    case EXPR_READ:
        return compile_read(c, n);
    case EXPR_APPLY:
        return compile_apply(c, n);
    case EXPR_REDUCE:
        return compile_reduce(c, n);
    default:
        return NO_VALUE;
    }
}

// The first reduction in an expression, or the expression itself when there is none.
static expr find_reduction(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    if (n->kind != EXPR_APPLY)
        return e;
    const expr operands[] = {n->a, n->b, n->c};
    for (int i = 0; i < function_arity((enum scalar_function)n->fn); i++) {
        expr found = find_reduction(d, operands[i]);
        if (d->nodes.items[found].kind == EXPR_REDUCE)
            return found;
    }
    return e;
}

// The reduction comes first, whatever stands before it in the expression.
static bool compile_stage(struct compiler *c, struct stage_code *ret_code)
{
    expr first = find_reduction(c->d, c->stage->body);
    if (c->d->nodes.items[first].kind == EXPR_REDUCE && compile_scalar(c, first) == NO_VALUE)
        return false;
    uint16_t result = compile_scalar(c, c->stage->body);
    if (result == NO_VALUE)
        return false;
    struct stage_code code = {.type = type_make(c->stage->type.dtype, c->stage->type.rank, c->stage->type.dim),
                              .n_reduced = c->n_reduced,
                              .n_reads = c->n_reads,
                              .n_instructions = c->n_instructions,
                              .result = result};
    for (int i = 0; i < c->n_reduced; i++)
        code.reduced[i] = c->d->extents.items[c->reduced[i]];
    code.reads = c->n_reads ? arena_copy_array(c->arena, c->reads, c->n_reads) : NULL;
    code.instructions = c->n_instructions ? arena_copy_array(c->arena, c->instructions, c->n_instructions) : NULL;
    *ret_code = code;
    return true;
}

// --- what kind of code -----------------------------------------------------------------------------------------------

static bool is_single_precision(enum dtype dtype)
{
    return dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16 || dtype == DTYPE_BOOL;
}

static bool serves_single_precision(const struct code *code, const struct definition *d)
{
    bool is_copy = code->n_stages == 1 && code->stages[0].n_instructions == 0;
    return ALL(int, i, d->n_stages, is_single_precision(d->stages[i].type.dtype)) &&
           ALL(int, i, d->n_inputs, is_single_precision(d->inputs[i].dtype) || is_copy);
}

static bool is_view(const struct code *code, const struct definition *d)
{
    EACH(code->stages, code->n_stages, s)
        if (s->n_instructions || s->n_reads != 1 || s->reads[0].tensor != 0 || s->type.dtype != d->inputs[0].dtype)
            return false;
    return d->n_inputs == 1;
}

static enum code_kind kind_of_code(const struct code *code, const struct definition *d)
{
    if (ANY(int, i, d->n_stages, type_elements(&d->stages[i].type) == 0))
        return CODE_NONE;
    if (is_view(code, d))
        return CODE_VIEW;
    if (!serves_single_precision(code, d))
        return CODE_NONE;
    return code->n_stages == 1 && code->stages[0].n_reduced == 0 ? CODE_MAP : CODE_STAGES;
}

static const struct type *copy_output_types(const struct definition *d, struct arena *arena)
{
    struct type *types = arena_array(arena, struct type, d->n_outputs + 1);
    for (int i = 0; i < d->n_outputs; i++)
        types[i] =
            type_make(definition_output(d, i)->dtype, definition_output(d, i)->rank, definition_output(d, i)->dim);
    return types;
}

void code_from_definition(const struct definition *d, struct arena *arena, struct code *ret_code)
{
    struct stage_code *stages = arena_array(arena, struct stage_code, d->n_stages + 1);
    struct code code = {.n_inputs = d->n_inputs,
                        .n_stages = d->n_stages,
                        .n_outputs = d->n_outputs,
                        .stages = stages,
                        .output_types = copy_output_types(d, arena)};
    memcpy(code.outputs, d->outputs, sizeof code.outputs);
    bool is_code = !d->is_data_dependent && d->n_stages > 0;
    for (int i = 0; is_code && i < d->n_stages; i++) {
        struct compiler c = {.d = d, .arena = arena, .stage = &d->stages[i]};
        is_code = compile_stage(&c, &stages[i]);
    }
    code.kind = is_code ? kind_of_code(&code, d) : CODE_NONE;
    *ret_code = code;
}

bool read_is_identity(const struct affine_read *read, const struct type *source, const struct type *result)
{
    if (!type_equal_shape(source, result))
        return false;
    int n = 0;
    for (int i = 0; i < source->rank; i++) {
        if (read->base[i])
            return false;
        n += source->dim[i] != 1;
    }
    EACH(read->terms, read->n_terms, t) {
        if (t->variable != t->axis || t->coefficient != 1)
            return false;
        n -= source->dim[t->axis] != 1;
    }
    return n == 0;
}
