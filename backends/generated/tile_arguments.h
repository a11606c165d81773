// The arguments of a tile's kernel beside images: packed weights and numbers.
#pragma once
#include "backends/generated/tile.h"

// Packed from [result][channel of the group][row][column] with these distances.
size_t tile_weights_floats(const struct tile_definition *d, const struct tile_schedule *s);
int64_t tile_weight_groups(const struct tile_definition *d, const struct tile_schedule *s);
void tile_pack(const struct tile_definition *d, const struct tile_schedule *s, const float *weights,
               const int64_t stride[4], float *ret_packed, int64_t first_group, int64_t n_groups);

// Numbers that a kernel is told. Behind them: four of each operand of the epilogue, then two of each tile of a row.
#define TILE_NUMBERS(_)                                                                                                \
    _(IMAGES)                                                                                                          \
    _(ROWS)                                                                                                            \
    _(TILES)                                                                                                           \
    _(GROUPS)                                                                                                          \
    _(GROUPS_EACH)                                                                                                     \
    _(RESULTS)                                                                                                         \
    _(AT_ONCE)                                                                                                         \
    _(HEIGHT)                                                                                                          \
    _(CHANNEL_BLOCKS)                                                                                                  \
    _(CHANNELS)                                                                                                        \
    _(X_IMAGE)                                                                                                         \
    _(X_BLOCK)                                                                                                         \
    _(X_ROW)                                                                                                           \
    _(X_LANE) _(X_GROUP) _(Y_IMAGE) _(Y_BLOCK) _(Y_ROW) _(Y_PIXEL) _(W_GROUP) _(X_PIXEL) _(W_ROW) _(SCALE_IMAGE)
#define TILE_NUMBER(name) TILE_##name,
enum tile_number { TILE_NUMBERS(TILE_NUMBER) TILE_N_NUMBERS };
int tile_number_of_operand(int i);                           // where its four stand
int tile_number_of_tiles(const struct tile_definition *d);   // where those of tiles begin
size_t tile_n_numbers(const struct tile_definition *d, const struct tile_schedule *s);
void tile_list_numbers(const struct tile_definition *d, const struct tile_schedule *s, int64_t *ret_numbers);
