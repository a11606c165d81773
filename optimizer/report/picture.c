// Layers by the longest path from the inputs; within a layer, nodes are ordered by where their neighbours in the layers
// above and below stand (the barycentre heuristic of Sugiyama), then put as near to these as the boxes allow.
#include "optimizer/report/picture.h"

#include "substitutions/match.h"
#include "substitutions/match_index.h"
#include <stdlib.h>

#define PITCH_X (PICTURE_BOX_WIDTH + 22)
#define PITCH_Y (PICTURE_BOX_HEIGHT + 30)
#define MARGIN 20
#define NOT_SHOWN UINT32_MAX

enum { SWEEPS = 4 };

struct drawing {
    struct picture *p;
    const struct graph *g;
    uint32_t *place;       // of every node of g: in the picture, or NOT_SHOWN
    VEC(uint32_t) order;   // places, layer by layer
    VEC(uint32_t) first;   // of each layer in `order`, and the end
    VEC(double) wanted;    // of every place: where its neighbours are, on average
};

// --- what is shown ---------------------------------------------------------------------------------------------------

static void list_nodes(struct drawing *d)
{
    struct match_index index;
    match_index_init(&index, d->g);
    for (node_id n = 0; n < d->g->nodes.count; n++) {
        d->place[n] = NOT_SHOWN;
        if (!index.is_live[n] || index.is_weight[n])
            continue;
        d->place[n] = (uint32_t)d->p->nodes.count;
        vec_push(&d->p->nodes, ((struct picture_node){.node = n}));
    }
    match_index_free(&index);
}

static void list_edges(struct drawing *d)
{
    for (uint32_t to = 0; to < d->p->nodes.count; to++) {
        struct picture_node *node = &d->p->nodes.items[to];
        for (uint32_t i = 0; i < d->g->nodes.items[node->node].n_inputs; i++) {
            uint32_t from = d->place[d->g->tensors.items[graph_inputs(d->g, node->node)[i]].producer];
            if (from == NOT_SHOWN)
                continue;
            vec_push(&d->p->edges, ((struct picture_edge){from, to}));
            uint32_t below = d->p->nodes.items[from].layer + 1;
            node->layer = node->layer > below ? node->layer : below;
        }
    }
}

// --- what is changed -------------------------------------------------------------------------------------------------

struct twin {
    const struct graph *g;
    node_id node;
};

static bool is_twin(const void *owner, uint32_t id, const void *key)
{
    const struct graph *other = owner;
    const struct twin *twin = key;
    const struct node *x = &other->nodes.items[id], *y = &twin->g->nodes.items[twin->node];
    if (x->op != y->op || x->key != y->key || x->n_outputs != y->n_outputs)
        return false;
    for (uint32_t i = 0; i < x->n_outputs; i++)
        if (other->tensors.items[x->first_output + i].value != twin->g->tensors.items[y->first_output + i].value)
            return false;
    return true;
}

// Nodes are known by what they compute from what, by value keys, which rewriting keeps.
static void mark_changed(struct picture *p, const struct graph *other)
{
    struct table by_key = {0};
    for (node_id n = 0; n < other->nodes.count; n++)
        table_insert(&by_key, other->nodes.items[n].key, n);
    for (size_t i = 0; i < p->nodes.count; i++) {
        struct twin twin = {p->graph, p->nodes.items[i].node};
        uint64_t key = p->graph->nodes.items[twin.node].key;
        p->nodes.items[i].is_changed = table_find(&by_key, key, is_twin, other, &twin) == TABLE_NONE;
        p->n_changed += p->nodes.items[i].is_changed;
    }
    table_free(&by_key);
}

// --- costs -----------------------------------------------------------------------------------------------------------

static bool has_value(const void *owner, uint32_t id, const void *key)
{
    const struct picture *p = owner;
    return p->graph->tensors.items[p->graph->nodes.items[p->nodes.items[id].node].first_output].value ==
           *(const uint64_t *)key;
}

static void add_costs(struct picture *p, const struct graph_steps *steps)
{
    struct table by_value = {0};
    for (uint32_t i = 0; i < p->nodes.count; i++) {
        const struct node *n = &p->graph->nodes.items[p->nodes.items[i].node];
        if (n->n_outputs)
            table_insert(&by_value, p->graph->tensors.items[n->first_output].value, i);
    }
    for (size_t i = 0; i < steps->steps.count; i++) {
        const struct step_summary *s = &steps->steps.items[i];
        if (s->n_values == 0)
            continue;
        const uint64_t *value = &steps->values.items[s->first_value];
        uint32_t found = table_find(&by_value, *value, has_value, p, value);
        if (found == TABLE_NONE)
            continue;
        struct picture_node *node = &p->nodes.items[found];
        node->seconds += s->seconds;
        p->most_seconds = node->seconds > p->most_seconds ? node->seconds : p->most_seconds;
    }
    table_free(&by_value);
}

// --- order within layers ---------------------------------------------------------------------------------------------

static void sort_into_layers(struct drawing *d)
{
    uint32_t n_layers = 0;
    for (size_t i = 0; i < d->p->nodes.count; i++)
        n_layers = d->p->nodes.items[i].layer >= n_layers ? d->p->nodes.items[i].layer + 1 : n_layers;
    for (uint32_t i = 0; i <= n_layers; i++)
        vec_push(&d->first, 0);
    for (size_t i = 0; i < d->p->nodes.count; i++)
        d->first.items[d->p->nodes.items[i].layer + 1]++;
    for (uint32_t i = 0; i < n_layers; i++)
        d->first.items[i + 1] += d->first.items[i];
    uint32_t *next = mem_new_array(uint32_t, n_layers + 1);
    for (uint32_t i = 0; i < n_layers; i++)
        next[i] = d->first.items[i];
    for (uint32_t i = 0; i < d->p->nodes.count; i++)
        vec_push(&d->order, 0);
    for (uint32_t i = 0; i < d->p->nodes.count; i++)
        d->order.items[next[d->p->nodes.items[i].layer]++] = i;
    mem_free_array(next, n_layers + 1);
}

struct ranked {
    uint32_t place;
    double wanted;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->wanted != y->wanted)
        return x->wanted < y->wanted ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

// As near as possible to where each is wanted, no two boxes over each other, the layer as a whole in the middle.
static void place_layer(struct drawing *d, uint32_t layer)
{
    uint32_t first = d->first.items[layer], n = d->first.items[layer + 1] - first;
    struct ranked *ranked = mem_new_array(struct ranked, n + 1);
    double drift = 0, last = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = d->order.items[first + i];
        ranked[i] = (struct ranked){place, d->wanted.items[place]};
    }
    qsort(ranked, n, sizeof *ranked, compare_ranked);
    for (uint32_t i = 0; i < n; i++) {
        double x = i && ranked[i].wanted < last + PITCH_X ? last + PITCH_X : ranked[i].wanted;
        drift += x - ranked[i].wanted;
        d->order.items[first + i] = ranked[i].place;
        d->p->nodes.items[ranked[i].place].x = last = x;
    }
    for (uint32_t i = 0; i < n; i++)
        d->p->nodes.items[ranked[i].place].x -= drift / n;
    mem_free_array(ranked, n + 1);
}

// Downwards nodes look at what they read, upwards at what reads them.
static void sweep(struct drawing *d, bool is_down)
{
    uint32_t n_layers = (uint32_t)d->first.count - 1;
    struct picture_node *nodes = d->p->nodes.items;
    uint32_t *first = mem_alloc_zero((d->p->nodes.count + 2) * sizeof *first);
    uint32_t *neighbours = mem_new_array(uint32_t, d->p->edges.count + 1);
    for (size_t i = 0; i < d->p->edges.count; i++)
        first[(is_down ? d->p->edges.items[i].to : d->p->edges.items[i].from) + 2]++;
    for (size_t i = 2; i < d->p->nodes.count + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < d->p->edges.count; i++) {
        const struct picture_edge *e = &d->p->edges.items[i];
        neighbours[first[(is_down ? e->to : e->from) + 1]++] = is_down ? e->from : e->to;
    }
    for (uint32_t i = 0; i < n_layers; i++) {
        uint32_t layer = is_down ? i : n_layers - 1 - i;
        for (uint32_t j = d->first.items[layer]; j < d->first.items[layer + 1]; j++) {
            uint32_t place = d->order.items[j], n = first[place + 1] - first[place];
            double sum = 0;
            for (uint32_t k = first[place]; k < first[place + 1]; k++)
                sum += nodes[neighbours[k]].x;
            d->wanted.items[place] = n ? sum / n : nodes[place].x;
        }
        place_layer(d, layer);
    }
    mem_free(first, (d->p->nodes.count + 2) * sizeof *first);
    mem_free_array(neighbours, d->p->edges.count + 1);
}

static void place_nodes(struct drawing *d)
{
    struct picture *p = d->p;
    double left = 0, right = 0;
    for (size_t i = 0; i < p->nodes.count; i++)
        vec_push(&d->wanted, 0);
    for (size_t i = 0; i < p->nodes.count; i++)
        p->nodes.items[d->order.items[i]].x = (double)(i - d->first.items[p->nodes.items[d->order.items[i]].layer]);
    for (int i = 0; i < SWEEPS; i++)
        sweep(d, i % 2 == 0);
    for (size_t i = 0; i < p->nodes.count; i++) {
        left = i == 0 || p->nodes.items[i].x < left ? p->nodes.items[i].x : left;
        right = i == 0 || p->nodes.items[i].x > right ? p->nodes.items[i].x : right;
    }
    for (size_t i = 0; i < p->nodes.count; i++) {
        p->nodes.items[i].x += MARGIN - left;
        p->nodes.items[i].y = MARGIN + (double)p->nodes.items[i].layer * PITCH_Y;
    }
    p->width = right - left + PICTURE_BOX_WIDTH + 2 * MARGIN;
    p->height = (double)(d->first.count - 1) * PITCH_Y + 2 * MARGIN;
}

void picture_make(struct picture *ret_picture, const struct graph *g, const struct graph *other,
                  const struct graph_steps *steps)
{
    struct drawing d = {.p = ret_picture, .g = g, .place = mem_new_array(uint32_t, g->nodes.count + 1)};
    *ret_picture = (struct picture){.graph = g};
    list_nodes(&d);
    list_edges(&d);
    mark_changed(ret_picture, other);
    if (steps)
        add_costs(ret_picture, steps);
    sort_into_layers(&d);
    place_nodes(&d);
    mem_free_array(d.place, g->nodes.count + 1);
    vec_free(&d.order);
    vec_free(&d.first);
    vec_free(&d.wanted);
}

void picture_free(struct picture *p)
{
    vec_free(&p->nodes);
    vec_free(&p->edges);
}
