// Z3 for all families of a rule: making it takes longer than most questions.
#pragma once
#include "core/memory/vec.h"
#include <stdbool.h>
#include <z3.h>

struct z3_session {
    Z3_context z3;                  // NULL: not yet
    Z3_solver of_one_after_other;   // NULL: not yet
    VEC(struct z3_answer {
        Z3_ast claim;
        bool contradicts;
    })
    answers;   // families often ask the same
};
Z3_context z3_session_context(struct z3_session *session);
// The solver for questions that have much in common, on levels of which who asks pops its own. `steps` are for each.
Z3_solver z3_session_solver(struct z3_session *session, unsigned steps);
void z3_session_end(struct z3_session *session);
// Is the claim never true? False: it may be, or so many steps are not enough. Equal claims are asked once.
bool z3_session_contradicts(struct z3_session *session, Z3_ast claim, unsigned steps);
