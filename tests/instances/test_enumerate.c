// The search for instances joins relations; here it is held against trying every type of every variable.
#include "instances/enumerate.h"
#include "substitutions/pattern.h"
#include "tests/support/cases.h"
#include "tests/support/parse_rules.h"

// Sums of what was met, so that the order does not matter and a double counts twice.
struct met {
    uint64_t count, sum;
};

static bool meet(void *context, struct instance *in)
{
    struct met *met = context;
    uint64_t hash = 17;
    for (uint32_t v = 0; v < in->equation->pattern->n_variables; v++)
        for (int a = 0; a <= in->types[v]->rank; a++)
            hash = hash * 31 + (uint64_t)(a == in->types[v]->rank ? 7 : in->types[v]->dim[a]);
    for (uint32_t v = 0; v < in->equation->pattern->n_attribute_variables; v++)
        for (uint32_t i = 0; i < in->attributes[v].count; i++)
            hash = hash * 31 + (uint64_t)in->attributes[v].ints[i] + v;
    met->count++;
    met->sum += hash * hash;
    return true;
}

static bool is_instance(struct instance *in)
{
    const struct equation *eq = in->equation;
    struct term_bindings b = instance_bindings(in);
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        if (!instance_type_node(in, n))
            return false;
    for (term_id t = 0; t < eq->pattern->terms.count; t++)
        if (instance_term_type(in, t) == NO_TYPE)
            return false;
    return ALL(uint32_t, i, eq->n_conditions, condition_holds(&eq->conditions[i], &b, NULL, in->scratch));
}

static void try_all_types(struct instance *in, uint32_t variable, int max_rank, struct met *met);

static void try_all_attributes(struct instance *in, uint32_t variable, int max_rank, struct met *met, struct arena *a)
{
    const struct pattern *p = in->equation->pattern;
    if (variable == p->n_attribute_variables) {
        for (uint32_t n = 0; n < p->nodes.count; n++)
            instance_settle_attributes(in, n);
        try_all_types(in, 0, max_rank, met);
        return;
    }
    struct domain domain = domain_of_variable(p, variable, max_rank, DOMAIN_SMALL, a);
    for (size_t i = 0; i < domain.count; i++) {
        in->attributes[variable] = domain.values[i];
        try_all_attributes(in, variable + 1, max_rank, met, a);
    }
}

static void try_all_types(struct instance *in, uint32_t variable, int max_rank, struct met *met)
{
    if (variable == in->equation->pattern->n_variables) {
        if (is_instance(in))
            meet(met, in);
        return;
    }
    for (int rank = 0; rank <= max_rank; rank++)
        for (uint32_t sizes = 0; sizes < 1u << rank; sizes++) {
            struct type type = {.dtype = DTYPE_F32, .rank = rank};
            for (int a = 0; a < rank; a++)
                type.dim[a] = 1 + (sizes >> a & 1);
            instance_bind(in, variable, typing_add(in->typing, &type));
            try_all_types(in, variable + 1, max_rank, met);
        }
}

static bool find_at(void *context, const struct attribute_value *attributes)
{
    struct enumeration *e = context;
    e->attributes = attributes;
    assert_true(enumerate_instances(e));
    assert_false(e->was_cut_short);
    return true;
}

// As many in an order that is drawn.
static bool find_shuffled_at(void *context, const struct attribute_value *attributes)
{
    struct random random = random_seed(7);
    struct enumeration *e = context;
    e->random = &random;
    bool goes_on = find_at(e, attributes);
    e->random = NULL;
    return goes_on;
}

static void is_cut_short_at_its_limit(struct enumeration *e)
{
    uint64_t steps = e->steps;
    e->step_limit = steps;
    enumerate_instances(e);
    assert_false(e->was_cut_short);
    e->step_limit = steps - 1;
    enumerate_instances(e);
    assert_true(steps == 0 || e->was_cut_short);
}

TEST_OF_CASES(finds_what_trying_all_finds, c, "instances/enumerate.cases")
{
    ARENA(scratch);
    ARENA(arena);
    struct typing typing FREED_BY(typing_free);
    typing_init(&typing);
    struct rule *rule = parse_rule(&arena, text_of(&arena, c));
    struct equation eq = equation_of_rule(rule);
    struct box box = box_uniform(3, 2);
    struct met found = {0}, shuffled = {0}, tried = {0};
    struct enumeration e = {.equation = &eq,
                            .typing = &typing,
                            .scratch = &scratch,
                            .box = &box,
                            .wanted = WANTED_BOTH,
                            .step_limit = 100000000,
                            .visit = meet,
                            .context = &found};
    struct attribute_walk walk = {.equation = &eq,
                                  .max_rank = box.max_rank,
                                  .extent = DOMAIN_SMALL,
                                  .scratch = &scratch,
                                  .visit = find_at,
                                  .context = &e};
    assert_true(enumerate_attributes(&walk));
    e.context = &shuffled;
    walk.visit = find_shuffled_at;
    assert_true(enumerate_attributes(&walk));
    assert_int_equal(shuffled.count, found.count);
    assert_int_equal(shuffled.sum, found.sum);
    struct instance in;
    instance_init(&in, &eq, &typing, &scratch);
    try_all_attributes(&in, 0, box.max_rank, &tried, &arena);
    if (tried.count == 0)
        fail_msg("%s: no instances", rule->name);
    assert_int_equal(found.count, tried.count);
    assert_int_equal(found.sum, tried.sum);
    e.attributes = in.attributes;   // the last ones that were tried
    enumerate_instances(&e);
    is_cut_short_at_its_limit(&e);
    rule_free(rule);
}

// All types of ranks 1 to 4 with sizes 2 and 4, those that are even on their first axis cut there.
static uint32_t collect_types(struct type *ret_types)
{
    static struct split_tree cut = {1, NULL, NULL};
    uint32_t n = 0;
    for (int rank = 1; rank <= 4; rank++)
        for (int sizes = 0; sizes < 1 << rank; sizes++)
            for (int is_cut = 0; is_cut < 2; is_cut++) {
                struct type *type = &ret_types[n++];
                *type = (struct type){.dtype = DTYPE_F32, .rank = rank};
                for (int axis = 0; axis < rank; axis++)
                    type->dim[axis] = sizes >> axis & 1 ? 4 : 2;
                type->split[0] = is_cut ? &cut : NULL;
            }
    return n;
}

static void standard_attributes(const struct operator* op, struct arena *a, struct attribute_value *ret_values)
{
    static const int64_t kernel[] = {1, 2}, axis = 0;
    operator_standard_attributes(op, a, ret_values);
    for (int k = 0; k < operator_n_attributes(op); k++)
        if (op->attributes[k].is_required)
            ret_values[k] = op->attributes[k].kind == ATTRIBUTE_INTS ? (struct attribute_value){2, kernel}
                                                                     : (struct attribute_value){1, &axis};
}

// Inputs that do not agree are refused without being defined.
TEST(types_what_has_a_definition)
{
    static struct type types[64];
    uint32_t n_types = collect_types(types), n_typed = 0, n_refused = 0;
    for (int op_id = 0; op_id < operator_count(); op_id++) {
        const struct operator* op = operators[op_id];
        struct attribute_value attributes[MAX_ATTRIBUTES];
        ARENA(a);
        if (op->min_inputs != 2 || !op->define)
            continue;
        struct typing typing FREED_BY(typing_free);
        typing_init(&typing);
        standard_attributes(op, &a, attributes);
        head_id head = typing_head(&typing, op, attributes);
        for (uint32_t x = 0; x < n_types; x++)
            for (uint32_t y = 0; y < n_types; y++) {
                struct type inputs[] = {types[x], types[y]};
                type_id ids[] = {typing_add(&typing, &types[x]), typing_add(&typing, &types[y])};
                struct definition d FREED_BY(definition_free);
                struct operator_call call = {op, 2, inputs, attributes};
                definition_init(&d, &a, 2, inputs);
                bool is_typed = operator_define(&d, &call);
                assert_int_equal(typing_apply(&typing, head, 2, ids)->is_typed, is_typed);
                n_typed += is_typed;
                n_refused += !is_typed;
            }
    }
    assert_true(n_typed > 1000 && n_refused > 1000);
}
