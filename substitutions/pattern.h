// Reading, printing and building of patterns.
#pragma once
#include "substitutions/rule.h"

void pattern_init(struct pattern *p);
void pattern_free(struct pattern *p);
// Building: the variable of this name, and the first output of an application; what is there already is not added
// again. `name`, and all else that is pointed to, is kept. The caller sees to it that there is room for them.
term_id pattern_add_variable(struct pattern *p, const char *name);
term_id pattern_add_application(struct pattern *p, const struct operator* op,
                                const struct attribute_pattern *attributes, uint32_t n_inputs, const term_id *inputs);
// The same, of numbers alone; the attributes are copied to `a`.
term_id pattern_add_call(struct pattern *p, const struct operator* op, const struct attribute_value *attributes,
                         uint32_t n_inputs, const term_id *inputs, struct arena *a);
// Parses one term into the pattern; names and attribute lists are allocated in `a`.
bool pattern_parse_term(struct pattern *p, const struct sexp *s, const char *file, struct arena *a, term_id *ret_term,
                        struct error *error);
// (?name TERM): the name, which must be new, stands for the term from here on.
bool pattern_parse_name(struct pattern *p, const struct sexp *s, const char *file, struct arena *a,
                        struct error *error);
bool pattern_parse_condition(struct pattern *p, const struct sexp *s, const char *file, struct arena *a,
                             struct condition *ret_condition, struct error *error);
void pattern_print_term(struct text *out, const struct pattern *p, term_id term);
// Prints ?part1, ?part2, ... instead of nodes that have these numbers (0, or NULL: none has).
void pattern_print_term_by_names(struct text *out, const struct pattern *p, term_id term, const uint8_t *names);
// An application without its own name.
void pattern_print_application(struct text *out, const struct pattern *p, term_id term, const uint8_t *names);
void pattern_print_attribute_term(struct text *out, const struct pattern *p, const struct attribute_term *t);
void pattern_print_condition(struct text *out, const struct pattern *p, const struct condition *c);
// The attribute values of a node (operator_n_attributes of them), allocated in `a`. False: a term has no value.
bool pattern_evaluate_attributes(const struct pattern_node *node, const struct term_bindings *b, struct arena *a,
                                 struct attribute_value *ret_values);
const struct attribute_term *attribute_pattern_as_term(struct arena *a, const struct attribute_pattern *p);
bool condition_is_of_variable(enum condition_kind kind);   // rather than of sizes and attributes
// The condition at these bindings; `weights` has one entry for each tensor variable, or is NULL: none is a weight.
bool condition_holds(const struct condition *c, const struct term_bindings *b, const enum weight_kind *weights,
                     struct arena *scratch);
