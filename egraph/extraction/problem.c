// Building extraction problems, and the one place that says what a valid selection is. The nodes of a selection are
// walked depth first with a stack of (class, next child), so deep graphs do not overflow the program's stack.
#include "egraph/extraction/problem.h"
#include <assert.h>
#include <math.h>
#include <string.h>

uint32_t extraction_add_class(struct extraction_problem *p)
{
    return p->n_classes++;
}

uint32_t extraction_add_node(struct extraction_problem *p, uint32_t class_id, double cost, uint32_t n_children,
                             const uint32_t *children)
{
    assert(class_id < p->n_classes && cost >= 0);
    struct extraction_node node = {cost, class_id, (uint32_t)p->children.count};
    vec_push(&p->nodes, node);
    for (uint32_t i = 0; i < n_children; i++)
        vec_push(&p->children, children[i]);
    return p->n_nodes++;
}

void extraction_add_root(struct extraction_problem *p, uint32_t class_id)
{
    vec_push(&p->roots, class_id);
}

void extraction_finish(struct extraction_problem *p)
{
    struct extraction_node end = {0, EXTRACTION_NONE, (uint32_t)p->children.count};
    vec_push(&p->nodes, end);
    vec_reserve(&p->first, p->n_classes + 2);
    vec_reserve(&p->members, p->n_nodes + 1);
    p->first.count = p->n_classes + 1;
    p->members.count = p->n_nodes;
    memset(p->first.items, 0, (p->n_classes + 2) * sizeof(uint32_t));
    // first[c + 1] is where the next node of c goes, and ends as where those of c + 1 begin.
    for (uint32_t n = 0; n < p->n_nodes; n++)
        p->first.items[p->nodes.items[n].class_id + 2]++;
    for (uint32_t c = 2; c <= p->n_classes; c++)
        p->first.items[c] += p->first.items[c - 1];
    for (uint32_t n = 0; n < p->n_nodes; n++)
        p->members.items[p->first.items[p->nodes.items[n].class_id + 1]++] = n;
}

void extraction_free(struct extraction_problem *p)
{
    vecs_free(p, nodes, children, roots, first, members);
    *p = (struct extraction_problem){0};
}

enum visit { UNSEEN, OPEN, DONE };

struct frame {
    uint32_t class_id, next_child;
};
struct walk {
    const struct extraction_problem *problem;
    const uint32_t *choice;
    uint8_t *state;   // [n_classes] enum visit
    VEC(struct frame) stack;
};

static bool may_enter(const struct walk *w, uint32_t class_id)
{
    uint32_t node = w->choice[class_id];
    return w->state[class_id] == UNSEEN && node < w->problem->n_nodes &&
           w->problem->nodes.items[node].class_id == class_id && isfinite(w->problem->nodes.items[node].cost);
}

static void enter(struct walk *w, uint32_t class_id)
{
    w->state[class_id] = OPEN;
    vec_push(&w->stack, ((struct frame){class_id, 0}));
}

// False: a cycle, or a class without a node.
static bool step(struct walk *w)
{
    struct frame *top = &vec_last(&w->stack);
    uint32_t node = w->choice[top->class_id];
    if (top->next_child == extraction_n_children(w->problem, node)) {
        w->state[top->class_id] = DONE;
        w->stack.count--;
        return true;
    }
    uint32_t child = extraction_children(w->problem, node)[top->next_child++];
    if (w->state[child] == DONE)
        return true;
    if (!may_enter(w, child))
        return false;
    enter(w, child);
    return true;
}

static bool walk_roots(struct walk *w)
{
    for (size_t i = 0; i < w->problem->roots.count; i++) {
        uint32_t root = w->problem->roots.items[i];
        if (w->state[root] == DONE)
            continue;
        if (!may_enter(w, root))
            return false;
        enter(w, root);
        while (w->stack.count)
            if (!step(w))
                return false;
    }
    return true;
}

static double forget_unneeded(const struct walk *w, uint32_t *choice)
{
    double cost = 0;
    for (uint32_t c = 0; c < w->problem->n_classes; c++)
        if (w->state[c] == DONE)
            cost += w->problem->nodes.items[choice[c]].cost;
        else
            choice[c] = EXTRACTION_NONE;
    return cost;
}

bool extraction_settle(const struct extraction_problem *p, uint32_t *choice, double *ret_cost)
{
    struct walk w = {.problem = p, .choice = choice, .state = mem_alloc_zero(p->n_classes + 1)};
    bool is_valid = walk_roots(&w);
    if (is_valid)
        *ret_cost = forget_unneeded(&w, choice);
    mem_free(w.state, p->n_classes + 1);
    vec_free(&w.stack);
    return is_valid;
}
