// A substitution evaluated at given sizes and attribute values, many times: what does not change is looked up once.
#pragma once
#include "generator/enumerate/evaluation_cache.h"
#include "generator/enumerate/rule_graph.h"

enum { MAX_SIZES = 64, MAX_ASSIGNMENTS = 3 };

// Sizes in a rule: each axis of a variable, each entry of a constant's shape, and of attributes that are sizes.
enum size_kind { SIZE_OF_VARIABLE, SIZE_OF_CONSTANT, SIZE_OF_ATTRIBUTE };
struct size_place {
    uint8_t kind;
    uint8_t owner;       // variable, leaf or node
    uint8_t attribute;   // ATTRIBUTE: its number
    uint8_t entry;       // axis, or entry of the list
    int32_t base;
};
struct shapes {
    int n;
    struct size_place places[MAX_SIZES];
    int8_t class_of[MAX_SIZES];   // -1: fixed
    int32_t other[MAX_SIZES];     // of each class: a size other than the base at which the rule holds
    int n_classes;
    bool needs_condition[MAX_SIZES];
    // Mixed assignments at which the rule holds: how many steps from its base to its other size each class goes.
    int n_assignments;
    uint8_t steps[MAX_ASSIGNMENTS][MAX_SIZES];
};

// The place at which the sizes of an owner begin, or those of an attribute of it; they stand together, but for those
// that MAX_SIZES leaves out. -1: it has none.
int shapes_find(const struct shapes *s, int kind, int owner, int attribute);

struct size_test {
    const struct rule_graph *rg;
    const struct shapes *shapes;
    struct evaluation_cache *calls;
    bool is_trusting;                                                       // what is well-typed is taken to be equal
    uint8_t order[MAX_RULE_GRAPH_NODES], n_until[MAX_RULE_GRAPH_OUTPUTS];   // the nodes, and how many each output needs
    uint8_t first_place[MAX_RULE_GRAPH_VARIABLES];                          // of each variable's axes among the sizes
    const struct call_setting *fixed[MAX_RULE_GRAPH_NODES];                 // NULL: its attributes hold sizes
};
// A node with other attribute values than the graph's.
struct setting_override {
    int node;
    const struct call_setting *setting;
};
// `shapes` is read for its places. All three are kept, not copied.
void size_test_init(struct size_test *t, const struct rule_graph *rg, const struct shapes *shapes,
                    struct evaluation_cache *calls);
enum verdict { VERDICT_ILL_TYPED, VERDICT_UNEQUAL, VERDICT_EQUAL };
// Do source and target agree on field elements? `sizes` has one for every place.
enum verdict size_test_judge(struct size_test *t, const int64_t *sizes, const struct setting_override *overrides,
                             int n_overrides);
// The same on reals, in so many draws, and in more until so many entries are compared; in CALL_DRAWS at most.
bool size_test_holds_on_reals(struct size_test *t, const int64_t *sizes, int least_draws, size_t least_entries);
// The verdict at the sizes of the enumeration, on other values than the enumeration's: is it equal?
bool rule_graph_holds(const struct rule_graph *rg, struct evaluation_cache *calls);
// The type that the reference has there. False: the graph does not hold, by its types.
bool rule_graph_type_of(const struct rule_graph *rg, struct evaluation_cache *calls, reference r,
                        struct variable_type *ret_type);
