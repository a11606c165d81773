// An application of an operator that may be changed, and what it computes of random inputs, over the prime field.
#pragma once
#include "operators/operator.h"
#include "operators/traits.h"

enum { MOST_ATTRIBUTE_ENTRIES = 2 * MAX_RANK };

struct application {
    struct type inputs[MOST_KNOWN_INPUTS];
    int64_t ints[MAX_ATTRIBUTES][MOST_ATTRIBUTE_ENTRIES];
    struct attribute_value attributes[MAX_ATTRIBUTES];
    struct operator_call call;   // of these inputs and attributes
    struct definition d;         // after application_define
};
// The first thing that is done with one; false: there is no room for it. application_free follows in any case.
bool application_copy(struct application *ret, const struct operator_call *call);
void application_free(struct application *a);
bool application_define(struct application *a, struct arena *scratch);   // false: it is ill-typed
bool application_is_small(const struct application *a);                  // few operations to evaluate it
// Are their outputs as many, and of the same shapes?
bool applications_make_alike(const struct application *x, const struct application *y);

struct application_values {
    uint64_t *inputs[MOST_KNOWN_INPUTS];
    uint64_t *outputs[MAX_OUTPUTS];
};
void application_make_inputs(const struct application *a, struct application_values *v, struct arena *scratch);
void application_evaluate(const struct application *a, struct application_values *v, struct arena *scratch);
