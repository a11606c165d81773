// Entries of both sides of a match, from pseudo-random leaves over the prime field, without storing a tensor.
#include "optimizer/search/translation_validation.h"

#include "core/numbers/random.h"
#include "graph/compose.h"
#include "graph/field_entries.h"
#include "optimizer/limits.def"

#define KEY 0x7461736f

// --- applications that keep every bit --------------------------------------------------------------------------------
// Both sides are composed in one pool, where equal expressions are one scope.

static struct type type_of_variable(const struct match *m, const struct graph *instance, uint32_t variable)
{
    bool is_read = m->variables[variable] != NO_TENSOR;
    return is_read ? *graph_type(instance, m->variables[variable]) : (struct type){.dtype = DTYPE_F32};
}

static bool are_one_scope(struct composition *c, const int *tensors, uint32_t n, const tensor_id *old,
                          const tensor_id *new)
{
    return ALL(uint32_t, i, n, composition_scope_of(c, tensors[old[i]]) == composition_scope_of(c, tensors[new[i]]));
}

// Do the tensors `old` and `new` have one normal form, each of the rule's outputs? A graph's leaf number k is the
// rule's variable k. The normal form keeps every value to the last bit (expressions/composition/pool.h), also what is
// no number: so yes is an argument; no is none.
static bool keeps_every_bit(const struct match *m, struct graph *instance, const tensor_id *old, const tensor_id *new,
                            struct arena *scratch)
{
    struct type types[MAX_RULE_VARIABLES];
    struct composition c FREED_BY(composition_free);
    int *tensors = arena_array(scratch, int, instance->tensors.count + 1);
    for (uint32_t v = 0; v < m->rule->pattern.n_variables; v++)
        types[v] = type_of_variable(m, instance, v);
    for (uint32_t i = 0; i < m->rule->n_outputs; i++) {
        vec_push(&instance->outputs, old[i]);
        vec_push(&instance->outputs, new[i]);
    }
    composition_init(&c, scratch, (int)m->rule->pattern.n_variables, types);
    return graph_compose(instance, &c, tensors) && are_one_scope(&c, tensors, m->rule->n_outputs, old, new);
}

// --- the validator ---------------------------------------------------------------------------------------------------

void validator_init(struct validator *v)
{
    *v = (struct validator){0};
    memo_init(&v->memo, MOST_VERDICT_WORDS);
}

void validator_free(struct validator *v)
{
    arena_free(&v->scratch);
    arena_free(&v->arena);
    memo_free(&v->memo);
    encoding_free(&v->words);
}

// --- the comparison --------------------------------------------------------------------------------------------------

// Places: one between, the first entry, the last, and more between.
static void choose_place(const struct type *t, struct random *random, int sample, int64_t *ret_index)
{
    for (int i = 0; i < t->rank; i++)
        ret_index[i] = sample == 1   ? 0
                       : sample == 2 ? t->dim[i] - 1
                                     : (int64_t)random_below(random, (uint64_t)t->dim[i]);
}

static enum verdict compare_tensors(struct field_entries *x, tensor_id old, tensor_id new)
{
    const struct type *t = graph_type(x->g, old);
    double cost = field_entry_cost(x, old) + field_entry_cost(x, new);
    struct random random = random_seed(x->key);
    if (x->is_untyped)
        return VERDICT_UNTYPED;
    if (cost > OPERATIONS_OF_AN_ENTRY)
        return VERDICT_TOO_COSTLY;
    for (int sample = 0; type_elements(t) > 0 && sample < VALIDATED_ENTRIES; sample++) {
        int64_t index[MAX_RANK];
        if (sample > 0 && cost * (sample + 1) > OPERATIONS_OF_ENTRIES)
            break;
        choose_place(t, &random, sample, index);
        if (field_entry(x, old, index) != field_entry(x, new, index))
            return VERDICT_DIFFERENT;
    }
    return VERDICT_EQUAL;
}

static enum verdict compare_sides(const struct match *m, const struct graph *with_target, const tensor_id *old,
                                  const tensor_id *new, struct arena *scratch)
{
    struct field_entries x FREED_BY(field_entries_free);
    enum verdict verdict = VERDICT_EQUAL;
    field_entries_init(&x, with_target, KEY, scratch);
    for (uint32_t i = 0; verdict == VERDICT_EQUAL && i < m->rule->n_outputs; i++)
        verdict = compare_tensors(&x, old[i], new[i]);
    return verdict;
}

// --- an instance -----------------------------------------------------------------------------------------------------
// The source graph alone, with a leaf for each variable: in the model a variable may stand for what another part of the
// match computes, of which the rule knows nothing.

static tensor_id tensor_of_term(const struct graph *instance, const struct match *m, term_id term)
{
    const struct term *t = &m->rule->pattern.terms.items[term];
    return t->is_variable ? m->variables[t->index] : graph_output_of(instance, m->nodes[t->index], t->output);
}

// An instance at a binding of the symbols: the same nodes, made for its sizes. False: they cannot be; as they are
// (NULL) they can.
static bool make_instance(const struct sizes *s, const int64_t *binding, struct graph *instance, const struct match *m,
                          const struct graph *g, struct match *ret_match)
{
    *ret_match = *m;
    for (uint32_t v = 0; v < m->rule->pattern.n_variables; v++) {
        if (m->variables[v] == NO_TENSOR)
            continue;
        struct type type = *graph_type(g, m->variables[v]);
        if (binding)
            type = sizes_type_at(s, &type, binding);
        if (binding && !type_has_allowed_size(&type))
            return false;
        ret_match->variables[v] = graph_add_leaf(instance, operators[OP_INPUT], v, &type);
    }
    for (uint32_t n = 0; n < m->rule->n_source_nodes; n++) {
        const struct pattern_node *pattern = &m->rule->pattern.nodes.items[n];
        tensor_id inputs[MAX_RULE_VARIABLES];
        for (uint32_t i = 0; i < pattern->n_inputs; i++)
            inputs[i] = tensor_of_term(instance, ret_match, pattern->inputs[i]);
        if (!binding)
            ret_match->nodes[n] = graph_add_copy(instance, g, m->nodes[n], inputs);
        else if (!sizes_add_node(s, binding, instance, g, m->nodes[n], inputs, &ret_match->nodes[n]))
            return false;
    }
    return true;
}

// --- a match ---------------------------------------------------------------------------------------------------------
// A rule says of its source graph, and of no other nodes, what it says: the match must be one.

static bool reads_terms(const struct graph *g, const struct match *m, const struct pattern_node *pattern, node_id n,
                        bool is_swapped)
{
    return ALL(uint32_t, i, pattern->n_inputs,
               tensor_of_term(g, m, pattern->inputs[is_swapped ? 1 - i : i]) == graph_inputs(g, n)[i]);
}

static bool is_match_in(const struct match *m, const struct graph *g)
{
    for (uint32_t i = 0; i < m->rule->n_source_nodes; i++) {
        const struct pattern_node *pattern = &m->rule->pattern.nodes.items[i];
        const struct node *node = m->nodes[i] < g->nodes.count ? &g->nodes.items[m->nodes[i]] : NULL;
        if (!node || node->op != pattern->op || node->n_inputs != pattern->n_inputs)
            return false;
        if (!reads_terms(g, m, pattern, m->nodes[i], false) &&
            !((node->op->flags & OPERATOR_IS_COMMUTATIVE) && reads_terms(g, m, pattern, m->nodes[i], true)))
            return false;
    }
    return true;
}

// --- at other sizes --------------------------------------------------------------------------------------------------

static bool are_attributes_at(const struct sizes *s, int probe, const struct node *first, const struct node *there)
{
    for (int i = 0; i < operator_n_attributes(first->op); i++) {
        const struct attribute_value *a = &first->attributes[i], *b = &there->attributes[i];
        if (a->count != b->count)
            return false;
        for (uint32_t j = 0; j < a->count; j++)
            if (b->ints[j] !=
                (sizes_role_varies(first->op, i) ? sizes_at(s, a->ints[j], s->probes[probe]) : a->ints[j]))
                return false;
    }
    return true;
}

// A comparison of the target's nodes, and of the types of what it makes.
static bool is_target_at(const struct sizes *s, int probe, const struct match *m, const struct graph *first,
                         const node_id *nodes, const struct graph *there, const node_id *nodes_there)
{
    for (uint32_t n = m->rule->n_source_nodes; n < m->rule->pattern.nodes.count; n++) {
        if (nodes[n] == NO_NODE || nodes_there[n] == NO_NODE)
            continue;
        const struct node *a = &first->nodes.items[nodes[n]], *b = &there->nodes.items[nodes_there[n]];
        if (!are_attributes_at(s, probe, a, b))
            return false;
        for (uint32_t i = 0; i < a->n_outputs; i++) {
            struct type type = sizes_type_at(s, graph_type(first, a->first_output + i), s->probes[probe]);
            if (!type_equal(&type, graph_type(there, b->first_output + i)))
                return false;
        }
    }
    return true;
}

// A rule's conditions on weights were true when it matched, whatever the sizes.
static bool holds_at(const struct match *m, const struct graph *instance, struct arena *scratch,
                     struct match *ret_match)
{
    enum weight_kind weights[MAX_RULE_VARIABLES];
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++)
        weights[v] = WEIGHT_GIVEN;
    return rule_match_at(m->rule, instance, m->variables, m->nodes, weights, scratch, ret_match);
}

static enum verdict judge_at(struct validator *v, int probe, const struct match *m, const struct graph *g,
                             const struct graph *first, const node_id *nodes)
{
    struct graph instance FREED_BY(graph_free);
    struct match there, bound;
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    node_id nodes_there[MAX_RULE_NODES];
    graph_init(&instance, &v->arena);
    bool is_general = make_instance(v->sizes, v->sizes->probes[probe], &instance, m, g, &there) &&
                      holds_at(&there, &instance, &v->scratch, &bound) &&
                      match_apply_nodes(&bound, &instance, &v->scratch, old, new, nodes_there) &&
                      is_target_at(v->sizes, probe, m, first, nodes, &instance, nodes_there);
    return is_general ? compare_sides(&bound, &instance, old, new, &v->scratch) : VERDICT_NOT_GENERAL;
}

// Runtimes give a pooling one entry of an image that is smaller than its window; what takes its place may fail there.
static bool has_pooling(const struct match *m)
{
    for (uint32_t n = 0; n < m->rule->n_source_nodes; n++) {
        const struct operator* op = m->rule->pattern.nodes.items[n].op;
        if (operator_find_role(op, ROLE_KERNEL) >= 0 && operator_find_role(op, ROLE_WINDOW_PADS) >= 0)
            return true;
    }
    return false;
}

static bool is_typed_at_least_sizes(struct validator *v, const struct match *m, const struct graph *g)
{
    int64_t least[MAX_SYMBOLS];
    struct graph instance FREED_BY(graph_free);
    struct match ignored;
    for (uint32_t i = 0; i < v->sizes->n_symbols; i++)
        least[i] = sizes_round_up(v->sizes, i, 1);
    graph_init(&instance, &v->arena);
    return make_instance(v->sizes, least, &instance, m, g, &ignored);
}

static enum verdict judge_at_probes(struct validator *v, const struct match *m, const struct graph *g,
                                    const struct graph *first, const node_id *nodes)
{
    enum verdict verdict = VERDICT_EQUAL;
    if (v->sizes && has_pooling(m) && !is_typed_at_least_sizes(v, m, g))
        return VERDICT_NOT_GENERAL;
    for (int k = 1; v->sizes && k < N_PROBES; k++) {
        enum verdict there = judge_at(v, k, m, g, first, nodes);
        if (there != VERDICT_EQUAL && there != VERDICT_TOO_COSTLY)
            return there;
        verdict = there == VERDICT_TOO_COSTLY ? there : verdict;
    }
    return verdict;
}

// --- an application --------------------------------------------------------------------------------------------------

static enum verdict judge_anew(struct validator *v, const struct match *m, const struct graph *g)
{
    struct arena_mark mark = arena_mark(&v->arena), scratch = arena_mark(&v->scratch);
    struct graph instance FREED_BY(graph_free);
    struct match match;
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    node_id nodes[MAX_RULE_NODES];
    enum verdict verdict = VERDICT_EQUAL;
    graph_init(&instance, &v->arena);
    make_instance(v->sizes, NULL, &instance, m, g, &match);
    if (v->is_strict && v->sizes) {
        verdict = VERDICT_NOT_EXACT;
    } else if (match_apply_nodes(&match, &instance, &v->scratch, old, new, nodes)) {
        enum verdict elsewhere = judge_at_probes(v, m, g, &instance, nodes);
        verdict =
            elsewhere == VERDICT_NOT_GENERAL ? elsewhere : compare_sides(&match, &instance, old, new, &v->scratch);
        verdict = verdict == VERDICT_EQUAL ? elsewhere : verdict;
        if (v->is_strict && verdict != VERDICT_DIFFERENT)
            verdict = keeps_every_bit(&match, &instance, old, new, &v->scratch) ? VERDICT_EQUAL : VERDICT_NOT_EXACT;
    }
    arena_release(&v->scratch, scratch);
    arena_release(&v->arena, mark);
    return verdict;
}

// --- what was checked before -----------------------------------------------------------------------------------------

static void describe(struct validator *v, const struct match *m, const struct graph *g)
{
    encoding_clear(&v->words);
    encoding_add(&v->words, (int64_t)(intptr_t)m->rule);
    for (uint32_t i = 0; i < m->rule->pattern.n_variables; i++) {
        encoding_add(&v->words, m->variables[i] != NO_TENSOR);
        if (m->variables[i] != NO_TENSOR)
            encoding_add_type(&v->words, graph_type(g, m->variables[i]));
    }
    for (uint32_t i = 0; i < m->rule->n_source_nodes; i++)
        encoding_add_attributes(&v->words, &g->nodes.items[m->nodes[i]]);
}

enum verdict validator_judge(struct validator *v, const struct match *m, const struct graph *g)
{
    double known;
    if (!is_match_in(m, g))
        return VERDICT_NO_MATCH;
    describe(v, m, g);
    if (memo_find(&v->memo, encoding_key(&v->words), &known)) {
        v->repeated++;
        return (enum verdict)(int)known;
    }
    enum verdict verdict = judge_anew(v, m, g);
    memo_set(&v->memo, encoding_key(&v->words), (double)verdict);
    v->checked++;
    v->too_costly += verdict == VERDICT_TOO_COSTLY;
    v->not_general += verdict == VERDICT_NOT_GENERAL;
    return verdict;
}

bool verdict_is_left_to_proof(enum verdict verdict, const struct rule *r)
{
    return verdict == VERDICT_TOO_COSTLY && rule_claims_proof(r);
}
