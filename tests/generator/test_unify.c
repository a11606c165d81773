// Rules that differ in attributes, as one: what is made is what was expected, and it says at every example what the rules
// said.
#include "generator/unify/unify.h"
#include "substitutions/pattern.h"
#include "tests/support/cases.h"
#include "tests/support/parse_rules.h"

enum { MAX_MEMBERS = 6 };

// --- members ---------------------------------------------------------------------------------------------------------

static const struct type *type_of_sizes(struct arena *a, const struct sexp *sizes)
{
    struct type *type = arena_new(a, struct type);
    int64_t dim[MAX_RANK];
    for (size_t i = 0; i < sizes->count; i++)
        dim[i] = sizes->items[i].integer;
    *type = type_make(DTYPE_F32, (int)sizes->count, dim);
    return type;
}

static struct unify_member make_member(struct arena *a, const struct rule *rule, const struct sexp *sizes)
{
    static const int64_t axis = 1;
    size_t n_nodes = rule->pattern.nodes.count;
    struct unify_example *example = arena_new(a, struct unify_example);
    const struct attribute_value **attributes = arena_array(a, const struct attribute_value *, n_nodes);
    const struct type **types = arena_array(a, const struct type *, sizes->count);
    struct attribute_value variables[MAX_RULE_VARIABLES];
    for (size_t i = 0; i < sizes->count; i++)
        types[i] = type_of_sizes(a, &sizes->items[i]);
    for (int i = 0; i < MAX_RULE_VARIABLES; i++)
        variables[i] = (struct attribute_value){1, &axis};
    for (size_t i = 0; i < n_nodes; i++) {
        struct attribute_value *values = arena_array(a, struct attribute_value, MAX_ATTRIBUTES);
        assert_true(pattern_evaluate_attributes(&rule->pattern.nodes.items[i],
                                                &(struct term_bindings){types, variables}, a, values));
        attributes[i] = values;
    }
    *example = (struct unify_example){types, attributes};
    return (struct unify_member){rule, 1, example};
}

// --- the reference ---------------------------------------------------------------------------------------------------

// A variable that stands by itself in the source has the example's value.
static void bind(const struct rule *r, const struct unify_example *e, struct attribute_value *ret_values)
{
    for (uint32_t i = 0; i < r->n_source_nodes; i++)
        for (int k = 0; k < operator_n_attributes(r->pattern.nodes.items[i].op); k++) {
            const struct attribute_pattern *p = &r->pattern.nodes.items[i].attributes[k];
            if (p->count == 1 && p->terms[0]->kind == TERM_VARIABLE)
                ret_values[p->terms[0]->value] = e->attributes[i][k];
        }
}

// The rule becomes the member: its conditions hold, and every attribute is what it is there.
static bool has_instance(struct arena *a, const struct rule *r, const struct unify_member *m)
{
    struct attribute_value values[MAX_RULE_VARIABLES], of_node[MAX_ATTRIBUTES];
    const struct term_bindings b = {m->examples->tensors, values};
    bool is_instance = r->pattern.nodes.count == m->rule->pattern.nodes.count;
    bind(r, m->examples, values);
    for (uint32_t i = 0; i < r->n_conditions; i++)
        is_instance = is_instance && condition_holds(&r->conditions[i], &b, NULL, a);
    for (size_t i = 0; i < r->pattern.nodes.count && is_instance; i++) {
        is_instance = pattern_evaluate_attributes(&r->pattern.nodes.items[i], &b, a, of_node);
        for (int k = 0; k < operator_n_attributes(r->pattern.nodes.items[i].op) && is_instance; k++)
            is_instance = attribute_value_equal(&of_node[k], &m->examples->attributes[i][k]);
    }
    return is_instance;
}

// --- the test --------------------------------------------------------------------------------------------------------

TEST_OF_CASES(rules_that_differ_in_attributes_become_one, c, "generator/unify.cases")
{
    ARENA(a);
    struct unify_member members[MAX_MEMBERS];
    struct rule *rules[MAX_MEMBERS];
    LOCAL_LIST(unified_list, found);
    size_t n = 0;
    for (; n + 1 < c->count && sexp_is_call(&c->items[n + 1], "member"); n++) {
        rules[n] = parse_rule(&a, text_of_items(&a, &c->items[n + 1], 2));
        members[n] = make_member(&a, rules[n], &c->items[n + 1].items[1]);
    }
    rules_unify(&a, members, n, &found);
    const struct sexp *made = &c->items[n + 1];
    assert_int_equal(found.count, c->count - 1 - n);
    for (size_t i = 0; i < found.count; i++) {
        assert_string_equal(found.items[i].body, made[i].items[1].text);
        struct rule *rule = parse_rule(&a, arena_printf(&a, "(rule made %s)", found.items[i].body));
        size_t n_instances = COUNT(size_t, k, n, has_instance(&a, rule, &members[k]));
        rule_free(rule);
        assert_true(n_instances >= found.items[i].n_members);
        assert_true(found.items[i].n_members >= 2);
    }
    for (size_t i = 0; i < n; i++)
        rule_free(rules[i]);
}

TEST(skeletons_tell_what_differs_otherwise)
{
    static const char *const statements[] = {
        "(source (concat 0 ?x ?y)) (target (concat 1 ?x ?y))",
        "(source (concat 1 ?x ?y)) (target (concat 0 ?x ?y)) (where (= (rank ?x) 2))",
        "(source (concat 1 ?x ?y)) (target (concat 0 ?y ?x))",
        "(source (poolavg :kernel 2 2 :padding counted ?x)) (target ?x)",
        "(source (poolavg :kernel 2 2 ?x)) (target ?x)",
        "(source (split0 1 (concat 1 ?x ?y))) (target ?x)",
        "(source (split0 1 :sizes (dim ?x 1) (dim ?y 1) (concat 1 ?x ?y))) (target ?x)",
    };
    ARENA(a);
    struct text texts[COUNT_OF(statements)] = {{0}};
    for (size_t i = 0; i < COUNT_OF(statements); i++) {
        struct rule *rule = parse_rule(&a, arena_printf(&a, "(rule r %s)", statements[i]));
        rule_print_skeleton(&texts[i], rule);
        rule_free(rule);
    }
    for (size_t i = 0; i < COUNT_OF(statements); i++)
        for (size_t k = i + 1; k < COUNT_OF(statements); k++)
            assert_int_equal(strcmp(texts[i].chars, texts[k].chars) == 0, i == 0 && k == 1);
    for (size_t i = 0; i < COUNT_OF(statements); i++)
        text_free(&texts[i]);
}
