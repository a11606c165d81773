// The types that a search tries for a variable: those of the box's sizes that the conditions leave which speak of
// nothing else.
#pragma once
#include "instances/enumerate.h"
#include "instances/relation.h"

// Of these ranks, one bit each. Its rows are kept by the typing: valid until typing_trim. Where there are too many the
// enumeration is cut short.
struct relation relation_of_types_to_try(struct enumeration *e, uint32_t variable, uint16_t ranks);
