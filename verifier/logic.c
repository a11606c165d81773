#include "verifier/logic.h"

#include "core/hash.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void logic_init(struct logic *l)
{
    *l = (struct logic){0};
    arena_init(&l->arena);
}

void logic_free(struct logic *l)
{
    vec_free(&l->symbols);
    vec_free(&l->nodes);
    table_free(&l->by_name);
    table_free(&l->by_node);
    arena_free(&l->arena);
}

static void copy_table(struct table *ret_copy, const struct table *t)
{
    *ret_copy = (struct table){0};
    for (size_t i = 0; i < t->capacity; i++)
        if (t->slots[i].id != TABLE_NONE)
            table_insert(ret_copy, t->slots[i].hash, t->slots[i].id);
}

void logic_copy(struct logic *ret_copy, const struct logic *l)
{
    logic_init(ret_copy);
    for (size_t i = 0; i < l->symbols.count; i++)
        vec_push(&ret_copy->symbols, l->symbols.items[i]);
    for (size_t i = 0; i < l->nodes.count; i++)
        vec_push(&ret_copy->nodes, l->nodes.items[i]);
    copy_table(&ret_copy->by_name, &l->by_name);
    copy_table(&ret_copy->by_node, &l->by_node);
}

void sentence_list_free(struct sentence_list *list)
{
    for (size_t i = 0; i < list->items.count; i++) {
        vec_free(&list->items.items[i].truths);
        vec_free(&list->items.items[i].equalities);
        vec_free(&list->items.items[i].goals);
    }
    vec_free(&list->items);
}

// --- symbols and terms -----------------------------------------------------------------------------------------------

static bool has_name(const void *owner, uint32_t id, const void *key)
{
    return strcmp(((const struct logic *)owner)->symbols.items[id].name, key) == 0;
}

static void print_sort(struct text *out, logic_sort sort)
{
    if (sort == SORT_TRUTH)
        text_add(out, "B");
    else
        text_printf(out, "%c%d", sort < SORT_LIST(0) ? 'T' : 'A', sort < SORT_LIST(0) ? sort - 1 : sort - SORT_LIST(0));
}

// The symbol `base` of these sorts: its full name tells them.
static uint32_t find_symbol(struct logic *l, const char *base, enum symbol_role role, uint32_t n,
                            const logic_sort *arguments, logic_sort result)
{
    struct text name = {0};
    text_add(&name, base);
    text_add(&name, ":");
    for (uint32_t i = 0; i < n; i++)
        print_sort(&name, arguments[i]);
    text_add(&name, ">");
    print_sort(&name, result);
    uint64_t hash = hash_string(name.chars);
    uint32_t found = table_find(&l->by_name, hash, has_name, l, name.chars);
    if (found == TABLE_NONE) {
        struct logic_symbol symbol = {
            .name = arena_string(&l->arena, name.chars), .role = role, .n_arguments = n, .result = result};
        if (n)
            memcpy(symbol.arguments, arguments, n * sizeof *arguments);
        vec_push(&l->symbols, symbol);
        found = (uint32_t)l->symbols.count - 1;
        table_insert(&l->by_name, hash, found);
    }
    text_free(&name);
    return found;
}

static bool is_node(const void *owner, uint32_t id, const void *key)
{
    const struct logic_node *x = &((const struct logic *)owner)->nodes.items[id], *y = key;
    return x->is_variable == y->is_variable && x->index == y->index && x->sort == y->sort &&
           x->n_arguments == y->n_arguments &&
           (x->n_arguments == 0 || memcmp(x->arguments, y->arguments, x->n_arguments * sizeof *x->arguments) == 0);
}

static logic_term find_term(struct logic *l, struct logic_node node)
{
    uint64_t hash = hash_mix(hash_mix(node.is_variable, node.index), node.sort);
    hash = hash_mix(hash, hash_bytes(node.arguments, node.n_arguments * sizeof *node.arguments, 0));
    uint32_t found = table_find(&l->by_node, hash, is_node, l, &node);
    if (found != TABLE_NONE)
        return found;
    if (node.n_arguments)
        node.arguments = arena_copy_array(&l->arena, node.arguments, node.n_arguments);
    vec_push(&l->nodes, node);
    table_insert(&l->by_node, hash, (uint32_t)l->nodes.count - 1);
    return (logic_term)l->nodes.count - 1;
}

static logic_term apply(struct logic *l, const char *base, enum symbol_role role, uint32_t n,
                        const logic_term *arguments, logic_sort result, uint32_t *ret_symbol)
{
    logic_sort sorts[MAX_LOGIC_ARGUMENTS];
    for (uint32_t i = 0; i < n; i++)
        sorts[i] = l->nodes.items[arguments[i]].sort;
    uint32_t symbol = find_symbol(l, base, role, n, sorts, result);
    if (ret_symbol)
        *ret_symbol = symbol;
    return find_term(l, (struct logic_node){false, symbol, result, n, arguments});
}

logic_term logic_apply(struct logic *l, uint32_t symbol, const logic_term *arguments)
{
    const struct logic_symbol *s = &l->symbols.items[symbol];
    return find_term(l, (struct logic_node){false, symbol, s->result, s->n_arguments, arguments});
}

logic_term logic_predicate(struct logic *l, const char *name, logic_term argument)
{
    return apply(l, name, ROLE_PREDICATE, 1, &argument, SORT_TRUTH, NULL);
}

static logic_term list_constant(struct logic *l, const struct attribute_value *value)
{
    struct text name = {0};
    text_add(&name, "[");
    for (uint32_t i = 0; i < value->count; i++)
        text_printf(&name, "%s%" PRId64, i ? " " : "", value->ints[i]);
    text_add(&name, "]");
    logic_term t = apply(l, name.chars, ROLE_CONSTANT, 0, NULL, SORT_LIST(value->count), NULL);
    text_free(&name);
    return t;
}

// --- translation -----------------------------------------------------------------------------------------------------

// One instance stands for all of its kind: it settles ranks and lengths.
struct translation {
    struct logic *l;
    struct instance *in;
    bool is_axiom;
    bool is_too_long;   // a list or an application beyond what is supported
    uint32_t n_variables;
    logic_sort sorts[2 * MAX_RULE_VARIABLES];
    logic_term tensors[MAX_RULE_VARIABLES], lists[MAX_RULE_VARIABLES];   // by number; NO_TERM: not used yet
};
#define NO_TERM UINT32_MAX

static logic_term fresh_variable(struct translation *tr, const char *sigil, const char *name, logic_sort sort)
{
    if (tr->is_axiom) {
        tr->sorts[tr->n_variables] = sort;
        return find_term(tr->l, (struct logic_node){.is_variable = true, .index = tr->n_variables++, .sort = sort});
    }
    struct text text = {0};
    text_printf(&text, "%s%s", sigil, name);
    logic_term t = apply(tr->l, text.chars, ROLE_CONSTANT, 0, NULL, sort, NULL);
    text_free(&text);
    return t;
}

static logic_term tensor_variable(struct translation *tr, uint32_t v)
{
    if (tr->tensors[v] == NO_TERM)
        tr->tensors[v] =
            fresh_variable(tr, "?", tr->in->equation->pattern->variables[v], SORT_TENSOR(tr->in->types[v]->rank));
    return tr->tensors[v];
}

static logic_term list_variable(struct translation *tr, uint32_t v)
{
    if (tr->lists[v] == NO_TERM)
        tr->lists[v] = fresh_variable(tr, "$", tr->in->equation->pattern->attribute_variables[v],
                                      SORT_LIST(tr->in->attributes[v].count));
    return tr->lists[v];
}

// Does it mention nothing but integers and ranks?
static bool is_settled(const struct attribute_term *t)
{
    if (t->kind == TERM_VARIABLE || t->kind == TERM_DIM || t->kind == TERM_DIMS)
        return false;
    for (uint32_t i = 0; i < t->count; i++)
        if (!is_settled(t->operands[i]))
            return false;
    return true;
}

static logic_term translate_list(struct translation *tr, const struct attribute_term *t)
{
    struct term_bindings b = instance_bindings(tr->in);
    struct attribute_value value;
    logic_term operands[MAX_LOGIC_ARGUMENTS];
    uint32_t n = 0;
    if (!attribute_term_evaluate(t, &b, tr->in->scratch, &value) || t->count + 1 > MAX_LOGIC_ARGUMENTS) {
        tr->is_too_long = true;
        return list_constant(tr->l, &(struct attribute_value){0});
    }
    if (is_settled(t))
        return list_constant(tr->l, &value);
    if (t->kind == TERM_VARIABLE)
        return list_variable(tr, (uint32_t)t->value);
    if (t->kind == TERM_DIM || t->kind == TERM_DIMS)
        operands[n++] = tensor_variable(tr, (uint32_t)t->value);
    for (uint32_t i = 0; i < t->count; i++)
        operands[n++] = translate_list(tr, t->operands[i]);
    return apply(tr->l, attribute_term_head(t->kind), ROLE_LIST, n, operands, SORT_LIST(value.count), NULL);
}

// Strides and the like that were left out, as the operator fills them in; sizes of splits stay open.
static bool is_filled_in(const struct translation *tr, uint32_t node, int attribute, struct attribute_value *ret_value)
{
    const struct typed_call *call = tr->in->calls[node];
    struct attribute_value values[MAX_ATTRIBUTES];
    int n = operator_n_attributes(call->op);
    if (!call->op->resolve || strcmp(call->op->attributes[attribute].name, "sizes") == 0)
        return false;
    const struct definition *d = typing_definition(tr->in->typing, call);
    struct operator_call asked = {call->op, d->n_inputs, d->inputs, call->attributes};
    memcpy(values, call->attributes, sizeof *values * (size_t)n);
    call->op->resolve((struct definition *)d, &asked, values);
    *ret_value = values[attribute];
    return ret_value->count > 0;
}

static logic_term translate_attribute(struct translation *tr, uint32_t node, int attribute)
{
    const struct attribute_pattern *p = &tr->in->equation->pattern->nodes.items[node].attributes[attribute];
    struct attribute_value value = tr->in->calls[node]->attributes[attribute];
    logic_term parts[MAX_LOGIC_ARGUMENTS];
    bool is_constant = true;
    for (uint32_t i = 0; i < p->count; i++)
        is_constant = is_constant && is_settled(p->terms[i]);
    if (p->count == 0)
        is_filled_in(tr, node, attribute, &value);
    if (is_constant)
        return list_constant(tr->l, &value);
    if (p->count == 1)
        return translate_list(tr, p->terms[0]);
    if (p->count > MAX_LOGIC_ARGUMENTS) {
        tr->is_too_long = true;
        return list_constant(tr->l, &value);
    }
    for (uint32_t i = 0; i < p->count; i++)
        parts[i] = translate_list(tr, p->terms[i]);
    return apply(tr->l, "list", ROLE_LIST, p->count, parts, SORT_LIST(value.count), NULL);
}

static bool has_no_trees(const struct type *type)
{
    for (int i = 0; i < type->rank; i++)
        if (type->split[i] && type->dim[i] != 1)
            return false;
    return true;
}

static bool keeps_plain(const struct translation *tr, uint32_t node, uint32_t output)
{
    const struct typed_call *call = tr->in->calls[node];
    static const char *const shape_makers[] = {"shape", "axes", "axis"};   // along these an axis may be constant
    if (call->n_inputs == 0)
        return false;
    for (size_t i = 0; i < sizeof shape_makers / sizeof *shape_makers; i++)
        if (operator_find_attribute(call->op, shape_makers[i]) >= 0)
            return false;
    for (uint32_t i = 0; i < call->n_inputs; i++)
        if (!has_no_trees(typing_type(tr->in->typing, call->inputs[i])))
            return false;
    const struct type *type = typing_type(tr->in->typing, call->outputs[output]);
    for (int i = 0; i < type->rank; i++)
        if (type->split[i])
            return false;
    return true;
}

static logic_term translate_tensor(struct translation *tr, term_id term)
{
    const struct pattern *p = tr->in->equation->pattern;
    const struct term *t = &p->terms.items[term];
    if (t->is_variable)
        return tensor_variable(tr, t->index);
    const struct pattern_node *n = &p->nodes.items[t->index];
    logic_term arguments[MAX_LOGIC_ARGUMENTS];
    uint32_t count = 0, symbol;
    int n_attributes = operator_n_attributes(n->op);
    if ((uint32_t)n_attributes + n->n_inputs > MAX_LOGIC_ARGUMENTS) {
        tr->is_too_long = true;
        return 0;
    }
    for (int i = 0; i < n_attributes; i++)
        arguments[count++] = translate_attribute(tr, t->index, i);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        arguments[count++] = translate_tensor(tr, n->inputs[i]);
    char base[64];
    snprintf(base, sizeof base, t->output || n->op->id == OP_SPLIT ? "%s%u" : "%s", n->op->name, t->output);
    int rank = typing_type(tr->in->typing, instance_term_type(tr->in, term))->rank;
    logic_term result = apply(tr->l, base, ROLE_OPERATOR, count, arguments, SORT_TENSOR(rank), &symbol);
    if (keeps_plain(tr, t->index, t->output))
        tr->l->symbols.items[symbol].keeps_plain = true;
    return result;
}

static void translate_condition(struct translation *tr, const struct condition *c, struct sentence *s)
{
    static const char *const names[] = {[CONDITION_NOT_EQUAL] = "differ",
                                        [CONDITION_LESS_EQUAL] = "atmost",
                                        [CONDITION_LESS] = "less",
                                        [CONDITION_DIVIDES] = "divides"};
    struct text name = {0};
    if (c->kind == CONDITION_WEIGHT)
        return;
    if (c->kind == CONDITION_DTYPE) {
        text_printf(&name, "is-%s", dtype_name(c->dtype));
        vec_push(&s->truths, logic_predicate(tr->l, name.chars, tensor_variable(tr, c->variable)));
        text_free(&name);
        return;
    }
    if (is_settled(c->a) && is_settled(c->b))
        return;
    logic_term sides[2] = {translate_list(tr, c->a), translate_list(tr, c->b)};
    if (c->kind == CONDITION_EQUAL && tr->l->nodes.items[sides[0]].sort == tr->l->nodes.items[sides[1]].sort) {
        struct logic_equality equality = {sides[0], sides[1]};
        vec_push(&s->equalities, equality);
    } else if (c->kind != CONDITION_EQUAL)
        vec_push(&s->truths, apply(tr->l, names[c->kind], ROLE_PREDICATE, 2, sides, SORT_TRUTH, NULL));
    else
        tr->is_too_long = true;
}

static void assume_what_a_match_checks(struct translation *tr, struct sentence *s)
{
    const struct equation *eq = tr->in->equation;
    for (term_id t = 0; t < eq->pattern->terms.count; t++)
        if (!eq->pattern->terms.items[t].is_variable)
            vec_push(&s->truths, logic_predicate(tr->l, "defined", translate_tensor(tr, t)));
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        if (tr->tensors[v] != NO_TERM)
            vec_push(&s->truths, logic_predicate(tr->l, "plain", tr->tensors[v]));
}

static struct sentence translate(struct translation *tr)
{
    const struct equation *eq = tr->in->equation;
    struct sentence s = {.name = arena_string(&tr->l->arena, eq->name)};
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        struct logic_equality goal = {translate_tensor(tr, eq->left[i]), translate_tensor(tr, eq->right[i])};
        vec_push(&s.goals, goal);
    }
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        translate_condition(tr, &eq->conditions[i], &s);
    for (uint32_t i = 0; i < eq->n_guards; i++)
        vec_push(&s.truths, logic_predicate(tr->l, "defined", translate_tensor(tr, eq->guards[i])));
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        if (eq->plain >> v & 1)
            vec_push(&s.truths, logic_predicate(tr->l, "plain", tensor_variable(tr, v)));
    if (!tr->is_axiom && !eq->is_strong)
        assume_what_a_match_checks(tr, &s);
    s.n_variables = tr->n_variables;
    s.variables = arena_copy_array(&tr->l->arena, tr->sorts, tr->n_variables + 1);
    return s;
}

// --- kinds -----------------------------------------------------------------------------------------------------------

#define MAX_KINDS 256
#define MAX_FACTS 64

// Attributes of the pattern's nodes that have had one value at all instances of a kind so far. What typing makes equal
// (groups computed from different tensors) is told to the prover, which knows no sizes.
struct attribute_facts {
    size_t sentence;
    uint32_t n;
    struct {
        uint32_t node;
        int attribute;
        logic_term term;
    } items[MAX_FACTS];
    uint64_t equal[MAX_FACTS];   // one bit for each item that has been equal to this one
};

struct collection {
    struct logic *l;
    bool is_axiom;
    struct sentence_list *list;
    size_t first;   // of this equation's sentences
    uint32_t n_kinds;
    uint64_t kinds[MAX_KINDS];
    struct attribute_facts *facts[MAX_KINDS];   // of obligations
    bool has_failed;
};

// Ranks of all terms and lengths of all attributes.
static uint64_t kind_of_instance(const struct instance *in)
{
    const struct pattern *p = in->equation->pattern;
    uint64_t kind = 0;
    for (term_id t = 0; t < p->terms.count; t++) {
        type_id type = instance_term_type(in, t);
        kind = hash_mix(kind, type == NO_TYPE ? 99 : (uint64_t)typing_type(in->typing, type)->rank);
    }
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; in->calls[n] && i < operator_n_attributes(p->nodes.items[n].op); i++)
            kind = hash_mix(kind, in->calls[n]->attributes[i].count);
    for (uint32_t v = 0; v < p->n_attribute_variables; v++)
        kind = hash_mix(kind, in->attributes[v].count);
    return kind;
}

static void begin_facts(struct translation *tr, struct attribute_facts *facts)
{
    const struct pattern *p = tr->in->equation->pattern;
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op) && facts->n < MAX_FACTS; i++) {
            if (p->nodes.items[n].attributes[i].count == 0)
                continue;
            facts->items[facts->n].node = n;
            facts->items[facts->n].attribute = i;
            facts->items[facts->n].term = translate_attribute(tr, n, i);
            facts->equal[facts->n++] = UINT64_MAX;
        }
}

static void update_facts(struct attribute_facts *facts, const struct instance *in)
{
    for (uint32_t i = 0; i < facts->n; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct attribute_value *x = &in->calls[facts->items[i].node]->attributes[facts->items[i].attribute];
            const struct attribute_value *y = &in->calls[facts->items[j].node]->attributes[facts->items[j].attribute];
            if (!attribute_value_equal(x, y))
                facts->equal[i] &= ~((uint64_t)1 << j);
        }
}

static void end_facts(struct collection *c, const struct attribute_facts *facts)
{
    struct sentence *s = &c->list->items.items[facts->sentence];
    for (uint32_t i = 0; i < facts->n; i++)
        for (uint32_t j = 0; j < i; j++) {
            logic_term x = facts->items[i].term, y = facts->items[j].term;
            struct logic_equality equality = {x, y};
            if ((facts->equal[i] >> j & 1) && x != y && c->l->nodes.items[x].sort == c->l->nodes.items[y].sort)
                vec_push(&s->equalities, equality);
        }
}

static bool collect_kind(void *context, struct instance *in)
{
    struct collection *c = context;
    uint64_t kind = kind_of_instance(in);
    for (uint32_t i = 0; i < c->n_kinds; i++)
        if (c->kinds[i] == kind) {
            if (!c->is_axiom)
                update_facts(c->facts[i], in);
            return true;
        }
    if (c->n_kinds == MAX_KINDS)
        return false;
    c->kinds[c->n_kinds++] = kind;
    struct arena_mark mark = arena_mark(in->scratch);
    struct translation tr = {.l = c->l, .in = in, .is_axiom = c->is_axiom};
    memset(tr.tensors, 0xff, sizeof tr.tensors);
    memset(tr.lists, 0xff, sizeof tr.lists);
    struct sentence s = translate(&tr);
    c->has_failed = c->has_failed || tr.is_too_long;
    vec_push(&c->list->items, s);
    if (!c->is_axiom) {
        struct attribute_facts *facts = arena_new(&c->l->arena, struct attribute_facts);
        facts->sentence = c->list->items.count - 1;
        begin_facts(&tr, facts);
        update_facts(facts, in);
        c->facts[c->n_kinds - 1] = facts;
    }
    arena_release(in->scratch, mark);
    return true;
}

bool logic_add_sentences(struct logic *l, struct judge *j, const struct equation *eq, bool is_axiom,
                         struct sentence_list *list)
{
    struct collection c = {.l = l, .is_axiom = is_axiom, .list = list, .first = list->items.count};
    judge_explore(j, eq, collect_kind, &c);
    for (uint32_t i = 0; !is_axiom && !eq->is_strong && i < c.n_kinds; i++)
        end_facts(&c, c.facts[i]);
    return list->items.count > c.first && !c.has_failed;
}

// --- printing --------------------------------------------------------------------------------------------------------

void logic_print_term(struct text *out, const struct logic *l, logic_term term)
{
    const struct logic_node *n = &l->nodes.items[term];
    if (n->is_variable) {
        text_printf(out, "v%u", n->index);
        return;
    }
    const char *name = l->symbols.items[n->index].name;
    size_t length = strcspn(name, ":");
    text_add(out, n->n_arguments ? "(" : "");
    text_add_n(out, name, length);
    for (uint32_t i = 0; i < n->n_arguments; i++) {
        text_add(out, " ");
        logic_print_term(out, l, n->arguments[i]);
    }
    text_add(out, n->n_arguments ? ")" : "");
}
