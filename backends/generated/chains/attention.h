// A product, the softmax of its rows and another product as one kernel, by blocks of rows: what is between is never in
// memory as a whole.
//
//     q[M,K] · k[K,N] ─ epilogue ─ softmax along N ─ · v[N,D] ─ epilogue ─ y[M,D]      for each of many products
//
// Both are products by register tiles (tile.h); k and v are packed by the part that needs them, as they are no weights.
// The last block of rows ends with the last row, so that all are of one size: some rows are computed twice.
#pragma once
#include "backends/generated/tile.h"

enum { ATTENTION_FIRST, ATTENTION_SECOND };
struct attention_definition {
    int64_t products, rows;
    struct tile_definition tiles[2];   // of a block of rows, which attention_complete sets, with images within
    struct tile_schedule schedules[2];
    int64_t column[2], row[2];   // distances of k and v: from one column to the next, from one row to the next
};
// Sets blocks and schedules. False: it is not of this form.
bool attention_complete(struct attention_definition *d);

// Lists that it is told: numbers of both tiles, its own, and where a product begins: q, k, v, y, then operands of the
// epilogues, in entries.
enum { ATTENTION_TILES, ATTENTION_OWN = ATTENTION_TILES + 2, ATTENTION_PLACES, ATTENTION_N_LISTS };
size_t attention_n_numbers(const struct attention_definition *d);
void attention_list_numbers(const struct attention_definition *d, int64_t *ret_numbers);   // its own
int attention_n_places(const struct attention_definition *d);                              // of a product
size_t attention_scratch_floats(const struct attention_definition *d);                     // of each part
// Defines NAMED(run) (run.h), given q, k, v, y, operands of both epilogues, of which [0] is not looked at, and the
// lists.
void attention_print(struct text *text, const struct attention_definition *d);
