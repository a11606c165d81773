// Kernels of register tiles against plain sums in double precision: windows, steps, dilations, groups, borders and
// layouts of every kind, residues of tiles, epilogues, parts, instruction sets that this processor has, addresses at
// multiples of 4 bytes, and NaN.
#include "backends/generated/tile_arguments.h"
#include "backends/generated/tile_text.h"
#include "backends/planning/plan.h"
#include "backends/programs/programs.h"
#include "tests/backends/elsewhere.h"
#include "tests/backends/machines.h"
#include "tests/support/check.h"
#include <unistd.h>

enum layout_of_image { LAST, BLOCKS, ROWS };
struct trial {
    struct tile_definition d;
    struct tile_schedule s;
    struct loop epilogue;
    struct tile_image operands[3];   // the sum, a bias, a residual
    enum layout_of_image from, to;
    int parts, misplaced;   // entries behind a multiple of 64 bytes
};
struct values {
    float *x, *w, *bias, *residual, *y, *packed;
    size_t n_x, n_w, n_y;
};

static struct tile_image image_of(enum layout_of_image layout, int64_t lanes, int64_t channels, int64_t height,
                                  int64_t width)
{
    int64_t all = channels * height * width;
    if (layout == LAST)
        return (struct tile_image){all, lanes, width * channels, channels, 1};
    if (layout == BLOCKS)
        return (struct tile_image){all, height * width * lanes, width * lanes, lanes, 1};
    return (struct tile_image){all, lanes * height * width, width, 1, height * width};
}

static int64_t place_in(const struct tile_image *i, int64_t lanes, int64_t n, int64_t c, int64_t row, int64_t column)
{
    return n * i->image + c / lanes * i->block + c % lanes * i->lane + row * i->row + column * i->pixel;
}

// relu(sum + bias) * residual
static const struct instruction code[] = {
    {INSTRUCTION_APPLY, FN_ADD, 0, 1, 0, 0},
    {INSTRUCTION_APPLY, FN_RELU, VALUE_OF_INSTRUCTION | 0, 0, 0, 0},
    {INSTRUCTION_APPLY, FN_MUL, VALUE_OF_INSTRUCTION | 1, 2, 0, 0},
};
static struct loop_access accesses[3] = {{.dtype = DTYPE_F32}, {.dtype = DTYPE_F32}, {.dtype = DTYPE_F32}};
static struct loop_result results[1] = {{VALUE_OF_INSTRUCTION | 2, {.dtype = DTYPE_F32}}};

static void complete(struct trial *t, bool has_epilogue)
{
    struct tile_definition *d = &t->d;
    int64_t from = d->groups * d->channels, to = d->groups * d->results;
    d->source = image_of(t->from, d->lanes, from, d->height, d->width);
    d->target = image_of(t->to, d->lanes, to, d->result_height, d->result_width);
    t->operands[1] = (struct tile_image){0, d->lanes, 0, 0, 1};
    t->operands[2] = d->target;
    t->epilogue = (struct loop){.rank = 4,
                                .n_operands = 3,
                                .n_instructions = 3,
                                .n_results = 1,
                                .operands = accesses,
                                .instructions = (struct instruction *)code,
                                .results = results};
    d->epilogue.operands = t->operands;
    d->epilogue.loop = has_epilogue ? &t->epilogue : NULL;
}

static float *new_floats(size_t n, int misplaced, struct random *random)
{
    float *all = aligned_alloc(64, (n + 32) * sizeof *all / 64 * 64 + 64);
    for (size_t i = 0; i < n + 16; i++)
        all[i] = (float)(2 * random_unit(random) - 1);
    return all + misplaced;
}

static struct values make_values(const struct trial *t, struct random *random)
{
    const struct tile_definition *d = &t->d;
    struct values v;
    v.n_x = (size_t)(d->images * d->groups * d->channels * d->height * d->width);
    v.n_w = (size_t)(d->groups * d->results * d->channels * d->window.kernel[0] * d->window.kernel[1]);
    v.n_y = (size_t)(d->images * d->groups * d->results * d->result_height * d->result_width);
    v.x = new_floats(v.n_x, t->misplaced, random);
    v.w = new_floats(v.n_w, t->misplaced, random);
    v.bias = new_floats((size_t)(d->groups * d->results), t->misplaced, random);
    v.residual = new_floats(v.n_y, t->misplaced, random);
    v.y = new_floats(v.n_y, t->misplaced, random);
    v.packed = new_floats(tile_weights_floats(d, &t->s), 0, random);
    return v;
}

static void free_values(const struct trial *t, struct values *v)
{
    free(v->x - t->misplaced);
    free(v->w - t->misplaced);
    free(v->bias - t->misplaced);
    free(v->residual - t->misplaced);
    free(v->y - t->misplaced);
    free(v->packed);
}

static double sum_at(const struct trial *t, const struct values *v, int64_t n, int64_t f, int64_t row, int64_t column,
                     double *ret_norm)
{
    const struct tile_definition *d = &t->d;
    double sum = 0;
    for (int64_t i = 0; i < d->channels * d->window.kernel[0] * d->window.kernel[1]; i++) {
        int64_t c = i / d->window.kernel[1] / d->window.kernel[0], r = i / d->window.kernel[1] % d->window.kernel[0],
                s = i % d->window.kernel[1];
        int64_t y = row * d->window.stride[0] + r * d->window.dilation[0] - d->window.pad[0];
        int64_t x = column * d->window.stride[1] + s * d->window.dilation[1] - d->window.pad[1];
        if (y < 0 || x < 0 || y >= d->height || x >= d->width)
            continue;
        int64_t channel = f / d->results * d->channels + c;
        int lanes = d->reading.lanes ? d->reading.lanes : d->lanes;
        double term = (double)v->x[place_in(&d->source, lanes, n, channel, y, x)] *
                      v->w[((f * d->channels + c) * d->window.kernel[0] + r) * d->window.kernel[1] + s];
        sum += term;
        *ret_norm += fabs(term);
    }
    return sum;
}

static void run_kernel(struct programs *service, const struct trial *t, struct values *v)
{
    TEXT(text);
    struct error error = {0};
    struct program program;
    tile_run_fn *run;
    int64_t *numbers = calloc(tile_n_numbers(&t->d, &t->s), sizeof *numbers);
    const int64_t each = t->d.window.kernel[0] * t->d.window.kernel[1];
    const int64_t strides[4] = {t->d.channels * each, each, t->d.window.kernel[1], 1};
    const float *operands[3] = {NULL, v->bias, v->residual};
    tile_print(&text, &t->d, &t->s);
    const char *chars = text.chars;
    if (!programs_find(service, chars, &program, &error))
        fail_msg("%s", error.message);
    void *address = program_function(&program, "run");
    memcpy(&run, &address, sizeof run);
    tile_pack(&t->d, &t->s, v->w, strides, v->packed, 0, tile_weight_groups(&t->d, &t->s));
    tile_list_numbers(&t->d, &t->s, numbers);
    for (size_t i = 0; i < v->n_y; i++)
        v->y[i] = NAN;
    v->y[v->n_y] = 77;
    for (int part = 0; part < t->parts; part++)
        run(v->x, v->packed, v->y, operands, NULL, numbers, part, t->parts);
    assert_true(v->y[v->n_y] == 77);
    free(numbers);
}

#define ERROR_OF_SUMS 1e-6   // of the sum of the terms' sizes

// The result's entry `i`, counted by image, channel, row and column, and where it stands.
static double wanted_at(const struct trial *t, const struct values *v, int64_t i, int64_t *ret_at, double *ret_norm)
{
    const struct tile_definition *d = &t->d;
    int64_t column = i % d->result_width, row = i / d->result_width % d->result_height;
    int64_t f = i / d->result_width / d->result_height % (d->groups * d->results);
    int64_t n = i / d->result_width / d->result_height / (d->groups * d->results);
    *ret_at = place_in(&d->target, d->lanes, n, f, row, column);
    *ret_norm = 1;
    double wanted = sum_at(t, v, n, f, row, column, ret_norm);
    if (d->epilogue.has_relu && wanted < 0)
        wanted = 0;
    if (d->epilogue.loop)
        wanted = (wanted + v->bias[f] < 0 ? 0 : wanted + v->bias[f]) * v->residual[*ret_at];
    return wanted;
}

static void check_entry(const struct trial *t, const struct values *v, int64_t i)
{
    const struct tile_definition *d = &t->d;
    int64_t at;
    double norm, wanted = wanted_at(t, v, i, &at, &norm);
    if (isnan(wanted)   ? !isnan(v->y[at])
        : isinf(wanted) ? v->y[at] != wanted
                        : !(fabs(v->y[at] - wanted) <= ERROR_OF_SUMS * norm))
        fail_msg("%d lanes, p %d, q %d, t %d, %dx%d by %dx%d, %d groups of %d to %d: entry %d is %.9g for %.9g",
                 d->lanes, t->s.pixels, t->s.vectors, (int)t->s.tiles, (int)d->height, (int)d->width,
                 (int)d->window.kernel[0], (int)d->window.kernel[1], (int)d->groups, (int)d->channels, (int)d->results,
                 (int)at, v->y[at], wanted);
}

static void check_trial(struct programs *service, const struct trial *t, double special, struct random *random)
{
    struct values v = make_values(t, random);
    v.x[v.n_x / 2] = special != 0 ? (float)special : v.x[v.n_x / 2];
    run_kernel(service, t, &v);
    for (int64_t i = 0; i < (int64_t)v.n_y; i++)
        check_entry(t, &v, i);
    free_values(t, &v);
}

static int64_t one_to(struct random *random, int most)
{
    return 1 + (int64_t)random_below(random, (uint64_t)most);
}

// Depthwise, in small groups, in large ones, or in one.
static void choose_channels(struct trial *t, int number, struct random *random)
{
    struct tile_definition *d = &t->d;
    int64_t small[] = {1, 2, d->lanes / 2, 1};
    d->groups = 1;
    t->s.vectors = (int)one_to(random, 3);
    if (number % 3 == 0) {
        d->channels = d->results = small[random_below(random, 4)];
        d->groups = (d->lanes + d->lanes * (int64_t)random_below(random, 3)) / d->channels;
        if (t->from == LAST && t->to == LAST)
            d->groups += (int64_t)random_below(random, 3);
        t->s.vectors = 1;
    } else if (number % 3 == 1) {
        d->groups = one_to(random, 3);
        d->channels = d->lanes * one_to(random, 2);
        d->results = d->lanes * t->s.vectors * one_to(random, 2);
    } else {
        d->channels = t->from == BLOCKS ? d->lanes * one_to(random, 3) : one_to(random, 20);
        d->results = d->lanes * (t->s.vectors + (int64_t)random_below(random, 3));
        d->results += t->to == LAST ? (int64_t)random_below(random, (uint64_t)d->lanes) : 0;
        if (t->to == LAST && number % 2 == 0) {   // within a group, by half a vector or otherwise
            d->results = d->lanes * t->s.vectors + (number % 4 ? one_to(random, d->lanes - 1) : d->lanes / 2);
            t->s.vectors++;
        }
    }
}

static void choose_window(struct tile_definition *d, int i, struct random *random)
{
    int64_t *size = i ? &d->width : &d->height, *result = i ? &d->result_width : &d->result_height;
    d->window.kernel[i] = one_to(random, 5);
    d->window.stride[i] = one_to(random, 3);
    d->window.dilation[i] = one_to(random, 2);
    d->window.pad[i] = (int64_t)random_below(random, 4);
    *size = one_to(random, 19);
    int64_t places = *size + d->window.pad[i] + (int64_t)random_below(random, 4) -
                     (d->window.kernel[i] - 1) * d->window.dilation[i] - 1;
    *result = places < 0 ? 1 : places / d->window.stride[i] + 1;
}

static struct trial random_trial(const struct machine *m, int number, struct random *random)
{
    struct trial t = {.from = number % 3 == 0 ? random_below(random, 2) : random_below(random, 3),
                      .to = random_below(random, 2),
                      .parts = (int)one_to(random, 3),
                      .s = {.pixels = (int)one_to(random, 9), .tiles = one_to(random, 20)}};
    t.d.lanes = m->lanes;
    t.d.registers = m->registers;
    t.d.images = one_to(random, 2);
    choose_channels(&t, number, random);
    choose_window(&t.d, 0, random);
    choose_window(&t.d, 1, random);
    t.d.epilogue.has_relu = random_below(random, 2);
    t.misplaced = number % 2 ? 0 : 1 + (int)random_below(random, 15);
    return t;
}

// False: there is no kernel for it.
static bool trial_init(struct trial *t, const struct machine *m, int number, struct random *random)
{
    *t = random_trial(m, number, random);
    complete(t, random_below(random, 2));
    if (t->to == LAST && number % 2 && !tile_is_lanewise(&t->d))
        assert_true(tile_narrow(&t->d, t->operands, t->d.lanes / 2));
    return tile_suits(&t->d, &t->s);
}

#define TRIALS 36   // for each instruction set
#define SEED 11

static void expect_trials(struct programs *service, const struct machine *machine, int k)
{
    for (int i = 0; i < n_trials(TRIALS); i++) {
        TEXT(text);
        struct trial t;
        struct random random = random_of_trial(SEED, k, i);
        if (!trial_init(&t, machine, i, &random))
            continue;
        tile_print(&text, &t.d, &t.s);
        programs_expect(service, text.chars);
    }
}

static void kernels_compute_convolutions(void **state)
{
    static const double specials[] = {0, 0, NAN, INFINITY, -INFINITY};
    struct machine machines[4];
    int n, n_tried = 0;
    list_machines(machines, &n);
    for (int k = 0; k < n && machines[k].is_here; k++) {
        struct programs *service = open_service(&machines[k]);
        expect_trials(service, &machines[k], k);
        for (int i = 0; i < n_trials(TRIALS); i++) {
            struct trial t;
            struct random random = random_of_trial(SEED, k, i);
            if (!trial_init(&t, &machines[k], i, &random))
                continue;
            assert_true(!t.d.epilogue.loop || tile_takes_epilogue(&t.d));
            check_trial(service, &t, specials[i % 5], &random);
            n_tried++;
        }
        programs_close(service);
    }
    assert_true(n_tried > 4 || n == 0 || !machines[0].is_here);
}

// The last half of a vector, where channels stand side by side.
static void halves_are_summed_by_pairs(void **state)
{
    struct machine machines[4];
    struct random random = random_seed(13);
    int n;
    list_machines(machines, &n);
    for (int k = 0; k < n; k++) {
        struct programs *service = open_service(&machines[k]);
        int lanes = machines[k].lanes;
        for (int i = 0; machines[k].is_here && i < 8; i++) {
            struct trial t = {.from = i % 2 ? BLOCKS : LAST, .to = LAST, .parts = 2, .misplaced = i};
            t.s = (struct tile_schedule){5 - i / 2, 2 + i / 2, 2, 0};
            t.d = (struct tile_definition){.lanes = lanes,
                                           .registers = machines[k].registers,
                                           .images = 2,
                                           .groups = 1,
                                           .channels = i % 2 ? 2 * lanes : 2 + 4 * i,
                                           .results = lanes * (t.s.vectors - 1) + lanes / 2,
                                           .height = 5,
                                           .width = 7,
                                           .result_height = i % 3 ? 5 : 3,
                                           .result_width = i % 3 ? 7 : 4,
                                           .window = {.kernel = {i % 3 ? 1 : 3, i % 3 ? 1 : 3},
                                                      .stride = {i % 3 ? 1 : 2, i % 3 ? 1 : 2},
                                                      .dilation = {1, 1},
                                                      .pad = {i % 3 ? 0 : 1, i % 3 ? 0 : 1}}};
            complete(&t, i % 4 < 2);
            assert_true(tile_suits(&t.d, &t.s) && tile_shape_of(&t.d, &t.s).has_pairs);
            check_trial(service, &t, i % 2 ? 0 : INFINITY, &random);
        }
        programs_close(service);
    }
}

// In one chain as many equal terms lose 5e-5 of their sum.
static void long_sums_keep_their_digits(void **state)
{
    struct machine machines[4];
    struct random random = random_seed(12);
    int n;
    list_machines(machines, &n);
    for (int k = 0; k < n; k++) {
        struct programs *service = open_service(&machines[k]);
        for (enum layout_of_image from = LAST; machines[k].is_here && from <= ROWS; from++) {
            struct trial t = {.from = from, .to = LAST, .parts = 1, .s = {.pixels = 3, .vectors = 2, .tiles = 4}};
            t.d = (struct tile_definition){.lanes = machines[k].lanes,
                                           .registers = machines[k].registers,
                                           .images = 1,
                                           .groups = 1,
                                           .channels = 2048,
                                           .results = 2 * machines[k].lanes,
                                           .height = 2,
                                           .width = 4,
                                           .result_height = 1,
                                           .result_width = 3,
                                           .window.kernel = {2, 2},
                                           .window.stride = {1, 1},
                                           .window.dilation = {1, 1}};
            complete(&t, false);
            struct values v = make_values(&t, &random);
            for (size_t i = 0; i < v.n_x; i++)
                v.x[i] = 0.3F;
            for (size_t i = 0; i < v.n_w; i++)
                v.w[i] = 0.7F;
            run_kernel(service, &t, &v);
            double wanted = 4 * 2048 * (double)0.3F * (double)0.7F;
            for (size_t i = 0; i < v.n_y; i++)
                assert_true(fabs(v.y[i] - wanted) <= 5e-6 * wanted);
            free_values(&t, &v);
        }
        programs_close(service);
    }
}

// --- another processor -----------------------------------------------------------------------------------------------

static void add_numbers(struct text *text, const struct trial *t)
{
    size_t n = tile_n_numbers(&t->d, &t->s);
    int64_t *numbers = calloc(n, sizeof *numbers);
    tile_list_numbers(&t->d, &t->s, numbers);
    add_integers(text, "n", numbers, n);
    free(numbers);
}

static void add_wanted(struct text *text, const struct trial *t, const struct values *v)
{
    float *wanted = calloc(v->n_y, sizeof *wanted), *allowed = calloc(v->n_y, sizeof *allowed);
    for (int64_t i = 0; i < (int64_t)v->n_y; i++) {
        int64_t at;
        double norm, value = wanted_at(t, v, i, &at, &norm);
        wanted[at] = (float)value;
        allowed[at] = (float)(ERROR_OF_SUMS * norm);
    }
    add_floats(text, "wanted", wanted, v->n_y);
    add_floats(text, "allowed", allowed, v->n_y);
    free(wanted);
    free(allowed);
}

static void add_trial(struct text *text, const struct trial *t, int number, struct random *random)
{
    struct values v = make_values(t, random);
    const int64_t each = t->d.window.kernel[0] * t->d.window.kernel[1];
    const int64_t strides[4] = {t->d.channels * each, each, t->d.window.kernel[1], 1};
    tile_pack(&t->d, &t->s, v.w, strides, v.packed, 0, tile_weight_groups(&t->d, &t->s));
    text_printf(text, "#undef NAMED\n#define NAMED(name) trial_%d_##name\n", number);
    tile_print(text, &t->d, &t->s);
    add_floats(text, "x", v.x, v.n_x);
    add_floats(text, "w", v.packed, tile_weights_floats(&t->d, &t->s));
    add_floats(text, "bias", v.bias, (size_t)(t->d.groups * t->d.results));
    add_floats(text, "residual", v.residual, v.n_y);
    add_numbers(text, t);
    add_wanted(text, t, &v);
    text_printf(text,
                "static float NAMED(y)[%zu];\nint NAMED(fails)(void)\n{\n"
                "const float *operands[3] = {0, NAMED(bias), NAMED(residual)};\nint n_false = 0;\n"
                "for (int part = 0; part < %d; part++)\n"
                "NAMED(run)(NAMED(x), NAMED(w), NAMED(y), operands, 0, NAMED(n), part, %d);\n"
                "for (int i = 0; i < %zu; i++)\n"
                "n_false += !(__builtin_fabsf(NAMED(y)[i] - NAMED(wanted)[i]) <= NAMED(allowed)[i]);\n"
                "return n_false;\n}\n",
                v.n_y, t->parts, t->parts, v.n_y);
    free_values(t, &v);
}

static void kernels_run_on_aarch64(void **state)
{
    const struct machine machine = {.lanes = 4, .registers = 32};
    struct random random = random_seed(12);
    struct text text = {0}, calls = {0};
    if (!has_elsewhere())
        skip();
    for (int i = 0; i < TRIALS; i++) {
        struct trial t = random_trial(&machine, i, &random);
        complete(&t, random_below(&random, 2));
        if (!tile_suits(&t.d, &t.s))
            continue;
        add_trial(&text, &t, i, &random);
        text_printf(&calls, " || trial_%d_fails()", i);
    }
    assert_int_equal(run_elsewhere(&text, &calls), 0);
    text_free(&text);
    text_free(&calls);
}

// --- schedules -------------------------------------------------------------------------------------------------------

static void schedules_are_read_as_they_are_printed(void **state)
{
    static const char *const wrong[] = {"",
                                        "(tile)",
                                        "(tile p:0 q:1 t:1)",
                                        "(tile p:33 q:1 t:1)",
                                        "(tile p:1 q:6 t:1)",
                                        "(tile p:1 q:1 t:1 l:-8)",
                                        "(tile p:1 q:1 t:1 l:8) ",
                                        "(tile p:1 q:1 t:0)",
                                        "(tile p:1 q:1 t:1) ",
                                        "(tile p:1 q:1 t:-3)"};
    static const char *const right[] = {"(tile p:14 q:2 t:12544)", "(tile p:9 q:3 t:56 l:8)"};
    struct tile_schedule s;
    for (size_t i = 0; i < COUNT_OF(right); i++) {
        struct text text = {0};
        assert_true(tile_schedule_parse(right[i], &s));
        tile_schedule_print(&text, &s);
        assert_string_equal(text.chars, right[i]);
        text_free(&text);
    }
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_false(tile_schedule_parse(wrong[i], &s));
}

RUN_TESTS(TEST(kernels_compute_convolutions), TEST(halves_are_summed_by_pairs), TEST(long_sums_keep_their_digits),
          TEST(kernels_run_on_aarch64), TEST(schedules_are_read_as_they_are_printed))
