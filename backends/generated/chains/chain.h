// A convolution, a depthwise one and another of 1x1 as one kernel, row by row: what one makes is read by the next while
// it is in the near cache, and never in memory as a whole.
//
//     x ─ any, epilogue ─ e ─ depthwise, epilogue ─ d ─ 1x1, epilogue ─ y       the first, or the last, may lack, or
//                                                                               both behind the first
//
// Of e there are as many rows at a time as the near cache holds, at least those of a window; of d there is one. Of two
// neighbouring parts both make the rows of e that both need.
#pragma once
#include "backends/contract/schedule_space.h"
#include "backends/generated/tile.h"

enum { CHAIN_FIRST, CHAIN_MIDDLE, CHAIN_LAST, CHAIN_STAGES };
// The most pixels and vectors of dense tiles, and pixels of the depthwise one's; 0: as suits the processor.
struct chain_schedule {
    int pixels, vectors, middle;
};
// A chain: which stages there are, and their definitions; chain_complete sets source and target of those within it.
struct chain_definition {
    struct chain_schedule wanted;
    bool has[CHAIN_STAGES];
    struct tile_definition stages[CHAIN_STAGES];
    struct tile_schedule schedules[CHAIN_STAGES];
};
// False: some stage is not of this form, or that in the middle lacks between others. Sets images within, and schedules.
bool chain_complete(struct chain_definition *d);

enum { CHAIN_N_NUMBERS = 8 };
void chain_list_numbers(const struct chain_definition *d, int64_t ret_numbers[CHAIN_N_NUMBERS]);
size_t chain_scratch_floats(const struct chain_definition *d);   // of each part
// Defines NAMED(run) (run.h), given x, weights, y, operands and numbers: those of the stages, and behind them the
// chain's own numbers.
void chain_print(struct text *text, const struct chain_definition *d);

// Axes p, q, m, and family and loops; what its stages come to in sum. False: it is one with smaller numbers.
void chain_list_schedules(const struct chain_definition *d, struct schedule_space *space);
bool chain_describe(const struct chain_definition *d, struct schedule_features *ret_features);
