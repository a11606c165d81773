// Programs that derivation finds are the same polynomials of their inputs' entries as the original, at all entries: they
// have the same values over the prime field at random places, which other polynomials have by a chance of 2^-58.
#include "derivation/search/search.h"
#include "expressions/evaluation/evaluate.h"
#include "tests/derivation/problem.h"
#include "tests/support/cases.h"

#define PLACES 2
#define KEY 1

static uint64_t *evaluate(struct problem *p, int program, uint64_t place)
{
    struct definition d FREED_BY(definition_free);
    const uint64_t *inputs[2];
    struct random random = random_seed(place);
    composition_extract(&p->dv.all, program, &d);
    for (int i = 0; i < d.n_inputs; i++) {
        int64_t n = type_elements(&d.inputs[i]);
        uint64_t *entries = arena_array(&p->arena, uint64_t, n);
        for (int64_t k = 0; k < n; k++)
            entries[k] = random_below(&random, (uint64_t)1 << 60);
        inputs[i] = entries;
    }
    uint64_t *output = arena_array(&p->arena, uint64_t, type_elements(definition_output(&d, 0)));
    evaluate_field(&d, KEY, inputs, &output, &p->arena);
    return output;
}

static void check_programs(struct problem *p, const struct search *s)
{
    size_t n = (size_t)type_elements(definition_tensor(&p->dv.all.pool.d, p->program));
    size_t step = s->results.count / (size_t)some_of(200) + 1;
    for (uint64_t place = 0; place < PLACES; place++) {
        const uint64_t *original = evaluate(p, p->program, place);
        for (size_t i = 0; i < s->results.count; i += step)
            assert_memory_equal(evaluate(p, s->results.items[i].program, place), original, n * sizeof *original);
    }
}

TEST(programs_are_the_same_polynomials)
{
    ARENA(arena);
    const struct search_limits limits = {.depth = 4, .most_programs = 300, .most_operations = 8};
    for (const char **text = texts_of(&arena, "derivation/scopes.cases", "exact"); *text; text++) {
        struct problem p FREED_BY(problem_free);
        problem_init(&p, *text);
        struct search s FREED_BY(search_free);
        search_run(&s, &p.dv, p.program, &limits);
        assert_true(s.results.count > 20);
        check_programs(&p, &s);
    }
}
