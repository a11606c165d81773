// How packed weights stand in memory: what a kernel has arranged once for its own use, described so that whoever keeps
// it can tell whether another kernel wants the same, and can take it apart again where that wants something else.
//
// Elements are f32. Entry [i0, i1, ...] of a blocked arrangement stands at
//     sum over axes of (i / blocks of the axis) * stride  +  its place within the blocks, the last block innermost
// as oneDNN describes it; padded axes have whole blocks.
//     (packing (dims 64 3 7 7) (padded 64 3 7 7) (strides 784 784 112 16) (blocks (0 16)))
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct sexp;
struct text;

#define PACKING_MAX_RANK 12
struct packing_block {
    int64_t axis, size;
};
struct packing {
    int rank;
    int64_t dim[PACKING_MAX_RANK];
    int64_t padded[PACKING_MAX_RANK], stride[PACKING_MAX_RANK];
    int n_blocks;
    struct packing_block blocks[PACKING_MAX_RANK];
};

bool packing_equal(const struct packing *a, const struct packing *b);
void packing_print(struct text *out, const struct packing *p);
// A packing that is read is whole: no entry of it stands outside of packing_bytes.
bool packing_parse(const struct sexp *s, const char *file, struct packing *ret_packing, struct error *error);
int64_t packing_elements(const struct packing *p);   // without what is padding
size_t packing_bytes(const struct packing *p);       // that hold all entries; a kernel may want more behind them
// All entries in row-major order.
void packing_unpack(const struct packing *p, const float *from, float *to);
