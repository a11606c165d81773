// The compiler of code trees, the index of nodes by operator, and the machine. Registers hold classes, slots the
// e-nodes that are bound; an instruction tries all that fits and runs what stands below it in the tree for each.
#include "egraph/ematch.h"

#include "core/system/thread_pool.h"
#include "operators/traits.h"
#include <assert.h>
#include <string.h>

#define MAX_REGISTERS 255   // classes
#define LEAST_PIECE 64      // nodes that one piece of a search begins at
#define MOST_PIECES 512     // of one operator

enum instruction_kind {
    MATCH_ANYWHERE,   // slot: a node with this operator
    MATCH_BELOW,      // slot: such a node that makes the class in register a, as this output
    MATCH_ABOVE,      // slot: such a node that reads the class in register a at this place
    MATCH_CONSTANT,   // the attribute of the node in slot a is this list, or one of another length
    MATCH_EQUAL,      // registers a and b
    MATCH_OUTPUT,     // register a is this output of the node in slot b
    MATCH_TENSOR,     // register a becomes this output of the node in slot b
    MATCH_FOUND,      // the rule
};
struct ematch_instruction {
    enum instruction_kind kind;
    uint8_t op, n_children, slot;   // MATCH_ANYWHERE, BELOW, ABOVE: children go to registers first ..
    uint8_t first;
    uint8_t a, b;
    uint16_t place;   // which output, input, or attribute
    uint32_t rule;
    const struct attribute_pattern *constant;
    struct ematch_instruction *children, *next;
    // State of a search: is any rule used that ends below here, does one look above what is bound, and since when have
    // all been searched for?
    bool is_used, climbs;
    uint32_t since;
};

// --- compilation -----------------------------------------------------------------------------------------------------

struct compilation {
    struct ematcher *m;
    const struct rule *r;
    struct ematch_program *program;
    struct ematch_instruction *at;   // the last instruction so far
    uint8_t n_registers, n_slots;
    bool has_variable[MAX_RULE_VARIABLES], has_node[MAX_RULE_NODES];
    uint8_t of_term[MAX_RULE_NODES + MAX_RULE_VARIABLES];   // registers of terms; NO_REGISTER
};
#define NO_REGISTER UINT8_MAX

static bool is_same_constant(const struct attribute_pattern *x, const struct attribute_pattern *y)
{
    if (!x || !y || x->count != y->count)
        return x == y;
    return ALL(uint32_t, i, x->count, x->terms[i]->value == y->terms[i]->value);
}

static bool is_same_instruction(const struct ematch_instruction *x, const struct ematch_instruction *y)
{
    return x->kind == y->kind && x->op == y->op && x->n_children == y->n_children && x->slot == y->slot &&
           x->first == y->first && x->a == y->a && x->b == y->b && x->place == y->place && x->rule == y->rule &&
           is_same_constant(x->constant, y->constant);
}

// The instruction after the last one: shared, where another rule has it there already.
static void emit(struct compilation *c, struct ematch_instruction i)
{
    struct ematch_instruction **place = &c->at->children;
    while (*place && !is_same_instruction(*place, &i))
        place = &(*place)->next;
    if (!*place) {
        *place = arena_new(&c->m->arena, struct ematch_instruction);
        **place = i;
    }
    c->at = *place;
}

static bool is_constant(const struct attribute_pattern *p)
{
    return ALL(uint32_t, i, p->count, p->terms[i]->kind == TERM_INTEGER) && p->count > 0;
}

static void emit_constants(struct compilation *c, uint32_t node)
{
    const struct pattern_node *pattern = &c->r->pattern.nodes.items[node];
    for (int i = 0; i < operator_n_attributes(pattern->op); i++)
        if (is_constant(&pattern->attributes[i]))
            emit(c, (struct ematch_instruction){.kind = MATCH_CONSTANT,
                                                .a = c->program->of_node[node],
                                                .place = (uint16_t)i,
                                                .constant = &pattern->attributes[i]});
}

static void compile_term(struct compilation *c, term_id term, uint8_t at);

// The inputs of a node are in the registers from `first` on.
static void compile_inputs(struct compilation *c, uint32_t node, uint8_t first)
{
    const struct pattern_node *pattern = &c->r->pattern.nodes.items[node];
    emit_constants(c, node);
    for (uint32_t i = 0; i < pattern->n_inputs; i++)
        compile_term(c, pattern->inputs[i], (uint8_t)(first + i));
}

static void bind_node(struct compilation *c, uint32_t node, struct ematch_instruction i)
{
    const struct pattern_node *pattern = &c->r->pattern.nodes.items[node];
    i.op = (uint8_t)pattern->op->id;
    i.n_children = (uint8_t)pattern->n_inputs;
    i.slot = c->program->of_node[node] = c->n_slots++;
    i.first = c->n_registers;
    c->n_registers = (uint8_t)(c->n_registers + pattern->n_inputs);
    assert(c->n_registers < MAX_REGISTERS);
    c->has_node[node] = true;
    emit(c, i);
    compile_inputs(c, node, i.first);
}

// The term is the class in this register.
static void compile_term(struct compilation *c, term_id term, uint8_t at)
{
    const struct term *t = &c->r->pattern.terms.items[term];
    bool is_bound = t->is_variable ? c->has_variable[t->index] : c->of_term[term] != NO_REGISTER;
    if (is_bound) {
        uint8_t other = t->is_variable ? c->program->of_variable[t->index] : c->of_term[term];
        emit(c, (struct ematch_instruction){.kind = MATCH_EQUAL, .a = at, .b = other});
        return;
    }
    c->of_term[term] = at;
    if (t->is_variable) {
        c->has_variable[t->index] = true;
        c->program->of_variable[t->index] = at;
    } else if (c->has_node[t->index]) {
        uint8_t slot = c->program->of_node[t->index];
        emit(c, (struct ematch_instruction){.kind = MATCH_OUTPUT, .a = at, .b = slot, .place = (uint16_t)t->output});
    } else {
        bind_node(c, t->index, (struct ematch_instruction){.kind = MATCH_BELOW, .a = at, .place = (uint16_t)t->output});
    }
}

// A register with the class of the term, which a new instruction fetches from its node if need be; NO_REGISTER: the
// term is not bound yet.
static uint8_t register_of(struct compilation *c, term_id term)
{
    const struct term *t = &c->r->pattern.terms.items[term];
    if (t->is_variable)
        return c->has_variable[t->index] ? c->program->of_variable[t->index] : NO_REGISTER;
    if (c->of_term[term] == NO_REGISTER && c->has_node[t->index]) {
        c->of_term[term] = c->n_registers++;
        emit(c, (struct ematch_instruction){.kind = MATCH_TENSOR,
                                            .a = c->of_term[term],
                                            .b = c->program->of_node[t->index],
                                            .place = (uint16_t)t->output});
    }
    return c->of_term[term];
}

// Binds one more node of the source: one that reads what is bound. False: there is none.
static bool climb(struct compilation *c)
{
    for (uint32_t n = 0; n < c->r->n_source_nodes; n++) {
        const struct pattern_node *pattern = &c->r->pattern.nodes.items[n];
        for (uint32_t i = 0; !c->has_node[n] && i < pattern->n_inputs; i++) {
            uint8_t below = register_of(c, pattern->inputs[i]);
            if (below == NO_REGISTER)
                continue;
            bind_node(c, n, (struct ematch_instruction){.kind = MATCH_ABOVE, .a = below, .place = (uint16_t)i});
            return true;
        }
    }
    return false;
}

// A variable that the source lacks never has a value.
static bool binds_all(const struct compilation *c)
{
    return ALL(uint32_t, v, c->r->pattern.n_variables, c->has_variable[v]) &&
           ALL(uint32_t, n, c->r->n_source_nodes, c->has_node[n]);
}

static void compile(struct ematcher *m, uint32_t rule)
{
    struct compilation c = {
        .m = m, .r = m->rules->rules.items[rule], .program = &m->programs.items[rule], .at = m->root};
    memset(c.of_term, NO_REGISTER, sizeof c.of_term);
    const struct term *first = &c.r->pattern.terms.items[c.r->sources[0]];
    if (!first->is_variable)
        bind_node(&c, first->index, (struct ematch_instruction){.kind = MATCH_ANYWHERE});
    while (!binds_all(&c) && climb(&c))
        continue;
    m->depth = c.r->n_source_nodes > m->depth ? c.r->n_source_nodes : m->depth;
    c.program->is_linked = !first->is_variable && binds_all(&c);
    m->n_unlinked += !c.program->is_linked;
    if (c.program->is_linked)
        emit(&c, (struct ematch_instruction){.kind = MATCH_FOUND, .rule = rule});
}

void ematcher_init(struct ematcher *m, const struct rule_set *rules)
{
    *m = (struct ematcher){.rules = rules};
    m->root = arena_new(&m->arena, struct ematch_instruction);
    for (uint32_t i = 0; i < rules->rules.count; i++) {
        vec_push(&m->programs, ((struct ematch_program){0}));
        compile(m, i);
    }
}

void ematcher_free(struct ematcher *m)
{
    vec_free(&m->programs);
    arena_free(&m->arena);
}

// --- the index -------------------------------------------------------------------------------------------------------

static bool is_matched(const struct enode *n)
{
    return !n->is_redundant && !n->is_filtered && n->op != PROJECTION;
}

static uint64_t bit_of(uint32_t op)
{
    return (uint64_t)1 << op % 64;
}

// An output of a tuple is made by what makes the tuple.
static void find_makers(struct eindex *index)
{
    const struct egraph *e = index->e;
    for (enode_id n = 0; n < index->n; n++)
        if (is_matched(&e->nodes.items[n]))
            index->makers[egraph_find(e, n)] |= bit_of(e->nodes.items[n].op);
    for (enode_id n = 0; n < index->n; n++)
        if (e->nodes.items[n].op == PROJECTION && !e->nodes.items[n].is_redundant)
            index->makers[egraph_find(e, n)] |= index->makers[egraph_edges(e, n)[0].child];
}

void eindex_init(struct eindex *ret_index, const struct egraph *e)
{
    uint32_t next[OP_COUNT];
    assert(e->is_clean);
    *ret_index = (struct eindex){.e = e, .n = e->nodes.count};
    ret_index->nodes = mem_new_array(enode_id, e->nodes.count + 1);
    for (enode_id n = 0; n < e->nodes.count; n++)
        if (is_matched(&e->nodes.items[n]))
            ret_index->first_of_op[e->nodes.items[n].op + 1]++;
    for (int op = 0; op < OP_COUNT; op++) {
        next[op] = ret_index->first_of_op[op];
        ret_index->first_of_op[op + 1] += ret_index->first_of_op[op];
    }
    for (enode_id n = 0; n < e->nodes.count; n++)
        if (is_matched(&e->nodes.items[n]))
            ret_index->nodes[next[e->nodes.items[n].op]++] = n;
    ret_index->makers = mem_alloc_zero((e->nodes.count + 1) * sizeof *ret_index->makers);
    find_makers(ret_index);
}

void eindex_free(struct eindex *index)
{
    mem_free_array(index->nodes, index->n + 1);
    mem_free(index->makers, (index->n + 1) * sizeof *index->makers);
}

// --- the machine -----------------------------------------------------------------------------------------------------

// The changes below a node: of every class, the youngest change among what it reads, so many steps down.
static uint32_t *find_changes(const struct ematch_search *s)
{
    const struct egraph *e = s->index->e;
    size_t n = e->nodes.count;
    uint32_t *changes = mem_new_array(uint32_t, n + 1);
    for (eclass_id c = 0; c < n; c++)
        changes[c] = e->classes.items[c].changed;
    for (uint32_t step = 0; step < s->matcher->depth; step++)
        vec_each(&e->edges, edge) {
            eclass_id reader = egraph_find(e, edge->owner);
            if (changes[edge->child] > changes[reader] && !e->nodes.items[edge->owner].is_redundant)
                changes[reader] = changes[edge->child];
        }
    return changes;
}

static void prepare(struct ematch_instruction *i, const struct ematch_search *s)
{
    i->is_used = i->kind == MATCH_FOUND && s->is_used[i->rule];
    i->since = i->is_used ? s->since[i->rule] : UINT32_MAX;
    i->climbs = false;
    for (struct ematch_instruction *next = i->children; next; next = next->next) {
        prepare(next, s);
        i->is_used = i->is_used || next->is_used;
        i->climbs = i->climbs || (next->is_used && (next->climbs || next->kind == MATCH_ABOVE));
        i->since = next->since < i->since ? next->since : i->since;
    }
}

struct machine {
    const struct ematch_search *s;
    const struct egraph *e;
    uint8_t n_slots;
    eclass_id registers[MAX_REGISTERS];
    enode_id slots[MAX_RULE_NODES];
    ematches *matches;
    uint32_t *n_of_rule;
    uint32_t change;   // the youngest below the first node
};

static void run(struct machine *x, const struct ematch_instruction *i);

static void run_all_after(struct machine *x, const struct ematch_instruction *i)
{
    for (const struct ematch_instruction *next = i->children; next; next = next->next)
        if (next->is_used && (next->climbs || next->kind == MATCH_ABOVE || x->change >= next->since))
            run(x, next);
}

static bool is_used_already(const struct machine *x, const struct ematch_instruction *i, enode_id n)
{
    bool may_share = x->s->may_share && i->kind == MATCH_BELOW;
    return !may_share && ANY(uint8_t, k, i->slot, x->slots[k] == n);
}

static bool is_of_rules(const struct egraph *e, const struct enode *n)
{
    const struct etype *t = &e->interned.types.items[n->type];
    return t->count > 0 && operator_is_of_rules(operators[n->op], &t->types[0]);
}

static void run_with(struct machine *x, const struct ematch_instruction *i, enode_id n, bool is_swapped)
{
    const struct eedge *edges = egraph_edges(x->e, n);
    for (uint8_t k = 0; k < i->n_children; k++)
        x->registers[i->first + k] = edges[is_swapped ? 1 - k : k].child;
    run_all_after(x, i);
}

// `below`: what its child at the instruction's place has to be; NO_ENODE: anything.
static void try_node(struct machine *x, const struct ematch_instruction *i, enode_id id, eclass_id below)
{
    const struct enode *n = &x->e->nodes.items[id];
    const struct eedge *edges = egraph_edges(x->e, id);
    if (n->op != i->op || n->n_children != i->n_children || !is_matched(n) || !is_of_rules(x->e, n) ||
        is_used_already(x, i, id))
        return;
    x->slots[i->slot] = id;
    if (below == NO_ENODE || edges[i->place].child == below)
        run_with(x, i, id, false);
    bool is_commutative = i->n_children == 2 && (operators[n->op]->flags & OPERATOR_IS_COMMUTATIVE);
    if (is_commutative && edges[0].child != edges[1].child && (below == NO_ENODE || edges[1 - i->place].child == below))
        run_with(x, i, id, true);
}

static void try_nodes_of(struct machine *x, const struct ematch_instruction *i, eclass_id c)
{
    for (enode_id n = egraph_first_node(x->e, c); n != NO_ENODE; n = egraph_next_node(x->e, c, n))
        try_node(x, i, n, NO_ENODE);
}

static void try_below(struct machine *x, const struct ematch_instruction *i, eclass_id c)
{
    for (enode_id n = egraph_first_node(x->e, c); n != NO_ENODE; n = egraph_next_node(x->e, c, n)) {
        const struct enode *node = &x->e->nodes.items[n];
        if (node->op == PROJECTION && node->attributes == i->place && !node->is_filtered)
            try_nodes_of(x, i, egraph_edges(x->e, n)[0].child);
        else if (i->place == 0)
            try_node(x, i, n, NO_ENODE);
    }
}

// A node that reads the class twice has two edges to it.
static void try_above(struct machine *x, const struct ematch_instruction *i, eclass_id c)
{
    enode_id last = NO_ENODE;
    for (uint32_t k = x->e->classes.items[c].first_parent; k != NO_EDGE; k = x->e->edges.items[k].next) {
        enode_id owner = x->e->edges.items[k].owner;
        if (owner != last)
            try_node(x, i, owner, c);
        last = owner;
    }
}

static bool has_constant(const struct machine *x, const struct ematch_instruction *i)
{
    const struct attribute_value *value = &egraph_attributes(x->e, x->slots[i->a])[i->place];
    return value->count != i->constant->count ||
           ALL(uint32_t, k, value->count, i->constant->terms[k]->value == value->ints[k]);
}

// Is any class of the match younger than the last search for its rule?
static bool is_new(const struct machine *x, const struct rule *r, const struct ematch_program *p, uint32_t since)
{
    return ANY(uint32_t, v, r->pattern.n_variables,
               x->e->classes.items[x->registers[p->of_variable[v]]].changed >= since) ||
           ANY(uint32_t, n, r->n_source_nodes,
               x->e->classes.items[egraph_find(x->e, x->slots[p->of_node[n]])].changed >= since);
}

static void note_match(struct machine *x, uint32_t rule)
{
    const struct rule *r = x->s->matcher->rules->rules.items[rule];
    const struct ematch_program *p = &x->s->matcher->programs.items[rule];
    if (!x->s->is_used[rule] || !is_new(x, r, p, x->s->since[rule]) || x->n_of_rule[rule]++ >= x->s->most_of_rule)
        return;
    vec_push(x->matches, rule);
    for (uint32_t v = 0; v < r->pattern.n_variables; v++)
        vec_push(x->matches, x->registers[p->of_variable[v]]);
    for (uint32_t n = 0; n < r->n_source_nodes; n++)
        vec_push(x->matches, x->slots[p->of_node[n]]);
}

static void run(struct machine *x, const struct ematch_instruction *i)
{
    switch (i->kind) {
    case MATCH_ANYWHERE:
        return;
    case MATCH_BELOW:
        if (x->s->index->makers[x->registers[i->a]] & bit_of(i->op))
            try_below(x, i, x->registers[i->a]);
        return;
    case MATCH_ABOVE:
        try_above(x, i, x->registers[i->a]);
        return;
    case MATCH_CONSTANT:
        if (has_constant(x, i))
            run_all_after(x, i);
        return;
    case MATCH_EQUAL:
        if (x->registers[i->a] == x->registers[i->b])
            run_all_after(x, i);
        return;
    case MATCH_OUTPUT:
        if (egraph_find_output(x->e, x->slots[i->b], i->place) == x->registers[i->a])
            run_all_after(x, i);
        return;
    case MATCH_TENSOR:
        x->registers[i->a] = egraph_find_output(x->e, x->slots[i->b], i->place);
        if (x->registers[i->a] != NO_ENODE)
            run_all_after(x, i);
        return;
    case MATCH_FOUND:
        note_match(x, i->rule);
        return;
    }
}

// --- the search ------------------------------------------------------------------------------------------------------

struct piece {
    const struct ematch_instruction *begin;   // MATCH_ANYWHERE
    uint32_t first, last;                     // in the index
    ematches matches;
    uint32_t *n_of_rule;
};
struct pieces {
    const struct ematch_search *s;
    uint32_t *changes;
    VEC(struct piece) items;
};

static void search_piece(void *context, size_t item, size_t member)
{
    struct pieces *p = context;
    struct piece *piece = &p->items.items[item];
    struct machine x = {.s = p->s, .e = p->s->index->e, .matches = &piece->matches};
    size_t n_rules = p->s->matcher->rules->rules.count;
    piece->n_of_rule = x.n_of_rule = mem_alloc_zero((n_rules + 1) * sizeof *x.n_of_rule);
    for (uint32_t i = piece->first; i < piece->last; i++) {
        enode_id n = p->s->index->nodes[i];
        x.change = p->changes[egraph_find(x.e, n)];
        if (!p->s->is_root || p->s->is_root[n])
            try_node(&x, piece->begin, n, NO_ENODE);
    }
}

static void cut_in_pieces(const struct ematch_search *s, struct pieces *ret_pieces)
{
    *ret_pieces = (struct pieces){.s = s, .changes = find_changes(s)};
    for (const struct ematch_instruction *i = s->matcher->root->children; i; i = i->next) {
        if (!i->is_used)
            continue;
        uint32_t first = s->index->first_of_op[i->op], last = s->index->first_of_op[i->op + 1];
        uint32_t size = (last - first) / MOST_PIECES + LEAST_PIECE;
        for (; first < last; first += size) {
            uint32_t end = last - first < size ? last : first + size;
            vec_push(&ret_pieces->items, ((struct piece){.begin = i, .first = first, .last = end}));
        }
    }
}

static void collect(struct pieces *p, ematches *ret_matches, bool *ret_is_cut)
{
    size_t n_rules = p->s->matcher->rules->rules.count;
    vec_each(&p->items, piece) {
        for (size_t k = 0; k < piece->matches.count; k++)
            vec_push(ret_matches, piece->matches.items[k]);
        for (size_t r = 0; r < n_rules; r++)
            ret_is_cut[r] = ret_is_cut[r] || piece->n_of_rule[r] > p->s->most_of_rule;
        vec_free(&piece->matches);
        mem_free(piece->n_of_rule, (n_rules + 1) * sizeof *piece->n_of_rule);
    }
    vec_free(&p->items);
    mem_free_array(p->changes, p->s->index->e->nodes.count + 1);
}

void ematch_search(const struct ematch_search *s, ematches *ret_matches, bool *ret_is_cut)
{
    struct pieces pieces;
    prepare(s->matcher->root, s);
    cut_in_pieces(s, &pieces);
    if (s->team)
        thread_pool_share(s->team, pieces.items.count, search_piece, &pieces);
    else
        for (size_t i = 0; i < pieces.items.count; i++)
            search_piece(&pieces, i, 0);
    collect(&pieces, ret_matches, ret_is_cut);
}
