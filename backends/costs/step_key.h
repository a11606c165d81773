// By what the cost database knows a step of a plan on a device, and the costs that were found so far.
#pragma once
#include "backends/contract/backend.h"
#include "core/text/text.h"

struct step_key {
    struct text text;
    int n_parts;   // that the step has, each of which costs what the database says
};

// The cost of a step in the best of its choices of each precision.
struct step_prices {
    bool is_taken_back;                  // its inexact choices (backend_take_back)
    bool is_expected[N_PRECISIONS];      // some choices were made ready
    struct step_cost of[N_PRECISIONS];   // seconds 0: not asked for yet; INFINITY: there is none
};
