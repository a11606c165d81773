// Pairs of e-nodes that are to be explained wait in a list; each edge of the forest between the two adds what it takes
// for granted: congruent nodes have equal children, and an application found e-nodes for the terms of its rule in the
// classes of what was read.
#include "optimizer/search/saturation/derivation.h"

#include "core/memory/hash.h"
#include "egraph/explain.h"

struct pair {
    enode_id a, b;
};
struct explaining {
    const struct exploration *x;
    const struct egraph *e;
    struct derivation *d;
    VEC(struct pair) pairs;   // those before `next` were explained
    size_t next;
    struct table seen;
    bool *is_used;   // of every application
};

static bool is_same_pair(const void *owner, uint32_t id, const void *key)
{
    const struct pair *known = &((const struct explaining *)owner)->pairs.items[id], *asked = key;
    return known->a == asked->a && known->b == asked->b;
}

static void add_pair(struct explaining *ex, enode_id a, enode_id b)
{
    struct pair p = {a < b ? a : b, a < b ? b : a};
    uint64_t hash = hash_mix(p.a, p.b);
    if (a == b || table_find(&ex->seen, hash, is_same_pair, ex, &p) != TABLE_NONE)
        return;
    table_insert(&ex->seen, hash, (uint32_t)ex->pairs.count);
    vec_push(&ex->pairs, p);
}

static bool is_commutative(const struct egraph *e, enode_id n)
{
    const struct operator* op = egraph_operator(e, n);
    return op && (op->flags & OPERATOR_IS_COMMUTATIVE) && e->nodes.items[n].n_children == 2;
}

// The children of a node are these, in either order where it commutes.
static void add_children(struct explaining *ex, enode_id n, const enode_id *others)
{
    const struct eedge *edges = egraph_edges(ex->e, n);
    bool is_swapped = is_commutative(ex->e, n) && egraph_find(ex->e, others[0]) != egraph_find(ex->e, edges[0].first);
    for (uint32_t i = 0; i < ex->e->nodes.items[n].n_children; i++)
        add_pair(ex, edges[i].first, others[is_swapped ? 1 - i : i]);
}

static void add_congruence(struct explaining *ex, enode_id x, enode_id y)
{
    uint32_t n_children = ex->e->nodes.items[y].n_children;
    LOCAL_ARRAY(enode_id, others, n_children + 1);
    for (uint32_t i = 0; i < n_children; i++)
        others[i] = egraph_edges(ex->e, y)[i].first;
    add_children(ex, x, others);
}

static void add_application(struct explaining *ex, uint32_t application)
{
    const struct eapplication *a = &ex->x->applications.items[application];
    const struct rule *r = ex->x->rules->rules.items[a->rule];
    if (ex->is_used[application])
        return;
    ex->is_used[application] = true;
    vec_push(&ex->d->applications, application);
    for (uint32_t n = 0; n < r->pattern.nodes.count; n++) {
        const struct pattern_node *pattern = &r->pattern.nodes.items[n];
        enode_id others[MAX_RULE_VARIABLES];
        for (uint32_t i = 0; i < pattern->n_inputs; i++)
            others[i] = exploration_term(ex->x, a, pattern->inputs[i]);
        add_children(ex, exploration_node(ex->x, a, n), others);
    }
    for (term_id t = 0; t < r->pattern.terms.count; t++) {
        const struct term *term = &r->pattern.terms.items[t];
        enode_id made = exploration_term(ex->x, a, t);
        if (!term->is_variable && ex->e->nodes.items[made].op == PROJECTION)
            add_pair(ex, egraph_edges(ex->e, made)[0].first, exploration_node(ex->x, a, term->index));
    }
}

static void add_edge(void *context, enode_id x, enode_id y, uint32_t reason)
{
    struct explaining *ex = context;
    if (reason == REASON_CONGRUENCE)
        add_congruence(ex, x, y);
    else
        add_application(ex, reason);
}

// Pairs from the outputs down: what was chosen for a class against the e-node by which it was reached.
static void add_choice(struct explaining *ex, const enode_id *choice, const enode_id *outputs, size_t n_outputs)
{
    LOCAL_ZEROS(bool, is_reached, ex->e->nodes.count + 1);
    LOCAL_VEC(enode_id, waiting);
    for (size_t i = 0; i < n_outputs; i++)
        vec_push(&waiting, outputs[i]);
    while (waiting.count) {
        enode_id n = vec_pop(&waiting), chosen = choice[egraph_find(ex->e, n)];
        add_pair(ex, n, chosen);
        if (is_reached[chosen])
            continue;
        is_reached[chosen] = true;
        for (uint32_t i = 0; i < ex->e->nodes.items[chosen].n_children; i++)
            vec_push(&waiting, egraph_edges(ex->e, chosen)[i].first);
    }
}

static int compare_numbers(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

void derivation_find(struct derivation *d, const struct exploration *x, const enode_id *choice, const enode_id *outputs,
                     size_t n_outputs)
{
    struct explaining ex = {.x = x, .e = x->e, .d = d};
    *d = (struct derivation){0};
    ex.is_used = mem_alloc_zero(x->applications.count + 1);
    add_choice(&ex, choice, outputs, n_outputs);
    for (; ex.next < ex.pairs.count; ex.next++) {
        struct pair p = ex.pairs.items[ex.next];
        egraph_explain(x->e, p.a, p.b, add_edge, &ex);
    }
    vec_sort(&d->applications, compare_numbers);
    mem_free(ex.is_used, x->applications.count + 1);
    vec_free(&ex.pairs);
    table_free(&ex.seen);
}

void derivation_free(struct derivation *d)
{
    vec_free(&d->applications);
}
