// The change of the cost by a match, by its neighbourhood before and after, written down and looked up first.
#include "optimizer/search/backtracking/local_cost.h"

#include "graph/cycle.h"
#include "graph/extract.h"
#include "graph/graph_whole.h"
#include "optimizer/limits.def"
#include "optimizer/search/repeated_weight.h"
#include <math.h>

enum { WORD_LEAF = -1, WORD_BEFORE = -2, WORD_AFTER = -3 };

void describer_init(struct describer *s, struct graph_costs *costs)
{
    *s = (struct describer){.costs = costs};
}

void describer_free(struct describer *s)
{
    arena_free(&s->arena);
    vecs_free(s, is_member, places, members);
    encoding_free(&s->signature);
    encoding_free(&s->graph_words);
    ordering_free(&s->ordering);
}

void pricer_init(struct pricer *p, const struct cost_model *cost)
{
    *p = (struct pricer){.cost = cost};
    memo_init(&p->memo, MOST_LOCAL_COST_WORDS);
    memo_init(&p->graph_costs.memo, MOST_LOCAL_COST_WORDS);
    pthread_mutex_init(&p->graph_costs.lock, NULL);
    describer_init(&p->describer, &p->graph_costs);
}

void pricer_forget(struct pricer *p)
{
    memo_free(&p->memo);
    memo_free(&p->graph_costs.memo);
}

void pricer_free(struct pricer *p)
{
    pricer_forget(p);
    pthread_mutex_destroy(&p->graph_costs.lock);
    describer_free(&p->describer);
}

// --- members ---------------------------------------------------------------------------------------------------------

static bool is_member(const struct describer *p, node_id n)
{
    return p->is_member.items[n] == p->generation;
}

static void add_member(struct describer *p, const struct graph *g, node_id n)
{
    if (is_member(p, n) || (g->nodes.items[n].op->flags & OPERATOR_IS_LEAF))
        return;
    p->is_member.items[n] = p->generation;
    vec_push(&p->members, n);
}

static void grow_up(struct describer *p, const struct graph *g)
{
    size_t end = p->members.count;
    for (size_t i = 0; i < end; i++) {
        node_id n = p->members.items[i];
        for (uint32_t j = 0; j < g->nodes.items[n].n_inputs; j++)
            add_member(p, g, g->tensors.items[graph_inputs(g, n)[j]].producer);
    }
}

static void add_readers(struct describer *p, const struct rewrite *r, tensor_id t)
{
    const struct graph_uses *uses = &r->index->uses;
    uint32_t first = uses->first[t], end = uses->first[t + 1];
    for (uint32_t i = first; end - first <= MOST_NEIGHBOURS && i < end; i++)
        add_member(p, r->g, uses->nodes[i]);
}

static void grow_down(struct describer *p, const struct rewrite *r)
{
    size_t end = p->members.count;
    for (size_t i = 0; i < end; i++) {
        const struct node *n = &r->g->nodes.items[p->members.items[i]];
        for (uint32_t j = 0; j < n->n_outputs; j++)
            add_readers(p, r, n->first_output + j);
    }
}

static void add_variables(struct describer *p, const struct rewrite *r)
{
    for (uint32_t v = 0; v < r->match->rule->pattern.n_variables; v++)
        if (r->match->variables[v] != NO_TENSOR)
            add_member(p, r->g, r->g->tensors.items[r->match->variables[v]].producer);
}

// The tensors that new nodes read of those that are there already.
static void add_what_is_read(struct describer *p, const struct rewrite *r)
{
    for (node_id n = (node_id)r->n_before; n < r->g->nodes.count; n++)
        for (uint32_t i = 0; i < r->g->nodes.items[n].n_inputs; i++) {
            node_id producer = r->g->tensors.items[graph_inputs(r->g, n)[i]].producer;
            if (producer < r->n_before)
                add_member(p, r->g, producer);
        }
}

// Steps go to readers (bias, residual, activation) and to producers, which a backend may fuse into them, by turns.
static void collect_members(struct describer *p, const struct rewrite *r)
{
    vec_clear(&p->members);
    for (size_t i = 0; i < r->n_nodes; i++)
        add_member(p, r->g, r->nodes[i]);
    if (r->match)
        add_variables(p, r);
    else
        add_what_is_read(p, r);
    for (int step = 0; step < NEIGHBOURHOOD_STEPS && p->members.count < ENOUGH_MEMBERS; step++)
        if (step % 2 == 0)
            grow_down(p, r);
        else
            grow_up(p, r->g);
    order_nodes(&p->ordering, r->index, r->match, p->members.items, p->members.count);
}

static bool is_read_outside(const struct describer *p, const struct rewrite *r, tensor_id t)
{
    const struct graph_uses *uses = &r->index->uses;
    for (uint32_t i = uses->first[t]; i < uses->first[t + 1]; i++)
        if (!is_member(p, uses->nodes[i]))
            return true;
    return r->index->is_output[t];
}

static bool is_weight(const struct rewrite *r, tensor_id t)
{
    node_id producer = r->g->tensors.items[t].producer;
    return producer < r->n_before && r->index->is_weight[producer];
}

// --- the signature ---------------------------------------------------------------------------------------------------

static void write_word(struct describer *p, int64_t word)
{
    encoding_add(&p->signature, word);
}

static bool is_placed(const struct describer *p, tensor_id t)
{
    return p->places.items[t].generation == p->generation;
}

static void set_place(struct describer *p, tensor_id t, tensor_id where)
{
    p->places.items[t] = (struct place){p->generation, where};
}

static void write_tensor(struct describer *p, const struct rewrite *r, tensor_id t, tensor_id *next)
{
    const struct type *type = graph_type(r->g, t);
    if (is_placed(p, t)) {
        write_word(p, p->places.items[t].tensor);
        return;
    }
    set_place(p, t, (*next)++);
    write_word(p, WORD_LEAF);
    write_word(p, is_weight(r, t) ? 1 + (int64_t)tensor_repeated_axes(r->g, t) : 0);
    encoding_add_type(&p->signature, type);
}

// The inputs of a commutative node are written as they were met; of two that are new here, what they are decides.
static bool has_swapped_leaves(const struct describer *p, const struct rewrite *r, node_id n)
{
    const tensor_id *inputs = graph_inputs(r->g, n);
    if (!(r->g->nodes.items[n].op->flags & OPERATOR_IS_COMMUTATIVE))
        return false;
    if (is_placed(p, inputs[0]) && is_placed(p, inputs[1]))
        return p->places.items[inputs[1]].tensor < p->places.items[inputs[0]].tensor;
    if (is_placed(p, inputs[0]) || is_placed(p, inputs[1]))
        return is_placed(p, inputs[1]);
    return n < r->n_before && order_is_swapped(r->index, inputs[0], inputs[1]);
}

static void write_node(struct describer *p, const struct rewrite *r, node_id n, tensor_id *next)
{
    const struct node *node = &r->g->nodes.items[n];
    write_word(p, node->op->id);
    write_word(p, node->n_inputs);
    encoding_add_attributes(&p->signature, node);
    bool is_swapped = has_swapped_leaves(p, r, n);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        write_tensor(p, r, graph_inputs(r->g, n)[is_swapped ? 1 - i : i], next);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        set_place(p, node->first_output + i, (*next)++);
}

static void write_members(struct describer *p, const struct rewrite *r, tensor_id *next)
{
    encoding_clear(&p->signature);
    for (size_t i = 0; i < p->members.count; i++)
        write_node(p, r, p->members.items[i], next);
    write_word(p, WORD_BEFORE);
    for (size_t i = 0; i < p->members.count; i++) {
        const struct node *n = &r->g->nodes.items[p->members.items[i]];
        for (uint32_t j = 0; j < n->n_outputs; j++)
            if (is_read_outside(p, r, n->first_output + j))
                write_word(p, p->places.items[n->first_output + j].tensor);
    }
}

static void write_target(struct describer *p, const struct rewrite *r, tensor_id *next)
{
    write_word(p, WORD_AFTER);
    for (node_id n = (node_id)r->n_before; n < r->g->nodes.count; n++)
        write_node(p, r, n, next);
    for (size_t i = 0; i < r->n_tensors; i++) {
        write_tensor(p, r, r->old[i], next);
        write_tensor(p, r, r->new[i], next);
    }
}

// --- the local graph -------------------------------------------------------------------------------------------------

struct locality {
    struct describer *describer;
    const struct rewrite *rewrite;
    struct graph *graph;
};

// A tensor from beyond the border: a leaf, known before the graph runs where the original is.
static tensor_id import_tensor(void *context, tensor_id t)
{
    const struct locality *l = context;
    const struct rewrite *r = l->rewrite;
    if (!is_placed(l->describer, t)) {
        const struct operator* op = operators[is_weight(r, t) ? OP_WEIGHT : OP_INPUT];
        unsigned repeated = is_weight(r, t) ? tensor_repeated_axes(r->g, t) : 0;
        int64_t number = repeated_weight_index((int64_t)l->graph->nodes.count, repeated);
        set_place(l->describer, t, graph_add_leaf(l->graph, op, number, graph_type(r->g, t)));
    }
    return l->describer->places.items[t].tensor;
}

static void note_place(void *context, tensor_id t, tensor_id there)
{
    set_place(((struct locality *)context)->describer, t, there);
}

static void copy_node(struct locality *l, node_id n)
{
    const struct graph_extraction x = {
        .from = l->rewrite->g, .to = l->graph, .context = l, .find = import_tensor, .note = note_place};
    graph_extract_node(&x, n, has_swapped_leaves(l->describer, l->rewrite, n));
}

static void copy_members(struct locality *l)
{
    struct describer *p = l->describer;
    const struct rewrite *r = l->rewrite;
    for (size_t i = 0; i < p->members.count; i++)
        copy_node(l, p->members.items[i]);
    for (size_t i = 0; i < p->members.count; i++) {
        const struct node *n = &r->g->nodes.items[p->members.items[i]];
        for (uint32_t j = 0; j < n->n_outputs; j++)
            if (is_read_outside(p, r, n->first_output + j))
                graph_add_output(l->graph, p->places.items[n->first_output + j].tensor);
    }
}

// --- what graphs cost ------------------------------------------------------------------------------------------------

// The live nodes of the graph, in its own order. Leaves are known by their types: their numbers say where they come
// from.
static void encode_graph(struct describer *p, const struct graph *g)
{
    bool *live = arena_array(&p->arena, bool, g->nodes.count + 1);
    tensor_id *places = arena_array(&p->arena, tensor_id, g->tensors.count + 1), next = 0;
    encoding_clear(&p->graph_words);
    graph_mark_live(g, live);
    for (node_id i = 0; i < g->nodes.count; i++) {
        const struct node *n = &g->nodes.items[i];
        bool is_leaf = n->op->flags & OPERATOR_IS_LEAF;
        if (!live[i])
            continue;
        encoding_add(&p->graph_words, n->op->id);
        encoding_add(&p->graph_words, n->n_inputs);
        if (is_leaf)
            encoding_add_type(&p->graph_words, graph_type(g, n->first_output));
        else
            encoding_add_attributes(&p->graph_words, n);
        for (uint32_t k = 0; k < n->n_inputs; k++)
            encoding_add(&p->graph_words, places[graph_inputs(g, i)[k]]);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            places[n->first_output + k] = next++;
    }
    for (size_t i = 0; i < g->outputs.count; i++)
        encoding_add(&p->graph_words, places[g->outputs.items[i]]);
}

static double recall_graph(struct describer *p)
{
    double seconds = NAN;
    pthread_mutex_lock(&p->costs->lock);
    memo_find(&p->costs->memo, encoding_key(&p->graph_words), &seconds);
    pthread_mutex_unlock(&p->costs->lock);
    return seconds;
}

static void note_graph(struct describer *p, double seconds)
{
    pthread_mutex_lock(&p->costs->lock);
    memo_set(&p->costs->memo, encoding_key(&p->graph_words), seconds);
    pthread_mutex_unlock(&p->costs->lock);
}

// NaN: not known, and this context cannot measure it.
static double seconds_of_graph(struct describer *p, const struct graph *g, const struct cost_model *cost, void *context)
{
    encode_graph(p, g);
    double seconds = recall_graph(p);
    if (!isnan(seconds))
        return seconds;
    seconds = cost->graph_seconds(context, g);
    if (!isnan(seconds))
        note_graph(p, seconds);
    return seconds;
}

static double seconds_after(struct locality *l, const struct cost_model *cost, void *context)
{
    struct describer *p = l->describer;
    const struct rewrite *r = l->rewrite;
    size_t n = r->n_tensors;
    tensor_id *old = arena_array(&p->arena, tensor_id, n + 1), *new = arena_array(&p->arena, tensor_id, n + 1);
    struct graph after FREED_BY(graph_free) = {0};
    for (node_id node = (node_id)r->n_before; node < r->g->nodes.count; node++)
        copy_node(l, node);
    for (size_t i = 0; i < n; i++) {
        old[i] = import_tensor(l, r->old[i]);
        new[i] = import_tensor(l, r->new[i]);
    }
    return graph_replace(&after, l->graph, n, old, new, NULL) ? seconds_of_graph(p, &after, cost, context) : INFINITY;
}

// --- the whole -------------------------------------------------------------------------------------------------------

static void begin_generation(struct describer *p, const struct graph *g)
{
    while (p->is_member.count < g->nodes.count)
        vec_push(&p->is_member, 0);
    while (p->places.count < g->tensors.count)
        vec_push(&p->places, ((struct place){0}));
    p->generation++;
}

// Members stay members: their marks are moved to the new generation, in which no tensor is placed yet.
static void forget_places(struct describer *p)
{
    p->generation++;
    for (size_t i = 0; i < p->members.count; i++)
        p->is_member.items[p->members.items[i]] = p->generation;
}

void describer_describe(struct describer *s, const struct rewrite *r)
{
    tensor_id next = 0;
    begin_generation(s, r->g);
    collect_members(s, r);
    write_members(s, r, &next);
    s->before = encoding_key(&s->signature);
    write_target(s, r, &next);
}

struct description describer_description(const struct describer *s)
{
    struct key_words all = encoding_key(&s->signature);
    return (struct description){all, {all.bytes, s->before.n_bytes, s->before.n_words}};
}

struct price describer_price(struct describer *s, const struct rewrite *r, const struct cost_model *cost, void *context,
                             double before)
{
    ARENA_MARK(mark, &s->arena);
    struct graph local FREED_BY(graph_free);
    struct locality locality = {s, r, &local};
    forget_places(s);
    graph_init(&local, &s->arena);
    graph_reserve(&local, 2 * s->members.count, 4 * s->members.count, 3 * s->members.count);
    copy_members(&locality);
    if (isnan(before))
        before = seconds_of_graph(s, &local, cost, context);
    return (struct price){before, isinf(before) ? INFINITY : seconds_after(&locality, cost, context) - before};
}

struct attempt attempt_begin(const struct match *m, struct graph *g, struct arena *scratch)
{
    struct attempt a = {.match = m, .graph = g, .before = graph_mark(g), .arena = arena_mark(g->arena)};
    a.is_typed = match_apply(m, g, scratch, a.old, a.new);
    return a;
}

void attempt_end(struct attempt *a)
{
    graph_rollback(a->graph, a->before);
    arena_release(a->graph->arena, a->arena);
}

bool attempt_is_cyclic(const struct attempt *a)
{
    return graph_replacement_has_cycle(a->graph, a->match->rule->n_outputs, a->old, a->new);
}

struct rewrite attempt_rewrite(const struct attempt *a, const struct match_index *index)
{
    const struct match *m = a->match;
    return (struct rewrite){.g = a->graph,
                            .n_before = a->before.nodes,
                            .index = index,
                            .match = m,
                            .n_nodes = m->rule->n_source_nodes,
                            .nodes = m->nodes,
                            .n_tensors = m->rule->n_outputs,
                            .old = a->old,
                            .new = a->new};
}

// --- what was priced before ------------------------------------------------------------------------------------------

struct price pricer_recall(const struct pricer *p, const struct description *d)
{
    struct price price = {NAN, NAN};
    double known;
    if (memo_find(&p->memo, d->before, &known))
        price.before = known;
    if (memo_find(&p->memo, d->all, &known))
        price.change = known;
    return price;
}

struct price pricer_note(struct pricer *p, const struct description *d, struct price price)
{
    struct price known = pricer_recall(p, d);
    if (!isnan(known.before))
        price.before = known.before;
    if (!isnan(known.change))
        price.change = known.change;
    p->asked += 2;
    p->known += !isnan(known.before) + !isnan(known.change);
    p->work += (isnan(known.before) ? d->before.n_words : 0) + (isnan(known.change) ? d->all.n_words : 0);
    p->before = price.before;
    if (isnan(known.before))
        memo_set(&p->memo, d->before, price.before);
    if (isnan(known.change))
        memo_set(&p->memo, d->all, price.change);
    return price;
}

double pricer_change(struct pricer *p, const struct rewrite *r)
{
    struct describer *s = &p->describer;
    describer_describe(s, r);
    struct description d = describer_description(s);
    struct price price = pricer_recall(p, &d);
    if (isnan(price.before) || isnan(price.change))
        price = describer_price(s, r, p->cost, p->cost->context, price.before);
    return pricer_note(p, &d, price).change;
}

void pricer_correct(struct pricer *p, const struct rewrite *r, double change)
{
    describer_describe(&p->describer, r);
    memo_set(&p->memo, describer_description(&p->describer).all, change);
}
