// Forms stand in a table by their values: a sum of two is found by what is left when one of them is subtracted.
#include "optimizer/derive/size_terms.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FACTOR = 256, LARGEST_DIVISOR = 4 };
#define LARGEST_SIZE ((int64_t)1 << 40)

typedef const struct attribute_term *term;

static term number(struct size_terms *s, int64_t value)
{
    return attribute_term_make(TERM_INTEGER, value, NULL, s->arena);
}

static term pair(struct size_terms *s, enum attribute_term_kind kind, term x, term y)
{
    return attribute_term_of(s->arena, kind, 2, (const term[]){x, y});
}

// --- forms -----------------------------------------------------------------------------------------------------------

static bool is_one_number(const struct size_terms *s, const int64_t *wanted)
{
    for (size_t i = 1; i < s->n_examples; i++)
        if (wanted[i] != wanted[0])
            return false;
    return true;
}

static bool has_values(const void *owner, uint32_t id, const void *key)
{
    const struct size_terms *s = owner;
    return memcmp(s->forms.items[id].values, key, s->n_examples * sizeof(int64_t)) == 0;
}

static uint64_t hash_values(const struct size_terms *s, const int64_t *values)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < s->n_examples; i++)
        hash = hash_mix(hash, (uint64_t)values[i]);
    return hash;
}

static const struct size_form *find_form(const struct size_terms *s, const int64_t *values)
{
    uint32_t found = table_find(&s->by_values, hash_values(s, values), has_values, s, values);
    return found == TABLE_NONE ? NULL : &s->forms.items[found];
}

static bool add_form(struct size_terms *s, term t, const int64_t *values)
{
    if (find_form(s, values))
        return false;
    table_insert(&s->by_values, hash_values(s, values), (uint32_t)s->forms.count);
    vec_push(&s->forms, ((struct size_form){t, arena_copy_array(s->arena, values, s->n_examples)}));
    return true;
}

static bool combine(enum attribute_term_kind kind, int64_t x, int64_t y, int64_t *ret)
{
    if (llabs(x) > LARGEST_SIZE || llabs(y) > LARGEST_SIZE || (kind == TERM_DIV && (y <= 0 || x % y != 0)))
        return false;
    *ret = kind == TERM_ADD ? x + y : kind == TERM_SUB ? x - y : kind == TERM_DIV ? x / y : 0;
    return kind != TERM_MUL || !__builtin_mul_overflow(x, y, ret);
}

// The values of the pair; false: it has none somewhere.
static bool combine_all(const struct size_terms *s, enum attribute_term_kind kind, const int64_t *x, const int64_t *y,
                        int64_t *ret)
{
    for (size_t i = 0; i < s->n_examples; i++)
        if (!combine(kind, x[i], y[i], &ret[i]))
            return false;
    return true;
}

static const enum attribute_term_kind kinds[] = {TERM_ADD, TERM_SUB, TERM_MUL, TERM_DIV};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static void add_pairs(struct size_terms *s, const struct size_form *x, const struct size_form *y, int64_t *scratch)
{
    for (int k = 0; k < N_KINDS; k++)
        if (combine_all(s, kinds[k], x->values, y->values, scratch))
            add_form(s, pair(s, kinds[k], x->term, y->term), scratch);
}

// A form, and its pairs with all plain ones.
static void add_plain(struct size_terms *s, term t, const int64_t *values)
{
    LOCAL_ARRAY(int64_t, scratch, s->n_examples);
    if (add_form(s, t, values)) {
        struct size_form new = vec_last(&s->forms);
        vec_push(&s->plain, (uint32_t)s->forms.count - 1);
        for (size_t i = 0; i < s->plain.count; i++) {
            struct size_form other = s->forms.items[s->plain.items[i]];   // they may move
            add_pairs(s, &new, &other, scratch);
            add_pairs(s, &other, &new, scratch);
        }
    }
}

static void add_term(struct size_terms *s, term t)
{
    LOCAL_ARRAY(int64_t, values, s->n_examples);
    bool has_value = true;
    for (size_t i = 0; i < s->n_examples && has_value; i++) {
        struct attribute_value value;
        has_value = attribute_term_evaluate(t, &s->examples[i], s->arena, &value) && value.count == 1;
        values[i] = has_value ? value.ints[0] : 0;
    }
    if (has_value && !is_one_number(s, values))
        add_plain(s, t, values);
}

void size_terms_init(struct size_terms *s, struct arena *a, const struct term_bindings *examples, size_t n_examples,
                     uint32_t n_tensors)
{
    *s = (struct size_terms){.arena = a, .examples = examples, .n_examples = n_examples};
    for (uint32_t t = 0; t < n_tensors; t++)
        for (int axis = 0; axis < examples[0].tensors[t]->rank; axis++)
            add_term(s, attribute_term_make(TERM_DIM, t, number(s, axis), a));
}

void size_terms_free(struct size_terms *s)
{
    table_free(&s->by_values);
    vec_free(&s->forms);
    vec_free(&s->plain);
}

// --- what is wanted --------------------------------------------------------------------------------------------------

// factor * values + rest, at all examples
static bool is_multiple(const struct size_terms *s, const int64_t *wanted, const int64_t *values, int64_t *ret_factor,
                        int64_t *ret_rest)
{
    size_t other = 0;
    while (other < s->n_examples && values[other] == values[0])
        other++;
    if (other == s->n_examples || (wanted[other] - wanted[0]) % (values[other] - values[0]) != 0)
        return false;
    int64_t factor = (wanted[other] - wanted[0]) / (values[other] - values[0]), rest;
    if (factor == 0 || llabs(factor) > LARGEST_FACTOR)
        return false;
    rest = wanted[0] - factor * values[0];
    for (size_t i = 0; i < s->n_examples; i++)
        if (wanted[i] != factor * values[i] + rest)
            return false;
    *ret_factor = factor;
    *ret_rest = rest;
    return llabs(rest) <= LARGEST_FACTOR;
}

static term multiple(struct size_terms *s, term t, int64_t factor, int64_t rest)
{
    term product = factor == 1 ? t : factor == -1 ? NULL : pair(s, TERM_MUL, t, number(s, factor));
    if (!product)
        return pair(s, TERM_SUB, number(s, rest), t);
    return rest == 0  ? product
           : rest > 0 ? pair(s, TERM_ADD, product, number(s, rest))
                      : pair(s, TERM_SUB, product, number(s, -rest));
}

// A multiple of the form with the smallest numbers.
static term find_multiple(struct size_terms *s, const int64_t *wanted, bool of_plain_ones)
{
    int64_t least = INT64_MAX, factor, rest;
    term found = NULL;
    for (size_t i = 0; i < (of_plain_ones ? s->plain.count : s->forms.count); i++) {
        const struct size_form form = s->forms.items[of_plain_ones ? s->plain.items[i] : i];
        if (!is_multiple(s, wanted, form.values, &factor, &rest) || 2 * llabs(factor) + llabs(rest) >= least)
            continue;
        least = 2 * llabs(factor) + llabs(rest);
        found = multiple(s, form.term, factor, rest);
    }
    return found;
}

static term find_single(struct size_terms *s, const int64_t *wanted, bool of_plain_ones)
{
    const struct size_form *form = find_form(s, wanted);
    return is_one_number(s, wanted) ? number(s, wanted[0])
           : form                   ? form->term
                                    : find_multiple(s, wanted, of_plain_ones);
}

// wanted = form + rest, form - rest, form * rest: the rest is another form.
static term find_pair(struct size_terms *s, const int64_t *wanted)
{
    LOCAL_ARRAY(int64_t, rest, s->n_examples);
    size_t n = s->forms.count;
    term found = NULL, other;
    for (size_t i = 0; i < n && !found; i++) {
        const struct size_form form = s->forms.items[i];
        if (combine_all(s, TERM_SUB, wanted, form.values, rest) && (other = find_single(s, rest, true)))
            found = pair(s, TERM_ADD, form.term, other);
        else if (combine_all(s, TERM_SUB, form.values, wanted, rest) && (other = find_single(s, rest, true)))
            found = pair(s, TERM_SUB, form.term, other);
        else if (combine_all(s, TERM_DIV, wanted, form.values, rest) && (other = find_single(s, rest, true)))
            found = pair(s, TERM_MUL, form.term, other);
    }
    return found;
}

static term find_quotient(struct size_terms *s, const int64_t *wanted)
{
    LOCAL_ARRAY(int64_t, product, s->n_examples);
    term found = NULL;
    for (int64_t by = 2; by <= LARGEST_DIVISOR && !found; by++) {
        for (size_t i = 0; i < s->n_examples; i++)
            product[i] = by * wanted[i];
        term dividend = find_single(s, product, false);
        dividend = dividend ? dividend : find_pair(s, product);
        found = dividend ? pair(s, TERM_DIV, dividend, number(s, by)) : NULL;
    }
    return found;
}

static bool is_small(const struct size_terms *s, const int64_t *wanted)
{
    return !ANY(size_t, i, s->n_examples, llabs(wanted[i]) > LARGEST_SIZE);
}

const struct attribute_term *size_terms_find(struct size_terms *s, const int64_t *wanted)
{
    if (is_one_number(s, wanted))
        return number(s, wanted[0]);
    if (!is_small(s, wanted))
        return NULL;
    term found = find_single(s, wanted, false);
    found = found ? found : find_pair(s, wanted);
    found = found ? found : find_quotient(s, wanted);
    if (found)
        add_plain(s, found, wanted);
    return found;
}
