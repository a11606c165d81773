// What small numbers do not tell apart, looked for in the text of both sides (T2, T3; bounds.md, 2.1 and 2.5).
#include "verifier/bounds/unhandled.h"

#include "core/memory/arena.h"
#include "operators/traits.h"
#include "verifier/instances/size_ranges.h"
#include <string.h>

bool attribute_term_mentions_sizes(const struct attribute_term *t)
{
    bool mentions = t->kind == TERM_DIM || t->kind == TERM_DIMS;
    for (uint32_t i = 0; i < t->count && !mentions; i++)
        mentions = attribute_term_mentions_sizes(t->operands[i]);
    return mentions;
}

static bool is_open(const struct attribute_term *t)
{
    return attribute_term_mentions_sizes(t) || attribute_variables_of_term(t) != 0;
}

// --- degrees ---------------------------------------------------------------------------------------------------------

// What a term is a polynomial of: attribute variables, and the sizes of each tensor, axis by axis where a number names
// the axis. Polynomials of degree 1 in each are known by two values of each.
#define AXES_OF_TENSOR (MAX_RANK + 1)
#define INDETERMINATES (MAX_RULE_VARIABLES * (1 + AXES_OF_TENSOR))
#define NO_POLYNOMIAL 100
struct degrees {
    uint8_t of[INDETERMINATES];
};

static uint32_t indeterminate_of_size(const struct attribute_term *t)
{
    bool is_of_axis = t->kind == TERM_DIM && t->operands[0]->kind == TERM_INTEGER && t->operands[0]->value >= 0 &&
                      t->operands[0]->value < MAX_RANK;
    int64_t axis = is_of_axis ? t->operands[0]->value : MAX_RANK;
    return (uint32_t)(MAX_RULE_VARIABLES + t->value * AXES_OF_TENSOR + axis);
}

static void raise_degrees(struct degrees *d, const struct degrees *other, bool is_product)
{
    for (int i = 0; i < INDETERMINATES; i++) {
        int degree = is_product ? d->of[i] + other->of[i] : d->of[i] > other->of[i] ? d->of[i] : other->of[i];
        d->of[i] = (uint8_t)(degree > NO_POLYNOMIAL ? NO_POLYNOMIAL : degree);
    }
}

// Places and counts: which entries are taken, which is nothing that a polynomial says.
static int counting_operand(const struct attribute_term *t)
{
    bool is_first = t->kind == TERM_TAKE || t->kind == TERM_DROP || t->kind == TERM_REPEAT || t->kind == TERM_IOTA;
    return is_first ? 0 : t->kind == TERM_AT ? 1 : -1;
}

static bool is_integer(const struct attribute_term *t, int64_t value)
{
    return t->kind == TERM_INTEGER && t->value == value;
}

// Channels of images or kernels, or sums of them, which concatenations have.
static bool is_sum_of_channels(const struct attribute_term *t)
{
    if (t->kind == TERM_ADD)
        return is_sum_of_channels(t->operands[0]) && is_sum_of_channels(t->operands[1]);
    return t->kind == TERM_DIM && is_integer(t->operands[0], 1);
}

bool attribute_is_number_of_groups(const struct pattern_node *node, int attribute, const struct attribute_term *t)
{
    return operator_convolves(node->op) && attribute == operator_find_role(node->op, ROLE_GROUPS) &&
           t->kind == TERM_DIV && is_sum_of_channels(t->operands[0]) && is_sum_of_channels(t->operands[1]);
}

// Does the term depend on sizes, or on attributes of which not all values are tried? How long an attribute is does not.
static bool is_counted_openly(const struct attribute_term *t, uint32_t complete)
{
    if (t->kind == TERM_LENGTH && t->operands[0]->kind == TERM_VARIABLE)
        return false;
    bool is_counted =
        t->kind == TERM_DIM || t->kind == TERM_DIMS || (t->kind == TERM_VARIABLE && !(complete >> t->value & 1));
    for (uint32_t i = 0; i < t->count && !is_counted; i++)
        is_counted = is_counted_openly(t->operands[i], complete);
    return is_counted;
}

static bool counts_openly(const struct attribute_term *t, uint32_t complete)
{
    int counts = counting_operand(t);
    return counts >= 0 && is_counted_openly(t->operands[counts], complete);
}

// Is how many entries the term has a number that something else counts?
static bool is_long_as_counted(const struct attribute_term *t, uint32_t complete)
{
    bool is_counted = counts_openly(t, complete);
    for (uint32_t i = 0; i < t->count && t->kind != TERM_DIM && !is_counted; i++)
        is_counted = is_long_as_counted(t->operands[i], complete);
    return is_counted;
}

static struct degrees no_polynomial(void)
{
    struct degrees d;
    memset(d.of, NO_POLYNOMIAL, sizeof d.of);
    return d;
}

static struct degrees degrees_of_term(const struct attribute_term *t, uint32_t complete)
{
    struct degrees d = {0};
    bool is_product = t->kind == TERM_MUL || t->kind == TERM_PRODUCT;
    if (t->kind == TERM_VARIABLE)
        d.of[t->value] = 1;
    if (t->kind == TERM_DIM || t->kind == TERM_DIMS)
        d.of[indeterminate_of_size(t)] = 1;
    if (t->kind == TERM_DIM)
        return is_counted_openly(t->operands[0], complete) ? no_polynomial() : d;
    if (t->kind == TERM_LENGTH)
        return is_long_as_counted(t->operands[0], complete) ? no_polynomial() : d;
    const struct attribute_term *factors = t->kind == TERM_PRODUCT ? t->operands[0] : t;
    is_product = is_product && (t->kind == TERM_MUL || factors->kind == TERM_LIST);
    for (uint32_t i = 0; i < factors->count; i++) {
        struct degrees of_operand = degrees_of_term(factors->operands[i], complete);
        raise_degrees(&d, &of_operand, is_product);
    }
    if (t->kind == TERM_PRODUCT && (factors->kind == TERM_VARIABLE || factors->kind == TERM_DIMS))
        d = degrees_of_term(factors, complete);
    bool divides_openly = t->kind == TERM_DIV && (t->operands[1]->kind != TERM_INTEGER || t->operands[1]->value > 2);
    bool repeats_factors = t->kind == TERM_PRODUCT && factors->kind == TERM_REPEAT && is_open(factors);
    bool has_none = counts_openly(t, complete) || repeats_factors || (divides_openly && is_open(t));
    return has_none ? no_polynomial() : d;
}

static bool is_of_degree_one(const struct attribute_term *t, uint32_t complete)
{
    struct degrees d = degrees_of_term(t, complete);
    for (int i = 0; i < INDETERMINATES; i++)
        if (d.of[i] > 1)
            return false;
    return true;
}

// Attribute variables all of whose values are tried.
static uint32_t complete_variables(const struct equation *eq, int max_rank)
{
    struct arena a;
    uint32_t complete = 0;
    arena_init(&a);
    for (uint32_t v = 0; v < eq->pattern->n_attribute_variables; v++) {
        complete |= domain_of_variable(eq->pattern, v, max_rank, DOMAIN_SOME, &a).is_whole_range ? 1u << v : 0;
    }
    arena_free(&a);
    return complete;
}

static bool has_attributes_of_degree_one(const struct pattern *p, uint32_t complete)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++)
            for (uint32_t j = 0; j < p->nodes.items[n].attributes[i].count; j++) {
                const struct attribute_term *t = p->nodes.items[n].attributes[i].terms[j];
                if (!attribute_is_number_of_groups(&p->nodes.items[n], i, t) && !is_of_degree_one(t, complete))
                    return false;
            }
    return true;
}

// --- conditions ------------------------------------------------------------------------------------------------------

static bool is_arithmetic(enum attribute_term_kind kind)
{
    return kind == TERM_ADD || kind == TERM_SUB || kind == TERM_MUL || kind == TERM_DIV || kind == TERM_SUM ||
           kind == TERM_PRODUCT;
}

static bool computes_with_sizes(const struct attribute_term *t)
{
    bool computes = is_arithmetic(t->kind) && attribute_term_mentions_sizes(t);
    for (uint32_t i = 0; i < t->count && t->kind != TERM_DIM && !computes; i++)
        computes = computes_with_sizes(t->operands[i]);
    return computes;
}

static bool multiplies(const struct attribute_term *t)
{
    bool is_product = t->kind == TERM_MUL || t->kind == TERM_DIV || t->kind == TERM_PRODUCT;
    if (is_product && is_open(t))
        return true;
    for (uint32_t i = 0; i < t->count; i++)
        if (multiplies(t->operands[i]))
            return true;
    return false;
}

static int count_variable(const struct attribute_term *t, int64_t variable)
{
    int n = t->kind == TERM_VARIABLE && t->value == variable;
    for (uint32_t i = 0; i < t->count; i++)
        n += count_variable(t->operands[i], variable);
    return n;
}

// A sum may say a variable several times, which multiplies it.
static bool sums_a_variable_twice(const struct condition *c)
{
    bool computes = is_arithmetic(c->a->kind) || is_arithmetic(c->b->kind);
    for (int64_t v = 0; v < MAX_RULE_VARIABLES && computes; v++)
        if (count_variable(c->a, v) + count_variable(c->b, v) > 1)
            return true;
    return false;
}

// (= (product ...) 1), which says that all are 1.
static bool is_product_of_ones(const struct condition *c)
{
    return c->kind == CONDITION_EQUAL && c->a->kind == TERM_PRODUCT && is_integer(c->b, 1) &&
           (c->a->operands[0]->kind == TERM_VARIABLE || c->a->operands[0]->kind == TERM_DIMS);
}

// (= (sum ...) 0), of what is not negative.
static bool is_sum_of_zeros(const struct condition *c)
{
    return c->kind == CONDITION_EQUAL && c->a->kind == TERM_SUM && c->a->operands[0]->kind == TERM_VARIABLE &&
           is_integer(c->b, 0);
}

bool condition_is_of_equal_entries(const struct condition *c)
{
    return is_product_of_ones(c) || is_sum_of_zeros(c);
}

static bool has_only_numbers(const struct attribute_term *t)
{
    return !is_open(t);
}

// Sizes may be equal to one another and compared with numbers: other comparisons tie sizes in ways that reducing them
// label by label does not keep.
static bool is_plain_about_sizes(const struct condition *c)
{
    if (computes_with_sizes(c->a) || computes_with_sizes(c->b))
        return false;
    if (c->kind == CONDITION_EQUAL)
        return true;
    return (c->kind == CONDITION_LESS || c->kind == CONDITION_LESS_EQUAL) &&
           (has_only_numbers(c->a) || has_only_numbers(c->b));
}

// (divides 2 $g): both remainders are among the values tried, and two that are even.
static bool is_parity_of_variable(const struct condition *c)
{
    return c->kind == CONDITION_DIVIDES && is_integer(c->a, 2) && c->b->kind == TERM_VARIABLE;
}

// Attribute variables whose values, and not only how many there are, the term depends on, of those not all values are
// tried of.
static uint32_t open_variables(const struct attribute_term *t, uint32_t complete)
{
    uint32_t variables = t->kind == TERM_VARIABLE ? 1u << t->value : 0;
    for (uint32_t i = 0; i < t->count && t->kind != TERM_LENGTH; i++)
        variables |= open_variables(t->operands[i], complete);
    return variables & ~complete;
}

static bool has_arithmetic(const struct attribute_term *t)
{
    bool computes = is_arithmetic(t->kind);
    for (uint32_t i = 0; i < t->count && !computes; i++)
        computes = has_arithmetic(t->operands[i]);
    return computes;
}

// All that is asked of attributes whose values have no end is that they be equal to one another, or to a number: what
// is excluded, or compared by order, may leave out what is tried. Windows that are tied to sizes have few of both.
static bool is_plain_about_attributes(const struct condition *c, uint32_t of_windows, uint32_t complete)
{
    uint32_t variables = open_variables(c->a, complete) | open_variables(c->b, complete);
    bool mentions_sizes = attribute_term_mentions_sizes(c->a) || attribute_term_mentions_sizes(c->b);
    return variables == 0 || (c->kind == CONDITION_EQUAL && !has_arithmetic(c->a) && !has_arithmetic(c->b) &&
                              !(mentions_sizes && (variables & of_windows)));
}

static bool is_plain(const struct condition *c, uint32_t of_windows, uint32_t complete)
{
    if (condition_is_of_variable(c->kind) || condition_is_of_equal_entries(c))
        return true;
    bool mentions_sizes = attribute_term_mentions_sizes(c->a) || attribute_term_mentions_sizes(c->b);
    if (c->kind == CONDITION_DIVIDES)
        return !is_open(c->a) && (!is_open(c->b) || is_parity_of_variable(c));
    return !multiplies(c->a) && !multiplies(c->b) && !sums_a_variable_twice(c) && is_of_degree_one(c->a, complete) &&
           is_of_degree_one(c->b, complete) && is_plain_about_attributes(c, of_windows, complete) &&
           (!mentions_sizes || is_plain_about_sizes(c));
}

// One size compared with a number, all entries of an attribute 1, or all 0: what is asked of one axis is asked of it
// whatever the others are.
static bool is_of_each_axis(const struct condition *c)
{
    bool is_of_size = c->a->kind == TERM_DIM && c->a->operands[0]->kind == TERM_INTEGER && has_only_numbers(c->b);
    return is_of_size || condition_is_of_equal_entries(c);
}

uint32_t pattern_variables_of_windows(const struct pattern *p)
{
    static const enum attribute_role roles[] = {ROLE_STRIDE, ROLE_WINDOW_PADS, ROLE_DILATION, ROLE_KERNEL};
    uint32_t variables = 0;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
            variables |= attribute_variables_of_role(&p->nodes.items[n], roles[i]);
    return variables;
}

static uint32_t variables_of_condition(const struct condition *c)
{
    return condition_is_of_variable(c->kind) ? 0
                                             : attribute_variables_of_term(c->a) | attribute_variables_of_term(c->b);
}

bool equation_has_conditions_on_windows(const struct equation *eq)
{
    uint32_t variables = 0;
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        variables |= variables_of_condition(&eq->conditions[i]);
    return (variables & pattern_variables_of_windows(eq->pattern)) != 0;
}

bool equation_ties_axes(const struct equation *eq)
{
    uint32_t of_windows = pattern_variables_of_windows(eq->pattern);
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        const struct condition *c = &eq->conditions[i];
        if (condition_is_of_variable(c->kind) || is_of_each_axis(c))
            continue;
        if (attribute_term_mentions_sizes(c->a) || attribute_term_mentions_sizes(c->b) ||
            (variables_of_condition(c) & of_windows))
            return true;
    }
    return false;
}

// Where a slice begins, and what a padding adds, are numbers that say which positions are which.
static bool has_numbered_positions(const struct pattern *p)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        if (operator_has_role(p->nodes.items[n].op, ROLE_START) || operator_has_role(p->nodes.items[n].op, ROLE_PADS))
            return true;
    return false;
}

const char *equation_find_doubt(const struct equation *eq, int max_rank)
{
    uint32_t complete = complete_variables(eq, max_rank), of_windows = pattern_variables_of_windows(eq->pattern);
    if (!has_attributes_of_degree_one(eq->pattern, complete))
        return "an attribute is no sum of products of different sizes and attributes";
    if (has_numbered_positions(eq->pattern))
        return "positions of slices and paddings are numbers, which are tried up to small ones";
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (!is_plain(&eq->conditions[i], of_windows, complete))
            return "a condition ties sizes or attributes in a way that small ones do not show";
    return NULL;
}

// --- reads -----------------------------------------------------------------------------------------------------------

static bool term_reads_twice(const struct pattern *p, term_id term, uint8_t reads[][MAX_RULE_VARIABLES])
{
    const struct term *t = &p->terms.items[term];
    for (uint32_t v = 0; !t->is_variable && v < p->n_variables; v++)
        if (reads[t->index][v] > 1)
            return true;
    return false;
}

static void count_reads(const struct pattern *p, uint8_t reads[][MAX_RULE_VARIABLES])
{
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (uint32_t i = 0; i < p->nodes.items[n].n_inputs; i++) {
            const struct term *t = &p->terms.items[p->nodes.items[n].inputs[i]];
            for (uint32_t v = 0; v < p->n_variables; v++) {
                int more = t->is_variable ? t->index == v : reads[t->index][v];
                reads[n][v] = (uint8_t)(reads[n][v] + more > 2 ? 2 : reads[n][v] + more);
            }
        }
}

// Are numbers computed of constants alone? They may be 0 at some sizes and not at others.
static bool computes_with_constants(const struct pattern *p)
{
    bool has_variables[MAX_RULE_NODES] = {false};
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        for (uint32_t i = 0; i < p->nodes.items[n].n_inputs; i++) {
            const struct term *t = &p->terms.items[p->nodes.items[n].inputs[i]];
            has_variables[n] = has_variables[n] || t->is_variable || has_variables[t->index];
        }
        if (!has_variables[n] && !operator_adds_nothing(p->nodes.items[n].op))
            return true;
    }
    return false;
}

// What is asked of a node and of all that it is made of.
static bool is_met_below(const struct pattern *p, uint32_t node, bool (*asks)(const struct pattern_node *n))
{
    node_set below = 0;
    for (uint32_t i = 0; i < p->nodes.items[node].n_inputs; i++)
        below |= equation_nodes_of_term(p, p->nodes.items[node].inputs[i]);
    for (uint32_t n = 0; n < p->nodes.count; n++)
        if ((below >> n & 1) && asks(&p->nodes.items[n]))
            return true;
    return false;
}

static bool may_be_zero_beside_images(const struct pattern_node *n)
{
    const struct attribute_pattern *pads = pattern_node_attribute(n, ROLE_WINDOW_PADS);
    bool has_pads = false;
    for (uint32_t j = 0; operator_convolves(n->op) && j < pads->count; j++)
        has_pads = has_pads || !is_integer(pads->terms[j], 0);
    return has_pads || operator_enlarges(n->op) || operator_has_role(n->op, ROLE_PADS);
}

static bool adds(const struct pattern_node *n)
{
    return operator_adds(n->op);
}

static bool may_activate(const struct pattern_node *n)
{
    const struct attribute_pattern *act = pattern_node_attribute(n, ROLE_ACTIVATION);
    return act->count && !is_integer(act->terms[0], 0);
}

static bool is_linear(const struct pattern_node *n)
{
    return operator_has(n->op, TRAIT_POLYNOMIAL) && !may_activate(n);
}

// A function of 0 that is 0: what it is of may be 0 where either axis is beside the image, but not be something else
// there.
static bool keeps_zeros(const struct pattern *p, uint32_t node)
{
    const struct pattern_node *n = &p->nodes.items[node];
    bool is_function =
        operator_has(n->op, TRAIT_POLYNOMIAL) || (operator_works_entry_by_entry(n->op) && n->n_inputs == 1);
    bool has_zero = is_function && (operator_traits[n->op->id].activated & TRAIT_KEEPS_ZERO);
    return has_zero && !adds(n) && !is_met_below(p, node, adds);
}

// Does something go along axes, whatever it is?
static bool is_read_along_axes(const struct pattern *p, uint32_t node)
{
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        node_set below = 0;
        for (uint32_t i = 0; i < p->nodes.items[n].n_inputs; i++)
            below |= equation_nodes_of_term(p, p->nodes.items[n].inputs[i]);
        if ((below >> node & 1) && !operator_works_entry_by_entry(p->nodes.items[n].op))
            return true;
    }
    return false;
}

// Is 0, which is read where either axis is beside the image, one of several of which there is a maximum, or what a
// function makes something else of? That is no product of what each axis contributes.
static bool has_zeros_among_others(const struct pattern *p)
{
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        const struct pattern_node *node = &p->nodes.items[n];
        if (is_linear(node) || !is_met_below(p, n, may_be_zero_beside_images) || keeps_zeros(p, n))
            continue;
        if (!operator_works_entry_by_entry(node->op) || is_read_along_axes(p, n))
            return true;
    }
    return false;
}

bool equation_is_no_product(const struct equation *eq)
{
    uint8_t reads[MAX_RULE_NODES][MAX_RULE_VARIABLES] = {{0}};
    count_reads(eq->pattern, reads);
    for (uint32_t i = 0; i < eq->n_pairs; i++)
        if (term_reads_twice(eq->pattern, eq->left[i], reads) || term_reads_twice(eq->pattern, eq->right[i], reads))
            return true;
    return computes_with_constants(eq->pattern) || has_zeros_among_others(eq->pattern);
}
