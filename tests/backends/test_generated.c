// Forms of correlation against what they are to compute, and functions of generated rows against those of C.
#include "backends/generated/bilinear.h"
#include "backends/generated/rows.h"
#include "tests/backends/elsewhere.h"
#include "tests/backends/parts.h"

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

static void run_one_function(struct programs *service, const struct machine *m, enum scalar_function fn, bool reduces,
                             float *x, float *z)
{
    struct one_function f;
    TEXT(text);
    float *addresses[] = {x, z};
    one_function_init(&f, fn, reduces);
    struct rows_kernel k FREED_BY(rows_kernel_free) = {0};
    assert_true(rows_print(&text, &f.step, m->lanes, &k));
    const void *given[] = {addresses, k.numbers.list.items};
    run_in_parts(service, &text, given, NULL, 0, 2, z, reduces ? 2 : 2 * N_SPECIAL);
}

static double allowed_of(double wanted)
{
    return ERROR_OF_FUNCTIONS * fabs(wanted) + 1e-36;
}

static void check_function(struct programs *service, const struct machine *m, enum scalar_function fn,
                           double (*function)(double))
{
    float x[2 * N_SPECIAL], z[2 * N_SPECIAL + 1];
    memcpy(x, special, sizeof special);
    memcpy(x + N_SPECIAL, special, sizeof special);
    run_one_function(service, m, fn, false, x, z);
    for (int64_t i = 0; i < 2 * N_SPECIAL; i++) {
        double wanted = (double)(float)function(x[i]);
        if (isnan(wanted)   ? !isnan(z[i])
            : isinf(wanted) ? z[i] != wanted
                            : !(fabs(z[i] - wanted) <= allowed_of(wanted)))
            fail_msg("function %d of %g is %.9g, for %.9g", (int)fn, x[i], z[i], wanted);
    }
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
static void check_reductions(struct programs *service, const struct machine *m)
{
    float x[2 * N_SPECIAL], z[3];
    for (int64_t i = 0; i < 2 * N_SPECIAL; i++)
        x[i] = (float)(i % 7) - 20;
    for (int64_t at = 0; at < N_SPECIAL; at++) {
        x[at] = NAN;
        run_one_function(service, m, FN_MAX, true, x, z);
        assert_true(isnan(z[0]) && z[1] == -14);
        run_one_function(service, m, FN_ADD, true, x, z);
        double sum = 0;
        for (int64_t i = N_SPECIAL; i < 2 * N_SPECIAL; i++)
            sum += x[i];
        assert_true(isnan(z[0]) && z[1] == sum);
        x[at] = -20;
    }
}

static const struct {
    enum scalar_function fn;
    double (*function)(double);
} functions[] = {{FN_EXP, exp},   {FN_SIGMOID, sigmoid}, {FN_TANH, tanh}, {FN_ERF, erf},
                 {FN_SQRT, sqrt}, {FN_RELU, relu},       {FN_ABS, fabs}};

// By a constant they are products, but where its reciprocal is no normal number, or whole quotients would not be whole.
static void check_quotients(struct programs *service, const struct machine *m, float by, bool are_products)
{
    float x[2 * N_SPECIAL], z[2 * N_SPECIAL + 1];
    struct one_function f;
    TEXT(text);
    float *addresses[] = {x, z};
    one_function_init(&f, FN_DIV, false);
    struct instruction codes[] = {{.kind = INSTRUCTION_CONSTANT, .constant = (double)by}, f.code};
    codes[1].b = VALUE_OF_INSTRUCTION;
    f.to.value = VALUE_OF_INSTRUCTION | 1;
    f.loop.n_instructions = 2;
    f.loop.instructions = codes;
    struct rows_kernel k FREED_BY(rows_kernel_free) = {0};
    assert_true(rows_print(&text, &f.step, m->lanes, &k));
    assert_true(!strstr(text.chars, "x0 / t0") == are_products);
    const void *given[] = {addresses, k.numbers.list.items};
    memcpy(x, special, sizeof special);
    for (int i = 0; i < N_SPECIAL; i++)
        x[N_SPECIAL + i] = (float)(1 + 11 * i) * by;
    run_in_parts(service, &text, given, NULL, 0, 1, z, 2 * N_SPECIAL);
    for (int64_t i = 0; i < 2 * N_SPECIAL; i++) {
        float wanted = x[i] / by;
        bool is_whole = (double)wanted * (double)by == (double)x[i];
        assert_true(isnan(wanted)               ? isnan(z[i])
                    : isinf(wanted) || is_whole ? z[i] == wanted
                                                : fabs((double)z[i] - (double)wanted) <= allowed_of((double)wanted));
    }
}

// A quotient by a constant, less a number that it is: no instruction adds the product before it is rounded.
static void quotient_less_init(struct one_function *f, struct instruction codes[4], float by, float less)
{
    one_function_init(f, FN_DIV, false);
    codes[0] = (struct instruction){.kind = INSTRUCTION_CONSTANT, .constant = (double)by};
    codes[1] = f->code;
    codes[1].b = VALUE_OF_INSTRUCTION;
    codes[2] = (struct instruction){.kind = INSTRUCTION_CONSTANT, .constant = (double)less};
    codes[3] =
        (struct instruction){INSTRUCTION_APPLY, FN_SUB, VALUE_OF_INSTRUCTION | 1, VALUE_OF_INSTRUCTION | 2, 0, 0};
    f->to.value = VALUE_OF_INSTRUCTION | 3;
    f->loop.n_instructions = 4;
    f->loop.instructions = codes;
}

static void check_quotient_less(struct programs *service, const struct machine *m, float by, float less)
{
    float x[2 * N_SPECIAL], z[2 * N_SPECIAL];
    float *addresses[] = {x, z};
    struct one_function f;
    struct instruction codes[4];
    TEXT(text);
    generated_run_fn *run;
    quotient_less_init(&f, codes, by, less);
    struct rows_kernel k FREED_BY(rows_kernel_free) = {0};
    assert_true(rows_print(&text, &f.step, m->lanes, &k) && strstr(text.chars, "NAMED(rounded)(x0 * "));
    find_run(service, &text, &run);
    for (int i = 0; i < 2 * N_SPECIAL; i++)
        x[i] = by * less;
    run((const void *[]){addresses, k.numbers.list.items}, NULL, 0, 1);
    for (int i = 0; i < 2 * N_SPECIAL; i++)
        assert_true(z[i] == 0);
}

TEST_ON_MACHINES(rows_compute_functions_of_special_values)
{
    check_quotient_less(service, m, 6, 7);
    check_quotient_less(service, m, 768, 5);
    for (size_t i = 0; i < COUNT_OF(functions); i++)
        check_function(service, m, functions[i].fn, functions[i].function);
    check_reductions(service, m);
    for (size_t i = 0; i < 3; i++) {
        check_quotients(service, m, (const float[]){6, -0.1f, 768}[i], true);
        check_quotients(service, m, (const float[]){0, 1e-40f, 41}[i], false);
        check_quotients(service, m, (const float[]){INFINITY, 3e38f, -94}[i], false);
    }
}

#define RUN_OF_ROWS                                                                                                    \
    "float *addresses[] = {(float *)NAMED(x), NAMED(y)};\n"                                                            \
    "const void *given[] = {addresses, NAMED(told)};\nNAMED(run)(given, 0, part, parts);\n"

static void add_function(struct elsewhere *e, size_t i)
{
    enum { N = 2 * N_SPECIAL };
    float x[N];
    double wanted[N], allowed[N];
    struct one_function f;
    elsewhere_begin_trial(e);
    one_function_init(&f, functions[i].fn, false);
    struct rows_kernel k FREED_BY(rows_kernel_free) = {0};
    assert_true(rows_print(&e->text, &f.step, 4, &k));
    for (int j = 0; j < N; j++) {
        x[j] = special[j % N_SPECIAL];
        wanted[j] = (double)(float)functions[i].function(x[j]);
        allowed[j] = allowed_of(wanted[j]);
    }
    add_floats(e, "x", x, N);
    add_integers(e, "told", k.numbers.list.items, k.numbers.list.count);
    elsewhere_end_trial(e, N, wanted, allowed, 0, 2, RUN_OF_ROWS);
}

static void add_quotient_less(struct elsewhere *e, float by, float less)
{
    enum { N = 2 * N_SPECIAL };
    float x[N];
    double nothing[N] = {0};
    struct one_function f;
    struct instruction codes[4];
    elsewhere_begin_trial(e);
    quotient_less_init(&f, codes, by, less);
    struct rows_kernel k FREED_BY(rows_kernel_free) = {0};
    assert_true(rows_print(&e->text, &f.step, 4, &k));
    for (int i = 0; i < N; i++)
        x[i] = by * less;
    add_floats(e, "x", x, N);
    add_integers(e, "told", k.numbers.list.items, k.numbers.list.count);
    elsewhere_end_trial(e, N, nothing, nothing, 0, 2, RUN_OF_ROWS);
}

TEST(rows_run_on_aarch64)
{
    ELSEWHERE(e);
    assert_true(machine.lanes == 4);
    add_quotient_less(&e, 6, 7);
    add_quotient_less(&e, 768, 5);
    for (size_t i = 0; i < COUNT_OF(functions); i++)
        add_function(&e, i);
    elsewhere_run(&e);
}

int main(void)
{
    return access("/usr/bin/cc", X_OK) == 0 ? tests_run("*") : 77;
}
