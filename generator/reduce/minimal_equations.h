// Substitutions from classes of equal terms: a minimal set that derives the others.
//
// Level by level (by the larger graph's operators) the terms of each class are connected by single rewriting steps with
// the substitutions found so far. Where a class falls into parts, a pair of terms from two parts is no consequence of
// them: it is generalised (prune.h), tested at other sizes and on reals (changed_sizes.h), and becomes a new
// substitution, with which all else is connected anew. So no list of all pairs is ever made.
#pragma once
#include "core/memory/key_set.h"
#include "generator/enumerate/find_classes.h"
#include "generator/other_sizes/changed_sizes.h"
#include "generator/reduce/rewrite.h"

struct equation {
    struct rule_graph graph;
    struct shapes shapes;
    bool is_derivable;   // from other equations: a shortcut
};
struct reduce_counts {
    uint64_t false_sizes;   // false at other sizes
    uint64_t false_reals;   // false on floating-point numbers
};
// Which members of a class are known to be connected: forests over all members, a root stands for a part.
struct parts {
    uint32_t *parent;
    size_t count;
};
uint32_t parts_find(struct parts *p, uint32_t member);
struct reduction {
    struct family_types *family_types;
    const struct findings *findings;
    struct rewrite_rules rules;
    struct evaluation_cache *calls;   // of every thread
    int n_calls;
    // Parts by all equations, and by steps both ways, without conditions on sizes, between terms of equal inputs.
    struct parts parts, firm_parts;
    VEC(struct equation) equations;
    struct reduce_counts counts;
    VEC(uint32_t) first_member;   // of every class; one more ends the last
    struct key_set failed;        // keys of what is false
    struct arena failed_keys;
};
void class_reduction_init(struct reduction *r, struct family_types *u, const struct findings *findings, uint64_t seed,
                          size_t call_bytes);   // call_bytes: of every thread, as evaluation_cache_init has it
void class_reduction_free(struct reduction *r);
struct evaluation_cache *reduction_calls(const struct reduction *r);   // of the thread that asks
void reduction_find_minimal(struct reduction *r, int max_ops);
