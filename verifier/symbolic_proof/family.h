// All instances of an equation that have the same ranks, lengths of lists, axes, permutations and choices: one family,
// in which sizes and all other attributes are symbols.
//
// What the operators' definitions say at symbols is read off the definitions that they give at numbers: the same
// application is defined at several assignments of large random numbers (*lanes*), and each integer of the definition
// is the polynomial of sizes and attributes that it is in all lanes (docs/theory/symbolic.md, S2). What all well-typed
// instances of the family have in common (S3) makes symbols equal to polynomials of others before that.
#pragma once
#include "core/numbers/random.h"
#include "verifier/instances/instance.h"
#include "verifier/symbolic_proof/polys.h"

#define LANES 10
#define MOST_SYMBOLS 96

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
// Where a symbol's value comes from at an instance: a size, an entry of an attribute variable, or a quotient.
enum symbol_source { SYMBOL_NONE, SYMBOL_SIZE, SYMBOL_ATTRIBUTE, SYMBOL_QUOTIENT };
struct symbol {
    enum symbol_source source;
    uint32_t variable, entry;   // SIZE, ATTRIBUTE
    const void *asked_by;       // QUOTIENT: who needs it, and for which entry
    poly dividend, divisor;     // QUOTIENT
    int64_t low, high, far;     // tried in lanes; 0: nothing is far
};
struct lane {
    int64_t values[MOST_SYMBOLS];
    struct type variables[MAX_RULE_VARIABLES];
    const struct type *types[MAX_RULE_VARIABLES];
    struct attribute_value attributes[MAX_RULE_VARIABLES];
    struct definition definitions[MAX_RULE_NODES];
};
struct family {
    const struct equation *equation;
    struct arena *arena;   // of who builds it
    struct polys *polys;
    const struct instance *example;
    uint32_t n_symbols;   // the first atoms of the pool; those of source NONE are none
    struct symbol symbols[MOST_SYMBOLS];
    poly values[MOST_SYMBOLS];   // of symbols, by others; NO_POLY: it is free
    VEC(poly) equal_zero;        // S3, as found
    VEC(poly) not_negative;      // S3
    bool has_new_equations, has_unsolved;
    node_set undefined;   // well-typed at no sizes that solve what was solved
    poly sizes[MAX_RULE_VARIABLES][MAX_RANK];
    struct list_of_polys attributes[MAX_RULE_VARIABLES];
    struct list_of_polys of_node[MAX_RULE_NODES][MAX_ATTRIBUTES];
    struct meaning meanings[MAX_RULE_NODES];
    struct lane *lanes;   // LANES
    struct random random;
    const char *why;   // it could not be built
};
// Memory for the lanes of one family after the other.
struct lane *lanes_make(void);
void lanes_free(struct lane *lanes);
// False: `why` says what is of no known form. `is_symbolic` has a bit for each attribute variable that is not the same
// in the whole family.
bool family_build(struct family *f, const struct equation *eq, const struct instance *example, uint32_t is_symbolic,
                  struct polys *polys, struct lane *lanes, struct arena *arena);
void family_free(struct family *f);
// Of an attribute of which the variable is a part, as it stands. ROLE_NONE: of none.
enum attribute_role family_role_of_variable(const struct pattern *p, uint32_t variable);
bool family_has(const struct family *f, const struct instance *in);   // does it meet what was found?
const struct type *family_type(const struct family *f, const struct lane *lane, term_id term);
poly family_size(struct family *f, term_id term, int axis);   // may be NO_POLY
bool family_fails(struct family *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
// --- parts of it -----------------------------------------------------------------------------------------------------
void family_add_symbols(struct family *f, uint32_t is_symbolic);
poly family_resolved(struct family *f, poly a);   // with the values of symbols that have one
bool family_list(struct family *f, const struct attribute_term *t, struct list_of_polys *ret);   // its value
bool lanes_begin(struct family *f);
// The node in all lanes, or it is left undefined, as are those that read it. False: it has no one form.
bool lanes_define(struct family *f, uint32_t node);
bool family_reads_undefined(const struct family *f, uint32_t node);
bool lanes_agree(struct family *f);   // are all integers in all lanes what they were found to be?
// For the statements of S3.
void family_equal(struct family *f, poly a, poly b);
poly family_quotient(struct family *f, const void *asked_by, uint32_t entry, poly dividend, poly divisor);
void family_add_typing(struct family *f, uint32_t node);   // what the node being well-typed says
