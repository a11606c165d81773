// The rules of both searches stand in one set: those of backtracking first, behind them those that only an e-graph has.
#pragma once
#include "optimizer/job/optimization.h"

// what the options name.
bool optimizing_read_rules(struct optimizing *o);
// Leaves out rules without a proof where the imported model has symbols: an application of one is validated at its own
// sizes, which says nothing of others.
void optimizing_keep_rules_for_sizes(struct optimizing *o);
void optimizing_rules_of_backtracking(struct optimizing *o, struct rule_set *ret_rules);   // only its list is its own
// Adds those that derivation finds for the model, for both searches, with numbers behind all others. What nobody asked
// for is done for compiled models, at products and convolutions that leave entries out: at others it takes minutes to
// measure what is found, and little of that is faster than kernels of their own.
void optimizing_derive_rules(struct optimizing *o);
// Rules that save products by differences (Strassen, Winograd) are for runtimes without such kernels. Where kernels of
// ours may save them, within the same tolerance, they gain nothing beside these: 1.00 (0.99 to 1.01) with and without,
// on VGG-19, ResNet-50 and SqueezeNet, and measuring what they lead to took two thirds of VGG-19's search. What a file
// that --rules names has is used.
void optimizing_leave_products_to_kernels(struct optimizing *o);
