// `benchmark_convolutions [rounds=N] [all=1] FILE...`: convolutions of 3x3 in steps of one, generated against the
// library's best, by turns on one thread, in its processor time. Files have lines as tests/cuda/convolutions.txt; what
// the generator does not take is passed over. A row for each: microseconds of the library's direct convolution (in
// blocks, channels last), of its Winograd, and of the best generated kernel with its schedule; the ratio of the library's
// best to that; gigaflops of the plain convolution; and the largest error of both, of the largest result. Then the
// distribution of ratios. all=1: every schedule.
#include "backends/cpu/kernel_scope.h"
#include "backends/cpu/onednn/onednn.h"
#include "backends/generated/tile_arguments.h"
#include "backends/generated/winograd.h"
#include "backends/programs/programs.h"
#include "core/numbers/random.h"
#include "core/system/clock.h"
#include "core/text/error.h"
#include "tests/benchmarks/listed_conv.h"
#include "tests/support/scoped.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 16, REGISTERS = 32, MOST_CONTENDERS = 24, MOST_ROUNDS = 400 };

struct shape {
    int64_t n, c, h, w, f, oh, ow, top, left, bottom, right;
};
struct contender {
    char name[48];
    struct onednn_primitive *primitive;   // NULL: a generated kernel
    tile_run_fn *run;
    float *weights, *scratch, *x, *y;
    int64_t *numbers;
    double seconds[MOST_ROUNDS];
    double error;
};
struct bench {
    struct onednn *library;
    struct programs *programs;
    struct arena arena;
    struct shape s;
    float *w, *x[2], *y[2];   // in blocks, channels last
    double *sample;           // of results, in double precision
    struct contender list[MOST_CONTENDERS];
    int n, rounds;
    bool shows_all;
};

static bool read_shape(const char *line, struct shape *ret_shape)
{
    struct listed_conv c;
    if (!listed_conv_read(line, &c))
        return false;
    *ret_shape =
        (struct shape){c.n, c.c, c.h, c.w, c.filters, c.out[0], c.out[1], c.begin[0], c.begin[1], c.end[0], c.end[1]};
    bool is_plain = c.stride[0] == 1 && c.stride[1] == 1 && c.dilation[0] == 1 && c.dilation[1] == 1 && c.groups == 1;
    return is_plain && c.window[0] == 3 && c.window[1] == 3 && c.c % LANES == 0 && c.filters % LANES == 0;
}

static float *new_floats(struct bench *b, int64_t n)
{
    return arena_alloc_zero(&b->arena, (size_t)n * sizeof(float), 64);
}

static int64_t at_blocks(int64_t c, int64_t channels, int64_t pixels, int64_t pixel, bool is_last)
{
    return is_last ? pixel * channels + c : (c / LANES * pixels + pixel) * LANES + c % LANES;
}

static void make_data(struct bench *b)
{
    const struct shape *s = &b->s;
    struct random random = random_seed(1);
    b->w = new_floats(b, s->f * s->c * 9);
    for (int64_t i = 0; i < s->f * s->c * 9; i++)
        b->w[i] = (float)(2 * random_unit(&random) - 1);
    for (int l = 0; l < 2; l++) {
        b->x[l] = new_floats(b, s->c * s->h * s->w);
        b->y[l] = new_floats(b, s->f * s->oh * s->ow);
    }
    for (int64_t i = 0; i < s->c * s->h * s->w; i++) {
        int64_t c = i % s->c, pixel = i / s->c;
        float value = (float)random_unit(&random);
        for (int l = 0; l < 2; l++)
            b->x[l][at_blocks(c, s->c, s->h * s->w, pixel, l)] = value;
    }
}

// --- contenders ------------------------------------------------------------------------------------------------------

static struct onednn_tensor tensor(int64_t c, int64_t h, int64_t w, bool is_last)
{
    struct onednn_tensor t = {.rank = 4, .dim = {1, c, h, w}, .stride = {c * h * w, 1, w * c, c}};
    t.block = is_last ? 0 : LANES;
    return t;
}

static void add_library(struct bench *b, const char *name, enum onednn_algorithm algorithm, bool is_last)
{
    const struct shape *s = &b->s;
    struct contender *c = &b->list[b->n];
    struct onednn_tensor x = tensor(s->c, s->h, s->w, is_last), y = tensor(s->f, s->oh, s->ow, is_last);
    struct onednn_tensor plain = {.rank = 4, .dim = {s->f, s->c, 3, 3}, .stride = {s->c * 9, 9, 3, 1}}, w = plain;
    struct onednn_window window = {.kernel = {3, 3},
                                   .stride = {1, 1},
                                   .dilation = {1, 1},
                                   .pad_begin = {s->top, s->left},
                                   .pad_end = {s->bottom, s->right}};
    struct postops ops = {.channel_axis = 1};
    w.is_free = true;
    *c = (struct contender){.x = b->x[is_last], .y = b->y[is_last]};
    snprintf(c->name, sizeof c->name, "%s", name);
    c->primitive = onednn_convolution(b->library, algorithm, &x, &w, NULL, &y, &window, &ops);
    if (!c->primitive)
        return;
    c->weights = new_floats(b, (int64_t)(onednn_weights_bytes(c->primitive) / 4 + 16));
    c->scratch = new_floats(b, (int64_t)(onednn_scratch_bytes(c->primitive) / 4 + 16));
    onednn_pack_weights(c->primitive, &plain, b->w, c->weights);
    b->n++;
}

static struct tile_image image(int64_t c, int64_t h, int64_t w, bool is_last)
{
    return is_last ? (struct tile_image){h * w * c, LANES, w * c, c, 1}
                   : (struct tile_image){h * w * c, h * w * LANES, w * LANES, LANES, 1};
}

static void add_generated(struct bench *b, int m, int tiles, bool is_last)
{
    const struct shape *s = &b->s;
    struct winograd_schedule schedule = {m, tiles};
    struct tile_definition d = {.lanes = LANES,
                                .registers = REGISTERS,
                                .images = 1,
                                .groups = 1,
                                .channels = s->c,
                                .results = s->f,
                                .height = s->h,
                                .width = s->w,
                                .result_height = s->oh,
                                .result_width = s->ow,
                                .window.kernel = {3, 3},
                                .window.stride = {1, 1},
                                .window.dilation = {1, 1},
                                .window.pad = {s->top, s->left}};
    d.source = image(s->c, s->h, s->w, is_last);
    d.target = image(s->f, s->oh, s->ow, is_last);
    struct contender *c = &b->list[b->n];
    TEXT(text);
    struct program program;
    struct error error = {0};
    *c = (struct contender){.x = b->x[is_last], .y = b->y[is_last]};
    snprintf(c->name, sizeof c->name, "m:%d tiles:%d%s", m, tiles, is_last ? " last" : "");
    winograd_print(&text, &d, &schedule);
    const char *chars = text.chars;
    if (programs_find(b->programs, chars, &program, &error)) {
        void *address = program_function(&program, "run");
        memcpy(&c->run, &address, sizeof c->run);
        c->numbers = arena_array(&b->arena, int64_t, winograd_n_numbers(&d));
        winograd_list_numbers(&d, &schedule, c->numbers);
        c->weights = new_floats(b, (int64_t)winograd_weights_floats(&d, &schedule));
        c->scratch = new_floats(b, (int64_t)winograd_scratch_floats(&d, &schedule));
        winograd_pack(&d, &schedule, b->w, s->c * 9, 9, c->weights, 0, winograd_groups(&d));
        b->n++;
    } else
        fprintf(stderr, "%s: %s\n", c->name, error.message);
}

static int tiles_of(const struct bench *b, int m)
{
    return (int)(((b->s.oh + m - 1) / m) * ((b->s.ow + m - 1) / m));
}

// Generated: what a model's step has as choices (backends/cpu/tiles/winograd.c), in blocks and the first one channels last.
static void add_contenders(struct bench *b)
{
    static const int more[] = {28, 56, 112};
    add_library(b, "direct", ONEDNN_DIRECT, false);
    add_library(b, "direct last", ONEDNN_DIRECT, true);
    add_library(b, "winograd", ONEDNN_WINOGRAD, false);
    add_generated(b, 4, 14, false);
    add_generated(b, 4, 14, true);
    if (b->s.c >= 256 && tiles_of(b, 4) > 28)
        add_generated(b, 4, 56, false);
    if (b->s.oh <= 14 && b->s.ow <= 14)
        add_generated(b, 2, 28, false);
    for (int i = 0; b->shows_all && i < 6; i++)
        add_generated(b, 2 + 2 * (i / 3), more[i % 3], false);
}

static bool run(struct contender *c)
{
    struct onednn_arguments a = {.source = c->x, .weights = c->weights, .target = c->y, .scratch = c->scratch};
    if (c->primitive)
        return onednn_run(c->primitive, NULL, &a);
    c->run(c->x, c->weights, c->y, NULL, c->scratch, c->numbers, 0, 1);
    return true;
}

// --- results ---------------------------------------------------------------------------------------------------------

enum { SAMPLES = 512 };

static double expected_at(const struct bench *b, int64_t f, int64_t row, int64_t column)
{
    const struct shape *s = &b->s;
    double sum = 0;
    for (int64_t i = 0; i < 9; i++) {
        int64_t y = row + i / 3 - s->top, x = column + i % 3 - s->left;
        for (int64_t c = 0; y >= 0 && x >= 0 && y < s->h && x < s->w && c < s->c; c++)
            sum += (double)b->w[(f * s->c + c) * 9 + i] * b->x[1][(y * s->w + x) * s->c + c];
    }
    return sum;
}

static void find_errors(struct bench *b)
{
    const struct shape *s = &b->s;
    struct random random = random_seed(2);
    double largest = 0, errors[MOST_CONTENDERS] = {0};
    int64_t pixels = s->oh * s->ow, places[SAMPLES];
    double values[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        places[i] = (int64_t)random_below(&random, (uint64_t)(pixels * s->f));
        values[i] = expected_at(b, places[i] / pixels, places[i] % pixels / s->ow, places[i] % pixels % s->ow);
        largest = fmax(largest, fabs(values[i]));
    }
    for (int k = 0; k < b->n; k++) {
        run(&b->list[k]);
        for (int i = 0; i < SAMPLES; i++) {
            bool is_last = b->list[k].y == b->y[1];
            int64_t at = at_blocks(places[i] / pixels, s->f, pixels, places[i] % pixels, is_last);
            errors[k] = fmax(errors[k], fabs(b->list[k].y[at] - values[i]));
        }
        b->list[k].error = errors[k] / largest;
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quartile(struct contender *c, int rounds)
{
    qsort(c->seconds, (size_t)rounds, sizeof *c->seconds, compare_doubles);
    return c->seconds[rounds / 4];
}

static double time_all(struct bench *b)
{
    const struct shape *s = &b->s;
    int best[3] = {-1, -1, -1};   // library, its Winograd, ours
    double flop = 18.0 * (double)(s->c * s->f) * (double)(s->oh * s->ow);
    for (int r = 0; r < b->rounds; r++)
        for (int k = 0; k < b->n; k++) {
            double before = clock_thread_seconds();
            run(&b->list[k]);
            b->list[k].seconds[r] = clock_thread_seconds() - before;
        }
    for (int k = 0; k < b->n; k++) {
        double seconds = quartile(&b->list[k], b->rounds);
        b->list[k].seconds[0] = seconds;
        if (b->shows_all)
            printf("    %-18s %9.1f us %7.1f GFLOP/s  error %.1e\n", b->list[k].name, 1e6 * seconds,
                   flop / seconds / 1e9, b->list[k].error);
        int kind = !b->list[k].primitive ? 2 : strcmp(b->list[k].name, "winograd") == 0;
        if (best[kind] < 0 || seconds < b->list[best[kind]].seconds[0])
            best[kind] = k;
    }
    if (best[0] < 0 || best[2] < 0)
        return 0;
    const struct contender *direct = &b->list[best[0]], *own = &b->list[best[2]];
    double winograd = best[1] >= 0 ? b->list[best[1]].seconds[0] : INFINITY;
    double ratio = fmin(direct->seconds[0], winograd) / own->seconds[0];
    printf("| %ld→%ld@%ldx%ld | %.0f | %.0f | %.0f | %s | %.2f | %.2f | %.0f | %.1e, %.1e |\n", (long)s->c, (long)s->f,
           (long)s->oh, (long)s->ow, 1e6 * direct->seconds[0], 1e6 * winograd, 1e6 * own->seconds[0], own->name,
           direct->seconds[0] / own->seconds[0], ratio, flop / own->seconds[0] / 1e9, direct->error, own->error);
    fflush(stdout);
    return ratio;
}

static double bench_shape(struct bench *b)
{
    arena_init(&b->arena);
    b->n = 0;
    make_data(b);
    add_contenders(b);
    find_errors(b);
    double ratio = time_all(b);
    for (int k = 0; k < b->n; k++)
        onednn_free(b->list[k].primitive);
    arena_free(&b->arena);
    return ratio;
}

#define MOST_SHAPES 200

static int add_shape(struct shape *shapes, int n, const struct shape *s)
{
    for (int i = 0; i < n; i++)
        if (memcmp(&shapes[i], s, sizeof *s) == 0)
            return n;
    if (n < MOST_SHAPES)
        shapes[n++] = *s;
    return n;
}

static int read_file(const char *path, struct shape *shapes, int n)
{
    char line[512];
    struct shape s;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (read_shape(line, &s))
            n = add_shape(shapes, n, &s);
    if (f)
        fclose(f);
    return n;
}

int main(int argc, char **argv)
{
    static struct bench b = {.rounds = 15};
    static struct shape shapes[MOST_SHAPES];
    double ratios[MOST_SHAPES];
    int n = 0, counted = 0;
    for (int i = 1; i < argc; i++)
        if (sscanf(argv[i], "rounds=%d", &b.rounds) != 1 && strcmp(argv[i], "all=1") != 0)
            n = read_file(argv[i], shapes, n);
        else
            b.shows_all = b.shows_all || strcmp(argv[i], "all=1") == 0;
    b.rounds = b.rounds < 1 ? 1 : b.rounds > MOST_ROUNDS ? MOST_ROUNDS : b.rounds;
    b.library = onednn_open(1, NULL);
    b.programs = programs_open(&(struct programs_options){.instruction_set = "x86-64-v4"});
    struct kernel_scope scope = kernel_scope_begin(1);
    for (int i = 0; b.library && i < n; i++) {
        b.s = shapes[i];
        double ratio = bench_shape(&b);
        if (ratio > 0)
            ratios[counted++] = ratio;
    }
    kernel_scope_end(&scope);
    qsort(ratios, (size_t)counted, sizeof *ratios, compare_doubles);
    if (counted)
        printf("\n%d convolutions; ratio: least %.2f, quartiles %.2f, %.2f, %.2f, largest %.2f\n", counted, ratios[0],
               ratios[counted / 4], ratios[counted / 2], ratios[3 * counted / 4], ratios[counted - 1]);
    programs_close(b.programs);
    onednn_close(b.library);
    return counted ? 0 : 1;
}
