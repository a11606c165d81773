// The ways in which a device can run a step, beside its standard one, by their texts: a library's engine, an algorithm,
// a schedule of a generated kernel. A choice is kept with the step's cost and in compiled models.
//
// An exact choice computes what the standard way does, but for the order of sums and the last place of functions. The
// error of an inexact one is measured (step_cost), and what all of a model do to its outputs
// (optimizer/run/prepare_within.h).
#pragma once
#include "core/memory/vec.h"

#define CHOICE_SIZE 192
enum precision { PRECISION_EXACT, PRECISION_INEXACT, N_PRECISIONS };
struct listed_choice {
    char text[CHOICE_SIZE];   // "": the standard way
    enum precision precision;
};
typedef VEC(struct listed_choice) choice_list;

// The choices by which a model's steps run, known by the texts of these (step_print).
struct step_choice {
    const char *step, *choice;
    double error;   // of an inexact one; 0: exact
    double gain;    // seconds that an inexact one saves in all (backend_list_choices)
};
typedef VEC(struct step_choice) step_choices;
