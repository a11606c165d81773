// Parts of a kernel one after the other, which threads run beside each other: none may write an entry that another
// writes, be it the same value.
#pragma once
#include "tests/support/check.h"

#define NOT_WRITTEN 0x7fd5a5a5u   // a NaN

struct parts {
    float *y, *all;   // where a part writes, and what those before it wrote
    size_t n;
};

static inline bool is_written(const float *entry)
{
    uint32_t bits;
    memcpy(&bits, entry, sizeof bits);
    return bits != NOT_WRITTEN;
}

static inline void mark_entries(float *entries, size_t n)
{
    const uint32_t mark = NOT_WRITTEN;
    for (size_t i = 0; i < n; i++)
        memcpy(&entries[i], &mark, sizeof mark);
}

static inline struct parts parts_begin(float *y, size_t n)
{
    struct parts p = {y, calloc(n + 1, sizeof *y), n};
    mark_entries(y, n);
    mark_entries(p.all, n);
    return p;
}

// Behind each part.
static inline void parts_next(struct parts *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (is_written(&p->y[i])) {
            if (is_written(&p->all[i]))
                fail_msg("entry %zu is written by two parts", i);
            p->all[i] = p->y[i];
        }
    mark_entries(p->y, p->n);
}

static inline void parts_end(struct parts *p)
{
    memcpy(p->y, p->all, p->n * sizeof *p->y);
    free(p->all);
}
