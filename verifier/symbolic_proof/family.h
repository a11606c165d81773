// All instances of an equation that have the same ranks, element types, lengths of lists, axes, permutations and
// choices, and repeat the same axes: one family, in which sizes and all other attributes are symbols.
//
// What the operators' definitions say at symbols is read off the definitions that they give at numbers: the same
// application is defined at several assignments of large random numbers (*lanes*), and each integer of the definition
// is the polynomial of sizes and attributes that it is in all lanes (docs/theory/symbolic.md, S2). What all well-typed
// instances of the family have in common (S3) makes symbols equal to polynomials of others before that.
#pragma once
#include "core/numbers/random.h"
#include "instances/equation.h"
#include "verifier/inequalities/polys.h"
#include "verifier/symbolic_proof/applications.h"
#include "verifier/symbolic_proof/choices.h"

#define LANES 10
#define MOST_SYMBOLS 160

// The definition of a node, with polynomials for its integers.
struct meaning {
    const struct definition *definition;   // in the first lane
    const poly *integers;                  // of each expression that has one; NO_POLY: it is of no known form
    const poly *extents;                   // of each variable, likewise
    const poly (*dims)[MAX_RANK];          // of each stage, likewise
};
struct list_of_polys {
    uint32_t n;
    const poly *items;
};
struct symbol {
    bool is_one;            // other atoms are none
    const void *asked_by;   // of a quotient: who needs it, and for which entry
    uint32_t entry;
    // Tried in lanes. 0: nothing is far, and it is no size of an image.
    int64_t low, high, far, of_image, n_of_image;
    uint32_t coin;   // the same for all axes that are to be of an image, or of a kernel, together; 0: each has its own
};
struct lane {
    int64_t values[MOST_SYMBOLS];
    struct type variables[MAX_RULE_VARIABLES];
    const struct type *types[MAX_RULE_VARIABLES];
    struct attribute_value attributes[MAX_RULE_VARIABLES];
    struct definition definitions[MAX_RULE_NODES];
};
enum remembers { REMEMBERS_UNASKED, REMEMBERS_CUT, REMEMBERS_NOTHING };
enum repeats { REPEATS_UNASKED, REPEATS_ONE, REPEATS_NONE };
// A row of choices (S1): what all instances of a family have in common.
struct family_outline {
    const struct type *types[MAX_RULE_VARIABLES];      // ranks and element types; NULL: not chosen, or never mentioned
    uint32_t is_chosen;                                // attribute variables, one bit each
    const struct typed_call *calls[MAX_RULE_NODES];    // of these ranks and element types; NULL: none is well-typed
    uint8_t remembers[MAX_RULE_VARIABLES][MAX_RANK];   // enum remembers, of axes that a cut without sizes asks
    uint8_t repeats[MAX_RULE_NODES][MAX_RANK];         // enum repeats, of axes of what a node repeats
};
// Nodes that are well-typed by assumption, and questions of the others (S9).
typedef VEC(poly) poly_list;
struct family_typing {
    node_set assumed;    // all, or those of one side and the guards of a property
    bool asks;           // what typing says is asked, of a node that is not assumed
    bool is_one_sided;   // such a node is well-typed at no sizes
    poly_list zero, not_negative;
};
// Symbols, and equations of them (S3).
struct family_symbols {
    uint32_t n;   // the first atoms of the pool; not all of these are symbols
    struct symbol items[MOST_SYMBOLS];
    poly values[MOST_SYMBOLS];   // by others; NO_POLY: it is free
    VEC(poly) equal_zero;        // as found
    VEC(poly) not_negative;
    bool has_new_equations, has_unsolved;
    bool are_alike;   // in lanes that do not tell known integers apart: others may
};
// Leaves and nodes by symbols.
struct family_meanings {
    poly sizes[MAX_RULE_VARIABLES][MAX_RANK];
    struct list_of_polys attributes[MAX_RULE_VARIABLES];
    struct list_of_polys of_node[MAX_RULE_NODES][MAX_ATTRIBUTES];
    poly cuts[MAX_RULE_NODES];   // size of the first part, of what is cut where it was joined; else POLY_ZERO
    struct meaning nodes[MAX_RULE_NODES];
};
struct family {
    const struct equation *equation;
    struct arena *arena;   // of who builds it
    struct polys *polys;
    struct choices *choices;
    struct typing *typing;
    struct family_outline outline;
    struct family_typing asked;
    struct family_symbols symbols;
    struct family_meanings meanings;
    bool is_impossible;   // typing contradicts itself, so that no instance is of this family; or another stands for it
    bool lacks_lanes;     // no large sizes were found
    node_set undefined;   // well-typed at no sizes that solve what was solved
    struct lane *lanes;   // LANES, and one of small numbers
    struct random random;
    const char *why;   // it could not be built
};
void family_free(struct family *f);
poly family_size(struct family *f, term_id term, int axis);   // may be NO_POLY
bool family_is_impossible(struct family *f);                  // false
bool family_fails(struct family *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
