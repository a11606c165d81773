// eOperators by operators of ONNX: the graph computes what the definition does, at all entries over the prime field; what
// is no sum of slices is refused.
#include "expressions/evaluation/evaluate.h"
#include "optimizer/derive/part.h"
#include "optimizer/derive/standard_form.h"
#include "substitutions/pattern.h"
#include "tests/derivation/problem.h"
#include "tests/support/cases.h"

#define KEY 3

static const uint64_t *evaluate(struct arena *a, const struct definition *d, const uint64_t *x)
{
    uint64_t *y = arena_array(a, uint64_t, type_elements(definition_output(d, 0)));
    evaluate_field(d, KEY, &x, &y, a);
    return y;
}

static const uint64_t *entries_of(struct arena *a, const struct type *type)
{
    struct random random = random_seed(5);
    uint64_t *x = arena_array(a, uint64_t, type_elements(type));
    for (int64_t i = 0; i < type_elements(type); i++)
        x[i] = random_below(&random, (uint64_t)1 << 60);
    return x;
}

static void make_graph(struct problem *p, const struct pattern *pattern, term_id term, struct part *part)
{
    tensor_id tensors[2 * MAX_RULE_NODES], inputs[MAX_RULE_VARIABLES];
    struct attribute_value values[MAX_ATTRIBUTES];
    struct term_bindings none = {0};
    part_init(part, &p->arena);
    for (term_id t = 0; t < pattern->terms.count; t++) {
        const struct pattern_node *n = &pattern->nodes.items[pattern->terms.items[t].index];
        node_id node;
        if (pattern->terms.items[t].is_variable) {
            tensors[t] = part_add_leaf(part, &p->definition.inputs[0], false);
            continue;
        }
        for (uint32_t i = 0; i < n->n_inputs; i++)
            inputs[i] = tensors[n->inputs[i]];
        assert_true(pattern_evaluate_attributes(n, &none, &p->arena, values));
        assert_true(graph_add(&part->graph, n->op, values, n->n_inputs, inputs, &node));
        tensors[t] = graph_output_of(&part->graph, node, 0);
    }
    part->result = tensors[term];
    graph_add_output(&part->graph, part->result);
}

static void check_values(struct problem *p, const struct pattern *pattern, term_id term)
{
    struct definition made FREED_BY(definition_free);
    struct part part FREED_BY(part_free);
    make_graph(p, pattern, term, &part);
    assert_true(part_define(&part, &p->arena, &made));
    const struct type *type = definition_output(&p->definition, 0);
    assert_true(type_equal_shape(type, definition_output(&made, 0)));
    const uint64_t *x = entries_of(&p->arena, &p->definition.inputs[0]);
    assert_memory_equal(evaluate(&p->arena, &made, x), evaluate(&p->arena, &p->definition, x),
                        (size_t)type_elements(type) * sizeof *x);
}

TEST_OF_CASES(forms_compute_what_expressions_do, c, "optimizer/standard_form.cases")
{
    term_id term;
    struct problem p FREED_BY(problem_free);
    problem_init(&p, c->items[2].text);
    struct pattern pattern FREED_BY(pattern_free);
    pattern_init(&pattern);
    term_id x = pattern_add_variable(&pattern, "x");
    bool is_made = standard_form_add(&p.dv.all.pool, p.program, x, &pattern, &p.arena, &term);
    if (is_made != sexp_is_call(c, "made"))
        fail_msg("%s: %s", c->items[1].text, is_made ? "made" : "refused");
    if (is_made)
        check_values(&p, &pattern, term);
}
