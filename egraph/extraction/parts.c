// Parts are found with a union-find over the classes. The combinations of what was found in the parts so far, k at
// most, are crossed with the selections of the next one; the k cheapest of all are among those.
#include "egraph/extraction/parts.h"
#include "core/memory/arena.h"
#include "core/memory/union_find.h"
#include "core/system/clock.h"
#include "egraph/extraction/incumbent.h"
#include <math.h>
#include <string.h>

struct part {
    uint32_t head;   // of its classes
    uint32_t n_nodes;
};
struct parts {
    struct incumbent *incumbent;
    const struct extraction_problem *problem;   // root.problem
    struct extraction_answer *answer;
    uint32_t *head;       // [n_classes] union-find
    uint32_t *new_id;     // [n_classes] within its part
    uint32_t *cheapest;   // [n_classes] the selection to begin with
    VEC(struct part) list;
    uint32_t n_combined;
    double *costs;        // [k] of the combinations
    uint32_t *combined;   // [k][n_classes]
    double bound;
    bool are_proved;
};
struct found {   // in one part
    struct extraction_problem problem;
    VEC(uint32_t) class_of, node_of;
    uint32_t count;
    uint32_t *choices;   // [k][n_classes of the part]
    double *costs;
};

static uint32_t find_head(struct parts *p, uint32_t class_id)
{
    return union_find_root(p->head, class_id);
}

static void join_classes(struct parts *p)
{
    union_find_init(p->head, p->problem->n_classes);
    for (uint32_t n = 0; n < p->problem->n_nodes; n++)
        for (uint32_t i = 0; i < extraction_n_children(p->problem, n); i++)
            union_find_join(p->head, p->problem->nodes.items[n].class_id, extraction_children(p->problem, n)[i]);
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->n_nodes != y->n_nodes ? (x->n_nodes > y->n_nodes) - (x->n_nodes < y->n_nodes)
                                    : (x->head > y->head) - (x->head < y->head);
}

static void list_parts(struct parts *p)
{
    LOCAL_ZEROS(uint32_t, n_nodes, p->problem->n_classes + 1);
    join_classes(p);
    for (uint32_t n = 0; n < p->problem->n_nodes; n++)
        n_nodes[find_head(p, p->problem->nodes.items[n].class_id)]++;
    for (uint32_t c = 0; c < p->problem->n_classes; c++)
        if (n_nodes[c])
            vec_push(&p->list, ((struct part){c, n_nodes[c]}));
    vec_sort(&p->list, compare_parts);
}

static void copy_classes(struct parts *p, uint32_t head, struct found *f)
{
    for (uint32_t c = 0; c < p->problem->n_classes; c++)
        if (find_head(p, c) == head) {
            p->new_id[c] = extraction_add_class(&f->problem);
            vec_push(&f->class_of, c);
        }
    for (size_t i = 0; i < p->problem->roots.count; i++)
        if (find_head(p, p->problem->roots.items[i]) == head)
            extraction_add_root(&f->problem, p->new_id[p->problem->roots.items[i]]);
}

static void copy_nodes(struct parts *p, uint32_t head, struct found *f)
{
    LOCAL_VEC(uint32_t, children);
    for (uint32_t n = 0; n < p->problem->n_nodes; n++) {
        const struct extraction_node *node = &p->problem->nodes.items[n];
        if (find_head(p, node->class_id) != head)
            continue;
        vec_clear(&children);
        for (uint32_t i = 0; i < extraction_n_children(p->problem, n); i++)
            vec_push(&children, p->new_id[extraction_children(p->problem, n)[i]]);
        extraction_add_node(&f->problem, p->new_id[node->class_id], node->cost, (uint32_t)children.count,
                            children.items);
        vec_push(&f->node_of, n);
    }
}

static void add_answer(struct parts *p, const struct extraction_answer *answer)
{
    p->are_proved &= answer->end == EXTRACTION_PROVED;
    p->bound += answer->bound;
    p->answer->branches += answer->branches;
    p->answer->restarts += answer->restarts;
    p->incumbent->is_out_of_time |= answer->end == EXTRACTION_OUT_OF_TIME;
}

// Begins with what the cheapest selection takes of the part. False: it is none of the reduced problem.
static bool begin_part(const struct parts *p, const struct found *f, uint32_t *ret_start)
{
    double cost;
    for (uint32_t c = 0; c < f->problem.n_classes; c++)
        ret_start[c] = EXTRACTION_NONE;
    for (uint32_t n = 0; n < f->problem.n_nodes; n++) {
        uint32_t of_whole = f->node_of.items[n];
        if (p->cheapest[p->problem->nodes.items[of_whole].class_id] == of_whole)
            ret_start[f->problem.nodes.items[n].class_id] = n;
    }
    return extraction_settle(&f->problem, ret_start, &cost);
}

// `share`: of the time that is left.
static void search_part(struct parts *p, struct found *f, double share)
{
    struct extraction_budget budget = *p->incumbent->budget;
    struct extraction_answer answer = {0};
    uint32_t k = p->incumbent->k;
    if (budget.seconds > 0)
        budget.seconds = fmax(1e-3, (p->incumbent->deadline - clock_seconds()) * share);
    f->choices = mem_new_array(uint32_t, (size_t)k * f->problem.n_classes + 1);
    f->costs = mem_new_array(double, k);
    LOCAL_ARRAY(uint32_t, start, f->problem.n_classes + 1);
    bool has_start = begin_part(p, f, start);
    f->count =
        p->incumbent->find_cheapest(&f->problem, &budget, k, has_start ? start : NULL, f->choices, f->costs, &answer);
    add_answer(p, &answer);
}

struct combination {
    double cost;
    uint32_t before, now;   // places among those so far, and among those of the part
};

static int compare_combinations(const void *a, const void *b)
{
    const struct combination *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return x->before != y->before ? (x->before > y->before) - (x->before < y->before)
                                  : (x->now > y->now) - (x->now < y->now);
}

static void write_combination(const struct parts *p, const struct found *f, struct combination c, uint32_t *ret_choice)
{
    uint32_t n_classes = p->problem->n_classes;
    memcpy(ret_choice, p->combined + (size_t)c.before * n_classes, n_classes * sizeof *ret_choice);
    const uint32_t *choice = f->choices + (size_t)c.now * f->problem.n_classes;
    for (uint32_t i = 0; i < f->problem.n_classes; i++)
        if (choice[i] != EXTRACTION_NONE)
            ret_choice[f->class_of.items[i]] = f->node_of.items[choice[i]];
}

static void combine(struct parts *p, const struct found *f)
{
    uint32_t n_classes = p->problem->n_classes, k = p->incumbent->k;
    LOCAL_VEC(struct combination, all);
    for (uint32_t before = 0; before < p->n_combined; before++)
        for (uint32_t now = 0; now < f->count; now++)
            vec_push(&all, ((struct combination){p->costs[before] + f->costs[now], before, now}));
    vec_sort(&all, compare_combinations);
    uint32_t *combined = mem_new_array(uint32_t, (size_t)k * n_classes);
    p->n_combined = all.count < k ? (uint32_t)all.count : k;
    for (uint32_t i = 0; i < p->n_combined; i++) {
        write_combination(p, f, all.items[i], combined + (size_t)i * n_classes);
        p->costs[i] = all.items[i].cost;
    }
    mem_free_array(p->combined, (size_t)k * n_classes);
    p->combined = combined;
}

static void free_found(struct found *f, uint32_t k)
{
    mem_free_array(f->choices, (size_t)k * f->problem.n_classes + 1);
    mem_free_array(f->costs, k);
    vec_free(&f->class_of);
    vec_free(&f->node_of);
    extraction_free(&f->problem);
}

static void search_parts(struct parts *p)
{
    double n_left = p->problem->n_nodes;
    for (size_t i = 0; i < p->list.count; i++) {
        struct found f = {0};
        copy_classes(p, p->list.items[i].head, &f);
        copy_nodes(p, p->list.items[i].head, &f);
        extraction_finish(&f.problem);
        search_part(p, &f, p->list.items[i].n_nodes / n_left);
        combine(p, &f);
        n_left -= p->list.items[i].n_nodes;
        free_found(&f, p->incumbent->k);
    }
}

static void search_and_offer(struct parts *p)
{
    struct incumbent *i = p->incumbent;
    uint32_t n_classes = p->problem->n_classes;
    LOCAL_ZEROS(double, costs, i->k);
    p->costs = costs;
    p->combined = mem_new_array(uint32_t, (size_t)i->k * n_classes);
    memset(p->combined, 0xff, (size_t)i->k * n_classes * sizeof *p->combined);
    p->n_combined = 1;
    search_parts(p);
    for (uint32_t place = 0; place < p->n_combined; place++)
        incumbent_offer(i, p->combined + (size_t)place * n_classes);
    i->bound = p->are_proved ? INFINITY : fmax(i->bound, i->root.fixed_cost + p->bound);
    mem_free_array(p->combined, (size_t)i->k * n_classes);
}

bool parts_search(struct incumbent *i, struct extraction_answer *answer)
{
    ARENA(arena);
    struct parts p = {.incumbent = i, .problem = &i->root.problem, .answer = answer, .are_proved = true};
    uint32_t n_classes = p.problem->n_classes;
    p.head = arena_array(&arena, uint32_t, n_classes + 1);
    p.new_id = arena_array(&arena, uint32_t, n_classes + 1);
    p.cheapest = arena_array(&arena, uint32_t, n_classes + 1);
    reduction_lower(&i->root, incumbent_choice(i, 0), p.cheapest);
    list_parts(&p);
    bool has_parts = p.list.count > 1;
    if (has_parts)
        search_and_offer(&p);
    vec_free(&p.list);
    return has_parts;
}
