// Times of a step by some choices, taken here or as jobs of a command, which may be a pool of equal machines.
//
//     taso-run MODEL --try < jobs > answers
//     job      12 <tab> 8f3a0c... <tab> 1.2e-04 <tab> 0 tile (tile p:14 q:2 t:8) <tab> 0 tile (tile p:7 q:2 t:8)
//     answer   12 <tab> 1.1310e-04 0.010 0.0e+00 0 <tab> -
//
// A job is a line: its number, the step by the hash of its key, seconds beside which others are hopeless, and choices,
// each behind its precision, which are compiled together and timed one after the other. Its answer has as many:
// seconds, spread, error, and whether other programs disturbed it; or `-`, where it cannot be had. Answers come in any
// order.
#pragma once
#include "backends/contract/backend.h"
#include <stdio.h>

struct timing {
    char choice[CHOICE_SIZE];
    enum precision precision;
    bool is_had, is_answered;
    struct step_cost cost;
};
typedef VEC(struct timing) timing_list;

uint64_t timings_step_key(struct backend *b, const struct plan *plan, const struct step *step);
// Timed one after the other; after an interruption none is had.
void timings_take(struct backend *b, const struct plan *plan, const struct step *step, timing_list *timings,
                  double best);
// Jobs for a command in a shell, so many timings in each, which are neighbours. False: it fails, or answers something
// else (EXIT_UNSUPPORTED), or the user interrupts it (no error).
bool timings_ask(const char *command, uint64_t step_key, timing_list *timings, size_t of_a_job, double best,
                 struct error *error);
// The work of that command, for steps of this plan. False: a job is none, or its step is none of the plan.
bool timings_answer(struct backend *b, const struct plan *plan, FILE *jobs, FILE *answers, struct error *error);
