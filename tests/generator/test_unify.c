// Rules that differ in attributes, as one: what is made is what was expected, and it says at every example what the rules
// said.
#include "generator/unify/unify.h"
#include "substitutions/pattern.h"
#include "tests/support/check.h"
#include "tests/support/parse_rules.h"

enum { MAX_MEMBERS = 6, MAX_EXPECTED = 3 };

// The rules' statements, each with the sizes of its tensors: of the first up to 0, of the next, and so on.
static const struct {
    struct {
        const char *statement;
        int64_t sizes[MAX_EXPECTED][5];
    } members[MAX_MEMBERS];
    const char *expected[MAX_EXPECTED];
} cases[] = {
    {{{"(source (transpose :perm 0 ?x)) (target ?x)", {{7}}},
      {"(source (transpose :perm 0 1 ?x)) (target ?x)", {{7, 5}}},
      {"(source (transpose :perm 0 1 2 ?x)) (target ?x)", {{7, 5, 6}}}},
     {"\n  (source (transpose :perm $perm ?x))\n  (target ?x)\n  (where (= $perm (iota (rank ?x))))"}},
    {{{"(source (transpose :perm 1 0 (transpose :perm 1 0 ?x))) (target (transpose :perm 0 1 ?x))", {{7, 5}}},
      {"(source (transpose :perm 1 2 0 (transpose :perm 1 0 2 ?x))) (target (transpose :perm 0 2 1 ?x))", {{7, 5, 6}}},
      {"(source (transpose :perm 1 0 2 (transpose :perm 1 2 0 ?x))) (target (transpose :perm 2 1 0 ?x))", {{7, 5, 6}}}},
     {"\n  (source (transpose :perm $perm2 (transpose :perm $perm ?x)))"
      "\n  (target (transpose :perm (at $perm $perm2) ?x))"}},
    {{{"(source (conv :group 4 ?x ?y)) (target (conv :group 2 ?x (merge 4 2 ?y)))", {{1, 8, 3}, {8, 2, 1}}},
      {"(source (conv :group 4 ?x ?y)) (target (conv ?x (merge 4 4 ?y)))", {{1, 8, 3}, {8, 2, 1}}},
      {"(source (conv :group 2 ?x ?y)) (target (conv ?x (merge 2 2 ?y)))", {{1, 8, 3}, {8, 4, 1}}}},
     {"\n  (source (conv :group $group ?x ?y))\n  (target (conv :group (/ $group 2) ?x (merge $group 2 ?y)))",
      "\n  (source (conv :group $group ?x ?y))\n  (target (conv ?x (merge $group $group ?y)))"}},
    {{{"(source (conv (conv ?x ?y) ?z)) (target (conv (conv ?x ?z) ?y)) (where (= (dim ?y 2) 1))",
       {{1, 8, 3}, {11, 13, 1}, {8, 8, 3}}},
      {"(source (conv (conv ?x ?y) ?z)) (target (conv (conv ?x ?z) ?y)) (where (= (dim ?y 2) 1) (= (dim ?y 3) 1))",
       {{1, 8, 3, 5}, {7, 6, 1, 1}, {8, 8, 3, 2}}},
      {"(source (conv (conv ?x ?y) ?z)) (target (conv (conv ?x ?z) ?y)) (where (= (dim ?y 2) 1))",
       {{2, 8, 9}, {5, 19, 1}, {8, 8, 5}}}},
     {"\n  (source (conv (conv ?x ?y) ?z))\n  (target (conv (conv ?x ?z) ?y))"
      "\n  (where (= (drop 2 (dims ?y)) (repeat (- (rank ?x) 2) 1)))"}},
    {{{"(source (relu (concat 0 ?x ?y))) (target (concat 0 (relu ?x) (relu ?y)))", {{7, 5}, {6, 5}}},
      {"(source (relu (concat 1 ?x ?y))) (target (concat 0 (relu ?y) (relu ?x)))", {{7, 5, 2}, {6, 5, 2}}}},
     {NULL}},
    {{{"(source (conv :dilation $dilation ?x ?y) (conv :pad 1 1 1 1 ?x ?z)) "
       "(target (split0 1 (conv :pad 1 1 1 1 ?x (concat 0 (enlarge :kernel 3 3 ?y) ?z))) "
       "(split1 1 (conv :pad 1 1 1 1 ?x (concat 0 (enlarge :kernel 3 3 ?y) ?z))))",
       {{1, 2, 9, 8}, {3, 2, 1, 1}, {4, 2, 3, 3}}},
      {"(source (conv :pad 0 0 1 0 ?x ?y) (conv :pad 1 2 2 2 ?x ?z)) "
       "(target (split0 1 (conv :pad 1 2 2 2 ?x (concat 0 (enlarge :kernel 4 6 ?y) ?z))) "
       "(split1 1 (conv :pad 1 2 2 2 ?x (concat 0 (enlarge :kernel 4 6 ?y) ?z))))",
       {{1, 2, 6, 7}, {3, 2, 2, 2}, {5, 2, 4, 6}}},
      {"(source (conv :pad 0 1 2 0 ?x ?y) (conv :pad 1 2 3 1 ?x ?z)) "
       "(target (split0 1 (conv :pad 1 2 3 1 ?x (concat 0 (enlarge :kernel 5 5 ?y) ?z))) "
       "(split1 1 (conv :pad 1 2 3 1 ?x (concat 0 (enlarge :kernel 5 5 ?y) ?z))))",
       {{1, 2, 6, 7}, {3, 2, 3, 3}, {5, 2, 5, 5}}},
      {"(source (conv :pad 1 0 0 1 ?x ?y) (conv :pad 2 1 1 2 ?x ?z)) "
       "(target (split0 1 (conv :pad 2 1 1 2 ?x (concat 0 (enlarge :kernel 4 5 ?y) ?z))) "
       "(split1 1 (conv :pad 2 1 1 2 ?x (concat 0 (enlarge :kernel 4 5 ?y) ?z))))",
       {{1, 2, 6, 7}, {3, 2, 2, 3}, {5, 2, 4, 5}}},
      {"(source (conv :pad 1 0 ?x ?y) (conv :pad 3 2 ?x ?z)) "
       "(target (split0 1 (conv :pad 3 2 ?x (concat 0 (enlarge :kernel 7 ?y) ?z))) "
       "(split1 1 (conv :pad 3 2 ?x (concat 0 (enlarge :kernel 7 ?y) ?z))))",
       {{1, 2, 8}, {3, 2, 3}, {5, 2, 7}}}},
     {"\n  (source (conv :pad $pad :dilation $dilation ?x ?y)\n          (conv :pad $pad2 ?x ?z))"
      "\n  (target (split0 1 (conv :pad $pad2 ?x (concat 0 (enlarge :kernel (drop 2 (dims ?z)) ?y) ?z)))"
      "\n          (split1 1 (conv :pad $pad2 ?x (concat 0 (enlarge :kernel (drop 2 (dims ?z)) ?y) ?z))))",
      "\n  (source (conv :pad $pad ?x ?y)\n          (conv :pad $pad2 ?x ?z))"
      "\n  (target (split0 1 (conv :pad $pad2 ?x (concat 0 (enlarge :kernel (drop 2 (dims ?z)) ?y) ?z)))"
      "\n          (split1 1 (conv :pad $pad2 ?x (concat 0 (enlarge :kernel (drop 2 (dims ?z)) ?y) ?z))))"
      "\n  (where (= $pad (+ $pad2 (repeat 2 (/ (- (drop 2 (dims ?y)) (drop 2 (dims ?z))) 2)))))"}},
    {{{"(source (concat 1 (broadcast :shape 2 (dim ?x 0) ?x) (broadcast :shape 2 (dim ?y 0) ?y))) "
       "(target (broadcast :shape 2 (+ (dim ?x 0) (dim ?y 0)) (concat 0 ?x ?y))) "
       "(where (= (rank ?x) 1) (= (rank ?y) 1))",
       {{5}, {2}}},
      {"(source (concat 2 (broadcast :shape 5 2 (dim ?x 0) ?x) (broadcast :shape 5 2 (dim ?y 0) ?y))) "
       "(target (broadcast :shape 5 2 (+ (dim ?x 0) (dim ?y 0)) (concat 0 ?x ?y))) "
       "(where (= (rank ?x) 1) (= (rank ?y) 1))",
       {{6}, {7}}},
      {"(source (concat 3 (broadcast :shape 6 5 2 (dim ?x 0) ?x) (broadcast :shape 6 5 2 (dim ?y 0) ?y))) "
       "(target (broadcast :shape 6 5 2 (+ (dim ?x 0) (dim ?y 0)) (concat 0 ?x ?y))) "
       "(where (= (rank ?x) 1) (= (rank ?y) 1))",
       {{3}, {4}}}},
     {"\n  (source (concat $axis (broadcast :shape $shape ?x) (broadcast :shape $shape2 ?y)))"
      "\n  (target (broadcast :shape (take $axis $shape) (+ (dim ?x 0) (dim ?y 0)) (concat 0 ?x ?y)))"
      "\n  (where (= $shape (list (take $axis $shape2) (dims ?x))) (= $axis (- (length $shape2) 1)) (= (rank ?x) 1) "
      "(= (rank ?y) 1) (= (dims ?y) (at $shape2 $axis)))"}},
    {{{"(source (relu (concat $axis ?x ?y))) (target (concat $axis (relu ?x) (relu ?y)))", {{7, 5}, {6, 5}}}}, {NULL}},
};

// --- members ---------------------------------------------------------------------------------------------------------

static const struct type *type_of_sizes(struct arena *a, const int64_t *sizes)
{
    struct type *type = arena_new(a, struct type);
    int rank = 0;
    while (sizes[rank])
        rank++;
    *type = type_make(DTYPE_F32, rank, sizes);
    return type;
}

static struct unify_member make_member(struct arena *a, const struct rule *rule, int64_t (*sizes)[5])
{
    static const int64_t axis = 1;
    size_t n_nodes = rule->pattern.nodes.count;
    struct unify_example *example = arena_new(a, struct unify_example);
    const struct attribute_value **attributes = arena_array(a, const struct attribute_value *, n_nodes);
    const struct type **types = arena_array(a, const struct type *, MAX_EXPECTED);
    struct attribute_value variables[MAX_RULE_VARIABLES];
    for (int i = 0; i < MAX_EXPECTED; i++)
        types[i] = type_of_sizes(a, sizes[i]);
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

static void check_case(size_t number)
{
    ARENA(a);
    struct unify_member members[MAX_MEMBERS];
    struct rule *rules[MAX_MEMBERS];
    LOCAL_LIST(unified_list, found);
    size_t n = 0, n_expected = 0;
    for (; n < MAX_MEMBERS && cases[number].members[n].statement; n++) {
        int64_t sizes[MAX_EXPECTED][5];
        memcpy(sizes, cases[number].members[n].sizes, sizeof sizes);
        rules[n] = parse_rule(&a, arena_printf(&a, "(rule member %s)", cases[number].members[n].statement));
        members[n] = make_member(&a, rules[n], sizes);
    }
    rules_unify(&a, members, n, &found);
    for (; n_expected < MAX_EXPECTED && cases[number].expected[n_expected]; n_expected++)
        if (n_expected < found.count)
            assert_string_equal(found.items[n_expected].body, cases[number].expected[n_expected]);
    for (size_t i = 0; i < found.count && found.count != n_expected; i++)
        print_message("%s\n", found.items[i].body);
    if (found.count != n_expected)
        fail_msg("case %zu: %zu and not %zu", number, found.count, n_expected);
    for (size_t i = 0; i < found.count; i++) {
        struct rule *made = parse_rule(&a, arena_printf(&a, "(rule made %s)", found.items[i].body));
        size_t n_instances = COUNT(size_t, k, n, has_instance(&a, made, &members[k]));
        rule_free(made);
        assert_true(n_instances >= found.items[i].n_members);
        assert_true(found.items[i].n_members >= 2);
    }
    for (size_t i = 0; i < n; i++)
        rule_free(rules[i]);
}

TEST(rules_that_differ_in_attributes_become_one)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_case(i);
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
