// Reading, printing and building of patterns.
#include "substitutions/pattern.h"

#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "graph/call_text.h"
#include "operators/traits.h"
#include <inttypes.h>
#include <string.h>

void pattern_init(struct pattern *p)
{
    *p = (struct pattern){0};
}

void pattern_free(struct pattern *p)
{
    vecs_free(p, nodes, terms, names);
}

// --- building --------------------------------------------------------------------------------------------------------

static term_id find_or_add_term(struct pattern *p, struct term t)
{
    for (term_id i = 0; i < p->terms.count; i++)
        if (p->terms.items[i].is_variable == t.is_variable && p->terms.items[i].index == t.index &&
            p->terms.items[i].output == t.output)
            return i;
    vec_push(&p->terms, t);
    return (term_id)p->terms.count - 1;
}

static bool has_equal_attributes(const struct pattern_node *x, const struct pattern_node *y)
{
    const struct attribute_pattern *a = x->attributes, *b = y->attributes;
    return ALL(int, i, operator_n_attributes(x->op),
               a[i].count == b[i].count &&
                   ALL(uint32_t, j, a[i].count, attribute_term_equal(a[i].terms[j], b[i].terms[j])));
}

static bool is_same_node(const struct pattern_node *x, const struct pattern_node *y)
{
    return x->op == y->op && x->n_inputs == y->n_inputs &&
           (x->n_inputs == 0 || memcmp(x->inputs, y->inputs, x->n_inputs * sizeof *x->inputs) == 0) &&
           has_equal_attributes(x, y);
}

static bool splits_without_sizes(const struct pattern_node *n)
{
    return operator_splits(n->op) && n->attributes[operator_find_role(n->op, ROLE_PART_SIZES)].count == 0;
}

static term_id pattern_add_node(struct pattern *p, const struct pattern_node *node, uint32_t output)
{
    uint32_t found = FIRST_OF(uint32_t, n, p->nodes.count, is_same_node(&p->nodes.items[n], node));
    if (found == p->nodes.count)
        vec_push(&p->nodes, *node);
    p->looks_at_split_trees = p->looks_at_split_trees || splits_without_sizes(node);
    return find_or_add_term(p, (struct term){false, found, output});
}

static struct attribute_pattern pattern_of_value(const struct attribute_value *value, struct arena *a)
{
    const struct attribute_term **terms = arena_array(a, const struct attribute_term *, value->count + 1);
    for (uint32_t i = 0; i < value->count; i++)
        terms[i] = attribute_term_make(TERM_INTEGER, value->ints[i], NULL, a);
    return (struct attribute_pattern){value->count, terms};
}

term_id pattern_add_variable(struct pattern *p, const char *name)
{
    uint32_t v = FIRST_OF(uint32_t, i, p->n_variables, strcmp(p->variables[i], name) == 0);
    if (v == p->n_variables)
        p->variables[p->n_variables++] = name;
    return find_or_add_term(p, (struct term){true, v, 0});
}

term_id pattern_add_application(struct pattern *p, const struct operator* op,
                                const struct attribute_pattern *attributes, uint32_t n_inputs, const term_id *inputs)
{
    struct pattern_node node = {op, attributes, n_inputs, inputs};
    return pattern_add_node(p, &node, 0);
}

term_id pattern_add_call(struct pattern *p, const struct operator* op, const struct attribute_value *attributes,
                         uint32_t n_inputs, const term_id *inputs, struct arena *a)
{
    int n = operator_n_attributes(op);
    struct attribute_pattern *patterns = arena_array(a, struct attribute_pattern, n + 1);
    for (int i = 0; i < n; i++)
        patterns[i] = pattern_of_value(&attributes[i], a);
    return pattern_add_application(p, op, patterns, n_inputs, arena_copy_array(a, inputs, n_inputs));
}

// --- parsing ---------------------------------------------------------------------------------------------------------

static bool find_or_add_name(const char **names, uint32_t *count, const struct sexp *s, const char *file,
                             struct arena *a, uint32_t *ret_index, struct error *error)
{
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(names[i], s->text + 1) == 0) {
            *ret_index = i;
            return true;
        }
    if (s->text[1] == '\0')
        return sexp_error(error, file, s, "a variable without a name");
    if (*count == MAX_RULE_VARIABLES)
        return sexp_error(error, file, s, "more than %d variables", MAX_RULE_VARIABLES);
    *ret_index = *count;
    names[(*count)++] = arena_string(a, s->text + 1);
    return true;
}

static bool is_tensor_variable(const struct sexp *s)
{
    return s->kind == SEXP_SYMBOL && s->text[0] == '?';
}

static bool is_attribute_variable(const struct sexp *s)
{
    return s->kind == SEXP_SYMBOL && s->text[0] == '$';
}

static bool find_head(const struct sexp *s, enum attribute_term_kind *ret_kind)
{
    if (s->kind != SEXP_LIST || s->count == 0 || s->items[0].kind != SEXP_SYMBOL)
        return false;
    *ret_kind = FIRST_OF(enum attribute_term_kind, kind, TERM_KINDS,
                         attribute_term_head(kind) && strcmp(attribute_term_head(kind), s->items[0].text) == 0);
    return *ret_kind < TERM_KINDS;
}

static bool is_attribute_term(const struct sexp *s)
{
    enum attribute_term_kind kind;
    return s->kind == SEXP_INTEGER || is_attribute_variable(s) || find_head(s, &kind);
}

static bool has_allowed_operands(enum attribute_term_kind kind, size_t n)
{
    switch (kind) {
    case TERM_DIMS:
    case TERM_RANK:
    case TERM_SUM:
    case TERM_PRODUCT:
    case TERM_LENGTH:
    case TERM_IOTA:
        return n == 1;
    case TERM_LIST:
        return true;
    default:
        return n == 2;
    }
}

static bool pattern_parse_attribute_term(struct pattern *p, const struct sexp *s, const char *file, struct arena *a,
                                         const struct attribute_term **ret_term, struct error *error);

static bool parse_operands(struct pattern *p, const struct sexp *items, size_t count, const char *file, struct arena *a,
                           struct attribute_term *term, struct error *error)
{
    const struct attribute_term **operands = arena_array(a, const struct attribute_term *, count + 1);
    if (ANY(size_t, i, count, !pattern_parse_attribute_term(p, &items[i], file, a, &operands[i], error)))
        return false;
    term->count = (uint32_t)count;
    term->operands = operands;
    return true;
}

static bool pattern_parse_attribute_term(struct pattern *p, const struct sexp *s, const char *file, struct arena *a,
                                         const struct attribute_term **ret_term, struct error *error)
{
    struct attribute_term *term = arena_new(a, struct attribute_term);
    uint32_t index;
    *ret_term = term;
    if (s->kind == SEXP_INTEGER) {
        term->value = s->integer;
        return true;
    }
    if (is_attribute_variable(s)) {
        term->kind = TERM_VARIABLE;
        if (!find_or_add_name(p->attribute_variables, &p->n_attribute_variables, s, file, a, &index, error))
            return false;
        term->value = index;
        return true;
    }
    if (!find_head(s, &term->kind))
        return sexp_error(error, file, s, "expected an integer, an attribute variable such as $s, or a term over them");
    size_t n = s->count - 1;
    if (!has_allowed_operands(term->kind, n))
        return sexp_error(error, file, s, "%s does not take %zu operands", s->items[0].text, n);
    if (term->kind != TERM_DIM && term->kind != TERM_DIMS && term->kind != TERM_RANK)
        return parse_operands(p, s->items + 1, n, file, a, term, error);
    if (!is_tensor_variable(&s->items[1]))
        return sexp_error(error, file, &s->items[1], "expected a tensor variable such as ?x");
    if (!find_or_add_name(p->variables, &p->n_variables, &s->items[1], file, a, &index, error))
        return false;
    term->value = index;
    return parse_operands(p, s->items + 2, n - 1, file, a, term, error);
}

static bool parse_constant_attribute(const struct attribute *attribute, const struct sexp *items, size_t count,
                                     const char *file, struct arena *a, const struct attribute_term **terms,
                                     struct error *error)
{
    int64_t value;
    for (size_t i = 0; i < count; i++) {
        if (!attribute_parse(attribute, &items[i], 1, file, &value, error))
            return false;
        struct attribute_term *term = arena_new(a, struct attribute_term);
        term->value = value;
        terms[i] = term;
    }
    return true;
}

static bool parse_attribute(struct pattern *p, const struct attribute *attribute, const struct sexp *items,
                            size_t count, const char *file, struct arena *a, struct attribute_pattern *ret_pattern,
                            struct error *error)
{
    const struct attribute_term **terms = arena_array(a, const struct attribute_term *, count + 1);
    *ret_pattern = (struct attribute_pattern){(uint32_t)count, terms};
    bool is_integral = attribute->kind == ATTRIBUTE_INT || attribute->kind == ATTRIBUTE_INTS;
    if (!is_integral && !(count == 1 && is_attribute_variable(&items[0])))
        return parse_constant_attribute(attribute, items, count, file, a, terms, error);
    return ALL(size_t, i, count, pattern_parse_attribute_term(p, &items[i], file, a, &terms[i], error));
}

// Attributes that are not given have their standard values.
static bool parse_attributes(struct pattern *p, const struct call_text *call, const char *file, struct arena *a,
                             struct attribute_pattern **ret_patterns, struct error *error)
{
    struct attribute_value standard[MAX_ATTRIBUTES];
    int n = operator_n_attributes(call->op);
    struct attribute_pattern *patterns = *ret_patterns = arena_array(a, struct attribute_pattern, n + 1);
    operator_standard_attributes(call->op, a, standard);
    for (int i = 0; i < n; i++)
        if (!call->attributes[i].items)
            patterns[i] = pattern_of_value(&standard[i], a);
        else if (!parse_attribute(p, &call->op->attributes[i], call->attributes[i].items, call->attributes[i].count,
                                  file, a, &patterns[i], error))
            return false;
    return true;
}

// How much there is of everything that a term may add to a pattern.
static size_t count_parts(const struct pattern *p)
{
    return p->nodes.count + p->names.count + p->n_variables + p->n_attribute_variables;
}

// A term that is there already, as those of several outputs repeat it, leaves nothing behind.
static bool parse_application(struct pattern *p, const struct sexp *s, const char *file, struct arena *a,
                              term_id *ret_term, struct error *error)
{
    struct call_text call;
    struct attribute_pattern *attributes;
    struct arena_mark mark = arena_mark(a);
    size_t n_parts = count_parts(p);
    if (!call_text_parse(s, file, is_attribute_term, &call, error))
        return false;
    if (call.op->flags & (OPERATOR_IS_LEAF | OPERATOR_IS_OPAQUE))
        return sexp_error(error, file, s, "%s stands for no computation: use a variable", call.op->name);
    if (!parse_attributes(p, &call, file, a, &attributes, error))
        return false;
    term_id *inputs = arena_array(a, term_id, call.n_arguments + 1);
    if (call.n_arguments > MAX_RULE_VARIABLES)
        return sexp_error(error, file, s, "more than %d arguments", MAX_RULE_VARIABLES);
    if (ANY(size_t, i, call.n_arguments, !pattern_parse_term(p, &call.arguments[i], file, a, &inputs[i], error)))
        return false;
    struct pattern_node node = {call.op, attributes, (uint32_t)call.n_arguments, inputs};
    *ret_term = pattern_add_node(p, &node, call.output >= 0 ? (uint32_t)call.output : 0);
    if (p->nodes.count > MAX_RULE_NODES)
        return sexp_error(error, file, s, "more than %d operators", MAX_RULE_NODES);
    if (count_parts(p) == n_parts)
        arena_release(a, mark);
    return true;
}

static bool find_named_term(const struct pattern *p, const struct sexp *s, term_id *ret_term)
{
    size_t name = FIRST_OF(size_t, i, p->names.count, strcmp(p->names.items[i].name, s->text + 1) == 0);
    if (name < p->names.count)
        *ret_term = p->names.items[name].term;
    return name < p->names.count;
}

static bool is_variable_of(const struct pattern *p, const struct sexp *s)
{
    return ANY(uint32_t, i, p->n_variables, strcmp(p->variables[i], s->text + 1) == 0);
}

bool pattern_parse_name(struct pattern *p, const struct sexp *s, const char *file, struct arena *a, struct error *error)
{
    term_id term;
    if (s->kind != SEXP_LIST || s->count != 2 || !is_tensor_variable(&s->items[0]))
        return sexp_error(error, file, s, "expected (?name TERM)");
    const struct sexp *name = &s->items[0];
    if (name->text[1] == '\0' || is_variable_of(p, name) || find_named_term(p, name, &term))
        return sexp_error(error, file, name, "%s is no new name", name->text);
    if (!pattern_parse_term(p, &s->items[1], file, a, &term, error))
        return false;
    vec_push(&p->names, ((struct pattern_name){arena_string(a, name->text + 1), term}));
    return true;
}

bool pattern_parse_term(struct pattern *p, const struct sexp *s, const char *file, struct arena *a, term_id *ret_term,
                        struct error *error)
{
    uint32_t index;
    if (!is_tensor_variable(s))
        return parse_application(p, s, file, a, ret_term, error);
    if (find_named_term(p, s, ret_term))
        return true;
    if (!find_or_add_name(p->variables, &p->n_variables, s, file, a, &index, error))
        return false;
    *ret_term = find_or_add_term(p, (struct term){true, index, 0});
    return true;
}

// --- attribute values ------------------------------------------------------------------------------------------------

static bool evaluate_attribute(const struct attribute_pattern *pattern, const struct term_bindings *b, struct arena *a,
                               struct attribute_value *ret_value)
{
    int64_t *ints = arena_array(a, int64_t, (size_t)pattern->count * MAX_TERM_LENGTH + 1);
    ret_value->count = 0;
    ret_value->ints = ints;
    for (uint32_t i = 0; i < pattern->count; i++) {
        struct attribute_value part;
        if (!attribute_term_evaluate(pattern->terms[i], b, a, &part))
            return false;
        if (part.count)
            memcpy(ints + ret_value->count, part.ints, part.count * sizeof *ints);
        ret_value->count += part.count;
    }
    return true;
}

const struct attribute_term *attribute_pattern_as_term(struct arena *a, const struct attribute_pattern *p)
{
    return p->count == 1 ? p->terms[0] : attribute_term_of(a, TERM_LIST, p->count, p->terms);
}

bool pattern_evaluate_attributes(const struct pattern_node *node, const struct term_bindings *b, struct arena *a,
                                 struct attribute_value *ret_values)
{
    return ALL(int, i, operator_n_attributes(node->op), evaluate_attribute(&node->attributes[i], b, a, &ret_values[i]));
}

// --- conditions ------------------------------------------------------------------------------------------------------

static const char *const condition_heads[] = {
    [CONDITION_EQUAL] = "=",     [CONDITION_NOT_EQUAL] = "!=",    [CONDITION_LESS_EQUAL] = "<=",
    [CONDITION_LESS] = "<",      [CONDITION_DIVIDES] = "divides", [CONDITION_WEIGHT] = "weight",
    [CONDITION_GIVEN] = "given", [CONDITION_DTYPE] = "dtype",
};

bool condition_is_of_variable(enum condition_kind kind)
{
    return kind == CONDITION_WEIGHT || kind == CONDITION_GIVEN || kind == CONDITION_DTYPE;
}

static bool parse_variable_condition(struct pattern *p, const struct sexp *s, const char *file, struct arena *a,
                                     struct condition *c, struct error *error)
{
    size_t expected = c->kind == CONDITION_DTYPE ? 3 : 2;
    if (s->count != expected || !is_tensor_variable(&s->items[1]))
        return sexp_error(error, file, s, "expected (%s ?x%s)", s->items[0].text, expected == 3 ? " TYPE" : "");
    if (c->kind == CONDITION_DTYPE &&
        (s->items[2].kind != SEXP_SYMBOL || !dtype_from_name(s->items[2].text, &c->dtype)))
        return sexp_error(error, file, &s->items[2], "expected an element type");
    return find_or_add_name(p->variables, &p->n_variables, &s->items[1], file, a, &c->variable, error);
}

bool pattern_parse_condition(struct pattern *p, const struct sexp *s, const char *file, struct arena *a,
                             struct condition *ret_condition, struct error *error)
{
    struct condition c = {0};
    const int n_kinds = (int)(sizeof condition_heads / sizeof *condition_heads);
    if (s->kind != SEXP_LIST || s->count == 0 || s->items[0].kind != SEXP_SYMBOL)
        return sexp_error(error, file, s, "expected a condition such as (= $g 1)");
    int kind = FIRST_OF(int, i, n_kinds, strcmp(condition_heads[i], s->items[0].text) == 0);
    if (kind == n_kinds)
        return sexp_error(error, file, &s->items[0], "unknown condition %s", s->items[0].text);
    c.kind = (enum condition_kind)kind;
    if (condition_is_of_variable(c.kind)) {
        if (!parse_variable_condition(p, s, file, a, &c, error))
            return false;
    } else {
        if (s->count != 3)
            return sexp_error(error, file, s, "%s compares two terms", s->items[0].text);
        if (!pattern_parse_attribute_term(p, &s->items[1], file, a, &c.a, error) ||
            !pattern_parse_attribute_term(p, &s->items[2], file, a, &c.b, error))
            return false;
    }
    *ret_condition = c;
    return true;
}

static bool entries_compare(enum condition_kind kind, const struct attribute_value *x, const struct attribute_value *y)
{
    if (x->count != y->count)
        return kind == CONDITION_NOT_EQUAL;
    bool is_all = true;
    for (uint32_t i = 0; i < x->count; i++) {
        int64_t a = x->ints[i], b = y->ints[i];
        bool holds = kind == CONDITION_LESS_EQUAL ? a <= b
                     : kind == CONDITION_LESS     ? a < b
                     : kind == CONDITION_DIVIDES  ? a > 0 && b % a == 0
                                                  : a == b;
        is_all = is_all && holds;
    }
    return kind == CONDITION_NOT_EQUAL ? !is_all : is_all;
}

bool condition_holds(const struct condition *c, const struct term_bindings *b, const enum weight_kind *weights,
                     struct arena *scratch)
{
    struct attribute_value x, y;
    if (c->kind == CONDITION_WEIGHT)
        return weights && weights[c->variable] != NO_WEIGHT;
    if (c->kind == CONDITION_GIVEN)
        return weights && weights[c->variable] == WEIGHT_GIVEN;
    if (c->kind == CONDITION_DTYPE)
        return b->tensors[c->variable] && b->tensors[c->variable]->dtype == c->dtype;
    return attribute_term_evaluate(c->a, b, scratch, &x) && attribute_term_evaluate(c->b, b, scratch, &y) &&
           entries_compare(c->kind, &x, &y);
}

// --- printing --------------------------------------------------------------------------------------------------------

void pattern_print_attribute_term(struct text *out, const struct pattern *p, const struct attribute_term *t)
{
    if (t->kind == TERM_INTEGER) {
        text_printf(out, "%" PRId64, t->value);
        return;
    }
    if (t->kind == TERM_VARIABLE) {
        text_printf(out, "$%s", p->attribute_variables[t->value]);
        return;
    }
    text_printf(out, "(%s", attribute_term_head(t->kind));
    if (t->kind == TERM_DIM || t->kind == TERM_DIMS || t->kind == TERM_RANK)
        text_printf(out, " ?%s", p->variables[t->value]);
    for (uint32_t i = 0; i < t->count; i++) {
        text_add(out, " ");
        pattern_print_attribute_term(out, p, t->operands[i]);
    }
    text_add(out, ")");
}

static bool is_constant(const struct attribute_pattern *pattern)
{
    return ALL(uint32_t, i, pattern->count, pattern->terms[i]->kind == TERM_INTEGER);
}

static bool is_standard(const struct attribute *attribute, const struct attribute_pattern *pattern)
{
    int64_t first = pattern->count ? pattern->terms[0]->value : 0;
    return is_constant(pattern) && attribute_is_standard(attribute, &(struct attribute_value){pattern->count, &first});
}

static void print_attribute(struct text *out, const struct pattern *p, const struct attribute *attribute,
                            const struct attribute_pattern *pattern)
{
    bool is_integral = attribute->kind == ATTRIBUTE_INT || attribute->kind == ATTRIBUTE_INTS;
    for (uint32_t i = 0; i < pattern->count; i++) {
        text_add(out, " ");
        if (is_integral || pattern->terms[i]->kind != TERM_INTEGER)
            pattern_print_attribute_term(out, p, pattern->terms[i]);
        else
            attribute_print(out, attribute, &(struct attribute_value){1, &pattern->terms[i]->value});
    }
}

void pattern_print_application(struct text *out, const struct pattern *p, term_id term, const uint8_t *names)
{
    const struct term *t = &p->terms.items[term];
    const struct pattern_node *n = &p->nodes.items[t->index];
    text_printf(out, "(%s", n->op->name);
    if (t->output > 0 || operator_splits(n->op))   // split0, split1
        text_printf(out, "%u", t->output);
    int count = operator_n_attributes(n->op);
    for (int i = 0; i < count; i++)
        if (n->op->attributes[i].kind == ATTRIBUTE_INT && n->op->attributes[i].is_required)
            print_attribute(out, p, &n->op->attributes[i], &n->attributes[i]);
    for (int i = 0; i < count; i++) {
        const struct attribute *attribute = &n->op->attributes[i];
        if ((attribute->kind == ATTRIBUTE_INT && attribute->is_required) || is_standard(attribute, &n->attributes[i]))
            continue;
        text_printf(out, " :%s", attribute->name);
        print_attribute(out, p, attribute, &n->attributes[i]);
    }
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        text_add(out, " ");
        pattern_print_term_by_names(out, p, n->inputs[i], names);
    }
    text_add(out, ")");
}

void pattern_print_term_by_names(struct text *out, const struct pattern *p, term_id term, const uint8_t *names)
{
    const struct term *t = &p->terms.items[term];
    if (t->is_variable)
        text_printf(out, "?%s", p->variables[t->index]);
    else if (names && names[t->index])
        text_printf(out, "?part%u", names[t->index]);
    else
        pattern_print_application(out, p, term, names);
}

void pattern_print_term(struct text *out, const struct pattern *p, term_id term)
{
    pattern_print_term_by_names(out, p, term, NULL);
}

void pattern_print_condition(struct text *out, const struct pattern *p, const struct condition *c)
{
    text_printf(out, "(%s ", condition_heads[c->kind]);
    if (condition_is_of_variable(c->kind)) {
        text_printf(out, "?%s", p->variables[c->variable]);
        if (c->kind == CONDITION_DTYPE)
            text_printf(out, " %s", dtype_name(c->dtype));
    } else {
        pattern_print_attribute_term(out, p, c->a);
        text_add(out, " ");
        pattern_print_attribute_term(out, p, c->b);
    }
    text_add(out, ")");
}
