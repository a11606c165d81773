// Constants of one model that are concatenations of constants, as merged operators read them: found by content, bit for
// bit, so that rules that take merged operators apart again have something to hold on to.
#pragma once
#include "compare/constants.h"
#include "compare/nestings.h"

// Could a tensor of one type be a part of another one's, of up to `left` entries along an axis?
bool type_is_part(const struct type *whole, const struct type *part, int axis, int64_t left);
// A weight that only one of the models has, and that is not yet known to be a concatenation, becomes one in all
// nestings of two, where constants of the e-graph are found for it: along an axis the largest that begins it, and so
// on. Needs a clean e-graph, and leaves one. False: nothing was added.
bool concatenations_join(const struct constants *k, const struct shared_classes *shared);
