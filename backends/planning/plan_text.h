// The identity of a step, as words to be hashed and as text: the same facts in the same order.
#pragma once
#include "backends/planning/plan.h"

// The facts that the cost of a step depends on: kernel, operator and attributes, dimensions, element types, strides,
// what is constant, the code of its loops. Equal words, equal text, equal work; the text is for people, the words for
// speed.
void step_encode(const struct plan *plan, const struct step *step, struct words *ret_words);
void step_print(struct text *out, const struct plan *plan, const struct step *step);
// The step for people: its choice, where that is not the standard one, its operators, and the end of a line.
void step_print_line(struct text *out, const struct plan *plan, const struct step *step);
// The name by which databases know a step: the same for element-wise loops that read, compute and write the same in
// another order. Gives the number of parts that the step has; of those with the same key, each part is taken to cost
// the same.
int step_print_key(struct text *out, const struct plan *plan, const struct step *step);
void plan_print(struct text *out, const struct plan *plan);   // for people: one line per step
