// A property's verdict. It is proved by an argument that speaks of all sizes (with symbols for them, or by hand), and
// it is an axiom where its text says in a sentence why it is true. Either way all instances that are tried have to
// agree, small ones and random far ones.
#pragma once
#include "properties/property.h"
#include "verifier/testing/judge.h"

struct symbolic_prover;

enum property_standing {
    PROPERTY_PROVED,        // by an argument for all sizes
    PROPERTY_AXIOM,         // by the sentence in its text
    PROPERTY_CHECKED,       // no instance differs, and there is no argument
    PROPERTY_REFUTED,       // by an instance
    PROPERTY_NOT_COVERED,   // no instance is among those that are tried
    PROPERTY_STANDINGS,
};
const char *property_standing_name(enum property_standing standing);
const char *property_standing_meaning(enum property_standing standing);   // what follows for the author, a sentence

struct property_verdict {
    enum property_standing standing;
    struct judgement tested;       // of its instances
    uint32_t n_far;                // random instances beyond these
    struct counterexample trial;   // the counterexample among them, if there is one
    const char *law;               // the name of its proof by hand
    uint32_t families;             // of which symbols for sizes prove it
    struct text unknown;           // why they do not
};
void property_verdict_free(struct property_verdict *v);
// A counterexample without text: none is known.
const struct counterexample *property_verdict_counterexample(const struct property_verdict *v);
bool property_verdict_is_good(const struct property_verdict *v);   // proofs may rest on it
// `symbols` may be NULL: nothing but the judge is asked.
struct property_verdict property_verdict_find(const struct property *p, struct judge *judge,
                                              struct symbolic_prover *symbols);
void property_verdict_print(struct text *out, const struct property_verdict *v);   // on one line, without a newline
