// An equation to be proved: pairs of terms of one pattern that shall be equal. Rules and properties both become one.
#pragma once
#include "properties/property.h"

struct equation {
    const char *name;
    const struct pattern *pattern;
    uint32_t n_pairs;
    const term_id *left, *right;
    uint32_t n_conditions;   // assumed
    const struct condition *conditions;
    uint32_t n_guards;   // terms assumed to be well-typed
    const term_id *guards;
    uint32_t plain;   // variables assumed to have no split trees, one bit each
    // Strong (Kleene) equality, of properties: one side alone being well-typed refutes it, and split trees are
    // compared. Otherwise, for rules: every term of the pattern is assumed to be well-typed, as the optimizer has
    // checked.
    bool is_strong;
};

// A set of a pattern's nodes, one bit each.
__extension__ typedef unsigned __int128 node_set;
_Static_assert(MAX_RULE_NODES < 128, "a node_set has a bit for each node");
// A set of sizes of an axis is a uint32_t: bit n for size n.
#define MAX_TESTED_SIZE 31
#define SIZES_UP_TO(n) ((2u << (n)) - 2)

// Which sides must be well-typed.
enum wanted_sides { WANTED_LEFT = 1, WANTED_RIGHT = 2, WANTED_BOTH = 3 };

struct equation equation_of_rule(const struct rule *r);
struct equation equation_of_property(const struct property *p);
// The nodes that the term is made of.
node_set equation_nodes_of_term(const struct pattern *p, term_id term);
node_set equation_nodes(const struct equation *eq);                                // all
node_set equation_nodes_of_side(const struct equation *eq, const term_id *side);   // eq->left or eq->right
node_set equation_nodes_of_pairs(const struct equation *eq);                       // of both
// The nodes that are well-typed where these sides are, and all that is assumed.
node_set equation_required_nodes(const struct equation *eq, enum wanted_sides wanted);
// Tensor variables, one bit each: those whose sizes or ranks are mentioned, and those that the node depends on at all.
uint32_t equation_variables_of_term(const struct attribute_term *t);
uint32_t equation_variables_of_condition(const struct condition *c);
uint32_t equation_variables_of_attributes(const struct pattern_node *node);
uint32_t equation_variables_of_node(const struct pattern *p, uint32_t node);
// Attribute variables, one bit each, that are mentioned: in the term, in the node's attributes.
uint32_t attribute_variables_of_term(const struct attribute_term *t);
uint32_t attribute_variables_of_node(const struct pattern_node *node);
// The size that a condition names of the axis; 0: none does.
int64_t equation_size_by_condition(const struct equation *eq, uint32_t variable, int axis);
// The axes of the tensor variable whose sizes matter to anything, one bit each: all, if an operator reads it.
uint32_t equation_axes_asked_for(const struct equation *eq, uint32_t variable);
// The node's attribute with that role; an empty list where it has none.
const struct attribute_pattern *pattern_node_attribute(const struct pattern_node *node, enum attribute_role role);
// The first attribute of the node that is the variable; -1: none is it alone. And that of a pattern; NULL: none.
int node_attribute_of_variable(const struct pattern_node *node, uint32_t variable);
const struct attribute *pattern_attribute_of_variable(const struct pattern *p, uint32_t variable);
