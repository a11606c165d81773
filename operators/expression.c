// expression: what its attributes say, entry by entry of the result (expression.h has the code).
//     z[i...] = the scalar expression `code` of the inputs' entries at indices made of i...
#include "operators/expression.h"

#include "core/memory/arena.h"
#include "expressions/affine.h"

enum { SHAPE, CODE };
enum code {
    CODE_INTEGER,
    CODE_VARIABLE,
    CODE_INDEX_ADD,
    CODE_INDEX_MUL,
    CODE_INDEX_DIV,
    CODE_INDEX_MOD,
    CODE_REAL,
    CODE_READ,
    CODE_APPLY,
    CODE_REDUCE,
    CODE_SELECT
};
enum { MOST_VARIABLES = MAX_RANK + 16, DEEPEST = 60 };
#define LARGEST_INDEX ((int64_t)1 << 40)   // of each part of an index, so that none wraps

// --- reading ---------------------------------------------------------------------------------------------------------

struct reading {
    struct definition *d;
    const int64_t *at, *end;
    int depth, n_variables;
    expr variables[MOST_VARIABLES];
    bool fails;
};

static expr fail(struct reading *r)
{
    r->fails = true;
    return index_integer(r->d, 0);
}

static int64_t next(struct reading *r)
{
    r->fails = r->fails || r->at == r->end;
    return r->fails ? -1 : *r->at++;
}

static int64_t next_within(struct reading *r, int64_t low, int64_t high)
{
    int64_t value = next(r);
    r->fails = r->fails || value < low || value > high;
    return r->fails ? low : value;
}

static expr read_index(struct reading *r);

static expr read_parts_of_index(struct reading *r)
{
    int64_t number;
    expr part;
    switch (next(r)) {
    case CODE_INTEGER:
        return index_integer(r->d, next_within(r, -LARGEST_INDEX, LARGEST_INDEX));
    case CODE_VARIABLE:
        number = next_within(r, 0, r->n_variables - 1);
        return r->fails ? fail(r) : r->variables[number];
    case CODE_INDEX_ADD:
        part = read_index(r);
        return index_add(r->d, part, read_index(r));
    case CODE_INDEX_MUL:
        number = next_within(r, -LARGEST_INDEX, LARGEST_INDEX);
        return index_mul(r->d, read_index(r), number);
    case CODE_INDEX_DIV:
        number = next_within(r, 1, LARGEST_INDEX);
        return index_div(r->d, read_index(r), number);
    case CODE_INDEX_MOD:
        number = next_within(r, 1, LARGEST_INDEX);
        return index_mod(r->d, read_index(r), number);
    default:
        return fail(r);
    }
}

static expr read_index(struct reading *r)
{
    if (r->fails || ++r->depth > DEEPEST)
        return fail(r);
    expr index = read_parts_of_index(r);
    struct index_range range = index_range(r->d, index);
    r->depth--;
    return range.low < -LARGEST_INDEX || range.high > LARGEST_INDEX ? fail(r) : index;
}

static expr read_scalar(struct reading *r);

static expr read_read(struct reading *r)
{
    expr index[MAX_RANK];
    int input = (int)next_within(r, 0, r->d->n_inputs - 1);
    for (int axis = 0; axis < r->d->inputs[input].rank; axis++)
        index[axis] = read_index(r);
    return r->fails ? fail(r) : scalar_read_or(r->d, input, index, OUTSIDE_ZERO);
}

static expr read_apply(struct reading *r)
{
    enum scalar_function fn = (enum scalar_function)next_within(r, 0, FN_COUNT - 1);
    expr operands[3] = {0};
    for (int i = 0; i < function_arity(fn); i++)
        operands[i] = read_scalar(r);
    return scalar_apply(r->d, fn, operands[0], operands[1], operands[2]);
}

static expr read_reduce(struct reading *r)
{
    enum scalar_function fn = (enum scalar_function)next_within(r, 0, FN_COUNT - 1);
    int64_t extent = next_within(r, 1, LARGEST_INDEX);
    if (r->fails || r->n_variables == MOST_VARIABLES || (fn != FN_ADD && fn != FN_MUL && fn != FN_MAX && fn != FN_MIN))
        return fail(r);
    expr variable = reduce_variable(r->d, extent);
    r->variables[r->n_variables++] = variable;
    expr body = read_scalar(r);
    r->n_variables--;
    return scalar_reduce(r->d, fn, variable, body);
}

static expr read_select(struct reading *r)
{
    expr index = read_index(r), if_not_negative = read_scalar(r);
    return scalar_select(r->d, index, if_not_negative, read_scalar(r));
}

static expr read_parts_of_scalar(struct reading *r)
{
    switch (next(r)) {
    case CODE_REAL:
        return scalar_real(r->d, real_from_bits(next(r)));
    case CODE_READ:
        return read_read(r);
    case CODE_APPLY:
        return read_apply(r);
    case CODE_REDUCE:
        return read_reduce(r);
    case CODE_SELECT:
        return read_select(r);
    default:
        return fail(r);
    }
}

static expr read_scalar(struct reading *r)
{
    if (r->fails || ++r->depth > DEEPEST)
        return fail(r);
    expr scalar = read_parts_of_scalar(r);
    r->depth--;
    return r->fails ? fail(r) : scalar;
}

static bool has_one_type_of_floats(struct definition *d, const struct operator_call *call)
{
    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i].dtype != call->inputs[0].dtype || !dtype_is_float(call->inputs[i].dtype))
            return refuse(d, "expression needs inputs of one floating-point type");
    return true;
}

static bool define_expression(struct definition *d, const struct operator_call *call)
{
    const struct attribute_value *shape = &call->attributes[SHAPE], *code = &call->attributes[CODE];
    struct type type = {0};
    if (!has_one_type_of_floats(d, call))
        return false;
    if (shape->count <= MAX_RANK)
        type = type_make(call->inputs[0].dtype, (int)shape->count, shape->ints);
    if (shape->count > MAX_RANK || !type_has_allowed_size(&type))
        return refuse(d, "expression has an impossible shape");
    int z = output_add(d, type.dtype, type.rank, type.dim);
    struct reading r = {.d = d, .at = code->ints, .end = code->ints + code->count, .n_variables = type.rank};
    for (int axis = 0; axis < type.rank; axis++)
        r.variables[axis] = stage_index(d, z, axis);
    expr body = read_scalar(&r);
    if (r.fails || r.at != r.end)
        return refuse(d, "expression has a code that says nothing");
    stage_set_body(d, z, body);
    return true;
}

const struct operator operator_expression = {
    .id = OP_EXPRESSION,
    .name = "expression",
    .summary = "what a derivation found and no other operator computes",
    .min_inputs = 1,
    .max_inputs = VARIADIC,
    .flags = OPERATOR_IS_OF_RULES,
    .attributes = {[SHAPE] = {.name = "shape", .kind = ATTRIBUTE_INTS, .role = ROLE_SHAPE},
                   [CODE] = {.name = "code", .kind = ATTRIBUTE_INTS, .role = ROLE_CODE, .is_required = true}},
    .define = define_expression,
};

// --- writing ---------------------------------------------------------------------------------------------------------

struct writing {
    const struct definition *d;
    int n_inputs;
    const int *inputs;
    VEC(int64_t) code;
    int n_variables;
    int64_t variables[MOST_VARIABLES];
    bool fails;
};

static void put(struct writing *w, int64_t value)
{
    vec_push(&w->code, value);
}

static void write_variable(struct writing *w, int64_t variable)
{
    int i = w->n_variables - 1;
    while (i >= 0 && w->variables[i] != variable)
        i--;
    w->fails = w->fails || i < 0;
    put(w, i);
}

static void write_input(struct writing *w, const struct expr_node *read)
{
    int i = 0;
    while (i < w->n_inputs && w->inputs[i] != read->value)
        i++;
    w->fails = w->fails || i == w->n_inputs || read->b == OUTSIDE_LOWEST;
    put(w, i);
}

static void write_expr(struct writing *w, expr e);

static void write_reduce(struct writing *w, const struct expr_node *n)
{
    w->fails = w->fails || w->n_variables == MOST_VARIABLES;
    if (w->fails)
        return;
    put(w, n->fn);
    put(w, w->d->extents.items[n->value]);
    w->variables[w->n_variables++] = n->value;
    write_expr(w, n->a);
    w->n_variables--;
}

static void write_head(struct writing *w, const struct expr_node *n)
{
    static const int8_t codes[] = {[EXPR_INTEGER] = CODE_INTEGER,
                                   [EXPR_VARIABLE] = CODE_VARIABLE,
                                   [EXPR_INDEX_ADD] = CODE_INDEX_ADD,
                                   [EXPR_INDEX_MUL] = CODE_INDEX_MUL,
                                   [EXPR_INDEX_DIV] = CODE_INDEX_DIV,
                                   [EXPR_INDEX_MOD] = CODE_INDEX_MOD,
                                   [EXPR_INDEX_OF] = -1,
                                   [EXPR_REAL] = CODE_REAL,
                                   [EXPR_READ] = CODE_READ,
                                   [EXPR_APPLY] = CODE_APPLY,
                                   [EXPR_REDUCE] = CODE_REDUCE,
                                   [EXPR_SELECT] = CODE_SELECT,
                                   [EXPR_SCALAR_OF] = -1};
    w->fails = w->fails || codes[n->kind] < 0;
    put(w, codes[n->kind]);
    if (n->kind == EXPR_VARIABLE)
        write_variable(w, n->value);
    else if (n->kind == EXPR_READ)
        write_input(w, n);
    else if (n->kind == EXPR_REAL)
        put(w, real_to_bits(n->real));
    else if (n->kind == EXPR_APPLY)
        put(w, n->fn);
    else if (n->kind != EXPR_INDEX_ADD && n->kind != EXPR_REDUCE && n->kind != EXPR_SELECT)
        put(w, n->value);
}

static void write_expr(struct writing *w, expr e)
{
    const struct expr_node *n = &w->d->nodes.items[e];
    write_head(w, n);
    struct operands below = expr_operands(w->d, e);
    if (n->kind == EXPR_REDUCE)
        write_reduce(w, n);
    for (uint32_t i = 0; i < below.n && n->kind != EXPR_REDUCE && !w->fails; i++)
        write_expr(w, below.items[i]);
}

static bool has_type_of_inputs(const struct writing *w, enum dtype dtype)
{
    for (int i = 0; i < w->n_inputs; i++)
        if (definition_tensor(w->d, w->inputs[i])->dtype != dtype)
            return false;
    return w->n_inputs > 0 && dtype_is_float(dtype);
}

bool expression_attributes(const struct definition *d, int tensor, int n_inputs, const int *inputs, struct arena *a,
                           struct attribute_value ret_values[MAX_ATTRIBUTES])
{
    struct writing w = {.d = d, .n_inputs = n_inputs, .inputs = inputs};
    const struct stage *stage = &d->stages[tensor - d->n_inputs];
    for (; w.n_variables < stage->type.rank; w.n_variables++)
        w.variables[w.n_variables] = stage->first_variable + w.n_variables;
    w.fails = !has_type_of_inputs(&w, stage->type.dtype);
    if (!w.fails)
        write_expr(&w, stage->body);
    if (!w.fails) {
        struct attribute_value shape = {(uint32_t)stage->type.rank, stage->type.dim};
        struct attribute_value code = {(uint32_t)w.code.count, w.code.items};
        ret_values[SHAPE] = attribute_value_copy(a, &shape);
        ret_values[CODE] = attribute_value_copy(a, &code);
    }
    vec_free(&w.code);
    return !w.fails;
}
