// Which equations the theorems of docs/theory/soundness.md speak of: "these finitely many instances suffice" is proved
// there of what the list of requirements in theorems.c names, and of nothing else. An equation that meets all of them
// may be called proved once its instances are equal; one that does not is only tested, with the first requirement that
// it fails as the reason.
#pragma once
#include "verifier/bounds/bounds.h"

struct text;

enum theorems_asked {
    THEOREMS_OF_LAWS,    // that numbers are real ones, and of one type on both sides: laws that are proved by hand, too
    THEOREMS_OF_KINDS,   // that the ranks and lengths of lists which are tried stand for all: any proof relies on that
    THEOREMS_OF_ALL,     // that sizes and attributes do, too: what a direct proof relies on
};
// What the requirements look at.
struct form_question {
    const struct equation *eq;
    int max_rank;                  // tensors of ranks up to this one are tried
    const struct bounds *bounds;   // what the analysis of the instances showed; of THEOREMS_OF_ALL
    struct text *why;              // gets the reason of a requirement that is not met
};
// False: `ret_why` says what no theorem speaks of, and which one comes nearest: "... (T7)".
bool theorems_cover(const struct equation *eq, int max_rank, const struct bounds *bounds, enum theorems_asked asked,
                    struct text *ret_why);
// THEOREMS_OF_LAWS or THEOREMS_OF_KINDS, of who does not want to know why.
bool theorems_cover_text(const struct equation *eq, enum theorems_asked asked);
