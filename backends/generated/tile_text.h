// The text of a tile's kernel.
#pragma once
#include "backends/generated/tile.h"

// Defines NAMED(run) (run.h), given x, packed weights, y, addresses of the epilogue's operands, [0] of the scale, and
// numbers (tile_arguments.h).
void tile_print(struct text *text, const struct tile_definition *d, const struct tile_schedule *s);
// Parts of larger kernels: first the names, once; then NAMED(<prefix>row), which computes a row of an image:
//     static void (const float *x, const float *w, float *y, const float *const *operands, const I *n, I image, I row)
void tile_print_names(struct text *text, int lanes);
void tile_print_row(struct text *text, const char *prefix, const struct tile_definition *d,
                    const struct tile_schedule *s);
// Values in a text where o1, o2, ... are addresses: of an operand, "V x1 = ...", `place` behind its address, or its
// first lanes alone; and the stored one, of a sum and the operands, with its name.
void tile_print_operand(struct text *text, const struct tile_definition *d, int operand, int lanes, const char *place);
void tile_print_value(struct text *text, const struct tile_definition *d, const char *sum,
                      char ret_name[VALUE_NAME_SIZE]);
