// Tables of what parts cost, found by what the parts are.
#pragma once
#include "backends/layouts/layout_internal.h"

struct layout_memory *layout_memory_new(void);
void layout_memory_free(struct layout_memory *memory);

void layout_find_table(struct layout_search *s, struct layout_part *part);
struct layout_table *layout_table_of(const struct layout_search *s, const struct layout_part *part);
