// The values of one stage of a definition in a kernel's text: v0, v1, ... at the place i0, i1, ... on the stage's axes
// and n0, n1, ... of the variables that are reduced over. Operands and results stand in any way.
#pragma once
#include "backends/generated/kernel_text.h"

struct definition_text {
    struct kernel_text k;
    struct arena *arena;
    const struct definition *d;
    const struct stage *stage;
    const struct view *views;   // of inputs, then of stages
    int *names;                 // of expressions: v7; -1: not in scope
    VEC(expr) in_scope;         // in the order in which they got their names
    int n_names;
    bool is_failed;
};
bool holds_whole_numbers(enum dtype dtype);
int definition_text_value(struct definition_text *w, expr e);                        // the number of its name
int definition_text_read(struct definition_text *w, const struct expr_node *read);   // of a name that has no scope
void definition_text_leave(struct definition_text *w, size_t mark);                  // what is in scope since then
// The value at this place, through the epilogue where there is one.
void definition_text_store(struct definition_text *w, int stage, const struct loop *epilogue, int value);
bool definition_text_has_wide_index(const struct definition_text *w);
