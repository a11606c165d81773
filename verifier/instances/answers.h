// What was found out, by what was asked. A question is a row of integers, the first of which says what kind it is; an
// answer is whatever those who ask make of it. Questions are numbered in the order in which they were answered.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/table.h"
#include "core/memory/vec.h"

enum question_kind { QUESTION_TYPES, QUESTION_PAIRS, QUESTION_VARIABLE, QUESTION_NODE };

struct answers {
    VEC(struct answer {
        const int64_t *question;
        size_t length;
        const void *answer;
    })
    entries;
    struct table by_question;
};

#define ANSWERS_NONE UINT32_MAX
uint32_t answers_find(const struct answers *m, size_t length,
                      const int64_t *question);   // ANSWERS_NONE: it was not answered
// The question is new; it is copied to the arena, where the answer is, too.
uint32_t answers_add(struct answers *m, struct arena *a, size_t length, const int64_t *question, const void *answer);
const void *answers_get(const struct answers *m, uint32_t number);
void answers_clear(struct answers *m);
void answers_free(struct answers *m);
