// Bilinear algorithms: sums of products of two operands' entries by fewer products of sums of entries (Toom-Cook and
// Winograd for windows, Karatsuba, Strassen), from a table (bilinear.def).
//
//     result[t] = sum over (t, w, r) of the structure of first[w] * second[r]
//               = sum_p to_result[t][p] * (sum_w of_first[p][w] first[w]) * (sum_r of_second[p][r] second[r]) / divisor
//
// The structure is told by iterators z: each value of all of them is a term, whose places t, w, r are linear in z.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_PRODUCTS = 8, MOST_PLACES = 8, MOST_STRUCTURE = 3 };
struct bilinear {
    int n_iterators;
    int extents[MOST_STRUCTURE];
    bool is_result[MOST_STRUCTURE];                                              // or of a sum
    int first[MOST_STRUCTURE], second[MOST_STRUCTURE], result[MOST_STRUCTURE];   // factors of z in w, r and t
    int n_first, n_second, n_result, n_products;
    double of_first[MOST_PRODUCTS][MOST_PLACES], of_second[MOST_PRODUCTS][MOST_PLACES];
    double to_result[MOST_PLACES][MOST_PRODUCTS], divisor;
    bool is_window;   // of a result and a sum; or a product of matrices
};
// How many there are in the table, and one of them. False: it is not what it says, in rationals, or is none of doubles.
size_t bilinear_count(void);
bool bilinear_take(size_t which, struct bilinear *ret_bilinear);
