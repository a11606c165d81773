// Substitution rules: a source graph that may be replaced by a target graph.
//
//     (rule merge-matmuls-sharing-left
//       (source (matmul ?x ?y) (matmul ?x ?z))
//       (target (split0 (- (rank ?x) 1) (matmul ?x (concat 1 ?y ?z)))
//               (split1 (- (rank ?x) 1) (matmul ?x (concat 1 ?y ?z))))
//       (where (= (rank ?y) 2) (= (rank ?z) 2))
//       (proof ...))
//
// Terms that are long or used often can be named between source and target, for what follows:
//     (let (?sum (ewadd ?x ?y)) (?twice (ewadd ?sum ?sum)))
//
// ?x is a tensor variable; equal variables and equal subterms are one tensor. $s is an attribute variable: it stands
// for the whole value of an attribute. The k-th source term is replaced by the k-th target term. An attribute that is
// not given has its standard value, which the source must have too. A split without sizes cuts where its argument was
// concatenated. All conditions under `where` must hold at a match; both sides are type-checked there too.
//     conditions   (= a b) (!= a b) (<= a b) (< a b) (divides a b)   of attribute terms, (weight ?w): known before the
//                  graph runs, (given ?w): a weight as the model has it, or transposed, (dtype ?x f32)
// Whatever stands under `proof` is kept as text.
//
// All terms of a rule share one pool of hash-consed nodes, the source's first, each after what it reads.
#pragma once
#include "core/memory/vec.h"
#include "substitutions/attribute_term.h"

#define MAX_RULE_VARIABLES 16
#define MAX_RULE_NODES 124
#define MAX_SOURCE_NODES 48
#define MAX_SOURCE_READS 120   // inputs of its nodes
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
struct pattern_name {
    const char *name;   // without the sigil
    term_id term;
};
struct pattern {
    uint32_t n_variables, n_attribute_variables;
    const char *variables[MAX_RULE_VARIABLES];   // names without the sigil
    const char *attribute_variables[MAX_RULE_VARIABLES];
    VEC(struct pattern_node) nodes;
    VEC(struct term) terms;
    VEC(struct pattern_name) names;   // of terms; only while a rule is read
    // Some split has no sizes: only then do the split trees of inputs matter to what is well-typed.
    bool looks_at_split_trees;
};

enum condition_kind {
    CONDITION_EQUAL,
    CONDITION_NOT_EQUAL,
    CONDITION_LESS_EQUAL,
    CONDITION_LESS,
    CONDITION_DIVIDES,
    CONDITION_WEIGHT,
    CONDITION_GIVEN,
    CONDITION_DTYPE,
};
struct condition {
    enum condition_kind kind;
    const struct attribute_term *a, *b;   // of the comparisons
    uint32_t variable;                    // WEIGHT, GIVEN, DTYPE
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
    const char *proof;       // the certificate, a (proof ...) or (checked ...) item; NULL: none
    unsigned line, column;   // where it was read
    uint32_t number;         // of the rules of its set, in the order of reading
};

// --- patterns (also used by properties) ------------------------------------------------------------------------------
// The kind of a variable's condition: how its value comes about.
enum weight_kind { NO_WEIGHT, WEIGHT_COMPUTED, WEIGHT_GIVEN };

// --- rules -----------------------------------------------------------------------------------------------------------
struct rule_set {
    struct arena *arena;
    VEC(struct rule *) rules;
};
void rule_set_init(struct rule_set *set, struct arena *arena);
void rule_set_free(struct rule_set *set);
// Adds the rules of a file: a list of (rule ...) items. Every target variable must occur in the source.
bool rule_set_read(struct rule_set *set, const char *path, struct error *error);
// The same of a text; `file` names it in errors.
bool rule_set_parse(struct rule_set *set, const char *file, const char *text, size_t size, struct error *error);
// Adds each rule read backwards, NAME-backwards, without its certificate: a rule says that two terms are equal wherever
// both are well-typed and its conditions hold. Those whose target does not bind all that the source has are none.
void rule_set_add_backwards(struct rule_set *set);
bool rule_set_add_backwards_of(struct rule_set *set, const struct rule *r);   // false: it is none
// Frees and leaves out the others; gives their number.
size_t rule_set_filter(struct rule_set *set, bool (*is_kept)(const struct rule *r, const void *context),
                       const void *context);
size_t rule_set_find(const struct rule_set *set, const struct rule *r);   // the place of one of its rules
bool rule_parse(const struct sexp *s, const char *file, struct arena *a, struct rule **ret_rule, struct error *error);
void rule_free(struct rule *r);   // its vectors; the rest belongs to the arena
// The certificate names an argument for all sizes: it was not only checked. It is text that anybody can write.
bool rule_claims_proof(const struct rule *r);
bool rule_is_only_checked(const struct rule *r);   // the certificate says so; false: or there is none
// Was it found by the generator, and not written by somebody? What it finds is named by operators and the twelve
// hexadecimal digits of a hash of what it says.
bool rule_is_generated(const struct rule *r);
size_t rule_most_operators(const struct rule *r);   // of its source or its target, whichever has more
// The target subtracts or negates and the source does not, as where products are saved (Strassen, Winograd): exact over
// the reals, but what cancels there leaves its rounding behind.
bool rule_introduces_differences(const struct rule *r);
void rule_print(struct text *out, const struct rule *r);             // parse after print gives an equal rule
void rule_print_statement(struct text *out, const struct rule *r);   // source, target and conditions alone
const char *rule_statement(const struct rule *r, struct arena *a);   // the same text
