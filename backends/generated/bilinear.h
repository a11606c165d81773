// Short correlations y[i] = sum(k) d[i + k] g[k], i below m, k below r, by m + r - 1 products instead of m r:
//     y = A [ (G g) * (B d) ]                A: m x n, G: n x r, B: n x inputs; n = inputs = m + r - 1
// (Toom 1963, Cook 1966, Winograd 1980), from a table of n - 1 points; the last one is infinity. For images in two
// dimensions each matrix is applied along both axes. And the product of two matrices of 2 x 2 by seven products
// (Strassen 1969), in the same form.
#pragma once
#include <stdbool.h>

struct text;

#define BILINEAR_MOST 8
struct bilinear {
    int m, r, n, inputs;   // entries of y and g, products, entries of d
    double a[BILINEAR_MOST][BILINEAR_MOST], g[BILINEAR_MOST][BILINEAR_MOST], b[BILINEAR_MOST][BILINEAR_MOST];
};
// `points` are m + r - 2 different numbers.
void bilinear_make(int m, int r, const double *points, struct bilinear *ret_form);
// The form of the table of points, of which there are for 4, 6 and 8 products; of one result and a window of one place,
// which changes nothing. False: there is none.
bool bilinear_find(int m, int r, struct bilinear *ret_form);
// Y = D G, their entries column by column, those of G row by row.
void bilinear_make_strassen(struct bilinear *ret_form);
// Statements of C that compute z0 ... from x0 ..., all of `type`: the product of a matrix. Rows and columns that differ
// from another one in signs alone share their sums.
void bilinear_print_product(struct text *text, const char *type, int rows, int columns,
                            const double matrix[BILINEAR_MOST][BILINEAR_MOST]);
