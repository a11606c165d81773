#include "optimizer/search/pricing.h"

#include <math.h>
#include <string.h>

#define STEPS_UP 2     // what the matched nodes read: producers that a backend may fuse into them
#define STEPS_DOWN 3   // their readers: bias, residual, activation
#define MAX_WORDS ((size_t)1 << 23)
#define MAX_READERS 8   // a tensor with more readers is a border

enum { WORD_LEAF = -1, WORD_BEFORE = -2, WORD_AFTER = -3 };

void pricer_init(struct pricer *p, const struct cost_model *cost)
{
    *p = (struct pricer){.cost = cost};
    memo_init(&p->memo, MAX_WORDS);
    arena_init(&p->arena);
}

void pricer_free(struct pricer *p)
{
    memo_free(&p->memo);
    arena_free(&p->arena);
    vec_free(&p->is_member);
    vec_free(&p->places);
    vec_free(&p->members);
    vec_free(&p->signature);
    ordering_free(&p->ordering);
}

static bool is_known(struct pricer *p, double *ret_seconds)
{
    bool is_found = memo_find(&p->memo, p->signature.items, p->signature.count, ret_seconds);
    p->asked++;
    p->known += is_found;
    return is_found;
}

// --- members ---------------------------------------------------------------------------------------------------------

static bool is_member(const struct pricer *p, node_id n)
{
    return p->is_member.items[n] == p->generation;
}

static void add_member(struct pricer *p, const struct graph *g, node_id n)
{
    if (is_member(p, n) || (g->nodes.items[n].op->flags & OPERATOR_IS_LEAF))
        return;
    p->is_member.items[n] = p->generation;
    vec_push(&p->members, n);
}

static void grow_up(struct pricer *p, const struct graph *g)
{
    size_t end = p->members.count;
    for (size_t i = 0; i < end; i++) {
        node_id n = p->members.items[i];
        for (uint32_t j = 0; j < g->nodes.items[n].n_inputs; j++)
            add_member(p, g, g->tensors.items[graph_inputs(g, n)[j]].producer);
    }
}

static void add_readers(struct pricer *p, const struct rewrite *r, tensor_id t)
{
    const struct graph_uses *uses = &r->index->uses;
    uint32_t first = uses->first[t], end = uses->first[t + 1];
    for (uint32_t i = first; end - first <= MAX_READERS && i < end; i++)
        add_member(p, r->g, uses->nodes[i]);
}

static void grow_down(struct pricer *p, const struct rewrite *r)
{
    size_t end = p->members.count;
    for (size_t i = 0; i < end; i++) {
        const struct node *n = &r->g->nodes.items[p->members.items[i]];
        for (uint32_t j = 0; j < n->n_outputs; j++)
            add_readers(p, r, n->first_output + j);
    }
}

static void collect_members(struct pricer *p, const struct rewrite *r)
{
    const struct match *m = r->match;
    vec_clear(&p->members);
    for (uint32_t i = 0; i < m->rule->n_source_nodes; i++)
        add_member(p, r->g, m->nodes[i]);
    for (uint32_t v = 0; v < m->rule->pattern.n_variables; v++)
        if (m->variables[v] != NO_TENSOR)
            add_member(p, r->g, r->g->tensors.items[m->variables[v]].producer);
    for (int step = 0; step < STEPS_DOWN; step++)
        grow_down(p, r);
    for (int step = 0; step < STEPS_UP; step++)
        grow_up(p, r->g);
    order_nodes(&p->ordering, r->index, m, p->members.items, p->members.count);
}

static bool is_read_outside(const struct pricer *p, const struct rewrite *r, tensor_id t)
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

static void write_word(struct pricer *p, int64_t word)
{
    vec_push(&p->signature, word);
}

static bool is_placed(const struct pricer *p, tensor_id t)
{
    return p->places.items[t].generation == p->generation;
}

static void set_place(struct pricer *p, tensor_id t, tensor_id where)
{
    p->places.items[t] = (struct place){p->generation, where};
}

static void write_tensor(struct pricer *p, const struct rewrite *r, tensor_id t, tensor_id *next)
{
    const struct type *type = graph_type(r->g, t);
    if (is_placed(p, t)) {
        write_word(p, p->places.items[t].tensor);
        return;
    }
    set_place(p, t, (*next)++);
    write_word(p, WORD_LEAF);
    write_word(p, is_weight(r, t));
    write_word(p, type->dtype);
    write_word(p, type->rank);
    for (int i = 0; i < type->rank; i++)
        write_word(p, type->dim[i]);
}

// The inputs of a commutative node are written as they were met; of two that are new here, what they are decides.
static bool has_swapped_leaves(const struct pricer *p, const struct rewrite *r, node_id n)
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

static void write_node(struct pricer *p, const struct rewrite *r, node_id n, tensor_id *next)
{
    const struct node *node = &r->g->nodes.items[n];
    int n_attributes = operator_n_attributes(node->op);
    write_word(p, node->op->id);
    write_word(p, node->n_inputs);
    for (int i = 0; i < n_attributes; i++) {
        write_word(p, node->attributes[i].count);
        for (uint32_t j = 0; j < node->attributes[i].count; j++)
            write_word(p, node->attributes[i].ints[j]);
    }
    bool is_swapped = has_swapped_leaves(p, r, n);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        write_tensor(p, r, graph_inputs(r->g, n)[is_swapped ? 1 - i : i], next);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        set_place(p, node->first_output + i, (*next)++);
}

static void write_members(struct pricer *p, const struct rewrite *r, tensor_id *next)
{
    vec_clear(&p->signature);
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

static void write_target(struct pricer *p, const struct rewrite *r, tensor_id *next)
{
    write_word(p, WORD_AFTER);
    for (node_id n = (node_id)r->n_before; n < r->g->nodes.count; n++)
        write_node(p, r, n, next);
    for (uint32_t i = 0; i < r->match->rule->n_outputs; i++) {
        write_tensor(p, r, r->old[i], next);
        write_tensor(p, r, r->new[i], next);
    }
}

// --- the local graph -------------------------------------------------------------------------------------------------

// A tensor from beyond the border: a leaf, known before the graph runs where the original is.
static tensor_id import_tensor(struct pricer *p, const struct rewrite *r, struct graph *local, tensor_id t)
{
    if (!is_placed(p, t)) {
        const struct operator* op = operators[is_weight(r, t) ? OP_WEIGHT : OP_INPUT];
        set_place(p, t, graph_add_leaf(local, op, (int64_t)local->nodes.count, graph_type(r->g, t)));
    }
    return p->places.items[t].tensor;
}

static void copy_node(struct pricer *p, const struct rewrite *r, struct graph *local, node_id n)
{
    const struct node *node = &r->g->nodes.items[n];
    tensor_id *inputs = arena_array(&p->arena, tensor_id, node->n_inputs + 1);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        inputs[i] = import_tensor(p, r, local, graph_inputs(r->g, n)[i]);
    node_id copy = graph_add_copy(local, r->g, n, inputs);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        set_place(p, node->first_output + i, graph_output_of(local, copy, i));
}

static void copy_members(struct pricer *p, const struct rewrite *r, struct graph *local)
{
    for (size_t i = 0; i < p->members.count; i++)
        copy_node(p, r, local, p->members.items[i]);
    for (size_t i = 0; i < p->members.count; i++) {
        const struct node *n = &r->g->nodes.items[p->members.items[i]];
        for (uint32_t j = 0; j < n->n_outputs; j++)
            if (is_read_outside(p, r, n->first_output + j))
                graph_add_output(local, p->places.items[n->first_output + j].tensor);
    }
}

static double seconds_of(const struct pricer *p, const struct graph *g)
{
    return p->cost->graph_seconds(p->cost->context, g);
}

static double seconds_after(struct pricer *p, const struct rewrite *r, struct graph *local)
{
    uint32_t n = r->match->rule->n_outputs;
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    struct graph after;
    for (node_id node = (node_id)r->n_before; node < r->g->nodes.count; node++)
        copy_node(p, r, local, node);
    for (uint32_t i = 0; i < n; i++) {
        old[i] = import_tensor(p, r, local, r->old[i]);
        new[i] = import_tensor(p, r, local, r->new[i]);
    }
    if (!graph_replace(&after, local, n, old, new, NULL))
        return INFINITY;
    double seconds = seconds_of(p, &after);
    graph_free(&after);
    return seconds;
}

// --- the whole -------------------------------------------------------------------------------------------------------

static void begin_generation(struct pricer *p, const struct graph *g)
{
    while (p->is_member.count < g->nodes.count)
        vec_push(&p->is_member, 0);
    while (p->places.count < g->tensors.count)
        vec_push(&p->places, ((struct place){0}));
    p->generation++;
}

// Members stay members: their marks are moved to the new generation, in which no tensor is placed yet.
static void forget_places(struct pricer *p)
{
    p->generation++;
    for (size_t i = 0; i < p->members.count; i++)
        p->is_member.items[p->members.items[i]] = p->generation;
}

// The first `n_words_before` words of the signature describe the neighbourhood as it is.
static double price(struct pricer *p, const struct rewrite *r, size_t n_words_before, bool is_before_known,
                    double before)
{
    struct arena_mark mark = arena_mark(&p->arena);
    struct graph local;
    forget_places(p);
    graph_init(&local, &p->arena);
    copy_members(p, r, &local);
    if (!is_before_known) {
        before = seconds_of(p, &local);
        memo_add(&p->memo, p->signature.items, n_words_before, before);
    }
    p->before = before;
    double change = isfinite(before) ? seconds_after(p, r, &local) - before : INFINITY;
    graph_free(&local);
    arena_release(&p->arena, mark);
    return change;
}

double pricer_change(struct pricer *p, const struct rewrite *r)
{
    double before = 0, change;
    tensor_id next = 0;
    begin_generation(p, r->g);
    collect_members(p, r);
    write_members(p, r, &next);
    size_t n_words_before = p->signature.count;
    bool is_before_known = is_known(p, &before);
    p->before = before;
    write_target(p, r, &next);
    if (!is_known(p, &change)) {
        change = price(p, r, n_words_before, is_before_known, before);
        memo_add(&p->memo, p->signature.items, p->signature.count, change);
    }
    p->unpriced += !isfinite(change);
    return change;
}
