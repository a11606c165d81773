// Choices by number, and the parts of a plan's cost with the choices that each depends on.
#pragma once
#include "backends/layouts/layout_internal.h"

void layout_number_choices(struct layout_search *s);
void layout_find_parts(struct layout_search *s);
uint32_t layout_choice_of(const struct layout_search *s, tensor_id t);   // NO_LAYOUT_PART: it is none
uint32_t layout_choice_of_memory(const struct layout_search *s, memory_id m);
// The part that a step of any plan of this graph belongs to, or NO_LAYOUT_PART.
uint32_t layout_part_of_step(const struct layout_search *s, const struct step *step);
uint32_t layout_find_need(const struct layout_search *s, tensor_id t, node_id node);
