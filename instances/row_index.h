// Rows of types by the types in some of their columns.
#pragma once
#include "instances/typing.h"
#include "substitutions/rule.h"

struct row_index {
    const type_id *rows;
    uint32_t stride, n_columns, mask;
    uint8_t columns[MAX_RULE_VARIABLES];
    uint32_t *heads, *next;
};
void row_index_make(struct row_index *ret_index, struct arena *a, const type_id *rows, uint32_t stride, uint32_t count,
                    uint32_t n_columns, const uint8_t *columns);
#define NO_ROW UINT32_MAX
uint32_t row_index_first(const struct row_index *index, const type_id *key);   // in ascending order; NO_ROW: none
uint32_t row_index_next(const struct row_index *index, uint32_t row, const type_id *key);
