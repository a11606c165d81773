// An e-graph of tensors: sets of applications of operators (e-nodes) that are known to have equal values (e-classes).
//
//   id          names an e-node and, at once, the class that it was made in: class of id = egraph_find(id)
//   nodes       | op, attributes, type, edges | ...       an application on classes, hash-consed
//   edges       | child 0, child 1 of node 0 | ...        canonical after egraph_rebuild; `first` is what was given
//   next        ring of the nodes of a class              parents: a list of edges from each class
//
// A tensor is a class. An application with several outputs is a class of its own (a tuple), and each of its outputs a
// *projection* of it, an e-node without an operator. Types forget split trees: rules are applied as they are proved,
// for axes that remember no concatenation (substitutions/rule.h).
//
// Unions are closed under congruence by egraph_rebuild alone (deferred, as in egg, POPL 2021, Section 3): between a
// union and the next rebuild only egraph_find, egraph_add and egraph_union may be called. Every union keeps its reason
// in a forest over e-nodes, from which egraph_explain reads why two are equal.
//
// Analysis of a class: its type, and whether it is known before the graph runs. Unions of unequal types are refused.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/table.h"
#include "core/memory/vec.h"
#include "operators/operator.h"

typedef uint32_t enode_id;
typedef uint32_t eclass_id;   // canonical where egraph_find(id) == id
#define NO_ENODE UINT32_MAX
#define NO_EDGE UINT32_MAX

struct enode {
    uint32_t op;           // enum operator_id; PROJECTION
    uint32_t attributes;   // interned (egraph_attributes); of a projection: which output
    uint32_t type;         // interned (egraph_type): of a tensor one type, of a tuple several
    uint32_t first_edge, n_children;
    bool is_redundant;   // congruent to another one, which stands for both
    bool is_filtered;    // not to be extracted nor matched: it would close a cycle
};
#define PROJECTION OP_COUNT

struct eedge {
    eclass_id child;   // canonical after a rebuild
    enode_id first;    // as it was given: the e-node that names the child
    enode_id owner;
    uint32_t next;   // edge to the same class; NO_EDGE
};
struct eclass {   // of canonical ids
    uint32_t first_parent, last_parent, n_parents, n_nodes;
    bool is_weight;     // known before the graph runs
    bool is_given;      // a weight as the model has it, or one transposed
    uint32_t changed;   // the epoch in which it last got nodes, or more became known of it
};
struct etype {
    uint32_t count;
    const struct type *types;
};

// Why a union was made.
#define REASON_CONGRUENCE UINT32_MAX
#define REASON_GIVEN (UINT32_MAX - 1)   // by the owner, from the outside
enum union_result { UNION_NEW, UNION_KNOWN, UNION_OTHER_TYPE };

struct efrom {         // an edge of the proof forest
    enode_id parent;   // NO_ENODE: a root
    uint32_t reason;   // REASON_..., or the owner's number
};
// Types and lists of attributes, each once.
struct einterned {
    VEC(struct etype) types;
    VEC(const struct attribute_value *) attributes;
    VEC(uint8_t) attribute_owners;   // the operator of each entry of `attributes`
    struct table type_by_content, attributes_by_content;
};
// Work that the next rebuild has to do.
struct epending {
    VEC(enode_id) nodes;       // whose children may have become other classes
    VEC(eclass_id) analyses;   // classes of which more is known than when their parents were looked at
};
struct egraph {
    struct arena arena;
    VEC(struct enode) nodes;
    VEC(struct eedge) edges;
    VEC(struct eclass) classes;   // of every id; meaningful for canonical ones
    VEC(eclass_id) leader;        // union-find
    VEC(enode_id) next;           // ring of a class
    VEC(struct efrom) forest;
    struct epending pending;
    struct table by_structure;
    struct einterned interned;
    uint32_t epoch;                       // the owner's clock: only ever set forward
    size_t n_classes, n_unions, n_live;   // live: nodes that are not redundant
    bool is_clean;
};

void egraph_init(struct egraph *e);
void egraph_free(struct egraph *e);

// --- building --------------------------------------------------------------------------------------------------------
// The e-node for an application (new, or as it was found): a tensor where the type has one, else a tuple.
enode_id egraph_add(struct egraph *e, const struct operator* op, uint32_t attributes, uint32_t type,
                    uint32_t n_children, const enode_id *children);
// An output of an application: itself where it has only one.
enode_id egraph_add_output(struct egraph *e, enode_id application, uint32_t output);
// Equal values from here on, unless types tell otherwise.
enum union_result egraph_union(struct egraph *e, enode_id a, enode_id b, uint32_t reason);
void egraph_rebuild(struct egraph *e);   // closes under congruence
void egraph_filter(struct egraph *e, enode_id n);

// --- reading ---------------------------------------------------------------------------------------------------------
static inline eclass_id egraph_find(const struct egraph *e, enode_id n)
{
    while (e->leader.items[n] != n)
        n = e->leader.items[n];
    return n;
}
static inline const struct eedge *egraph_edges(const struct egraph *e, enode_id n)
{
    return e->edges.items + e->nodes.items[n].first_edge;
}
static inline const struct operator* egraph_operator(const struct egraph *e, enode_id n)
{
    return e->nodes.items[n].op == PROJECTION ? NULL : operators[e->nodes.items[n].op];
}
// The type of a tensor.
static inline const struct type *egraph_type(const struct egraph *e, enode_id n)
{
    return e->interned.types.items[e->nodes.items[n].type].types;
}
static inline const struct attribute_value *egraph_attributes(const struct egraph *e, enode_id n)
{
    return e->interned.attributes.items[e->nodes.items[n].attributes];
}
static inline bool egraph_is_tensor(const struct egraph *e, enode_id n)
{
    return e->interned.types.items[e->nodes.items[n].type].count == 1;
}
// Goes around the live nodes of a class, from the class's own id; NO_ENODE at the end.
enode_id egraph_first_node(const struct egraph *e, eclass_id c);
enode_id egraph_next_node(const struct egraph *e, eclass_id c, enode_id n);
// The class of an output of an application, canonical; NO_ENODE: nobody asked for it yet. Needs a clean e-graph.
eclass_id egraph_find_output(const struct egraph *e, enode_id application, uint32_t output);
size_t egraph_memory(const struct egraph *e);   // bytes

// --- why -------------------------------------------------------------------------------------------------------------
