// An interpreter of definitions over polynomials and normal forms, which is run again for each case.
#include "verifier/symbolic_proof/execute.h"

#include "verifier/symbolic_proof/compare.h"
#include "verifier/symbolic_proof/lanes.h"
#include "verifier/symbolic_proof/sum_functions.h"

struct scope {
    const struct meaning *meaning;
    const struct pattern_node *node;
    poly *variables;   // of the definition
};
// Entries beside the image of a maximum: no element of a bag.
static const struct sum LOWEST;

static bool fail(struct execution *ex, const char *why)
{
    return sums_fail(ex->sums, why);
}

#define MOST_ANSWERS 32

// --- decisions -------------------------------------------------------------------------------------------------------

static uint32_t all_guards(const struct execution *ex, poly *ret_guards)
{
    uint32_t n = 0;
    for (size_t i = 0; i < ex->frames.count; i++)
        for (uint32_t j = 0; j < ex->frames.items[i].n; j++)
            ret_guards[n++] = ex->frames.items[i].guards[j];
    for (size_t i = 0; i < ex->answers.count; i++)
        ret_guards[n++] = ex->answers.items[i];
    return n;
}

#define MOST_FRAMES 16
enum guard_answer { ANSWER_NO, ANSWER_YES, ANSWER_GUARDED };

// Is the polynomial at least 0? GUARDED: it may be or not, and what is executed can have a guard that says so.
static enum guard_answer decide(struct execution *ex, poly guard)
{
    poly guards[MOST_FRAMES * (MOST_DECISIONS + 2 * MAX_RANK) + MOST_ANSWERS];
    poly not = poly_negated(ex->sums->polys, guard);
    uint32_t n = all_guards(ex, guards);
    for (uint32_t i = 0; i < n; i++)
        if (guards[i] == guard || guards[i] == not )
            return guards[i] == guard ? ANSWER_YES : ANSWER_NO;
    if (entails(ex->sums->entails, guards, n, guard))
        return ANSWER_YES;
    if (entails(ex->sums->entails, guards, n, not ))
        return ANSWER_NO;
    size_t level = (size_t)poly_level(ex->sums->polys, guard);
    if (level >= ex->linear_from && ex->answers.count < MOST_ANSWERS)
        return ANSWER_GUARDED;
    struct frame *f = &ex->frames.items[level < ex->frames.count ? level : ex->frames.count - 1];
    if (f->n - f->n_ranges == MOST_DECISIONS)
        return fail(ex, "many cases") ? ANSWER_YES : ANSWER_NO;
    f->is_second[f->n] = false;
    f->guards[f->n++] = guard;
    return ANSWER_YES;
}

// The next case: the last decision that was made one way only is made the other way. False: that was all.
static bool next_case(struct execution *ex, struct frame *f)
{
    while (f->n > f->n_ranges && f->is_second[f->n - 1])
        f->n--;
    if (f->n == f->n_ranges)
        return false;
    f->is_second[f->n - 1] = true;
    f->guards[f->n - 1] = poly_negated(ex->sums->polys, f->guards[f->n - 1]);
    return true;
}

static struct frame *open_frame(struct execution *ex)
{
    if (ex->frames.count == MOST_FRAMES)
        fail(ex, "sums within sums, many times");
    else
        vec_push(&ex->frames, (struct frame){0});
    return &vec_last(&ex->frames);
}

static void add_range(struct execution *ex, struct frame *f, poly index, poly size)
{
    f->guards[f->n++] = index;
    f->guards[f->n++] =
        poly_sub(ex->sums->polys, poly_sub(ex->sums->polys, size, index), poly_const(ex->sums->polys, 1));
    f->n_ranges = f->n;
}

// --- expressions -----------------------------------------------------------------------------------------------------

static const struct sum *execute(struct execution *ex, const struct scope *at, expr e);

static poly integer_of(struct execution *ex, const struct scope *at, expr e)
{
    poly value = at->meaning->integers[e];
    if (value == NO_POLY)
        fail(ex, "an integer of a definition that is no known polynomial");
    return value == NO_POLY ? POLY_ZERO : value;
}

static poly execute_index(struct execution *ex, const struct scope *at, expr e)
{
    const struct expr_node *n = &at->meaning->definition->nodes.items[e];
    struct polys *p = ex->sums->polys;
    switch ((enum expr_kind)n->kind) {
    case EXPR_INTEGER:
        return integer_of(ex, at, e);
    case EXPR_VARIABLE:
        return at->variables[n->value];
    case EXPR_INDEX_ADD:
        return poly_add(p, execute_index(ex, at, n->a), execute_index(ex, at, n->b));
    case EXPR_INDEX_MUL:
        return poly_mul(p, execute_index(ex, at, n->a), integer_of(ex, at, e));
    case EXPR_INDEX_DIV:
        return poly_floor(p, execute_index(ex, at, n->a), integer_of(ex, at, e));
    case EXPR_INDEX_MOD:
        return poly_mod(p, execute_index(ex, at, n->a), integer_of(ex, at, e));
    default:
        fail(ex, "an index that depends on data");
        return POLY_ZERO;
    }
}

static const struct sum *execute_stage(struct execution *ex, uint32_t node, int stage, const poly *indices)
{
    const struct meaning *m = &ex->family->meanings.nodes[node];
    const struct stage *s = &m->definition->stages[stage];
    size_t n_variables = m->definition->extents.count;
    struct scope at = {m, &ex->family->equation->pattern->nodes.items[node], NULL};
    at.variables = arena_array(ex->sums->arena, poly, n_variables + 1);
    for (int i = 0; i < s->type.rank; i++)
        at.variables[s->first_variable + (uint32_t)i] = indices[i];
    if (ex->depth == 64 || ex->sums->why) {
        fail(ex, "terms within terms, many times");
        return &SUM_ZERO;
    }
    ex->depth++;
    const struct sum *value = execute(ex, &at, s->body);
    ex->depth--;
    return value;
}

static const struct sum *execute_term(struct execution *ex, term_id term, const poly *indices)
{
    const struct term *t = &ex->family->equation->pattern->terms.items[term];
    if (!t->is_variable)
        return execute_stage(ex, t->index, ex->family->meanings.nodes[t->index].definition->outputs[t->output],
                             indices);
    uint32_t rank = (uint32_t)ex->family->outline.types[t->index]->rank;
    return sum_of_factor(ex->sums, &(struct factor){.kind = FACTOR_READ,
                                                    .name = t->index,
                                                    .n_places = rank,
                                                    .places = arena_copy_array(ex->sums->arena, indices, rank)});
}

static poly size_of_read(const struct execution *ex, const struct scope *at, const struct expr_node *n, int axis)
{
    int64_t stage = n->value - at->meaning->definition->n_inputs;
    return stage < 0 ? family_size(ex->family, at->node->inputs[n->value], axis) : at->meaning->dims[stage][axis];
}

static const struct sum *read_inside(struct execution *ex, const struct scope *at, const struct expr_node *n,
                                     const poly *indices)
{
    int64_t stage = n->value - at->meaning->definition->n_inputs;
    if (stage < 0)
        return execute_term(ex, at->node->inputs[n->value], indices);
    return execute_stage(ex, (uint32_t)(at->meaning - ex->family->meanings.nodes), (int)stage, indices);
}

static const struct sum *with_guards(struct execution *ex, const struct sum *value, size_t from)
{
    uint32_t n = (uint32_t)(ex->answers.count - from);
    if (value == &LOWEST && n)
        fail(ex, "a lowest value that is no part of a maximum");
    const struct sum *result = n ? sum_guarded(ex->sums, value, n, &ex->answers.items[from]) : value;
    ex->answers.count = from;
    return result;
}

// Nothing is read outside: each axis is asked for both of its ends.
static const struct sum *execute_read(struct execution *ex, const struct scope *at, const struct expr_node *n)
{
    struct polys *p = ex->sums->polys;
    poly indices[MAX_RANK];
    size_t before = ex->answers.count;
    for (int i = 0; i < n->count; i++)
        indices[i] = execute_index(ex, at, at->meaning->definition->indices.items[n->a + (expr)i]);
    for (int i = 0; n->b != OUTSIDE_NEVER && i < 2 * n->count; i++) {
        poly size = size_of_read(ex, at, n, i / 2);
        if (size == NO_POLY) {
            fail(ex, "a size that is no known polynomial");
            return &SUM_ZERO;
        }
        poly last = poly_sub(p, size, poly_const(p, 1)),
             guard = i % 2 ? poly_sub(p, last, indices[i / 2]) : indices[i / 2];
        enum guard_answer answer = decide(ex, guard);
        if (answer == ANSWER_GUARDED)
            vec_push(&ex->answers, guard);
        if (answer == ANSWER_NO) {
            ex->answers.count = before;
            return n->b == OUTSIDE_LOWEST ? &LOWEST : &SUM_ZERO;
        }
    }
    return with_guards(ex, read_inside(ex, at, n, indices), before);
}

static const struct sum *execute_select(struct execution *ex, const struct scope *at, const struct expr_node *n)
{
    poly guard = execute_index(ex, at, n->a);
    size_t before = ex->answers.count;
    enum guard_answer answer = decide(ex, guard);
    if (answer != ANSWER_GUARDED)
        return execute(ex, at, answer == ANSWER_YES ? n->b : n->c);
    vec_push(&ex->answers, guard);
    const struct sum *yes = with_guards(ex, execute(ex, at, n->b), before);
    vec_push(&ex->answers, poly_negated(ex->sums->polys, guard));
    const struct sum *no = with_guards(ex, execute(ex, at, n->c), before);
    return sum_add(ex->sums, yes, no);
}

// The part that the body adds to a sum, or to the elements of a bag.
static const struct sum *part_of(struct execution *ex, enum scalar_function fn, const struct sum *body)
{
    if (fn == FN_ADD || body == &LOWEST)
        return body == &LOWEST ? &SUM_ZERO : body;
    return sum_element(ex->sums, body);
}

// Guards that follow from where the sum stands are left out, and terms that have no place there.
static const struct sum *without_what_follows(struct execution *ex, const struct sum *a)
{
    poly context[MOST_FRAMES * (MOST_DECISIONS + 2 * MAX_RANK) + MOST_ANSWERS];
    uint32_t n_context = all_guards(ex, context), n_terms = 0;
    struct product *terms = arena_array(ex->sums->arena, struct product, a->n + 1);
    EACH(a->terms, a->n, t) {
        poly *guards = arena_array(ex->sums->arena, poly, t->n_guards + 1);
        uint32_t n = 0;
        bool is_empty = false;
        for (uint32_t j = 0; j < t->n_guards && !is_empty; j++) {
            bool is_bound = ANY(uint32_t, k, t->n_indices, poly_mentions(ex->sums->polys, t->guards[j], t->indices[k]));
            if (is_bound || !entails(ex->sums->entails, context, n_context, t->guards[j]))
                guards[n++] = t->guards[j];
            is_empty = !is_bound &&
                       entails(ex->sums->entails, context, n_context, poly_negated(ex->sums->polys, t->guards[j]));
        }
        terms[n_terms] = *t;
        terms[n_terms].guards = guards;
        terms[n_terms].n_guards = n;
        n_terms += !is_empty;
    }
    return sum_of_products(ex->sums, n_terms, terms);
}

static const struct sum *execute_reduce(struct execution *ex, const struct scope *at, const struct expr_node *n)
{
    enum scalar_function fn = (enum scalar_function)n->fn;
    const struct sum *result = &SUM_ZERO;
    poly size = at->meaning->extents[n->value];
    size_t level = ex->frames.count, linear_from = ex->linear_from;
    if (size == NO_POLY)
        fail(ex, "the range of a sum is no known polynomial");
    open_frame(ex);
    if (ex->sums->why)
        return &SUM_ZERO;
    atom index = atom_index(ex->sums->polys, (int)level);
    at->variables[n->value] = poly_of_atom(ex->sums->polys, index);
    add_range(ex, &ex->frames.items[level], at->variables[n->value], size);
    ex->linear_from = fn != FN_ADD ? SIZE_MAX : linear_from < level ? linear_from : level;
    for (int i = 0; !ex->sums->why; i++) {
        const struct sum *body = execute(ex, at, n->a);
        struct frame *f = &ex->frames.items[level];
        if (body == &LOWEST && fn != FN_MAX)
            fail(ex, "a lowest value that is no part of a maximum");
        result = sum_add(ex->sums, result, sum_over(ex->sums, part_of(ex, fn, body), index, f->n, f->guards));
        if (!next_case(ex, f))
            break;
        if (i == MOST_CASES)
            fail(ex, "many cases of a sum");
    }
    ex->frames.count = level;
    ex->linear_from = linear_from;
    result = without_what_follows(ex, result);
    return fn == FN_ADD ? result : sum_of_bag(ex->sums, fn, result);
}

static const struct sum *execute_apply(struct execution *ex, const struct scope *at, const struct expr_node *n)
{
    const struct sum *operands[3] = {0};
    const expr of[3] = {n->a, n->b, n->c};
    bool is_linear = n->fn == FN_ADD || n->fn == FN_SUB || n->fn == FN_NEG || n->fn == FN_MUL;
    size_t linear_from = ex->linear_from;
    ex->linear_from = is_linear ? linear_from : SIZE_MAX;
    for (int i = 0; i < function_arity((enum scalar_function)n->fn); i++) {
        operands[i] = execute(ex, at, of[i]);
        if (operands[i] == &LOWEST)
            fail(ex, "a lowest value that is no part of a maximum");
    }
    ex->linear_from = linear_from;
    if (n->fn == FN_DIV && !dtype_is_float(definition_output(at->meaning->definition, 0)->dtype))
        fail(ex, "integers are divided");
    if (n->fn == FN_IS_NAN)
        fail(ex, "a question whether a number is one");
    return sum_apply(ex->sums, (enum scalar_function)n->fn, operands);
}

static const struct sum *execute(struct execution *ex, const struct scope *at, expr e)
{
    const struct expr_node *n = &at->meaning->definition->nodes.items[e];
    if (ex->sums->why)
        return &SUM_ZERO;
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
        return at->meaning->integers[e] != NO_POLY ? sum_of_poly(ex->sums, at->meaning->integers[e])
                                                   : sum_of_real(ex->sums, n->real);
    case EXPR_READ:
        return execute_read(ex, at, n);
    case EXPR_APPLY:
        return execute_apply(ex, at, n);
    case EXPR_REDUCE:
        return execute_reduce(ex, at, n);
    case EXPR_SELECT:
        return execute_select(ex, at, n);
    case EXPR_SCALAR_OF:
        return sum_of_poly(ex->sums, execute_index(ex, at, n->a));
    default:
        fail(ex, "no scalar expression");
        return &SUM_ZERO;
    }
}

// --- both sides ------------------------------------------------------------------------------------------------------

static bool types_are_equal(struct execution *ex, term_id left, term_id right)
{
    const struct type *of_left = family_type(ex->family, &ex->family->lanes[0], left);
    const struct type *of_right = family_type(ex->family, &ex->family->lanes[0], right);
    int rank = of_left->rank;
    if (of_right->rank != rank || of_right->dtype != of_left->dtype)
        return fail(ex, "outputs of several ranks or element types");
    for (int a = 0; a < rank; a++) {
        poly x = family_size(ex->family, left, a), y = family_size(ex->family, right, a);
        if (x == NO_POLY || y == NO_POLY)
            return fail(ex, "a size that is no known polynomial");
        if (!entails_equal(ex->sums->entails, NULL, 0, x, y))
            return fail(ex, "outputs of several sizes");
    }
    return true;
}

bool execute_and_compare(struct execution *ex, term_id left, term_id right)
{
    poly indices[MAX_RANK];
    if (!types_are_equal(ex, left, right))
        return false;
    vec_clear(&ex->frames);
    ex->linear_from = 1;
    struct frame *f = open_frame(ex);
    for (int a = 0; a < family_type(ex->family, &ex->family->lanes[0], left)->rank; a++) {
        indices[a] = poly_of_atom(ex->sums->polys, atom_index(ex->sums->polys, 0));
        add_range(ex, f, indices[a], family_size(ex->family, left, a));
    }
    for (int i = 0; i < MOST_CASES && !ex->sums->why; i++) {
        ex->frames.count = 1;
        const struct sum *x = execute_term(ex, left, indices), *y = execute_term(ex, right, indices);
        f = &ex->frames.items[0];
        if (x == &LOWEST || y == &LOWEST)
            return fail(ex, "a lowest value that is no part of a maximum");
        if (!entails_nothing(ex->sums->entails, f->guards, f->n) && !sums_equal(ex->sums, f->guards, f->n, x, y))
            return fail(ex, "the normal forms differ");
        if (!next_case(ex, f))
            return !ex->sums->why;
    }
    return fail(ex, "many cases");
}
