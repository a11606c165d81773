// eOperators by operators of ONNX: the graph computes what the definition does, at all entries over the prime field; what
// is no sum of slices is refused.
#include "expressions/evaluation/evaluate.h"
#include "optimizer/derive/part.h"
#include "optimizer/derive/standard_form.h"
#include "substitutions/pattern.h"
#include "tests/derivation/problem.h"

#define KEY 3

static const struct form_case {
    const char *name, *text;
    bool is_refused;
} cases[] = {
    {"offset-reduce", "x0 f32[18,7,7]\nz[i,j,k] f32[2,7,7] = sum(m < 3) sum(n < 3) "
                      "x0[i * 9 + m * 3 + n,j + m - 1,k + n - 1 or 0]\n"},
    {"offset-reduce of a flat image",
     "x0 f32[18,20]\nz[i,j,k] f32[2,5,4] = sum(m < 3) sum(n < 3) (if j + m - 1 >= 0 then (if 5 - j - m >= 0 then "
     "(if k + n - 1 >= 0 then (if 4 - k - n >= 0 then x0[i * 9 + m * 3 + n,j * 4 + m * 4 + k + n - 5 or 0] "
     "else 0.0) else 0.0) else 0.0) else 0.0)\n"},
    {"of a transposed convolution",
     "x0 f32[2,48,4,4]\nz[i,j,k,l] f32[2,3,8,8] = sum(n < 4) sum(p < 4) (if 0 - ((k - n + 1) mod 2) >= 0 then "
     "(if 0 - ((l - p + 1) mod 2) >= 0 then x0[i,j * 16 + n * 4 + p,(k - n + 1) / 2,(l - p + 1) / 2 or 0] else 0.0) "
     "else 0.0)\n"},
    {"phases of a padded image",
     "x0 f32[1,3,8,6]\nz[i,j,k,l] f32[4,3,6,5] = x0[0,j,k * 2 + i / 2 - 2,l * 2 + (i mod 2) - 2 or 0]\n"},
    {"an image of its phases", "x0 f32[4,3,4,3]\nz[i,j,k] f32[3,8,6] = x0[(j mod 2) * 2 + (k mod 2),i,j / 2,k / 2]\n"},
    {"im2col",
     "x0 f32[1,2,5,5]\nz[i,j] f32[18,25] = x0[0,i / 9,j / 5 + ((i / 3) mod 3) - 1,(j mod 5) + (i mod 3) - 1 or 0]\n"},
    {"weights in another order", "x0 f32[6,5,3,2]\nz[i,j] f32[36,5] = x0[i / 6,j,(i / 2) mod 3,i mod 2]\n"},
    {"every third column, padded", "x0 f32[4,7]\nz[i,j] f32[4,5] = x0[i,j * 3 - 4 or 0]\n"},
    {"a window that grows into nothing", "x0 f32[6]\nz[i] f32[9] = sum(m < 3) x0[i - m or 0]\n"},
    {"a constant row", "x0 f32[4,7]\nz[i] f32[7] = x0[2,i]\n"},
    {"a diagonal is none", "x0 f32[400,400]\nz[i] f32[400] = x0[i,i]\n", true},
    {"a product is none", "x0 f32[4]\nx1 f32[4]\nz[i] f32[4] = x0[i] * x1[i]\n", true},
    {"a repeated row is none", "x0 f32[40]\nz[i,j] f32[40,40] = x0[j]\n", true},
    {"a long sum is none", "x0 f32[3,400]\nz[i] f32[3] = sum(m < 400) x0[i,m]\n", true},
};

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

TEST_OF_EACH(forms_compute_what_expressions_do, row, cases)
{
    term_id term;
    struct problem p FREED_BY(problem_free);
    problem_init(&p, row->text);
    struct pattern pattern FREED_BY(pattern_free);
    pattern_init(&pattern);
    term_id x = pattern_add_variable(&pattern, "x");
    bool is_made = standard_form_add(&p.dv.all.pool, p.program, x, &pattern, &p.arena, &term);
    if (is_made == row->is_refused)
        fail_msg("%s: %s", row->name, is_made ? "made" : "refused");
    if (is_made)
        check_values(&p, &pattern, term);
}
