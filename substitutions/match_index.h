// Facts that matching looks up in a graph: its live nodes by operator, readers of tensors, and which nodes are weights.
#pragma once
#include "substitutions/match.h"

void match_index_init(struct match_index *ret_index, const struct graph *g);
void match_index_free(struct match_index *index);
