// An application, and that of another operator to its inputs.
#include "operators/traits/references.h"

#include "core/memory/arena.h"
#include "operators/traits.h"
#include "operators/traits/application.h"

const struct operator* operator_reference(const struct definition *d, const struct operator_call *call)
{
    const struct operator* op = call->op;
    bool contracts = definition_traits(d) & TRAIT_CONTRACTS, names_axes = operator_has_role(op, ROLE_AXIS);
    enum operator_id id = operator_pools(op)           ? OP_POOLMAX
                          : operator_has_windows(op)   ? OP_CONV
                          : operator_enlarges(op)      ? OP_ENLARGE
                          : operator_merges_groups(op) ? OP_MERGE
                          : operator_joins(op)         ? OP_CONCAT
                          : operator_splits(op)        ? OP_SPLIT
                          : operator_permutes(op)      ? OP_TRANSPOSE
                          : operator_reduces_axes(op)  ? OP_REDUCESUM
                          : operator_repeats(op)       ? OP_BROADCAST
                          : operator_is_constant(op)   ? OP_IEWMUL
                          : (contracts && !names_axes) ? OP_MATMUL
                                                       : OP_COUNT;
    return id == OP_COUNT ? NULL : operators[id];
}

static void copy_attributes(const struct operator* reference, const struct operator_call *call,
                            struct attribute_value *values)
{
    for (int i = 0; i < operator_n_attributes(reference); i++) {
        enum attribute_role role = reference->attributes[i].role;
        int own = role == ROLE_NONE ? -1 : operator_find_role(call->op, role);
        values[i] = own < 0 ? values[i] : call->attributes[own];
    }
}

static bool have_same_sizes(const struct definition *x, const struct definition *y)
{
    return x->n_outputs == y->n_outputs &&
           ALL(int, i, x->n_outputs, type_equal_shape(definition_output(x, i), definition_output(y, i)));
}

bool operator_is_typed_like(const struct operator* reference, const struct operator_call *call, struct arena *scratch)
{
    struct application own, other;
    struct attribute_value values[MAX_ATTRIBUTES];
    struct operator_call asked = *call;
    bool has_fewer_inputs =
        operator_most_inputs(reference) != VARIADIC && call->n_inputs > operator_most_inputs(reference);
    asked.op = reference;
    asked.n_inputs = has_fewer_inputs ? operator_most_inputs(reference) : call->n_inputs;
    asked.attributes = values;
    operator_standard_attributes(reference, scratch, values);
    copy_attributes(reference, call, values);
    if (!application_copy(&own, call) || !application_copy(&other, &asked))
        return false;
    bool are_defined = application_define(&own, scratch), is_refused = !application_define(&other, scratch);
    bool is_like = is_refused ? operator_pools(reference) : are_defined && have_same_sizes(&own.d, &other.d);
    definition_free(&own.d);
    definition_free(&other.d);
    return is_like;
}
