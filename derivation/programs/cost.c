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

static double bytes_moved(struct derivation *dv, int tensor)
{
    struct tensor_list read;
    double bytes = bytes_of(&dv->all.pool, tensor);
    tensors_read(dv, tensor, &read);
    for (int i = 0; i < read.n; i++)
        bytes += bytes_of(&dv->all.pool, read.items[i]);
    return bytes;
}

// A multiplication for each read but the first, and an addition for each term but the first.
static double operations_of_scope(const struct pool *p, const struct scope *s)
{
    double terms = 1;
    for (int i = 0; i < s->n_sums; i++)
        terms *= (double)variable_extent(p, s->sums[i]);
    double of_entry = terms * (s->n_reads > 1 ? s->n_reads - 1 : 0) + terms - 1;
    return of_entry * (double)type_elements(&s->type);
}

// The axis along which entries lie beside each other.
static int axis_of_rows(const struct type *type)
{
    int axis = type->rank - 1;
    while (axis > 0 && type->dim[axis] == 1)
        axis--;
    return axis;
}

// Entries that are read across rows while those of the scope are made along theirs.
static double entries_turned(const struct pool *p, const struct scope *s)
{
    uint32_t along = s->first_axis + (uint32_t)axis_of_rows(&s->type);
    double n_turned = 0;
    for (int i = 0; i < s->n_reads && s->type.rank > 0; i++) {
        const expr *index = read_indices(p, s->reads[i]);
        int row = axis_of_rows(definition_tensor(&p->d, read_tensor_of(p, s->reads[i])));
        bool is_across = expr_mentions(p, s->reads[i], along) && !expr_mentions(p, index[row], along);
        n_turned += is_across ? (double)type_elements(&s->type) : 0;
    }
    return n_turned;
}

static const struct tensor_facts *price(struct derivation *dv, int tensor)
{
    struct scope s;
    struct pool *p = &dv->all.pool;
    struct tensor_facts facts = *tensor_facts_of(dv, tensor);
    if (!facts.is_priced) {
        bool is_sum = scope_take(p, tensor, &s);
        facts.is_priced = true;
        facts.is_free = facts.is_of_weights || is_view(p, tensor);
        facts.is_worth_an_operator = is_sum && s.n_reads == OPERANDS && s.n_sums > 0 && !facts.is_of_weights;
        facts.operations =
            is_sum ? operations_of_scope(p, &s) : (double)type_elements(definition_tensor(&p->d, tensor));
        facts.bytes = bytes_moved(dv, tensor);
        facts.turned = is_sum ? entries_turned(p, &s) : 0;
        *tensor_facts_of(dv, tensor) = facts;
    }
    return tensor_facts_of(dv, tensor);
}

bool is_worth_an_operator(struct derivation *dv, int tensor)
{
    return price(dv, tensor)->is_worth_an_operator;
}

struct program_cost program_cost(struct derivation *dv, int program)
{
    struct program_cost cost = {0};
    struct tensor_list tensors;
    program_tensors(dv, program, &tensors);
    for (int i = 0; i < tensors.n; i++) {
        const struct tensor_facts *facts = price(dv, tensors.items[i]);
        if (facts->is_free)
            continue;
        bool is_operator = derivation_application(dv, tensors.items[i]) != NULL;
        cost.n_applications += is_operator;
        cost.n_others += !is_operator;
        *(is_operator ? &cost.operations : &cost.others) += facts->operations;
        cost.bytes += facts->bytes;
        cost.turned += is_operator ? 0 : facts->turned;
    }
    cost.total = cost.bytes + cost.operations / OPERATIONS_PER_BYTE + cost.others;
    return cost;
}

double program_least_cost(struct derivation *dv, int program)
{
    double cost = 0;
    struct tensor_list tensors;
    program_tensors(dv, program, &tensors);
    for (int i = 0; i < tensors.n; i++) {
        const struct tensor_facts *facts = price(dv, tensors.items[i]);
        bool may_be_operator = facts->is_worth_an_operator || derivation_application(dv, tensors.items[i]);
        if (!facts->is_free)
            cost += facts->bytes + facts->operations / (may_be_operator ? OPERATIONS_PER_BYTE : 1);
    }
    return cost;
}
