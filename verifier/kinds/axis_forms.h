// What the definition of an operator says of the axes of its applications of one kind: which have one size wherever
// the application is well-typed, and where the result knows that it was joined.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/table.h"
#include "operators/operator.h"

// An axis is numbered by its tensor (inputs, then the output) times MAX_RANK and its place there.
enum { MOST_FORM_INPUTS = 8, MOST_FORM_AXES = (MOST_FORM_INPUTS + 1) * MAX_RANK };

// Attributes that say axes or are choices have values. Of others the entries may be unknown (`ints` NULL), and how many
// there are (`count` UINT32_MAX), too.
struct application {
    const struct operator* op;
    int n_inputs;
    int ranks[MOST_FORM_INPUTS];
    struct attribute_value attributes[MAX_ATTRIBUTES];
};
enum cut_form { CUT_FORM_UNKNOWN, CUT_FORM_NONE, CUT_FORM_ANY, CUT_FORM_OF_INPUTS };
struct axis_forms {
    bool is_known;                   // else the rest is nothing
    bool is_impossible;              // no inputs of these ranks go with such attributes
    int rank;                        // of the output
    uint8_t like[MOST_FORM_AXES];    // the first axis that always has the same size
    bool is_one[MAX_RANK];           // of the output: one place, whatever the inputs are
    enum cut_form cut[MAX_RANK];     // of the output: where its axis was joined
    uint64_t cut_inputs[MAX_RANK];   // OF_INPUTS: where all of these axes were, one bit each
};

struct axis_forms axis_forms_learn(const struct application *a, struct arena *arena);

// What was learned already.
struct learned_forms {
    struct table by_application;
    VEC(struct application) applications;
    VEC(struct axis_forms) forms;   // of each
    struct arena arena;             // of attributes
};
void learned_forms_free(struct learned_forms *l);
uint32_t learned_forms_of(struct learned_forms *l, const struct application *a, struct arena *arena);   // its index
