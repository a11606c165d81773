// How many labels a counterexample can need: the axes of the output, and the sums that a monomial is made by (T1, T8;
// bounds.md, 2.1).
#include "verifier/bounds/classes/index_classes.h"

#include "expressions/f64_functions.h"
#include "operators/traits.h"
#include <string.h>

// --- sums ------------------------------------------------------------------------------------------------------------

static bool is_read_along(const struct analysis *an, uint32_t node, expr e, uint32_t variable, passing_fn *passing);

bool classes_tensor_is_read_along(const struct analysis *an, uint32_t node, int tensor, int axis, passing_fn *passing)
{
    const struct definition *d = an->definitions[node];
    if (tensor >= d->n_inputs) {
        const struct stage *s = &d->stages[tensor - d->n_inputs];
        return is_read_along(an, node, s->body, s->first_variable + (uint32_t)axis, passing);
    }
    const struct pattern *p = an->in->equation->pattern;
    const struct term *t = &p->terms.items[p->nodes.items[node].inputs[tensor]];
    if (t->is_variable)
        return true;
    const struct definition *of = an->definitions[t->index];
    return classes_tensor_is_read_along(an, t->index, of->n_inputs + of->outputs[t->output], axis, passing);
}

static bool reads_along(const struct analysis *an, uint32_t node, const struct expr_node *read, uint32_t variable,
                        passing_fn *passing)
{
    const struct definition *d = an->definitions[node];
    for (int axis = 0; axis < read->count; axis++) {
        struct affine_index f;
        classes_find_affine(d, d->indices.items[read->a + (expr)axis], &f);
        for (int i = 0; i < f.n; i++)
            if (f.variable[i] == variable && classes_tensor_is_read_along(an, node, (int)read->value, axis, passing))
                return true;
    }
    return false;
}

static bool is_read_along(const struct analysis *an, uint32_t node, expr e, uint32_t variable, passing_fn *passing)
{
    const struct expr_node *n = &an->definitions[node]->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_READ:
        return reads_along(an, node, n, variable, passing);
    case EXPR_REAL:
        return n->real == 0;
    case EXPR_REDUCE:
        return is_read_along(an, node, n->a, variable, passing);
    case EXPR_SELECT:
        return is_read_along(an, node, n->b, variable, passing) && is_read_along(an, node, n->c, variable, passing);
    case EXPR_APPLY:
        break;
    default:
        return false;
    }
    enum passing kind = passing((enum scalar_function)n->fn);
    bool is_first = kind != PASSES_NEVER && is_read_along(an, node, n->a, variable, passing);
    bool needs_second = kind == PASSES_BOTH ? is_first : kind == PASSES_EITHER && !is_first;
    bool is_along = needs_second ? is_read_along(an, node, n->b, variable, passing) : is_first;
    return function_arity((enum scalar_function)n->fn) > 2
               ? is_along && is_read_along(an, node, n->c, variable, passing)
               : is_along;
}

// Does every monomial of the expression have a factor whose place tells the index? A sum over an index that none tells
// counts, so that the size itself becomes a coefficient. exp(x - x) is 1, and tells nothing; relu(x - x) is no
// monomial.
static enum passing index_is_told(enum scalar_function fn)
{
    if (function_arity(fn) == 1)
        return f64_apply(fn, 0, 0, 0) == 0 ? PASSES_FIRST : PASSES_NEVER;
    return fn == FN_MUL || fn == FN_DIV ? PASSES_EITHER : PASSES_BOTH;
}

// Sums of each class that a monomial is made by, by the depth of functions outside of the ring that they stand under:
// what stands in the arguments of a function needs labels of its own. All that is deeper counts as the last depth,
// where sums of alternatives may stand at different ones, and are added.
#define MAX_DEPTH 3
#define MOST_LABELS 100   // more are as many: no axis of that size is tested
struct sums {
    uint8_t at[MAX_DEPTH + 1][MAX_ITEMS];
};
static void count_sums(struct analysis *an, uint32_t node, expr e, int depth, struct sums *sums);
static void count_numbers_of_sizes(struct analysis *an, uint32_t node);

static void count_sums_of_tensor(struct analysis *an, uint32_t node, int tensor, int depth, struct sums *sums)
{
    const struct definition *d = an->definitions[node];
    if (tensor >= d->n_inputs) {
        count_numbers_of_sizes(an, node);
        count_sums(an, node, d->stages[tensor - d->n_inputs].body, depth, sums);
        return;
    }
    const struct pattern *p = an->in->equation->pattern;
    const struct term *t = &p->terms.items[p->nodes.items[node].inputs[tensor]];
    if (!t->is_variable) {
        const struct definition *of = an->definitions[t->index];
        count_sums_of_tensor(an, t->index, of->n_inputs + of->outputs[t->output], depth, sums);
    }
}

static uint8_t at_most(uint32_t n)
{
    return (uint8_t)(n < MOST_LABELS ? n : MOST_LABELS);
}

static uint8_t sums_of_either(const struct sums *a, const struct sums *b, int depth, uint32_t class)
{
    uint32_t of_a = a->at[depth][class], of_b = b->at[depth][class];
    return at_most(depth == MAX_DEPTH ? of_a + of_b : of_a > of_b ? of_a : of_b);
}

static void count_greater_sums(struct analysis *an, uint32_t node, expr a, expr b, int depth, struct sums *sums)
{
    struct sums of_a = {0}, of_b = {0};
    count_sums(an, node, a, depth, &of_a);
    count_sums(an, node, b, depth, &of_b);
    for (int at = depth; at <= MAX_DEPTH; at++)
        for (uint32_t i = 0; i < an->n_items; i++)
            sums->at[at][i] = at_most((uint32_t)sums->at[at][i] + sums_of_either(&of_a, &of_b, at, i));
}

static int depth_below(int depth)
{
    return depth < MAX_DEPTH ? depth + 1 : MAX_DEPTH;
}

// What is divided by a number is a mean; of one place, too, where the number is 1.
static bool has_number_of_size(const struct definition *d)
{
    for (size_t i = 0; i < d->nodes.count; i++) {
        const struct expr_node *n = &d->nodes.items[i];
        bool is_other = n->kind == EXPR_REAL && n->real != 0 && n->real != 1 && n->real != -1 && n->real != 0.5;
        bool is_divided = n->kind == EXPR_APPLY && n->fn == FN_DIV && d->nodes.items[n->b].kind == EXPR_REAL;
        if (is_other || is_divided)
            return true;
    }
    return false;
}

static void count_sums_of_application(struct analysis *an, uint32_t node, const struct expr_node *n, int depth,
                                      struct sums *sums)
{
    int arity = function_arity((enum scalar_function)n->fn);
    bool is_of_ring = n->fn == FN_MUL || n->fn == FN_NEG;
    int below = is_of_ring ? depth : depth_below(depth);
    if (n->fn == FN_ADD || n->fn == FN_SUB) {
        count_greater_sums(an, node, n->a, n->b, depth, sums);
        return;
    }
    count_sums(an, node, n->a, n->fn == FN_DIV ? depth : below, sums);
    if (arity > 1)
        count_sums(an, node, n->b, below, sums);
    if (arity > 2)
        count_sums(an, node, n->c, below, sums);
}

static void count_one(uint8_t *count)
{
    *count = at_most((uint32_t)*count + 1);
}

static bool is_of_maxima(const struct analysis *an, uint32_t node, expr e);

static bool is_tensor_of_maxima(const struct analysis *an, uint32_t node, int tensor)
{
    const struct definition *d = an->definitions[node];
    if (tensor >= d->n_inputs)
        return is_of_maxima(an, node, d->stages[tensor - d->n_inputs].body);
    const struct pattern *p = an->in->equation->pattern;
    const struct term *t = &p->terms.items[p->nodes.items[node].inputs[tensor]];
    return !t->is_variable &&
           is_tensor_of_maxima(an, t->index,
                               an->definitions[t->index]->n_inputs + an->definitions[t->index]->outputs[t->output]);
}

// An activation of properties that is a variable is tested as one function of which nothing is known.
static bool is_any_function(const struct analysis *an, uint32_t node)
{
    const struct equation *eq = an->in->equation;
    uint32_t activation = eq->is_strong ? equation_activation_variable(eq) : NO_VARIABLE;
    return activation != NO_VARIABLE && pattern_node_has_activation(&eq->pattern->nodes.items[node], activation);
}

static bool is_maximum(const struct analysis *an, uint32_t node, enum scalar_function fn)
{
    if (fn == FN_RELU && is_any_function(an, node))
        return false;
    return fn == FN_MAX || fn == FN_MIN || fn == FN_RELU || fn == FN_ABS;
}

// Maxima are the functions that normal forms join with those around them.
static bool is_of_maxima(const struct analysis *an, uint32_t node, expr e)
{
    const struct expr_node *n = &an->definitions[node]->nodes.items[e];
    int arity = n->kind == EXPR_APPLY ? function_arity((enum scalar_function)n->fn) : 1;
    if (n->kind == EXPR_READ)
        return is_tensor_of_maxima(an, node, (int)n->value);
    if (n->kind == EXPR_SELECT)
        return is_of_maxima(an, node, n->b) || is_of_maxima(an, node, n->c);
    if (n->kind != EXPR_APPLY && n->kind != EXPR_REDUCE)
        return false;
    return is_maximum(an, node, (enum scalar_function)n->fn) || is_of_maxima(an, node, n->a) ||
           (arity > 1 && is_of_maxima(an, node, n->b)) || (arity > 2 && is_of_maxima(an, node, n->c));
}

// How many places a pooling reads is a number of its kernel, and not of sizes, where that is written.
static bool has_written_window(const struct analysis *an, uint32_t node)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    const struct attribute_pattern *kernel = pattern_node_attribute(n, ROLE_KERNEL);
    bool is_written = operator_pools(n->op);
    for (uint32_t j = 0; j < kernel->count; j++)
        is_written = is_written && kernel->terms[j]->kind == TERM_INTEGER;
    return is_written;
}

// A maximum over one entry is that entry, and so is a sum: it takes two to tell a maximum from what it is of, and a sum
// between two maxima from none.
static void count_sums_of_reduction(struct analysis *an, uint32_t node, const struct expr_node *n, int depth,
                                    struct sums *sums)
{
    uint32_t class = classes_find(an, an->first_item[node] + (uint32_t)n->value);
    bool is_sum = n->fn == FN_ADD;
    count_one(&sums->at[depth][class]);
    if (!is_sum || (depth > 0 && is_of_maxima(an, node, n->a)))
        count_one(&sums->at[depth_below(depth)][class]);
    bool is_free = !is_read_along(an, node, n->a, (uint32_t)n->value, index_is_told);
    bool has_number = has_number_of_size(an->definitions[node]);
    if (is_free)
        count_one(&an->free_sums[class]);
    if (has_number)
        count_one(&an->size_numbers[class]);
    an->has_numbers_of_sizes = an->has_numbers_of_sizes || ((is_free || has_number) && !has_written_window(an, node));
    count_sums(an, node, n->a, is_sum ? depth : depth_below(depth), sums);
}

// The entries of a cpool are a number that the sizes of its window say.
static void count_numbers_of_sizes(struct analysis *an, uint32_t node)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    const struct stage *result = &an->definitions[node]->stages[an->definitions[node]->outputs[0]];
    int shape = operator_find_role(n->op, ROLE_SHAPE);
    bool is_seen = operator_has(n->op, TRAIT_IS_OF_SIZES) && n->attributes[shape].count == (uint32_t)result->type.rank;
    for (uint32_t axis = 2; operator_has(n->op, TRAIT_IS_OF_SIZES) && axis < (uint32_t)result->type.rank; axis++)
        if (!is_seen || n->attributes[shape].terms[axis]->kind != TERM_INTEGER) {
            count_one(&an->size_numbers[classes_find(an, an->first_item[node] + result->first_variable + axis)]);
            an->has_numbers_of_sizes = true;
        }
}

static void count_sums(struct analysis *an, uint32_t node, expr e, int depth, struct sums *sums)
{
    const struct expr_node *n = &an->definitions[node]->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_READ:
        count_sums_of_tensor(an, node, (int)n->value, depth, sums);
        break;
    case EXPR_APPLY:
        count_sums_of_application(an, node, n, depth, sums);
        break;
    case EXPR_REDUCE:
        count_sums_of_reduction(an, node, n, depth, sums);
        break;
    case EXPR_SELECT:
        count_greater_sums(an, node, n->b, n->c, depth, sums);
        break;
    default:
        break;
    }
}

static void count_sums_of_term(struct analysis *an, term_id term, struct sums *sums)
{
    const struct term *t = &an->in->equation->pattern->terms.items[term];
    if (t->is_variable)
        return;
    const struct definition *d = an->definitions[t->index];
    count_sums_of_tensor(an, t->index, d->n_inputs + d->outputs[t->output], 0, sums);
}

static uint32_t sums_of_either_side(const struct sums *left, const struct sums *right, uint32_t class)
{
    uint32_t sums = 0;
    for (int depth = 0; depth <= MAX_DEPTH; depth++)
        sums += sums_of_either(left, right, depth, class);
    return sums;
}

// Labels that one counterexample can need, by class: axes of the output, and sums, those in the arguments of functions
// outside of the ring included.
void classes_count_labels(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        struct sums left = {0}, right = {0};
        uint8_t axes[MAX_ITEMS] = {0};
        memset(an->free_sums, 0, sizeof an->free_sums);
        memset(an->size_numbers, 0, sizeof an->size_numbers);
        count_sums_of_term(an, eq->left[i], &left);
        count_sums_of_term(an, eq->right[i], &right);
        int rank = typing_type(an->in->typing, instance_term_type(an->in, eq->left[i]))->rank;
        for (int axis = 0; axis < rank; axis++)
            axes[classes_find(an, classes_item_of_axis(an, eq->left[i], axis))]++;
        for (uint32_t c = 0; c < an->n_items; c++) {
            uint32_t sums = sums_of_either_side(&left, &right, c);
            uint32_t n = axes[c] + sums + an->free_sums[c] + an->size_numbers[c];
            if (an->free_sums[c] || an->size_numbers[c])
                classes_flag(an, c, HAS_COUNT);
            if (n > an->labels[c])
                an->labels[c] = at_most(n);
        }
    }
}

// A middle is one more, and may need another place to be in the middle.
int64_t classes_labels_of(struct analysis *an, uint32_t item)
{
    uint32_t class = classes_find(an, item);
    int64_t n = an->labels[class] > 1 ? an->labels[class] : 1;
    return an->class_flags[class] & HAS_MIDDLE ? n + 2 : n;
}
