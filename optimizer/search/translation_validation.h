// Translation validation: an application of a rule is checked once more at the very shapes at which it is made. Some
// entries of each replaced tensor are computed over the prime field, by the source and by the target, from
// pseudo-random entries of the tensors that the rule's variables stand for; nothing is stored, so that tensors may be
// of any size. The same rule at the same shapes and attributes is checked once. That the nodes of the match are the
// rule's source graph in the first place is checked each time.
#pragma once
#include "core/memory/arena.h"
#include "graph/sizes.h"
#include "optimizer/search/memo.h"
#include "substitutions/match.h"

//
// An application in a model with symbols is made and checked at the other probes, too (graph/sizes.h): it is general
// if its conditions hold at all of them, both sides are typed, and each attribute is one function of the symbols.
enum verdict {
    VERDICT_EQUAL,
    VERDICT_DIFFERENT,
    VERDICT_TOO_COSTLY,
    VERDICT_UNTYPED,
    VERDICT_NO_MATCH,
    VERDICT_NOT_GENERAL,
    VERDICT_NOT_EXACT,   // of a strict validator: not known to keep every bit, or in a model with symbols
};

struct validator {
    struct arena scratch, arena;
    struct memo memo;
    struct encoding words;
    const struct sizes *sizes;   // of the model's symbols; NULL: it has none
    bool is_strict;              // only what keeps every bit is equal
    uint64_t checked, repeated, too_costly, not_general;
};
void validator_init(struct validator *v);
void validator_free(struct validator *v);
// The verdict on a match of `g`. One that cannot be applied is no difference; one whose nodes of `g` are not the source
// graph is none.
enum verdict validator_judge(struct validator *v, const struct match *m, const struct graph *g);
// An application that would take too long to validate rests on the rule's proof; without one it is not to be made.
bool verdict_is_left_to_proof(enum verdict verdict, const struct rule *r);
