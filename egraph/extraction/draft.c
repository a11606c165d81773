// Lists of children are never changed in place: a changed one is a new list in the arena.
#include "egraph/extraction/draft.h"
#include <math.h>
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
    arena_init(&d->arena);
    d->nodes = mem_new_array(struct draft_node, origin->n_nodes + 1);
    d->n_alive = mem_alloc_zero((origin->n_classes + 1) * sizeof(uint32_t));
    d->single = mem_new_array(uint32_t, origin->n_classes + 1);
    d->is_needed = mem_alloc_zero(origin->n_classes + 1);
    memset(d->single, 0xff, (origin->n_classes + 1) * sizeof(uint32_t));
    for (uint32_t n = 0; n < origin->n_nodes; n++)
        take_node(d, n);
    for (size_t i = 0; i < origin->roots.count; i++)
        d->is_needed[origin->roots.items[i]] = true;
}

void draft_free(struct draft *d)
{
    mem_free_array(d->nodes, d->origin->n_nodes + 1);
    mem_free_array(d->n_alive, d->origin->n_classes + 1);
    mem_free_array(d->single, d->origin->n_classes + 1);
    mem_free(d->is_needed, d->origin->n_classes + 1);
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

void draft_list_readers(const struct draft *d, struct draft_readers *ret_readers)
{
    const struct extraction_problem *p = d->origin;
    struct draft_readers r = {.n_first = p->n_classes + 2, .n_list = 1};
    r.first = mem_alloc_zero(r.n_first * sizeof *r.first);
    for (uint32_t n = 0; n < p->n_nodes; n++)
        for (uint32_t i = 0; d->nodes[n].is_alive && i < d->nodes[n].n_children; i++, r.n_list++)
            r.first[d->nodes[n].children[i] + 2]++;
    for (uint32_t c = 2; c <= p->n_classes; c++)
        r.first[c] += r.first[c - 1];
    r.list = mem_new_array(uint32_t, r.n_list);
    for (uint32_t n = 0; n < p->n_nodes; n++)
        for (uint32_t i = 0; d->nodes[n].is_alive && i < d->nodes[n].n_children; i++)
            r.list[r.first[d->nodes[n].children[i] + 1]++] = n;
    *ret_readers = r;
}

void draft_free_readers(struct draft_readers *readers)
{
    mem_free_array(readers->first, readers->n_first);
    mem_free_array(readers->list, readers->n_list);
}

void draft_compile(const struct draft *d, struct extraction_problem *ret_problem, uint32_t *ret_class_of,
                   uint32_t *ret_node_of)
{
    uint32_t *new_id = mem_new_array(uint32_t, d->origin->n_classes + 1);
    VEC(uint32_t) children = {0};
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
    mem_free_array(new_id, d->origin->n_classes + 1);
    vec_free(&children);
}
