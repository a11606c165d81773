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

static double distance(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) ? 0 : isfinite(a) && isfinite(b) ? fabs(a - b) : INFINITY;
}

static void compare_entry(struct comparison *c, size_t place, double a, double b)
{
    c->d.is_finite = c->d.is_finite && isfinite(a);
    double difference = c->is_lenient && !isfinite(a) ? 0 : distance(a, b);
    if (place == 0 || difference > c->d.difference) {
        c->d.difference = difference;
        c->d.place = (int64_t)place;
        c->d.a = a;
        c->d.b = b;
    }
    if (!isfinite(a))
        return;
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
            compare_entry(&c, at + i, a[i], b[i]);
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
