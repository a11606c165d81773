// Extraction as an integer linear program: a variable for each node, 1 where it is taken; of each root one node; a node
// that is taken has a node taken in each of its child classes.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct extraction_problem;

enum ilp_form {
    ILP_UNORDERED,   // the paper's constraints (1) to (3), one for each node and child: where there are no cycles
    ILP_ORDERED,     // with (4) and (5), a real order of the classes, within strongly connected components
};
enum ilp_status {
    ILP_OPTIMAL,
    ILP_FEASIBLE,   // stopped by a limit, with a selection
    ILP_STOPPED,    // stopped by a limit, without one
    ILP_INFEASIBLE,
    ILP_FAILED,   // the solver gave up, or there is none
};
struct ilp_question {
    enum ilp_form form;
    double max_seconds;   // 0: no limit; results that it ends depend on the machine
    // Whether it is to end; asked 50 times in a second, while the solver works in a copy of this process. NULL: never.
    bool (*is_interrupted)(void *context);
    void *context;
};

bool ilp_is_available(void);
// ret_choice (n_classes items) is set with OPTIMAL and FEASIBLE only. Without order constraints, where the e-graph has
// cycles, it may be no valid selection. *ret_bound: no selection costs less, as far as the solver's tolerances go;
// -INFINITY when it knows nothing. Without `is_interrupted` Ctrl-C waits until it is done.
enum ilp_status ilp_solve(const struct extraction_problem *p, const struct ilp_question *question, uint32_t *ret_choice,
                          double *ret_bound);
