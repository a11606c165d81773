// An instance of an equation: its variables bound to concrete types and attribute values, its nodes typed.
#pragma once
#include "instances/equation.h"
#include "instances/typing.h"

struct instance {
    const struct equation *equation;
    struct typing *typing;
    struct arena *scratch;
    const struct type *types[MAX_RULE_VARIABLES];   // of the variables; NULL: not bound yet
    type_id variables[MAX_RULE_VARIABLES];
    struct attribute_value attributes[MAX_RULE_VARIABLES];
    const struct typed_call *calls[MAX_RULE_NODES];   // NULL: not typed, or ill-typed
    head_id heads[MAX_RULE_NODES];                    // at the types that are bound; NO_HEAD: evaluate the attributes
};

void instance_init(struct instance *in, const struct equation *eq, struct typing *typing, struct arena *scratch);
void instance_bind(struct instance *in, uint32_t variable, type_id type);
struct term_bindings instance_bindings(const struct instance *in);
// The head of the node at what is bound; NO_HEAD: an attribute has no value there.
head_id instance_evaluate_head(const struct instance *in, uint32_t node);
// The attribute variables of the node are bound: evaluates its attributes when they depend on nothing else.
void instance_settle_attributes(struct instance *in, uint32_t node);
bool instance_refuses_attributes(const struct instance *in, uint32_t node);   // settled ones, whatever the types are
// Types a node whose inputs were typed; false (and calls[node] NULL) when it is ill-typed.
bool instance_type_node(struct instance *in, uint32_t node);
// Has a variable a split tree on some axis?
bool instance_has_cuts(const struct instance *in);
// The type of a term whose nodes were typed; NO_TYPE: ill-typed.
type_id instance_term_type(const struct instance *in, term_id term);
// Do the tensors of both sides have more entries, those between the stages of definitions counted?
bool instance_has_more_entries(const struct instance *in, int64_t most);
