// What was computed before, by the list of words that describes it: hashed, and compared.
#ifndef OPTIMIZER_SEARCH_MEMO_H
#define OPTIMIZER_SEARCH_MEMO_H
#include "core/table.h"
#include "core/vec.h"
#include <stdbool.h>

typedef VEC(int64_t) word_list;

struct memo_entry {
    size_t first, count;   // of its words
    double value;
};
struct memo {
    size_t max_words;   // all is forgotten when there would be more
    word_list words;
    VEC(struct memo_entry) entries;
    struct table by_words;
};
void memo_init(struct memo *m, size_t max_words);
void memo_free(struct memo *m);
void memo_clear(struct memo *m);
bool memo_find(const struct memo *m, const int64_t *words, size_t count, double *ret_value);
void memo_set(struct memo *m, const int64_t *words, size_t count, double value);   // also where there is one
void memo_add(struct memo *m, const int64_t *words, size_t count, double value);   // the caller knows that it is absent
#endif
