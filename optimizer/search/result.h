// The result of a search, and of two searches as one.
#pragma once
#include "optimizer/search/search.h"

void search_result_free(struct search_result *result);
// The result's graph as it is now is one.
void search_result_add_milestone(struct search_result *result, const struct graph *g);
// Two searches one after the other: `last` began with the graph that `first` gave, and gets its rewrites and its
// course in front of its own, told as if they had been priced like those of `last`: the original costs
// `seconds_before`.
void search_result_put_in_front(struct search_result *last, const struct search_result *first, double seconds_before);
// Tells its steps and its course as if they had led from and to these costs.
void search_result_reprice(struct search_result *result, double before, double after);
// Adds the counts of a search that came before, how it ended, and the rules that it found wrong.
void search_result_add_former(struct search_result *result, const struct search_result *former);
void search_result_add_refuted(struct search_result *result, const struct search_result *other);
