// What has no value in a family, and what equations of sizes make of it.
#include "verifier/symbolic_proof/family.h"

// --- symbols ---------------------------------------------------------------------------------------------------------

static poly symbol_add(struct family *f, struct symbol s, int64_t least)
{
    if (f->polys->atoms.count >= MOST_SYMBOLS) {
        family_fails(f, "too many symbols");
        return POLY_ZERO;
    }
    atom x = atom_symbol(f->polys, least);
    for (; f->n_symbols <= x; f->n_symbols++) {
        f->values[f->n_symbols] = NO_POLY;
        f->symbols[f->n_symbols] = (struct symbol){.source = SYMBOL_NONE};
    }
    f->symbols[x] = s;
    return poly_of_atom(f->polys, x);
}

// Numbers that are tried in lanes: strides, pads and dilations stay well below kernels, and these below images.
static struct symbol symbol_of_role(enum attribute_role role, int64_t *ret_least)
{
    bool may_be_zero = role == ROLE_WINDOW_PADS || role == ROLE_PADS || role == ROLE_START || role == ROLE_PART_SIZES;
    *ret_least = may_be_zero ? 0 : 1;
    switch (role) {
    case ROLE_STRIDE:
    case ROLE_DILATION:
    case ROLE_GROUPS:
    case ROLE_MERGED_GROUPS:
        return (struct symbol){.low = 2, .high = 20};
    case ROLE_WINDOW_PADS:
        return (struct symbol){.low = 1, .high = 20, .far = 3000};
    case ROLE_KERNEL:
        return (struct symbol){.low = 21, .high = 61};
    default:
        return (struct symbol){.low = 2, .high = 60};
    }
}

enum attribute_role family_role_of_variable(const struct pattern *p, uint32_t variable)
{
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++)
            for (uint32_t j = 0; j < p->nodes.items[n].attributes[i].count; j++) {
                const struct attribute_term *t = p->nodes.items[n].attributes[i].terms[j];
                if (t->kind == TERM_VARIABLE && t->value == variable)
                    return p->nodes.items[n].op->attributes[i].role;
            }
    return ROLE_NONE;
}

static void add_sizes(struct family *f, uint32_t v)
{
    const struct type *type = f->example->types[v];
    for (int axis = 0; type && axis < type->rank; axis++) {
        bool may_be_spatial = type->rank >= 3 && axis >= 2;
        struct symbol s = {.source = SYMBOL_SIZE, .variable = v, .entry = (uint32_t)axis, .low = 5};
        s.high = may_be_spatial ? 0 : 100;   // 0: of an image, or of a kernel
        f->sizes[v][axis] = symbol_add(f, s, 1);
    }
}

static void add_attribute(struct family *f, uint32_t v, bool is_symbolic)
{
    const struct attribute_value *value = &f->example->attributes[v];
    enum attribute_role role = family_role_of_variable(f->equation->pattern, v);
    poly *items = arena_array(f->arena, poly, value->count + 1);
    int64_t least;
    for (uint32_t i = 0; i < value->count; i++) {
        struct symbol s = symbol_of_role(role, &least);
        s.source = SYMBOL_ATTRIBUTE;
        s.variable = v;
        s.entry = i;
        items[i] = is_symbolic ? symbol_add(f, s, least) : poly_const(f->polys, value->ints[i]);
    }
    f->attributes[v] = (struct list_of_polys){value->count, items};
}

poly family_quotient(struct family *f, const void *asked_by, uint32_t entry, poly dividend, poly divisor)
{
    for (uint32_t i = 0; i < f->n_symbols; i++)
        if (f->symbols[i].source == SYMBOL_QUOTIENT && f->symbols[i].asked_by == asked_by &&
            f->symbols[i].entry == entry)
            return f->values[i] == NO_POLY ? poly_of_atom(f->polys, i) : f->values[i];
    struct symbol s = {.source = SYMBOL_QUOTIENT, .entry = entry, .asked_by = asked_by, .low = 2, .high = 40};
    s.dividend = dividend;
    s.divisor = divisor;
    return symbol_add(f, s, INT64_MIN);
}

// --- equations of symbols --------------------------------------------------------------------------------------------

static int64_t largest_divisor(int64_t a, int64_t b)
{
    return b == 0 ? (a < 0 ? -a : a) : largest_divisor(b, a % b);
}

// Sizes are no less than 1, so that a factor of all monomials is none of an equation.
static poly without_common_factor(struct family *f, poly a)
{
    const struct poly_value v = f->polys->polys.items[a];
    poly quotient;
    int64_t divisor = 0;
    for (uint32_t i = 0; i < v.n; i++)
        divisor = largest_divisor(divisor, v.monomials[i].factor);
    if (divisor > 1 && poly_divide(f->polys, a, poly_const(f->polys, divisor), &quotient))
        return without_common_factor(f, quotient);
    for (uint32_t j = 0; v.n && j < v.monomials[0].n; j++) {
        atom x = v.monomials[0].atoms[j];
        bool is_positive = f->polys->atoms.items[x].least >= 1;
        if (is_positive && poly_divide(f->polys, a, poly_of_atom(f->polys, x), &quotient))
            return without_common_factor(f, quotient);
    }
    return a;
}

// The symbol's value if it stands alone in one monomial and nowhere else. False: it does not.
static bool solve_for(struct family *f, poly equation, const struct monomial *m, poly *ret_value, int *ret_minuses)
{
    if (m->n != 1 || (m->factor != 1 && m->factor != -1) || f->polys->atoms.items[m->atoms[0]].kind != ATOM_SYMBOL)
        return false;
    poly x = poly_of_atom(f->polys, m->atoms[0]);
    poly rest = poly_sub(f->polys, equation, poly_scale(f->polys, x, m->factor));
    if (poly_mentions(f->polys, rest, m->atoms[0]))
        return false;
    *ret_value = poly_scale(f->polys, rest, -m->factor);
    *ret_minuses = 0;
    for (uint32_t i = 0; i < f->polys->polys.items[*ret_value].n; i++)
        *ret_minuses += f->polys->polys.items[*ret_value].monomials[i].factor < 0;
    return true;
}

static void define_symbol(struct family *f, atom x, poly value)
{
    poly map[MOST_SYMBOLS];
    for (uint32_t i = 0; i < f->n_symbols; i++)
        map[i] = NO_POLY;
    map[x] = value;
    f->values[x] = value;
    for (uint32_t i = 0; i < f->n_symbols; i++)
        if (i != x && f->values[i] != NO_POLY)
            f->values[i] = poly_substitute(f->polys, f->values[i], map, f->n_symbols);
}

poly family_resolved(struct family *f, poly a)
{
    return poly_substitute(f->polys, a, f->values, f->n_symbols);
}

// A sum of numbers that are not negative is 0 where all are, and a product of positive integers is 1 where all are.
// False: the equation says nothing of the kind.
static bool solve_extreme(struct family *f, poly equation)
{
    const struct poly_value v = f->polys->polys.items[equation];
    bool is_sum = v.n > 0, is_product = v.n == 2 && v.monomials[0].n == 0 && v.monomials[1].n > 0 &&
                                        v.monomials[0].factor == -v.monomials[1].factor &&
                                        (v.monomials[1].factor == 1 || v.monomials[1].factor == -1);
    for (uint32_t i = 0; i < v.n; i++)
        is_sum = is_sum && v.monomials[i].n == 1 && v.monomials[i].factor * v.monomials[0].factor > 0 &&
                 f->polys->atoms.items[v.monomials[i].atoms[0]].least >= 0;
    for (uint32_t j = 0; is_product && j < v.monomials[1].n; j++)
        is_product = f->polys->atoms.items[v.monomials[1].atoms[j]].least >= 1;
    for (uint32_t i = 0; is_sum && i < v.n; i++)
        define_symbol(f, v.monomials[i].atoms[0], POLY_ZERO);
    for (uint32_t j = 0; is_product && j < v.monomials[1].n; j++)
        define_symbol(f, v.monomials[1].atoms[j], poly_const(f->polys, 1));
    return is_sum || is_product;
}

// The symbol that others are added up to, or multiplied, rather than one that is a difference: sizes are positive.
void family_equal(struct family *f, poly a, poly b)
{
    if (a == NO_POLY || b == NO_POLY)
        return;
    poly equation = without_common_factor(f, family_resolved(f, poly_sub(f->polys, a, b)));
    const struct poly_value v = f->polys->polys.items[equation];
    poly value, best_value = NO_POLY;
    atom best = 0;
    int minuses, fewest = INT32_MAX;
    if (equation == POLY_ZERO)
        return;
    vec_push(&f->equal_zero, equation);
    if (solve_extreme(f, equation)) {
        f->has_new_equations = true;
        return;
    }
    for (uint32_t i = 0; i < v.n; i++)
        if (solve_for(f, equation, &v.monomials[i], &value, &minuses) && minuses < fewest) {
            fewest = minuses;
            best = v.monomials[i].atoms[0];
            best_value = value;
        }
    if (best_value == NO_POLY) {
        f->has_unsolved = true;   // another one may solve it
        return;
    }
    define_symbol(f, best, best_value);
    f->has_new_equations = true;
}

static bool values_at(const struct family *f, const struct instance *in, int64_t *ret_values)
{
    int64_t a, b;
    for (uint32_t i = 0; i < f->n_symbols; i++) {
        const struct symbol *s = &f->symbols[i];
        if (s->source == SYMBOL_NONE)
            ret_values[i] = 0;
        else if (s->source == SYMBOL_SIZE)
            ret_values[i] = in->types[s->variable]->dim[s->entry];
        else if (s->source == SYMBOL_ATTRIBUTE)
            ret_values[i] = in->attributes[s->variable].ints[s->entry];
        else if (!poly_evaluate(f->polys, s->dividend, ret_values, &a) ||
                 !poly_evaluate(f->polys, s->divisor, ret_values, &b) || b == 0 || a % b != 0)
            return false;
        else
            ret_values[i] = a / b;
    }
    return true;
}

// Are the sizes of what the node makes there what they were found to be?
static bool sizes_are_so(const struct family *f, const struct instance *in, uint32_t node, const int64_t *values)
{
    const struct meaning *m = &f->meanings[node];
    for (int i = 0; i < m->definition->n_outputs; i++) {
        const struct type *type = typing_type(in->typing, in->calls[node]->outputs[i]);
        const poly *dims = m->dims[m->definition->outputs[i]];
        int64_t value;
        for (int axis = 0; axis < type->rank; axis++)
            if (dims[axis] != NO_POLY &&
                (!poly_evaluate(f->polys, dims[axis], values, &value) || value != type->dim[axis]))
                return false;
    }
    return true;
}

bool family_has(const struct family *f, const struct instance *in)
{
    int64_t values[MOST_SYMBOLS], value;
    if (!values_at(f, in, values))
        return false;
    for (size_t i = 0; i < f->equal_zero.count; i++)
        if (!poly_evaluate(f->polys, f->equal_zero.items[i], values, &value) || value != 0)
            return false;
    for (size_t i = 0; i < f->not_negative.count; i++)
        if (!poly_evaluate(f->polys, f->not_negative.items[i], values, &value) || value < 0)
            return false;
    for (uint32_t n = 0; n < f->equation->pattern->nodes.count; n++)
        if (!sizes_are_so(f, in, n, values))
            return false;
    return true;
}

void family_add_symbols(struct family *f, uint32_t is_symbolic)
{
    for (uint32_t v = 0; v < f->equation->pattern->n_variables; v++)
        add_sizes(f, v);
    for (uint32_t v = 0; v < f->equation->pattern->n_attribute_variables; v++)
        add_attribute(f, v, is_symbolic >> v & 1);
}
