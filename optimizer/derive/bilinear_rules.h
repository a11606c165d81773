// Rules in standard operators for all sizes, of the algorithms of derivation/rules/bilinear.def whose results are sums
// and differences of products: convolutions of windows along rows, and products of matrices in halves.
//
//     image or matrix, by sums of its rows or quarters ─┐
//                                                       ├─ convolutions or products ─ sums ─ rows or quarters of all
//     kernel or matrix, by sums that are made once ─────┘
#pragma once
struct text;

// Candidates, to be judged like others (taso-verify rules).
void bilinear_rules_print(struct text *text);
