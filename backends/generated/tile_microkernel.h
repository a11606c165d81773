// The code that sums a tile's terms in registers.
#pragma once
#include "backends/generated/tile.h"

struct tile_printing {
    struct text *text;
    const char *prefix;   // of its functions
    const struct tile_definition *d;
    const struct tile_schedule *s;
    struct tile_shape k;
    bool fetches_next;   // weights, from `next` on, `share` entries for each channel: those of another group
    int bias;            // the epilogue's operand that sums begin with, instead of being added to it; 0: none
};
// " + ...": where a vector stands behind the first one of a pixel.
#define PLACE_SIZE 64
void tile_find_place(const struct tile_printing *p, int vector, const char *block, char ret_place[PLACE_SIZE]);
// The vector of an operand, or its first lanes alone.
void tile_print_load(struct text *text, const struct tile_definition *d, int operand, int lanes, const char *place);
// Adds to a0_0, a0_1, ... of pixels and vectors, from x and w, for rows r0 to r1 of the window.
void tile_print_microkernel(const struct tile_printing *p, const struct tile_kind *kind);
