// Iterator tables (EinNet, Table 2), computed from the definitions of operators: which iterators an operator has, in
// which of its operands and whether in its result, and how the axes of all of these are made of them.
#pragma once
#include "derivation/programs/derivation.h"

// An iterator's signature: where it occurs.
enum { IN_FIRST = 1, IN_SECOND = 2, IN_RESULT = 4 };
enum { MOST_TABLE_ITERATORS = 16, MOST_OF_AXIS = 3 };

// An axis of an operand or the result: one iterator, or several, the first the slowest; or a window, at which one of
// the result and one of a sum meet, with the operator's stride and dilation.
struct table_axis {
    int n;
    int iterators[MOST_OF_AXIS];
    bool is_window;
};
struct iterator_table {
    const struct operator* op;
    int n_iterators;
    uint8_t signatures[MOST_TABLE_ITERATORS];
    int rank, operand_rank[OPERANDS];
    struct table_axis result[MAX_RANK], operands[OPERANDS][MAX_RANK];
    int shared;   // the iterator that both operands and the result have (groups, a batch), or -1
};
// A variable of a window: it is assigned with its partner, or not at all.
bool iterator_is_of_window(const struct iterator_table *t, int iterator);
struct iterator_tables {
    VEC(struct iterator_table) items;
};
// Tables of all operators that sum products of two operands, at small ranks, each once; of those with several
// axes of one kind the one with the fewest.
void iterator_tables_compute(struct arena *a, struct iterator_tables *ret_tables);
void iterator_tables_free(struct iterator_tables *tables);
