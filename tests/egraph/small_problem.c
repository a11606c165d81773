// Selections are enumerated by always deciding the lowest class that is needed and open; whether one has a cycle is
// seen by taking away, again and again, classes whose children are all taken away.
#include "tests/egraph/small_problem.h"
#include "core/numbers/random.h"
#include <math.h>
#include <string.h>

static double random_cost(struct random *r)
{
    uint64_t kind = random_below(r, 12);
    return kind == 0 ? INFINITY : kind < 4 ? 0 : (double)(1 + random_below(r, 40)) / 8;
}

static void add_random_node(struct extraction_problem *p, struct random *r, uint32_t class_id)
{
    uint32_t children[3];
    uint32_t n_children = (uint32_t)random_below(r, 4);
    for (uint32_t i = 0; i < n_children; i++)
        children[i] = (uint32_t)random_below(r, p->n_classes);
    extraction_add_node(p, class_id, random_cost(r), n_children, children);
}

void small_problem_make(struct extraction_problem *ret_problem, struct random *r)
{
    *ret_problem = (struct extraction_problem){0};
    uint32_t n_classes = 2 + (uint32_t)random_below(r, MAX_SMALL_CLASSES - 1);
    for (uint32_t c = 0; c < n_classes; c++)
        extraction_add_class(ret_problem);
    uint32_t n_nodes = n_classes + (uint32_t)random_below(r, 2 * n_classes);
    for (uint32_t i = 0; i < n_nodes; i++)
        add_random_node(ret_problem, r,
                        i < n_classes && random_below(r, 16) ? i : (uint32_t)random_below(r, n_classes));
    for (uint64_t n = 1 + random_below(r, 3); n; n--)
        extraction_add_root(ret_problem, (uint32_t)random_below(r, n_classes));
    extraction_finish(ret_problem);
}

static double between(struct random *r, uint64_t low, uint64_t high)
{
    return (double)(low + random_below(r, high - low)) / 8;
}

static void add_merged(struct extraction_problem *p, struct random *r, double *cost)
{
    uint32_t a = (uint32_t)random_below(r, p->n_classes), b = (uint32_t)random_below(r, p->n_classes);
    if (a == b)
        return;
    uint32_t merged = extraction_add_class(p);
    cost[merged] = floor((cost[a] + cost[b]) * (0.5 + random_unit(r) / 2) * 8) / 8;
    extraction_add_node(p, merged, cost[merged], 0, NULL);
    extraction_add_node(p, merged, 0.25, 2, (uint32_t[]){a, b});
    extraction_add_node(p, a, 0, 1, &merged);
    extraction_add_node(p, b, 0, 1, &merged);
}

void small_problem_make_merges(struct extraction_problem *ret_problem, struct random *r)
{
    double cost[MAX_SMALL_CLASSES];
    *ret_problem = (struct extraction_problem){0};
    for (uint64_t n = 2 + random_below(r, 3); n; n--) {
        uint32_t base = extraction_add_class(ret_problem);
        cost[base] = between(r, 10, 80);
        extraction_add_node(ret_problem, base, cost[base], 0, NULL);
        extraction_add_root(ret_problem, base);
    }
    for (int i = 0; i < 8 && ret_problem->n_classes < MAX_SMALL_CLASSES; i++)
        add_merged(ret_problem, r, cost);
    extraction_finish(ret_problem);
}

struct trial {
    const struct extraction_problem *problem;
    struct selections *all;
    struct selection now;
};

static bool is_needed(const struct trial *t, uint32_t class_id)
{
    const struct extraction_problem *p = t->problem;
    for (size_t i = 0; i < p->roots.count; i++)
        if (p->roots.items[i] == class_id)
            return true;
    for (uint32_t n = 0; n < p->n_nodes; n++)
        for (uint32_t i = 0; i < extraction_n_children(p, n); i++)
            if (t->now.choice[p->nodes.items[n].class_id] == n && extraction_children(p, n)[i] == class_id)
                return true;
    return false;
}

static bool has_cycle(const struct trial *t)
{
    bool is_left[MAX_SMALL_CLASSES], has_changed = true;
    for (uint32_t c = 0; c < t->problem->n_classes; c++)
        is_left[c] = t->now.choice[c] != EXTRACTION_NONE;
    while (has_changed) {
        has_changed = false;
        for (uint32_t c = 0; c < t->problem->n_classes; c++) {
            bool waits = false;
            for (uint32_t i = 0; is_left[c] && i < extraction_n_children(t->problem, t->now.choice[c]); i++)
                waits |= is_left[extraction_children(t->problem, t->now.choice[c])[i]];
            has_changed |= is_left[c] && !waits;
            is_left[c] &= waits;
        }
    }
    return memchr(is_left, true, t->problem->n_classes) != NULL;
}

static void keep_selection(struct trial *t)
{
    t->now.cost = 0;
    for (uint32_t c = 0; c < t->problem->n_classes; c++)
        if (t->now.choice[c] != EXTRACTION_NONE)
            t->now.cost += t->problem->nodes.items[t->now.choice[c]].cost;
    if (isfinite(t->now.cost))
        vec_push(&t->all->list, t->now);
}

static void decide(struct trial *t)
{
    for (uint32_t c = 0; c < t->problem->n_classes; c++) {
        if (t->now.choice[c] != EXTRACTION_NONE || !is_needed(t, c))
            continue;
        for (uint32_t n = 0; n < t->problem->n_nodes; n++) {
            if (t->problem->nodes.items[n].class_id != c)
                continue;
            t->now.choice[c] = n;
            if (!has_cycle(t))
                decide(t);
            t->now.choice[c] = EXTRACTION_NONE;
        }
        return;
    }
    keep_selection(t);
}

static int compare_selections(const void *a, const void *b)
{
    const struct selection *x = a, *y = b;
    return x->cost != y->cost ? (x->cost < y->cost ? -1 : 1) : memcmp(x->choice, y->choice, sizeof x->choice);
}

void small_problem_try_all(const struct extraction_problem *p, struct selections *ret_all)
{
    struct trial t = {.problem = p, .all = ret_all};
    memset(t.now.choice, 0xff, sizeof t.now.choice);
    vec_clear(&ret_all->list);
    decide(&t);
    vec_sort(&ret_all->list, compare_selections);
}
