// Each sum is a term. What two sums or more have in common is made once, the pair first that most of them have: so
// Strassen's product has its 15 additions, as Winograd found them.
#include "optimizer/derive/bilinear_rules.h"

#include "derivation/rules/bilinear.h"
#include "core/text/text.h"
#include <math.h>

// --- sums ------------------------------------------------------------------------------------------------------------

// Rows of 1, -1 and 0, for what is added and subtracted of ?NAME0, ?NAME1, ...
enum { MOST_ADDENDS = 24 };
struct sums {
    const char *name;
    int n_rows, n_addends;
    int of[MOST_PRODUCTS][MOST_ADDENDS];
    bool is_shared[MOST_ADDENDS];   // is read elsewhere, too: it is added first, and what is added to it may be fused
};

static int count_rows(const struct sums *s, int a, int b, int sign)
{
    int n = 0;
    for (int row = 0; row < s->n_rows; row++)
        n += s->of[row][a] * s->of[row][b] == sign;
    return n;
}

static struct sums sums_of(const char *name, int n_rows, int n_addends, const double factors[][MOST_PRODUCTS])
{
    struct sums s = {.name = name, .n_rows = n_rows, .n_addends = n_addends};
    for (int row = 0; row < n_rows; row++)
        for (int a = 0; a < n_addends; a++)
            s.of[row][a] = factors[row][a] > 0 ? 1 : factors[row][a] < 0 ? -1 : 0;
    for (int a = 0; a < n_addends; a++)
        s.is_shared[a] = count_rows(&s, a, a, 1) > 1;
    return s;
}

struct pair {
    int a, b, sign;   // 1: the rows add both or subtract both
};

// The last one of the pairs that most rows have. False: each is of one row alone.
static bool find_common_pair(const struct sums *s, struct pair *ret_pair)
{
    int most = 2;
    bool is_found = false;
    for (int a = 0; a < s->n_addends; a++)
        for (int b = a + 1; b < s->n_addends; b++)
            for (int sign = -1; sign <= 1; sign += 2)
                if (count_rows(s, a, b, sign) >= most) {
                    most = count_rows(s, a, b, sign);
                    *ret_pair = (struct pair){a, b, sign};
                    is_found = true;
                }
    return is_found;
}

static int count_addends(const struct sums *s, int row)
{
    int n = 0;
    for (int a = 0; a < s->n_addends; a++)
        n += s->of[row][a] != 0;
    return n;
}

// The pair is made as it stands in the shortest row.
static int sign_of_first(const struct sums *s, const struct pair *p)
{
    int sign = 1, fewest = MOST_ADDENDS + 1;
    for (int row = 0; row < s->n_rows; row++)
        if (s->of[row][p->a] * s->of[row][p->b] == p->sign && count_addends(s, row) < fewest) {
            sign = s->of[row][p->a];
            fewest = count_addends(s, row);
        }
    return p->sign > 0 ? 1 : sign;
}

static void name_pair(struct text *t, struct sums *s, const struct pair *p)
{
    int of_a = sign_of_first(s, p), first = of_a > 0 ? p->a : p->b, second = of_a > 0 ? p->b : p->a;
    text_printf(t, "(?%s%d (%s ?%s%d ?%s%d))\n", s->name, s->n_addends, p->sign > 0 ? "ewadd" : "sub", s->name, first,
                s->name, second);
    s->is_shared[s->n_addends] = true;
    for (int row = 0; row < s->n_rows; row++)
        if (s->of[row][p->a] * s->of[row][p->b] == p->sign) {
            s->of[row][s->n_addends] = s->of[row][p->a] * of_a;
            s->of[row][p->a] = s->of[row][p->b] = 0;
        }
    s->n_addends++;
}

static void name_common_pairs(struct text *t, struct sums *s)
{
    struct pair p;
    while (s->n_addends < MOST_ADDENDS && find_common_pair(s, &p))
        name_pair(t, s, &p);
}

// Terms of a row: what is added, the shared ones last, then what is subtracted.
static int list_addends(const struct sums *s, int row, int *ret_addends, int *ret_n_added)
{
    int n = 0;
    for (int kind = 0; kind < 3; kind++) {
        for (int a = 0; a < s->n_addends; a++)
            if (s->of[row][a] && (s->of[row][a] < 0 ? 2 : s->is_shared[a]) == kind)
                ret_addends[n++] = a;
        *ret_n_added = kind < 2 ? n : *ret_n_added;
    }
    return n;
}

static void print_row(struct text *t, const struct sums *s, int row)
{
    int addends[MOST_ADDENDS], n_added, n = list_addends(s, row, addends, &n_added);
    for (int i = n_added; i < n; i++)
        text_add(t, i == 0 ? "(neg " : "(sub ");
    for (int i = 0; i < n; i++) {
        bool is_added = i < n_added, has_more = i + 1 < n_added;
        text_printf(t, has_more ? "(ewadd ?%s%d " : is_added ? "?%s%d" : " ?%s%d)", s->name, addends[i]);
        for (int k = 0; i + 1 == n_added && k < i; k++)
            text_add(t, ")");
    }
}

// --- matrices --------------------------------------------------------------------------------------------------------

#define ROWS "(- (rank ?x) 2)"
#define COLUMNS "(- (rank ?x) 1)"
static void print_halves(struct text *t, const char *name, const char *of, const char *axis, const char *size)
{
    for (int i = 0; i < 2; i++)
        text_printf(t, "(?%s%d (split%d %s :sizes (/ %s 2) (/ %s 2) ?%s))\n", name, i, i, axis, size, size, of);
}

// ?a0 to ?a3, row by row.
static void print_quarters(struct text *t, char name, const char *of, const char *rows, const char *row_size,
                           const char *columns, const char *column_size)
{
    char half[] = {name, 'h', 0}, quarter[] = {name, 0};
    print_halves(t, half, of, rows, row_size);
    for (int i = 0; i < 4; i++)
        text_printf(t, "(?%s%d (split%d %s :sizes (/ %s 2) (/ %s 2) ?%s%d))\n", quarter, i, i % 2, columns, column_size,
                    column_size, half, i / 2);
}

static void print_matrices(struct text *t, const struct bilinear *b)
{
    struct sums x = sums_of("a", b->n_products, b->n_first, b->of_first);
    struct sums y = sums_of("b", b->n_products, b->n_second, b->of_second);
    struct sums z = sums_of("p", b->n_result, b->n_products, b->to_result);
    text_printf(t, "(rule matmul-%s\n(source (matmul ?x ?y))\n(let ", b->name);
    print_quarters(t, 'a', "x", ROWS, "(dim ?x " ROWS ")", COLUMNS, "(dim ?y 0)");
    print_quarters(t, 'b', "y", "0", "(dim ?y 0)", "1", "(dim ?y 1)");
    name_common_pairs(t, &x);
    name_common_pairs(t, &y);
    for (int p = 0; p < b->n_products; p++) {
        text_printf(t, "(?p%d (matmul ", p);
        print_row(t, &x, p);
        text_add(t, " ");
        print_row(t, &y, p);
        text_add(t, "))\n");
    }
    name_common_pairs(t, &z);
    text_add(t, ")\n(target (concat " ROWS);
    for (int i = 0; i < b->n_result; i++) {
        text_add(t, i % 2 ? " " : " (concat " COLUMNS " ");
        print_row(t, &z, i);
        text_add(t, i % 2 ? ")" : "");
    }
    text_add(t, "))\n(where (= (rank ?y) 2) (given ?y)))\n");
}

// --- windows ---------------------------------------------------------------------------------------------------------

// A convolution whose kernel has `n_second` rows makes two rows at a time. Where these are odd, one more is made, with
// a row of zeros behind the image, and cut off.
enum { RESULTS = 2 };
struct windows {
    const struct bilinear *b;
    bool has_relu;   // of the sum with a bias
    int behind;      // rows
};
#define OUT_ROWS "(- (+ (dim ?x 2) (sum (at $p (list 0 2)))) %d)"
#define OUT_PAIRS "(/ " OUT_ROWS " 2)"

static void print_shape(struct text *t, const struct windows *w, const char *rows, int behind)
{
    text_add(t, " (dim ?x 0) (dim ?k 0) ");
    text_printf(t, rows, w->b->n_second - 1 - behind);
    text_add(t, " (- (+ (dim ?x 3) (sum (at $p (list 1 3)))) (- (dim ?k 3) 1))");
}

static void print_source(struct text *t, const struct windows *w)
{
    text_printf(t, "(rule conv-%s%s-%s\n(source ", w->has_relu ? "relu-" : "", w->b->name, w->behind ? "odd" : "even");
    text_add(t, w->has_relu ? "(relu (ewadd " : "");
    text_add(t, "(conv :stride 1 1 :pad $p :dilation 1 1 ?x ?k)");
    if (w->has_relu) {
        text_add(t, " (broadcast :shape");
        print_shape(t, w, OUT_ROWS, 0);
    }
    text_add(t, w->has_relu ? " ?b))))\n" : ")\n");
}

// Factors that the sums of an image's rows are multiplied by, so that those of the kernel's rows have no factors.
static double scale_of(const struct bilinear *b, int product)
{
    double first = 0;
    for (int r = b->n_second - 1; r >= 0; r--)
        first = b->of_second[product][r] != 0 ? b->of_second[product][r] : first;
    return first / b->divisor;
}

// The sum of an image's rows is a convolution of each channel by itself: ?one and ?part are kernels of one entry.
static void print_tap(struct text *t, const struct bilinear *b, int row, double factor)
{
    text_printf(t, "(pad :pads 0 0 %d 0 0 0 %d 0 ?%s)", row, b->n_first - 1 - row, fabs(factor) == 1 ? "one" : "part");
}

static void print_taps(struct text *t, const struct bilinear *b, int product)
{
    int last = 0, first = -1;
    double scale = scale_of(b, product);
    const double *of = b->of_first[product];
    for (int i = 0; i < b->n_first; i++) {
        first = first < 0 && of[i] * scale > 0 ? i : first;
        last = of[i] != 0 ? i : last;
    }
    for (int i = 0; i < b->n_first; i++)
        if (i != first && of[i] != 0)
            text_add(t, of[i] * scale > 0 ? "(ewadd " : "(sub ");
    print_tap(t, b, first, of[first] * scale);
    for (int i = 0; i < b->n_first; i++)
        if (i != first && of[i] != 0) {
            text_add(t, " ");
            print_tap(t, b, i, of[i] * scale);
            text_add(t, ")");
        }
}

static void print_images(struct text *t, const struct windows *w)
{
    const struct bilinear *b = w->b;
    text_printf(
        t,
        "(?one (iewmul :shape (dim ?x 1) 1 1 1))\n(?part (slice :start 0 0 0 0 :size (dim ?x 1) 1 1 1 :step 1 1 1 "
        "1 (cpool :shape (dim ?x 1) 1 %d 1)))\n",
        (int)b->divisor);
    for (int p = 0; p < b->n_products; p++) {
        text_printf(t, "(?x%d (conv :stride %d 1 :pad (at $p 0) 0 %s 0 :dilation 1 1 :group (dim ?x 1) ?x ", p, RESULTS,
                    w->behind ? "(+ (at $p 2) 1)" : "(at $p 2)");
        print_taps(t, b, p);
        text_add(t, "))\n");
    }
}

static void print_kernel_rows(struct text *t, const struct bilinear *b)
{
    for (int r = 0; r < b->n_second; r++)
        text_printf(t, "(?k%d (slice :start 0 0 %d 0 :size (dim ?k 0) (dim ?k 1) 1 (dim ?k 3) :step 1 1 1 1 ?k))\n", r,
                    r);
}

// The product that is added to all results: it takes the bias.
static int product_of_all(const struct bilinear *b)
{
    for (int p = 0; p < b->n_products; p++) {
        int n = 0;
        for (int i = 0; i < b->n_result; i++)
            n += b->to_result[i][p] > 0;
        if (n == b->n_result)
            return p;
    }
    return -1;
}

static void print_products(struct text *t, const struct windows *w, const struct sums *kernels)
{
    for (int p = 0; p < w->b->n_products; p++) {
        bool has_bias = w->has_relu && p == product_of_all(w->b);
        text_printf(t, "(?y%d %s(conv :stride 1 1 :pad 0 (at $p 1) 0 (at $p 3) :dilation 1 1 ?x%d ", p,
                    has_bias ? "(ewadd " : "", p);
        print_row(t, kernels, p);
        text_add(t, ")");
        if (has_bias) {
            text_add(t, " (broadcast :shape");
            print_shape(t, w, OUT_PAIRS, w->behind);
        }
        text_add(t, has_bias ? " ?b)))\n" : ")\n");
    }
}

// A change of sign is a convolution, too, as runtimes keep images in layouts of their own through these and additions.
static void add_negatives(struct text *t, const struct bilinear *b, struct sums *results)
{
    for (int p = 0; p < b->n_products; p++) {
        if (count_rows(results, p, p, 1) == 0)
            continue;
        for (int i = 0; i < b->n_result; i++) {
            results->of[i][results->n_addends] = results->of[i][p] < 0;
            results->of[i][p] = results->of[i][p] > 0;
        }
        if (count_rows(results, results->n_addends, results->n_addends, 1) == 0)
            continue;
        text_printf(
            t,
            "(?y%d (conv :stride 1 1 :pad 0 0 0 0 :dilation 1 1 :group (dim ?k 0) ?y%d (neg (iewmul :shape (dim "
            "?k 0) 1 1 1))))\n",
            results->n_addends++, p);
    }
}

static void print_target(struct text *t, const struct windows *w, const struct sums *results)
{
    text_add(t, ")\n(target ");
    if (w->behind) {
        text_add(t, "(slice :start 0 0 0 0 :size");
        print_shape(t, w, OUT_ROWS, 0);
        text_add(t, " :step 1 1 1 1 ");
    }
    text_add(t, "(reshape :shape");
    print_shape(t, w, OUT_ROWS, w->behind);
    text_add(t, " (concat 3");
    for (int i = 0; i < RESULTS; i++) {
        text_add(t, " (reshape :shape");
        print_shape(t, w, OUT_PAIRS " 1", w->behind);
        text_add(t, w->has_relu ? " (relu " : " ");
        print_row(t, results, i);
        text_add(t, w->has_relu ? "))" : ")");
    }
    text_add(t, w->behind ? "))))\n" : ")))\n");
}

// A result with many more channels than the image has makes adding up its parts cost more than the products that are
// saved.
static void print_conditions(struct text *t, const struct windows *w)
{
    text_printf(
        t, "(where (= (rank ?x) 4) (= (dim ?k 2) %d) (< 1 (dim ?k 3)) (<= (dim ?k 0) (* 3 (dim ?x 1))) (divides %d ",
        w->b->n_second, RESULTS);
    text_printf(t, OUT_ROWS, w->b->n_second - 1 - w->behind);
    text_add(t, w->has_relu ? ") (= (dims ?b) (list (dim ?k 0) 1 1))" : ")");
    text_add(t, " (dtype ?x f32) (weight ?k)))\n");
}

static void print_windows(struct text *t, const struct windows *w)
{
    const struct bilinear *b = w->b;
    struct sums kernels = sums_of("k", b->n_products, b->n_second, b->of_second);
    struct sums results = sums_of("y", b->n_result, b->n_products, b->to_result);
    for (int p = 0; p < b->n_products; p++)
        for (int r = 0; r < b->n_second; r++)
            kernels.of[p][r] = scale_of(b, p) < 0 ? -kernels.of[p][r] : kernels.of[p][r];
    print_source(t, w);
    text_add(t, "(let ");
    print_images(t, w);
    print_kernel_rows(t, b);
    name_common_pairs(t, &kernels);
    print_products(t, w, &kernels);
    add_negatives(t, b, &results);
    name_common_pairs(t, &results);
    print_target(t, w, &results);
    print_conditions(t, w);
}

// --- what can be said in standard operators --------------------------------------------------------------------------

static bool is_sum(int n, const double *factors, double factor, double part)
{
    bool is_sum = true;
    for (int i = 0; i < n; i++)
        is_sum = is_sum && (factors[i] == 0 || fabs(factors[i]) == factor || fabs(factors[i]) == part);
    return is_sum;
}

static bool has_sums(const struct bilinear *b)
{
    bool has_sums = !b->is_window || (b->n_result == RESULTS && product_of_all(b) >= 0);
    for (int p = 0; p < b->n_products && has_sums; p++) {
        double scale = fabs(scale_of(b, p));
        has_sums = is_sum(b->n_first, b->of_first[p], 1 / scale, 1 / scale / b->divisor) &&
                   is_sum(b->n_second, b->of_second[p], scale * b->divisor, 0);
    }
    for (int i = 0; i < b->n_result && has_sums; i++)
        has_sums = is_sum(b->n_products, b->to_result[i], 1, 1);
    return has_sums;
}

void bilinear_rules_print(struct text *t)
{
    struct bilinear b;
    for (size_t i = 0; i < bilinear_count(); i++) {
        if (!bilinear_take(i, &b) || !has_sums(&b))
            continue;
        if (!b.is_window)
            print_matrices(t, &b);
        for (int variant = 0; b.is_window && variant < 2 * RESULTS; variant++)
            print_windows(t, &(struct windows){&b, variant % 2 == 1, variant / 2});
    }
}
