// Parts of a reduced problem that have no class in common: their selections can be chosen one without the other. Layers
// of a network are such parts, once what every selection has between them is no longer read.
#pragma once
#include <stdbool.h>

struct extraction_answer;
struct incumbent;

// Searches each part of i->root.problem by itself, the small ones first, and offers the cheapest combinations. Each may
// spend the whole budget, as the work of a step is that of its part; of the time it has its share. False, with nothing
// done: there are no two parts.
bool parts_search(struct incumbent *i, struct extraction_answer *answer);
