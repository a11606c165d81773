// Sizes as functions of symbols: found by their values at the probes, or derived where they are quotients, and
// evaluated at bindings.
#include "graph/sizes.h"

#include "core/memory/arena.h"
#include "core/numbers/integers.h"
#include <assert.h>
#include <math.h>
#include <string.h>

void sizes_add_symbol(struct sizes *s, int64_t unit, const int64_t *at)
{
    assert(s->n_symbols < MAX_SYMBOLS && s->n_factors == s->n_symbols);
    for (int k = 0; k < N_PROBES; k++)
        s->probes[k][s->n_symbols] = at[k];
    struct size_factor *f = &s->factors[s->n_factors++];
    *f = (struct size_factor){.divisor = unit};
    f->weights[s->n_symbols++] = 1;
}

int64_t sizes_round_up(const struct sizes *s, uint32_t symbol, int64_t size)
{
    int64_t unit = s->factors[symbol].divisor;
    return (size + unit - 1) / unit * unit;
}

void sizes_free(struct sizes *s)
{
    vec_free(&s->noted);
}

// --- values ----------------------------------------------------------------------------------------------------------

static int64_t factor_value(const struct sizes *s, const struct size_factor *f, const int64_t *binding)
{
    int64_t sum = f->constant + SUM_ALL(int64_t, uint32_t, i, s->n_symbols, f->weights[i] * binding[i]);
    return floor_quotient(sum, f->divisor);
}

static int64_t factor_at(const struct sizes *s, uint32_t factor, const int64_t *binding)
{
    return factor_value(s, &s->factors[factor], binding);
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
static void divide_out(const struct sizes *s, uint32_t factor, struct size_form *form)
{
    int64_t f = factor_at(s, factor, s->probes[0]);
    while (f > 1 && form->constant % f == 0 && form->powers[factor] < UINT8_MAX) {
        form->constant /= f;
        form->powers[factor]++;
    }
}

struct size_form sizes_form_of(const struct sizes *s, int64_t number)
{
    struct size_form form = {.constant = number};
    for (uint32_t i = 0; number > 0 && i < s->n_factors; i++)
        divide_out(s, i, &form);
    return form;
}

bool sizes_varies(const struct sizes *s, int64_t number)
{
    return sizes_form_of(s, number).constant != number;
}

bool sizes_type_varies(const struct sizes *s, const struct type *t)
{
    return ANY(int, i, t->rank, sizes_varies(s, t->dim[i]));
}

bool sizes_depends(const struct sizes *s, int64_t number, uint32_t symbol)
{
    struct size_form form = sizes_form_of(s, number);
    return ANY(uint32_t, i, s->n_factors, form.powers[i] && s->factors[i].weights[symbol]);
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

#define MOST_SUMMANDS 3   // symbols in a sum: five probes tell three weights and a number, and contradict others
#define LEAST_PIVOT 1e-6

static bool has_values(const struct sizes *s, const struct size_form *form, const int64_t *at)
{
    return ALL(int, k, N_PROBES, sizes_form_at(s, form, s->probes[k]) == at[k]);
}

// The change of a sum of some symbols from the first probe on: a row for each other probe, with the sum's own change
// behind those of the symbols.
struct changes {
    double rows[N_PROBES - 1][MOST_SUMMANDS + 1];
    int n;
    uint32_t symbols[MOST_SUMMANDS];
};

static void find_changes(const struct sizes *s, uint32_t set, const int64_t *at, struct changes *ret)
{
    *ret = (struct changes){0};
    for (uint32_t i = 0; i < s->n_symbols; i++)
        if (set >> i & 1)
            ret->symbols[ret->n++] = i;
    for (int k = 1; k < N_PROBES; k++) {
        for (int j = 0; j < ret->n; j++)
            ret->rows[k - 1][j] = (double)(s->probes[k][ret->symbols[j]] - s->probes[0][ret->symbols[j]]);
        ret->rows[k - 1][ret->n] = (double)(at[k] - at[0]);
    }
}

// Leaves one symbol in a row, by the largest number in its column. False: probes do not tell the symbols apart.
static bool eliminate(struct changes *c, int column)
{
    double(*rows)[MOST_SUMMANDS + 1] = c->rows, row[MOST_SUMMANDS + 1];
    int pivot = column;
    for (int k = column; k < N_PROBES - 1; k++)
        pivot = fabs(rows[k][column]) > fabs(rows[pivot][column]) ? k : pivot;
    if (fabs(rows[pivot][column]) < LEAST_PIVOT)
        return false;
    memcpy(row, rows[pivot], sizeof row);
    memcpy(rows[pivot], rows[column], sizeof row);
    memcpy(rows[column], row, sizeof row);
    for (int k = 0; k < N_PROBES - 1; k++) {
        double times = k == column ? 0 : rows[k][column] / row[column];
        for (int j = column; j <= c->n; j++)
            rows[k][j] -= times * row[j];
    }
    return true;
}

// The sum of a set of symbols and a number, by its values at the probes.
static bool solve_sum(const struct sizes *s, uint32_t set, const int64_t *at, struct size_factor *ret_sum)
{
    struct changes c;
    find_changes(s, set, at, &c);
    *ret_sum = (struct size_factor){.divisor = 1, .constant = at[0]};
    if (ANY(int, j, c.n, !eliminate(&c, j)))
        return false;
    for (int j = 0; j < c.n; j++) {
        double weight = round(c.rows[j][c.n] / c.rows[j][j]);
        if (fabs(weight) > INT32_MAX)
            return false;
        ret_sum->weights[c.symbols[j]] = (int64_t)weight;
        ret_sum->constant -= (int64_t)weight * s->probes[0][c.symbols[j]];
    }
    return ALL(int, k, N_PROBES, factor_value(s, ret_sum, s->probes[k]) == at[k]);
}

static int64_t common_divisor(const struct sizes *s, const struct size_factor *f, int64_t of)
{
    for (uint32_t i = 0; i < s->n_symbols; i++)
        of = greatest_common_divisor(of, f->weights[i]);
    return of;
}

// Divides by a divisor of all weights.
static void divide_weights(const struct sizes *s, struct size_factor *f, int64_t by)
{
    f->constant = floor_quotient(f->constant, by);
    for (uint32_t i = 0; i < s->n_symbols; i++)
        f->weights[i] /= by;
}

// The number of times that a factor, which is added where it is new.
static bool add_factor(struct sizes *s, int64_t constant, const struct size_factor *f, struct size_form *ret_form)
{
    uint32_t index = FIRST_OF(uint32_t, i, s->n_factors, memcmp(&s->factors[i], f, sizeof *f) == 0);
    if (index == MAX_FACTORS)
        return false;
    if (index == s->n_factors)
        s->factors[s->n_factors++] = *f;
    *ret_form = (struct size_form){.constant = constant};
    ret_form->powers[index] = 1;
    return true;
}

// The common part of the summands is a factor of its own.
static bool add_sum(struct sizes *s, struct size_factor sum, struct size_form *ret_form)
{
    int64_t common = common_divisor(s, &sum, sum.constant);
    divide_weights(s, &sum, common);
    return add_factor(s, common, &sum, ret_form);
}

static bool fit_sum(struct sizes *s, const int64_t *at, struct size_form *ret_form)
{
    struct size_factor sum;
    if (ANY(int64_t, k, N_PROBES, at[k] < 0 || at[k] > INT32_MAX))
        return false;
    for (int n = 1; n <= MOST_SUMMANDS; n++)
        for (uint32_t set = 1; set < UINT32_C(1) << s->n_symbols; set++)
            if (__builtin_popcount(set) == n && solve_sum(s, set, at, &sum))
                return add_sum(s, sum, ret_form);
    return false;
}

// Factors of which one divides another at the first probe are told apart by their order.
static bool fit_product(const struct sizes *s, const int64_t *at, struct size_form *ret_form)
{
    *ret_form = sizes_form_of(s, at[0]);
    for (uint32_t i = 0; at[0] > 0 && !has_values(s, ret_form, at) && i < s->n_factors; i++) {
        *ret_form = (struct size_form){.constant = at[0]};
        divide_out(s, i, ret_form);
        for (uint32_t j = 0; j < s->n_factors; j++)
            divide_out(s, j, ret_form);
    }
    return has_values(s, ret_form, at);
}

static bool find_form(struct sizes *s, const int64_t *at, struct size_form *ret_form)
{
    bool is_constant = true;
    for (int k = 1; k < N_PROBES; k++)
        is_constant = is_constant && at[k] == at[0];
    if (is_constant)
        *ret_form = (struct size_form){.constant = at[0]};
    return is_constant || fit_product(s, at, ret_form) || fit_sum(s, at, ret_form);
}

bool sizes_fit(struct sizes *s, const int64_t *at, struct size_form *ret_form)
{
    struct noted_size size;
    memcpy(size.at, at, sizeof size.at);
    if (!find_form(s, at, &size.form))
        return false;
    *ret_form = size.form;
    if (ANY(size_t, i, s->noted.count, memcmp(s->noted.items[i].at, at, sizeof size.at) == 0))
        return true;
    vec_push(&s->noted, size);
    return true;
}

// --- quotients -------------------------------------------------------------------------------------------------------

// The only factor of a form that has one; false: it has none, or several.
static bool is_multiple_of_factor(const struct sizes *s, const struct size_form *form, struct size_factor *ret_factor)
{
    int n = 0;
    for (uint32_t i = 0; i < s->n_factors; i++)
        if (form->powers[i]) {
            *ret_factor = s->factors[i];
            n += form->powers[i];
        }
    return n == 1;
}

static bool multiply(int64_t *x, int64_t by)
{
    return !__builtin_mul_overflow(*x, by, x) && *x <= INT32_MAX && *x >= INT32_MIN;
}

// A multiple of a sum is a sum. False: of numbers so large that its values would overflow.
static bool move_into_sum(const struct sizes *s, struct size_form *form, struct size_factor *f)
{
    if (f->divisor != 1)
        return true;
    bool is_small = multiply(&f->constant, form->constant);
    for (uint32_t i = 0; i < s->n_symbols; i++)
        is_small = multiply(&f->weights[i], form->constant) && is_small;
    form->constant = 1;
    return is_small;
}

// (m f + addend) / divisor, in lowest terms. With f = a / b, both rounded down, (f + c) / d is (a + b c) / (b d); where
// m is left over and d is not, it is m (f + c / m).
static bool divide_multiple(const struct sizes *s, int64_t *multiple, struct size_factor *f, int64_t addend,
                            int64_t divisor)
{
    int64_t common = greatest_common_divisor(*multiple, divisor), product;
    *multiple /= common;
    addend = floor_quotient(addend, common);
    divisor /= common;
    if ((*multiple != 1 && (divisor != 1 || addend % *multiple)) ||
        __builtin_mul_overflow(f->divisor, addend / *multiple, &product) || product > INT32_MAX ||
        product < INT32_MIN || __builtin_mul_overflow(f->divisor, divisor, &f->divisor) || f->divisor > INT32_MAX)
        return false;
    f->constant += product;
    common = common_divisor(s, f, f->divisor);
    divide_weights(s, f, common);
    f->divisor /= common;
    return true;
}

void sizes_add_quotient(struct sizes *s, const int64_t *at, int64_t addend, int64_t divisor)
{
    struct size_form form;
    struct size_factor f;
    if (divisor < 1 || !sizes_fit(s, at, &form) || !is_multiple_of_factor(s, &form, &f) ||
        !move_into_sum(s, &form, &f) || !divide_multiple(s, &form.constant, &f, addend, divisor))
        return;
    if (f.divisor == 1)
        add_sum(s, f, &form);
    else
        add_factor(s, 1, &f, &form);
}

// --- the first probe -------------------------------------------------------------------------------------------------

#define MOST_CANDIDATES 4096
#define UNCHOSEN INT32_MAX   // of a symbol: what depends on it divides nothing

static bool is_told(const struct sizes *s, const struct size_form *form)
{
    struct size_form told = sizes_form_of(s, sizes_form_at(s, form, s->probes[0]));
    return told.constant == form->constant && memcmp(told.powers, form->powers, sizeof told.powers) == 0;
}

static struct size_form form_of_factor(uint32_t factor)
{
    struct size_form alone = {.constant = 1};
    alone.powers[factor] = 1;
    return alone;
}

static bool depends_on_later(const struct sizes *s, const struct size_form *form, uint32_t n_chosen)
{
    return ANY(uint32_t, i, s->n_factors,
               form->powers[i] && ANY(uint32_t, j, s->n_symbols, j >= n_chosen && s->factors[i].weights[j]));
}

// Sizes that depend on the first symbols alone.
static bool are_told_apart(const struct sizes *s, uint32_t n_chosen)
{
    for (uint32_t i = 0; i < s->n_factors; i++) {
        struct size_form form = form_of_factor(i);
        if (s->factors[i].divisor > 1 && !depends_on_later(s, &form, n_chosen) && !is_told(s, &form))
            return false;
    }
    return ALL(size_t, i, s->noted.count,
               depends_on_later(s, &s->noted.items[i].form, n_chosen) || is_told(s, &s->noted.items[i].form));
}

bool sizes_are_told_apart(const struct sizes *s)
{
    return are_told_apart(s, s->n_symbols);
}

static bool is_prime(int64_t n)
{
    for (int64_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return true;
}

// The largest number that divides a symbol.
static int64_t largest_divisor(const struct sizes *s, uint32_t symbol)
{
    int64_t largest = 1;
    for (uint32_t i = 0; i < s->n_factors; i++)
        if (s->factors[i].weights[symbol] && s->factors[i].divisor > largest)
            largest = s->factors[i].divisor;
    return largest;
}

static bool is_chosen(const int64_t *chosen, uint32_t n, int64_t size)
{
    return ANY(uint32_t, i, n, chosen[i] == size);
}

// The size of the next symbol, from `first` on; 0: none.
static int64_t find_size(struct sizes *there, uint32_t i, bool is_divided, int64_t first)
{
    int64_t unit = sizes_round_up(there, i, 1), *at = &there->probes[0][i];
    *at = sizes_round_up(there, i, first);
    for (int n = 0; n < MOST_CANDIDATES; n++, *at += unit)
        if ((is_divided || is_prime(*at)) && !is_chosen(there->probes[0], i, *at) && are_told_apart(there, i + 1))
            return *at;
    return 0;
}

// One symbol after the other: primes, or any sizes where quotients of primes would be none.
bool sizes_find_first_probe(const struct sizes *s, int64_t least, int64_t *ret_probe)
{
    struct sizes there = *s;
    int64_t last = 0;
    for (uint32_t i = 0; i < s->n_symbols; i++)
        there.probes[0][i] = UNCHOSEN;
    for (uint32_t i = 0; i < s->n_symbols; i++) {
        int64_t divisor = largest_divisor(s, i), first = least * divisor > last ? least * divisor : last + 1;
        ret_probe[i] = last = find_size(&there, i, divisor > 1, first);
        if (last == 0)
            return false;
    }
    return true;
}

// --- graphs at a binding ---------------------------------------------------------------------------------------------

bool sizes_role_varies(const struct operator* op, int attribute)
{
    enum attribute_role role = op->attributes[attribute].role;
    return role == ROLE_SHAPE || role == ROLE_PART_SIZES || role == ROLE_SIZE || role == ROLE_KERNEL;
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
    return ALL(uint32_t, i, n, !type_is_known(&types[i]) || type_has_allowed_size(&types[i]));
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
