// Forms are listed once, the plainest first; lists are put together of them by depth, the shortest first.
#include "generator/unify/list_terms.h"

#include "core/memory/arena.h"
#include <string.h>

enum { UNKNOWN, HAS_VALUE, HAS_NONE };

// --- terms -----------------------------------------------------------------------------------------------------------

typedef const struct attribute_term *term;

static term number(struct list_terms *l, int64_t value)
{
    return attribute_term_make(TERM_INTEGER, value, NULL, l->arena);
}

static term pair(struct list_terms *l, enum attribute_term_kind kind, term x, term y)
{
    return attribute_term_of(l->arena, kind, 2, (const term[]){x, y});
}

static term of_tensor(struct list_terms *l, enum attribute_term_kind kind, uint32_t tensor, term axis)
{
    return attribute_term_make(kind, tensor, axis, l->arena);
}

// --- forms -----------------------------------------------------------------------------------------------------------

static void add(struct list_terms *l, term t)
{
    struct list_atom atom = {t, arena_array(l->arena, struct attribute_value, l->n_examples),
                             arena_array(l->arena, int8_t, l->n_examples)};
    vec_push(&l->atoms, atom);
}

static int least_rank(const struct list_terms *l, uint32_t tensor)
{
    return SMALLEST(int, MAX_RANK, size_t, i, l->n_examples, l->examples[i].tensors[tensor]->rank);
}

// All its axes but the first k.
static term axes_but(struct list_terms *l, uint32_t tensor, int k)
{
    term rank = of_tensor(l, TERM_RANK, tensor, NULL);
    return k == 0 ? rank : pair(l, TERM_SUB, rank, number(l, k));
}

static void add_forms_of_tensor(struct list_terms *l, uint32_t tensor)
{
    term dims = of_tensor(l, TERM_DIMS, tensor, NULL);
    add(l, dims);
    for (int axis = 0; axis < least_rank(l, tensor); axis++)
        add(l, of_tensor(l, TERM_DIM, tensor, number(l, axis)));
    for (int k = 0; k <= 3; k++)
        add(l, axes_but(l, tensor, k));
    for (int k = 1; k <= 2; k++) {
        add(l, of_tensor(l, TERM_DIM, tensor, axes_but(l, tensor, k)));
        add(l, pair(l, TERM_DROP, number(l, k), dims));
        add(l, pair(l, TERM_TAKE, axes_but(l, tensor, k), dims));
    }
    add(l, attribute_term_make(TERM_IOTA, 0, axes_but(l, tensor, 0), l->arena));
    for (int value = 0; value <= 1; value++)
        for (int k = 0; k <= 2; k++)
            add(l, pair(l, TERM_REPEAT, axes_but(l, tensor, k), number(l, value)));
}

// Itself, and how long it is.
static void add_variable(struct list_terms *l, term variable)
{
    term length = attribute_term_make(TERM_LENGTH, 0, variable, l->arena);
    add(l, variable);
    add(l, length);
    add(l, pair(l, TERM_SUB, length, number(l, 1)));
}

static void add_forms_of_variable(struct list_terms *l, term variable, uint32_t n_tensors)
{
    term next = pair(l, TERM_ADD, variable, number(l, 1));
    for (int k = 1; k <= 2; k++) {
        add(l, pair(l, TERM_DROP, number(l, k), variable));
        add(l, pair(l, TERM_TAKE, number(l, k), variable));
    }
    add(l, pair(l, TERM_DIV, variable, number(l, 2)));
    add(l, pair(l, TERM_MUL, variable, number(l, 2)));
    for (uint32_t i = 0; i < n_tensors; i++) {
        term size = of_tensor(l, TERM_DIM, i, variable), dims = of_tensor(l, TERM_DIMS, i, NULL);
        add(l, size);
        add(l, pair(l, TERM_TAKE, variable, dims));
        add(l, pair(l, TERM_DROP, next, dims));
        for (uint32_t j = i; j < n_tensors; j++)
            add(l, pair(l, TERM_ADD, size, of_tensor(l, TERM_DIM, j, variable)));
    }
}

static void add_forms_of_two_variables(struct list_terms *l, term x, term y)
{
    add(l, pair(l, TERM_AT, x, y));
    add(l, pair(l, TERM_TAKE, x, y));
    add(l, pair(l, TERM_DROP, pair(l, TERM_ADD, x, number(l, 1)), y));
}

// Windows of two tensors: pads that make up, on both sides, for half of what one has more than the other.
static void add_shifts_by_windows(struct list_terms *l, term pads, uint32_t x, uint32_t y)
{
    term two = number(l, 2);
    term windows[] = {pair(l, TERM_DROP, two, of_tensor(l, TERM_DIMS, x, NULL)),
                      pair(l, TERM_DROP, two, of_tensor(l, TERM_DIMS, y, NULL))};
    term half = pair(l, TERM_DIV, pair(l, TERM_SUB, windows[0], windows[1]), two);
    add(l, pair(l, TERM_ADD, pads, pair(l, TERM_REPEAT, two, half)));
}

static void add_sums_of_sizes(struct list_terms *l, uint32_t x, uint32_t y)
{
    int ranks[] = {least_rank(l, x), least_rank(l, y)};
    for (int i = 0; i < ranks[0]; i++)
        for (int j = 0; j < ranks[1]; j++)
            add(l, pair(l, TERM_ADD, of_tensor(l, TERM_DIM, x, number(l, i)), of_tensor(l, TERM_DIM, y, number(l, j))));
}

static term variable_of(struct list_terms *l, uint32_t number_of_variable)
{
    return attribute_term_make(TERM_VARIABLE, number_of_variable, NULL, l->arena);
}

void list_terms_init(struct list_terms *l, struct arena *a, const struct term_bindings *examples, size_t n_examples,
                     uint32_t n_tensors, uint32_t usable)
{
    *l = (struct list_terms){.arena = a, .examples = examples, .n_examples = n_examples};
    for (uint32_t i = 0; i < MAX_RULE_VARIABLES; i++)
        if (usable >> i & 1)
            add_variable(l, variable_of(l, i));
    for (uint32_t i = 0; i < n_tensors; i++)
        add_forms_of_tensor(l, i);
    for (uint32_t i = 0; i < MAX_RULE_VARIABLES; i++)
        if (usable >> i & 1)
            add_forms_of_variable(l, variable_of(l, i), n_tensors);
    for (uint32_t i = 0; i < MAX_RULE_VARIABLES; i++)
        for (uint32_t j = 0; j < MAX_RULE_VARIABLES; j++)
            if (i != j && usable >> i & 1 && usable >> j & 1)
                add_forms_of_two_variables(l, variable_of(l, i), variable_of(l, j));
    for (uint32_t i = 0; i < n_tensors; i++)
        for (uint32_t j = i; j < n_tensors; j++)
            add_sums_of_sizes(l, i, j);
    for (uint32_t i = 0; i < MAX_RULE_VARIABLES; i++)
        for (uint32_t x = 0; x < n_tensors; x++)
            for (uint32_t y = 0; y < n_tensors && usable >> i & 1; y++)
                if (x != y)
                    add_shifts_by_windows(l, variable_of(l, i), x, y);
}

void list_terms_add_entries(struct list_terms *l, uint32_t usable)
{
    for (uint32_t i = 0; i < MAX_RULE_VARIABLES; i++)
        for (int k = 0; k <= 2 && usable >> i & 1; k++)
            add(l, pair(l, TERM_AT, variable_of(l, i), number(l, k)));
}

void list_terms_free(struct list_terms *l)
{
    vec_free(&l->atoms);
}

// --- search ----------------------------------------------------------------------------------------------------------

struct searching {
    struct list_terms *l;
    const struct attribute_value *wanted;
    uint32_t except;
    uint32_t *at;   // of each example: so many entries are said already
    term found[MAX_LISTS];
};

// NULL: it has none.
static const struct attribute_value *value_at(struct list_terms *l, struct list_atom *atom, size_t example)
{
    int8_t *state = &atom->states[example];
    if (*state == UNKNOWN)
        *state = attribute_term_evaluate(atom->term, &l->examples[example], l->arena, &atom->values[example])
                     ? HAS_VALUE
                     : HAS_NONE;
    return *state == HAS_VALUE ? &atom->values[example] : NULL;
}

bool list_terms_has(struct list_terms *l, size_t form, size_t example, const struct attribute_value *value)
{
    const struct attribute_value *own = value_at(l, &l->atoms.items[form], example);
    return own && attribute_value_equal(own, value);
}

// Does the wanted list go on with it at all examples?
static bool goes_on_with(const struct searching *s, struct list_atom *atom)
{
    bool is_longer = false;
    for (size_t i = 0; i < s->l->n_examples; i++) {
        const struct attribute_value *value = value_at(s->l, atom, i), *wanted = &s->wanted[i];
        if (!value || value->count > wanted->count - s->at[i] ||
            (value->count && memcmp(value->ints, wanted->ints + s->at[i], value->count * sizeof *value->ints) != 0))
            return false;
        is_longer = is_longer || value->count > 0;
    }
    return is_longer;
}

// The number that stands next at all examples.
static bool next_number(const struct searching *s, int64_t *ret_number)
{
    for (size_t i = 0; i < s->l->n_examples; i++) {
        if (s->at[i] == s->wanted[i].count || (i && s->wanted[i].ints[s->at[i]] != *ret_number))
            return false;
        *ret_number = s->wanted[i].ints[s->at[i]];
    }
    return s->l->n_examples > 0;
}

static bool speaks_of_sizes(term t, uint32_t tensor)
{
    return ((t->kind == TERM_DIM || t->kind == TERM_DIMS) && t->value == (int64_t)tensor) ||
           ANY(uint32_t, i, t->count, speaks_of_sizes(t->operands[i], tensor));
}

static bool find_rest(struct searching *s, int depth, int n);

// NULL for the atom: one number.
static bool find_rest_after(struct searching *s, int depth, int n, struct list_atom *atom)
{
    for (size_t i = 0; i < s->l->n_examples; i++)
        s->at[i] += atom ? atom->values[i].count : 1;
    bool is_found = find_rest(s, depth + 1, n);
    for (size_t i = 0; i < s->l->n_examples && !is_found; i++)
        s->at[i] -= atom ? atom->values[i].count : 1;
    return is_found;
}

// Says the rest as exactly n lists.
static bool find_rest(struct searching *s, int depth, int n)
{
    int64_t next;
    if (depth == n)
        return !ANY(size_t, i, s->l->n_examples, s->at[i] < s->wanted[i].count);
    if (next_number(s, &next)) {
        s->found[depth] = number(s->l, next);
        if (find_rest_after(s, depth, n, NULL))
            return true;
    }
    vec_each(&s->l->atoms, atom) {
        s->found[depth] = atom->term;
        if (!speaks_of_sizes(atom->term, s->except) && goes_on_with(s, atom) && find_rest_after(s, depth, n, atom))
            return true;
    }
    return false;
}

bool list_terms_find(struct list_terms *l, const struct attribute_value *wanted, int max_lists, uint32_t except,
                     struct attribute_pattern *ret_pattern)
{
    struct searching s = {.l = l, .wanted = wanted, .except = except};
    s.at = arena_array(l->arena, uint32_t, l->n_examples);
    for (int n = 0; n <= max_lists && n <= MAX_LISTS; n++)
        if (find_rest(&s, 0, n)) {
            *ret_pattern = (struct attribute_pattern){(uint32_t)n, arena_copy_array(l->arena, s.found, n)};
            return true;
        }
    return false;
}
