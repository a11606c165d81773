// Entailment: does a rule follow from the properties? Decided by Z3 without looking at shapes (TASO paper, Section 3).
//
// One theory serves one thread. Each obligation is refuted or given up after a number of steps (not seconds, so that
// results repeat), by a solver of its own that knows only the axioms that may take part. "Unknown" is never taken for a
// proof.
#pragma once
#include "properties/property.h"
#include "verifier/entailment/obligations.h"
#include "verifier/entailment/relevance.h"

struct theory;

// The properties as sentences, made once for all threads, without those of other than real numbers or with functions
// that are not defined everywhere (text/numbers.h). `properties` must stay.
struct axioms {
    const struct property_set *properties;
    struct logic logic;
    struct sentence_list sentences;
    VEC(struct triggers) triggers;   // of each
};
void axioms_make(struct axioms *ret_axioms, const struct property_set *properties);
void axioms_free(struct axioms *axioms);

enum entailment_status {
    ENTAILMENT_PROVED,
    ENTAILMENT_UNKNOWN,
    ENTAILMENT_UNSTATED,   // no first-order sentence: an application or a list is too long
};
struct entailment {
    enum entailment_status status;
    double seconds;
    uint32_t obligations;    // more than one: for each rank of images
    bool ran_out_of_steps;   // where it is unknown: otherwise more of them would say no more
    uint32_t n_uses;
    const char *uses[64];   // names of the properties in the proofs
    uint32_t n_axioms;
    const char *axioms[64];   // those of them that are axioms
};

// The axioms must outlive the theory.
struct theory *theory_make(const struct axioms *axioms, unsigned step_limit);
void theory_free(struct theory *t);
// Does the equation, as an obligation, follow? Forgets what was asked before. `without` (may be NULL): properties that
// must not be used.
struct names {
    const char **items;
    uint32_t count;
};
struct entailment theory_prove(struct theory *t, const struct equation *eq, const struct names *without);
// Does it follow, beside what was asked since all was forgotten? Of the same terms Z3 knows the axioms then.
void theory_forget(struct theory *t);
bool theory_proves_beside(struct theory *t, const struct equation *eq);
// Proves with this part of the steps.
struct entailment theory_prove_within(struct theory *t, const struct equation *eq, unsigned part);
// Do the properties make two tensors equal that differ in nothing but their values, where the named one has instances?
// (An equational theory always has a trivial model: this is what a contradiction means.) One of those that ret_core
// names is false then.
bool theory_contradicts(struct theory *t, const char *name, struct entailment *ret_core);
// The obligations of a proved equation as SMT-LIB 2, each with the axioms that the proof used: `unsat` confirms it.
// Gives the number of texts written (into empty texts of the caller), at most `capacity`.
uint32_t theory_print_smt2(struct theory *t, const struct equation *eq, const struct entailment *proof,
                           struct text *ret_texts, uint32_t capacity);
