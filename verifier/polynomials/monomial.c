// Products of few atoms are packed in lanes of one number; longer ones are interned.
#include "verifier/polynomials/monomial.h"

#include "core/memory/hash.h"
#include <string.h>

#define LANES 4
#define LANE_BITS 15
#define LANE_MASK (((monomial)1 << LANE_BITS) - 1)
#define ALL_LANES (((monomial)1 << LANES * LANE_BITS) - 1)
#define IS_KEPT ((monomial)1 << 63)

void monomial_pool_clear(struct monomial_pool *p)
{
    vec_clear(&p->atoms);
    vec_clear(&p->ranges);
    if (p->by_atoms.count)
        table_clear(&p->by_atoms);
}

void monomial_pool_free(struct monomial_pool *p)
{
    vec_free(&p->atoms);
    vec_free(&p->ranges);
    table_free(&p->by_atoms);
}

// --- those that are kept ---------------------------------------------------------------------------------------------

struct atom_list {
    const uint32_t *items;
    uint32_t count;
};

static bool has_atoms(const void *owner, uint32_t id, const void *key)
{
    const struct monomial_pool *p = owner;
    const struct atom_list *list = key;
    struct monomial_range r = p->ranges.items[id];
    return r.count == list->count && memcmp(p->atoms.items + r.first, list->items, r.count * sizeof *list->items) == 0;
}

static monomial find_or_keep(struct monomial_pool *p, const uint32_t *atoms, uint32_t count)
{
    struct atom_list key = {atoms, count};
    uint64_t hash = hash_bytes(atoms, count * sizeof *atoms, count);
    uint32_t found = table_find(&p->by_atoms, hash, has_atoms, p, &key);
    if (found != TABLE_NONE)
        return IS_KEPT | found;
    struct monomial_range range = {(uint32_t)p->atoms.count, count};
    for (uint32_t i = 0; i < count; i++)
        vec_push(&p->atoms, atoms[i]);
    vec_push(&p->ranges, range);
    table_insert(&p->by_atoms, hash, (uint32_t)p->ranges.count - 1);
    return IS_KEPT | (p->ranges.count - 1);
}

// --- lanes -----------------------------------------------------------------------------------------------------------

static monomial lane_of(monomial m, int lane)
{
    return m >> (LANES - 1 - lane) * LANE_BITS & LANE_MASK;
}

static bool has_room_behind(monomial m, int n)
{
    return (m & (((monomial)1 << n * LANE_BITS) - 1)) == 0;
}

// The number of a sorted list: the one way to write it, whatever product it comes from.
static monomial number_of(struct monomial_pool *p, const uint32_t *atoms, uint32_t count)
{
    monomial m = 0;
    if (count > LANES || (count && atoms[count - 1] >= LANE_MASK))
        return find_or_keep(p, atoms, count);
    for (uint32_t i = 0; i < count; i++)
        m |= (monomial)(atoms[i] + 1) << (LANES - 1 - i) * LANE_BITS;
    return m;
}

static monomial merge_single_ones(monomial a, monomial b)
{
    return a <= b ? a | b >> LANE_BITS : b | a >> LANE_BITS;
}

// Of two that fit into the lanes together; a lane behind the last factor is no factor.
static monomial merge_lanes(monomial a, monomial b)
{
    monomial product = 0;
    for (int i = 0; i < LANES; i++) {
        monomial x = lane_of(a, 0), y = lane_of(b, 0);
        bool is_first = y == 0 || (x != 0 && x <= y);
        product = product << LANE_BITS | (is_first ? x : y);
        a = is_first ? a << LANE_BITS & ALL_LANES : a;
        b = is_first ? b : b << LANE_BITS & ALL_LANES;
    }
    return product;
}

static bool fit_together(monomial a, monomial b)
{
    for (int n = 1; n < LANES; n++)
        if (has_room_behind(a, n) && has_room_behind(b, LANES - n))
            return true;
    return false;
}

// --- products --------------------------------------------------------------------------------------------------------

monomial monomial_of_atom(struct monomial_pool *p, uint32_t atom)
{
    return number_of(p, &atom, 1);
}

uint32_t monomial_factors(const struct monomial_pool *p, monomial m, uint32_t ret_atoms[MOST_FACTORS])
{
    uint32_t n = 0;
    if (m & IS_KEPT) {
        struct monomial_range r = p->ranges.items[m & ~IS_KEPT];
        memcpy(ret_atoms, p->atoms.items + r.first, r.count * sizeof *ret_atoms);
        return r.count;
    }
    for (int lane = 0; lane < LANES && lane_of(m, lane); lane++)
        ret_atoms[n++] = (uint32_t)lane_of(m, lane) - 1;
    return n;
}

static bool multiply_kept(struct monomial_pool *p, monomial a, monomial b, monomial *ret_product)
{
    uint32_t x[MOST_FACTORS], y[MOST_FACTORS], product[MOST_FACTORS];
    uint32_t of_x = monomial_factors(p, a, x), of_y = monomial_factors(p, b, y), i = 0, j = 0, n = 0;
    if (of_x + of_y > MOST_FACTORS)
        return false;
    while (i < of_x || j < of_y)
        product[n++] = j == of_y || (i < of_x && x[i] <= y[j]) ? x[i++] : y[j++];
    *ret_product = number_of(p, product, n);
    return true;
}

bool monomial_multiply(struct monomial_pool *p, monomial a, monomial b, monomial *ret_product)
{
    if (a == MONOMIAL_ONE || b == MONOMIAL_ONE) {
        *ret_product = a | b;
        return true;
    }
    if ((a | b) & IS_KEPT || !fit_together(a, b))
        return multiply_kept(p, a, b, ret_product);
    bool are_single = has_room_behind(a, LANES - 1) && has_room_behind(b, LANES - 1);
    *ret_product = are_single ? merge_single_ones(a, b) : merge_lanes(a, b);
    return true;
}
