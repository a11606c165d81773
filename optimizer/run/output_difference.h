// How far two tensors are from each other, and whether that says anything.
#pragma once
#include "expressions/value.h"
#include <stdbool.h>

struct output_difference {
    double largest;        // max|a|, a being the reference
    double difference;     // max|a - b|; infinity when one has NaN or infinity where the other has not
    int64_t place;         // the first with that difference
    double a, b;           // there
    double relative;       // difference / largest; exact types: 0 or infinity
    bool is_finite;        // each entry of the reference is
    bool is_trustworthy;   // false: the reference is constant, zero, or not finite, so that agreement says nothing
};
// The same where the reference is finite alone: what is not says nothing, and agreement elsewhere says something.
struct output_difference outputs_compare_where_finite(const struct tensor_value *reference,
                                                      const struct tensor_value *other);
struct output_difference outputs_compare(const struct tensor_value *reference, const struct tensor_value *other);
