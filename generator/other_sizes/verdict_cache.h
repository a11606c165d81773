// The verdicts of one rule that were given lately, by what was changed: a test asks for the same change again and
// again, from every size that belongs to it. Of changes that share a place here the last one is kept: others are judged
// again.
#pragma once
#include "generator/enumerate/size_test.h"

enum { KNOWN_VERDICTS = 128 };

struct verdicts {
    struct known_verdict {
        uint64_t set;   // of what was changed; 0: no verdict is kept here
        int32_t value;
        enum verdict verdict;
    } known[KNOWN_VERDICTS];
};
// The place of the verdict on a change (a set that is not empty, and what it changed to), kept or to be kept.
static inline struct known_verdict *verdicts_place(struct verdicts *v, uint64_t set, int32_t value)
{
    uint64_t hash = (set + (uint64_t)(uint32_t)value * UINT64_C(0xd6e8feb86659fd93)) * UINT64_C(0x9e3779b97f4a7c15);
    return &v->known[hash >> 32 & (KNOWN_VERDICTS - 1)];
}
static inline bool verdict_is_on(const struct known_verdict *known, uint64_t set, int32_t value)
{
    return set && known->set == set && known->value == value;
}
