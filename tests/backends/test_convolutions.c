// Kernels of register tiles and of fewer products (Winograd's and Strassen's) against plain sums in double precision:
// windows, steps, dilations, groups, borders and layouts of every kind, residues of tiles, epilogues, parts, instruction
// sets that this processor has, and another one's, addresses at multiples of 4 bytes, and NaN.
#include "backends/generated/tile_arguments.h"
#include "backends/generated/tile_text.h"
#include "backends/generated/winograd.h"
#include "backends/planning/plan.h"
#include "tests/backends/images.h"
#include "tests/backends/kernels.h"
#include "tests/support/cases.h"

// relu(own relu(sum) + bias + residual) * residual, or parts of it.
struct parts_of_epilogue {
    bool adds_bias, adds_residual, has_relu, multiplies;
};
struct trial {
    struct tile_definition d;
    struct tile_schedule s;
    struct winograd_schedule fewer;   // products; an m of 0: it is of tiles
    enum layout_of_image from, to;
    int parts, misplaced;   // entries behind a multiple of 64 bytes
    struct parts_of_epilogue has;
    struct loop epilogue;
    struct instruction code[4];
    struct loop_result result;
    struct tile_image operands[3];   // the sum, a bias, a residual
};
struct values {
    float *x, *w, *bias, *residual, *y, *packed, *scratch;
    int64_t n_x, n_w, n_y;
    double *wanted, *allowed;
};

// --- kernels of both forms -------------------------------------------------------------------------------------------

static bool has_fewer(const struct trial *t)
{
    return t->fewer.m > 0;
}

static bool suits(const struct trial *t)
{
    return has_fewer(t) ? winograd_suits(&t->d, &t->fewer) : tile_suits(&t->d, &t->s);
}

static void print(struct text *text, const struct trial *t)
{
    if (has_fewer(t))
        winograd_print(text, &t->d, &t->fewer);
    else
        tile_print(text, &t->d, &t->s);
}

static size_t packed_floats(const struct trial *t)
{
    return has_fewer(t) ? winograd_weights_floats(&t->d, &t->fewer) : tile_weights_floats(&t->d, &t->s);
}

static size_t scratch_floats(const struct trial *t)
{
    return has_fewer(t) ? winograd_scratch_floats(&t->d, &t->fewer) : tile_scratch_floats(&t->d, &t->s);
}

static void pack(const struct trial *t, const float *w, float *ret_packed)
{
    const int64_t of_result = weights_of_result(&t->d), each = of_result / t->d.channels;
    const int64_t strides[4] = {of_result, each, t->d.window.kernel[1], 1};
    if (has_fewer(t))
        winograd_pack(&t->d, &t->fewer, w, of_result, each, ret_packed, 0, winograd_groups(&t->d));
    else if (!t->d.reading.is_maximum)
        tile_pack(&t->d, &t->s, w, strides, ret_packed, 0, tile_weight_groups(&t->d, &t->s));
}

static int64_t *list_numbers(const struct trial *t, struct arena *arena, size_t *ret_n)
{
    *ret_n = has_fewer(t) ? winograd_n_numbers(&t->d) : tile_n_numbers(&t->d, &t->s);
    int64_t *numbers = arena_array(arena, int64_t, *ret_n);
    if (has_fewer(t))
        winograd_list_numbers(&t->d, &t->fewer, numbers);
    else
        tile_list_numbers(&t->d, &t->s, numbers);
    return numbers;
}

// --- epilogues -------------------------------------------------------------------------------------------------------

static void add_instruction(struct trial *t, bool is_there, enum scalar_function fn, uint16_t operand)
{
    int n = t->epilogue.n_instructions;
    uint16_t before = n ? (uint16_t)(VALUE_OF_INSTRUCTION | (n - 1)) : 0;
    if (!is_there)
        return;
    t->code[n] = (struct instruction){INSTRUCTION_APPLY, (uint8_t)fn, before, operand, 0, 0};
    t->result = (struct loop_result){(uint16_t)(VALUE_OF_INSTRUCTION | n), {.dtype = DTYPE_F32}};
    t->epilogue.n_instructions++;
}

static void complete(struct trial *t)
{
    static struct loop_access accesses[3] = {{.dtype = DTYPE_F32}, {.dtype = DTYPE_F32}, {.dtype = DTYPE_F32}};
    struct tile_definition *d = &t->d;
    d->source = image_of(t->from, d->lanes, d->groups * d->channels, d->height, d->width);
    d->target = image_of(t->to, d->lanes, d->groups * d->results, d->result_height, d->result_width);
    t->operands[1] = (struct tile_image){0, d->lanes, 0, 0, 1};
    t->operands[2] = d->target;
    t->epilogue = (struct loop){.rank = 4,
                                .n_operands = 3,
                                .n_results = 1,
                                .operands = accesses,
                                .instructions = t->code,
                                .results = &t->result};
    add_instruction(t, t->has.adds_bias, FN_ADD, 1);
    add_instruction(t, t->has.adds_residual, FN_ADD, 2);
    add_instruction(t, t->has.has_relu, FN_RELU, 0);
    add_instruction(t, t->has.multiplies, FN_MUL, 2);
    d->epilogue.operands = t->operands;
    d->epilogue.loop = t->epilogue.n_instructions ? &t->epilogue : NULL;
    assert_true(!d->epilogue.loop || tile_takes_epilogue(d));
}

static double without_negative(bool has_relu, double value)
{
    return has_relu && value < 0 ? 0 : value;
}

static double with_epilogue(const struct trial *t, double sum, double bias, double residual)
{
    double value = without_negative(t->d.epilogue.has_relu, sum);
    value += (t->has.adds_bias ? bias : 0) + (t->has.adds_residual ? residual : 0);
    return without_negative(t->has.has_relu, value) * (t->has.multiplies ? residual : 1);
}

// --- values ----------------------------------------------------------------------------------------------------------

// The share of the sum of the terms' sizes, each result's or, where there are fewer products, the largest, as all of a
// tile are as far off.
static double error_of_sums(const struct trial *t)
{
    return !has_fewer(t) ? 1e-6 : t->d.window.kernel[0] * t->d.window.kernel[1] <= 4 ? 4e-6 : 2e-6;
}

static void compute_wanted(const struct trial *t, struct values *v, struct arena *arena)
{
    double *x = arena_array(arena, double, v->n_x), largest = 0;
    v->wanted = arena_array(arena, double, v->n_y);
    v->allowed = arena_array(arena, double, v->n_y);
    for (int64_t i = 0; i < v->n_x; i++)
        x[i] = v->x[place_in_source(&t->d, i)];
    for (int64_t i = 0; i < v->n_y; i++) {
        int64_t at = place_in_target(&t->d, i);
        double size, sum = sum_at(&t->d, x, v->w, i, &size);
        v->wanted[at] = with_epilogue(t, sum, v->bias[result_of(&t->d, i)], v->residual[at]);
        v->allowed[at] = error_of_sums(t) * (1 + size);
        largest = fmax(largest, v->allowed[at]);
    }
    for (int64_t i = 0; has_fewer(t) && i < v->n_y; i++)
        v->allowed[i] = largest;
}

static float *floats(const struct trial *t, int64_t n, struct random *random, struct arena *arena)
{
    return random_floats(arena, n + t->misplaced, random) + t->misplaced;
}

// The entry in the middle of the image is `special`, where that is not 0.
static struct values make_values(const struct trial *t, double special, struct random *random, struct arena *arena)
{
    const struct tile_definition *d = &t->d;
    struct values v = {.n_x = source_entries(d), .n_w = all_weights(d), .n_y = target_entries(d)};
    v.x = floats(t, v.n_x, random, arena);
    v.w = floats(t, v.n_w, random, arena);
    v.bias = floats(t, d->groups * d->results, random, arena);
    v.residual = floats(t, v.n_y, random, arena);
    v.y = floats(t, v.n_y, random, arena);
    v.scratch = random_floats(arena, (int64_t)scratch_floats(t), random);
    v.packed = random_floats(arena, (int64_t)packed_floats(t), random);
    v.x[v.n_x / 2] = special != 0 ? (float)special : v.x[v.n_x / 2];
    compute_wanted(t, &v, arena);
    pack(t, v.w, v.packed);
    return v;
}

// --- trials ----------------------------------------------------------------------------------------------------------

static void check_values(struct place *at, const struct trial *t, const struct values *v, const struct text *text)
{
    ARENA(arena);
    size_t n;
    const int64_t *numbers = list_numbers(t, &arena, &n);
    struct kernel_call c = {text, .parts = t->parts, .n_scratch = scratch_floats(t), .y = v->y, .n_y = v->n_y};
    const float *operands[3] = {NULL, give(&c, FLOATS, v->bias, (size_t)(t->d.groups * t->d.results)),
                                give(&c, FLOATS, v->residual, (size_t)v->n_y)};
    GIVE(c, give(&c, FLOATS, v->x, (size_t)v->n_x), give(&c, FLOATS, v->packed, packed_floats(t)), v->y,
         give(&c, ADDRESSES, operands, 3), give(&c, INTEGERS, numbers, n));
    c.scratch = v->scratch;
    c.wanted = v->wanted;
    c.allowed = v->allowed;
    check_call(at, &c);
}

// Its values are made where it is not only collected.
static bool is_met(struct place *at, const struct trial *t, double special, struct random *random, struct text *text,
                   struct values *ret_values, struct arena *arena)
{
    assert_true(suits(t));
    print(text, t);
    if (is_collected(at, text))
        return false;
    *ret_values = make_values(t, at->service ? special : 0, random, arena);
    return true;
}

// False: there is no kernel for it.
typedef bool choose_fn(struct trial *t, const struct machine *m, int number, struct random *random);

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

static bool choose_tiles(struct trial *t, const struct machine *m, int number, struct random *random)
{
    *t = (struct trial){.from = number % 3 == 0 ? random_below(random, 2) : random_below(random, 3),
                        .to = random_below(random, 2),
                        .parts = (int)one_to(random, 3),
                        .s = {.pixels = (int)one_to(random, 9), .tiles = one_to(random, 20)},
                        .d = {.lanes = m->lanes, .registers = m->registers, .images = one_to(random, 2)}};
    choose_channels(t, number, random);
    choose_window(&t->d, 0, random);
    choose_window(&t->d, 1, random);
    t->d.epilogue.has_relu = random_below(random, 2);
    t->misplaced = number % 2 ? 0 : 1 + (int)random_below(random, 15);
    t->has.adds_bias = t->has.has_relu = t->has.multiplies = random_below(random, 2);
    complete(t);
    return suits(t);
}

static bool choose_maxima(struct trial *t, const struct machine *m, int number, struct random *random)
{
    choose_tiles(t, m, 3 * number, random);
    t->d.groups *= t->d.channels;
    t->d.channels = t->d.results = 1;
    t->d.reading.is_maximum = true;
    complete(t);
    return suits(t);
}

// Sums in parts, which are of whole blocks: of one place, and of windows.
static bool choose_parts(struct trial *t, const struct machine *m, int number, struct random *random)
{
    struct tile_definition *d = &t->d;
    choose_tiles(t, m, 3 * number + 2, random);
    int64_t whole = t->from == BLOCKS ? m->lanes : 1, most = 512;
    for (int i = 0; i < 2 && number % 2; i++) {
        d->window.kernel[i] = d->window.stride[i] = d->window.dilation[i] = 1;
        d->window.pad[i] = 0;
    }
    if (number % 2) {
        d->result_height = d->height = one_to(random, 3);
        d->result_width = d->width;
    }
    most /= d->window.kernel[0] * d->window.kernel[1];
    d->channels = (most / 2 + whole + (int64_t)random_below(random, 2 * (uint64_t)most)) / whole * whole;
    t->s.terms = most < whole ? whole : whole * one_to(random, (int)(most / whole));
    complete(t);
    return suits(t);
}

// By which the table of points has a form for tiles of two.
static const int64_t windows[][2] = {{3, 3}, {1, 7}, {3, 3}, {7, 1}, {5, 5}, {3, 3}, {1, 3}, {3, 5}, {1, 1}, {2, 2}};

// So many that some window meets the image: all of a tile are as far off as that one.
static int64_t size_of_results(int64_t size, int64_t pad, struct random *random)
{
    int64_t results = size + pad + (int64_t)random_below(random, 2) - 2;
    return results > pad ? results : pad + 1;
}

static bool choose_fewer(struct trial *t, const struct machine *m, int number, struct random *random)
{
    const int64_t *window = windows[number % (int)COUNT_OF(windows)];
    bool has_halves = window[0] * window[1] == 1, is_long = window[0] == 7 || window[1] == 7;
    *t = (struct trial){.from = number & 2 ? LAST : BLOCKS, .parts = 1 + number / 4 % 3};
    t->to = t->from;
    t->fewer.m = is_long || has_halves ? 2 : window[0] == 2 ? 3 + number / 10 % 2 : 2 + 2 * (number & 1);
    t->fewer.tiles = one_to(random, 40);
    int64_t images = one_to(random, 2), channels = m->lanes * one_to(random, 3) * (1 + has_halves);
    int64_t results = m->lanes * one_to(random, 5) * (1 + has_halves), height = one_to(random, 13);
    t->d = definition_of(m, images, channels, results, height, one_to(random, 13));
    for (int i = 0; i < 2; i++) {
        t->d.window.kernel[i] = window[i];
        t->d.window.pad[i] = one_to(random, 3) - 1;
    }
    t->d.epilogue.has_relu = random_below(random, 4) == 0;
    t->d.result_height = size_of_results(t->d.height, t->d.window.pad[0], random);
    t->d.result_width = size_of_results(t->d.width, t->d.window.pad[1], random);
    t->has = (struct parts_of_epilogue){random_below(random, 2), random_below(random, 2), random_below(random, 2)};
    t->misplaced = number % 3 ? 0 : one_to(random, 15);
    complete(t);
    return true;
}

// The last half of a vector, where channels stand side by side: it is summed by pairs.
static bool choose_halves(struct trial *t, const struct machine *m, int number, struct random *random)
{
    int i = number % 8;
    int64_t size = i % 3 ? 1 : 3, step = i % 3 ? 1 : 2, pad = i % 3 ? 0 : 1;
    *t = (struct trial){.from = i % 2 ? BLOCKS : LAST, .to = LAST, .parts = 2, .misplaced = i};
    t->s = (struct tile_schedule){5 - i / 2, 2 + i / 2, 2};
    t->has = (struct parts_of_epilogue){.adds_bias = i % 4 < 2, .has_relu = i % 4 < 2, .multiplies = i % 4 < 2};
    t->d = definition_of(m, 2, i % 2 ? 2 * m->lanes : 2 + 4 * i, m->lanes * (1 + i / 2) + m->lanes / 2, 5, 7);
    t->d.result_height = i % 3 ? 5 : 3;
    t->d.result_width = i % 3 ? 7 : 4;
    t->d.window = (struct tile_window){{size, size}, {step, step}, {1, 1}, {pad, pad}};
    complete(t);
    assert_true(suits(t) && tile_shape_of(&t->d, &t->s).has_pairs);
    return true;
}

// Results that do not fill a vector: so many are stored, and of what is added as many are read.
static bool choose_few(struct trial *t, const struct machine *m, int number, struct random *random)
{
    int n = 1 + number % (m->lanes - 1);
    int64_t size = n % 2 ? 3 : 1;
    *t = (struct trial){.from = (enum layout_of_image)(n % 3), .to = LAST, .parts = 2, .misplaced = n, .s = {4, 1, 3}};
    t->has = (struct parts_of_epilogue){.adds_bias = true, .adds_residual = n % 4 < 2, .has_relu = n % 4 == 2};
    t->d = definition_of(m, 2, n % 3 == BLOCKS ? m->lanes : m->lanes + n, n, 5, 7);
    t->d.groups = 1 + n % 2;
    t->d.window = (struct tile_window){{size, size}, {1, 1}, {1, 1}, {size / 2, size / 2}};
    complete(t);
    assert_true(suits(t));
    return true;
}

// Convolutions of 3x3 in tiles of four.
static struct trial square_trial(const struct machine *m, int64_t tiles, int64_t height, int64_t width)
{
    struct trial t = {.from = BLOCKS, .to = BLOCKS, .parts = 1, .fewer = {.m = 4, .tiles = tiles}};
    t.d = definition_of(m, 1, m->lanes, m->lanes, height, width);
    t.d.window = (struct tile_window){{3, 3}, {1, 1}, {1, 1}, {1, 1}};
    return t;
}

// Every residue of an image's size by that of tiles, in blocks that tiles fill and that they do not.
static bool choose_residues(struct trial *t, const struct machine *m, int number, struct random *random)
{
    *t = square_trial(m, 3, 1 + number % 8, 8 - number % 8);
    complete(t);
    return true;
}

static const struct {
    choose_fn *choose;
    int n_trials;
    uint64_t seed;
    double specials[5];
} forms[] = {{choose_tiles, 36, 11, {0, 0, NAN, INFINITY, -INFINITY}},
             {choose_fewer, 24, 7, {0}},
             {choose_maxima, 24, 17, {0, NAN, INFINITY, -INFINITY, 0}},
             {choose_parts, 16, 5, {0, 0, NAN, INFINITY, 0}},
             {choose_halves, 8, 13, {INFINITY, 0, INFINITY, 0, 0}},
             {choose_few, 15, 14, {0, 0, 0, 0, INFINITY}},
             {choose_residues, 8, 8, {0}}};

static void try_form(size_t form, struct place *at)
{
    int n = trials_at(at, forms[form].n_trials), before = at->n_met;
    for (int i = 0; i < n; i++) {
        struct trial t;
        struct values v;
        struct random random = random_of_trial(at, forms[form].seed, i);
        ARENA(arena);
        TEXT(text);
        if (forms[form].choose(&t, at->machine, i, &random) &&
            is_met(at, &t, forms[form].specials[i % 5], &random, &text, &v, &arena))
            check_values(at, &t, &v, &text);
    }
    assert_true(8 * (at->n_met - before) > n);
}

TEST_OF_KERNELS(kernels_compute_convolutions)
{
    for (size_t form = 0; form < COUNT_OF(forms); form++)
        try_form(form, at);
}

// --- tiles -----------------------------------------------------------------------------------------------------------

// In one chain as many equal terms lose 5e-5 of their sum.
static void sum_equal_terms(struct place *at, struct trial *t)
{
    ARENA(arena);
    TEXT(text);
    struct values v;
    struct random random = random_seed(12);
    complete(t);
    if (!is_met(at, t, 0, &random, &text, &v, &arena))
        return;
    double n = (double)(t->d.channels * t->d.window.kernel[0] * t->d.window.kernel[1]);
    for (int64_t i = 0; i < v.n_x; i++)
        v.x[i] = 0.3F;
    for (int64_t i = 0; i < v.n_w; i++)
        v.w[i] = 0.7F;
    for (int64_t i = 0; i < v.n_y; i++) {
        v.wanted[i] = n * (double)0.3F * (double)0.7F;
        v.allowed[i] = 5e-6 * v.wanted[i];
    }
    pack(t, v.w, v.packed);
    check_values(at, t, &v, &text);
}

TEST_OF_KERNELS_HERE(long_sums_keep_their_digits)
{
    for (enum layout_of_image from = LAST; from <= ROWS; from++) {
        if (is_left_out(from, 3))
            continue;
        struct trial t = {.from = from, .to = LAST, .parts = 1, .s = {.pixels = 3, .vectors = 2, .tiles = 4}};
        t.d = definition_of(at->machine, 1, 2048, 2 * at->machine->lanes, 2, 4);
        t.d.window.kernel[0] = t.d.window.kernel[1] = 2;
        t.d.result_height = 1;
        t.d.result_width = 3;
        sum_equal_terms(at, &t);
        t.s.terms = 496;
        t.d.channels *= 4;
        t.d.height = t.d.window.kernel[0] = t.d.window.kernel[1] = 1;
        t.d.width = t.d.result_width;
        sum_equal_terms(at, &t);
    }
}

// --- fewer products --------------------------------------------------------------------------------------------------

// A NaN in the source: a result is NaN or as it were without it, and it is NaN where its own window has it.
TEST_OF_KERNELS_HERE(nan_stays_within_its_tiles)
{
    struct random random = random_seed(9);
    struct trial t = square_trial(at->machine, 4, 16, 16);
    struct values v;
    ARENA(arena);
    TEXT(text);
    t.d.epilogue.has_relu = true;
    complete(&t);
    if (!is_met(at, &t, 0, &random, &text, &v, &arena))
        return;
    v.x[place_in(&t.d.source, t.d.lanes, 0, 1, 6, 6)] = NAN;
    for (int64_t i = 0; i < v.n_y; i++) {
        int64_t row = i / 16 % 16, column = i % 16, place = place_in_target(&t.d, i);
        if (llabs(row - 6) <= 1 && llabs(column - 6) <= 1)
            v.wanted[place] = NAN;
        else if (row >= 4 && row < 8 && column >= 4 && column < 8)
            v.allowed[place] = INFINITY;   // of its tile
    }
    check_values(at, &t, &v, &text);
}

// --- schedules -------------------------------------------------------------------------------------------------------

static bool print_again(struct text *text, const char *schedule)
{
    struct tile_schedule s;
    struct winograd_schedule fewer;
    if (tile_schedule_parse(schedule, &s))
        tile_schedule_print(text, &s);
    else if (winograd_schedule_parse(schedule, &fewer))
        winograd_schedule_print(text, &fewer);
    return text->count > 0;
}

TEST_OF_CASES(schedules_are_read_as_they_are_printed, c, "backends/schedules.cases")
{
    TEXT(text);
    bool is_right = sexp_is_call(c, "right");
    assert_int_equal(print_again(&text, c->items[1].text), is_right);
    if (is_right)
        assert_string_equal(text.chars, c->items[1].text);
}
