// How long a search goes on without gaining: by graphs expanded, by matches, and by what it takes to price these, as
// where each graph has many, or their neighbourhoods are large, it takes fewer of them to see that nothing comes.
#pragma once
#include "optimizer/search/backtracking/backtracking.h"

struct patience {
    uint64_t graphs, matches, work;   // when it last began anew
    double seconds;                   // that the graph then cost; 0: it never did
};

// Begins anew when what was gained since it did so last matters.
void patience_note(struct patience *p, const struct search_options *options, const struct search_statistics *s,
                   uint64_t work, double seconds);
// How much is done of all until it ends, if nothing more is gained: 1, it has ended. 0 where it never does.
double patience_share(const struct patience *p, const struct search_options *options, const struct search_statistics *s,
                      uint64_t work);
