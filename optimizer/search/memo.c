// Numbers by the words of a description.
#include "optimizer/search/memo.h"

// --- encoding --------------------------------------------------------------------------------------------------------

enum { MOST_BYTES = 10 };   // of a word: seven bits in each, all but the last with the eighth set

// Small numbers of either sign are small.
static uint64_t without_sign(int64_t word)
{
    return ((uint64_t)word << 1) ^ (word < 0 ? UINT64_MAX : 0);
}

void encoding_add(struct encoding *s, int64_t word)
{
    uint64_t rest = without_sign(word);
    vec_reserve(&s->bytes, s->bytes.count + MOST_BYTES);
    uint8_t *to = s->bytes.items + s->bytes.count;
    for (; rest >= 0x80; rest >>= 7)
        *to++ = (uint8_t)(rest | 0x80);
    *to++ = (uint8_t)rest;
    s->bytes.count = (size_t)(to - s->bytes.items);
    s->n_words++;
}

void encoding_add_type(struct encoding *s, const struct type *t)
{
    encoding_add(s, t->dtype);
    encoding_add(s, t->rank);
    for (int i = 0; i < t->rank; i++)
        encoding_add(s, t->dim[i]);
}

void encoding_add_attributes(struct encoding *s, const struct node *n)
{
    for (int i = 0, n_attributes = operator_n_attributes(n->op); i < n_attributes; i++) {
        encoding_add(s, n->attributes[i].count);
        for (uint32_t k = 0; k < n->attributes[i].count; k++)
            encoding_add(s, n->attributes[i].ints[k]);
    }
}

void encoding_clear(struct encoding *s)
{
    vec_clear(&s->bytes);
    s->n_words = 0;
}

void encoding_free(struct encoding *s)
{
    vec_free(&s->bytes);
    s->n_words = 0;
}

struct key_words encoding_key(const struct encoding *s)
{
    return (struct key_words){s->bytes.items, s->bytes.count, s->n_words};
}

// --- the memo --------------------------------------------------------------------------------------------------------

void memo_init(struct memo *m, size_t max_words)
{
    *m = (struct memo){.max_words = max_words};
}

void memo_free(struct memo *m)
{
    arena_free(&m->arena);
    key_set_free(&m->keys);
    vec_free(&m->values);
    m->n_words = 0;
}

bool memo_find(const struct memo *m, struct key_words key, double *ret_value)
{
    uint32_t found = key_set_find(&m->keys, key.bytes, key.n_bytes);
    if (found == KEY_NONE)
        return false;
    *ret_value = m->values.items[found];
    return true;
}

void memo_set(struct memo *m, struct key_words key, double value)
{
    uint32_t found = key_set_find(&m->keys, key.bytes, key.n_bytes);
    if (found != KEY_NONE) {
        m->values.items[found] = value;
        return;
    }
    if (m->n_words + key.n_words > m->max_words)
        memo_free(m);
    key_set_add(&m->keys, &m->arena, key.bytes, key.n_bytes);
    vec_push(&m->values, value);
    m->n_words += key.n_words;
}
