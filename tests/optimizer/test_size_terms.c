// Terms of few sizes are found by their values, and what has none of these forms is not.
#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include "optimizer/derive/size_terms.h"
#include "tests/support/check.h"

enum { EXAMPLES = 12, RANK = 5 };

struct setting {
    struct arena arena;
    struct type types[EXAMPLES];
    const struct type *tensors[EXAMPLES][1];
    struct term_bindings examples[EXAMPLES];
    struct size_terms terms;
};

static void setting_init(struct setting *s, uint64_t seed)
{
    struct random random = random_seed(seed);
    arena_init(&s->arena);
    for (int i = 0; i < EXAMPLES; i++) {
        int64_t dim[RANK];
        for (int axis = 0; axis < RANK; axis++)
            dim[axis] = 3 + (int64_t)random_below(&random, 20);
        s->types[i] = type_make(DTYPE_F32, RANK, dim);
        s->tensors[i][0] = &s->types[i];
        s->examples[i] = (struct term_bindings){.tensors = s->tensors[i]};
    }
    size_terms_init(&s->terms, &s->arena, s->examples, EXAMPLES, 1);
}

static void setting_free(struct setting *s)
{
    size_terms_free(&s->terms);
    arena_free(&s->arena);
}

// The term that is found has the value at each example.
static bool finds(struct setting *s, const int64_t *wanted)
{
    const struct attribute_term *term = size_terms_find(&s->terms, wanted);
    for (int i = 0; i < EXAMPLES && term; i++) {
        struct attribute_value value;
        assert_true(attribute_term_evaluate(term, &s->examples[i], &s->arena, &value));
        assert_int_equal(value.count, 1);
        assert_int_equal(value.ints[0], wanted[i]);
    }
    return term != NULL;
}

typedef int64_t size_function(const int64_t *dim);
static int64_t constant(const int64_t *dim)
{
    return 7;
}
static int64_t size(const int64_t *dim)
{
    return dim[1];
}
static int64_t one_more(const int64_t *dim)
{
    return dim[2] + 1;
}
static int64_t negative(const int64_t *dim)
{
    return 5 - dim[3];
}
static int64_t padded(const int64_t *dim)
{
    return dim[0] + dim[3] + dim[4] - 2;
}
static int64_t window(const int64_t *dim)
{
    return dim[0] - dim[1] + dim[3] + 1;
}
static int64_t elements(const int64_t *dim)
{
    return dim[0] * dim[1] * dim[2];
}
static int64_t ninefold(const int64_t *dim)
{
    return 9 * dim[0] * dim[1];
}
static int64_t half(const int64_t *dim)
{
    return (2 * dim[0] + 2 * dim[3] + 6) / 2;
}
static int64_t nothing(const int64_t *dim)
{
    return dim[0] % 5 * (dim[1] % 7) ^ dim[2];
}

TEST(forms_are_found)
{
    static size_function *const functions[] = {constant, size,     one_more, negative, padded,
                                               window,   elements, ninefold, half};
    for (uint64_t seed = 1; seed <= some_of(8); seed++) {
        int64_t wanted[EXAMPLES];
        struct setting s FREED_BY(setting_free);
        setting_init(&s, seed);
        for (size_t k = 0; k < COUNT_OF(functions); k++) {
            for (int i = 0; i < EXAMPLES; i++)
                wanted[i] = functions[k](s.types[i].dim);
            if (!finds(&s, wanted))
                fail_msg("form %zu was not found", k);
        }
        for (int i = 0; i < EXAMPLES; i++)
            wanted[i] = nothing(s.types[i].dim);
        assert_false(finds(&s, wanted));
    }
}

// A term that was found is tried again: two sizes of five parts each have a product.
TEST(found_terms_are_used)
{
    int64_t sizes[2][EXAMPLES], product[EXAMPLES];
    struct setting s FREED_BY(setting_free);
    setting_init(&s, 3);
    for (int i = 0; i < EXAMPLES; i++) {
        sizes[0][i] = padded(s.types[i].dim);
        sizes[1][i] = window(s.types[i].dim);
        product[i] = sizes[0][i] * sizes[1][i];
    }
    assert_false(finds(&s, product));
    assert_true(finds(&s, sizes[0]) && finds(&s, sizes[1]) && finds(&s, product));
}
