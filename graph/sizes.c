// Sizes as functions of symbols: found by their values at the probes, and evaluated at bindings.
#include "graph/sizes.h"

#include "core/memory/arena.h"
#include <assert.h>
#include <string.h>

void sizes_add_symbol(struct sizes *s, const int64_t *at)
{
    assert(s->n_symbols < MAX_SYMBOLS && s->n_factors == s->n_symbols);
    for (int k = 0; k < N_PROBES; k++)
        s->probes[k][s->n_symbols] = at[k];
    struct size_factor *f = &s->factors[s->n_factors++];
    *f = (struct size_factor){0};
    f->weights[s->n_symbols++] = 1;
}

void sizes_free(struct sizes *s)
{
    vec_free(&s->noted);
}

// --- values ----------------------------------------------------------------------------------------------------------

static int64_t factor_at(const struct sizes *s, uint32_t factor, const int64_t *binding)
{
    int64_t sum = s->factors[factor].constant;
    for (uint32_t i = 0; i < s->n_symbols; i++)
        sum += s->factors[factor].weights[i] * binding[i];
    return sum;
}

int64_t sizes_form_at(const struct sizes *s, const struct size_form *form, const int64_t *binding)
{
    int64_t product = form->constant;
    for (uint32_t i = 0; i < s->n_factors; i++)
        for (int j = 0; j < form->powers[i]; j++)
            if (__builtin_mul_overflow(product, factor_at(s, i, binding), &product))
                return -1;
    return product < 0 || product > MAX_ELEMENTS ? -1 : product;
}

// A sum that is below two at the first probe divides everything, and is no factor.
struct size_form sizes_form_of(const struct sizes *s, int64_t number)
{
    struct size_form form = {.constant = number};
    for (uint32_t i = 0; number > 0 && i < s->n_factors; i++) {
        int64_t f = factor_at(s, i, s->probes[0]);
        while (f > 1 && form.constant % f == 0 && form.powers[i] < UINT8_MAX) {
            form.constant /= f;
            form.powers[i]++;
        }
    }
    return form;
}

bool sizes_varies(const struct sizes *s, int64_t number)
{
    return sizes_form_of(s, number).constant != number;
}

bool sizes_type_varies(const struct sizes *s, const struct type *t)
{
    for (int i = 0; i < t->rank; i++)
        if (sizes_varies(s, t->dim[i]))
            return true;
    return false;
}

bool sizes_depends(const struct sizes *s, int64_t number, uint32_t symbol)
{
    struct size_form form = sizes_form_of(s, number);
    for (uint32_t i = 0; i < s->n_factors; i++)
        if (form.powers[i] && s->factors[i].weights[symbol])
            return true;
    return false;
}

int64_t sizes_at(const struct sizes *s, int64_t number, const int64_t *binding)
{
    struct size_form form = sizes_form_of(s, number);
    return form.constant == number ? number : sizes_form_at(s, &form, binding);
}

struct type sizes_type_at(const struct sizes *s, const struct type *t, const int64_t *binding)
{
    struct type type = *t;
    for (int i = 0; i < t->rank; i++) {
        type.dim[i] = sizes_at(s, t->dim[i], binding);
        type.split[i] = NULL;
    }
    return type;
}

// --- fitting ---------------------------------------------------------------------------------------------------------

static bool has_values(const struct sizes *s, const struct size_form *form, const int64_t *at)
{
    for (int k = 0; k < N_PROBES; k++)
        if (sizes_form_at(s, form, s->probes[k]) != at[k])
            return false;
    return true;
}

static bool is_sum(const struct sizes *s, const struct size_factor *f, const int64_t *at)
{
    for (int k = 0; k < N_PROBES; k++) {
        int64_t sum = f->constant;
        for (uint32_t i = 0; i < s->n_symbols; i++)
            sum += f->weights[i] * s->probes[k][i];
        if (sum != at[k])
            return false;
    }
    return true;
}

// The sum of one symbol, two of them (i and j), and a number, by its values at the first probes.
static bool solve_sum(const struct sizes *s, uint32_t i, uint32_t j, const int64_t *at, struct size_factor *ret_sum)
{
    const int64_t(*p)[MAX_SYMBOLS] = s->probes;
    int64_t a = p[1][i] - p[0][i], b = i == j ? 0 : p[1][j] - p[0][j], x = at[1] - at[0];
    int64_t c = p[2][i] - p[0][i], d = i == j ? 1 : p[2][j] - p[0][j], y = i == j ? 0 : at[2] - at[0];
    c = i == j ? 0 : c;
    int64_t determinant = a * d - b * c;
    if (determinant == 0 || (x * d - b * y) % determinant || (a * y - x * c) % determinant)
        return false;
    *ret_sum = (struct size_factor){0};
    ret_sum->weights[i] = (x * d - b * y) / determinant;
    ret_sum->weights[j] += i == j ? 0 : (a * y - x * c) / determinant;
    ret_sum->constant = at[0] - ret_sum->weights[i] * p[0][i] - (i == j ? 0 : ret_sum->weights[j] * p[0][j]);
    return is_sum(s, ret_sum, at);
}

static int64_t greatest_common_divisor(int64_t x, int64_t y)
{
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x < 0 ? -x : x;
}

// What the summands have in common is a factor of its own.
static bool add_sum(struct sizes *s, struct size_factor sum, struct size_form *ret_form)
{
    int64_t common = sum.constant;
    for (uint32_t i = 0; i < s->n_symbols; i++)
        common = greatest_common_divisor(common, sum.weights[i]);
    if (s->n_factors == MAX_FACTORS)
        return false;
    sum.constant /= common;
    for (uint32_t i = 0; i < s->n_symbols; i++)
        sum.weights[i] /= common;
    *ret_form = (struct size_form){.constant = common};
    ret_form->powers[s->n_factors] = 1;
    s->factors[s->n_factors++] = sum;
    return true;
}

static bool fit_sum(struct sizes *s, const int64_t *at, struct size_form *ret_form)
{
    struct size_factor sum;
    for (int64_t k = 0; k < N_PROBES; k++)
        if (at[k] < 0 || at[k] > INT32_MAX)
            return false;
    for (uint32_t distance = 0; distance < s->n_symbols; distance++)
        for (uint32_t i = 0; i + distance < s->n_symbols; i++)
            if (solve_sum(s, i, i + distance, at, &sum))
                return add_sum(s, sum, ret_form);
    return false;
}

static bool find_form(struct sizes *s, const int64_t *at, struct size_form *ret_form)
{
    struct size_form constant = {.constant = at[0]}, product = sizes_form_of(s, at[0]);
    bool is_constant = true;
    for (int k = 1; k < N_PROBES; k++)
        is_constant = is_constant && at[k] == at[0];
    *ret_form = is_constant ? constant : product;
    return is_constant || has_values(s, &product, at) || fit_sum(s, at, ret_form);
}

bool sizes_fit(struct sizes *s, const int64_t *at, struct size_form *ret_form)
{
    struct noted_size size;
    memcpy(size.at, at, sizeof size.at);
    if (!find_form(s, at, ret_form))
        return false;
    for (size_t i = 0; i < s->noted.count; i++)
        if (memcmp(&s->noted.items[i], &size, sizeof size) == 0)
            return true;
    vec_push(&s->noted, size);
    return true;
}

bool sizes_are_told_apart(const struct sizes *s)
{
    for (size_t i = 0; i < s->noted.count; i++) {
        const int64_t *at = s->noted.items[i].at;
        for (int k = 0; k < N_PROBES; k++)
            if (sizes_at(s, at[0], s->probes[k]) != at[k])
                return false;
    }
    return true;
}

// --- graphs at a binding ---------------------------------------------------------------------------------------------

bool sizes_role_varies(const struct operator* op, int attribute)
{
    enum attribute_role role = op->attributes[attribute].role;
    return role == ROLE_SHAPE || role == ROLE_PART_SIZES || role == ROLE_SIZE;
}

static bool attributes_at(const struct sizes *s, const int64_t *binding, const struct node *n, struct arena *arena,
                          struct attribute_value *ret_values)
{
    for (int i = 0; i < operator_n_attributes(n->op); i++) {
        ret_values[i] = n->attributes[i];
        if (!sizes_role_varies(n->op, i) || n->attributes[i].count == 0)
            continue;
        int64_t *ints = arena_array(arena, int64_t, n->attributes[i].count);
        for (uint32_t j = 0; j < n->attributes[i].count; j++) {
            ints[j] = sizes_at(s, n->attributes[i].ints[j], binding);
            if (ints[j] < 0)
                return false;
        }
        ret_values[i].ints = ints;
    }
    return true;
}

static bool are_allowed(const struct type *types, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (type_is_known(&types[i]) && !type_has_allowed_size(&types[i]))
            return false;
    return true;
}

static bool add_untyped(const struct sizes *s, const int64_t *binding, struct graph *g, const struct graph *from,
                        node_id node, const tensor_id *inputs, node_id *ret_node)
{
    const struct node *n = &from->nodes.items[node];
    struct type *types = arena_array(g->arena, struct type, n->n_outputs + 1);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        types[i] = sizes_type_at(s, graph_type(from, n->first_output + i), binding);
    if (!are_allowed(types, n->n_outputs))
        return false;
    if (n->op->flags & OPERATOR_IS_LEAF) {
        tensor_id leaf = graph_add_leaf(g, n->op, n->attributes[0].ints[0], types);
        *ret_node = g->tensors.items[leaf].producer;
    } else {
        *ret_node = graph_add_opaque(g, n->attributes[0].ints[0], n->n_inputs, inputs, n->n_outputs, types);
    }
    return true;
}

bool sizes_add_node(const struct sizes *s, const int64_t *binding, struct graph *g, const struct graph *from,
                    node_id node, const tensor_id *inputs, node_id *ret_node)
{
    const struct node *n = &from->nodes.items[node];
    struct attribute_value values[MAX_ATTRIBUTES];
    if (!n->op->define)
        return add_untyped(s, binding, g, from, node, inputs, ret_node);
    return attributes_at(s, binding, n, g->arena, values) && graph_add(g, n->op, values, n->n_inputs, inputs, ret_node);
}
