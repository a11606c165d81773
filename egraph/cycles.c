// Two depth-first searches: one that breaks every cycle it meets, and one that asks for a way between two classes.
#include "egraph/cycles.h"

#define UNRANKED UINT32_MAX

void ecycles_init(struct ecycles *c, const struct egraph *e)
{
    *c = (struct ecycles){.e = e};
}

void ecycles_free(struct ecycles *c)
{
    vecs_free(c, rank, visited, stack);
}

// --- resolving -------------------------------------------------------------------------------------------------------
// A depth-first search. A child that is on the way already closes a cycle: the youngest node on it is filtered, and the
// search goes on from its place on the way, what was above it forgotten.

struct frame {
    eclass_id class;
    enode_id node;    // the one that is looked at; NO_ENODE: all were
    uint32_t child;   // of it, the next
};
typedef VEC(struct frame) frames;
enum { WHITE, GREY, BLACK };

struct resolution {
    struct egraph *e;
    struct ecycles *c;
    uint8_t *color;
    frames way;
    uint32_t next_rank;
    size_t n_filtered;
};

static enode_id skip_filtered(const struct egraph *e, eclass_id c, enode_id n)
{
    while (n != NO_ENODE && e->nodes.items[n].is_filtered)
        n = egraph_next_node(e, c, n);
    return n;
}

static void enter(struct resolution *r, eclass_id c)
{
    r->color[c] = GREY;
    vec_push(&r->way, ((struct frame){c, skip_filtered(r->e, c, egraph_first_node(r->e, c)), 0}));
}

static void leave(struct resolution *r)
{
    struct frame last = vec_pop(&r->way);
    r->color[last.class] = BLACK;
    r->c->rank.items[last.class] = r->next_rank++;
}

static void next_node(struct resolution *r, struct frame *f)
{
    f->node = skip_filtered(r->e, f->class, egraph_next_node(r->e, f->class, f->node));
    f->child = 0;
}

// The last frame's node reads a class that is on the way.
static void break_cycle(struct resolution *r, eclass_id repeated)
{
    size_t i = r->way.count, youngest;
    do
        i--;
    while (r->way.items[i].class != repeated);
    youngest = i;
    for (; i < r->way.count; i++)
        if (r->way.items[i].node > r->way.items[youngest].node)
            youngest = i;
    egraph_filter(r->e, r->way.items[youngest].node);
    r->n_filtered++;
    while (r->way.count > youngest + 1)
        r->color[vec_pop(&r->way).class] = WHITE;
    next_node(r, &vec_last(&r->way));
}

static void step(struct resolution *r)
{
    struct frame *f = &vec_last(&r->way);
    if (f->node == NO_ENODE) {
        leave(r);
    } else if (f->child == r->e->nodes.items[f->node].n_children) {
        next_node(r, f);
    } else {
        eclass_id child = egraph_edges(r->e, f->node)[f->child++].child;
        if (r->color[child] == WHITE)
            enter(r, child);
        else if (r->color[child] == GREY)
            break_cycle(r, child);
    }
}

size_t ecycles_resolve(struct ecycles *c, struct egraph *e)
{
    size_t n = e->nodes.count;
    LOCAL_ZEROS(uint8_t, color, n + 1);
    struct resolution r = {.e = e, .c = c, .color = color};
    while (c->rank.count < n)
        vec_push(&c->rank, UNRANKED);
    while (c->visited.count < n)
        vec_push(&c->visited, 0);
    for (eclass_id class = 0; class < n; class ++) {
        if (egraph_find(e, class) == class && r.color[class] == WHITE)
            enter(&r, class);
        while (r.way.count)
            step(&r);
    }
    vec_free(&r.way);
    return r.n_filtered;
}

// --- reachability ----------------------------------------------------------------------------------------------------

static void visit(struct ecycles *c, eclass_id class)
{
    while (c->visited.count <= class)
        vec_push(&c->visited, 0);
    if (c->visited.items[class] == c->question)
        return;
    c->visited.items[class] = c->question;
    vec_push(&c->stack, class);
}

static bool is_above(const struct ecycles *c, eclass_id class, uint32_t least_rank)
{
    return least_rank == 0 ||
           (class < c->rank.count && c->rank.items[class] != UNRANKED && c->rank.items[class] > least_rank);
}

static void visit_children(struct ecycles *c, enode_id n, uint32_t least_rank, eclass_id to)
{
    for (uint32_t i = 0; i < c->e->nodes.items[n].n_children; i++) {
        eclass_id child = egraph_find(c->e, egraph_edges(c->e, n)[i].child);
        if (child == to || is_above(c, child, least_rank))
            visit(c, child);
    }
}

static bool search(struct ecycles *c, eclass_id from, eclass_id to, uint32_t least_rank)
{
    c->question++;
    vec_clear(&c->stack);
    visit(c, from);
    while (c->stack.count) {
        eclass_id class = vec_pop(&c->stack);
        if (class == to)
            return true;
        for (enode_id n = egraph_first_node(c->e, class); n != NO_ENODE; n = egraph_next_node(c->e, class, n))
            if (!c->e->nodes.items[n].is_filtered)
                visit_children(c, n, least_rank, to);
    }
    return false;
}

bool ecycles_reaches(struct ecycles *c, eclass_id from, eclass_id to)
{
    return search(c, egraph_find(c->e, from), egraph_find(c->e, to), 0);
}

bool ecycles_reached(struct ecycles *c, eclass_id from, eclass_id to)
{
    eclass_id x = egraph_find(c->e, from), y = egraph_find(c->e, to);
    return x == y ||
           (x < c->rank.count && y < c->rank.count && c->rank.items[x] != UNRANKED && c->rank.items[y] != UNRANKED &&
            c->rank.items[x] > c->rank.items[y] && search(c, x, y, c->rank.items[y]));
}
