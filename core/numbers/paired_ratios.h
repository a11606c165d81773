// How many times longer one thing takes than another, from pairs of times that stand beside each other.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct ratio_summary {
    double ratio, low, high;   // the median of all pairs, and its 95 % interval; 0 < low <= ratio <= high
    size_t n_loads;
};
// The ratios of a load in which n runs of each alternated, one by one: every run is compared with the one before it and
// the one behind it, so that a drift makes as many ratios larger as smaller. 2 n - 1 of them; n > 0.
size_t ratios_of_neighbours(const double *a, const double *b, size_t n, bool is_a_first, double *ret_ratios);

// How often somebody looks at the interval, to stop as soon as it says something. Looking up to five times tells equal
// things apart as seldom as looking once does if the interval is longer (Pocock, 1977).
enum ratio_looks { RATIO_LOOKED_AT_ONCE, RATIO_LOOKED_AT_OFTEN };
#define RATIO_MOST_LOOKS 5

// `ratios` are positive, load after load: what was timed is loaded several times, because where it lies in memory
// matters, and load i ends before ends[i]. n_loads > 0, no load is empty.
//
// The interval is a bootstrap: loads are drawn at random with all their pairs, which may depend on each other, and the
// medians of RATIO_REPLICATES such draws tell how far the median may be from the truth (Hesterberg's expanded
// percentiles, 2014, as few loads vary by less than all that there could be). Draws from fewer than RATIO_LEAST_BLOCKS
// loads tell too little: there it is Student's, of the logarithms of the loads' medians. A load alone is cut into
// blocks of pairs in a row. The same ratios give the same interval.
#define RATIO_REPLICATES 2000
#define RATIO_LEAST_BLOCKS 6
#define RATIO_BLOCKS_OF_A_LOAD 12
struct ratio_summary ratios_summarize(const double *ratios, const size_t *ends, size_t n_loads, enum ratio_looks looks);
// The medians of RATIO_REPLICATES draws, in order of size: of blocks that end before ends[i] in `values`.
void ratios_draw_medians(const double *values, const size_t *ends, size_t n_blocks, double *ret_medians);
// The verdict of every timing: the second thing is faster, beyond what noise and memory placement explain.
bool ratio_is_a_gain(const struct ratio_summary *r);
// The quantile of Student's distribution that is exceeded with this probability, above 0 and below a half.
double student_quantile(double probability, size_t freedom);
