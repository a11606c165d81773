// Rows of integers by their hash.
#include "verifier/instances/answers.h"

#include "core/memory/hash.h"
#include <string.h>

static bool is_question(const void *owner, uint32_t id, const void *key)
{
    const struct answer *x = &((const struct answers *)owner)->entries.items[id], *y = key;
    return x->length == y->length && memcmp(x->question, y->question, y->length * sizeof *y->question) == 0;
}

static uint64_t hash_question(size_t length, const int64_t *question)
{
    return hash_bytes(question, length * sizeof *question, length);
}

uint32_t answers_find(const struct answers *m, size_t length, const int64_t *question)
{
    struct answer asked = {.question = question, .length = length};
    uint32_t found = table_find(&m->by_question, hash_question(length, question), is_question, m, &asked);
    return found == TABLE_NONE ? ANSWERS_NONE : found;
}

uint32_t answers_add(struct answers *m, struct arena *a, size_t length, const int64_t *question, const void *answer)
{
    struct answer entry = {.question = arena_copy_array(a, question, length), .length = length, .answer = answer};
    uint32_t number = (uint32_t)m->entries.count;
    vec_push(&m->entries, entry);
    table_insert(&m->by_question, hash_question(length, question), number);
    return number;
}

const void *answers_get(const struct answers *m, uint32_t number)
{
    return m->entries.items[number].answer;
}

void answers_clear(struct answers *m)
{
    vec_clear(&m->entries);
    table_clear(&m->by_question);
}

void answers_free(struct answers *m)
{
    vec_free(&m->entries);
    table_free(&m->by_question);
}
