// Copies of applications, and their values.
#include "operators/traits/application.h"

#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include "expressions/evaluation/evaluate.h"
#include "expressions/field.h"
#include <string.h>

enum { MOST_OPERATIONS = 50000 };

bool application_copy(struct application *ret, const struct operator_call *call)
{
    *ret = (struct application){.call = *call};
    for (int i = 0; i < call->n_inputs; i++)
        ret->inputs[i] = call->inputs[i];
    for (int i = 0; i < operator_n_attributes(call->op); i++) {
        uint32_t n = call->attributes[i].count;
        if (n > MOST_ATTRIBUTE_ENTRIES)
            return false;
        memcpy(ret->ints[i], call->attributes[i].ints, n * sizeof(int64_t));
        ret->attributes[i] = (struct attribute_value){n, ret->ints[i]};
    }
    ret->call.inputs = ret->inputs;
    ret->call.attributes = ret->attributes;
    return true;
}

void application_free(struct application *a)
{
    definition_free(&a->d);
}

bool application_define(struct application *a, struct arena *scratch)
{
    definition_init(&a->d, scratch, a->call.n_inputs, a->inputs);
    a->d.is_silent = true;
    return operator_define(&a->d, &a->call);
}

bool application_is_small(const struct application *a)
{
    return definition_flops(&a->d) <= MOST_OPERATIONS;
}

bool applications_make_alike(const struct application *x, const struct application *y)
{
    return x->d.n_outputs == y->d.n_outputs &&
           ALL(int, i, x->d.n_outputs, type_equal_shape(definition_output(&x->d, i), definition_output(&y->d, i)));
}

void application_make_inputs(const struct application *a, struct application_values *v, struct arena *scratch)
{
    struct random r = random_seed(7);
    for (int i = 0; i < a->call.n_inputs; i++) {
        int64_t n = type_elements(&a->inputs[i]);
        v->inputs[i] = arena_array(scratch, uint64_t, n + 1);
        for (int64_t j = 0; j < n; j++)
            v->inputs[i][j] = field_from_int((int64_t)random_below(&r, 1u << 20) - (1 << 19));
    }
}

void application_evaluate(const struct application *a, struct application_values *v, struct arena *scratch)
{
    for (int i = 0; i < a->d.n_outputs; i++)
        v->outputs[i] = arena_array(scratch, uint64_t, type_elements(definition_output(&a->d, i)) + 1);
    evaluate_field(&a->d, 1, (const uint64_t *const *)v->inputs, v->outputs, scratch);
}
