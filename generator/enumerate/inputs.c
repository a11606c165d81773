// Visits the sets of inputs that have as many of each type as a given one.
#include "generator/enumerate/inputs.h"

static uint64_t choose(int n, int k)
{
    uint64_t ways = 1;
    for (int i = 0; i < k; i++)
        ways = ways * (uint64_t)(n - i) / (uint64_t)(i + 1);
    return ways;
}

static uint32_t inputs_between(int first, int end)
{
    return (uint32_t)((UINT64_C(1) << end) - (UINT64_C(1) << first));
}

uint64_t inputs_count_alike(const struct family *f, uint32_t set, uint32_t fixed)
{
    uint64_t ways = 1;
    for (int first = 0; first < f->n_inputs; first = f->leaves[first].end_alike) {
        uint32_t alike = inputs_between(first, f->leaves[first].end_alike);
        if ((set & alike) == (fixed & alike))
            continue;
        int n_fixed = __builtin_popcount(fixed & alike);
        ways *= choose(__builtin_popcount(alike) - n_fixed, __builtin_popcount(set & alike) - n_fixed);
    }
    return ways;
}

struct choosing {
    const struct family *f;
    uint32_t set, fixed;
    uint8_t order[MAX_LEAVES];
    renaming_fn *visit;
    void *context;
};

// The inputs of the type that starts at `first`, where those in `chosen` stand for the set's.
static void put_in_order(struct choosing *c, int first, uint32_t chosen)
{
    int end = c->f->leaves[first].end_alike, inside = first, outside = first;
    for (int i = first; i < end; i++) {
        bool is_inside = c->set >> i & 1;
        int *to = is_inside ? &inside : &outside;
        while ((chosen >> *to & 1) != is_inside)
            ++*to;
        c->order[i] = (uint8_t)(*to)++;
    }
}

static bool choose_of_types_from(struct choosing *c, int first);

// Completes `chosen` with `missing` inputs of the type that starts at `first`, from number `at` on.
static bool choose_from(struct choosing *c, int first, uint32_t chosen, int at, int missing)
{
    int end = c->f->leaves[first].end_alike;
    if (missing == 0) {
        put_in_order(c, first, chosen);
        return choose_of_types_from(c, end);
    }
    for (; at + missing <= end; at++)
        if (!choose_from(c, first, chosen | 1u << at, at + 1, missing - 1))
            return false;
    return true;
}

static bool choose_of_types_from(struct choosing *c, int first)
{
    if (first == c->f->n_inputs)
        return c->visit(c->context, c->order);
    uint32_t alike = inputs_between(first, c->f->leaves[first].end_alike), fixed = c->fixed & alike;
    int n_fixed = __builtin_popcount(fixed), missing = __builtin_popcount(c->set & alike) - n_fixed;
    return choose_from(c, first, fixed, first + n_fixed, missing);
}

void inputs_visit_alike(const struct family *f, uint32_t set, uint32_t fixed, renaming_fn *visit, void *context)
{
    struct choosing c = {.f = f, .set = set, .fixed = fixed, .visit = visit, .context = context};
    for (int i = 0; i < MAX_LEAVES; i++)
        c.order[i] = (uint8_t)i;
    choose_of_types_from(&c, 0);
}
