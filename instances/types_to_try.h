// The types that a search tries for a variable: those of the box's sizes that the conditions leave which speak of
// nothing else.
#pragma once
#include "instances/enumerate.h"

struct types_to_try {
    uint32_t count;
    const type_id *items;
};
// Finds types of these ranks, one bit each, in e->scratch. The enumeration is cut short where there are too many.
void types_to_try_find(struct enumeration *e, uint32_t variable, uint16_t ranks, struct types_to_try *ret_types);
