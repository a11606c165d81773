// An application, and others that have to be the same function: with its inputs exchanged, of another floating-point
// type, of tensors that remember concatenations, with what was left to the types of inputs made explicit, and another
// choice. Types are compared, and values in the prime field.
#include "operators/traits/promises.h"

#include "core/memory/arena.h"
#include "core/memory/memory.h"
#include "operators/traits/application.h"
#include <string.h>

struct compared {
    struct application a;   // the application itself
    struct application_values values;
    bool has_values;
    struct arena *scratch;
};

static void compare_with(struct compared *c, struct arena *scratch)
{
    c->scratch = scratch;
    c->has_values = application_define(&c->a, scratch) && !c->a.d.is_data_dependent && application_is_small(&c->a);
    if (!c->has_values)
        return;
    application_make_inputs(&c->a, &c->values, scratch);
    application_evaluate(&c->a, &c->values, scratch);
}

// `inputs` are the values of those of `other`.
static bool has_equal_values(const struct compared *c, struct application *other, uint64_t *const *inputs)
{
    struct application_values v;
    bool are_equal = true;
    if (!c->has_values)
        return true;
    memcpy(v.inputs, inputs, sizeof v.inputs);
    application_evaluate(other, &v, c->scratch);
    return are_equal && ALL(int, i, other->d.n_outputs,
                            memcmp(v.outputs[i], c->values.outputs[i],
                                   (size_t)type_elements(definition_output(&other->d, i)) * sizeof(uint64_t)) == 0);
}

// An application that may be ill-typed is no other function then.
static bool is_same(const struct compared *c, struct application *other, uint64_t *const *inputs, bool may_be_ill_typed)
{
    return application_define(other, c->scratch)
               ? applications_make_alike(&c->a, other) && has_equal_values(c, other, inputs)
               : may_be_ill_typed;
}

// --- promises --------------------------------------------------------------------------------------------------------

static bool inputs_agree(const struct operator_call *call)
{
    for (int i = 1; i < call->n_inputs; i++)
        if (operator_agreement(call, i) != operator_agreement(call, 0))
            return false;
    return true;
}

static bool may_be_exchanged(const struct compared *c)
{
    struct application other FREED_BY(application_free) = {0};
    uint64_t *inputs[MOST_KNOWN_INPUTS] = {c->values.inputs[1], c->values.inputs[0]};
    if (c->a.call.n_inputs != 2 || !application_copy(&other, &c->a.call))
        return c->a.call.n_inputs == 2;
    other.inputs[0] = c->a.inputs[1];
    other.inputs[1] = c->a.inputs[0];
    return is_same(c, &other, inputs, false);
}

// Other types may be refused: the sides of a rule are typed wherever it is applied.
static bool is_same_of_floats(const struct compared *c, enum dtype dtype)
{
    struct application other FREED_BY(application_free);
    if (!application_copy(&other, &c->a.call))
        return true;
    for (int i = 0; i < other.call.n_inputs; i++)
        if (dtype_is_float(other.inputs[i].dtype))
            other.inputs[i].dtype = dtype;
    return is_same(c, &other, c->values.inputs, true);
}

// Only operators that cut look at where.
static bool is_same_of_joined(const struct compared *c)
{
    static const struct split_tree pair = {1, NULL, NULL}, joined = {2, &pair, &pair};
    struct application other FREED_BY(application_free) = {0};
    if (operator_has_role(c->a.call.op, ROLE_PART_SIZES) || !application_copy(&other, &c->a.call))
        return true;
    for (int i = 0; i < other.call.n_inputs; i++)
        for (int axis = 0; axis < other.inputs[i].rank; axis++)
            other.inputs[i].split[axis] = other.inputs[i].dim[axis] > 3 ? &joined : NULL;
    return is_same(c, &other, c->values.inputs, false);
}

static bool is_same_when_resolved(const struct compared *c)
{
    struct application other FREED_BY(application_free) = {0}, explicit FREED_BY(application_free) = {0};
    struct attribute_value attributes[MAX_ATTRIBUTES];
    if (!c->a.call.op->resolve || !application_copy(&other, &c->a.call))
        return true;
    memcpy(attributes, other.attributes, sizeof attributes);
    bool is_defined = application_define(&other, c->scratch);
    if (is_defined)
        other.call.op->resolve(&other.d, &other.call, attributes);
    other.call.attributes = attributes;
    return !is_defined || !application_copy(&explicit, &other.call) || is_same(c, &explicit, c->values.inputs, false);
}

// Types at another value, not what is computed: whether it is typed, and how.
static bool has_types_of_choice(const struct compared *c, int attribute, int64_t choice)
{
    struct application other FREED_BY(application_free);
    if (!application_copy(&other, &c->a.call))
        return true;
    other.ints[attribute][0] = choice;
    return application_define(&other, c->scratch) && applications_make_alike(&c->a, &other);
}

static bool has_types_of_all_choices(const struct compared *c)
{
    const struct operator* op = c->a.call.op;
    for (int i = 0; i < operator_n_attributes(op); i++)
        for (int64_t j = 0; op->attributes[i].kind == ATTRIBUTE_CHOICE && op->attributes[i].choices[j]; j++)
            if (!has_types_of_choice(c, i, j))
                return false;
    return true;
}

static int64_t place_read(const struct definition *d, const struct expr_node *read, const int64_t *variables)
{
    int64_t place = 0;
    for (uint32_t i = 0; i < read->count; i++)
        place = place * d->inputs[0].dim[i] + index_value(d, d->indices.items[read->a + i], variables);
    return place;
}

// Is each entry of the result the entry of the input at the same place in row-major order?
static bool keeps_order(const struct definition *d)
{
    const struct stage *z = &d->stages[0];
    const struct expr_node *read = &d->nodes.items[z->body];
    bool keeps = d->n_stages == 1 && d->n_inputs == 1 && read->kind == EXPR_READ && !d->is_data_dependent &&
                 type_elements(&z->type) == type_elements(&d->inputs[0]);
    LOCAL_ARRAY(int64_t, variables, d->extents.count + 1);
    for (int64_t place = 0; keeps && place < type_elements(&z->type); place++) {
        int64_t left = place;
        for (int axis = z->type.rank; axis-- > 0; left /= z->type.dim[axis])
            variables[z->first_variable + (uint32_t)axis] = left % z->type.dim[axis];
        keeps = place_read(d, read, variables) == place;
    }
    return keeps;
}

static const char *broken_promise(const struct compared *c)
{
    const struct operator_call *call = &c->a.call;
    const struct operator* op = call->op;
    return !inputs_agree(call)                            ? "its agreement differs between inputs that it takes"
           : op->refuses && op->refuses(call->attributes) ? "it refuses attributes that it takes"
           : (op->flags & OPERATOR_IS_COMMUTATIVE) && !may_be_exchanged(c) ? "it is not commutative"
           : (op->flags & OPERATOR_IS_VIEW) && !keeps_order(&c->a.d)       ? "it is no view"
           : !is_same_when_resolved(c)                                     ? "what it makes explicit is another call"
           : !has_types_of_all_choices(c)                                  ? "its types depend on a choice"
           : !is_same_of_joined(c)                                         ? "it looks at concatenations"
           : !is_same_of_floats(c, DTYPE_F16) || !is_same_of_floats(c, DTYPE_BF16) || !is_same_of_floats(c, DTYPE_F64)
               ? "it is another function of other floating-point types"
               : NULL;
}

const char *operator_broken_promise(const struct operator_call *call, struct arena *scratch)
{
    struct compared c;
    if (!application_copy(&c.a, call))
        return NULL;
    compare_with(&c, scratch);
    const char *promise = broken_promise(&c);
    definition_free(&c.a.d);
    return promise;
}
