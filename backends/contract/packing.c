// Packings are small lists of integers: compared field by field, printed as one S-expression, walked entry by entry.
#include "backends/contract/packing.h"

#include "core/formats/sexp.h"
#include "core/memory/vec.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "expressions/type.h"
#include <inttypes.h>
#include <string.h>

static bool equal_lists(const int64_t *a, const int64_t *b, int n)
{
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

bool packing_equal(const struct packing *a, const struct packing *b)
{
    return a->rank == b->rank && a->n_blocks == b->n_blocks && equal_lists(a->dim, b->dim, a->rank) &&
           equal_lists(a->padded, b->padded, a->rank) && equal_lists(a->stride, b->stride, a->rank) &&
           memcmp(a->blocks, b->blocks, (size_t)a->n_blocks * sizeof a->blocks[0]) == 0;
}

// --- text ------------------------------------------------------------------------------------------------------------

static void print_list(struct text *out, const char *name, const int64_t *items, int n)
{
    text_printf(out, " (%s", name);
    for (int i = 0; i < n; i++)
        text_printf(out, " %" PRId64, items[i]);
    text_add(out, ")");
}

void packing_print(struct text *out, const struct packing *p)
{
    text_add(out, "(packing");
    print_list(out, "dims", p->dim, p->rank);
    print_list(out, "padded", p->padded, p->rank);
    print_list(out, "strides", p->stride, p->rank);
    text_add(out, " (blocks");
    for (int i = 0; i < p->n_blocks; i++)
        text_printf(out, " (%" PRId64 " %" PRId64 ")", p->blocks[i].axis, p->blocks[i].size);
    text_add(out, "))");
}

static bool read_list(const struct sexp *s, const char *name, int64_t low, int n, int64_t *ret_items)
{
    if (!sexp_is_call(s, name) || s->count != (size_t)n + 1)
        return false;
    for (int i = 0; i < n; i++) {
        const struct sexp *item = &s->items[i + 1];
        if (item->kind != SEXP_INTEGER || item->integer < low || item->integer > MAX_ELEMENTS)
            return false;
        ret_items[i] = item->integer;
    }
    return true;
}

static bool read_blocks(const struct sexp *s, struct packing *p)
{
    if (!sexp_is_call(s, "blocks") || s->count > PACKING_MAX_RANK + 1)
        return false;
    p->n_blocks = (int)s->count - 1;
    for (int i = 0; i < p->n_blocks; i++) {
        const struct sexp *block = &s->items[i + 1];
        if (block->kind != SEXP_LIST || block->count != 2 || block->items[0].kind != SEXP_INTEGER ||
            block->items[1].kind != SEXP_INTEGER)
            return false;
        p->blocks[i] = (struct packing_block){block->items[0].integer, block->items[1].integer};
        if (p->blocks[i].axis < 0 || p->blocks[i].axis >= p->rank || p->blocks[i].size < 1 ||
            p->blocks[i].size > MAX_ELEMENTS)
            return false;
    }
    return true;
}

static bool has_allowed_product(const int64_t *items, int n)
{
    int64_t product = 1;
    return !ANY(int, i, n, __builtin_mul_overflow(product, items[i], &product) || product > MAX_ELEMENTS);
}

// Entries of each axis that its blocks hold. False: they hold too many.
static bool find_blocks_of_axes(const struct packing *p, int64_t *ret_blocks)
{
    int64_t all[PACKING_MAX_RANK];
    for (int i = 0; i < p->rank; i++)
        ret_blocks[i] = 1;
    for (int i = 0; i < p->n_blocks; i++)
        all[i] = p->blocks[i].size;
    if (!has_allowed_product(all, p->n_blocks))
        return false;
    for (int i = 0; i < p->n_blocks; i++)
        ret_blocks[p->blocks[i].axis] *= p->blocks[i].size;
    return true;
}

// The end of the last entry's place; 0: it is none that a memory has.
static int64_t span_of_blocks(const struct packing *p)
{
    int64_t blocks[PACKING_MAX_RANK], span = 1;
    if (!find_blocks_of_axes(p, blocks))
        return 0;
    for (int i = 0; i < p->n_blocks; i++)
        span *= p->blocks[i].size;
    for (int i = 0; i < p->rank; i++) {
        int64_t reach;
        if (p->padded[i] < p->dim[i] || p->padded[i] % blocks[i] ||
            __builtin_mul_overflow(p->padded[i] / blocks[i] - 1, p->stride[i], &reach) || reach > MAX_ELEMENTS - span)
            return 0;
        span += reach;
    }
    return span;
}

static bool read_fields(const struct sexp *s, struct packing *p)
{
    if (!sexp_is_call(s, "packing") || s->count != 5 || s->items[1].count < 2 ||
        s->items[1].count > PACKING_MAX_RANK + 1)
        return false;
    p->rank = (int)s->items[1].count - 1;
    return read_list(&s->items[1], "dims", 1, p->rank, p->dim) && has_allowed_product(p->dim, p->rank) &&
           read_list(&s->items[2], "padded", 1, p->rank, p->padded) &&
           read_list(&s->items[3], "strides", 0, p->rank, p->stride) && read_blocks(&s->items[4], p) &&
           span_of_blocks(p) > 0;
}

bool packing_parse(const struct sexp *s, const char *file, struct packing *ret_packing, struct error *error)
{
    struct packing p = {0};
    if (!read_fields(s, &p))
        return sexp_error(error, file, s, "expected (packing (dims ...) (padded ...) (strides ...) (blocks ...))");
    *ret_packing = p;
    return true;
}

// --- entries ---------------------------------------------------------------------------------------------------------

int64_t packing_elements(const struct packing *p)
{
    return PRODUCT_ALL(int64_t, int, i, p->rank, p->dim[i]);
}

size_t packing_bytes(const struct packing *p)
{
    return (size_t)span_of_blocks(p) * sizeof(float);
}

static int64_t place_of(const struct packing *p, const int64_t *index)
{
    int64_t rest[PACKING_MAX_RANK], place = 0, within = 1;
    memcpy(rest, index, (size_t)p->rank * sizeof *rest);
    for (int i = p->n_blocks - 1; i >= 0; i--) {
        int64_t size = p->blocks[i].size, *of_axis = &rest[p->blocks[i].axis];
        place += *of_axis % size * within;
        *of_axis /= size;
        within *= size;
    }
    for (int i = 0; i < p->rank; i++)
        place += rest[i] * p->stride[i];
    return place;
}

static void advance(const struct packing *p, int64_t *index)
{
    for (int i = p->rank - 1; i >= 0 && ++index[i] == p->dim[i]; i--)
        index[i] = 0;
}

void packing_unpack(const struct packing *p, const float *from, float *to)
{
    int64_t index[PACKING_MAX_RANK] = {0}, n = packing_elements(p);
    for (int64_t i = 0; i < n; i++, advance(p, index))
        to[i] = from[place_of(p, index)];
}
