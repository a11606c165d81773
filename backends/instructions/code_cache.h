// Codes of applications, found by operator, attributes and input types; shared by many plans.
#pragma once
#include "backends/instructions/code.h"
#include "graph/graph.h"

struct code_cache *code_cache_new(void);
void code_cache_free(struct code_cache *cache);
const struct code *code_cache_find(struct code_cache *cache, const struct graph *g, node_id node);   // never NULL
