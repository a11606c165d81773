// Kinds of instances: the ranks of an equation's variables, and the values of its attributes that have an end (axes,
// sets of axes, permutations, choices). What is argued of sizes is argued of the kinds that were met at small ones, so
// that a kind which has only larger instances must not go unmet (T15).
#pragma once
#include "core/memory/table.h"
#include "verifier/instances/instance.h"
#include "verifier/kinds/axis_forms.h"

struct met_kinds {
    uint32_t read, with_end;    // variables of tensors and attributes that kinds differ in
    struct table met;           // hashes alone
    uint64_t last;              // met
    node_set repeating;         // nodes whose repeated axes are told apart, too
    struct table met_repeats;   // hashes of kinds with these
};
void kinds_begin(struct met_kinds *k, const struct equation *eq);                // none of it is met
void kinds_tell_repeats_apart(struct met_kinds *k, const struct equation *eq);   // follows kinds_begin
void kinds_free(struct met_kinds *k);
void kinds_copy(struct met_kinds *ret_copy, const struct met_kinds *k);
void kinds_note(struct met_kinds *k, const struct instance *in);
// Has every kind of ranks up to `max_rank` been met that there may be instances of? Those of a property have one side
// that is well-typed.
bool kinds_are_met(const struct met_kinds *k, struct learned_forms *learned, const struct equation *eq, int max_rank);
// Of each kind that was met, have axes been met repeated, and not, in all ways that there may be?
bool kinds_have_all_repeats(const struct met_kinds *k, struct learned_forms *learned, const struct equation *eq,
                            int max_rank);
