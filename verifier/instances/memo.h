// What was found out, by what was asked. A question is a row of integers, the first of which says what kind it is; an
// answer is whatever those who ask make of it. Questions are numbered in the order in which they were answered.
#ifndef VERIFIER_INSTANCES_MEMO_H
#define VERIFIER_INSTANCES_MEMO_H
#include "core/memory/arena.h"
#include "core/memory/table.h"
#include "core/memory/vec.h"

enum memo_kind { MEMO_TYPES, MEMO_PAIRS, MEMO_VARIABLE, MEMO_NODE };

struct memo {
    VEC(struct memo_entry {
        const int64_t *question;
        size_t length;
        const void *answer;
    })
    entries;
    struct table by_question;
};

#define MEMO_NONE UINT32_MAX
uint32_t memo_find(const struct memo *m, size_t length, const int64_t *question);   // MEMO_NONE: it was not answered
// The question is new; it is copied to the arena, where the answer is, too.
uint32_t memo_add(struct memo *m, struct arena *a, size_t length, const int64_t *question, const void *answer);
const void *memo_answer(const struct memo *m, uint32_t number);
void memo_clear(struct memo *m);
void memo_free(struct memo *m);
#endif
