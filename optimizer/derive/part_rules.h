// The programs that derivation finds of a part, as rules for its sizes:
//
//     (rule conv-1-0  (source (conv ... (pad ... ?x0) ?x1))
//                     (target (expression ... (matmul (expression ... ?x1) ?x0)))
//                     (where (dtype ?x0 f32) (= (dims ?x0) (list ...)) ... (weight ?x1)))
#pragma once
#include "optimizer/derive/part.h"
#include "substitutions/rule.h"

struct iterator_tables;

// Adds those of the cheapest programs, by bytes and operations, one for each way to make the part of operators, in this
// order: NAME-0, NAME-1, ..., so many at most. Each program was compared with the part over the prime field. The rules
// are not proved.
void part_rules_add(struct rule_set *set, const struct part *p, const struct iterator_tables *tables, const char *name,
                    size_t most);
// A rule that has the part as its source and its target: what parts have in common that are the same but for their
// places in a graph.
struct rule *part_rule_start(const struct part *p, struct arena *a);
