// Images within a chain stand in blocks of channels where these fill them, else with channels last.
#include "backends/generated/chains/chain.h"

#include "backends/generated/schedule_spaces.h"
#include "backends/generated/tile_text.h"
#include "core/text/text.h"
#include <stdio.h>

#define LEAST 1                           // number of a schedule
#define NEAR_FLOATS ((int64_t)96 << 10)   // of e
#define SPARE_REGISTERS 4

enum { IMAGES, ROWS, HEIGHT, STEP, PAD, SPAN, CAPACITY, ROW_OF_E };

static bool is_depthwise(const struct tile_definition *d)
{
    return d->channels == 1 && d->results == 1 && tile_is_lanewise(d);
}

static struct tile_image image_within(int64_t lanes, int64_t channels, int64_t width, bool has_rows)
{
    bool has_blocks = channels % lanes == 0;
    return (struct tile_image){.block = has_blocks ? width * lanes : lanes,
                               .row = has_rows ? width * channels : 0,
                               .pixel = has_blocks ? lanes : channels,
                               .lane = 1};
}

static int least_of(int wanted, int most)
{
    return wanted && wanted < most ? wanted : most;
}

static struct tile_schedule schedule_of(const struct tile_definition *d, const struct chain_schedule *wanted)
{
    int q = least_of(wanted->vectors, tile_best_vectors(d));
    if (is_depthwise(d))
        return (struct tile_schedule){wanted->middle ? wanted->middle : d->registers / 2 - 2, 1, 1};
    return (struct tile_schedule){least_of(wanted->pixels, (d->registers - SPARE_REGISTERS) / q), q, 1};
}

// The writer's is within one row at a time; whoever reads e goes through rows.
static void set_images_within(struct chain_definition *d)
{
    struct tile_definition *s = d->stages, *middle = &s[CHAIN_MIDDLE];
    int64_t channels = middle->groups, lanes = middle->lanes;
    if (d->has[CHAIN_FIRST] && d->has[CHAIN_MIDDLE]) {
        s[CHAIN_FIRST].target = image_within(lanes, channels, middle->width, false);
        middle->source = image_within(lanes, channels, middle->width, true);
    }
    if (d->has[CHAIN_MIDDLE] && d->has[CHAIN_LAST])
        middle->target = s[CHAIN_LAST].source = image_within(lanes, channels, middle->result_width, false);
}

static bool is_of_stage(const struct tile_definition *d, int stage)
{
    if (stage == CHAIN_MIDDLE)
        return is_depthwise(d);
    return d->groups == 1 && (stage == CHAIN_FIRST || tile_is_of_one_pixel(d));
}

bool chain_complete(struct chain_definition *d)
{
    set_images_within(d);
    for (int i = 0; i < CHAIN_STAGES; i++) {
        struct tile_definition *s = &d->stages[i];
        if (!d->has[i])
            continue;
        d->schedules[i] = schedule_of(s, &d->wanted);
        if (!is_of_stage(s, i) || !tile_suits(s, &d->schedules[i]) || (s->epilogue.loop && !tile_takes_epilogue(s)))
            return false;
    }
    return d->has[CHAIN_MIDDLE] || (d->has[CHAIN_FIRST] && !d->has[CHAIN_LAST]);
}

void chain_list_numbers(const struct chain_definition *d, int64_t ret_numbers[CHAIN_N_NUMBERS])
{
    const struct tile_definition *m = &d->stages[d->has[CHAIN_MIDDLE] ? CHAIN_MIDDLE : CHAIN_FIRST];
    int64_t row = m->width * m->groups, span = (m->window.kernel[0] - 1) * m->window.dilation[0] + 1;
    int64_t near = NEAR_FLOATS / row, least = near < span ? span : near;
    ret_numbers[IMAGES] = m->images;
    ret_numbers[ROWS] = m->result_height;
    ret_numbers[HEIGHT] = m->height;
    ret_numbers[STEP] = m->window.stride[0];
    ret_numbers[PAD] = m->window.pad[0];
    ret_numbers[SPAN] = span;
    ret_numbers[CAPACITY] = m->height < least ? m->height : least;
    ret_numbers[ROW_OF_E] = row;
}

size_t chain_scratch_floats(const struct chain_definition *d)
{
    const struct tile_definition *m = &d->stages[CHAIN_MIDDLE];
    int64_t numbers[CHAIN_N_NUMBERS];
    if (!d->has[CHAIN_MIDDLE])
        return 0;
    chain_list_numbers(d, numbers);
    int64_t floats = numbers[CAPACITY] * numbers[ROW_OF_E] + m->result_width * m->groups;
    return ((size_t)floats + 31) & ~(size_t)15;
}

// --- schedules -------------------------------------------------------------------------------------------------------

void chain_list_schedules(const struct chain_definition *d, struct schedule_space *space)
{
    static const char *const names[] = {"p", "q", "m"};
    space->n_axes = 3;
    snprintf(space->family, sizeof space->family, "chain");
    for (int i = 0; i < 3; i++) {
        snprintf(space->axes[i].name, sizeof space->axes[i].name, "%s", names[i]);
        schedule_axis_add(&space->axes[i], LEAST);
    }
    for (int i = 0; i < CHAIN_STAGES; i++) {
        struct schedule_space own = {.n_axes = 0};
        const struct tile_definition *s = &d->stages[i];
        if (d->has[i])
            tile_list_schedules(s, &own);
        for (int k = 0; k < own.axes[0].n; k++)
            schedule_axis_add(&space->axes[i == CHAIN_MIDDLE ? 2 : 0], own.axes[0].values[k]);
        for (int q = 1; d->has[i] && i != CHAIN_MIDDLE && q <= tile_best_vectors(s); q++)
            schedule_axis_add(&space->axes[1], q);
        schedule_space_add_loop(space, d->has[i] ? s->groups * s->results : 1, true);
        schedule_space_add_loop(space, d->has[i] ? s->images * s->result_height * s->result_width : 1, true);
    }
    schedule_space_add_loop(space, d->has[CHAIN_FIRST] ? d->stages[CHAIN_FIRST].channels : 1, false);
}

static void add_features(struct schedule_features *sum, const struct schedule_features *f)
{
    sum->useful += f->useful * f->operations;
    sum->operations += f->operations;
    sum->blocks += f->blocks;
    sum->lanes += f->lanes;
    sum->packed_bytes += f->packed_bytes;
    sum->near_bytes += f->near_bytes;
    sum->far_bytes += f->far_bytes;
    sum->tile_vectors += f->tile_vectors;
    sum->vector_loads += f->vector_loads;
    sum->unrolled += f->unrolled;
}

bool chain_describe(const struct chain_definition *d, struct schedule_features *ret)
{
    struct chain_schedule largest = {LEAST, LEAST, LEAST};
    *ret = (struct schedule_features){.operations = 0};
    for (int i = 0; i < CHAIN_STAGES; i++) {
        const struct tile_schedule *s = &d->schedules[i];
        struct schedule_features f;
        if (d->has[i] && !tile_describe(&d->stages[i], s, &f))
            return false;
        if (d->has[i])
            add_features(ret, &f);
        if (d->has[i] && i != CHAIN_MIDDLE) {
            largest.pixels = s->pixels > largest.pixels ? s->pixels : largest.pixels;
            largest.vectors = s->vectors > largest.vectors ? s->vectors : largest.vectors;
        }
    }
    ret->useful /= ret->operations;
    return largest.pixels == d->wanted.pixels && largest.vectors == d->wanted.vectors;
}

// --- texts -----------------------------------------------------------------------------------------------------------

// The rows of e that the window needs and that are not there yet.
static const char making_rows[] =
    "I low = row * STEP - PAD, high = low + SPAN;\n"
    "low = low < 0 ? 0 : low;\nhigh = high > IMAGE_ROWS ? IMAGE_ROWS : high;\n"
    "if (u == begin || row == 0)\nbase = next = low;\n"
    "if (next < low)\nnext = low;\n"
    "if (high - base > CAPACITY) {\n"
    "__builtin_memmove(e, e + (low - base) * ROW_OF_E, (__SIZE_TYPE__)((next - low) * ROW_OF_E) * sizeof *e);\n"
    "base = low;\n}\n"
    "for (; next < high; next++)\n"
    "NAMED(first_row)(x, w[0], e + (next - base) * ROW_OF_E, operands[0], numbers[0], image, next);\n";

void chain_print(struct text *text, const struct chain_definition *d)
{
    static const char *const prefixes[CHAIN_STAGES] = {"first_", "middle_", "last_"};
    static const char *const names[CHAIN_N_NUMBERS] = {"ALL_IMAGES", "ALL_ROWS", "IMAGE_ROWS", "STEP",
                                                       "PAD",        "SPAN",     "CAPACITY",   "ROW_OF_E"};
    tile_print_names(text, d->stages[d->has[CHAIN_MIDDLE] ? CHAIN_MIDDLE : CHAIN_FIRST].lanes);
    for (int i = 0; i < CHAIN_N_NUMBERS; i++)
        text_printf(text, "#undef %s\n#define %s numbers[%d][%d]\n", names[i], names[i], CHAIN_STAGES, i);
    for (int i = 0; i < CHAIN_STAGES; i++)
        if (d->has[i])
            tile_print_row(text, prefixes[i], &d->stages[i], &d->schedules[i]);
    text_add(text, "void NAMED(run)(const void *const *given, float *scratch, int part, int parts)\n{\n"
                   "const float *x = given[0], *const *w = given[1], *const *const *operands = given[3];\n"
                   "float *y = (float *)given[2];\nconst I *const *numbers = given[4];\n"
                   "I all = ALL_IMAGES * ALL_ROWS, begin = all * part / parts, end = all * (part + 1) / parts;\n"
                   "float *e = scratch, *d = scratch + CAPACITY * ROW_OF_E;\nI base = 0, next = 0;\n"
                   "for (I u = begin; u < end; u++) {\nI image = u / ALL_ROWS, row = u % ALL_ROWS;\n");
    if (!d->has[CHAIN_MIDDLE])
        text_add(text, "NAMED(first_row)(x, w[0], y, operands[0], numbers[0], image, row);\n");
    else {
        text_add(text, d->has[CHAIN_FIRST] ? making_rows : "");
        text_printf(text, "NAMED(middle_row)(%s, w[1], %s, operands[1], numbers[1], image, row);\n",
                    d->has[CHAIN_FIRST] ? "e - base * ROW_OF_E" : "x", d->has[CHAIN_LAST] ? "d" : "y");
    }
    text_add(text, d->has[CHAIN_LAST] ? "NAMED(last_row)(d, w[2], y, operands[2], numbers[2], image, row);\n" : "");
    text_add(text, "}\n(void)e, (void)d, (void)base, (void)next;\n}\n");
}
