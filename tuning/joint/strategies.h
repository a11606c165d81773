// Strategies of a joint search, as its functions GenerateCandidates and SelectCandidates (XTAT, Table I):
//
//     exhaustive   each other value of each node in turn, the heaviest first, from the best so far; over once a round
//                  gains nothing
//     annealing    one node of the current candidate changes, and, hot, sometimes more; the new one is taken if it
//                  costs less, or with exp(-difference / temperature), which is counted in the typical difference of
//                  all so far; cold, it is heated anew
//     evolution    the 100 most recent are parents; each wins a tournament of two; crossed by 0.2, mutated by 0.01
//     model        evolution, of whose children that one is taken which costs least by a ridge regression on settings;
//                  it is believed where the cross-validated R is at least 0.4
//
// Temperatures fall by steps, not by time: the same seed and the same costs give the same candidates.
#pragma once
#include "core/numbers/random.h"
#include "tuning/joint/configuration.h"

struct strategy;
struct strategy *strategy_new(enum strategy_kind kind, const struct joint_candidate *start, uint64_t seed);
void strategy_free(struct strategy *s);
// A new candidate, with another configuration of that pass, that need not fit the later passes. False: all was tried.
bool strategy_generate(struct strategy *s, const struct joint_candidate *best, size_t pass,
                       struct joint_candidate *ret);
void strategy_select(struct strategy *s, const struct joint_candidate *evaluated);   // one that was generated
// Configurations that were evaluated take so many times as much since, for a reason that no configuration has.
void strategy_rescale(struct strategy *s, double ratio);
