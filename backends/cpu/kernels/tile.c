// Convolutions and products with known weights by register tiles (generated/tile.h), with what stands behind them.
#include "backends/cpu/kernels/tile.h"

#include "backends/cpu/epilogue.h"
#include "backends/cpu/kept_memory.h"
#include "backends/cpu/loops/parallel.h"
#include "backends/cpu/ways.h"
#include "backends/generated/schedule_spaces.h"
#include "backends/generated/tile_text.h"
#include "core/numbers/integers.h"
#include "core/text/text.h"
#include <stdio.h>
#include <string.h>

// --- choices ---------------------------------------------------------------------------------------------------------
// Register tiles that are worth a trial, and all that there are.

#define SOURCE_BYTES ((int64_t)512 << 10)   // of the tiles that are done with one group of vectors: they stay near
#define FEWEST_TILES 6                      // of these: so many fetch the weights of the next group in time

#define SPARE_REGISTERS 4      // for weights and an entry of the source
#define LONG_SUM 2048          // entries of the source, of which a few pixels fill a near cache
#define FEW_PIXELS 8           // the library does not do well with so few
#define FEW_CHANNELS 64        // of the source or of results, whose weights are near
#define MOST_NEAR_PIXELS 400   // of an image, of which each has a line of the nearest cache

static int64_t pixels_of(const struct tile_definition *d)
{
    return d->images * d->result_height * d->result_width;
}

static void add_schedule(choice_list *list, const struct tile_definition *d, struct tile_schedule s)
{
    struct listed_choice c = {.precision = PRECISION_EXACT};
    TEXT(text);
    if (!tile_suits(d, &s))
        return;
    tile_schedule_print(&text, &s);
    snprintf(c.text, sizeof c.text, "tile %s", text.chars);
    vec_push(list, c);
}

static void add_choice(choice_list *list, const struct tile_definition *d, int pixels, int vectors, int64_t tiles)
{
    add_schedule(list, d, (struct tile_schedule){pixels, vectors, tiles});
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

// Tiles in nearly equal shares.
static int64_t tiles_that_stay(const struct tile_definition *d, int pixels)
{
    int64_t bytes = pixels * d->window.stride[0] * d->window.stride[1] * d->channels * (int64_t)sizeof(float);
    int64_t most = bytes * FEWEST_TILES < SOURCE_BYTES ? SOURCE_BYTES / bytes : FEWEST_TILES;
    int64_t all = d->images * d->result_height * divide_up(d->result_width, pixels);
    return divide_up(all, divide_up(all, most));
}

// Tiles as wide as vectors of results allow, and narrower ones: which is faster depends on the processor's loads. Of
// many channels only narrow ones, which want fewer weights in a cycle, as those come from a farther cache. Tiles of one
// vector want an entry of the source for each multiply-add.
static void add_dense(choice_list *list, const struct tile_definition *d)
{
    int widest = tile_best_vectors(d);
    bool is_far = d->channels > FEW_CHANNELS && d->results > FEW_CHANNELS && pixels_of(d) > FEW_PIXELS;
    for (int q = widest == 4 && is_far ? 2 : widest; q; q = q == 4 || (q == 1 && d->results > d->lanes) ? 2 : 0) {
        int pixels = (d->registers - SPARE_REGISTERS) / q;
        add_choice(list, d, pixels, q, tiles_that_stay(d, pixels));
    }
    if (d->channels >= LONG_SUM && tile_may_sum_in_parts(d))
        add_schedule(list, d,
                     (struct tile_schedule){(d->registers - SPARE_REGISTERS) / 2, 2, pixels_of(d), TILE_TERMS_AT_ONCE});
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

static void list_choices(const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                         choice_list *list)
{
    ARENA(arena);
    struct tile_step s = {.threads = b->threads};
    if (!cpu_tile_define_whole(&s, b, plan, step, &arena))
        return;
    if (tile_is_lanewise(&s.definition))
        add_lanewise(list, &s.definition);
    else if (b->is_guest || is_worth_generating(b, &s.definition))
        add_dense(list, &s.definition);
}

static void list_spaces(const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                        schedule_spaces *list)
{
    ARENA(arena);
    struct tile_step s = {.threads = b->threads};
    struct schedule_space space = {.sketch = "tile (tile", .precision = PRECISION_EXACT};
    if (!cpu_tile_define_whole(&s, b, plan, step, &arena))
        return;
    tile_list_schedules(&s.definition, &space);
    vec_push(list, space);
    if (!tile_may_sum_in_parts(&s.definition))
        return;
    space = (struct schedule_space){.sketch = "tile (parts", .precision = PRECISION_EXACT};
    tile_list_schedules_by_parts(&s.definition, &space);
    vec_push(list, space);
}

static bool takes(const struct plan *plan, const struct step *step)
{
    return cpu_is_tiled(plan, step) || cpu_is_pool(step);
}

// --- schedules -------------------------------------------------------------------------------------------------------

// False: the choice is no schedule, or does not suit the step.
static bool define(struct tile_step *s, const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                   const char *choice, struct arena *arena)
{
    const char *schedule = strchr(choice, ' ');
    return schedule && tile_schedule_parse(schedule + 1, &s->schedule) &&
           cpu_tile_define_whole(s, b, plan, step, arena) && tile_suits(&s->definition, &s->schedule);
}

static bool describe(const struct cpu_backend *b, const struct plan *plan, const struct step *step, const char *choice,
                     struct schedule_features *ret_features, struct text *kernel)
{
    ARENA(arena);
    struct tile_step s = {.threads = b->threads};
    bool is_had = define(&s, b, plan, step, choice, &arena);
    if (is_had && kernel)
        tile_print(kernel, &s.definition, &s.schedule);
    return is_had && tile_describe(&s.definition, &s.schedule, ret_features);
}

// --- preparing and running -------------------------------------------------------------------------------------------

struct packing_run {
    const struct tile_step *step;
    const float *plain;
    float *packed;
    int64_t stride[4];
};

static void pack_part(void *argument, int part, int parts)
{
    const struct packing_run *p = argument;
    const struct tile_step *s = p->step;
    int64_t groups = tile_weight_groups(&s->definition, &s->schedule), first = groups * part / parts;
    tile_pack(&s->definition, &s->schedule, p->plain, p->stride, p->packed, first, groups * (part + 1) / parts - first);
}

// Packed weights are blocks of results, one for each group of vectors. False: these do not divide the results evenly,
// or the convolution has groups of its own.
static bool describe_packing(const struct tile_step *s, struct packing *ret_packing)
{
    const struct tile_definition *d = &s->definition;
    int64_t width = (int64_t)s->schedule.vectors * d->lanes, c = d->channels, row = d->window.kernel[1] * c * width;
    if (d->groups > 1 || d->results % width != 0)
        return false;
    if (s->is_product)
        *ret_packing = (struct packing){.rank = 2,
                                        .dim = {c, d->results},
                                        .padded = {c, d->results},
                                        .stride = {width, c * width},
                                        .n_blocks = 1,
                                        .blocks = {{1, width}}};
    else
        *ret_packing = (struct packing){.rank = 4,
                                        .dim = {d->results, c, d->window.kernel[0], d->window.kernel[1]},
                                        .padded = {d->results, c, d->window.kernel[0], d->window.kernel[1]},
                                        .stride = {d->window.kernel[0] * row, width, row, c * width},
                                        .n_blocks = 1,
                                        .blocks = {{0, width}}};
    return true;
}

static void pack_weights(const struct tile_step *s, const struct step_request *r, float *ret_packed)
{
    const struct view *w = &r->step->operands[CPU_PACKED_OPERAND];
    struct packing_run p = {.step = s, .plain = (const float *)address_of_view(r->memory, w), .packed = ret_packed};
    cpu_tile_weight_distances(r->step, p.stride);
    parallel_for(NULL, s->threads, pack_part, &p);
}

static void list_numbers(struct tile_step *s, const struct step_request *r)
{
    s->numbers = arena_array(r->arena, int64_t, tile_n_numbers(&s->definition, &s->schedule));
    tile_list_numbers(&s->definition, &s->schedule, s->numbers);
}

void cpu_tile_prepare(struct tile_step *s, const struct step_request *r, float *ret_packed)
{
    pack_weights(s, r, ret_packed);
    list_numbers(s, r);
}

// Found packed, or else packed now.
static bool give_weights(struct tile_kernel *k, const struct step_request *r)
{
    size_t bytes = k->weights_floats * sizeof(float);
    struct packing packing, *described = describe_packing(&k->step, &packing) ? &packing : NULL;
    bool is_packed = k->step.definition.reading.is_maximum;   // which has none
    list_numbers(&k->step, r);
    if (!is_packed)
        k->weights = (float *)cpu_place_packed(r, described, bytes, &is_packed);
    if (is_packed)
        return true;
    for (size_t i = 0; k->is_pool && i < k->weights_floats; i++)
        k->weights[i] = 1;
    if (k->is_pool || !cpu_provide_plain(r))
        return k->is_pool;
    pack_weights(&k->step, r, k->weights);
    cpu_note_packed(r, described, bytes, (char *)k->weights);
    return true;
}

static bool find_kernel(struct tile_kernel *k, const struct step_request *r)
{
    TEXT(text);
    tile_print(&text, &k->step.definition, &k->step.schedule);
    return cpu_find_kernel(r, text.chars, &k->run);
}

static void *prepare(const struct step_request *r)
{
    struct tile_kernel *k = arena_new(r->arena, struct tile_kernel);
    struct tile_step *s = &k->step;
    if (!define(s, r->backend, r->plan, r->step, r->step->way.choice, r->arena) || !find_kernel(k, r))
        return NULL;
    k->is_pool = cpu_is_pool(r->step);
    k->behind = s->loop ? NULL : cpu_prepare_behind(r);
    k->weights_floats = tile_weights_floats(&s->definition, &s->schedule);
    k->scratch_floats = (tile_scratch_floats(&s->definition, &s->schedule) + 15) & ~(size_t)15;
    return give_weights(k, r) ? k : NULL;
}

bool cpu_tile_run(void *state, const struct execution *e)
{
    const struct tile_kernel *k = state;
    const struct tile_step *s = &k->step;
    const void *given[] = {address_of_view(e->memory, s->source), k->weights, address_of_view(e->memory, s->target),
                           s->addresses, s->numbers};
    cpu_tile_find_addresses(s, e->memory);
    cpu_run_generated(e, s->threads, k->run, given, k->scratch_floats);
    cpu_run_behind(k->behind, e);
    return true;
}

size_t cpu_tile_scratch_bytes(const void *state)
{
    const struct tile_kernel *k = state;
    return (size_t)k->step.threads * k->scratch_floats * sizeof(float);
}

size_t cpu_tile_weights(const void *state, char **ret_weights)
{
    const struct tile_kernel *k = state;
    *ret_weights = (char *)k->weights;
    return k->weights_floats * sizeof(float);
}

int cpu_tile_packed_operand(const void *state)
{
    return ((const struct tile_kernel *)state)->is_pool ? -1 : CPU_PACKED_OPERAND;
}

static bool describe_weights(const void *state, struct packing *ret_packing)
{
    const struct tile_kernel *k = state;
    return describe_packing(&k->step, ret_packing);
}

static const struct cpu_kernel kernel = {
    .base = {.name = "tile"},
    .prepare = prepare,
    .run = cpu_tile_run,
    .scratch_bytes = cpu_tile_scratch_bytes,
    .weights = cpu_tile_weights,
    .packed_operand = cpu_tile_packed_operand,
    .describe_weights = describe_weights,
};
const struct cpu_way cpu_way_tile = {"tile", takes, list_choices, &kernel, list_spaces, describe};
