// What operators of windows ask of types, as polynomials of sizes and of the entries of attributes: all indeterminates
// are at least 0, a size is one more than such a one.
#pragma once
#include "operators/window.h"
#include "verifier/instances/equation.h"
#include "verifier/polynomials/polynomial.h"

#define MAX_ENTRIES 16   // of a list
#define MAX_DEMANDS 256
#define MAX_STEPS 64   // quotients

// A list of numbers that depend on sizes and attributes; its length does not.
struct entries {
    uint32_t count;
    polynomial items[MAX_ENTRIES];
};

enum demand_kind {
    AT_LEAST_ZERO,   // a
    IS_EVEN,         // a
    IS_EQUAL,        // a and b
    MEETS_IMAGE,     // a kernel of more than one entry, a + 1, is dilated by no more than fits: b is at least 0
};
struct demand {
    enum demand_kind kind;
    polynomial a, b;
};

// What some nodes ask for, at one rank and at one value of each axis that is a variable.
struct demands {
    const struct equation *eq;
    struct polynomial_pool *pool;
    int rank;
    int64_t axes[MAX_RULE_VARIABLES];
    uint32_t axis_variables;
    polynomial sizes[MAX_RULE_VARIABLES][MAX_RANK];   // of variables
    polynomial of_nodes[MAX_RULE_NODES][MAX_RANK];
    uint32_t count;
    struct demand items[MAX_DEMANDS];
    bool is_impossible;   // the nodes are not well-typed at this rank and these axes
    bool is_beyond;       // it is not known what they ask for
    bool has_changed;     // a size was found to be another
    struct steps {
        uint32_t count;
        polynomial room[MAX_STEPS], stride[MAX_STEPS];
    } * steps;
};

// How many entries an attribute of windows has for each spatial axis, and the least value of these.
struct window_list {
    enum attribute_role role;
    uint32_t per_axis;
    int64_t least;
};

polynomial demands_add(struct demands *d, polynomial a, polynomial b);
polynomial demands_subtract(struct demands *d, polynomial a, polynomial b);
polynomial demands_multiply(struct demands *d, polynomial a, polynomial b);
bool demands_is_number(const struct polynomial_pool *p, polynomial a, int64_t *ret_n);
bool demands_is_never_negative(const struct polynomial_pool *p, polynomial a);
polynomial demands_size(struct demands *d, uint32_t v, int axis);
// Entry i of an attribute variable whose entries are at least that.
polynomial demands_entry(struct demands *d, uint32_t variable, uint32_t i, int64_t least);
// How many whole strides the room has.
polynomial demands_steps(struct demands *d, polynomial room, polynomial stride);

// What is always met is not written down.
void demands_ask(struct demands *d, enum demand_kind kind, polynomial a, polynomial b);
// Of two sizes one is put in the place of the other, where one is a variable's: `has_changed` says so.
void demands_ask_equal(struct demands *d, polynomial a, polynomial b);

// The list that the variable is, alone, of one of the nodes; NULL: of none.
const struct window_list *demands_find_list(const struct pattern *p, node_set nodes, uint32_t variable,
                                            bool *ret_is_whole);
// Is the variable an input of one side? All that operators of windows read and make has one rank.
bool demands_reads(const struct equation *eq, int64_t variable);
void demands_evaluate(struct demands *d, const struct attribute_term *t, struct entries *ret);
// The entries of an attribute, `standard` each where it is left out.
void demands_evaluate_attribute(struct demands *d, uint32_t node, enum attribute_role role, uint32_t length,
                                int64_t standard, struct entries *ret);
