// Equations as first-order terms, for provers that know nothing of shapes.
//
// Many sorts: tensors of each rank, attribute lists of each length. An operator becomes one uninterpreted function for
// each combination of the ranks and lengths it is met with, so that ranks and lengths are settled before a prover
// starts; sizes stay terms such as dim(x, [1]). An equation becomes one *sentence* for each combination (its kinds,
// found from its well-typed instances). Two predicates over tensors carry what the sorts cannot: defined(t), t is
// well-typed; plain(t), t has no split trees.
#pragma once
#include "verifier/direct_proof/judge.h"

typedef uint32_t logic_term;
typedef uint16_t logic_sort;
#define SORT_TRUTH 0
#define SORT_TENSOR(rank) ((logic_sort)(1 + (rank)))
#define SORT_LIST(length) ((logic_sort)(16 + (length)))

#define MAX_LOGIC_ARGUMENTS 16
#define MAX_CHOICES 4   // of more names nothing is said

enum symbol_role { ROLE_OPERATOR, ROLE_LIST, ROLE_CONSTANT, ROLE_PREDICATE };
struct logic_symbol {
    const char *name;   // unique
    enum symbol_role role;
    uint32_t n_arguments;
    logic_sort arguments[MAX_LOGIC_ARGUMENTS], result;
    bool keeps_plain;   // OPERATOR: plain inputs give plain outputs
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
// Two attributes that were equal at all instances of the equation: typing and conditions make them so.
struct fact {
    logic_term left, right;
    const char *text;   // as in a rule
};
// An attribute that is one of few names: it has one of the values 0 to `n_values` - 1.
struct choice {
    logic_term term;
    uint32_t n_values;
    logic_term values[MAX_CHOICES];
};
// assumptions (truths, one of the alternatives where there are any, equalities and, of obligations, facts and choices)
// imply all goals, for all variables.
struct sentence {
    const char *name;   // of the equation
    uint32_t n_variables;
    const logic_sort *variables;
    VEC(logic_term) truths, alternatives;
    VEC(struct logic_equality) equalities;
    VEC(struct fact) facts;
    VEC(struct choice) choices;
    VEC(struct logic_equality) goals;
    bool looks_at_cuts;   // where tensors are cut is part of what is said of them
};
struct sentence_list {
    VEC(struct sentence) items;
};

void logic_init(struct logic *l);
void logic_free(struct logic *l);
void logic_copy(struct logic *ret_copy, const struct logic *l);   // shares what `l` has in its arena, which must stay
#define MAX_ATTRIBUTE_TERMS 64
// The attributes of an equation's nodes that it states, as terms.
struct attribute_terms {
    uint32_t n;
    struct attribute_term_of_node {
        uint32_t node;
        int attribute;
        logic_term term;
    } items[MAX_ATTRIBUTE_TERMS];
};
// The sentence of all instances that have the ranks and lengths of this one, whose nodes are all typed. As an axiom its
// variables are universal; as an obligation they are constants, plain, with every term of the equation defined. False:
// it cannot be stated. `ret_attributes` may be NULL.
bool logic_translate(struct logic *l, struct instance *in, bool is_axiom, struct sentence *ret_sentence,
                     struct attribute_terms *ret_attributes);
void sentence_list_cut(struct sentence_list *list, size_t count);   // to the first ones
void sentence_list_free(struct sentence_list *list);
// The term `symbol` of these arguments, of which there are as many as it takes.
logic_term logic_apply(struct logic *l, uint32_t symbol, const logic_term *arguments);
void logic_print_term(struct text *out, const struct logic *l, logic_term term);
