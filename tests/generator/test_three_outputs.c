// Rules of three outputs, each of whose targets needs an input that its own source has not, need more than four
// operators: shown here for small spaces with everything that lets an input go (split, and differences).
#include "generator/reduce/two_outputs.h"
#include "tests/generator/found.h"

enum { OPERATORS = 4 };

static uint32_t inputs_of_source(const struct two_outputs_terms *known, const struct renamed_target *target)
{
    uint32_t needed = known->classes.items[target->class].needed, renamed = 0;
    for (int i = 0; i < MAX_LEAVES; i++)
        renamed |= needed >> i & 1 ? 1u << target->order[i] : 0;
    return renamed;
}

// Do the sources of the three have all inputs of the targets?
static bool have_sources(const struct two_outputs_terms *known, const struct renamed_target *const targets[3])
{
    uint32_t all = 0, there = 0;
    for (int i = 0; i < 3; i++) {
        all |= targets[i]->half.leaves;
        there |= inputs_of_source(known, targets[i]);
    }
    return (all & ~there) == 0;
}

static int count_nodes_of_three(const struct renamed_target *const targets[3])
{
    int n = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < targets[i]->half.n_nodes; k++) {
            bool is_new = true;
            for (int j = 0; j < i; j++)
                for (int l = 0; l < targets[j]->half.n_nodes; l++)
                    is_new = is_new && targets[j]->half.node_hashes[l] != targets[i]->half.node_hashes[k];
            n += is_new;
        }
    return n;
}

static bool is_rule_of_three_outputs(const struct two_outputs_terms *known,
                                     const struct renamed_target *const targets[3])
{
    return two_outputs_go_together(&targets[1]->half, &targets[2]->half, OPERATORS) &&
           count_nodes_of_three(targets) <= OPERATORS && have_sources(known, targets);
}

// Of all graphs of four operators; gives how many have two outputs that are targets.
static size_t expect_no_three_targets(const struct two_outputs_terms *known, const char *space)
{
    VEC(const struct renamed_target *) beside = {0};
    const struct renamed_target *t = known->targets.items;
    size_t pairs = 0;
    for (size_t i = 0; i < known->targets.count; i++) {
        vec_clear(&beside);
        for (size_t j = i + 1; j < known->targets.count; j++)
            if (two_outputs_go_together(&t[i].half, &t[j].half, OPERATORS))
                vec_push(&beside, &t[j]);
        pairs += beside.count;
        for (size_t j = 0; j < beside.count; j++)
            for (size_t k = j + 1; k < beside.count; k++)
                if (is_rule_of_three_outputs(
                        known, (const struct renamed_target *[3]){&t[i], beside.items[j], beside.items[k]}))
                    fail_msg("%s: a rule of three outputs", space);
    }
    vec_free(&beside);
    return pairs;
}

static const char *const spaces[] = {
    "(family f (inputs 3 (f32 2 2)) (operator (relu _)) (operator (concat 1 _ _)) (operator (split 1 _)))",
    "(family f (inputs 3 (f32 2 2)) (operator (ewadd _ _)) (operator (concat 1 _ _)) (operator (split 1 _)))",
    ("(family f (inputs 2 (f32 2 2)) (operator (matmul _ _)) (operator (concat 0 _ _)) (operator (concat 1 _ _))"
     " (operator (split 0 _)) (operator (split 1 _)))"),
    "(family f (inputs 3 (f32 2)) (operator (sub _ _)) (operator (relu _)))",
};

TEST_OF_EACH(no_rule_of_four_operators_needs_three_outputs, row, spaces)
{
    struct found found FREED_BY(free_fast);
    find_fast(&found, *row, OPERATORS);
    struct two_outputs_terms known FREED_BY(two_outputs_terms_free);
    two_outputs_terms_init(&known, &found.reduction, OPERATORS);
    if (expect_no_three_targets(&known, *row) == 0)
        fail_msg("%s: no two outputs", *row);
}
