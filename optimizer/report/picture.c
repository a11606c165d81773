// Layers by the longest path from the inputs; within a layer, nodes are ordered by where their neighbours in the layers
// above and below stand (the barycentre heuristic of Sugiyama), then put as near to these as the boxes allow.
#include "optimizer/report/picture.h"

#include "core/memory/table.h"
#include "core/text/text.h"
#include "onnx/convert/export/read_back.h"
#include "optimizer/limits.def"
#include "optimizer/report/report.h"
#include "optimizer/report/symbols.h"
#include <stdlib.h>
#include <string.h>

#define PITCH_X (PICTURE_BOX_WIDTH + 22)
#define PITCH_Y (PICTURE_BOX_HEIGHT + 30)
#define NOT_SHOWN UINT32_MAX

enum { SWEEPS = 4 };

struct drawing {
    struct picture *p;
    struct key_set makers;   // names of values that are shown nodes' outputs, or inputs
    VEC(uint32_t) places;    // of these: in the picture
    VEC(uint32_t) order;     // places, layer by layer
    VEC(uint32_t) first;     // of each layer in `order`, and the end
    VEC(double) wanted;      // of every place: where its neighbours are, on average
};

// --- what is shown ---------------------------------------------------------------------------------------------------

static uint32_t place_of(const struct drawing *d, const struct onnx_string *name)
{
    uint32_t found = name->size ? key_set_find(&d->makers, name->text, name->size) : KEY_NONE;
    return found == KEY_NONE ? NOT_SHOWN : d->places.items[found];
}

static void note_maker(struct drawing *d, const struct onnx_string *name)
{
    if (name->size && key_set_add(&d->makers, NULL, name->text, name->size) == d->places.count)
        vec_push(&d->places, (uint32_t)d->p->nodes.count - 1);
}

static void list_inputs(struct drawing *d, const struct onnx_graph *g)
{
    for (size_t i = 0; i < g->inputs.count; i++) {
        const struct onnx_value_info *input = g->inputs.items[i];
        if (onnx_graph_initializes(g, &input->name))
            continue;
        vec_push(&d->p->nodes, ((struct picture_node){.input = input}));
        note_maker(d, &input->name);
    }
}

// `to` is NOT_SHOWN where it is only asked whether anything that is shown is read.
static bool note_read(struct drawing *d, const struct onnx_string *name, uint32_t to)
{
    uint32_t from = place_of(d, name);
    if (from == NOT_SHOWN || from == to || to == NOT_SHOWN)
        return from != NOT_SHOWN && from != to;
    struct picture_node *node = &d->p->nodes.items[to];
    uint32_t below = d->p->nodes.items[from].layer + 1;
    vec_push(&d->p->edges, ((struct picture_edge){from, to}));
    node->layer = node->layer > below ? node->layer : below;
    return true;
}

// A node reads what the nodes of its subgraphs read.
static bool reads_shown(struct drawing *d, const struct onnx_node *n, uint32_t to)
{
    bool reads = false;
    LOCAL_LIST(message_list, nodes);
    onnx_list_messages(&onnx_node_descriptor, n, &onnx_node_descriptor, &nodes);
    for (size_t i = 0; i < nodes.count; i++) {
        const struct onnx_strings *inputs = &((const struct onnx_node *)nodes.items[i])->inputs;
        for (size_t k = 0; k < inputs->count; k++)
            reads |= note_read(d, &inputs->items[k], to);
    }
    return reads;
}

// Nodes stand behind those that they read (onnx_model_check).
static void list_nodes(struct drawing *d, const struct onnx_graph *g)
{
    for (size_t i = 0; i < g->nodes.count; i++) {
        struct onnx_node *n = g->nodes.items[i];
        if (!reads_shown(d, n, NOT_SHOWN))
            continue;
        vec_push(&d->p->nodes, ((struct picture_node){.node = n}));
        reads_shown(d, n, (uint32_t)d->p->nodes.count - 1);
        for (size_t j = 0; j < n->outputs.count; j++)
            note_maker(d, &n->outputs.items[j]);
    }
}

// --- what is changed -------------------------------------------------------------------------------------------------

static void add_names(struct text *out, const struct onnx_strings *names)
{
    for (size_t i = 0; i < names->count; i++)
        text_printf(out, "%zu:%s,", (size_t)names->items[i].size, names->items[i].size ? names->items[i].text : "");
    text_add(out, ";");
}

// The identity of a node: a rewrite gives new values new names.
static void print_identity(struct text *out, const struct onnx_node *n)
{
    text_clear(out);
    text_printf(out, "%s;", n->op_type.text);
    add_names(out, &n->inputs);
    add_names(out, &n->outputs);
}

static void mark_changed(struct picture *p, const struct onnx_graph *other)
{
    struct key_set known FREED_BY(key_set_free) = {0};
    TEXT(identity);
    ARENA(arena);
    for (size_t i = 0; i < other->nodes.count; i++) {
        print_identity(&identity, other->nodes.items[i]);
        key_set_add(&known, &arena, identity.chars, identity.count);
    }
    vec_each(&p->nodes, shown) {
        if (!shown->node)
            continue;
        print_identity(&identity, shown->node);
        shown->is_changed = key_set_find(&known, identity.chars, identity.count) == KEY_NONE;
        p->n_changed += shown->is_changed;
    }
}

// --- costs -----------------------------------------------------------------------------------------------------------

// A step's cost stands at the first of its values that the file has.
static void add_cost(struct drawing *d, const struct graph_steps *steps, const struct step_summary *s,
                     const struct table *by_value, const struct exported_types *types)
{
    for (size_t i = 0; i < s->n_values; i++) {
        const uint64_t *value = &steps->values.items[s->first_value + s->n_values - 1 - i];
        uint32_t found = table_find(by_value, *value, NULL, NULL, NULL);
        const char *name = found == TABLE_NONE ? NULL : types->items[found].name;
        uint32_t maker = name ? key_set_find(&d->makers, name, strlen(name)) : KEY_NONE;
        if (maker == KEY_NONE)
            continue;
        struct picture_node *node = &d->p->nodes.items[d->places.items[maker]];
        node->seconds += s->seconds;
        d->p->most_seconds = node->seconds > d->p->most_seconds ? node->seconds : d->p->most_seconds;
        return;
    }
}

static void add_costs(struct drawing *d, const struct graph_steps *steps, const struct exported_types *types)
{
    struct table by_value FREED_BY(table_free) = {0};
    for (uint32_t i = 0; i < types->count; i++)
        table_insert(&by_value, types->items[i].value, i);
    for (size_t i = 0; i < steps->steps.count; i++)
        add_cost(d, steps, &steps->steps.items[i], &by_value, types);
}

// --- types -----------------------------------------------------------------------------------------------------------

static void index_types(struct picture *p, const struct exported_types *types)
{
    p->types = types;
    for (size_t i = 0; i < types->count; i++)
        if (key_set_add(&p->named, NULL, types->items[i].name, strlen(types->items[i].name)) == p->type_of_name.count)
            vec_push(&p->type_of_name, (uint32_t)i);
}

static const struct type *find_type(const struct picture *p, const struct onnx_string *name)
{
    uint32_t found = name->size ? key_set_find(&p->named, name->text, name->size) : KEY_NONE;
    return found == KEY_NONE ? NULL : &p->types->items[p->type_of_name.items[found]].type;
}

void picture_print_shape(struct text *out, const struct picture *p, const struct onnx_string *name)
{
    const struct type *t = find_type(p, name);
    if (!t || t->rank < 0) {
        text_add(out, "?");
        return;
    }
    for (int i = 0; i < t->rank; i++) {
        text_add(out, i ? " x " : "");
        symbols_print_size(out, p->types->model, t->dim[i]);
    }
    if (t->rank == 0)
        text_add(out, "scalar");
}

void picture_print_value(struct text *out, const struct picture *p, const struct onnx_string *name)
{
    const struct type *t = find_type(p, name);
    text_add(out, name->size ? name->text : "(left out)");
    if (!t)
        return;
    text_printf(out, ": %s, ", dtype_name(t->dtype));
    picture_print_shape(out, p, name);
}

const struct onnx_string *picture_output(const struct picture_node *shown)
{
    static const struct onnx_string none = {0};
    return shown->input ? &shown->input->name : shown->node->outputs.count ? &shown->node->outputs.items[0] : &none;
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
    LOCAL_ARRAY(uint32_t, next, n_layers + 1);
    for (uint32_t i = 0; i < n_layers; i++)
        next[i] = d->first.items[i];
    for (uint32_t i = 0; i < d->p->nodes.count; i++)
        vec_push(&d->order, 0);
    for (uint32_t i = 0; i < d->p->nodes.count; i++)
        d->order.items[next[d->p->nodes.items[i].layer]++] = i;
}

struct ranked {
    uint32_t place;
    double wanted;
};

COMPARISON(compare_ranked, struct ranked, ORDER(x->wanted, y->wanted) ?: ORDER(x->place, y->place))

// Boxes stand as near as possible to where each is wanted, no two boxes over each other, the layer as a whole in the
// middle.
static void place_layer(struct drawing *d, uint32_t layer)
{
    uint32_t first = d->first.items[layer], n = d->first.items[layer + 1] - first;
    LOCAL_ARRAY(struct ranked, ranked, n + 1);
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
}

// Downwards nodes look at what they read, upwards at what reads them.
static void sweep(struct drawing *d, bool is_down)
{
    uint32_t n_layers = (uint32_t)d->first.count - 1;
    struct picture_node *nodes = d->p->nodes.items;
    LOCAL_ZEROS(uint32_t, first, d->p->nodes.count + 2);
    LOCAL_ARRAY(uint32_t, neighbours, d->p->edges.count + 1);
    for (size_t i = 0; i < d->p->edges.count; i++)
        first[(is_down ? d->p->edges.items[i].to : d->p->edges.items[i].from) + 2]++;
    for (size_t i = 2; i < d->p->nodes.count + 2; i++)
        first[i] += first[i - 1];
    vec_each(&d->p->edges, e)
        neighbours[first[(is_down ? e->to : e->from) + 1]++] = is_down ? e->from : e->to;
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
        p->nodes.items[i].x += PICTURE_MARGIN - left;
        p->nodes.items[i].y = PICTURE_MARGIN + (double)p->nodes.items[i].layer * PITCH_Y;
    }
    p->width = right - left + PICTURE_BOX_WIDTH + 2 * PICTURE_MARGIN;
    p->height = (double)(d->first.count - 1) * PITCH_Y + 2 * PICTURE_MARGIN;
}

void picture_make(struct picture *ret_picture, const struct report *r, int which)
{
    struct drawing d = {.p = ret_picture};
    const struct graph_steps *steps = r->written.steps[which && r->written.is_optimized];
    *ret_picture = (struct picture){0};
    if (!r->written.files[which])
        return;
    list_inputs(&d, r->written.files[which]);
    list_nodes(&d, r->written.files[which]);
    if (r->written.files[!which])
        mark_changed(ret_picture, r->written.files[!which]);
    if (r->written.file_types[which])
        index_types(ret_picture, r->written.file_types[which]);
    if (r->written.file_types[which] && steps)
        add_costs(&d, steps, r->written.file_types[which]);
    sort_into_layers(&d);
    place_nodes(&d);
    key_set_free(&d.makers);
    vecs_free(&d, places, order, first, wanted);
}

void picture_free(struct picture *p)
{
    vecs_free(p, nodes, edges, type_of_name);
    key_set_free(&p->named);
}
