// How far an output of one model is from that of another one, and whether that says anything.
#pragma once
#include "core/memory/vec.h"
#include "expressions/value.h"
#include <stdbool.h>

// Over all entries, and over all rounds that were added; a is the reference.
struct output_comparison {
    const char *name;        // NULL until the caller names it
    double max_difference;   // max|a - b|; infinity when one has NaN or infinity where the other has not
    double max_magnitude;    // max|a|
    int64_t place;           // the first with that difference
    double a, b;             // there
    bool is_exact;           // its numbers are not floating-point ones: only equal ones are near
    bool is_finite;          // each entry of a is, in some round
    bool is_trustworthy;     // false: a is constant, zero or not finite in every round, so that agreement says nothing
    bool is_equal_enough;    // within the tolerance of whoever compares (output_is_within)
};
typedef VEC(struct output_comparison) output_comparisons;
// With `is_where_finite` only entries at which the reference is finite count: agreement there says something.
struct output_comparison output_compare(const struct tensor_value *reference, const struct tensor_value *other,
                                        bool is_where_finite);
// Another round of the same output: the worst of both, and what one of them tells. `all` begins as {0}.
void output_add_round(struct output_comparison *all, const struct output_comparison *round);
double relative_difference(const struct output_comparison *o);   // the absolute one where all is zero
static inline bool output_is_within(const struct output_comparison *o, double tolerance)
{
    return o->max_difference <= (o->is_exact ? 0 : tolerance * o->max_magnitude);
}

// Another look at the same outputs: the worst of both, and what one of them tells.
void outputs_merge(output_comparisons *outputs, const output_comparisons *more);
bool outputs_are_trustworthy(const output_comparisons *outputs);   // each of them
bool outputs_agree(const output_comparisons *outputs);             // each is equal enough, and that says something

// Lines and JSON of taso-run.
void output_print(struct text *out, const struct output_comparison *o);
void outputs_add_json(struct text *out, const output_comparisons *outputs);
