// Convolutions in steps of one by short correlations (bilinear.h) along one axis or both, by blocks of tiles: a block's
// tiles are transformed, multiplied for each group of results, transformed back, and stored with the epilogue applied,
// all within the near caches.
//
// Windows of one place, which products have, too, are done by Strassen's seven products: a tile is two pixels of a row
// by both halves of the channels, and gives two pixels by both halves of the results.
//
//     V [place][chunk of tiles][channel block][tile][lane]    transformed images of a block
//     U [result group][place][channel][lanes of the group]    transformed weights, packed when the step is prepared
//     M [place][tile][lanes of the group]       products
//
// NaN and infinities: a result whose tile (with its border) has one in the source may be NaN, also where its own window
// has none; all others are as if they were not there. What is finite may overflow from 1e36 on.
#pragma once
#include "backends/generated/tile.h"

#define WINOGRAD_MOST_EDGE 5
struct winograd_schedule {
    int m;           // results of a tile along each axis on which the window has several places, 2 to 5; 2: Strassen's
    int64_t tiles;   // of a block, at most
};
// `(winograd m:4 tiles:14)`
void winograd_schedule_print(struct text *text, const struct winograd_schedule *s);
bool winograd_schedule_parse(const char *text, struct winograd_schedule *ret_schedule);
// Does it suit the definition? Steps are of one, channels stand in runs of `lanes`, in blocks or last; channels and
// results are multiples of lanes, of twice as many for windows of one place.
bool winograd_suits(const struct tile_definition *d, const struct winograd_schedule *s);

// All else that a kernel is told when it runs, so that convolutions of many sizes and layouts share one. Behind them:
// four of each operand of the epilogue.
#define WINOGRAD_NUMBERS(_)                                                                                            \
    _(CHANNEL_BLOCKS)                                                                                                  \
    _(GROUPS)                                                                                                          \
    _(HEIGHT)                                                                                                          \
    _(WIDTH)                                                                                                           \
    _(RESULT_HEIGHT)                                                                                                   \
    _(RESULT_WIDTH)                                                                                                    \
    _(PAD_TOP)                                                                                                         \
    _(PAD_LEFT)                                                                                                        \
    _(TILE_ROWS)                                                                                                       \
    _(TILE_COLUMNS)                                                                                                    \
    _(TILES) _(BLOCKS) _(PLACE) _(X_IMAGE) _(X_BLOCK) _(X_ROW) _(X_PIXEL) _(Y_IMAGE) _(Y_BLOCK) _(Y_ROW) _(Y_PIXEL)
size_t winograd_n_numbers(const struct tile_definition *d);
void winograd_list_numbers(const struct tile_definition *d, const struct winograd_schedule *s, int64_t *ret_numbers);

// Defines NAMED(run) (run.h), given what a tile is (tile_text.h); scratch has winograd_scratch_floats for each
// part, at a multiple of 64 bytes, as has w.
void winograd_print(struct text *text, const struct tile_definition *d, const struct winograd_schedule *s);
size_t winograd_scratch_floats(const struct tile_definition *d, const struct winograd_schedule *s);
size_t winograd_weights_floats(const struct tile_definition *d, const struct winograd_schedule *s);
// Packs weights of [result][channel][row][column] with these distances of results and channels.
void winograd_pack(const struct tile_definition *d, const struct winograd_schedule *s, const float *weights,
                   int64_t result_stride, int64_t channel_stride, float *ret_u, int64_t first_group, int64_t n_groups);
int64_t winograd_groups(const struct tile_definition *d);   // of results
int winograd_halves(const struct tile_definition *d);       // of channels, and of results, that a tile has
// Products of a tile; 0: there is no such form.
int winograd_places(const struct tile_definition *d, const struct winograd_schedule *s);
int winograd_edge(const struct tile_definition *d, const struct winograd_schedule *s, int axis);   // of a tile
int64_t winograd_tiles(const struct tile_definition *d, const struct winograd_schedule *s);
