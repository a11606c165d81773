// Building definitions, and what follows from one: split trees, values of indices, operations.
#include "expressions/definition.h"

#include "core/memory/arena.h"
#include "core/numbers/integers.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct function_info {
    const char *name;
    int arity;
} functions[FN_COUNT] = {
#define FUNCTION(enumerator, name, arity, c_expression, magnitude, sign, is_inside) [FN_##enumerator] = {name, arity},
#include "expressions/functions.def"
#undef FUNCTION
};

const char *function_name(enum scalar_function fn)
{
    return functions[fn].name;
}

int function_arity(enum scalar_function fn)
{
    return functions[fn].arity;
}

void definition_init(struct definition *d, struct arena *arena, int n_inputs, const struct type *inputs)
{
    *d = (struct definition){.arena = arena, .n_inputs = n_inputs, .inputs = inputs};
}

void definition_clear(struct definition *d, int n_inputs, const struct type *inputs)
{
    d->n_inputs = n_inputs;
    d->inputs = inputs;
    vec_clear(&d->nodes);
    vec_clear(&d->indices);
    vec_clear(&d->extents);
    d->n_stages = d->n_outputs = 0;
    d->stages = NULL;
    d->stage_capacity = 0;
    d->is_data_dependent = false;
    d->reason[0] = '\0';
}

void definition_free(struct definition *d)
{
    vecs_free(d, nodes, indices, extents);
}

bool refuse(struct definition *d, const char *format, ...)
{
    va_list arguments;
    if (d->is_silent)
        return false;
    va_start(arguments, format);
    vsnprintf(d->reason, sizeof d->reason, format, arguments);
    va_end(arguments);
    return false;
}

// --- stages ----------------------------------------------------------------------------------------------------------

static uint32_t variable_add(struct definition *d, int64_t extent)
{
    vec_push(&d->extents, extent);
    return (uint32_t)d->extents.count - 1;
}

int stage_add_over(struct definition *d, const struct type *type, uint32_t first_variable)
{
    if (d->n_stages == d->stage_capacity) {
        int capacity = d->stage_capacity ? 2 * d->stage_capacity : 2;
        struct stage *grown = arena_array(d->arena, struct stage, capacity);
        if (d->n_stages)
            memcpy(grown, d->stages, sizeof *grown * (size_t)d->n_stages);
        d->stages = grown;
        d->stage_capacity = capacity;
    }
    d->stages[d->n_stages] = (struct stage){.type = *type, .first_variable = first_variable};
    return d->n_inputs + d->n_stages++;
}

static int add_stage(struct definition *d, enum dtype dtype, int rank, const int64_t *dim)
{
    struct type type = type_make(dtype, rank, dim);
    uint32_t first_variable = (uint32_t)d->extents.count;
    for (int i = 0; i < rank; i++)
        variable_add(d, dim[i]);
    return stage_add_over(d, &type, first_variable);
}

int stage_add(struct definition *d, enum dtype dtype, int rank, const int64_t *dim)
{
    bool is_half = dtype == DTYPE_F16 || dtype == DTYPE_BF16;
    return add_stage(d, is_half ? DTYPE_F32 : dtype, rank, dim);
}

int output_add(struct definition *d, enum dtype dtype, int rank, const int64_t *dim)
{
    assert(d->n_outputs < MAX_OUTPUTS);
    int tensor = add_stage(d, dtype, rank, dim);
    d->outputs[d->n_outputs++] = (uint16_t)(tensor - d->n_inputs);
    return tensor;
}

void stage_set_body(struct definition *d, int tensor, expr body)
{
    d->stages[tensor - d->n_inputs].body = body;
    d->stages[tensor - d->n_inputs].has_body = true;
}

struct type *stage_type(struct definition *d, int tensor)
{
    return &d->stages[tensor - d->n_inputs].type;
}

static inline expr node_add(struct definition *d, struct expr_node node)
{
    vec_push(&d->nodes, node);
    return (expr)d->nodes.count - 1;
}

expr stage_index(struct definition *d, int tensor, int axis)
{
    const struct stage *s = &d->stages[tensor - d->n_inputs];
    assert(axis < s->type.rank);
    return index_variable(d, s->first_variable + (uint32_t)axis);
}

// --- index expressions -----------------------------------------------------------------------------------------------

static bool is_integer(const struct definition *d, expr e, int64_t value)
{
    return d->nodes.items[e].kind == EXPR_INTEGER && d->nodes.items[e].value == value;
}

expr index_variable(struct definition *d, uint32_t variable)
{
    return node_add(d, (struct expr_node){.kind = EXPR_VARIABLE, .value = variable});
}

expr index_integer(struct definition *d, int64_t value)
{
    return node_add(d, (struct expr_node){.kind = EXPR_INTEGER, .value = value});
}

expr index_add(struct definition *d, expr a, expr b)
{
    if (is_integer(d, a, 0))
        return b;
    if (is_integer(d, b, 0))
        return a;
    return node_add(d, (struct expr_node){.kind = EXPR_INDEX_ADD, .a = a, .b = b});
}

expr index_offset(struct definition *d, expr a, int64_t offset)
{
    return index_add(d, a, index_integer(d, offset));
}

expr index_mul(struct definition *d, expr a, int64_t factor)
{
    if (factor == 1 || is_integer(d, a, 0))
        return a;
    return node_add(d, (struct expr_node){.kind = EXPR_INDEX_MUL, .a = a, .value = factor});
}

expr index_div(struct definition *d, expr a, int64_t divisor)
{
    assert(divisor > 0);
    if (divisor == 1)
        return a;
    return node_add(d, (struct expr_node){.kind = EXPR_INDEX_DIV, .a = a, .value = divisor});
}

expr index_mod(struct definition *d, expr a, int64_t divisor)
{
    assert(divisor > 0);
    return node_add(d, (struct expr_node){.kind = EXPR_INDEX_MOD, .a = a, .value = divisor});
}

expr index_of(struct definition *d, expr scalar)
{
    d->is_data_dependent = true;
    return node_add(d, (struct expr_node){.kind = EXPR_INDEX_OF, .a = scalar});
}

// --- scalar expressions ----------------------------------------------------------------------------------------------

expr scalar_real(struct definition *d, double value)
{
    return node_add(d, (struct expr_node){.kind = EXPR_REAL, .real = value});
}

expr scalar_of(struct definition *d, expr index)
{
    return node_add(d, (struct expr_node){.kind = EXPR_SCALAR_OF, .a = index});
}

expr scalar_read(struct definition *d, int tensor, const expr *index)
{
    return scalar_read_or(d, tensor, index, OUTSIDE_NEVER);
}

expr scalar_read_or(struct definition *d, int tensor, const expr *index, enum outside outside)
{
    int rank = definition_tensor(d, tensor)->rank;
    expr first = (expr)d->indices.count;
    for (int i = 0; i < rank; i++)
        vec_push(&d->indices, index[i]);
    return node_add(d,
                    (struct expr_node){
                        .kind = EXPR_READ, .value = tensor, .a = first, .count = (uint16_t)rank, .b = (expr)outside});
}

expr scalar_apply(struct definition *d, enum scalar_function fn, expr a, expr b, expr c)
{
    return node_add(d, (struct expr_node){.kind = EXPR_APPLY, .fn = (uint8_t)fn, .a = a, .b = b, .c = c});
}

expr scalar_add(struct definition *d, expr a, expr b)
{
    return scalar_apply(d, FN_ADD, a, b, 0);
}

expr scalar_sub(struct definition *d, expr a, expr b)
{
    return scalar_apply(d, FN_SUB, a, b, 0);
}

expr scalar_mul(struct definition *d, expr a, expr b)
{
    return scalar_apply(d, FN_MUL, a, b, 0);
}

expr scalar_div(struct definition *d, expr a, expr b)
{
    return scalar_apply(d, FN_DIV, a, b, 0);
}

expr scalar_unary(struct definition *d, enum scalar_function fn, expr a)
{
    return scalar_apply(d, fn, a, 0, 0);
}

expr scalar_select(struct definition *d, expr index, expr if_not_negative, expr otherwise)
{
    return node_add(d, (struct expr_node){.kind = EXPR_SELECT, .a = index, .b = if_not_negative, .c = otherwise});
}

expr reduce_variable(struct definition *d, int64_t extent)
{
    return index_variable(d, variable_add(d, extent));
}

expr scalar_reduce(struct definition *d, enum scalar_function fn, expr variable, expr body)
{
    assert(fn == FN_ADD || fn == FN_MUL || fn == FN_MAX || fn == FN_MIN);
    int64_t number = d->nodes.items[variable].value;
    return node_add(d, (struct expr_node){.kind = EXPR_REDUCE, .fn = (uint8_t)fn, .a = body, .value = number});
}

expr scalar_read_same(struct definition *d, int tensor, int like)
{
    expr index[MAX_RANK];
    int rank = definition_tensor(d, tensor)->rank;
    for (int i = 0; i < rank; i++)
        index[i] = stage_index(d, like, i);
    return scalar_read(d, tensor, index);
}

// --- what follows from a definition ----------------------------------------------------------------------------------

const struct type *definition_tensor(const struct definition *d, int64_t tensor)
{
    return tensor < d->n_inputs ? &d->inputs[tensor] : &d->stages[tensor - d->n_inputs].type;
}

const struct type *definition_output(const struct definition *d, int output)
{
    return &d->stages[d->outputs[output]].type;
}

struct operands expr_operands(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_INTEGER:
    case EXPR_VARIABLE:
    case EXPR_REAL:
        return (struct operands){0, NULL};
    case EXPR_READ:
        return (struct operands){n->count, n->count ? &d->indices.items[n->a] : NULL};
    case EXPR_APPLY:
        return (struct operands){(uint32_t)function_arity(n->fn), n->operands};
    case EXPR_INDEX_ADD:
        return (struct operands){2, n->operands};
    case EXPR_SELECT:
        return (struct operands){3, n->operands};
    default:
        return (struct operands){1, n->operands};
    }
}

struct operands scalar_operands(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    if (n->kind == EXPR_SELECT)
        return (struct operands){2, n->operands + 1};
    return n->kind == EXPR_READ || n->kind == EXPR_SCALAR_OF ? (struct operands){0, NULL} : expr_operands(d, e);
}

bool definition_mentions(const struct definition *d, expr e, int64_t variable)
{
    const struct expr_node *n = &d->nodes.items[e];
    struct operands below = expr_operands(d, e);
    return (n->kind == EXPR_VARIABLE && n->value == variable) ||
           ANY(uint32_t, i, below.n, definition_mentions(d, below.items[i], variable));
}

// The facts that a walk over a stage's body learns of each axis of the stage.
struct axis_uses {
    const struct split_tree *tree[MAX_RANK];   // the meet of the trees it is aligned with
    bool is_aligned[MAX_RANK];
    bool is_mentioned[MAX_RANK];
};

static void collect_uses(struct definition *d, const struct stage *s, expr e, struct axis_uses *uses);

static bool is_axis_of(const struct stage *s, const struct expr_node *n, int64_t *ret_axis)
{
    *ret_axis = n->value - s->first_variable;
    return n->kind == EXPR_VARIABLE && *ret_axis >= 0 && *ret_axis < s->type.rank;
}

static void align_with_read(struct definition *d, const struct stage *s, const struct expr_node *read,
                            struct axis_uses *uses)
{
    const struct type *source = definition_tensor(d, read->value);
    for (int i = 0; i < read->count; i++) {
        expr index = d->indices.items[read->a + (expr)i];
        int64_t axis;
        collect_uses(d, s, index, uses);
        if (!is_axis_of(s, &d->nodes.items[index], &axis) || source->dim[i] != s->type.dim[axis])
            continue;
        const struct split_tree *tree = source->split[i];
        uses->tree[axis] = uses->is_aligned[axis] ? split_tree_meet(d->arena, uses->tree[axis], tree) : tree;
        uses->is_aligned[axis] = true;
    }
}

static void collect_uses(struct definition *d, const struct stage *s, expr e, struct axis_uses *uses)
{
    const struct expr_node n = d->nodes.items[e];
    int64_t axis;
    switch ((enum expr_kind)n.kind) {
    case EXPR_VARIABLE:
        if (is_axis_of(s, &n, &axis))
            uses->is_mentioned[axis] = true;
        break;
    case EXPR_READ:
        align_with_read(d, s, &n, uses);
        break;
    case EXPR_APPLY:
        collect_uses(d, s, n.a, uses);
        if (function_arity(n.fn) > 1)
            collect_uses(d, s, n.b, uses);
        if (function_arity(n.fn) > 2)
            collect_uses(d, s, n.c, uses);
        break;
    case EXPR_SELECT:
        collect_uses(d, s, n.b, uses);
        collect_uses(d, s, n.c, uses);
        collect_uses(d, s, n.a, uses);
        break;
    case EXPR_INDEX_ADD:
        collect_uses(d, s, n.a, uses);
        collect_uses(d, s, n.b, uses);
        break;
    case EXPR_INTEGER:
    case EXPR_REAL:
        break;
    default:
        collect_uses(d, s, n.a, uses);
        break;
    }
}

void definition_finish(struct definition *d)
{
    EACH(d->stages, d->n_stages, s) {
        assert(s->has_body);
        struct axis_uses uses = {0};
        collect_uses(d, s, s->body, &uses);
        for (int axis = 0; axis < s->type.rank; axis++)
            if (!s->type.split[axis])
                s->type.split[axis] = uses.is_mentioned[axis] ? uses.tree[axis] : SPLIT_ANY;
    }
}

int64_t index_value(const struct definition *d, expr index, const int64_t *variables)
{
    const struct expr_node *n = &d->nodes.items[index];
    switch ((enum expr_kind)n->kind) {
    case EXPR_INTEGER:
        return n->value;
    case EXPR_VARIABLE:
        return variables[n->value];
    case EXPR_INDEX_ADD:
        return index_value(d, n->a, variables) + index_value(d, n->b, variables);
    case EXPR_INDEX_MUL:
        return index_value(d, n->a, variables) * n->value;
    case EXPR_INDEX_DIV:
        return floor_quotient(index_value(d, n->a, variables), n->value);
    case EXPR_INDEX_MOD:
        return floor_remainder(index_value(d, n->a, variables), n->value);
    default:
        assert(!"an index that depends on data");
        return 0;
    }
}

// A sum of n terms adds n times, or, where its beginning is a term, n - 1 times.
static double count_scalar_operations(const struct definition *d, expr e, bool begins_with_term)
{
    const struct expr_node *n = &d->nodes.items[e];
    struct operands below = expr_operands(d, e);
    if (n->kind != EXPR_APPLY && n->kind != EXPR_REDUCE && n->kind != EXPR_SELECT)
        return 0;
    double operations =
        SUM_ALL(double, uint32_t, i, below.n, count_scalar_operations(d, below.items[i], begins_with_term));
    double extent = n->kind == EXPR_REDUCE ? (double)d->extents.items[n->value] : 0;
    return n->kind == EXPR_SELECT   ? operations
           : n->kind == EXPR_REDUCE ? extent * (1 + operations) - (begins_with_term && extent > 0)
                                    : 1 + operations;
}

static double count_all(const struct definition *d, bool begins_with_term)
{
    double flops = 0;
    for (int i = 0; i < d->n_stages; i++)
        flops +=
            (double)type_elements(&d->stages[i].type) * count_scalar_operations(d, d->stages[i].body, begins_with_term);
    return flops;
}

double definition_flops(const struct definition *d)
{
    return count_all(d, false);
}

double definition_least_flops(const struct definition *d)
{
    return count_all(d, true);
}
