// An e-graph becomes an extraction problem over the classes that the outputs can need.
#include "optimizer/search/saturation/extraction_problem.h"

#include "core/system/clock.h"
#include "egraph/extraction/greedy.h"
#include "optimizer/limits.def"
#include <math.h>
#include <string.h>

struct posing {
    const struct egraph *e;
    struct node_costs *costs;
    struct extraction_problem problem;
    uint32_t *number_of;      // of every class; EXTRACTION_NONE: not reached
    VEC(eclass_id) reached;   // by number
    VEC(enode_id) nodes;      // by the problem's number
    double too_costly;        // selections that are not worth being priced as whole graphs
};

static uint32_t number_of(struct posing *p, eclass_id c)
{
    if (p->number_of[c] == EXTRACTION_NONE) {
        p->number_of[c] = extraction_add_class(&p->problem);
        vec_push(&p->reached, c);
    }
    return p->number_of[c];
}

static void pose_node(struct posing *p, uint32_t class, enode_id n, double cost)
{
    uint32_t n_children = p->e->nodes.items[n].n_children;
    LOCAL_ARRAY(uint32_t, children, n_children + 1);
    for (uint32_t i = 0; i < n_children; i++)
        children[i] = number_of(p, egraph_edges(p->e, n)[i].child);
    extraction_add_node(&p->problem, class, cost, n_children, children);
    vec_push(&p->nodes, n);
}

static void pose(struct posing *p, struct node_costs *costs, enum node_pricing pricing, const enode_id *outputs,
                 size_t n_outputs)
{
    const struct egraph *e = p->e;
    p->number_of = mem_new_array(uint32_t, e->nodes.count + 1);
    for (size_t i = 0; i <= e->nodes.count; i++)
        p->number_of[i] = EXTRACTION_NONE;
    for (size_t i = 0; i < n_outputs; i++)
        extraction_add_root(&p->problem, number_of(p, egraph_find(e, outputs[i])));
    for (uint32_t k = 0; k < p->reached.count; k++) {
        eclass_id c = p->reached.items[k];
        for (enode_id n = egraph_first_node(e, c); n != NO_ENODE; n = egraph_next_node(e, c, n))
            if (!e->nodes.items[n].is_filtered)
                pose_node(p, k, n, node_costs_find(costs, n, pricing));
    }
    extraction_finish(&p->problem);
}

// The problem that was posed stays.
static void posing_free(struct posing *p)
{
    mem_free_array(p->number_of, p->e->nodes.count + 1);
    vecs_free(p, reached, nodes);
}

// The oldest e-nodes of all classes are a graph (egraph/cycles.h): where nothing was united, the one that the e-graph
// began with.
static void choose_oldest(const struct posing *p, uint32_t *ret_choice)
{
    const struct extraction_problem *problem = &p->problem;
    for (uint32_t k = 0; k < problem->n_classes; k++) {
        ret_choice[k] = EXTRACTION_NONE;
        for (uint32_t i = problem->first.items[k]; i < problem->first.items[k + 1]; i++) {
            uint32_t n = problem->members.items[i];
            if (ret_choice[k] == EXTRACTION_NONE || p->nodes.items[n] < p->nodes.items[ret_choice[k]])
                ret_choice[k] = n;
        }
    }
}

static uint32_t count_unknown(const struct posing *p, const uint32_t *choice)
{
    uint32_t n = p->problem.n_classes, count = 0;
    LOCAL_ARRAY(uint32_t, first, n + 1);
    LOCAL_ARRAY(uint64_t, unknown, n + 1);
    double ignored;
    choose_oldest(p, first);
    extraction_settle(&p->problem, first, &ignored);
    for (uint32_t k = 0; k < n; k++) {
        bool is_new = choice[k] != EXTRACTION_NONE && choice[k] != first[k];
        uint64_t number = is_new ? node_costs_unknown(p->costs, p->nodes.items[choice[k]]) : 0;
        if (number && !ANY(uint32_t, i, count, unknown[i] == number))
            unknown[count++] = number;
    }
    return count;
}

static void keep(struct candidates *c, const struct posing *p, const uint32_t *choice, const char *extraction,
                 enum node_pricing pricing, double cost)
{
    if (cost >= p->too_costly)
        return;
    struct candidate made = {arena_array(&c->arena, enode_id, p->e->nodes.count + 1), extraction, pricing, cost,
                             count_unknown(p, choice)};
    memset(made.choice, 0xff, p->e->nodes.count * sizeof *made.choice);
    for (uint32_t k = 0; k < p->reached.count; k++)
        if (choice[k] != EXTRACTION_NONE)
            made.choice[p->reached.items[k]] = p->nodes.items[choice[k]];
    for (size_t i = 0; i < c->items.count; i++)
        if (memcmp(c->items.items[i].choice, made.choice, p->e->nodes.count * sizeof *made.choice) == 0)
            return;
    vec_push(&c->items, made);
}

#define CHEAPEST 4   // selections that are priced as whole graphs, under each way of pricing e-nodes

// Larger problems have more to do, and each step of it takes longer.
static struct extraction_budget budget_of(const struct extraction_budget *whole, size_t n_nodes)
{
    struct extraction_budget b = *whole;
    double share = n_nodes > USUAL_NODES ? (double)USUAL_NODES / (double)n_nodes : 1;
    b.branches = (uint64_t)((double)b.branches * share * sqrt(share));
    return b;
}

static void extract_best(struct candidates *c, const struct posing *p, enum node_pricing pricing,
                         const struct extraction_budget *budget)
{
    size_t n = p->problem.n_classes;
    LOCAL_ARRAY(uint32_t, choices, CHEAPEST * n + 1);
    LOCAL_ARRAY(uint32_t, start, n + 1);
    double costs[CHEAPEST];
    struct extraction_answer answer;
    struct extraction_budget own = budget_of(budget, p->problem.n_nodes);
    choose_oldest(p, start);
    uint32_t n_found = extraction_find_cheapest(&p->problem, &own, CHEAPEST, start, choices, costs, &answer);
    for (uint32_t i = 0; i < n_found; i++)
        keep(c, p, choices + i * n, "best", pricing, costs[i]);
    if (n_found && pricing == PRICED_ALONE) {
        c->bound = answer.bound;
        c->best = answer.cost;
    }
}

static bool is_interrupted(const struct extraction_budget *budget)
{
    return budget->is_interrupted && budget->is_interrupted(budget->context);
}

static void extract(struct candidates *c, const struct posing *p, enum node_pricing pricing,
                    const struct extraction_budget *budget)
{
    LOCAL_ARRAY(uint32_t, choice, p->problem.n_classes + 1);
    double cost;
    if (extraction_greedy_tree(&p->problem, choice, &cost))
        keep(c, p, choice, "tree", pricing, cost);
    if (extraction_greedy_dag(&p->problem, choice, &cost)) {
        keep(c, p, choice, "DAG", pricing, cost);
        c->best = pricing == PRICED_ALONE ? cost : c->best;
    }
    if (budget && !is_interrupted(budget) && (pricing == PRICED_ALONE || p->problem.n_nodes <= LARGE_PROBLEM))
        extract_best(c, p, pricing, budget);
}

static double cost_of_first(const struct posing *p)
{
    LOCAL_ARRAY(uint32_t, first, p->problem.n_classes + 1);
    double cost = INFINITY;
    choose_oldest(p, first);
    extraction_settle(&p->problem, first, &cost);
    return cost;
}

static bool has_equal_costs(const struct extraction_problem *p, const struct extraction_problem *other)
{
    return ALL(uint32_t, n, p->n_nodes, p->nodes.items[n].cost == other->nodes.items[n].cost);
}

const struct candidate *candidates_find_cheapest(const struct candidates *c, uint32_t most_unknown)
{
    const struct candidate *best = NULL;
    vec_each(&c->items, x) {
        bool is_cheaper = !best || x->pricing > best->pricing || (x->pricing == best->pricing && x->cost < best->cost);
        if (x->n_unknown <= most_unknown && is_cheaper)
            best = x;
    }
    return best;
}

void candidates_find(struct candidates *c, const struct egraph *e, const struct cost_model *cost,
                     const struct extraction_budget *budget, const enode_id *outputs, size_t n_outputs)
{
    struct node_costs costs FREED_BY(node_costs_free);
    struct posing all[NODE_PRICINGS];
    *c = (struct candidates){0};
    node_costs_init(&costs, e, cost);
    for (int pricing = 0; pricing < NODE_PRICINGS; pricing++) {
        struct posing *p = &all[pricing];
        double started = clock_seconds();
        *p = (struct posing){.e = e, .costs = &costs};
        pose(p, &costs, (enum node_pricing)pricing, outputs, n_outputs);
        p->too_costly = cost->known_seconds ? cost_of_first(p) : INFINITY;
        c->seconds_pricing += clock_seconds() - started;
        started = clock_seconds();
        if (pricing == 0 || !has_equal_costs(&p->problem, &all[pricing - 1].problem))
            extract(c, p, (enum node_pricing)pricing, budget);
        c->seconds_extracting += clock_seconds() - started;
    }
    for (int pricing = 0; pricing < NODE_PRICINGS; pricing++) {
        extraction_free(&all[pricing].problem);
        posing_free(&all[pricing]);
    }
}

void candidates_pose(const struct egraph *e, const struct cost_model *cost, const enode_id *outputs, size_t n_outputs,
                     struct extraction_problem *ret_problem)
{
    struct node_costs costs FREED_BY(node_costs_free);
    struct posing p FREED_BY(posing_free) = {.e = e};
    node_costs_init(&costs, e, cost);
    pose(&p, &costs, PRICED_ALONE, outputs, n_outputs);
    *ret_problem = p.problem;
}

void candidates_free(struct candidates *c)
{
    vec_free(&c->items);
    arena_free(&c->arena);
}
