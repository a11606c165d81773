// The requirements of an operand with a name, and its scope.
#include "derivation/rules/name_operand.h"

#include "derivation/scopes/substitution.h"
#include "expressions/affine.h"

// Is this index of T no more than the new tensor's axis, of the same size?
static bool is_axis_of_both(struct pool *p, const struct named_operand *as, expr read, int new_axis)
{
    const struct type *type = definition_tensor(&p->d, read_tensor_of(p, read));
    uint32_t variable = pool_axes(p, &as->type) + (uint32_t)new_axis;
    return ANY(int, axis, type->rank,
               as->entry_of[axis] == pool_variable(p, variable) && type->dim[axis] == as->type.dim[new_axis]);
}

static bool stays_inside(struct pool *p, const struct named_operand *as, expr read)
{
    return ALL(int, axis, as->type.rank,
               index_stays_inside(&p->d, as->read_at[axis], as->type.dim[axis]) || is_axis_of_both(p, as, read, axis));
}

static struct substitution substitution_of_indices(struct pool *p, const struct named_operand *as)
{
    struct substitution phi = {0};
    uint32_t first = pool_axes(p, &as->type);
    for (int axis = 0; axis < as->type.rank; axis++)
        substitution_add(&phi, first + (uint32_t)axis, as->read_at[axis]);
    return phi;
}

static bool gives_entries_back(struct pool *p, const struct scope *s, int read, const struct named_operand *as)
{
    struct substitution phi = substitution_of_indices(p, as);
    int rank = definition_tensor(&p->d, read_tensor_of(p, s->reads[read]))->rank;
    for (int axis = 0; axis < rank; axis++)
        if (substitution_apply(p, &phi, as->entry_of[axis]) != read_indices(p, s->reads[read])[axis])
            return false;
    return ALL(int, i, s->n_guards,
               !(as->guards >> i & 1) || substitution_apply(p, &phi, as->entry_guards[i]) == s->guards[i]);
}

static int make_operand(struct pool *p, const struct scope *s, int read, const struct named_operand *as)
{
    struct scope operand;
    scope_init(p, &as->type, &operand);
    operand.reads[operand.n_reads++] = pool_read(p, read_tensor_of(p, s->reads[read]), as->entry_of, OUTSIDE_ZERO);
    for (int i = 0; i < s->n_guards; i++)
        if (as->guards >> i & 1)
            operand.guards[operand.n_guards++] = as->entry_guards[i];
    return scope_make(p, &operand);
}

static void drop_guards(struct scope *s, unsigned guards)
{
    int n = 0;
    for (int i = 0; i < s->n_guards; i++)
        if (!(guards >> i & 1))
            s->guards[n++] = s->guards[i];
    s->n_guards = n;
}

bool rule_name_operand(struct pool *p, struct scope *s, int read, const struct named_operand *as)
{
    if (!gives_entries_back(p, s, read, as) || !stays_inside(p, as, s->reads[read]))
        return false;
    int operand = make_operand(p, s, read, as);
    if (operand == NO_SCOPE)
        return false;
    s->reads[read] = pool_read(p, scope_copied_whole(p, operand), as->read_at, OUTSIDE_ZERO);
    drop_guards(s, as->guards);
    return true;
}
