// What has to be proved of an equation: one sentence for each combination of ranks and lengths ("kind") that it has
// instances of.
//
// A prover knows no sizes. What typing makes equal, such as a number of groups and a quotient of channels, it is told
// as *facts*: pairs of attributes that are equal at every instance that was heard. Small instances alone would make
// facts of what only small sizes make equal (a window that is dilated does not fit on a small image), so the instances
// of a rule are those that the direct proof compares, up to the bounds that it argues for; a counterexample is one of
// them.
#pragma once
#include "verifier/entailment/sentences.h"
#include "verifier/kinds/kinds.h"

#define MAX_SENTENCE_KINDS 256
struct obligations {
    struct logic *logic;
    const struct equation *equation;
    bool is_axiom;
    struct sentence_list *list;   // grows
    size_t first;                 // of this equation's sentences
    uint32_t n_kinds;
    uint64_t kinds[MAX_SENTENCE_KINDS];
    struct observed_attributes *attributes[MAX_SENTENCE_KINDS];   // of obligations of rules
    bool has_failed;
    bool has_no_facts;
    struct met_kinds heard;   // of rules
    struct {
        struct met_kinds heard;
        uint32_t n_kinds;
        size_t end;   // of the sentences
        bool has_failed;
    } mark;
};
// The sentences are added to `list`; all pointers must stay until the end.
void obligations_begin(struct obligations *o, struct logic *l, const struct equation *eq, bool is_axiom,
                       struct sentence_list *list);
void obligations_free(struct obligations *o);
void obligations_hear(struct obligations *o, struct instance *in);   // its nodes are all typed
// Forgets the instances that were heard since the mark, to hear others.
void obligations_mark(struct obligations *o);
void obligations_return_to_mark(struct obligations *o);
// What was equal at the instances heard is no fact: they are not all up to the bounds.
void obligations_drop_facts(struct obligations *o);
// False: there is no instance, or one that cannot be stated, or there may be some of another kind (T15).
bool obligations_end(struct obligations *o, struct learned_forms *learned);

// All at once: from small instances for axioms and strong equations, of which facts are not asked, and for rules from
// those that the judge would compare.
bool obligations_find(struct logic *l, struct judge *j, const struct equation *eq, bool is_axiom,
                      struct sentence_list *list);
