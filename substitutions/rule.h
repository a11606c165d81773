// Substitution rules: a source graph that may be replaced by a target graph.
//
//     (rule merge-matmuls-sharing-left
//       (source (matmul ?x ?y) (matmul ?x ?z))
//       (target (split0 (- (rank ?x) 1) (matmul ?x (concat 1 ?y ?z)))
//               (split1 (- (rank ?x) 1) (matmul ?x (concat 1 ?y ?z))))
//       (where (= (rank ?y) 2) (= (rank ?z) 2))
//       (proof ...))
//
// ?x is a tensor variable; equal variables and equal subterms are one tensor. $s is an attribute variable: it stands
// for the whole value of an attribute. The k-th source term is replaced by the k-th target term. An attribute that is
// not given has its standard value, which the source must have too. A split without sizes cuts where its argument was
// concatenated. All conditions under `where` must hold at a match; both sides are type-checked there too.
//     conditions   (= a b) (!= a b) (<= a b) (< a b) (divides a b)   of attribute terms, (weight ?w): known before the
//                  graph runs, (dtype ?x f32)
// Whatever stands under `proof` is kept as text.
//
// All terms of a rule share one pool of hash-consed nodes, the source's first, each after what it reads.
#ifndef SUBSTITUTIONS_RULE_H
#define SUBSTITUTIONS_RULE_H
#include "core/vec.h"
#include "substitutions/attribute_term.h"

struct arena;
struct error;
struct sexp;
struct text;

#define MAX_RULE_VARIABLES 16
#define MAX_RULE_NODES 24
#define MAX_RULE_OUTPUTS 8

typedef uint32_t term_id;   // index into pattern.terms: a tensor of the pattern

struct term {
    bool is_variable;
    uint32_t index;    // of the variable, or of the node
    uint32_t output;   // which output of the node
};
// An attribute of a pattern node: the lists of `terms` one behind the other. For attributes that are no integers
// (REAL, CHOICE, DTYPE) each term is a TERM_INTEGER holding the stored form, or one TERM_VARIABLE.
struct attribute_pattern {
    uint32_t count;
    const struct attribute_term *const *terms;
};
struct pattern_node {
    const struct operator* op;
    const struct attribute_pattern *attributes;   // operator_n_attributes(op)
    uint32_t n_inputs;
    const term_id *inputs;
};
struct pattern {
    uint32_t n_variables, n_attribute_variables;
    const char *variables[MAX_RULE_VARIABLES];   // names without the sigil
    const char *attribute_variables[MAX_RULE_VARIABLES];
    VEC(struct pattern_node) nodes;
    VEC(struct term) terms;
};

enum condition_kind {
    CONDITION_EQUAL,
    CONDITION_NOT_EQUAL,
    CONDITION_LESS_EQUAL,
    CONDITION_LESS,
    CONDITION_DIVIDES,
    CONDITION_WEIGHT,
    CONDITION_DTYPE,
};
struct condition {
    enum condition_kind kind;
    const struct attribute_term *a, *b;   // of the comparisons
    uint32_t variable;                    // WEIGHT, DTYPE
    enum dtype dtype;
};

struct rule {
    const char *name;
    struct pattern pattern;
    uint32_t n_source_nodes;   // pattern.nodes[0 .. n_source_nodes) is the source graph
    uint32_t n_outputs;
    term_id sources[MAX_RULE_OUTPUTS], targets[MAX_RULE_OUTPUTS];
    uint32_t n_conditions;
    const struct condition *conditions;
    const char *proof;       // text of the (proof ...) item; NULL: none
    unsigned line, column;   // where it was read
};

// --- patterns (also used by properties) ------------------------------------------------------------------------------
void pattern_init(struct pattern *p);
void pattern_free(struct pattern *p);
// Parses one term into the pattern; names and attribute lists are allocated in `a`.
bool pattern_parse_term(struct pattern *p, const struct sexp *s, const char *file, struct arena *a, term_id *ret_term,
                        struct error *error);
bool pattern_parse_attribute_term(struct pattern *p, const struct sexp *s, const char *file, struct arena *a,
                                  const struct attribute_term **ret_term, struct error *error);
bool pattern_parse_condition(struct pattern *p, const struct sexp *s, const char *file, struct arena *a,
                             struct condition *ret_condition, struct error *error);
term_id pattern_add_variable(struct pattern *p, uint32_t variable);
term_id pattern_add_node(struct pattern *p, const struct pattern_node *node, uint32_t output);   // keeps its pointers
void pattern_print_term(struct text *out, const struct pattern *p, term_id term);
void pattern_print_attribute_term(struct text *out, const struct pattern *p, const struct attribute_term *t);
void pattern_print_condition(struct text *out, const struct pattern *p, const struct condition *c);
// The attribute values of a node (operator_n_attributes of them), allocated in `a`. False: a term has no value.
bool pattern_evaluate_attributes(const struct pattern_node *node, const struct term_bindings *b, struct arena *a,
                                 struct attribute_value *ret_values);
// The condition at given bindings; `is_weight` has one flag per tensor variable, or is NULL: no variable is a weight.
bool condition_holds(const struct condition *c, const struct term_bindings *b, const bool *is_weight,
                     struct arena *scratch);

// --- rules -----------------------------------------------------------------------------------------------------------
struct rule_set {
    struct arena *arena;
    VEC(struct rule *) rules;
};
void rule_set_init(struct rule_set *set, struct arena *arena);
void rule_set_free(struct rule_set *set);
// Adds the rules of a file: a list of (rule ...) items. Every target variable must occur in the source.
bool rule_set_read(struct rule_set *set, const char *path, struct error *error);
bool rule_parse(const struct sexp *s, const char *file, struct arena *a, struct rule **ret_rule, struct error *error);
void rule_free(struct rule *r);                            // its vectors; the rest belongs to the arena
void rule_print(struct text *out, const struct rule *r);   // parse after print gives an equal rule
#endif
