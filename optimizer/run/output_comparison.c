// Entries are compared as reals, in pieces.
#include "optimizer/run/output_comparison.h"

#include "core/text/json.h"
#include "core/text/text.h"
#include "expressions/elements.h"
#include <math.h>
#include <string.h>

#define PIECE 1024

struct comparison {
    struct output_comparison o;
    double least, most;
    bool is_where_finite;
};

static double distance(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) ? 0 : isfinite(a) && isfinite(b) ? fabs(a - b) : INFINITY;
}

static void take_worse(struct output_comparison *o, double difference, int64_t place, double a, double b)
{
    if (difference <= o->max_difference)
        return;
    o->max_difference = difference;
    o->place = place;
    o->a = a;
    o->b = b;
}

static void compare_entry(struct comparison *c, size_t place, double a, double b)
{
    c->o.is_finite = c->o.is_finite && isfinite(a);
    take_worse(&c->o, c->is_where_finite && !isfinite(a) ? 0 : distance(a, b), (int64_t)place, a, b);
    if (!isfinite(a))
        return;
    c->o.max_magnitude = fmax(c->o.max_magnitude, fabs(a));
    c->least = fmin(c->least, a);
    c->most = fmax(c->most, a);
}

struct output_comparison output_compare(const struct tensor_value *reference, const struct tensor_value *other,
                                        bool is_where_finite)
{
    struct comparison c = {.least = INFINITY, .most = -INFINITY, .is_where_finite = is_where_finite};
    c.o.is_finite = true;
    c.o.is_exact = !dtype_is_float(reference->type.dtype);
    if (!type_equal(&reference->type, &other->type)) {
        c.o.max_difference = INFINITY;
        return c.o;
    }
    double a[PIECE], b[PIECE];
    size_t n = (size_t)type_elements(&reference->type), size = dtype_size(reference->type.dtype);
    for (size_t at = 0; at < n; at += PIECE) {
        size_t count = n - at < PIECE ? n - at : PIECE;
        elements_to_reals(reference->type.dtype, (const char *)reference->data + at * size, count, a);
        elements_to_reals(other->type.dtype, (const char *)other->data + at * size, count, b);
        for (size_t i = 0; i < count; i++)
            compare_entry(&c, at + i, a[i], b[i]);
    }
    if (c.o.is_exact && c.o.max_difference == 0 && n > 0 && memcmp(reference->data, other->data, n * size) != 0)
        c.o.max_difference = 1;   // integers that are the same as reals
    c.o.is_trustworthy = (c.o.is_finite || is_where_finite) && n > 0 && c.o.max_magnitude > 0 &&
                         (n <= 1 || c.o.is_exact || c.most - c.least > 1e-6 * c.o.max_magnitude);
    return c.o;
}

void output_add_round(struct output_comparison *all, const struct output_comparison *round)
{
    take_worse(all, round->max_difference, round->place, round->a, round->b);
    all->max_magnitude = fmax(all->max_magnitude, round->max_magnitude);
    all->is_exact = round->is_exact;
    all->is_finite = all->is_finite || round->is_finite;
    all->is_trustworthy = all->is_trustworthy || round->is_trustworthy;
}

double relative_difference(const struct output_comparison *o)
{
    return o->max_magnitude > 0 ? o->max_difference / o->max_magnitude : o->max_difference;
}

void outputs_merge(output_comparisons *outputs, const output_comparisons *more)
{
    for (size_t i = 0; i < outputs->count && i < more->count; i++) {
        struct output_comparison *c = &outputs->items[i];
        const struct output_comparison *d = &more->items[i];
        bool is_worse = d->max_difference * c->max_magnitude > c->max_difference * d->max_magnitude ||
                        !isfinite(d->max_difference) || (!c->is_trustworthy && d->is_trustworthy);
        c->is_equal_enough = c->is_equal_enough && d->is_equal_enough;
        c->is_finite = c->is_finite || d->is_finite;
        c->is_trustworthy = c->is_trustworthy || d->is_trustworthy;
        if (is_worse) {
            c->max_difference = d->max_difference;
            c->max_magnitude = d->max_magnitude;
        }
    }
}

bool outputs_are_trustworthy(const output_comparisons *outputs)
{
    return ALL(size_t, i, outputs->count, outputs->items[i].is_trustworthy);
}

bool outputs_agree(const output_comparisons *outputs)
{
    return outputs_are_trustworthy(outputs) && ALL(size_t, i, outputs->count, outputs->items[i].is_equal_enough);
}

// --- told ------------------------------------------------------------------------------------------------------------

void output_print(struct text *out, const struct output_comparison *o)
{
    text_add(out, "  output ");
    text_add_shown(out, o->name);
    text_printf(out, ": max|a-b| / max|a| = %.3g  (max|a| = %.4g)%s\n", relative_difference(o), o->max_magnitude,
                o->is_trustworthy ? "" : "  untrustworthy: constant, zero or not finite");
}

void outputs_add_json(struct text *out, const output_comparisons *outputs)
{
    json_begin(out, "outputs", '[');
    for (size_t i = 0; i < outputs->count; i++) {
        json_begin(out, NULL, '{');
        json_add_string(out, "name", outputs->items[i].name);
        json_add_real(out, "relative_difference", relative_difference(&outputs->items[i]));
        json_add_real(out, "largest", outputs->items[i].max_magnitude);
        json_add_bool(out, "trustworthy", outputs->items[i].is_trustworthy);
        json_end(out, '}');
    }
    json_end(out, ']');
}
