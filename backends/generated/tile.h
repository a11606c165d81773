// Convolutions and products by register tiles: so many pixels of a row of results by so many vectors of channels are
// summed in registers, and stored with bias, activations and residuals already applied.
//
//     dense      vectors of results times single entries of the source, which stands in any layout: convolutions of
//                every window, step, dilation and group, and products, whose rows are the pixels of one row
//     lanewise   vectors of the source, where a group has fewer channels than a vector has lanes: depthwise, and others
//                by exchanging lanes within their groups; or the maximum of a window, of each channel
//
// A row of results is cut into tiles of nearly equal width. Tiles at its edges have code of their own, without the
// terms that lie outside; above and below the image rows of the window are left out. Where channels do not fill
// vectors, the last vector overlaps with the one before. If by half, it sums the terms of two channels at once, each in
// one of two neighbouring lanes, where they stand side by side. Of results that do not fill one vector only so many
// lanes are stored.
//
// NaN and infinities: as in sums of all terms within the image.
#pragma once
#include "backends/generated/loop_text.h"
#include <stddef.h>

// Channel c of a pixel stands at c / lanes * block + c % lanes * lane.
struct tile_image {
    int64_t image, block, row, pixel, lane;   // distances in entries
};
struct tile_window {
    int64_t kernel[2], stride[2], dilation[2], pad[2];   // pad: above, and to the left
};
// How entries of the source are read, and what is made of them.
struct tile_reading {
    bool is_maximum;       // of windows, without weights, instead of a sum; of NaN it is NaN
    bool is_scaled;        // dense, of one group: each channel is multiplied by a number of operands[0]
    int64_t scale_image;   // from the numbers of one image to those of the next
};
// A sum's way into memory.
struct tile_epilogue {
    bool has_relu;                       // of the sum, before the loop
    const struct loop *loop;             // element-wise, its operand 0 is the sum; NULL: none
    const struct tile_image *operands;   // of the loop, from [1] on; lane is 1 or 0
};
struct tile_definition {
    int lanes, registers;                        // of the instruction set's vectors
    int64_t images, groups, channels, results;   // the last two of a group
    int64_t height, width, result_height, result_width;
    struct tile_window window;
    struct tile_reading reading;
    struct tile_image source, target;
    struct tile_epilogue epilogue;
};
#define TILE_MOST_PIXELS 32
#define TILE_MOST_VECTORS 5
#define TILE_TERMS_AT_ONCE 512     // of a sum, before they are added to a sum of sums: fewer digits are lost so
#define TILE_FEWEST_TERMS 128      // of a part of a sum
#define TILE_MOST_SUMS (1 << 23)   // that each thread holds between their parts: more do not stay near
struct tile_schedule {
    int pixels, vectors;   // of a tile, at most
    int64_t tiles;         // that are done with a group of vectors before the next group
    int64_t terms;         // channels of their sums at a time, over all groups: what these read stays near; 0: all
};
// `(tile p:14 q:2 t:8)`, `(parts p:14 q:2 t:8 k:512)`
void tile_schedule_print(struct text *text, const struct tile_schedule *s);
bool tile_schedule_parse(const char *text, struct tile_schedule *ret_schedule);
bool tile_is_lanewise(const struct tile_definition *d);
bool tile_is_of_one_pixel(const struct tile_definition *d);   // each result is, of one of the source, in the same place
bool tile_may_sum_in_parts(const struct tile_definition *d);
bool tile_suits(const struct tile_definition *d, const struct tile_schedule *s);
// Vectors of a dense tile: so many that the fewest are computed twice, of 1 to 5.
int tile_best_vectors(const struct tile_definition *d);
bool tile_takes_epilogue(const struct tile_definition *d);
int tile_n_operands(const struct tile_definition *d);   // of the epilogue, with the sum

// --- shapes ----------------------------------------------------------------------------------------------------------

// Tiles of one width and one place at the edges are of one kind.
struct tile_kind {
    int64_t width;
    int64_t left, right;   // columns of the source that lie outside
};
#define TILE_MOST_KINDS 64
// A shape is what a definition and a schedule come to.
struct tile_shape {
    int64_t tiles, wide;   // of a row; so many have `width` pixels, the others one less
    int64_t width;
    int64_t groups, groups_each;   // of vectors; of each group of channels
    int64_t results, channel_blocks, channels;
    int64_t source_group;   // from one group of channels of the source to the next
    bool is_lanewise;
    bool is_short;    // groups have fewer results than their vectors have lanes
    int64_t stored;   // lanes of a vector: all, or a group's results where these do not fill one
    bool has_pairs;   // of channels, in the last vector of a short group
    int n_kinds;
    struct tile_kind kinds[TILE_MOST_KINDS];
};
struct tile_shape tile_shape_of(const struct tile_definition *d, const struct tile_schedule *s);   // without kinds
bool tile_list_kinds(const struct tile_definition *d, struct tile_shape *k);   // false: there are too many
// The kind of a tile, which is added to the list; TILE_MOST_KINDS: there is no room.
int tile_kind_number(const struct tile_definition *d, struct tile_shape *k, int64_t tile);
int64_t tile_start_of(const struct tile_shape *k, int64_t tile);                              // its first pixel
size_t tile_scratch_floats(const struct tile_definition *d, const struct tile_schedule *s);   // of each part
