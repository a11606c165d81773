// Runs operators as their definitions say, on the host: slow and obvious. What every kernel is checked against, and
// what folds constants.
//
// Where all element types of an application are integers or bool it computes in 64-bit integers that wrap when stored,
// otherwise in doubles with one rounding when stored.
#pragma once
#include "expressions/value.h"
#include "graph/graph.h"

// One application. `inputs` has one value for each of the call's inputs (types are the call's). Types and values of the
// outputs (room for `max_outputs`) are allocated in `arena`. False (EXIT_UNSUPPORTED): leaves, opaque nodes, element
// types without numbers, an ill-typed call, or an interruption that is overdue.
bool graph_evaluate_call(const struct operator_call *call, const struct tensor_value *inputs, int max_outputs,
                         struct tensor_value *ret_outputs, struct arena *arena, struct error *error);
// The same for a node of a graph, which has n_outputs outputs.
bool graph_evaluate_node(const struct graph *g, node_id node, const struct tensor_value *inputs,
                         struct tensor_value *ret_outputs, struct arena *arena, struct error *error);
