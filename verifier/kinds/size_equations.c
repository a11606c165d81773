// Equations are solved for one size each. One that is left with all multiples on one side has no solution among sizes
// of at least 1 where it has none at 1 (T15).
#include "verifier/kinds/size_equations.h"

struct size_sum size_number(int64_t number)
{
    return (struct size_sum){.number = number};
}

struct size_sum size_unknown(struct size_equations *e)
{
    struct size_sum sum = {0};
    if (e->n_sizes == MOST_SIZES)
        e->is_too_large = true;
    else
        sum.times[e->n_sizes++] = 1;
    return sum;
}

struct size_sum size_plus(const struct size_sum *a, const struct size_sum *b, int32_t times_b)
{
    struct size_sum sum = {.number = a->number + times_b * b->number};
    for (int i = 0; i < MOST_SIZES; i++)
        sum.times[i] = a->times[i] + times_b * b->times[i];
    return sum;
}

void size_equate(struct size_equations *e, const struct size_sum *a, const struct size_sum *b)
{
    if (e->n == MOST_SIZE_EQUATIONS)
        e->is_too_large = true;
    else
        e->is_zero[e->n++] = size_plus(a, b, -1);
}

#define LARGEST_FACTOR (1 << 12)   // products of two with numbers of the text do not overflow
static bool is_small(const struct size_sum *s)
{
    bool is = s->number < (int64_t)1 << 40 && s->number > -((int64_t)1 << 40);
    for (int i = 0; i < MOST_SIZES && is; i++)
        is = s->times[i] <= LARGEST_FACTOR && s->times[i] >= -LARGEST_FACTOR;
    return is;
}

// An equation that follows from both, without the size.
static struct size_sum eliminate(const struct size_sum *from, const struct size_sum *by, uint32_t size)
{
    int32_t a = from->times[size], b = by->times[size];
    struct size_sum sum = {.number = b * from->number - a * by->number};
    for (int i = 0; i < MOST_SIZES; i++)
        sum.times[i] = b * from->times[i] - a * by->times[i];
    return sum;
}

static uint32_t first_size(const struct size_equations *e, const struct size_sum *s)
{
    uint32_t size = 0;
    while (size < e->n_sizes && s->times[size] == 0)
        size++;
    return size;
}

// All multiples have one sign, and the sum is beyond 0 where all sizes are 1.
static bool has_no_solution(const struct size_equations *e, const struct size_sum *s)
{
    int64_t at_one = s->number;
    bool is_positive = true, is_negative = true;
    for (uint32_t i = 0; i < e->n_sizes; i++) {
        at_one += s->times[i];
        is_positive = is_positive && s->times[i] >= 0;
        is_negative = is_negative && s->times[i] <= 0;
    }
    return (is_positive && at_one > 0) || (is_negative && at_one < 0);
}

static bool is_any_without_solution(const struct size_equations *e)
{
    bool is_any = false;
    for (uint32_t i = 0; i < e->n && !is_any; i++)
        is_any = has_no_solution(e, &e->is_zero[i]);
    return is_any;
}

bool size_equations_are_impossible(struct size_equations *e)
{
    bool is_impossible = is_any_without_solution(e);
    for (uint32_t i = 0; i < e->n && !is_impossible; i++) {
        uint32_t size = first_size(e, &e->is_zero[i]);
        for (uint32_t k = 0; k < e->n && size < e->n_sizes; k++) {
            struct size_sum rest = e->is_zero[k];
            if (k != i && rest.times[size])
                rest = eliminate(&rest, &e->is_zero[i], size);
            if (is_small(&rest))
                e->is_zero[k] = rest;
        }
        is_impossible = is_any_without_solution(e);
    }
    return is_impossible;
}
