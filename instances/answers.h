// What was found out, by what was asked. A question is a row of integers, the first of which says what kind it is; an
// answer is whatever those who ask make of it. Questions are numbered in the order in which they were answered.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/key_set.h"

enum question_kind { QUESTION_TYPES, QUESTION_TYPES_TO_TRY, QUESTION_PAIRS, QUESTION_VARIABLE, QUESTION_NODE };

struct answers {
    struct key_set questions;
    VEC(const void *) items;   // by the question's number
};

#define ANSWERS_NONE KEY_NONE   // it was not answered
static inline uint32_t answers_find(const struct answers *m, size_t length, const int64_t *question)
{
    return key_set_find(&m->questions, question, length * sizeof *question);
}
// The question is copied to the arena, where the answer is, too. It counts from now on, where there was one.
static inline uint32_t answers_add(struct answers *m, struct arena *a, size_t length, const int64_t *question,
                                   const void *answer)
{
    uint32_t number = key_set_add(&m->questions, a, question, length * sizeof *question);
    if (number == m->items.count)
        vec_push(&m->items, answer);
    m->items.items[number] = answer;
    return number;
}
static inline void answers_clear(struct answers *m)
{
    key_set_clear(&m->questions);
    vec_clear(&m->items);
}
static inline void answers_free(struct answers *m)
{
    key_set_free(&m->questions);
    vec_free(&m->items);
}
