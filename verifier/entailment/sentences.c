// Translates equations into first-order terms, hash-consed.
#include "verifier/entailment/sentences.h"

#include "core/memory/hash.h"
#include "core/text/text.h"
#include "operators/traits.h"
#include "substitutions/pattern.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void logic_free(struct logic *l)
{
    vecs_free(l, symbols, nodes);
    table_free(&l->by_name);
    table_free(&l->by_node);
    arena_free(&l->arena);
}

void logic_copy(struct logic *ret_copy, const struct logic *l)
{
    *ret_copy = (struct logic){0};
    for (size_t i = 0; i < l->symbols.count; i++)
        vec_push(&ret_copy->symbols, l->symbols.items[i]);
    for (size_t i = 0; i < l->nodes.count; i++)
        vec_push(&ret_copy->nodes, l->nodes.items[i]);
    table_copy(&ret_copy->by_name, &l->by_name);
    table_copy(&ret_copy->by_node, &l->by_node);
}

static void sentence_free(struct sentence *s)
{
    vecs_free(s, truths, alternatives, equalities, choices, goals);
}

void sentence_list_free(struct sentence_list *list)
{
    for (size_t i = 0; i < list->items.count; i++)
        sentence_free(&list->items.items[i]);
    vec_free(&list->items);
}

// --- symbols and terms -----------------------------------------------------------------------------------------------

static bool has_name(const void *owner, uint32_t id, const void *key)
{
    return strcmp(((const struct logic *)owner)->symbols.items[id].name, key) == 0;
}

static void print_sort(struct text *out, logic_sort sort)
{
    static const char *const names[] = {
        [SORT_TRUTH] = "B", [SORT_TENSOR] = "T", [SORT_LIST] = "A", [SORT_EMPTY_LIST] = "E"};
    text_add(out, names[sort]);
}

// The symbol `base` of these sorts: its full name tells them.
static uint32_t find_symbol(struct logic *l, const char *base, enum symbol_role role, uint32_t n,
                            const logic_sort *arguments, logic_sort result)
{
    TEXT(name);
    text_printf(&name, "%s:", base);
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

uint64_t logic_variables(const struct logic *l, logic_term term)
{
    const struct logic_node *n = &l->nodes.items[term];
    return (n->is_variable ? (uint64_t)1 << n->index : 0) |
           UNION_ALL(uint64_t, uint32_t, i, n->n_arguments, logic_variables(l, n->arguments[i]));
}

static logic_term logic_predicate(struct logic *l, const char *name, logic_term argument)
{
    return apply(l, name, ROLE_PREDICATE, 1, &argument, SORT_TRUTH, NULL);
}

static logic_term list_constant(struct logic *l, const struct attribute_value *value)
{
    TEXT(name);
    text_add(&name, "[");
    for (uint32_t i = 0; i < value->count; i++)
        text_printf(&name, "%s%" PRId64, i ? " " : "", value->ints[i]);
    text_add(&name, "]");
    logic_sort sort = value->count ? SORT_LIST : SORT_EMPTY_LIST;
    return apply(l, name.chars, ROLE_CONSTANT, 0, NULL, sort, NULL);
}

static logic_term integer_constant(struct logic *l, int64_t n)
{
    struct attribute_value value = {1, &n};
    return list_constant(l, &value);
}

// --- translation -----------------------------------------------------------------------------------------------------

struct translation {
    struct logic *l;
    const struct equation *eq;
    const struct known_ranks *ranks;
    struct arena scratch;
    bool is_axiom;
    bool cannot_be_stated;   // a list or an application is beyond what is supported
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
    TEXT(text);
    text_printf(&text, "%s%s", sigil, name);
    return apply(tr->l, text.chars, ROLE_CONSTANT, 0, NULL, sort, NULL);
}

static logic_term tensor_variable(struct translation *tr, uint32_t v)
{
    if (tr->tensors[v] == NO_TERM)
        tr->tensors[v] = fresh_variable(tr, "?", tr->eq->pattern->variables[v], SORT_TENSOR);
    return tr->tensors[v];
}

static logic_term list_variable(struct translation *tr, uint32_t v)
{
    if (tr->lists[v] == NO_TERM)
        tr->lists[v] = fresh_variable(tr, "$", tr->eq->pattern->attribute_variables[v], SORT_LIST);
    return tr->lists[v];
}

// --- attributes ------------------------------------------------------------------------------------------------------

// Does it mention nothing but integers and ranks that are known?
static bool is_settled(const struct translation *tr, const struct attribute_term *t)
{
    bool is_open = t->kind == TERM_RANK && tr->ranks->of_variable[t->value] == RANK_OPEN;
    return !is_open && t->kind != TERM_VARIABLE && t->kind != TERM_DIM && t->kind != TERM_DIMS &&
           ALL(uint32_t, i, t->count, is_settled(tr, t->operands[i]));
}

// Types of the ranks that are known, whose sizes nobody asks for.
struct ranked_types {
    struct type types[MAX_RULE_VARIABLES];
    const struct type *tensors[MAX_RULE_VARIABLES];
};

static struct term_bindings bind_ranks(const struct translation *tr, struct ranked_types *ret)
{
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++) {
        ret->types[v] = (struct type){.dtype = DTYPE_F32, .rank = tr->ranks->of_variable[v]};
        ret->tensors[v] = ret->types[v].rank == RANK_OPEN ? NULL : &ret->types[v];
    }
    return (struct term_bindings){.tensors = ret->tensors};
}

static bool evaluate(struct translation *tr, const struct attribute_term *t, struct attribute_value *ret_value)
{
    struct ranked_types types;
    struct term_bindings b = bind_ranks(tr, &types);
    return attribute_term_evaluate(t, &b, &tr->scratch, ret_value);
}

static bool holds(struct translation *tr, const struct condition *c)
{
    struct ranked_types types;
    struct term_bindings b = bind_ranks(tr, &types);
    return condition_holds(c, &b, NULL, &tr->scratch);
}

static logic_term no_statement(struct translation *tr)
{
    tr->cannot_be_stated = true;
    return integer_constant(tr->l, 0);
}

static logic_term settled_list(struct translation *tr, const struct attribute_pattern *p)
{
    int64_t entries[MAX_TERM_LENGTH];
    struct attribute_value all = {0, entries}, value;
    for (uint32_t i = 0; i < p->count; i++) {
        if (!evaluate(tr, p->terms[i], &value) || all.count + value.count > MAX_TERM_LENGTH)
            return no_statement(tr);
        for (uint32_t j = 0; j < value.count; j++)
            entries[all.count++] = value.ints[j];
    }
    return list_constant(tr->l, &all);
}

static logic_term translate_list(struct translation *tr, const struct attribute_term *t)
{
    logic_term operands[MAX_LOGIC_ARGUMENTS];
    uint32_t n = 0;
    if (is_settled(tr, t))
        return settled_list(tr, &(struct attribute_pattern){1, &t});
    if (t->count + 1 > MAX_LOGIC_ARGUMENTS)
        return no_statement(tr);
    if (t->kind == TERM_VARIABLE)
        return list_variable(tr, (uint32_t)t->value);
    if (t->kind == TERM_DIM || t->kind == TERM_DIMS || t->kind == TERM_RANK)
        operands[n++] = tensor_variable(tr, (uint32_t)t->value);
    for (uint32_t i = 0; i < t->count; i++)
        operands[n++] = translate_list(tr, t->operands[i]);
    return apply(tr->l, attribute_term_head(t->kind), ROLE_LIST, n, operands, SORT_LIST, NULL);
}

// Strides and the like that are left out, as operators fill them in where the rank of the image is known.
static logic_term list_left_out(struct translation *tr, const struct pattern_node *node, int attribute)
{
    enum attribute_role role = node->op->attributes[attribute].role;
    int rank = node->n_inputs ? known_rank(tr->ranks, node->inputs[0]) : RANK_OPEN;
    int64_t entries[2 * MAX_RANK];
    struct attribute_value value = {attribute_roles[role].is_of_window ? attribute_role_length(role, rank) : 0,
                                    entries};
    for (uint32_t i = 0; i < value.count; i++)
        entries[i] = attribute_roles[role].plain;
    return list_constant(tr->l, &value);
}

static logic_term translate_attribute(struct translation *tr, const struct pattern_node *node, int attribute)
{
    const struct attribute_pattern *p = &node->attributes[attribute];
    logic_term parts[MAX_LOGIC_ARGUMENTS];
    bool are_settled = ALL(uint32_t, i, p->count, is_settled(tr, p->terms[i]));
    if (p->count == 0)
        return list_left_out(tr, node, attribute);
    if (are_settled)
        return settled_list(tr, p);
    if (p->count == 1)
        return translate_list(tr, p->terms[0]);
    if (p->count > MAX_LOGIC_ARGUMENTS)
        return no_statement(tr);
    for (uint32_t i = 0; i < p->count; i++)
        parts[i] = translate_list(tr, p->terms[i]);
    return apply(tr->l, "list", ROLE_LIST, p->count, parts, SORT_LIST, NULL);
}

// --- tensors ---------------------------------------------------------------------------------------------------------

// Inputs without split trees give outputs without any, whatever the attributes are.
static bool keeps_plain(const struct operator* op)
{
    return operator_works_entry_by_entry(op) || operator_has_windows(op) || operator_multiplies_matrices(op) ||
           operator_permutes(op) || operator_enlarges(op);
}

static logic_term translate_tensor(struct translation *tr, term_id term)
{
    const struct pattern *p = tr->eq->pattern;
    const struct term *t = &p->terms.items[term];
    if (t->is_variable)
        return tensor_variable(tr, t->index);
    const struct pattern_node *n = &p->nodes.items[t->index];
    logic_term arguments[MAX_LOGIC_ARGUMENTS];
    uint32_t count = 0, symbol;
    int n_attributes = operator_n_attributes(n->op);
    if ((uint32_t)n_attributes + n->n_inputs > MAX_LOGIC_ARGUMENTS)
        return no_statement(tr);
    for (int i = 0; i < n_attributes; i++)
        arguments[count++] = translate_attribute(tr, n, i);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        arguments[count++] = translate_tensor(tr, n->inputs[i]);
    char base[64];
    snprintf(base, sizeof base, t->output || operator_splits(n->op) ? "%s%u" : "%s", n->op->name, t->output);
    logic_term result = apply(tr->l, base, ROLE_OPERATOR, count, arguments, SORT_TENSOR, &symbol);
    struct logic_symbol *s = &tr->l->symbols.items[symbol];
    s->keeps_plain = n->n_inputs > 0 && keeps_plain(n->op);
    s->n_of_rank = operator_has(n->op, TRAIT_KEEPS_RANK)         ? n->n_inputs
                   : operator_has(n->op, TRAIT_KEEPS_FIRST_RANK) ? n->n_inputs > 0
                                                                 : 0;
    return result;
}

// --- assumptions -----------------------------------------------------------------------------------------------------

static void assume_equal(struct sentence *s, logic_term left, logic_term right)
{
    vec_push(&s->equalities, ((struct logic_equality){left, right}));
}

// How many entries a list of a window has; 0: it is none of one, or nothing says.
static uint32_t length_of_window_list(const struct translation *tr, uint32_t variable)
{
    const struct pattern *p = tr->eq->pattern;
    uint32_t length = 0;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op) && !length; i++) {
            const struct attribute_pattern *a = &p->nodes.items[n].attributes[i];
            enum attribute_role role = p->nodes.items[n].op->attributes[i].role;
            if (attribute_roles[role].is_of_window && a->count == 1 && a->terms[0]->kind == TERM_VARIABLE &&
                a->terms[0]->value == variable)
                length = attribute_role_length(role, known_rank(tr->ranks, p->nodes.items[n].inputs[0]));
        }
    return length;
}

// A product of strides, dilations or kernels that is 1 says that all are 1, a sum of pads that is 0 that all are 0, as
// none is negative.
static void say_what_all_entries_are(struct translation *tr, const struct condition *c, struct sentence *s)
{
    bool is_product = c->a->kind == TERM_PRODUCT;
    if (c->kind != CONDITION_EQUAL || (!is_product && c->a->kind != TERM_SUM) || c->b->kind != TERM_INTEGER ||
        c->b->value != is_product || c->a->operands[0]->kind != TERM_VARIABLE)
        return;
    uint32_t variable = (uint32_t)c->a->operands[0]->value;
    int64_t entries[2 * MAX_RANK];
    struct attribute_value all = {length_of_window_list(tr, variable), entries};
    for (uint32_t i = 0; i < all.count; i++)
        entries[i] = is_product;
    if (all.count)
        assume_equal(s, list_variable(tr, variable), list_constant(tr->l, &all));
}

static bool may_lack_value(const struct attribute_term *t)
{
    return t->kind != TERM_INTEGER && t->kind != TERM_VARIABLE && t->kind != TERM_RANK && t->kind != TERM_DIMS;
}

// Two terms without a value are equal here, but no condition is true of them.
static void assume_equal_values(struct translation *tr, const struct condition *c, const logic_term sides[2],
                                struct sentence *s)
{
    if (may_lack_value(c->a) && may_lack_value(c->b))
        vec_push(&s->truths, logic_predicate(tr->l, "defined", sides[0]));
    assume_equal(s, sides[0], sides[1]);
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
    if (is_settled(tr, c->a) && is_settled(tr, c->b)) {
        tr->cannot_be_stated = tr->cannot_be_stated || !holds(tr, c);
        return;
    }
    logic_term sides[2] = {translate_list(tr, c->a), translate_list(tr, c->b)};
    bool is_of_one_sort = tr->l->nodes.items[sides[0]].sort == tr->l->nodes.items[sides[1]].sort;
    if (!tr->is_axiom)
        say_what_all_entries_are(tr, c, s);
    if (c->kind != CONDITION_EQUAL)
        vec_push(&s->truths, apply(tr->l, names[c->kind], ROLE_PREDICATE, 2, sides, SORT_TRUTH, NULL));
    else if (is_of_one_sort)
        assume_equal_values(tr, c, sides, s);
    else
        tr->cannot_be_stated = true;
}

static void assume_what_a_match_checks(struct translation *tr, struct sentence *s)
{
    const struct pattern *p = tr->eq->pattern;
    for (term_id t = 0; t < p->terms.count; t++)
        if (!p->terms.items[t].is_variable)
            vec_push(&s->truths, logic_predicate(tr->l, "defined", translate_tensor(tr, t)));
    for (uint32_t v = 0; v < p->n_variables; v++)
        if (tr->tensors[v] != NO_TERM)
            vec_push(&s->truths, logic_predicate(tr->l, "plain", tr->tensors[v]));
}

// Nothing is to be shown where both sides of a strong equation are ill-typed.
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
        choice.values[choice.n_values] = integer_constant(tr->l, choice.n_values);
        choice.n_values++;
    }
    vec_push(&s->choices, choice);
}

// A node is well-typed with the names that its operator has and with no others.
static void assume_choices(struct translation *tr, struct sentence *s)
{
    const struct pattern *p = tr->eq->pattern;
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

static logic_term rank_of(struct translation *tr, uint32_t variable)
{
    logic_term tensor = tensor_variable(tr, variable);
    return apply(tr->l, attribute_term_head(TERM_RANK), ROLE_LIST, 1, &tensor, SORT_LIST, NULL);
}

static void assume_ranks(struct translation *tr, struct sentence *s)
{
    for (uint32_t v = 0; v < tr->eq->pattern->n_variables; v++)
        if (tr->ranks->of_variable[v] != RANK_OPEN && tr->tensors[v] != NO_TERM)
            assume_equal(s, rank_of(tr, v), integer_constant(tr->l, tr->ranks->of_variable[v]));
}

// An undefined variable makes both sides of an axiom undefined, or what it assumes false; if not it is assumed to be
// defined.
static void assume_that_variables_are_defined(struct translation *tr, struct sentence *s)
{
    uint64_t strict = UINT64_MAX, guarded = 0;
    for (size_t i = 0; i < s->goals.count; i++)
        strict &= logic_variables(tr->l, s->goals.items[i].left) & logic_variables(tr->l, s->goals.items[i].right);
    for (uint32_t i = 0; i < tr->eq->n_guards; i++)
        guarded |= logic_variables(tr->l, translate_tensor(tr, tr->eq->guards[i]));
    for (uint32_t v = 0; v < tr->n_variables; v++)
        if (!((strict | guarded) >> v & 1)) {
            struct logic_node variable = {.is_variable = true, .index = v, .sort = tr->sorts[v]};
            vec_push(&s->truths, logic_predicate(tr->l, "defined", find_term(tr->l, variable)));
        }
}

static struct sentence translate(struct translation *tr)
{
    const struct equation *eq = tr->eq;
    struct sentence s = {.name = arena_string(&tr->l->arena, eq->name),
                         .looks_at_cuts = eq->pattern->looks_at_split_trees};
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
    if (!tr->is_axiom && eq->is_strong)
        assume_that_a_side_is_defined(tr, &s);
    if (!tr->is_axiom && !eq->is_strong)
        assume_what_a_match_checks(tr, &s);
    if (!tr->is_axiom && !eq->is_strong)
        assume_choices(tr, &s);
    assume_ranks(tr, &s);
    if (tr->is_axiom)
        assume_that_variables_are_defined(tr, &s);
    s.n_variables = tr->n_variables;
    s.variables = arena_copy_array(&tr->l->arena, tr->sorts, tr->n_variables + 1);
    return s;
}

bool logic_translate(struct logic *l, const struct equation *eq, const struct known_ranks *ranks, bool is_axiom,
                     struct sentence *ret_sentence)
{
    struct translation tr = {.l = l, .eq = eq, .ranks = ranks, .is_axiom = is_axiom};
    memset(tr.tensors, 0xff, sizeof tr.tensors);
    memset(tr.lists, 0xff, sizeof tr.lists);
    struct sentence s = translate(&tr);
    arena_free(&tr.scratch);
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
