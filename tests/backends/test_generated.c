// Forms of correlation against what they are to compute, and functions of generated rows against those of C.
#include "backends/generated/bilinear.h"
#include "backends/generated/rows.h"
#include "tests/backends/kernels.h"

// --- forms -----------------------------------------------------------------------------------------------------------

static double entry_of_form(const struct bilinear *f, int i, int k, int l)
{
    return SUM_ALL(double, int, j, f->n, f->a[i][j] * f->g[j][k] * f->b[j][l]);
}

static void expect_correlation(const struct bilinear *f)
{
    for (int i = 0; i < f->m; i++)
        for (int k = 0; k < f->r; k++)
            for (int l = 0; l < f->n; l++)
                assert_true(fabs(entry_of_form(f, i, k, l) - (l == i + k)) < 1e-12);
}

static void check_form(int m, int r, const double *points)
{
    struct bilinear f;
    bilinear_make(m, r, points, &f);
    assert_true(f.m == m && f.r == r);
    expect_correlation(&f);
}

TEST(forms_are_correlations)
{
    check_form(2, 3, (double[]){0, 1, -1});
    check_form(4, 3, (double[]){0, 0.75, -0.75, 1.5, -1.5});
    check_form(4, 3, (double[]){0, 1, -1, 2, -2});
    check_form(2, 7, (double[]){0, 0.75, -0.75, 1.5, -1.5, 0.5, -0.5});
    check_form(1, 3, (double[]){0, 1});
    check_form(1, 1, NULL);
}

// Entry (r, p) of the product is the sum of (c, p) of the first operand by (c, r) of the second.
TEST(strassens_form_is_a_product)
{
    struct bilinear f;
    bilinear_make_strassen(&f);
    assert_true(f.m == 4 && f.r == 4 && f.inputs == 4 && f.n == 7);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            for (int l = 0; l < 4; l++)
                assert_true(entry_of_form(&f, i, k, l) == (i / 2 == k % 2 && k / 2 == l / 2 && i % 2 == l % 2));
}

// All that the table of points has: of some results and a window.
TEST(forms_of_the_table_are_correlations)
{
    int found = 0;
    for (int m = 0; m <= BILINEAR_MOST + 1; m++)
        for (int r = 0; r <= BILINEAR_MOST + 1; r++) {
            struct bilinear f;
            if (!bilinear_find(m, r, &f))
                continue;
            found++;
            assert_true(f.m == m && f.r == r);
            expect_correlation(&f);
        }
    assert_int_equal(found, 1 + 2 + 3 + 4 + 5 + 7);   // 1, 3, 4, 5, 6, 8 products, of any window but of one place
}

static double square_of_row(const double *row)
{
    return SUM_ALL(double, int, i, BILINEAR_MOST, row[i] * row[i]);
}

// How much larger errors of rounding become than those of the plain sum, in so many dimensions: of independent data,
// the root of the sum of squares of all that is multiplied and added for a result.
static double amplification(const struct bilinear *form, int dimensions)
{
    double largest = 0;
    for (int i = 0; i < form->m; i++) {
        double sum = SUM_ALL(double, int, j, form->n,
                             form->a[i][j] * form->a[i][j] * square_of_row(form->g[j]) * square_of_row(form->b[j]));
        largest = fmax(largest, sum);
    }
    return pow(largest / form->r, 0.5 * dimensions);
}

TEST(points_are_the_better_ones)
{
    struct bilinear f, usual;
    assert_false(bilinear_find(3, 5, &f));
    assert_true(bilinear_find(4, 3, &f));
    bilinear_make(4, 3, (double[]){0, 1, -1, 2, -2}, &usual);
    assert_true(2 * amplification(&f, 2) < amplification(&usual, 2));
    assert_true(bilinear_find(2, 3, &f));
    assert_true(amplification(&f, 2) < 3);
    assert_true(bilinear_find(2, 7, &f));
    assert_true(amplification(&f, 1) < 5);
}

// --- rows ------------------------------------------------------------------------------------------------------------

static const float special[] = {NAN, INFINITY, -INFINITY, 0,   1e-30f, -1e-30f, 0.3f, -0.3f, 1,
                                5,   -5,       50,        -50, 88,     -84,     89,   -100,  1000};
enum { N_SPECIAL = COUNT_OF(special) };
#define ERROR_OF_FUNCTIONS 4e-7   // of the result

// A loop over all entries, or the reduction of them.
struct one_function {
    struct loop_access from;
    struct loop_result to;
    struct instruction code;
    struct loop loop;
    struct step step;
};

static void one_function_init(struct one_function *f, enum scalar_function fn, bool reduces)
{
    f->from = (struct loop_access){.dtype = DTYPE_F32, .stride = {reduces ? N_SPECIAL : 1, reduces}};
    f->to = (struct loop_result){VALUE_OF_INSTRUCTION, {.memory = 1, .dtype = DTYPE_F32, .stride = {1}}};
    f->code = (struct instruction){reduces ? INSTRUCTION_REDUCE : INSTRUCTION_APPLY, (uint8_t)fn, 0, 0, 0, 0};
    f->loop = (struct loop){.rank = 1,
                            .n_reduced = reduces,
                            .dim = {reduces ? 2 : 2 * N_SPECIAL, N_SPECIAL},
                            .n_operands = 1,
                            .n_instructions = 1,
                            .n_results = 1,
                            .operands = &f->from,
                            .instructions = &f->code,
                            .results = &f->to};
    f->step = (struct step){.n_loops = 1, .loops = &f->loop};
}

static double allowed_of(double wanted)
{
    return ERROR_OF_FUNCTIONS * fabs(wanted) + 1e-36;
}

// Its result for these entries: one for each, or two of a reduction. Some text is in the kernel's, or NULL.
static void check_rows(struct place *at, struct one_function *f, const float *x, const double *wanted,
                       const double *allowed, const char *contained)
{
    TEXT(text);
    float z[2 * N_SPECIAL + 1];
    struct rows_kernel k FREED_BY(rows_kernel_free) = {0};
    struct kernel_call c = {&text, .parts = 2, .y = z, .n_y = f->loop.dim[0], .wanted = wanted, .allowed = allowed};
    assert_true(rows_print(&text, &f->step, at->machine->lanes, &k) && strstr(text.chars, contained));
    const void *addresses[] = {give(&c, FLOATS, x, 2 * N_SPECIAL), z};
    GIVE(c, give(&c, ADDRESSES, addresses, 2), give(&c, INTEGERS, k.numbers.list.items, k.numbers.list.count));
    if (!is_collected(at, &text))
        check_call(at, &c);
}

static void check_function(struct place *at, enum scalar_function fn, double (*function)(double))
{
    float x[2 * N_SPECIAL];
    double wanted[2 * N_SPECIAL], allowed[2 * N_SPECIAL];
    struct one_function f;
    one_function_init(&f, fn, false);
    for (int i = 0; i < 2 * N_SPECIAL; i++) {
        x[i] = special[i % N_SPECIAL];
        wanted[i] = (double)(float)function(x[i]);
        allowed[i] = isfinite(wanted[i]) ? allowed_of(wanted[i]) : 0;
    }
    check_rows(at, &f, x, wanted, allowed, "");
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double relu(double x)
{
    return x < 0 ? 0 : x;
}

// Sums and the largest of rows, of which the first has a NaN and the second has none, at whole vectors and the rest.
static void check_reductions(struct place *at)
{
    static const double nothing[2] = {0};
    float x[2 * N_SPECIAL];
    double sum = 0;
    for (int i = 0; i < 2 * N_SPECIAL; i++) {
        x[i] = (float)(i % 7) - 20;
        sum += i < N_SPECIAL ? 0 : (double)x[i];
    }
    for (int i = 0; i < N_SPECIAL; i++) {
        struct one_function f;
        x[i] = NAN;
        one_function_init(&f, FN_MAX, true);
        check_rows(at, &f, x, (const double[]){NAN, -14}, nothing, "");
        one_function_init(&f, FN_ADD, true);
        check_rows(at, &f, x, (const double[]){NAN, sum}, nothing, "");
        x[i] = -20;
    }
}

static const struct {
    enum scalar_function fn;
    double (*function)(double);
} functions[] = {{FN_EXP, exp},   {FN_SIGMOID, sigmoid}, {FN_TANH, tanh}, {FN_ERF, erf},
                 {FN_SQRT, sqrt}, {FN_RELU, relu},       {FN_ABS, fabs}};

// A quotient by a constant, of code that others may follow.
static void quotient_init(struct one_function *f, struct instruction *codes, int n, float by)
{
    one_function_init(f, FN_DIV, false);
    codes[0] = (struct instruction){.kind = INSTRUCTION_CONSTANT, .constant = (double)by};
    codes[1] = f->code;
    codes[1].b = VALUE_OF_INSTRUCTION;
    f->to.value = (uint16_t)(VALUE_OF_INSTRUCTION | (n - 1));
    f->loop.n_instructions = n;
    f->loop.instructions = codes;
}

// By a constant they are products, but where its reciprocal is no normal number, or whole quotients would not be whole.
static void check_quotients(struct place *at, float by, const char *contained)
{
    float x[2 * N_SPECIAL];
    double wanted[2 * N_SPECIAL], allowed[2 * N_SPECIAL];
    struct one_function f;
    struct instruction codes[2];
    quotient_init(&f, codes, 2, by);
    for (int i = 0; i < 2 * N_SPECIAL; i++) {
        x[i] = i < N_SPECIAL ? special[i] : (float)(1 + 11 * (i - N_SPECIAL)) * by;
        wanted[i] = (double)(x[i] / by);
        bool is_whole = wanted[i] * (double)by == (double)x[i];
        allowed[i] = is_whole || !isfinite(wanted[i]) ? 0 : allowed_of(wanted[i]);
    }
    check_rows(at, &f, x, wanted, allowed, contained);
}

// A quotient by a constant, less a number that it is: no instruction adds the product before it is rounded.
static void check_quotient_less(struct place *at, float by, float less)
{
    static const double nothing[2 * N_SPECIAL] = {0};
    float x[2 * N_SPECIAL];
    struct one_function f;
    struct instruction codes[4];
    quotient_init(&f, codes, 4, by);
    codes[2] = (struct instruction){.kind = INSTRUCTION_CONSTANT, .constant = (double)less};
    codes[3] =
        (struct instruction){INSTRUCTION_APPLY, FN_SUB, VALUE_OF_INSTRUCTION | 1, VALUE_OF_INSTRUCTION | 2, 0, 0};
    for (int i = 0; i < 2 * N_SPECIAL; i++)
        x[i] = by * less;
    check_rows(at, &f, x, nothing, nothing, "NAMED(rounded)(x0 * ");
}

TEST_OF_KERNELS(rows_compute_functions_of_special_values)
{
    check_quotient_less(at, 6, 7);
    check_quotient_less(at, 768, 5);
    for (size_t i = 0; i < COUNT_OF(functions); i++)
        check_function(at, functions[i].fn, functions[i].function);
}

TEST_OF_KERNELS_HERE(rows_reduce_and_divide_special_values)
{
    static const float by_products[] = {6, -0.1f, 768};
    static const float by_quotients[] = {0, 1e-40f, 41, INFINITY, 3e38f, -94};
    check_reductions(at);
    for (size_t i = 0; i < COUNT_OF(by_products); i++)
        check_quotients(at, by_products[i], "x0 * ");
    for (size_t i = 0; i < COUNT_OF(by_quotients); i++)
        check_quotients(at, by_quotients[i], "x0 / t0");
}

int main(void)
{
    return access("/usr/bin/cc", X_OK) == 0 ? tests_run("*") : 77;
}
