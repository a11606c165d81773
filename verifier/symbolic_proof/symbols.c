// Symbols, which have no value in a family, and what equations of sizes make of them.
#include "verifier/symbolic_proof/symbols.h"

#include "core/numbers/integers.h"
#include "operators/traits.h"
#include <assert.h>

// --- symbols ---------------------------------------------------------------------------------------------------------

static poly symbol_add(struct family *f, struct symbol s, int64_t least)
{
    if (f->polys->atoms.count >= MOST_SYMBOLS) {
        family_fails(f, "too many symbols");
        return POLY_ZERO;
    }
    atom x = atom_symbol(f->polys, least);
    for (; f->symbols.n <= x; f->symbols.n++) {
        f->symbols.values[f->symbols.n] = NO_POLY;
        f->symbols.items[f->symbols.n] = (struct symbol){0};
    }
    f->symbols.items[x] = s;
    f->symbols.items[x].is_one = true;
    return poly_of_atom(f->polys, x);
}

#define MANY_AXES 6   // of tensors
// Numbers that are tried in lanes, with few axes and with many: strides, pads and dilations stay well below kernels,
// and these below images. With many axes all are smaller, as no tensor has more than MAX_ELEMENTS entries.
static const struct symbol symbols_of_roles[][2] = {
    [ROLE_STEP] = {{.low = 2, .high = 9}, {.low = 2, .high = 4}},
    [ROLE_START] = {{.low = 2, .high = 40}, {.low = 2, .high = 9}},
    [ROLE_SIZE] = {{.low = 2, .high = 40}, {.low = 2, .high = 9}},
    [ROLE_GAPS] = {{.low = 2, .high = 40}, {.low = 2, .high = 9}},
    [ROLE_PADS] = {{.low = 2, .high = 40}, {.low = 2, .high = 9}},
    [ROLE_STRIDE] = {{.low = 2, .high = 20}, {.low = 2, .high = 4}},
    [ROLE_DILATION] = {{.low = 2, .high = 20}, {.low = 2, .high = 4}},
    [ROLE_GROUPS] = {{.low = 2, .high = 20}, {.low = 2, .high = 20}},
    [ROLE_MERGED_GROUPS] = {{.low = 2, .high = 20}, {.low = 2, .high = 20}},
    [ROLE_WINDOW_PADS] = {{.low = 1, .high = 20, .far = 3000}, {.low = 1, .high = 4}},
    [ROLE_KERNEL] = {{.low = 21, .high = 61}, {.low = 5, .high = 9}},
    [ROLE_SHAPE] = {{.low = 2, .high = 60}, {.low = 2, .high = 30}},
    [ROLE_PART_SIZES] = {{.low = 2, .high = 60}, {.low = 2, .high = 30}},
};

static bool has_windows(const struct pattern *p)
{
    return ANY(uint32_t, n, p->nodes.count,
               operator_has_role(p->nodes.items[n].op, ROLE_KERNEL) || operator_has_windows(p->nodes.items[n].op));
}

// An axis may be of an image or of a kernel.
static struct symbol symbol_of_size(const struct family *f, uint32_t variable, int rank, int axis)
{
    bool may_be_spatial = has_windows(f->equation->pattern) && rank >= 3 && axis >= 2;
    if (rank < MANY_AXES)
        return may_be_spatial ? (struct symbol){.low = 21, .high = 61, .of_image = 2500, .n_of_image = 1000}
                              : (struct symbol){.low = 5, .high = 100};
    return may_be_spatial ? (struct symbol){.low = 5, .high = 9, .of_image = 70, .n_of_image = 30, .coin = 1 + variable}
                          : (struct symbol){.low = 5, .high = has_windows(f->equation->pattern) ? 9 : 30};
}

void family_add_sizes(struct family *f, uint32_t variable)
{
    const struct type *type = f->outline.types[variable];
    for (int axis = 0; axis < type->rank; axis++)
        f->meanings.sizes[variable][axis] = symbol_add(f, symbol_of_size(f, variable, type->rank, axis), 1);
}

static bool is_positive_list(const struct attribute_term *t, int64_t least)
{
    if (t->kind == TERM_REPEAT)
        return is_positive_list(t->operands[1], least);
    return t->kind == TERM_INTEGER && t->value >= least;
}

// Does a condition say that all entries are at least that?
static bool is_at_least_by_condition(const struct equation *eq, uint32_t variable, int64_t least)
{
    return FIND(eq->conditions, eq->n_conditions, c,
                c->kind == CONDITION_LESS_EQUAL && c->b->kind == TERM_VARIABLE && c->b->value == variable &&
                    is_positive_list(c->a, least)) != NULL;
}

// Steps are at least 1 or at most -1, which are families of their own; pads are of any sign where no condition says it.
static poly entry_of_role(struct family *f, uint32_t variable, enum attribute_role role, bool has_many_axes)
{
    int64_t least = role == ROLE_STEP ? 1 : attribute_roles[role].least;
    if (role == ROLE_PADS && is_at_least_by_condition(f->equation, variable, 0))
        least = 0;
    bool is_negative =
        role == ROLE_STEP && !is_at_least_by_condition(f->equation, variable, 1) && choose(f->choices, 2);
    assert(role < sizeof symbols_of_roles / sizeof *symbols_of_roles && symbols_of_roles[role][has_many_axes].high > 0);
    poly entry = symbol_add(f, symbols_of_roles[role][has_many_axes], least);
    return is_negative ? poly_scale(f->polys, entry, -1) : entry;
}

void family_add_list(struct family *f, uint32_t variable, enum attribute_role role, uint32_t n, const int64_t *ints)
{
    const struct attribute_role_info *info = &attribute_roles[role];
    uint32_t many = info->is_of_window || !info->per_axis ? MANY_AXES - 2 : MANY_AXES;
    bool has_many_axes = n >= (info->per_axis == 2 ? 2 : 1) * many;
    poly *items = arena_array(f->arena, poly, n + 1);
    for (uint32_t i = 0; i < n; i++)
        items[i] = ints ? poly_const(f->polys, ints[i]) : entry_of_role(f, variable, role, has_many_axes);
    f->meanings.attributes[variable] = (struct list_of_polys){n, items};
}

// Numbers of what is left over: as large as sizes allow with so many axes.
static int64_t largest_rest(const struct family *f)
{
    int rank = LARGEST(int, 0, uint32_t, v, f->equation->pattern->n_variables,
                       f->outline.types[v] ? f->outline.types[v]->rank : 0);
    rank = LARGEST(int, rank, uint32_t, v, f->equation->pattern->n_attribute_variables,
                   f->outline.is_chosen >> v & 1 ? (int)f->meanings.attributes[v].n : 0);
    return rank >= MANY_AXES ? 9 : rank > 4 ? 60 : 300;
}

static poly symbol_asked_by(struct family *f, const void *asked_by, uint32_t entry, int64_t least, int64_t high)
{
    for (uint32_t i = 0; i < f->symbols.n; i++)
        if (f->symbols.items[i].asked_by == asked_by && f->symbols.items[i].entry == entry)
            return f->symbols.values[i] == NO_POLY ? poly_of_atom(f->polys, i) : f->symbols.values[i];
    struct symbol s = {.entry = entry, .asked_by = asked_by, .low = 2, .high = high};
    return symbol_add(f, s, least);
}

poly family_exact_quotient(struct family *f, poly a, poly b, const void *asked_by, uint32_t entry)
{
    poly quotient;
    if (poly_divide(f->polys, a, b, &quotient))
        return quotient;
    if (f->asked.asks || a == NO_POLY || b == NO_POLY) {
        family_equal(f, poly_mod(f->polys, a, b), POLY_ZERO);
        return poly_floor(f->polys, a, b);
    }
    quotient = symbol_asked_by(f, asked_by, entry, INT64_MIN, 40);
    family_equal(f, a, poly_mul(f->polys, quotient, b));
    return quotient;
}

void family_at_least_zero(struct family *f, poly a, const void *asked_by, uint32_t entry)
{
    int64_t number;
    poly resolved = f->asked.asks ? a : family_resolved(f, a);
    if (resolved == NO_POLY || f->asked.asks || poly_is_const(f->polys, resolved, &number))
        family_not_negative(f, resolved);
    else if (!poly_is_never_less(f->polys, resolved, POLY_ZERO))
        family_equal(f, resolved, symbol_asked_by(f, asked_by, entry, 0, largest_rest(f)));
}

poly family_remembered_cut(struct family *f, uint32_t variable, int axis)
{
    const void *asked_by = &f->outline.remembers[variable][axis];
    poly first = symbol_asked_by(f, asked_by, 0, 1, 40), second = symbol_asked_by(f, asked_by, 1, 1, 40);
    family_equal(f, f->meanings.sizes[variable][axis], poly_add(f->polys, first, second));
    return first;
}

// --- equations of symbols --------------------------------------------------------------------------------------------

// Sizes are no less than 1, so that a factor of all monomials is none of an equation.
static poly without_common_factor(struct family *f, poly a)
{
    const struct poly_value v = f->polys->polys.items[a];
    poly quotient;
    int64_t divisor = 0;
    for (uint32_t i = 0; i < v.n; i++)
        divisor = greatest_common_divisor(divisor, v.monomials[i].factor);
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
    for (uint32_t i = 0; i < f->symbols.n; i++)
        map[i] = NO_POLY;
    map[x] = value;
    f->symbols.values[x] = value;
    for (uint32_t i = 0; i < f->symbols.n; i++)
        if (i != x && f->symbols.values[i] != NO_POLY)
            f->symbols.values[i] = poly_substitute(f->polys, f->symbols.values[i], map, f->symbols.n);
}

poly family_resolved(struct family *f, poly a)
{
    return poly_substitute(f->polys, a, f->symbols.values, f->symbols.n);
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

// A fact that is asked and not assumed, or one of sizes of no known form: nothing is assumed.
static bool is_asked(struct family *f, poly a, poly_list *questions)
{
    if (f->asked.asks && a == NO_POLY)
        family_fails(f, "a size that is no known polynomial");
    else if (f->asked.asks)
        vec_push(questions, family_resolved(f, a));
    return f->asked.asks || a == NO_POLY;
}

// The symbol that others are added up to, or multiplied, rather than one that is a difference: sizes are positive.
void family_equal(struct family *f, poly a, poly b)
{
    if (is_asked(f, poly_sub(f->polys, a, b), &f->asked.zero))
        return;
    poly equation = without_common_factor(f, family_resolved(f, poly_sub(f->polys, a, b)));
    const struct poly_value v = f->polys->polys.items[equation];
    poly value, best_value = NO_POLY;
    atom best = 0;
    int minuses, fewest = INT32_MAX;
    int64_t number;
    if (equation == POLY_ZERO)
        return;
    if (poly_is_const(f->polys, equation, &number)) {
        f->is_impossible = true;
        return;
    }
    vec_push(&f->symbols.equal_zero, equation);
    if (solve_extreme(f, equation)) {
        f->symbols.has_new_equations = true;
        return;
    }
    for (uint32_t i = 0; i < v.n; i++)
        if (solve_for(f, equation, &v.monomials[i], &value, &minuses) && minuses < fewest) {
            fewest = minuses;
            best = v.monomials[i].atoms[0];
            best_value = value;
        }
    if (best_value == NO_POLY) {
        f->symbols.has_unsolved = true;   // another one may solve it
        return;
    }
    define_symbol(f, best, best_value);
    f->symbols.has_new_equations = true;
}

#define FEW_VALUES 5
// A symbol that is at most a small number is each of those that it may be, in a family of its own (S1, lemma 6).
static bool try_few_values(struct family *f, poly a)
{
    const struct poly_value v = f->polys->polys.items[a];
    const struct monomial *last = v.n ? &v.monomials[v.n - 1] : NULL;
    if (!last || v.n > 2 || last->n != 1 || last->factor != -1 || (v.n == 2 && v.monomials[0].n > 0))
        return false;
    int64_t most = v.n == 2 ? v.monomials[0].factor : 0, least = f->polys->atoms.items[last->atoms[0]].least;
    if (f->polys->atoms.items[last->atoms[0]].kind != ATOM_SYMBOL || least < 0 || most - least >= FEW_VALUES)
        return false;
    if (most < least)
        return !family_is_impossible(f);
    int64_t value = least + choose(f->choices, (uint32_t)(most - least + 1));
    family_equal(f, poly_of_atom(f->polys, last->atoms[0]), poly_const(f->polys, value));
    return true;
}

void family_not_negative(struct family *f, poly a)
{
    int64_t number;
    if (is_asked(f, a, &f->asked.not_negative))
        return;
    if (poly_is_const(f->polys, a, &number))
        f->is_impossible = f->is_impossible || number < 0;
    else if (!try_few_values(f, family_resolved(f, a)))
        vec_push(&f->symbols.not_negative, a);
}
