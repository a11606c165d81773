// Rows of integers by their hash.
#include "verifier/instances/memo.h"

#include "core/memory/hash.h"
#include <string.h>

static bool is_question(const void *owner, uint32_t id, const void *key)
{
    const struct memo_entry *x = &((const struct memo *)owner)->entries.items[id], *y = key;
    return x->length == y->length && memcmp(x->question, y->question, y->length * sizeof *y->question) == 0;
}

static uint64_t hash_question(size_t length, const int64_t *question)
{
    return hash_bytes(question, length * sizeof *question, length);
}

uint32_t memo_find(const struct memo *m, size_t length, const int64_t *question)
{
    struct memo_entry asked = {.question = question, .length = length};
    uint32_t found = table_find(&m->by_question, hash_question(length, question), is_question, m, &asked);
    return found == TABLE_NONE ? MEMO_NONE : found;
}

uint32_t memo_add(struct memo *m, struct arena *a, size_t length, const int64_t *question, const void *answer)
{
    struct memo_entry entry = {.question = arena_copy_array(a, question, length), .length = length, .answer = answer};
    uint32_t number = (uint32_t)m->entries.count;
    vec_push(&m->entries, entry);
    table_insert(&m->by_question, hash_question(length, question), number);
    return number;
}

const void *memo_answer(const struct memo *m, uint32_t number)
{
    return m->entries.items[number].answer;
}

void memo_clear(struct memo *m)
{
    vec_clear(&m->entries);
    table_clear(&m->by_question);
}

void memo_free(struct memo *m)
{
    vec_free(&m->entries);
    table_free(&m->by_question);
}
