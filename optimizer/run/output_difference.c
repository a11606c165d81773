// Entries are compared as reals, in pieces.
#include "optimizer/run/output_difference.h"

#include "expressions/elements.h"
#include <math.h>

#define PIECE 1024

struct comparison {
    struct output_difference d;
    double least, most;
    bool is_lenient;
};

static void compare_entry(struct comparison *c, double a, double b)
{
    if (!isfinite(a)) {
        c->d.is_finite = false;
        if (!c->is_lenient && !(a == b || (isnan(a) && isnan(b))))
            c->d.difference = INFINITY;
        return;
    }
    double difference = isfinite(b) ? fabs(a - b) : INFINITY;
    c->d.difference = difference > c->d.difference ? difference : c->d.difference;
    c->d.largest = fabs(a) > c->d.largest ? fabs(a) : c->d.largest;
    c->least = a < c->least ? a : c->least;
    c->most = a > c->most ? a : c->most;
}

static struct output_difference compare(const struct tensor_value *reference, const struct tensor_value *other,
                                        bool is_lenient)
{
    struct comparison c = {.least = INFINITY, .most = -INFINITY, .d.is_finite = true, .is_lenient = is_lenient};
    if (!type_equal(&reference->type, &other->type))
        return (struct output_difference){.difference = INFINITY, .relative = INFINITY, .is_finite = true};
    double a[PIECE], b[PIECE];
    size_t n = (size_t)type_elements(&reference->type), size = dtype_size(reference->type.dtype);
    for (size_t at = 0; at < n; at += PIECE) {
        size_t count = n - at < PIECE ? n - at : PIECE;
        elements_to_reals(reference->type.dtype, (const char *)reference->data + at * size, count, a);
        elements_to_reals(other->type.dtype, (const char *)other->data + at * size, count, b);
        for (size_t i = 0; i < count; i++)
            compare_entry(&c, a[i], b[i]);
    }
    c.d.relative = c.d.difference == 0 ? 0 : c.d.largest > 0 ? c.d.difference / c.d.largest : INFINITY;
    if (!dtype_is_float(reference->type.dtype) && c.d.difference > 0)
        c.d.relative = INFINITY;
    bool may_be_constant = n <= 1 || !dtype_is_float(reference->type.dtype);
    c.d.is_trustworthy = (c.d.is_finite || is_lenient) && n > 0 && c.d.largest > 0 &&
                         (may_be_constant || c.most - c.least > 1e-6 * c.d.largest);
    return c.d;
}

struct output_difference outputs_compare(const struct tensor_value *reference, const struct tensor_value *other)
{
    return compare(reference, other, false);
}

struct output_difference outputs_compare_where_finite(const struct tensor_value *reference,
                                                      const struct tensor_value *other)
{
    return compare(reference, other, true);
}
