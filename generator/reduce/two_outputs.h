// The terms that substitutions with two outputs are made of (join.h): those of classes in which some term, a *target*,
// has an input that its value does not need. *Sources* are the terms of such a class that have no such input: one that
// has is a source with an idle input, which rules of one output take away.
//
// Terms of one class are in one *group* when rules of one output lead from each to each other: parts that are connected
// by steps in both directions, and equal sets of inputs. A group's terms stand side by side.
//
// Targets are kept under all renamings, and found by the pairs of operators in them: two that stand in one graph of N
// operators share two, unless one of them is small.
#pragma once
#include "generator/reduce/minimal_equations.h"

// A term that is one of two outputs, under some renaming.
struct half {
    struct key key;
    uint32_t leaves;
    uint8_t n_nodes, starts[MAX_OPS], lengths[MAX_OPS];   // of the different applications in it
    uint64_t node_hashes[MAX_OPS], node_bits;
};
struct known_term {
    uint32_t member, leaves;
    uint32_t group;   // the first one in `terms`
};
struct known_class {
    uint32_t needed;   // the inputs that the value needs: the sources'
    uint32_t first_source, first_target, end;
};
struct renamed_target {
    struct half half;
    uint32_t class, term;
    uint8_t order[MAX_LEAVES];
};
typedef VEC(uint32_t) target_list;
struct two_outputs_terms {
    const struct family *family;
    const struct found_member *members;
    int max_ops;
    VEC(struct known_class) classes;
    VEC(struct known_term) terms;
    VEC(struct renamed_target) targets;   // by the number of their keys
    VEC(target_list) with_pair;           // by the number of the pair's key, the hashes of two operators
    struct key_set known_targets, pairs;
    struct arena keys;
};
void two_outputs_terms_init(struct two_outputs_terms *j, struct reduction *r, int max_ops);   // finds them all
void two_outputs_terms_free(struct two_outputs_terms *j);
void two_outputs_make_half(const struct two_outputs_terms *j, uint32_t term, const uint8_t *order,
                           struct half *ret_half);
extern const uint8_t two_outputs_same_order[MAX_LEAVES];   // every input is itself
// Calls `visit` for targets that may stand in one graph with this one, some of them more than once, and not for all
// that this one would be visited for.
typedef void partner_fn(void *context, const struct renamed_target *partner);
void two_outputs_visit_partners(const struct two_outputs_terms *j, const struct half *target, partner_fn *visit,
                                void *context);
// Nodes of two terms together; more than `limit`: limit + 1.
int two_outputs_count_nodes(const struct half *a, const struct half *b, int limit);
// At most `max_ops` nodes, and neither term is part of the other?
bool two_outputs_go_together(const struct half *a, const struct half *b, int max_ops);
