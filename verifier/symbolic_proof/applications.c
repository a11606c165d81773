// An application for each outline, at the first of a few small sizes that it takes.
#include "verifier/symbolic_proof/applications.h"

#define LARGEST_SIZE 4

// Cuts without sizes need an axis that was joined.
static bool cuts_what_was_joined(const struct outline *o)
{
    int sizes = operator_find_role(o->op, ROLE_PART_SIZES);
    return sizes >= 0 && o->attributes[sizes].count == 0;
}

static type_id input_of_size(struct typing *t, const struct outline *o, uint32_t input, int64_t size)
{
    const struct split_tree cut = {.left_size = size - 1};
    struct type type = {.dtype = o->inputs[input].dtype, .rank = o->inputs[input].rank};
    for (int axis = 0; axis < type.rank; axis++) {
        type.dim[axis] = size;
        type.split[axis] = cuts_what_was_joined(o) ? &cut : NULL;
    }
    return typing_add(t, &type);
}

static head_id head_of(struct typing *t, const struct outline *o)
{
    struct attribute_value attributes[MAX_ATTRIBUTES];
    ARENA_MARK(mark, &t->temporary);
    for (int i = 0; i < operator_n_attributes(o->op); i++) {
        const struct attribute_role_info *role = &attribute_roles[o->op->attributes[i].role];
        int64_t *plain = arena_array(&t->temporary, int64_t, o->attributes[i].count + 1);
        for (uint32_t j = 0; j < o->attributes[i].count; j++)
            plain[j] = role->plain;
        attributes[i] =
            (struct attribute_value){o->attributes[i].count, role->is_of_sizes ? plain : o->attributes[i].ints};
    }
    return typing_head(t, o->op, attributes);
}

static int64_t n_parts(const struct outline *o)
{
    int sizes = operator_find_role(o->op, ROLE_PART_SIZES);
    return sizes < 0 ? 0 : cuts_what_was_joined(o) ? 2 : o->attributes[sizes].count;
}

const struct typed_call *outline_apply(struct typing *t, const struct outline *o)
{
    head_id head = head_of(t, o);
    int64_t first = n_parts(o) ? n_parts(o) : 1, last = n_parts(o) ? n_parts(o) : LARGEST_SIZE;
    for (int64_t size = first; size <= last; size++) {
        type_id inputs[MAX_TYPED_INPUTS];
        for (uint32_t i = 0; i < o->n_inputs; i++)
            inputs[i] = input_of_size(t, o, i, size);
        const struct typed_call *call = typing_apply(t, head, o->n_inputs, inputs);
        if (call->is_typed)
            return call;
    }
    return NULL;
}
