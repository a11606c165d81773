// A is made of powers of the points, G of these divided by what Lagrange's interpolation divides by, B of the
// coefficients of its polynomials.
#include "backends/generated/bilinear.h"

#include "core/memory/vec.h"
#include "core/text/text.h"
#include <math.h>

// --- matrices --------------------------------------------------------------------------------------------------------

// The coefficients of the product of x - points[l], l != left_out, from the constant one on.
static void multiply_factors(const double *points, int n, int left_out, double ret_coefficients[BILINEAR_MOST])
{
    for (int i = 0; i < BILINEAR_MOST; i++)
        ret_coefficients[i] = i == 0;
    for (int l = 0; l < n; l++)
        for (int i = BILINEAR_MOST - 1; l != left_out && i >= 0; i--)
            ret_coefficients[i] = (i ? ret_coefficients[i - 1] : 0) - points[l] * ret_coefficients[i];
}

static double divisor_of(const double *points, int n, int at)
{
    return PRODUCT_ALL(double, int, l, n, l == at ? 1 : points[at] - points[l]);
}

void bilinear_make(int m, int r, const double *points, struct bilinear *ret_form)
{
    struct bilinear f = {.m = m, .r = r, .n = m + r - 1, .inputs = m + r - 1};
    int last = f.n - 1;
    for (int j = 0; j < last; j++) {
        for (int i = 0; i < m; i++)
            f.a[i][j] = i ? f.a[i - 1][j] * points[j] : 1;
        for (int k = 0; k < r; k++)
            f.g[j][k] = k ? f.g[j][k - 1] * points[j] : 1 / divisor_of(points, last, j);
        multiply_factors(points, last, j, f.b[j]);
    }
    f.a[m - 1][last] = 1;
    f.g[last][r - 1] = 1;
    multiply_factors(points, last, last, f.b[last]);
    *ret_form = f;
}

// Points by the number of products. They are exact in f32 with their powers and products; others that are as cheap are
// worse: for windows of 3 the points 0, 1, -1, 2, -2 by four times.
static const double points[][BILINEAR_MOST] = {
    [1] = {0},
    [3] = {0, 1},
    [4] = {0, 1, -1},
    [5] = {0, -1, 0.625, 1.5},
    [6] = {0, 0.75, -0.75, 1.5, -1.5},
    [8] = {0, 0.5, -0.5, 1, -1, 2, -2},
};

bool bilinear_find(int m, int r, struct bilinear *ret_form)
{
    int n = m + r - 1;
    bool is_known = m > 0 && r > 0 && n <= BILINEAR_MOST && (n == 1 || points[n][1] != 0) && (n == 1 || r > 1);
    if (is_known)
        bilinear_make(m, r, points[n], ret_form);
    return is_known;
}

void bilinear_make_strassen(struct bilinear *ret_form)
{
    *ret_form = (struct bilinear){
        .m = 4,
        .r = 4,
        .n = 7,
        .inputs = 4,
        .b = {{1, 0, 0, 1}, {0, 1, 0, 1}, {1}, {0, 0, 0, 1}, {1, 0, 1}, {-1, 1}, {0, 0, 1, -1}},
        .g = {{1, 0, 0, 1}, {1}, {0, 1, 0, -1}, {-1, 0, 1}, {0, 0, 0, 1}, {1, 1}, {0, 0, 1, 1}},
        .a = {{1, 0, 0, 1, -1, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 0, 1}, {1, -1, 1, 0, 0, 1}},
    };
}

// --- statements ------------------------------------------------------------------------------------------------------

struct product {
    struct text *text;
    const char *type;
    int rows, columns;
    const double (*matrix)[BILINEAR_MOST];
    int column_mate[BILINEAR_MOST], row_mate[BILINEAR_MOST];   // -1: none
};

enum relation { UNLIKE = 0, ZERO = 1, SAME = 2, OPPOSITE = 4 };

static enum relation compare(double x, double y)
{
    return x == 0 && y == 0 ? ZERO : x == y ? SAME : x == -y ? OPPOSITE : UNLIKE;
}

// Whether two rows (or columns) have equal entries and opposite ones, and no others.
static bool are_mates(const struct product *p, bool is_row, int i, int j)
{
    int seen = 0;
    for (int k = 0; k < (is_row ? p->columns : p->rows); k++) {
        enum relation l =
            is_row ? compare(p->matrix[i][k], p->matrix[j][k]) : compare(p->matrix[k][i], p->matrix[k][j]);
        if (l == UNLIKE)
            return false;
        seen |= (int)l;
    }
    return (seen & SAME) && (seen & OPPOSITE);
}

static void find_mates(struct product *p, bool is_row, int n, int *ret_mates)
{
    for (int i = 0; i < BILINEAR_MOST; i++)
        ret_mates[i] = -1;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n && ret_mates[i] < 0; j++)
            if (ret_mates[j] < 0 && are_mates(p, is_row, i, j)) {
                ret_mates[i] = j;
                ret_mates[j] = i;
            }
}

static void add_term(struct product *p, double factor, const char *name, int number, bool *has_terms)
{
    if (factor == 0)
        return;
    text_add(p->text, factor < 0 ? " - " : *has_terms ? " + " : "");
    if (fabs(factor) != 1)
        text_printf(p->text, "%#.9gf * ", fabs(factor));
    text_printf(p->text, "%s%d", name, number);
    *has_terms = true;
}

// The terms of a row whose relation to another row is among `wanted`; columns with a mate by their sums (s) and
// differences (d).
static void add_terms(struct product *p, int row, int other, int wanted)
{
    bool has_terms = false;
    for (int k = 0; k < p->columns; k++) {
        int mate = p->column_mate[k];
        double factor = p->matrix[row][k];
        if (mate >= 0 && mate < k)
            continue;
        bool is_sum = mate >= 0 && p->matrix[row][mate] == factor;
        if (compare(factor, p->matrix[other][k]) & wanted)
            add_term(p, factor, mate < 0 ? "x" : is_sum ? "s" : "d", k, &has_terms);
    }
    if (!has_terms)
        text_add(p->text, "0 * x0");
}

void bilinear_print_product(struct text *text, const char *type, int rows, int columns,
                            const double matrix[BILINEAR_MOST][BILINEAR_MOST])
{
    struct product p = {text, type, rows, columns, matrix};
    find_mates(&p, false, columns, p.column_mate);
    find_mates(&p, true, rows, p.row_mate);
    for (int k = 0; k < columns; k++)
        if (p.column_mate[k] > k)
            text_printf(text, "%s s%d = x%d + x%d, d%d = x%d - x%d;\n", type, k, k, p.column_mate[k], k, k,
                        p.column_mate[k]);
    for (int i = 0; i < rows; i++) {
        int mate = p.row_mate[i];
        if (mate < 0) {
            text_printf(text, "%s z%d = ", type, i);
            add_terms(&p, i, i, SAME);
        } else if (mate > i) {
            text_printf(text, "%s e%d = ", type, i);
            add_terms(&p, i, mate, SAME);
            text_printf(text, ", o%d = ", i);
            add_terms(&p, i, mate, OPPOSITE);
            text_printf(text, ", z%d = e%d + o%d, z%d = e%d - o%d", i, i, i, mate, i, i);
        }
        text_add(text, mate < i && mate >= 0 ? "" : ";\n");
    }
}
