// A derivation: a pool in which an expression and all that is found equal to it stand, as tensors.
//
// A *program* is a tensor: the scope that makes it, with the scopes that this one reads, down to the inputs. Rules
// (rules/) say of one tensor another one that has the same entries over the reals; so does operator matching
// (matching/match.h), whose scopes are applications of operators. What no operator is is an eOperator.
#pragma once
#include "core/memory/table.h"
#include "derivation/scopes/scope.h"
#include "expressions/composition/composition.h"
#include "operators/operator.h"

struct iterator_tables;

// A scope that an operator computes, of two operands.
enum { OPERANDS = 2, MOST_WEIGHTS = 32 };
struct application {
    int result;   // the tensor
    int operands[OPERANDS];
    const struct operator* op;
    const struct attribute_value *attributes;
};
// A tensor never changes: what was found out of one is kept.
struct tensor_facts {
    bool is_known;
    bool is_of_weights;   // alone
    bool is_priced;       // then the rest counts (programs/cost.h)
    bool is_free;         // of weights alone, or a view
    bool is_worth_an_operator;
    int n_read;
    const int *read;   // tensors
    double operations, bytes, turned;
};
struct derivation {
    struct arena *arena;
    struct composition all;
    const struct iterator_tables *tables;
    uint32_t
        weights;   // the inputs that are known beforehand, one bit each, of the first MOST_WEIGHTS; does not change
    VEC(struct application) applications;
    struct table applied;             // applications by their results
    VEC(struct tensor_facts) facts;   // of scopes, by their numbers behind the inputs
};

// `inputs` and `tables` must outlive the derivation.
void derivation_begin(struct derivation *dv, struct arena *arena, int n_inputs, const struct type *inputs,
                      const struct iterator_tables *tables);
void derivation_end(struct derivation *dv);
// The program of a definition's only output, its inputs being the derivation's. NO_SCOPE: it has more, or numbers that
// are no reals.
int derivation_add(struct derivation *dv, const struct definition *d);
// The same tensor in normal form.
int derivation_normal(struct derivation *dv, int tensor);
// The program with another tensor in the place of one of its tensors.
int derivation_replace(struct derivation *dv, int program, int tensor, int by);
// The application that makes the tensor, or NULL. Of several the first one that was added counts.
const struct application *derivation_application(const struct derivation *dv, int tensor);
void derivation_add_application(struct derivation *dv, const struct application *application);

// The tensors that a scope reads, and those of a whole program without inputs, what is read before who reads it.
enum { MOST_TENSORS = 32 };
struct tensor_list {
    int n;
    int items[MOST_TENSORS];
};
void tensors_read(struct derivation *dv, int tensor, struct tensor_list *ret_tensors);
void program_tensors(struct derivation *dv, int program, struct tensor_list *ret_tensors);
bool depends_on_weights_alone(struct derivation *dv, int tensor);
// Facts of a scope; until the next tensor is looked at.
struct tensor_facts *tensor_facts_of(struct derivation *dv, int tensor);
