// Rules of three outputs, each of whose targets needs an input that its own source has not, need more than four
// operators: shown here for small spaces with everything that lets an input go (split, and differences).
#include "generator/reduce/two_outputs.h"
#include "tests/generator/found.h"

// The inputs of each source that a target may have: of terms of its class, renamed as it is, that lack one of its
// inputs.
typedef VEC(uint32_t) input_sets;

static uint32_t renamed_inputs(uint32_t inputs, const uint8_t *order)
{
    uint32_t renamed = 0;
    for (int i = 0; i < MAX_LEAVES; i++)
        renamed |= inputs >> i & 1 ? 1u << order[i] : 0;
    return renamed;
}

static void find_sources(const struct two_outputs_terms *known, const struct two_outputs *target,
                         input_sets *ret_sources)
{
    vec_clear(ret_sources);
    for (uint32_t i = known->first_term.items[target->class]; i < two_outputs_end_of_class(known, target->class); i++) {
        const uint8_t *order = known->classes.items[target->renamed_class].order;
        uint32_t inputs = renamed_inputs(known->terms.items[i].leaves, order);
        bool is_new = (target->leaves & ~inputs) != 0;
        for (size_t k = 0; k < ret_sources->count; k++)
            is_new = is_new && ret_sources->items[k] != inputs;
        if (is_new)
            vec_push(ret_sources, inputs);
    }
}

// Do some sources of the three have all inputs of the targets?
static bool have_sources(const struct two_outputs_terms *known, const struct two_outputs *const targets[3])
{
    input_sets sources[3] = {{0}};
    uint32_t all = targets[0]->leaves | targets[1]->leaves | targets[2]->leaves;
    bool have = false;
    for (int i = 0; i < 3; i++)
        find_sources(known, targets[i], &sources[i]);
    for (size_t i = 0; i < sources[0].count; i++)
        for (size_t j = 0; j < sources[1].count; j++)
            for (size_t k = 0; k < sources[2].count; k++)
                have = have || !(all & ~(sources[0].items[i] | sources[1].items[j] | sources[2].items[k]));
    for (int i = 0; i < 3; i++)
        vec_free(&sources[i]);
    return have;
}

static int count_nodes_of_three(const struct two_outputs *const targets[3])
{
    int n = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < targets[i]->n_nodes; k++) {
            bool is_new = true;
            for (int j = 0; j < i; j++)
                for (int l = 0; l < targets[j]->n_nodes; l++)
                    is_new = is_new && targets[j]->nodes[l] != targets[i]->nodes[k];
            n += is_new;
        }
    return n;
}

static bool is_rule_of_three_outputs(const struct two_outputs_terms *known, const struct two_outputs *const targets[3])
{
    return two_outputs_go_together(targets[1], targets[2], MAX_OPS) && count_nodes_of_three(targets) <= MAX_OPS &&
           have_sources(known, targets);
}

// Of all graphs of four operators; gives how many have two outputs that are targets.
static size_t expect_no_three_targets(const struct two_outputs_terms *known, const char *space)
{
    VEC(const struct two_outputs *) beside = {0};
    const struct two_outputs *t = known->targets.items;
    size_t pairs = 0;
    for (size_t i = 0; i < known->targets.count; i++) {
        vec_clear(&beside);
        for (size_t j = i + 1; j < known->targets.count; j++)
            if (two_outputs_go_together(&t[i], &t[j], MAX_OPS))
                vec_push(&beside, &t[j]);
        pairs += beside.count;
        for (size_t j = 0; j < beside.count; j++)
            for (size_t k = j + 1; k < beside.count; k++)
                if (is_rule_of_three_outputs(known,
                                             (const struct two_outputs *[3]){&t[i], beside.items[j], beside.items[k]}))
                    fail_msg("%s: a rule of three outputs", space);
    }
    vec_free(&beside);
    return pairs;
}

static void no_rule_of_four_operators_needs_three_outputs(void **state)
{
    static const char *const spaces[] = {
        "(family f (inputs 3 (f32 2 2)) (operator (relu _)) (operator (concat 1 _ _)) (operator (split 1 _)))",
        "(family f (inputs 3 (f32 2 2)) (operator (ewadd _ _)) (operator (concat 1 _ _)) (operator (split 1 _)))",
        ("(family f (inputs 2 (f32 2 2)) (operator (matmul _ _)) (operator (concat 0 _ _)) (operator (concat 1 _ _))"
         " (operator (split 0 _)) (operator (split 1 _)))"),
        "(family f (inputs 3 (f32 2)) (operator (sub _ _)) (operator (relu _)))",
    };
    for (size_t i = 0; i < COUNT_OF(spaces); i++) {
        struct found found;
        struct two_outputs_terms known;
        find_fast(&found, spaces[i], MAX_OPS);
        two_outputs_terms_init(&known, &found.reduction);
        if (expect_no_three_targets(&known, spaces[i]) == 0)
            fail_msg("%s: no two outputs", spaces[i]);
        two_outputs_terms_free(&known);
        free_fast(&found);
    }
}

RUN_TESTS(TEST(no_rule_of_four_operators_needs_three_outputs))
