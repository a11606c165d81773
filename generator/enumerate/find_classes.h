// The terms of a family sorted into classes of equal value.
//
// The last level is never stored: its applications are visited, evaluated, and only (fingerprint, application) is kept,
// and that only for the slices of the fingerprint space that are asked for. So memory is bounded by the number of
// slices taken at once, and several processes can each take some.
//
// Classes that are each other's renamings are kept as one, whose support is first (inputs.h) and whose smallest member
// is canonical. So of the last level only terms are evaluated whose arguments depend on the first inputs of each type:
// the rest of a class are renamings of its terms. (A class of one term and its renamings, which do not depend on an
// input, stands for no substitution and is left out.)
//
// A class keeps the terms that are no detour: a term that has its own value in its closure, say x * I, stands for
// nothing that its part does not; it is kept only where that part is a leaf, as half of "x * I = x".
#pragma once
#include "generator/enumerate/key.h"

struct progress;

enum { FINGERPRINT_SLICES = 1024 };

// Counts of what was seen, for the report; those of different slices add up.
struct class_counts {
    uint64_t terms;         // leaves included; with all renamings, as are classes and pairs
    uint64_t classes;       // of two or more terms
    uint64_t pairs;         // of different terms of one class: substitutions before any pruning, both directions
    uint64_t renamed;       // of those, in classes that are renamings of others
    uint64_t detours;       // of the rest, with a term that has its own value in its closure, or no key
    uint64_t unconfirmed;   // terms of equal fingerprints and different values
};
struct found_member {
    uint32_t class;   // the members of a class stand together, by ascending level and key
    uint8_t level;
    struct key key;
};
struct findings {
    struct class_counts counts;
    VEC(struct found_member) members;
    uint32_t n_classes;
};
void findings_free(struct findings *f);
void findings_move(struct findings *sum, struct findings *part);   // the same; nothing is left in the part

// The number of terms of the last level, which visits it.
uint64_t classes_count_last_terms(const struct tensor_store *s);
// Adds what is found in the slices [first, end). The same whatever the number of threads. False: interrupted.
bool findings_collect(const struct tensor_store *s, int first, int end, struct progress *progress, struct findings *f);
