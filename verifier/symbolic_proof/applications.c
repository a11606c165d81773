// A definition for each kind of application, at the first of a few small sizes that it takes.
#include "verifier/symbolic_proof/applications.h"

#include "substitutions/attribute_term.h"

#define LARGEST_SIZE 4

void applications_free(struct applications *a)
{
    key_set_free(&a->keys);
    vec_free(&a->answers);
    arena_free(&a->arena);
}

// Cuts without sizes need an axis that was joined.
static bool cuts_what_was_joined(const struct outline *o)
{
    int sizes = operator_find_role(o->op, ROLE_PART_SIZES);
    return sizes >= 0 && o->attributes[sizes].count == 0;
}

static void make_inputs(struct arena *a, const struct outline *o, int64_t size, struct type *ret_inputs)
{
    for (uint32_t i = 0; i < o->n_inputs; i++) {
        ret_inputs[i] = (struct type){.dtype = o->inputs[i].dtype, .rank = o->inputs[i].rank};
        for (int axis = 0; axis < o->inputs[i].rank; axis++) {
            ret_inputs[i].dim[axis] = size;
            if (cuts_what_was_joined(o))
                ret_inputs[i].split[axis] = split_tree_join(a, size - 1, NULL, NULL);
        }
    }
}

static void make_attributes(struct arena *a, const struct outline *o, struct attribute_value *ret_attributes)
{
    for (int i = 0; i < operator_n_attributes(o->op); i++) {
        uint32_t count = o->attributes[i].count;
        int64_t *ints = arena_array(a, int64_t, count + 1);
        const struct attribute_role_info *role = &attribute_roles[o->op->attributes[i].role];
        for (uint32_t j = 0; j < count; j++)
            ints[j] = role->is_of_sizes ? role->plain : o->attributes[i].ints[j];
        ret_attributes[i] = (struct attribute_value){count, ints};
    }
}

static int64_t n_parts(const struct outline *o)
{
    int sizes = operator_find_role(o->op, ROLE_PART_SIZES);
    return sizes < 0 ? 0 : cuts_what_was_joined(o) ? 2 : o->attributes[sizes].count;
}

static bool is_defined(struct definition *d, const struct outline *o, int64_t size)
{
    struct attribute_value attributes[MAX_ATTRIBUTES];
    struct type *inputs = arena_array(d->arena, struct type, o->n_inputs + 1);
    make_inputs(d->arena, o, size, inputs);
    make_attributes(d->arena, o, attributes);
    definition_clear(d, (int)o->n_inputs, inputs);
    struct operator_call call = {o->op, (int)o->n_inputs, inputs, attributes};
    return operator_define(d, &call);
}

static struct applied ask(struct applications *a, const struct outline *o)
{
    struct applied result = {0};
    struct definition d FREED_BY(definition_free) = {0};
    definition_init(&d, &a->arena, 0, NULL);
    d.is_silent = true;
    int64_t first = n_parts(o) ? n_parts(o) : 1, last = n_parts(o) ? n_parts(o) : LARGEST_SIZE;
    for (int64_t size = first; size <= last && !result.is_possible; size++)
        result.is_possible = is_defined(&d, o, size);
    result.n_outputs = result.is_possible ? (uint32_t)d.n_outputs : 0;
    struct type *outputs = arena_array(&a->arena, struct type, result.n_outputs + 1);
    for (uint32_t i = 0; i < result.n_outputs; i++)
        outputs[i] = *definition_output(&d, (int)i);
    result.outputs = outputs;
    return result;
}

#define MOST_INPUTS 64
#define MOST_WORDS (2 + 2 * MOST_INPUTS + MAX_ATTRIBUTES * (MAX_TERM_LENGTH + 1))
static size_t key_of(const struct outline *o, int64_t *key)
{
    size_t n = 0;
    key[n++] = o->op->id;
    key[n++] = o->n_inputs;
    for (uint32_t i = 0; i < o->n_inputs; i++) {
        key[n++] = o->inputs[i].rank;
        key[n++] = o->inputs[i].dtype;
    }
    for (int i = 0; i < operator_n_attributes(o->op); i++) {
        bool is_of_sizes = attribute_roles[o->op->attributes[i].role].is_of_sizes;
        key[n++] = o->attributes[i].count;
        for (uint32_t j = 0; j < o->attributes[i].count && !is_of_sizes; j++)
            key[n++] = o->attributes[i].ints[j];
    }
    return n;
}

bool applications_ask(struct applications *a, const struct outline *o, struct applied *ret_answer)
{
    int64_t key[MOST_WORDS];
    if (o->n_inputs > MOST_INPUTS)
        return false;
    size_t size = key_of(o, key) * sizeof *key;
    uint32_t found = key_set_find(&a->keys, key, size);
    if (found == KEY_NONE) {
        struct applied answer = ask(a, o);
        found = key_set_add(&a->keys, &a->arena, key, size);
        vec_push(&a->answers, answer);
    }
    *ret_answer = a->answers.items[found];
    return true;
}
