// Counts since patience began anew.
#include "optimizer/search/backtracking/patience.h"

#include "optimizer/limits.def"
#include <math.h>

// A match that is ill-typed takes next to no time.
static uint64_t n_typed_matches(const struct search_statistics *s)
{
    return s->matches > s->ill_typed ? s->matches - s->ill_typed : 0;
}

void patience_note(struct patience *p, const struct search_options *options, const struct search_statistics *s,
                   uint64_t work, double seconds)
{
    if (p->seconds > 0 && seconds > (1 - options->renewing_gain) * p->seconds)
        return;
    *p = (struct patience){s->expanded, n_typed_matches(s), work, seconds};
}

static double share(uint64_t done, uint64_t from, uint64_t most)
{
    return (double)done / (double)(from + most);
}

double patience_share(const struct patience *p, const struct search_options *options, const struct search_statistics *s,
                      uint64_t work)
{
    uint64_t graphs = (uint64_t)options->patience;
    if (graphs == 0)
        return 0;
    double by_graphs = share(s->expanded, p->graphs, graphs);
    double by_matches = share(n_typed_matches(s), p->matches, MATCHES_PER_GRAPH * graphs);
    double by_work = share(work, p->work, WORDS_PER_GRAPH * graphs);
    return fmin(1, fmax(by_graphs, fmax(by_matches, by_work)));
}
