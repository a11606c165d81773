// Parts of a kernel one after the other, which threads run beside each other: none may write an entry that another
// writes, be it the same value.
#pragma once
#include "backends/generated/run.h"
#include "tests/backends/machines.h"

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

// All parts of the kernel of a text, which write n entries of y, and not the one behind these. Each part has `each` floats
// of scratch.
static inline void run_in_parts(struct programs *service, const struct text *text, const void *const *given,
                                float *scratch, size_t each, int parts, float *y, int64_t n)
{
    generated_run_fn *run;
    find_run(service, text, &run);
    y[n] = 77;
    struct parts p = parts_begin(y, (size_t)n);
    for (int part = 0; part < parts; part++) {
        run(given, scratch + (size_t)part * each, part, parts);
        parts_next(&p);
    }
    parts_end(&p);
    assert_true(y[n] == 77);
}
