// Vectors of values, one entry for each lane, are compared with those of combinations of known ones.
#include "verifier/symbolic_proof/recognize.h"

#include "operators/traits.h"
#include "verifier/symbolic_proof/lanes.h"
#include "verifier/symbolic_proof/symbols.h"
#include "verifier/symbolic_proof/typing_facts.h"

// --- what is known ---------------------------------------------------------------------------------------------------

static void add_known(struct family *f, struct known_integers *known, poly value)
{
    struct known_integer item = {.value = value};
    int64_t number;
    if (value == NO_POLY || poly_is_const(f->polys, value, &number))
        return;
    if (!vec_find(&known->items, k, k->value == value) &&
        ALL(int, l, LANES, poly_evaluate(f->polys, value, f->lanes[l].values, &item.lanes[l])))
        vec_push(&known->items, item);
}

static void add_symbols(struct family *f, struct known_integers *known, poly value)
{
    const struct poly_value v = f->polys->polys.items[value];
    for (uint32_t i = 0; i < v.n; i++)
        for (uint32_t j = 0; j < v.monomials[i].n; j++)
            add_known(f, known, poly_of_atom(f->polys, v.monomials[i].atoms[j]));
}

static void add_size_of_window(struct family *f, struct known_integers *known, uint32_t node, int axis, int n_axes)
{
    poly room = family_room_of_window(f, node, axis, n_axes), stride = family_entry_or(f, node, ROLE_STRIDE, axis, 1);
    add_known(f, known, poly_add(f->polys, poly_floor(f->polys, room, stride), poly_const(f->polys, 1)));
}

static poly plus_number(struct polys *p, poly value, int64_t number)
{
    return poly_add(p, value, poly_const(p, number));
}

static bool is_zero_by_typing(struct family *f, poly a)
{
    bool is_zero = false;
    for (size_t i = 0; i < f->symbols.equal_zero.count; i++) {
        poly known = family_resolved(f, f->symbols.equal_zero.items[i]);
        is_zero = is_zero || known == a || known == poly_scale(f->polys, a, -1);
    }
    return is_zero;
}

// Integers would be taken for what they are not where the lanes of one known integer, or of the difference of two, are
// one number that it is not at all sizes (a quotient of what is smaller than its divisor in all lanes).
static void must_be_told_apart(struct family *f, const struct known_integers *known)
{
    for (size_t i = 0; i < known->items.count; i++)
        for (size_t j = 0; j <= i; j++) {
            const struct known_integer *x = &known->items.items[i], *y = j < i ? &known->items.items[j] : NULL;
            poly difference = y ? poly_sub(f->polys, x->value, y->value) : x->value;
            bool is_one_number = true;
            int64_t number, first = x->lanes[0] - (y ? y->lanes[0] : 0);
            for (int l = 1; l < LANES; l++)
                is_one_number = is_one_number && x->lanes[l] - (y ? y->lanes[l] : 0) == first;
            if (is_one_number && !poly_is_const(f->polys, difference, &number) &&
                !is_zero_by_typing(f, plus_number(f->polys, difference, -first)))
                f->symbols.are_alike = !family_fails(f, "sizes that large numbers do not tell apart");
        }
}

struct known_integers known_integers_of_node(struct family *f, uint32_t node)
{
    const struct pattern_node *n = &f->equation->pattern->nodes.items[node];
    struct known_integers known = {0};
    for (uint32_t i = 0; i < n->n_inputs; i++)
        for (int a = 0; a < family_type(f, &f->lanes[0], n->inputs[i])->rank; a++)
            add_known(f, &known, family_size(f, n->inputs[i], a));
    for (int i = 0; i < operator_n_attributes(n->op); i++)
        for (uint32_t j = 0; j < f->meanings.of_node[node][i].n; j++)
            add_known(f, &known, f->meanings.of_node[node][i].items[j]);
    add_known(f, &known, f->meanings.cuts[node]);
    for (size_t i = 0, n_known = known.items.count; i < n_known; i++)
        add_symbols(f, &known, known.items.items[i].value);
    int rank = n->n_inputs ? family_type(f, &f->lanes[0], n->inputs[0])->rank : 0;
    for (int a = 0; operator_has_role(n->op, ROLE_GAPS) && a < rank; a++)
        add_known(f, &known,
                  poly_mul(f->polys, family_size(f, n->inputs[0], a), family_entry_or(f, node, ROLE_GAPS, a, 0)));
    for (int a = 0; operator_has_windows(n->op) && a < rank - 2; a++)
        add_size_of_window(f, &known, node, a, rank - 2);
    must_be_told_apart(f, &known);
    return known;
}

void known_integers_free(struct known_integers *known)
{
    vec_free(&known->items);
}

// --- combinations ----------------------------------------------------------------------------------------------------

static bool is_constant(const int64_t *lanes)
{
    return ALL(int, l, LANES, lanes[l] == lanes[0]);
}

#define LARGEST_FACTOR 64
// factor * known + number
static poly as_multiple(struct polys *p, poly known, const int64_t *of_known, const int64_t *lanes)
{
    int l = FIRST_OF(int, k, LANES, of_known[k] != of_known[0]);
    if (l == LANES || (lanes[l] - lanes[0]) % (of_known[l] - of_known[0]) != 0)
        return NO_POLY;
    int64_t factor = (lanes[l] - lanes[0]) / (of_known[l] - of_known[0]), rest[LANES];
    if (factor == 0 || factor < -LARGEST_FACTOR || factor > LARGEST_FACTOR)
        return NO_POLY;
    for (l = 0; l < LANES; l++)
        rest[l] = lanes[l] - factor * of_known[l];
    return is_constant(rest) ? plus_number(p, poly_scale(p, known, factor), rest[0]) : NO_POLY;
}

static poly recognize_alone(struct polys *p, const struct known_integers *known, const int64_t *lanes)
{
    poly found = NO_POLY;
    for (size_t i = 0; found == NO_POLY && i < known->items.count; i++)
        found = as_multiple(p, known->items.items[i].value, known->items.items[i].lanes, lanes);
    return found;
}

static bool half_of(const int64_t *lanes, int64_t *ret_lanes)
{
    for (int l = 0; l < LANES; l++)
        ret_lanes[l] = lanes[l] / 2 - (lanes[l] % 2 < 0);
    return true;
}

static poly recognize_pair(struct polys *p, const struct known_integer *x, const struct known_integer *y,
                           const int64_t *lanes)
{
    int64_t product[LANES], difference[LANES], half[LANES];
    bool is_quotient = true;
    for (int l = 0; l < LANES; l++) {
        product[l] = x->lanes[l] * y->lanes[l];
        difference[l] = x->lanes[l] - y->lanes[l];
        is_quotient = is_quotient && lanes[l] * y->lanes[l] == x->lanes[l];
    }
    poly quotient, found = as_multiple(p, poly_mul(p, x->value, y->value), product, lanes);
    if (found == NO_POLY && is_quotient && poly_divide(p, x->value, y->value, &quotient))
        return quotient;
    if (found == NO_POLY && x != y && half_of(difference, half)) {
        poly of_difference = poly_floor(p, poly_sub(p, x->value, y->value), poly_const(p, 2));
        found = as_multiple(p, of_difference, half, lanes);
    }
    return found;
}

static poly recognize_sum(struct polys *p, const struct known_integers *known, int depth, const int64_t *lanes);

// The lanes without x are recognized, and x added.
static poly without(struct polys *p, const struct known_integers *known, size_t i, int sign, int depth,
                    const int64_t *lanes)
{
    int64_t rest[LANES];
    for (int l = 0; l < LANES; l++)
        rest[l] = lanes[l] - sign * known->items.items[i].lanes[l];
    poly x = poly_scale(p, known->items.items[i].value, sign);
    return poly_add(p, recognize_sum(p, known, depth, rest), x);
}

static poly recognize_sum(struct polys *p, const struct known_integers *known, int depth, const int64_t *lanes)
{
    poly found = recognize_alone(p, known, lanes);
    for (size_t i = 0; depth > 1 && found == NO_POLY && i < known->items.count; i++) {
        found = without(p, known, i, 1, depth - 1, lanes);
        found = found == NO_POLY ? without(p, known, i, -1, depth - 1, lanes) : found;
    }
    return found;
}

static bool divide_lanes(const int64_t *lanes, const int64_t *by, int64_t *ret_rest)
{
    for (int l = 0; l < LANES; l++) {
        if (by[l] == 0 || lanes[l] % by[l] != 0)
            return false;
        ret_rest[l] = lanes[l] / by[l];
    }
    return true;
}

// A product of known ones from the `first` on, and of a pair of any.
static poly recognize_product(struct polys *p, const struct known_integers *known, size_t first, int depth,
                              const int64_t *lanes)
{
    poly found = NO_POLY;
    for (size_t j = 0; found == NO_POLY && j < known->items.count; j++)
        for (size_t k = j; found == NO_POLY && k < known->items.count; k++)
            found = recognize_pair(p, &known->items.items[j], &known->items.items[k], lanes);
    for (size_t i = first; depth > 0 && found == NO_POLY && i < known->items.count; i++) {
        int64_t rest[LANES];
        if (divide_lanes(lanes, known->items.items[i].lanes, rest) && !is_constant(known->items.items[i].lanes))
            found = poly_mul(p, recognize_product(p, known, i, depth - 1, rest), known->items.items[i].value);
    }
    return found;
}

poly recognize(struct polys *p, const struct known_integers *known, const int64_t *lanes)
{
    int64_t half[LANES];
    if (is_constant(lanes))
        return poly_const(p, lanes[0]);
    poly found = recognize_sum(p, known, 2, lanes);
    for (size_t i = 0; found == NO_POLY && i < known->items.count; i++) {
        const struct known_integer *x = &known->items.items[i];
        if (half_of(x->lanes, half))
            found = as_multiple(p, poly_floor(p, x->value, poly_const(p, 2)), half, lanes);
        for (size_t j = 0; found == NO_POLY && j < known->items.count; j++)
            found = recognize_pair(p, x, &known->items.items[j], lanes);
    }
    found = found == NO_POLY ? recognize_sum(p, known, 3, lanes) : found;
    return found == NO_POLY ? recognize_product(p, known, 0, MAX_RANK - 2, lanes) : found;
}
