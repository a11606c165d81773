// Equations as first-order terms, for provers that know nothing of shapes (docs/theory/soundness.md).
//
// Three sorts: tensors of all ranks, with one more value that ill-typed applications have; lists of integers, with one
// more value for terms that have none; and the empty list, an attribute that is left out. An operator is one
// uninterpreted function of its attributes and inputs, which gives that further value where an argument has it; sizes
// and ranks stay terms such as dim(x, [1]). Two predicates carry what equations assume: defined(t), t is well-typed;
// plain(t), t has no split trees.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/table.h"
#include "instances/known_ranks.h"

typedef uint32_t logic_term;
typedef uint16_t logic_sort;
enum { SORT_TRUTH, SORT_TENSOR, SORT_LIST, SORT_EMPTY_LIST };

#define MAX_LOGIC_ARGUMENTS 16
#define MAX_CHOICES 4   // of more names nothing is said

enum symbol_role { ROLE_OPERATOR, ROLE_LIST, ROLE_CONSTANT, ROLE_PREDICATE };
struct logic_symbol {
    const char *name;   // unique
    enum symbol_role role;
    uint32_t n_arguments;
    logic_sort arguments[MAX_LOGIC_ARGUMENTS], result;
    bool keeps_plain;     // OPERATOR: plain inputs give plain outputs
    uint32_t n_of_rank;   // OPERATOR: as many first inputs have the rank of the output
};
struct logic_node {
    bool is_variable;
    uint32_t index;   // of the symbol; or number of the variable in its sentence
    logic_sort sort;
    uint32_t n_arguments;
    const logic_term *arguments;
};
struct logic {
    struct arena arena;
    VEC(struct logic_symbol) symbols;
    VEC(struct logic_node) nodes;
    struct table by_name, by_node;
};
struct logic_equality {
    logic_term left, right;
};
// An attribute that is one of few names: it has one of the values 0 to `n_values` - 1.
struct choice {
    logic_term term;
    uint32_t n_values;
    logic_term values[MAX_CHOICES];
};
// Assumptions (truths, one of the alternatives where there are any, equalities and, of obligations, choices)
// imply all goals, for all variables.
struct sentence {
    const char *name;   // of the equation
    uint32_t n_variables;
    const logic_sort *variables;
    VEC(logic_term) truths, alternatives;
    VEC(struct logic_equality) equalities;
    VEC(struct choice) choices;
    VEC(struct logic_equality) goals;
    bool looks_at_cuts;   // where tensors are cut is part of what is said of them
};
struct sentence_list {
    VEC(struct sentence) items;
};

void logic_free(struct logic *l);
void logic_copy(struct logic *ret_copy, const struct logic *l);   // shares what `l` has in its arena, which must stay
// The sentence that the equation is at the ranks that are known of it: those of an obligation are of well-typed terms
// (known_ranks_spread), those of variables of an axiom are assumed. As an axiom its variables are universal; as an
// obligation they are constants, plain as in a match, and every term of the equation is defined. False: it cannot be
// stated.
bool logic_translate(struct logic *l, const struct equation *eq, const struct known_ranks *ranks, bool is_axiom,
                     struct sentence *ret_sentence);
void sentence_list_free(struct sentence_list *list);
// The term `symbol` of these arguments, of which there are as many as it takes.
logic_term logic_apply(struct logic *l, uint32_t symbol, const logic_term *arguments);
uint64_t logic_variables(const struct logic *l, logic_term term);   // that stand in it, one bit each
void logic_print_term(struct text *out, const struct logic *l, logic_term term);
