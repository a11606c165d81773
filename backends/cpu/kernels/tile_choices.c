// Register tiles that are worth a trial, and all that there are.
#include "backends/cpu/kernels/tile_choices.h"

#include "backends/cpu/generated.h"
#include "backends/cpu/tile_step.h"
#include "backends/generated/schedule_spaces.h"
#include "core/numbers/integers.h"
#include "core/text/text.h"
#include <stdio.h>

#define SOURCE_BYTES ((int64_t)512 << 10)   // of the tiles that are done with one group of vectors: they stay near
#define FEWEST_TILES 6                      // of these: so many fetch the weights of the next group in time

#define SPARE_REGISTERS 4      // for weights and an entry of the source
#define FEW_PIXELS 8           // the library does not do well with so few
#define FEW_CHANNELS 64        // of the source or of results, whose weights are near
#define FEWEST_LANES 8         // of half a vector
#define MOST_NEAR_PIXELS 400   // of an image, of which each has a line of the nearest cache
#define MOST_NARROW 5          // vectors of results, of which half a one is more than a tenth

static int64_t pixels_of(const struct tile_definition *d)
{
    return d->images * d->result_height * d->result_width;
}

static void add_choice(choice_list *list, const struct tile_definition *d, int pixels, int vectors, int64_t tiles)
{
    struct tile_schedule s = {pixels, vectors, tiles, d->reading.lanes ? d->lanes : 0};
    struct listed_choice c = {.precision = PRECISION_EXACT};
    TEXT(text);
    if (!tile_suits(d, &s))
        return;
    tile_schedule_print(&text, &s);
    snprintf(c.text, sizeof c.text, "tile %s", text.chars);
    vec_push(list, c);
}

// With channels last all vectors of a row follow each other: they are read while they are near. Of small images a
// vector of all pixels stays in the nearest cache, with its weights.
static void add_lanewise(choice_list *list, const struct tile_definition *d)
{
    bool is_last = d->source.pixel > d->lanes;
    int pixels = d->registers / 2 - 2;
    if (is_last)
        add_choice(list, d, pixels, 1, divide_up(d->result_width, pixels));
    if (!is_last || d->height * d->width <= MOST_NEAR_PIXELS)
        add_choice(list, d, pixels, 1, pixels_of(d));
}

// In nearly equal shares.
static int64_t tiles_that_stay(const struct tile_definition *d, int pixels)
{
    int64_t bytes = pixels * d->window.stride[0] * d->window.stride[1] * d->channels * (int64_t)sizeof(float);
    int64_t most = bytes * FEWEST_TILES < SOURCE_BYTES ? SOURCE_BYTES / bytes : FEWEST_TILES;
    int64_t all = d->images * d->result_height * divide_up(d->result_width, pixels);
    return divide_up(all, divide_up(all, most));
}

static void add_dense_of(choice_list *list, const struct tile_definition *d, int vectors)
{
    int pixels = (d->registers - SPARE_REGISTERS) / vectors;
    add_choice(list, d, pixels, vectors, tiles_that_stay(d, pixels));
}

// Tiles as wide as vectors of results allow, and narrower ones: which is faster depends on the processor's loads. Of
// many channels only narrow ones, which want fewer weights in a cycle, as those come from a farther cache. Tiles of one
// vector want an entry of the source for each multiply-add.
static void add_dense(choice_list *list, const struct tile_definition *d)
{
    int widest = tile_best_vectors(d);
    bool is_far = d->channels > FEW_CHANNELS && d->results > FEW_CHANNELS && pixels_of(d) > FEW_PIXELS;
    for (int q = widest == 4 && is_far ? 2 : widest; q; q = q == 4 || (q == 1 && d->results > d->lanes) ? 2 : 0)
        add_dense_of(list, d, q);
}

// Half of a vector would be computed twice: the definition becomes one of half as many lanes.
static bool narrow(struct tile_step *s)
{
    struct tile_definition *d = &s->definition;
    int half = d->lanes / 2;
    return half >= FEWEST_LANES && d->results % d->lanes != 0 && d->results % d->lanes <= half &&
           d->results <= MOST_NARROW * d->lanes && !tile_is_lanewise(d) && tile_narrow(d, s->operands, half);
}

// The library is near the peak where there are many channels and pixels, but for weights that come from far:
// those of a small model stay near.
static bool is_worth_generating(const struct cpu_backend *b, const struct tile_definition *d)
{
    bool is_thin = d->channels <= FEW_CHANNELS || d->results <= FEW_CHANNELS;
    bool is_in_blocks = d->source.pixel == d->lanes && d->source.block != d->lanes;
    return d->channels < d->lanes || d->groups > 1 || pixels_of(d) <= FEW_PIXELS ||
           (d->epilogue.loop && cpu_loop_has_functions(d->epilogue.loop)) ||
           (d->window.kernel[0] * d->window.kernel[1] == 1 &&
            (is_thin || is_in_blocks || !b->base.measuring.has_small_model));
}

void cpu_tile_list(const struct cpu_backend *b, const struct plan *plan, const struct step *step, choice_list *list)
{
    ARENA(arena);
    struct tile_step s = {.threads = b->threads};
    if (!cpu_tile_define_whole(&s, b, plan, step, &arena))
        return;
    if (tile_is_lanewise(&s.definition))
        add_lanewise(list, &s.definition);
    else if (b->is_guest || is_worth_generating(b, &s.definition)) {
        add_dense(list, &s.definition);
        if (narrow(&s))
            add_dense_of(list, &s.definition, tile_best_vectors(&s.definition));
    }
}

static void add_space(schedule_spaces *list, const struct tile_definition *d)
{
    struct schedule_space space = {.sketch = "tile (tile", .precision = PRECISION_EXACT};
    tile_list_schedules(d, &space);
    vec_push(list, space);
}

void cpu_tile_list_spaces(const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                          schedule_spaces *list)
{
    ARENA(arena);
    struct tile_step s = {.threads = b->threads};
    if (!cpu_tile_define_whole(&s, b, plan, step, &arena))
        return;
    add_space(list, &s.definition);
    if (narrow(&s))
        add_space(list, &s.definition);
}
