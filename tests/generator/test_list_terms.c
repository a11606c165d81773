// Terms for lists: against the search that tries every form, and every two of them, at every example.
#include "generator/unify/list_terms.h"
#include "substitutions/pattern.h"
#include "tests/support/check.h"

enum { EXAMPLES = 3, TENSORS = 2, VARIABLES = 2, ROUNDS = 40 };

struct setting {
    struct arena arena;
    struct term_bindings examples[EXAMPLES];
    struct list_terms terms;
};

static const struct type *random_type(struct arena *a, struct random *r, int rank)
{
    int64_t dim[MAX_RANK];
    struct type *type = arena_new(a, struct type);
    for (int i = 0; i < rank; i++)
        dim[i] = 1 + (int64_t)random_below(r, 9);
    *type = type_make(DTYPE_F32, rank, dim);
    return type;
}

// Two tensors of ranks 2 to 4, an order of the axes of the first, and one of its axes.
static struct term_bindings random_example(struct arena *a, struct random *r)
{
    int rank = 2 + (int)random_below(r, 3);
    const struct type **tensors = arena_array(a, const struct type *, TENSORS);
    struct attribute_value *values = arena_array(a, struct attribute_value, VARIABLES);
    int64_t *order = arena_array(a, int64_t, rank), *axis = arena_array(a, int64_t, 1);
    tensors[0] = random_type(a, r, rank);
    tensors[1] = random_type(a, r, rank);
    for (int i = 0; i < rank; i++)
        order[i] = i;
    for (int i = rank - 1; i > 0; i--) {
        int64_t k = (int64_t)random_below(r, (uint64_t)i + 1), swapped = order[i];
        order[i] = order[k];
        order[k] = swapped;
    }
    *axis = (int64_t)random_below(r, (uint64_t)rank);
    values[0] = (struct attribute_value){(uint32_t)rank, order};
    values[1] = (struct attribute_value){1, axis};
    return (struct term_bindings){tensors, values};
}

static void start(struct setting *s, struct random *r)
{
    arena_init(&s->arena);
    for (int i = 0; i < EXAMPLES; i++)
        s->examples[i] = random_example(&s->arena, r);
    list_terms_init(&s->terms, &s->arena, s->examples, EXAMPLES, TENSORS, 3);
}

static void end(struct setting *s)
{
    list_terms_free(&s->terms);
    arena_free(&s->arena);
}

// --- the reference ---------------------------------------------------------------------------------------------------

static bool says(struct setting *s, const struct attribute_term *t, const struct attribute_value *wanted)
{
    struct attribute_value value;
    return ALL(int, i, EXAMPLES,
               attribute_term_evaluate(t, &s->examples[i], &s->arena, &value) &&
                   attribute_value_equal(&value, &wanted[i]));
}

// How many forms say it: 1, 2, or 3 where no two do. (What is wanted has no number in it that is in no form.)
static uint32_t least_number_of_forms(struct setting *s, const struct attribute_value *wanted)
{
    size_t n = s->terms.atoms.count;
    for (size_t i = 0; i < n; i++)
        if (says(s, s->terms.atoms.items[i].term, wanted))
            return 1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            ARENA_MARK(mark, &s->arena);
            const struct attribute_term *both[] = {s->terms.atoms.items[i].term, s->terms.atoms.items[k].term};
            if (says(s, attribute_term_of(&s->arena, TERM_LIST, 2, both), wanted))
                return 2;
        }
    return 3;
}

// --- tests -----------------------------------------------------------------------------------------------------------

static const struct attribute_term *random_form(struct setting *s, struct random *r)
{
    return s->terms.atoms.items[random_below(r, s->terms.atoms.count)].term;
}

static bool evaluate_at_all(struct setting *s, const struct attribute_term *t, struct attribute_value *ret_values)
{
    return ALL(int, i, EXAMPLES, attribute_term_evaluate(t, &s->examples[i], &s->arena, &ret_values[i]));
}

static void check_found(struct setting *s, const struct attribute_value *wanted)
{
    struct attribute_pattern found;
    uint32_t least = least_number_of_forms(s, wanted);
    bool is_found = list_terms_find(&s->terms, wanted, 2, NO_TENSOR, &found);
    assert_true(is_found || least == 3);
    if (!is_found)
        return;
    assert_true(found.count <= least);
    if (found.count)
        assert_true(says(s, attribute_pattern_as_term(&s->arena, &found), wanted));
}

TEST(what_two_forms_say_is_found_with_as_few)
{
    struct random r = random_seed(7);
    for (int round = 0; round < ROUNDS; round++) {
        struct attribute_value wanted[EXAMPLES];
        struct setting s FREED_BY(end);
        start(&s, &r);
        const struct attribute_term *both[] = {random_form(&s, &r), random_form(&s, &r)};
        if (evaluate_at_all(&s, attribute_term_of(&s.arena, TERM_LIST, 1 + round % 2, both), wanted))
            check_found(&s, wanted);
    }
}

TEST(what_no_form_says_is_not_found)
{
    static const int64_t numbers[] = {71, 82, 93};
    struct random r = random_seed(8);
    struct attribute_value wanted[EXAMPLES];
    struct attribute_pattern found;
    struct setting s FREED_BY(end);
    start(&s, &r);
    for (int i = 0; i < EXAMPLES; i++)
        wanted[i] = (struct attribute_value){1, &numbers[i]};
    assert_false(list_terms_find(&s.terms, wanted, MAX_LISTS, NO_TENSOR, &found));
    for (int i = 0; i < EXAMPLES; i++)
        wanted[i] = (struct attribute_value){1, &numbers[0]};
    assert_true(list_terms_find(&s.terms, wanted, MAX_LISTS, NO_TENSOR, &found));   // a number
    assert_true(found.count == 1 && found.terms[0]->kind == TERM_INTEGER && found.terms[0]->value == 71);
}

TEST(sizes_are_not_said_by_themselves)
{
    struct random r = random_seed(9);
    struct attribute_value wanted[EXAMPLES];
    struct attribute_pattern found;
    struct setting s FREED_BY(end);
    start(&s, &r);
    for (int i = 0; i < EXAMPLES; i++)
        wanted[i] = (struct attribute_value){(uint32_t)s.examples[i].tensors[0]->rank, s.examples[i].tensors[0]->dim};
    assert_true(list_terms_find(&s.terms, wanted, MAX_LISTS, NO_TENSOR, &found));
    assert_true(found.count == 1 && found.terms[0]->kind == TERM_DIMS);
    assert_false(list_terms_find(&s.terms, wanted, MAX_LISTS, 0, &found));
}
