// Kernels of contractions by tiles: a block of threads computes a tile of results, each thread (or warp, with tensor
// cores) some of it in registers.
//
//     stages 0   operands are read where they stand: few channels, groups, single rows
//     stages 2   a stage of terms is in shared memory while the next one is read
//
// Sums are split where there are few results: `shares` threads of a block take a share of each, and `parts` blocks a
// part of it; the last block that is done adds all parts up, in their order, so that the same bytes come of it each
// time.
#pragma once
#include "backends/generated/definitions/contraction.h"
#include "backends/generated/kernels.h"

struct kernel_tile {
    bool has_cores;      // `rows` x `columns` fragments of 16 x 8 of a warp, of factors that are rounded to TF32
    int rows, columns;   // of a thread
    int down, across;    // threads, or warps, of a share
    int depth;           // terms of the outermost sum in a stage
    int stages, shares, parts;
};
// `tile m:4 n:4 r:8 c:8 k:16 s:2 t:1 p:4`, or `cores m:2 ...`
#define KERNEL_TILE_SIZE 96
void kernel_tile_print(const struct kernel_tile *s, char ret_text[KERNEL_TILE_SIZE]);
bool kernel_tile_parse(const char *text, struct kernel_tile *ret_tile);

// Sizes that a contraction and a tile come to.
struct kernel_tile_shape {
    int64_t rows, columns, tiles;   // of a tile; tiles without parts
    int64_t stages;                 // of a sum
    int depth, threads, members;    // terms of a stage; threads of a block, and of a share
    int held;                       // results of a thread
    size_t shared_bytes, scratch_bytes;
};
// False: it does not suit.
bool kernel_tile_shape_of(const struct contraction *c, const struct kernel_tile *s, struct kernel_tile_shape *ret);

// Kernels as kernels_from_definition makes them. False also where the definition is no contraction in f32, or the tile
// does not suit it.
bool kernels_from_contraction(const struct definition *d, const struct step *step, const struct kernel_tile *tile,
                              const char *prelude, struct arena *arena, struct generated_kernels *ret_kernels);
