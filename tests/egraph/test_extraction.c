// Extraction against the trying of all selections, on random e-graphs with cycles and sharing.
#include "core/random.h"
#include "egraph/extraction/greedy.h"
#include "tests/egraph/small_problem.h"
#include "tests/support/check.h"
#include <string.h>

typedef bool greedy_fn(const struct extraction_problem *p, uint32_t *ret_choice, double *ret_cost);

static bool is_among(const struct selections *all, double cost, const uint32_t *choice, uint32_t n_classes)
{
    for (size_t i = 0; i < all->list.count; i++) {
        const struct selection *s = &all->list.items[i];
        if (s->cost == cost && !memcmp(s->choice, choice, n_classes * sizeof *choice))
            return true;
    }
    return false;
}

static void check_greedy(greedy_fn *greedy, const struct extraction_problem *p, const struct selections *all)
{
    uint32_t choice[MAX_SMALL_CLASSES];
    double cost;
    assert_int_equal(greedy(p, choice, &cost), all->list.count > 0);
    if (all->list.count)
        assert_true(is_among(all, cost, choice, p->n_classes));
}

static void greedy_gives_valid_selections(void **state)
{
    struct random r = random_seed(7);
    struct selections all = {0};
    int n_solvable = 0;
    for (int i = 0; i < 10000; i++) {
        struct extraction_problem p;
        small_problem_make(&p, &r);
        small_problem_try_all(&p, &all);
        check_greedy(extraction_greedy_tree, &p, &all);
        check_greedy(extraction_greedy_dag, &p, &all);
        n_solvable += all.list.count > 0;
        extraction_free(&p);
    }
    assert_in_range(n_solvable, 3000, 9500);
    vec_free(&all.list);
}

// root reads a and b, or c; a and b both read the dear class d, which is so counted twice by trees.
static void sharing_counts_once(void **state)
{
    struct extraction_problem p = {0};
    uint32_t root = extraction_add_class(&p), a = extraction_add_class(&p), b = extraction_add_class(&p);
    uint32_t c = extraction_add_class(&p), d = extraction_add_class(&p);
    uint32_t through_d = extraction_add_node(&p, root, 1, 2, (uint32_t[]){a, b});
    uint32_t through_c = extraction_add_node(&p, root, 1, 1, &c);
    extraction_add_node(&p, a, 1, 1, &d);
    extraction_add_node(&p, b, 1, 1, &d);
    extraction_add_node(&p, c, 14, 0, NULL);
    extraction_add_node(&p, d, 10, 0, NULL);
    extraction_add_root(&p, root);
    extraction_finish(&p);
    uint32_t choice[5];
    double cost;
    assert_true(extraction_greedy_tree(&p, choice, &cost));
    assert_int_equal(choice[root], through_c);
    assert_true(cost == 15);
    assert_true(extraction_greedy_dag(&p, choice, &cost));
    assert_int_equal(choice[root], through_d);
    assert_int_equal(choice[c], EXTRACTION_NONE);
    assert_true(cost == 13);
    extraction_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(greedy_gives_valid_selections),
        TEST(sharing_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
