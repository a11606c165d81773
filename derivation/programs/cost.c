// Operators are taken to do some operations in the time of a byte, eOperators as many as bytes.
#include "derivation/programs/cost.h"

#include "derivation/scopes/scope.h"
#include "derivation/scopes/substitution.h"

#define OPERATIONS_PER_BYTE 8.0   // of an operator; 1 of an eOperator

static expr flat_index(struct pool *p, const struct type *type, const expr *index)
{
    expr flat = pool_integer(p, 0);
    for (int axis = 0; axis < type->rank; axis++)
        flat = pool_index_add(p, pool_index_mul(p, flat, type->dim[axis]), index[axis]);
    return flat;
}

bool is_view(struct pool *p, int tensor)
{
    expr axes[MAX_RANK], index[MAX_RANK];
    if (!scope_is_copy(p, tensor))
        return false;
    const struct stage scope = p->d.stages[tensor - p->d.n_inputs];
    const struct type read = *definition_tensor(&p->d, read_tensor_of(p, scope.body));
    if (p->d.nodes.items[scope.body].b != OUTSIDE_NEVER || type_elements(&read) != type_elements(&scope.type))
        return false;
    for (int axis = 0; axis < scope.type.rank; axis++)
        axes[axis] = pool_variable(p, scope.first_variable + (uint32_t)axis);
    for (int axis = 0; axis < read.rank; axis++)
        index[axis] = read_indices(p, scope.body)[axis];
    return flat_index(p, &scope.type, axes) == flat_index(p, &read, index);
}

static double bytes_of(const struct pool *p, int tensor)
{
    return (double)type_bytes(definition_tensor(&p->d, tensor));
}

static double bytes_moved(const struct pool *p, int tensor)
{
    struct tensor_list read;
    double bytes = bytes_of(p, tensor);
    tensors_read(p, tensor, &read);
    for (int i = 0; i < read.n; i++)
        bytes += bytes_of(p, read.items[i]);
    return bytes;
}

// A multiplication for each read but the first, and an addition for each term but the first.
static double operations_of(struct pool *p, int tensor)
{
    struct scope s;
    double terms = 1;
    if (!scope_take(p, tensor, &s))
        return (double)type_elements(definition_tensor(&p->d, tensor));
    for (int i = 0; i < s.n_sums; i++)
        terms *= (double)variable_extent(p, s.sums[i]);
    double of_entry = terms * (s.n_reads > 1 ? s.n_reads - 1 : 0) + terms - 1;
    return of_entry * (double)type_elements(&s.type);
}

bool is_worth_an_operator(struct derivation *dv, int tensor)
{
    struct scope s;
    struct pool *p = &dv->all.pool;
    return scope_take(p, tensor, &s) && s.n_reads == OPERANDS && s.n_sums > 0 && !depends_on_weights_alone(dv, tensor);
}

struct program_cost program_cost(struct derivation *dv, int program)
{
    struct pool *p = &dv->all.pool;
    struct program_cost cost = {0};
    struct tensor_list tensors;
    program_tensors(p, program, &tensors);
    for (int i = 0; i < tensors.n; i++) {
        int tensor = tensors.items[i];
        if (depends_on_weights_alone(dv, tensor) || is_view(p, tensor))
            continue;
        bool is_operator = derivation_application(dv, tensor) != NULL;
        cost.n_applications += is_operator;
        cost.n_others += !is_operator;
        *(is_operator ? &cost.operations : &cost.others) += operations_of(p, tensor);
        cost.bytes += bytes_moved(p, tensor);
    }
    cost.total = cost.bytes + cost.operations / OPERATIONS_PER_BYTE + cost.others;
    return cost;
}
