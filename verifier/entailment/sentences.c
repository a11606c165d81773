// Translates terms of an instance's kind into many-sorted first-order terms, hash-consed.
#include "verifier/entailment/sentences.h"

#include "core/memory/hash.h"
#include "operators/traits.h"
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

void logic_copy(struct logic *ret_copy, const struct logic *l)
{
    logic_init(ret_copy);
    for (size_t i = 0; i < l->symbols.count; i++)
        vec_push(&ret_copy->symbols, l->symbols.items[i]);
    for (size_t i = 0; i < l->nodes.count; i++)
        vec_push(&ret_copy->nodes, l->nodes.items[i]);
    table_copy(&ret_copy->by_name, &l->by_name);
    table_copy(&ret_copy->by_node, &l->by_node);
}

static void sentence_free(struct sentence *s)
{
    vec_free(&s->truths);
    vec_free(&s->alternatives);
    vec_free(&s->equalities);
    vec_free(&s->facts);
    vec_free(&s->choices);
    vec_free(&s->goals);
}

void sentence_list_cut(struct sentence_list *list, size_t count)
{
    while (list->items.count > count)
        sentence_free(&list->items.items[--list->items.count]);
}

void sentence_list_free(struct sentence_list *list)
{
    sentence_list_cut(list, 0);
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

static logic_term logic_predicate(struct logic *l, const char *name, logic_term argument)
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
    bool cannot_be_stated;   // sides of different ranks, or a list or an application beyond what is supported
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
        tr->cannot_be_stated = true;
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
    if (!call->op->resolve || call->op->attributes[attribute].role == ROLE_PART_SIZES)
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
        tr->cannot_be_stated = true;
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
    static const enum attribute_role shape_makers[] = {ROLE_SHAPE, ROLE_AXES,
                                                       ROLE_AXIS};   // along these an axis may be constant
    if (call->n_inputs == 0)
        return false;
    for (size_t i = 0; i < sizeof shape_makers / sizeof *shape_makers; i++)
        if (operator_find_role(call->op, shape_makers[i]) >= 0)
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
        tr->cannot_be_stated = true;
        return 0;
    }
    for (int i = 0; i < n_attributes; i++)
        arguments[count++] = translate_attribute(tr, t->index, i);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        arguments[count++] = translate_tensor(tr, n->inputs[i]);
    char base[64];
    snprintf(base, sizeof base, t->output || operator_splits(n->op) ? "%s%u" : "%s", n->op->name, t->output);
    int rank = typing_type(tr->in->typing, instance_term_type(tr->in, term))->rank;
    logic_term result = apply(tr->l, base, ROLE_OPERATOR, count, arguments, SORT_TENSOR(rank), &symbol);
    if (keeps_plain(tr, t->index, t->output))
        tr->l->symbols.items[symbol].keeps_plain = true;
    return result;
}

// Is the variable alone an attribute of a window, which has no negative entries?
static bool is_attribute_of_window(const struct pattern *p, uint32_t variable)
{
    static const enum attribute_role roles[] = {ROLE_STRIDE, ROLE_WINDOW_PADS, ROLE_DILATION, ROLE_KERNEL};
    for (size_t n = 0; n < p->nodes.count; n++)
        for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
            const struct attribute_pattern *a = pattern_node_attribute(&p->nodes.items[n], roles[i]);
            if (a->count == 1 && a->terms[0]->kind == TERM_VARIABLE && a->terms[0]->value == variable)
                return true;
        }
    return false;
}

// A product of strides, dilations or kernels that is 1 says that all are 1, a sum of pads that is 0 that all are 0.
static void say_what_all_entries_are(struct translation *tr, const struct condition *c, struct sentence *s)
{
    bool is_product = c->a->kind == TERM_PRODUCT;
    if (c->kind != CONDITION_EQUAL || (!is_product && c->a->kind != TERM_SUM) || c->b->kind != TERM_INTEGER ||
        c->b->value != is_product || c->a->operands[0]->kind != TERM_VARIABLE)
        return;
    uint32_t variable = (uint32_t)c->a->operands[0]->value;
    int64_t entries[2 * MAX_RANK];
    struct attribute_value all = {tr->in->attributes[variable].count, entries};
    if (!is_attribute_of_window(tr->in->equation->pattern, variable) || all.count > 2 * MAX_RANK)
        return;
    for (uint32_t i = 0; i < all.count; i++)
        entries[i] = is_product;
    struct logic_equality equality = {list_variable(tr, variable), list_constant(tr->l, &all)};
    vec_push(&s->equalities, equality);
}

static void translate_condition(struct translation *tr, const struct condition *c, struct sentence *s)
{
    static const char *const names[] = {[CONDITION_NOT_EQUAL] = "differ",
                                        [CONDITION_LESS_EQUAL] = "atmost",
                                        [CONDITION_LESS] = "less",
                                        [CONDITION_DIVIDES] = "divides"};
    struct text name = {0};
    if (c->kind == CONDITION_WEIGHT || c->kind == CONDITION_GIVEN)
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
    if (!tr->is_axiom)
        say_what_all_entries_are(tr, c, s);
    if (c->kind == CONDITION_EQUAL && tr->l->nodes.items[sides[0]].sort == tr->l->nodes.items[sides[1]].sort) {
        struct logic_equality equality = {sides[0], sides[1]};
        vec_push(&s->equalities, equality);
    } else if (c->kind != CONDITION_EQUAL)
        vec_push(&s->truths, apply(tr->l, names[c->kind], ROLE_PREDICATE, 2, sides, SORT_TRUTH, NULL));
    else
        tr->cannot_be_stated = true;
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

// Where both sides of a strong equation are ill-typed there is nothing to show.
static void assume_that_a_side_is_defined(struct translation *tr, struct sentence *s)
{
    for (size_t i = 0; i < s->goals.count; i++) {
        vec_push(&s->alternatives, logic_predicate(tr->l, "defined", s->goals.items[i].left));
        vec_push(&s->alternatives, logic_predicate(tr->l, "defined", s->goals.items[i].right));
    }
}

static void assume_a_choice(struct translation *tr, const struct attribute *attribute, uint32_t variable,
                            struct sentence *s)
{
    struct choice choice = {.term = list_variable(tr, variable)};
    while (attribute->choices[choice.n_values]) {
        if (choice.n_values == MAX_CHOICES)
            return;
        struct attribute_value value = {1, &(int64_t){choice.n_values}};
        choice.values[choice.n_values++] = list_constant(tr->l, &value);
    }
    vec_push(&s->choices, choice);
}

// A node is well-typed with the names that its operator has and with no others.
static void assume_choices(struct translation *tr, struct sentence *s)
{
    const struct pattern *p = tr->in->equation->pattern;
    uint32_t known = 0;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++) {
            const struct attribute *attribute = &p->nodes.items[n].op->attributes[i];
            const struct attribute_pattern *value = &p->nodes.items[n].attributes[i];
            if (attribute->kind != ATTRIBUTE_CHOICE || value->count != 1 || value->terms[0]->kind != TERM_VARIABLE ||
                (known >> value->terms[0]->value & 1))
                continue;
            known |= 1u << value->terms[0]->value;
            assume_a_choice(tr, attribute, (uint32_t)value->terms[0]->value, s);
        }
}

static struct sentence translate(struct translation *tr)
{
    const struct equation *eq = tr->in->equation;
    struct sentence s = {.name = arena_string(&tr->l->arena, eq->name),
                         .looks_at_cuts = eq->pattern->looks_at_split_trees};
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        struct logic_equality goal = {translate_tensor(tr, eq->left[i]), translate_tensor(tr, eq->right[i])};
        bool is_of_one_sort = tr->l->nodes.items[goal.left].sort == tr->l->nodes.items[goal.right].sort;
        tr->cannot_be_stated = tr->cannot_be_stated || !is_of_one_sort;
        vec_push(&s.goals, goal);
    }
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        translate_condition(tr, &eq->conditions[i], &s);
    for (uint32_t i = 0; i < eq->n_guards; i++)
        vec_push(&s.truths, logic_predicate(tr->l, "defined", translate_tensor(tr, eq->guards[i])));
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        if (eq->plain >> v & 1)
            vec_push(&s.truths, logic_predicate(tr->l, "plain", tensor_variable(tr, v)));
    if (!tr->is_axiom && eq->is_strong)
        assume_that_a_side_is_defined(tr, &s);
    if (!tr->is_axiom && !eq->is_strong)
        assume_what_a_match_checks(tr, &s);
    if (!tr->is_axiom && !eq->is_strong)
        assume_choices(tr, &s);
    s.n_variables = tr->n_variables;
    s.variables = arena_copy_array(&tr->l->arena, tr->sorts, tr->n_variables + 1);
    return s;
}

bool logic_translate(struct logic *l, struct instance *in, bool is_axiom, struct sentence *ret_sentence,
                     struct attribute_terms *ret_attributes)
{
    const struct pattern *p = in->equation->pattern;
    struct arena_mark mark = arena_mark(in->scratch);
    struct translation tr = {.l = l, .in = in, .is_axiom = is_axiom};
    memset(tr.tensors, 0xff, sizeof tr.tensors);
    memset(tr.lists, 0xff, sizeof tr.lists);
    struct sentence s = translate(&tr);
    for (uint32_t n = 0; ret_attributes && n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++)
            if (p->nodes.items[n].attributes[i].count && ret_attributes->n < MAX_ATTRIBUTE_TERMS)
                ret_attributes->items[ret_attributes->n++] =
                    (struct attribute_term_of_node){n, i, translate_attribute(&tr, n, i)};
    arena_release(in->scratch, mark);
    if (tr.cannot_be_stated)
        sentence_free(&s);
    else
        *ret_sentence = s;
    return !tr.cannot_be_stated;
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
