// Axes that a kernel runs over, and the strides of its tensors along them.
#pragma once
#include "backends/planning/plan.h"
#include "core/text/text.h"

struct nest {
    char letter;   // of the places on the axes in the text: i0, i1, ...
    int n, n_accesses;
    struct words
        *told;   // sizes and distances that the text names n[...], as the kernel is told them; NULL: it has them
    int64_t dim[LOOP_MAX_RANK];
    int64_t *stride[LOOP_MAX_RANK];   // of every access
};
// Axes first .. first + n of a loop; the accesses are its operands, then its results.
struct nest nest_of_loop(const struct loop *loop, int first, int n, char letter, struct arena *arena);
// Drops axes of size 1, and joins neighbours that every access goes through as through one; the second one puts axes in
// order of falling strides of access `leading` before that.
void nest_join(struct nest *nest);
void nest_simplify(struct nest *nest, int leading);
int64_t nest_places(const struct nest *nest);
// "const index i2 = place % 7; ..." from the variable `linear`.
void nest_add_places(const struct nest *nest, struct text *out, const char *linear);
// " + i0 * 42 + i1" for an access.
void nest_add_offset(const struct nest *nest, struct text *out, int access);
