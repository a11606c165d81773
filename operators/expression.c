// expression: what its attributes say, entry by entry of the result (expression.h has the code).
//     z[i...] = the scalar expression `code` of the inputs' entries at indices made of i...
#include "operators/expression.h"

#include "core/memory/arena.h"
#include "expressions/affine.h"
#include <stdlib.h>
#include <string.h>

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

static void write_expr(struct writing *w, expr e);

// The first place where a variable of a sum is read, and how far apart its steps are there.
struct first_place {
    int64_t variable, place, step;
};

static int64_t step_of(const struct definition *d, expr index, int64_t variable)
{
    const struct expr_node *n = &d->nodes.items[index];
    if (n->kind == EXPR_INDEX_ADD)
        return step_of(d, definition_mentions(d, n->a, variable) ? n->a : n->b, variable);
    return n->kind == EXPR_INDEX_MUL ? n->value : 1;
}

static int input_of(const struct writing *w, const struct expr_node *read)
{
    return FIRST_OF(int, i, w->n_inputs, w->inputs[i] == read->value);
}

static void find_place(const struct writing *w, expr e, struct first_place *first)
{
    const struct expr_node *n = &w->d->nodes.items[e];
    struct operands below = expr_operands(w->d, e);
    for (uint32_t i = 0; i < below.n; i++) {
        int64_t place = n->kind == EXPR_READ ? input_of(w, n) * MAX_RANK + (int64_t)i : INT64_MAX;
        if (n->kind != EXPR_READ)
            find_place(w, below.items[i], first);
        else if (place < first->place && definition_mentions(w->d, below.items[i], first->variable))
            *first = (struct first_place){first->variable, place, step_of(w->d, below.items[i], first->variable)};
    }
}

static bool comes_before(const struct first_place *x, const struct first_place *y)
{
    return x->place < y->place || (x->place == y->place && x->step > y->step);
}

// The sums that stand right in each other, in the order in which reads have them, which is the same at all sizes.
static expr order_sums(const struct writing *w, expr e, int most, int *ret_n, int64_t *ret_variables)
{
    struct first_place places[MOST_VARIABLES];
    const struct expr_node *n = &w->d->nodes.items[e];
    int count = 0;
    for (; n->kind == EXPR_REDUCE && n->fn == FN_ADD && count < most; n = &w->d->nodes.items[e]) {
        struct first_place place = {n->value, INT64_MAX, 0};
        int at = count++;
        find_place(w, e = n->a, &place);
        for (; at > 0 && comes_before(&place, &places[at - 1]); at--)
            places[at] = places[at - 1];
        places[at] = place;
    }
    for (int i = 0; i < count; i++)
        ret_variables[i] = places[i].variable;
    *ret_n = count;
    return e;
}

static void write_reduction(struct writing *w, enum scalar_function fn, int64_t variable)
{
    put(w, CODE_REDUCE);
    put(w, fn);
    put(w, w->d->extents.items[variable]);
    w->variables[w->n_variables++] = variable;
}

static void write_reduce(struct writing *w, expr e)
{
    int64_t variables[MOST_VARIABLES];
    int n = 1, most = MOST_VARIABLES - w->n_variables, before = w->n_variables;
    const struct expr_node *outer = &w->d->nodes.items[e];
    expr body = outer->a;
    variables[0] = outer->value;
    w->fails = w->fails || most == 0;
    if (outer->fn == FN_ADD && most > 0)
        body = order_sums(w, e, most, &n, variables);
    for (int i = 0; i < n && !w->fails; i++)
        write_reduction(w, (enum scalar_function)outer->fn, variables[i]);
    if (!w->fails)
        write_expr(w, body);
    w->n_variables = before;
}

// --- sums of indices -------------------------------------------------------------------------------------------------

enum { MOST_INDEX_TERMS = 16 };
struct index_terms {
    int n;
    expr items[MOST_INDEX_TERMS];
    int64_t places[MOST_INDEX_TERMS];
};

// Variables in their order, then quotients and remainders by the first variable in them, numbers last.
static int64_t place_of_term(const struct writing *w, expr e)
{
    const struct expr_node *n = &w->d->nodes.items[e];
    if (n->kind == EXPR_INDEX_MUL)
        return place_of_term(w, n->a);
    int i = FIRST_OF(int, k, w->n_variables, definition_mentions(w->d, e, w->variables[k]));
    return n->kind * (MOST_VARIABLES + 1) + (n->kind == EXPR_INTEGER ? 1000 : i);
}

static void gather_terms(struct writing *w, expr e, struct index_terms *terms)
{
    const struct expr_node *n = &w->d->nodes.items[e];
    if (n->kind == EXPR_INDEX_ADD) {
        gather_terms(w, n->a, terms);
        gather_terms(w, n->b, terms);
        return;
    }
    int64_t place = place_of_term(w, e);
    int at = terms->n;
    w->fails = w->fails || at == MOST_INDEX_TERMS;
    if (w->fails)
        return;
    for (; at > 0 && place < terms->places[at - 1]; at--) {
        terms->items[at] = terms->items[at - 1];
        terms->places[at] = terms->places[at - 1];
    }
    terms->items[at] = e;
    terms->places[at] = place;
    terms->n++;
}

static void write_index_sum(struct writing *w, expr e)
{
    struct index_terms terms = {0};
    gather_terms(w, e, &terms);
    for (int i = 0; i < terms.n && !w->fails; i++) {
        if (i + 1 < terms.n)
            put(w, CODE_INDEX_ADD);
        write_expr(w, terms.items[i]);
    }
}

// --- guards ----------------------------------------------------------------------------------------------------------

enum { MOST_GUARDS = 16 };
struct guard_code {
    const int64_t *begin, *end;
};

static int compare_codes(const void *a, const void *b)
{
    const struct guard_code *x = a, *y = b;
    ptrdiff_t i = 0, n = x->end - x->begin, m = y->end - y->begin;
    while (i < n && i < m && x->begin[i] == y->begin[i])
        i++;
    return i < n && i < m ? (x->begin[i] > y->begin[i]) - (x->begin[i] < y->begin[i]) : (n > m) - (n < m);
}

// Conditions outside of which all is 0, each behind its code, in the order of codes: nothing else depends on it.
static void put_guards(struct writing *w, const expr *guards, int n)
{
    size_t before = w->code.count, ends[MOST_GUARDS];
    struct guard_code codes[MOST_GUARDS];
    for (int i = 0; i < n; i++) {
        write_expr(w, guards[i]);
        ends[i] = w->code.count;
    }
    size_t count = w->code.count - before;
    LOCAL_ARRAY(int64_t, written, count + 1);
    memcpy(written, w->code.items + before, count * sizeof *written);
    for (int i = 0; i < n; i++)
        codes[i] = (struct guard_code){written + (i ? ends[i - 1] - before : 0), written + ends[i] - before};
    qsort(codes, (size_t)n, sizeof *codes, compare_codes);
    w->code.count = before;
    for (int i = 0; i < n; i++) {
        put(w, CODE_SELECT);
        for (const int64_t *at = codes[i].begin; at < codes[i].end; at++)
            put(w, *at);
    }
}

static bool is_guard(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    return n->kind == EXPR_SELECT && d->nodes.items[n->c].kind == EXPR_REAL &&
           real_to_bits(d->nodes.items[n->c].real) == 0;
}

static void write_guards(struct writing *w, expr e)
{
    expr guards[MOST_GUARDS];
    int n = 0;
    for (; n < MOST_GUARDS && is_guard(w->d, e); e = w->d->nodes.items[e].b)
        guards[n++] = w->d->nodes.items[e].a;
    put_guards(w, guards, n);
    write_expr(w, e);
    for (int i = 0; i < n; i++) {
        put(w, CODE_REAL);
        put(w, 0);
    }
}

// --- all of it -------------------------------------------------------------------------------------------------------

static void write_input(struct writing *w, const struct expr_node *read)
{
    int i = input_of(w, read);
    w->fails = w->fails || i == w->n_inputs || read->b == OUTSIDE_LOWEST;
    put(w, i);
}

static void write_head(struct writing *w, const struct expr_node *n)
{
    static const int8_t codes[] = {[EXPR_INTEGER] = CODE_INTEGER,
                                   [EXPR_VARIABLE] = CODE_VARIABLE,
                                   [EXPR_INDEX_ADD] = -1,
                                   [EXPR_INDEX_MUL] = CODE_INDEX_MUL,
                                   [EXPR_INDEX_DIV] = CODE_INDEX_DIV,
                                   [EXPR_INDEX_MOD] = CODE_INDEX_MOD,
                                   [EXPR_INDEX_OF] = -1,
                                   [EXPR_REAL] = CODE_REAL,
                                   [EXPR_READ] = CODE_READ,
                                   [EXPR_APPLY] = CODE_APPLY,
                                   [EXPR_REDUCE] = -1,
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
    else if (n->kind != EXPR_SELECT)
        put(w, n->value);
}

static void write_expr(struct writing *w, expr e)
{
    const struct expr_node *n = &w->d->nodes.items[e];
    if (n->kind == EXPR_REDUCE) {
        write_reduce(w, e);
        return;
    }
    if (n->kind == EXPR_INDEX_ADD) {
        write_index_sum(w, e);
        return;
    }
    if (is_guard(w->d, e)) {
        write_guards(w, e);
        return;
    }
    write_head(w, n);
    struct operands below = expr_operands(w->d, e);
    for (uint32_t i = 0; i < below.n && !w->fails; i++)
        write_expr(w, below.items[i]);
}

static bool has_type_of_inputs(const struct writing *w, enum dtype dtype)
{
    return ALL(int, i, w->n_inputs, definition_tensor(w->d, w->inputs[i])->dtype == dtype) && w->n_inputs > 0 &&
           dtype_is_float(dtype);
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
