// E-matching: the source graphs of all rules as programs of a little machine, joined to a tree in which rules share the
// instructions that they begin with (de Moura and Bjorner, CADE-21, code trees). A program binds e-nodes to the nodes
// of a source graph: the first anywhere, others below what is bound, and those of further source terms above it,
// through the parents of a class that both read: never as a cross product.
//
// Matches are candidates: the operators and what they read agree, and attributes that are constants. Whether the
// rest does is for egraph/instance.h to say.
#pragma once
#include "egraph/egraph.h"
#include "substitutions/rule.h"

struct thread_pool;
struct ematch_instruction;

struct ematcher {
    const struct rule_set *rules;
    struct arena arena;
    struct ematch_instruction *root;
    VEC(struct ematch_program) programs;   // of every rule
    uint32_t depth;                        // no source graph is deeper
    size_t n_unlinked;                     // rules whose source terms share nothing: they are never matched
};
struct ematch_program {
    bool is_linked;
    uint8_t of_variable[MAX_RULE_VARIABLES];   // its register
    uint8_t of_node[MAX_RULE_NODES];           // its slot
};
void ematcher_init(struct ematcher *m, const struct rule_set *rules);   // which stay as they are
void ematcher_free(struct ematcher *m);

// The nodes of a clean e-graph that are neither redundant nor filtered, by operator.
struct eindex {
    const struct egraph *e;
    uint32_t first_of_op[OP_COUNT + 1];
    enode_id *nodes;
    uint64_t *makers;   // of every class: a set that has the operators that make it, and others at times
    size_t n;
};
void eindex_init(struct eindex *ret_index, const struct egraph *e);
void eindex_free(struct eindex *index);

// Candidates, one behind the other: the rule's number, the class of each of its variables, the e-node of each node of
// its source.
typedef VEC(uint32_t) ematches;

struct ematch_search {
    struct ematcher *matcher;   // whose instructions are prepared for each search
    const struct eindex *index;
    const bool *is_used;        // of every rule
    const uint32_t *since;      // of every rule: candidates all of whose classes are older are left out (egraph.epoch)
    const bool *is_root;        // of every e-node: the first source term is matched there only; NULL: anywhere
    uint32_t most_of_rule;      // candidates of a rule that begin at one piece of the nodes
    struct thread_pool *team;   // NULL: this thread alone
    bool may_share;             // nodes below may be one e-node: x + x is x + y, as it is not to the pattern matcher
};
// Matches in an order that does not depend on the number of threads. ret_is_cut: of every rule, whether some were left
// out because of their number (not cleared).
void ematch_search(const struct ematch_search *s, ematches *ret_matches, bool *ret_is_cut);
