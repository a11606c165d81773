// Lists of children are never changed in place: a changed one is a new list in the arena.
#include "egraph/extraction/draft.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t sort_once(uint32_t *ids, uint32_t n)
{
    uint32_t kept = 0;
    qsort(ids, n, sizeof *ids, compare_ids);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || ids[kept - 1] != ids[i])
            ids[kept++] = ids[i];
    return kept;
}

bool draft_has_child(const struct draft_node *n, uint32_t class_id)
{
    return n->n_children && bsearch(&class_id, n->children, n->n_children, sizeof class_id, compare_ids);
}

void draft_kill(struct draft *d, uint32_t node)
{
    if (!d->nodes[node].is_alive)
        return;
    d->nodes[node].is_alive = false;
    d->n_alive[d->nodes[node].class_id]--;
    d->has_changed = true;
}

static void take_node(struct draft *d, uint32_t node)
{
    const struct extraction_problem *p = d->origin;
    struct draft_node *n = &d->nodes[node];
    uint32_t n_children = extraction_n_children(p, node);
    uint32_t *children = arena_array(&d->arena, uint32_t, n_children);
    if (n_children)
        memcpy(children, extraction_children(p, node), n_children * sizeof *children);
    n_children = n_children ? sort_once(children, n_children) : 0;
    *n = (struct draft_node){p->nodes.items[node].cost, p->nodes.items[node].class_id, n_children, children, true};
    d->n_alive[n->class_id]++;
    if (!isfinite(n->cost) || draft_has_child(n, n->class_id))
        draft_kill(d, node);
}

void draft_init(struct draft *d, const struct extraction_problem *origin)
{
    *d = (struct draft){.origin = origin};
    d->nodes = arena_array(&d->arena, struct draft_node, origin->n_nodes + 1);
    d->n_alive = arena_array(&d->arena, uint32_t, origin->n_classes + 1);
    d->single = arena_array(&d->arena, uint32_t, origin->n_classes + 1);
    d->is_needed = arena_array(&d->arena, bool, origin->n_classes + 1);
    memset(d->single, 0xff, (origin->n_classes + 1) * sizeof(uint32_t));
    for (uint32_t n = 0; n < origin->n_nodes; n++)
        take_node(d, n);
    for (size_t i = 0; i < origin->roots.count; i++)
        d->is_needed[origin->roots.items[i]] = true;
}

void draft_free(struct draft *d)
{
    arena_free(&d->arena);
}

void draft_replace_child(struct draft *d, uint32_t node, uint32_t child, uint32_t by)
{
    struct draft_node *n = &d->nodes[node];
    uint32_t n_added = by == EXTRACTION_NONE ? 0 : d->nodes[by].n_children, kept = 0;
    uint32_t *children = arena_array(&d->arena, uint32_t, n->n_children + n_added);
    for (uint32_t i = 0; i < n->n_children; i++)
        if (n->children[i] != child)
            children[kept++] = n->children[i];
    if (n_added)
        memcpy(children + kept, d->nodes[by].children, n_added * sizeof *children);
    n->n_children = sort_once(children, kept + n_added);
    n->children = children;
    d->has_changed = true;
    if (draft_has_child(n, n->class_id))
        draft_kill(d, node);
}

struct draft_readers draft_list_readers(const struct draft *d, struct arena *arena)
{
    const struct extraction_problem *p = d->origin;
    struct draft_readers r = {.first = arena_array(arena, uint32_t, p->n_classes + 2)};
    size_t n_read = 0;
    for (uint32_t n = 0; n < p->n_nodes; n++)
        for (uint32_t i = 0; d->nodes[n].is_alive && i < d->nodes[n].n_children; i++, n_read++)
            r.first[d->nodes[n].children[i] + 2]++;
    for (uint32_t c = 2; c <= p->n_classes; c++)
        r.first[c] += r.first[c - 1];
    r.list = arena_array(arena, uint32_t, n_read);
    for (uint32_t n = 0; n < p->n_nodes; n++)
        for (uint32_t i = 0; d->nodes[n].is_alive && i < d->nodes[n].n_children; i++)
            r.list[r.first[d->nodes[n].children[i] + 1]++] = n;
    return r;
}

void draft_compile(const struct draft *d, struct extraction_problem *ret_problem, uint32_t *ret_class_of,
                   uint32_t *ret_node_of)
{
    LOCAL_ARRAY(uint32_t, new_id, d->origin->n_classes + 1);
    LOCAL_VEC(uint32_t, children);
    *ret_problem = (struct extraction_problem){0};
    for (uint32_t c = 0; c < d->origin->n_classes; c++) {
        if (!d->n_alive[c])
            continue;
        new_id[c] = extraction_add_class(ret_problem);
        ret_class_of[new_id[c]] = c;
        if (d->is_needed[c])
            extraction_add_root(ret_problem, new_id[c]);
    }
    for (uint32_t n = 0; n < d->origin->n_nodes; n++) {
        const struct draft_node *node = &d->nodes[n];
        if (!node->is_alive)
            continue;
        vec_clear(&children);
        for (uint32_t i = 0; i < node->n_children; i++)
            vec_push(&children, new_id[node->children[i]]);
        ret_node_of[extraction_add_node(ret_problem, new_id[node->class_id], node->cost, node->n_children,
                                        children.items)] = n;
    }
    extraction_finish(ret_problem);
}
