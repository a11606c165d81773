// Generated kernels against plain sums in double precision: all residues of tiles, borders, layouts, epilogues, parts,
// instruction sets that this processor has, addresses at multiples of 4 bytes; and forms of correlation against what
// they are to compute.
#include "backends/generated/bilinear.h"
#include "backends/generated/rows.h"
#include "backends/generated/tile_arguments.h"
#include "backends/generated/winograd.h"
#include "backends/programs/programs.h"
#include "tests/backends/elsewhere.h"
#include "tests/backends/machines.h"
#include "tests/support/check.h"
#include <unistd.h>

// --- forms -----------------------------------------------------------------------------------------------------------

static double entry_of_form(const struct bilinear *f, int i, int k, int l)
{
    double sum = 0;
    for (int j = 0; j < f->n; j++)
        sum += f->a[i][j] * f->g[j][k] * f->b[j][l];
    return sum;
}

static void check_form(int m, int r, const double *points)
{
    struct bilinear f;
    bilinear_make(m, r, points, &f);
    for (int i = 0; i < m; i++)
        for (int k = 0; k < r; k++)
            for (int l = 0; l < f.n; l++)
                assert_true(fabs(entry_of_form(&f, i, k, l) - (l == i + k)) < 1e-12);
}

static void forms_are_correlations(void **state)
{
    check_form(2, 3, (double[]){0, 1, -1});
    check_form(4, 3, (double[]){0, 0.75, -0.75, 1.5, -1.5});
    check_form(4, 3, (double[]){0, 1, -1, 2, -2});
    check_form(2, 7, (double[]){0, 0.75, -0.75, 1.5, -1.5, 0.5, -0.5});
    check_form(1, 3, (double[]){0, 1});
    check_form(1, 1, NULL);
}

// Entry (r, p) of the product is the sum of (c, p) of the first operand by (c, r) of the second.
static void strassens_form_is_a_product(void **state)
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
static void forms_of_the_table_are_correlations(void **state)
{
    int found = 0;
    for (int m = 0; m <= BILINEAR_MOST + 1; m++)
        for (int r = 0; r <= BILINEAR_MOST + 1; r++) {
            struct bilinear f;
            if (!bilinear_find(m, r, &f))
                continue;
            found++;
            assert_true(f.m == m && f.r == r);
            for (int i = 0; i < m; i++)
                for (int k = 0; k < r; k++)
                    for (int l = 0; l < f.n; l++)
                        assert_true(fabs(entry_of_form(&f, i, k, l) - (l == i + k)) < 1e-12);
        }
    assert_int_equal(found, 1 + 2 + 3 + 4 + 5 + 7);   // 1, 3, 4, 5, 6, 8 products, of any window but of one place
}

static double square_of_row(const double *row)
{
    double sum = 0;
    for (int i = 0; i < BILINEAR_MOST; i++)
        sum += row[i] * row[i];
    return sum;
}

// How much larger errors of rounding become than those of the plain sum, in so many dimensions: of independent data,
// the root of the sum of squares of all that is multiplied and added for a result.
static double amplification(const struct bilinear *form, int dimensions)
{
    double largest = 0;
    for (int i = 0; i < form->m; i++) {
        double sum = 0;
        for (int j = 0; j < form->n; j++)
            sum += form->a[i][j] * form->a[i][j] * square_of_row(form->g[j]) * square_of_row(form->b[j]);
        largest = fmax(largest, sum);
    }
    return pow(largest / form->r, 0.5 * dimensions);
}

static void points_are_the_better_ones(void **state)
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

// --- kernels ---------------------------------------------------------------------------------------------------------

struct trial {
    struct tile_definition d;
    struct winograd_schedule s;
    struct loop epilogue;
    struct instruction code[3];
    struct loop_result result;
    struct tile_image operands[3];   // the sum, a bias, a residual
    bool is_channels_last, has_bias, has_residual, has_relu;
    int parts, misplaced;   // entries behind a multiple of 64 bytes
};
struct values {
    float *x, *w, *bias, *residual, *y, *scratch, *u;
    size_t n_x, n_w, n_y;
    double *expected, *norm;
};

static struct tile_image image_of(const struct trial *t, int64_t channels, int64_t height, int64_t width)
{
    int64_t lanes = t->d.lanes;
    if (t->is_channels_last)
        return (struct tile_image){height * width * channels, lanes, width * channels, channels, 1};
    return (struct tile_image){height * width * channels, height * width * lanes, width * lanes, lanes, 1};
}

static struct loop_access accesses[3] = {{.dtype = DTYPE_F32}, {.dtype = DTYPE_F32}, {.dtype = DTYPE_F32}};

static void add_instruction(struct trial *t, enum scalar_function fn, uint16_t operand)
{
    int n = t->epilogue.n_instructions++;
    uint16_t before = n ? (uint16_t)(VALUE_OF_INSTRUCTION | (n - 1)) : 0;
    t->code[n] = (struct instruction){INSTRUCTION_APPLY, (uint8_t)fn, before, operand, 0, 0};
    t->result = (struct loop_result){(uint16_t)(VALUE_OF_INSTRUCTION | n), {.dtype = DTYPE_F32}};
}

// relu(relu(sum) + bias + residual), or parts of it.
static void complete(struct trial *t)
{
    struct tile_definition *d = &t->d;
    d->groups = d->window.stride[0] = d->window.stride[1] = d->window.dilation[0] = d->window.dilation[1] = 1;
    d->source = image_of(t, d->channels, d->height, d->width);
    d->target = t->operands[2] = image_of(t, d->results, d->result_height, d->result_width);
    t->operands[1] = (struct tile_image){0, d->lanes, 0, 0, 1};
    t->epilogue = (struct loop){.rank = 4,
                                .n_operands = 3,
                                .n_results = 1,
                                .operands = accesses,
                                .instructions = t->code,
                                .results = &t->result};
    if (t->has_bias)
        add_instruction(t, FN_ADD, 1);
    if (t->has_residual)
        add_instruction(t, FN_ADD, 2);
    if (t->has_relu)
        add_instruction(t, FN_RELU, 0);
    d->epilogue.operands = t->operands;
    d->epilogue.loop = t->epilogue.n_instructions ? &t->epilogue : NULL;
    assert_true(!d->epilogue.loop || tile_takes_epilogue(d));
}

static int64_t place_in(const struct tile_image *i, int64_t lanes, int64_t n, int64_t c, int64_t row, int64_t column)
{
    return n * i->image + c / lanes * i->block + c % lanes + row * i->row + column * i->pixel;
}

static float *new_floats(size_t n, int misplaced, struct random *random)
{
    float *all = aligned_alloc(64, (n + 32) * sizeof *all / 64 * 64 + 64);
    for (size_t i = 0; i < n + 16; i++)
        all[i] = (float)(2 * random_unit(random) - 1);
    return all + misplaced;
}

static int64_t places_of_window(const struct tile_definition *d)
{
    return d->window.kernel[0] * d->window.kernel[1];
}

static struct values make_values(const struct trial *t, struct random *random)
{
    const struct tile_definition *d = &t->d;
    struct values v;
    v.n_x = (size_t)(d->images * d->channels * d->height * d->width);
    v.n_w = (size_t)(d->results * d->channels * places_of_window(d));
    v.n_y = (size_t)(d->images * d->results * d->result_height * d->result_width);
    v.x = new_floats(v.n_x, t->misplaced, random);
    v.w = new_floats(v.n_w, t->misplaced, random);
    v.bias = new_floats((size_t)d->results, t->misplaced, random);
    v.residual = new_floats(v.n_y, t->misplaced, random);
    v.y = new_floats(v.n_y, t->misplaced, random);
    v.scratch = new_floats(winograd_scratch_floats(d, &t->s) * (size_t)t->parts, 0, random);
    v.u = new_floats(winograd_weights_floats(d, &t->s), 0, random);
    v.expected = calloc(v.n_y, sizeof *v.expected);
    v.norm = calloc(v.n_y, sizeof *v.norm);
    return v;
}

static void free_values(const struct trial *t, struct values *v)
{
    free(v->x - t->misplaced);
    free(v->w - t->misplaced);
    free(v->bias - t->misplaced);
    free(v->residual - t->misplaced);
    free(v->y - t->misplaced);
    free(v->scratch);
    free(v->u);
    free(v->expected);
    free(v->norm);
}

static void add_window(const struct tile_definition *d, const struct values *v, int64_t n, int64_t f, int64_t row,
                       int64_t column, double *ret_sum, double *ret_norm)
{
    for (int64_t c = 0; c < d->channels; c++)
        for (int64_t i = 0; i < places_of_window(d); i++) {
            int64_t y = row + i / d->window.kernel[1] - d->window.pad[0],
                    x = column + i % d->window.kernel[1] - d->window.pad[1];
            if (y < 0 || x < 0 || y >= d->height || x >= d->width)
                continue;
            double term = (double)v->x[place_in(&d->source, d->lanes, n, c, y, x)] *
                          v->w[(f * d->channels + c) * places_of_window(d) + i];
            *ret_sum += term;
            *ret_norm += fabs(term);
        }
}

static void compute_expected(const struct trial *t, struct values *v)
{
    const struct tile_definition *d = &t->d;
    for (int64_t i = 0; i < (int64_t)v->n_y; i++) {
        int64_t column = i % d->result_width, row = i / d->result_width % d->result_height;
        int64_t f = i / d->result_width / d->result_height % d->results;
        int64_t n = i / d->result_width / d->result_height / d->results;
        int64_t at = place_in(&d->target, d->lanes, n, f, row, column);
        double sum = 0, norm = 1;
        add_window(d, v, n, f, row, column, &sum, &norm);
        sum = d->epilogue.has_relu && sum < 0 ? 0 : sum;
        sum += (t->has_bias ? v->bias[f] : 0) + (t->has_residual ? v->residual[at] : 0);
        v->expected[at] = t->has_relu && sum < 0 ? 0 : sum;
        v->norm[at] = norm;
    }
}

static void run_kernel(const struct trial *t, struct values *v, const struct program *program)
{
    void *address = program_function(program, "run");
    tile_run_fn *run;
    assert_non_null(address);
    memcpy(&run, &address, sizeof run);
    int64_t window = places_of_window(&t->d);
    winograd_pack(&t->d, &t->s, v->w, t->d.channels * window, window, v->u, 0, winograd_groups(&t->d));
    for (size_t i = 0; i < v->n_y; i++)
        v->y[i] = NAN;
    size_t scratch = winograd_scratch_floats(&t->d, &t->s);
    const float *const operands[3] = {NULL, v->bias, v->residual};
    int64_t *numbers = calloc(winograd_n_numbers(&t->d), sizeof *numbers);
    winograd_list_numbers(&t->d, &t->s, numbers);
    for (int part = 0; part < t->parts; part++)
        run(v->x, v->u, v->y, operands, v->scratch + (size_t)part * scratch, numbers, part, t->parts);
    free(numbers);
}

static void find_kernel(struct programs *service, const struct trial *t, struct program *ret_program)
{
    TEXT(text);
    struct error error = {0};
    winograd_print(&text, &t->d, &t->s);
    const char *chars = text.chars;
    if (!programs_find(service, chars, ret_program, &error))
        fail_msg("%s", error.message);
}

// Of the sum of the terms' sizes, of the result where it is largest: all of a tile are as far off.
static double error_of_sums(const struct trial *t)
{
    return places_of_window(&t->d) <= 4 ? 4e-6 : 2e-6;
}

static double largest_of(const double *values, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, values[i]);
    return largest;
}

static void check_trial(struct programs *service, struct trial *t, struct random *random)
{
    struct program program;
    complete(t);
    assert_true(winograd_suits(&t->d, &t->s));
    struct values v = make_values(t, random);
    find_kernel(service, t, &program);
    compute_expected(t, &v);
    run_kernel(t, &v, &program);
    double norm = largest_of(v.norm, v.n_y);
    for (size_t i = 0; i < v.n_y; i++)
        if (!(fabs(v.y[i] - v.expected[i]) <= error_of_sums(t) * norm))
            fail_msg("%d lanes, window %dx%d, m %d, tiles %d, %dx%d: entry %zu is %.9g for %.9g", t->d.lanes,
                     (int)t->d.window.kernel[0], (int)t->d.window.kernel[1], t->s.m, (int)t->s.tiles, (int)t->d.height,
                     (int)t->d.width, i, v.y[i], v.expected[i]);
    free_values(t, &v);
}

// By which the table of points has a form for tiles of two.
static const int64_t windows[][2] = {{3, 3}, {1, 7}, {3, 3}, {7, 1}, {5, 5}, {3, 3}, {1, 3}, {3, 5}, {1, 1}, {2, 2}};

static struct trial random_trial(const struct machine *m, int number, struct random *random)
{
    struct trial t = {.s = {.m = 2 + 2 * (number & 1)}, .is_channels_last = number & 2, .parts = 1 + number / 4 % 3};
    struct tile_definition *d = &t.d;
    memcpy(d->window.kernel, windows[number % (int)COUNT_OF(windows)], sizeof d->window.kernel);
    bool has_halves = d->window.kernel[0] * d->window.kernel[1] == 1;
    t.s.m = d->window.kernel[0] == 7 || d->window.kernel[1] == 7 || has_halves ? 2
            : d->window.kernel[0] == 2                                         ? 3 + number / 10 % 2
                                                                               : t.s.m;
    d->lanes = m->lanes;
    d->registers = m->registers;
    d->images = 1 + (int64_t)random_below(random, 2);
    d->channels = d->lanes * (1 + (int64_t)random_below(random, 3));
    d->results = d->lanes * (1 + (int64_t)random_below(random, 5));
    d->channels *= 1 + has_halves;
    d->results *= 1 + has_halves;
    d->window.pad[0] = (int64_t)random_below(random, 3);
    d->window.pad[1] = (int64_t)random_below(random, 3);
    d->height = 1 + (int64_t)random_below(random, 13);
    d->width = 1 + (int64_t)random_below(random, 13);
    d->result_height = d->height + d->window.pad[0] + (int64_t)random_below(random, 2) - 2;
    d->result_width = d->width + d->window.pad[1] + (int64_t)random_below(random, 2) - 2;
    d->result_height = d->result_height < 1 ? 1 : d->result_height;
    d->result_width = d->result_width < 1 ? 1 : d->result_width;
    t.has_bias = random_below(random, 2);
    t.has_residual = random_below(random, 2);
    t.has_relu = random_below(random, 2);
    d->epilogue.has_relu = random_below(random, 4) == 0;
    t.s.tiles = 1 + (int64_t)random_below(random, 40);
    t.misplaced = number % 3 ? 0 : 1 + (int)random_below(random, 15);
    return t;
}

#define TRIALS 24
#define SEED 7

static void expect_trials(struct programs *service, const struct machine *machine, int k)
{
    for (int i = 0; i < n_trials(TRIALS); i++) {
        TEXT(text);
        struct random random = random_of_trial(SEED, k, i);
        struct trial t = random_trial(machine, i, &random);
        complete(&t);
        winograd_print(&text, &t.d, &t.s);
        programs_expect(service, text.chars);
    }
}

static void kernels_compute_convolutions(void **state)
{
    struct machine machines[4];
    int n;
    list_machines(machines, &n);
    for (int k = 0; k < n && machines[k].is_here; k++) {
        struct programs *service = open_service(&machines[k]);
        expect_trials(service, &machines[k], k);
        for (int i = 0; i < n_trials(TRIALS); i++) {
            struct random random = random_of_trial(SEED, k, i);
            struct trial t = random_trial(&machines[k], i, &random);
            check_trial(service, &t, &random);
        }
        programs_close(service);
    }
}

static void add_numbers(struct text *text, const struct trial *t)
{
    size_t n = winograd_n_numbers(&t->d);
    int64_t *numbers = calloc(n, sizeof *numbers);
    winograd_list_numbers(&t->d, &t->s, numbers);
    add_integers(text, "told", numbers, n);
    free(numbers);
}

static void add_wanted(struct text *text, const struct trial *t, const struct values *v)
{
    float *wanted = calloc(v->n_y, sizeof *wanted), *allowed = calloc(v->n_y, sizeof *allowed);
    for (size_t i = 0; i < v->n_y; i++) {
        wanted[i] = (float)v->expected[i];
        allowed[i] = (float)(error_of_sums(t) * largest_of(v->norm, v->n_y));
    }
    add_floats(text, "wanted", wanted, v->n_y);
    add_floats(text, "allowed", allowed, v->n_y);
    free(wanted);
    free(allowed);
}

static void add_trial(struct text *text, const struct trial *t, int number, struct random *random)
{
    struct values v = make_values(t, random);
    int64_t window = places_of_window(&t->d);
    winograd_pack(&t->d, &t->s, v.w, t->d.channels * window, window, v.u, 0, winograd_groups(&t->d));
    compute_expected(t, &v);
    text_printf(text, "#undef NAMED\n#define NAMED(name) trial_%d_##name\n", number);
    winograd_print(text, &t->d, &t->s);
    add_floats(text, "x", v.x, v.n_x);
    add_floats(text, "u", v.u, winograd_weights_floats(&t->d, &t->s));
    add_floats(text, "bias", v.bias, (size_t)t->d.results);
    add_floats(text, "residual", v.residual, v.n_y);
    add_numbers(text, t);
    add_wanted(text, t, &v);
    text_printf(text,
                "static float NAMED(y)[%zu], NAMED(scratch)[%zu] __attribute__((aligned(64)));\n"
                "int NAMED(fails)(void)\n{\nconst float *operands[3] = {0, NAMED(bias), NAMED(residual)};\n"
                "int n_false = 0;\nfor (int part = 0; part < %d; part++)\n"
                "NAMED(run)(NAMED(x), NAMED(u), NAMED(y), operands, NAMED(scratch), NAMED(told), part, %d);\n"
                "for (int i = 0; i < %zu; i++)\n"
                "n_false += !(__builtin_fabsf(NAMED(y)[i] - NAMED(wanted)[i]) <= NAMED(allowed)[i]);\n"
                "return n_false;\n}\n",
                v.n_y, winograd_scratch_floats(&t->d, &t->s), t->parts, t->parts, v.n_y);
    free_values(t, &v);
}

static void kernels_run_on_aarch64(void **state)
{
    const struct machine machine = {.lanes = 4, .registers = 32};
    struct random random = random_seed(10);
    TEXT(text);
    TEXT(calls);
    if (!has_elsewhere())
        skip();
    for (int i = 0; i < TRIALS; i++) {
        struct trial t = random_trial(&machine, i, &random);
        complete(&t);
        add_trial(&text, &t, i, &random);
        text_printf(&calls, " || trial_%d_fails()", i);
    }
    assert_int_equal(run_elsewhere(&text, &calls), 0);
}

// Every residue of an image's size by that of tiles, in blocks that tiles fill and that they do not.
static void all_residues_of_tiles_are_computed(void **state)
{
    struct machine machines[4];
    int n;
    struct random random = random_seed(8);
    list_machines(machines, &n);
    while (n && !machines[n - 1].is_here)
        n--;
    if (!n)
        return;
    struct programs *service = open_service(&machines[n - 1]);
    for (int size = 1; size <= 8; size++) {
        struct trial t = {.s = {.m = 4, .tiles = 3}, .parts = 1};
        t.d = (struct tile_definition){.lanes = machines[n - 1].lanes,
                                       .registers = machines[n - 1].registers,
                                       .window.kernel = {3, 3},
                                       .images = 1,
                                       .channels = machines[n - 1].lanes,
                                       .results = machines[n - 1].lanes,
                                       .height = size,
                                       .width = 9 - size,
                                       .result_height = size,
                                       .result_width = 9 - size,
                                       .window.pad = {1, 1}};
        check_trial(service, &t, &random);
    }
    programs_close(service);
}

// One NaN in the source: a result is NaN or as it were without it, and it is NaN where its own window has it.
static void nan_stays_within_its_tiles(void **state)
{
    struct machine machines[4];
    int n;
    struct random random = random_seed(9);
    list_machines(machines, &n);
    struct programs *service = open_service(&machines[0]);
    struct trial t = {.s = {.m = 4, .tiles = 4}, .parts = 1};
    int lanes = machines[0].lanes;
    t.d = (struct tile_definition){.lanes = lanes,
                                   .registers = machines[0].registers,
                                   .window.kernel = {3, 3},
                                   .images = 1,
                                   .channels = lanes,
                                   .results = lanes,
                                   .height = 16,
                                   .width = 16,
                                   .result_height = 16,
                                   .result_width = 16,
                                   .window.pad = {1, 1},
                                   .epilogue.has_relu = true};
    complete(&t);
    struct program program;
    struct values v = make_values(&t, &random);
    find_kernel(service, &t, &program);
    compute_expected(&t, &v);
    v.x[place_in(&t.d.source, lanes, 0, 1, 6, 6)] = NAN;
    run_kernel(&t, &v, &program);
    for (int64_t i = 0; i < 256; i++) {
        int64_t row = i / 16, column = i % 16, at = place_in(&t.d.target, lanes, 0, 0, row, column);
        bool is_own = llabs(row - 6) <= 1 && llabs(column - 6) <= 1;
        bool shares_tile = row >= 4 && row < 8 && column >= 4 && column < 8;
        assert_true(!is_own || isnan(v.y[at]));
        assert_true(shares_tile || fabs(v.y[at] - v.expected[at]) <= error_of_sums(&t) * v.norm[at]);
    }
    free_values(&t, &v);
    programs_close(service);
}

// --- rows ------------------------------------------------------------------------------------------------------------

static const float special[] = {NAN, INFINITY, -INFINITY, 0,   1e-30f, -1e-30f, 0.3f, -0.3f, 1,
                                5,   -5,       50,        -50, 88,     -84,     89,   -100,  1000};
#define N_SPECIAL ((int64_t)COUNT_OF(special))
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
    struct rows_kernel k = {0};
    struct program program;
    struct error error = {0};
    float *addresses[] = {x, z};
    rows_run_fn *run;
    one_function_init(&f, fn, reduces);
    assert_true(rows_print(&text, &f.step, m->lanes, &k));
    const char *chars = text.chars;
    if (!programs_find(service, chars, &program, &error))
        fail_msg("%s", error.message);
    void *address = program_function(&program, "run");
    memcpy(&run, &address, sizeof run);
    run(addresses, k.numbers.list.items, 0, 2);
    run(addresses, k.numbers.list.items, 1, 2);
    rows_kernel_free(&k);
}

static void check_function(struct programs *service, const struct machine *m, enum scalar_function fn,
                           double (*function)(double))
{
    float x[2 * N_SPECIAL], z[2 * N_SPECIAL + 1];
    memcpy(x, special, sizeof special);
    memcpy(x + N_SPECIAL, special, sizeof special);
    z[2 * N_SPECIAL] = 77;
    run_one_function(service, m, fn, false, x, z);
    for (int64_t i = 0; i < 2 * N_SPECIAL; i++) {
        double wanted = (double)(float)function(x[i]);
        if (isnan(wanted)   ? !isnan(z[i])
            : isinf(wanted) ? z[i] != wanted
                            : !(fabs(z[i] - wanted) <= ERROR_OF_FUNCTIONS * fabs(wanted) + 1e-36))
            fail_msg("function %d of %g is %.9g, for %.9g", (int)fn, x[i], z[i], wanted);
    }
    assert_true(z[2 * N_SPECIAL] == 77);
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
    float x[2 * N_SPECIAL], z[2];
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

static void rows_compute_functions_of_special_values(void **state)
{
    struct machine machines[4];
    int n;
    list_machines(machines, &n);
    for (int k = 0; k < n; k++) {
        struct programs *service = open_service(&machines[k]);
        for (size_t i = 0; machines[k].is_here && i < COUNT_OF(functions); i++)
            check_function(service, &machines[k], functions[i].fn, functions[i].function);
        if (machines[k].is_here)
            check_reductions(service, &machines[k]);
        programs_close(service);
    }
}

static void add_function(struct text *text, size_t i)
{
    float x[2 * N_SPECIAL], wanted[2 * N_SPECIAL];
    struct one_function f;
    struct rows_kernel k = {0};
    text_printf(text, "#undef NAMED\n#define NAMED(name) function_%zu_##name\n", i);
    one_function_init(&f, functions[i].fn, false);
    assert_true(rows_print(text, &f.step, 4, &k));
    for (int64_t j = 0; j < 2 * N_SPECIAL; j++) {
        x[j] = special[j % N_SPECIAL];
        wanted[j] = (float)functions[i].function(x[j]);
    }
    add_floats(text, "x", x, 2 * N_SPECIAL);
    add_floats(text, "wanted", wanted, 2 * N_SPECIAL);
    add_integers(text, "n", k.numbers.list.items, k.numbers.list.count);
    text_printf(text,
                "static float NAMED(z)[%lld];\nint NAMED(fails)(void)\n{\nint n_false = 0;\n"
                "float *addresses[] = {(float *)NAMED(x), NAMED(z)};\nfor (int part = 0; part < 2; part++)\n"
                "NAMED(run)(addresses, NAMED(n), part, 2);\nfor (int i = 0; i < %lld; i++) {\n"
                "float z = NAMED(z)[i], wanted = NAMED(wanted)[i];\n"
                "n_false += !(z == wanted || (z != z && wanted != wanted) ||"
                " __builtin_fabs((double)z - wanted) <= %g * __builtin_fabs(wanted) + 1e-36);\n}\nreturn n_false;\n}\n",
                (long long)(2 * N_SPECIAL), (long long)(2 * N_SPECIAL), ERROR_OF_FUNCTIONS);
    rows_kernel_free(&k);
}

static void rows_run_on_aarch64(void **state)
{
    TEXT(text);
    TEXT(calls);
    if (!has_elsewhere())
        skip();
    for (size_t i = 0; i < COUNT_OF(functions); i++) {
        add_function(&text, i);
        text_printf(&calls, " || function_%zu_fails()", i);
    }
    assert_int_equal(run_elsewhere(&text, &calls), 0);
}

// --- schedules -------------------------------------------------------------------------------------------------------

static void schedules_are_read_as_they_are_printed(void **state)
{
    static const char *const wrong[] = {"",
                                        "(winograd)",
                                        "(winograd m:6 tiles:4)",
                                        "(winograd m:4 tiles:0)",
                                        "(winograd m:4 tiles:14) ",
                                        "(winograd m:4 tiles:9999)",
                                        "(winograd m:4 tiles:14"};
    struct winograd_schedule s = {4, 14}, again;
    TEXT(text);
    winograd_schedule_print(&text, &s);
    assert_string_equal(text.chars, "(winograd m:4 tiles:14)");
    assert_true(winograd_schedule_parse(text.chars, &again) && again.m == 4 && again.tiles == 14);
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_false(winograd_schedule_parse(wrong[i], &again));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(forms_are_correlations),
        TEST(forms_of_the_table_are_correlations),
        TEST(strassens_form_is_a_product),
        TEST(points_are_the_better_ones),
        TEST(kernels_compute_convolutions),
        TEST(kernels_run_on_aarch64),
        TEST(all_residues_of_tiles_are_computed),
        TEST(nan_stays_within_its_tiles),
        TEST(schedules_are_read_as_they_are_printed),
        TEST(rows_compute_functions_of_special_values),
        TEST(rows_run_on_aarch64),
    };
    if (access("/usr/bin/cc", X_OK) != 0)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
