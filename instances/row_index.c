// A chained hash table over rows that stay where they are.
#include "instances/row_index.h"

#include <string.h>

static uint64_t hash_key(uint32_t n, const type_id *key)
{
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++)
        hash = (hash ^ key[i]) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

static void key_of_row(const struct row_index *index, uint32_t row, type_id *ret_key)
{
    for (uint32_t i = 0; i < index->n_columns; i++)
        ret_key[i] = index->rows[(size_t)row * index->stride + index->columns[i]];
}

void row_index_make(struct row_index *ret_index, struct arena *a, const type_id *rows, uint32_t stride, uint32_t count,
                    uint32_t n_columns, const uint8_t *columns)
{
    uint32_t capacity = 16;
    type_id key[MAX_RULE_VARIABLES];
    while (capacity < count * 2)
        capacity *= 2;
    *ret_index = (struct row_index){.rows = rows, .stride = stride, .n_columns = n_columns, .mask = capacity - 1};
    memcpy(ret_index->columns, columns, n_columns);
    ret_index->heads = arena_alloc(a, capacity * sizeof(uint32_t), _Alignof(uint32_t));
    ret_index->next = arena_alloc(a, (count + 1) * sizeof(uint32_t), _Alignof(uint32_t));
    memset(ret_index->heads, 0xff, capacity * sizeof(uint32_t));
    for (uint32_t row = count; row-- > 0;) {
        key_of_row(ret_index, row, key);
        uint32_t *head = &ret_index->heads[hash_key(n_columns, key) & ret_index->mask];
        ret_index->next[row] = *head;
        *head = row;
    }
}

static uint32_t first_with_key(const struct row_index *index, uint32_t row, const type_id *key)
{
    type_id here[MAX_RULE_VARIABLES];
    for (; row != NO_ROW; row = index->next[row]) {
        key_of_row(index, row, here);
        if (memcmp(here, key, index->n_columns * sizeof *key) == 0)
            break;
    }
    return row;
}

uint32_t row_index_first(const struct row_index *index, const type_id *key)
{
    return first_with_key(index, index->heads[hash_key(index->n_columns, key) & index->mask], key);
}

uint32_t row_index_next(const struct row_index *index, uint32_t row, const type_id *key)
{
    return first_with_key(index, index->next[row], key);
}
