// Convolutions and products with known weights by register tiles (generated/tile.h), with what stands behind them.
#include "backends/cpu/kernels/tile.h"

#include "backends/cpu/generated.h"
#include "backends/cpu/kernels/tile_choices.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/ways.h"
#include "backends/generated/schedule_spaces.h"
#include "backends/generated/tile_text.h"
#include "core/text/text.h"
#include <string.h>

static bool takes(const struct plan *plan, const struct step *step)
{
    return cpu_is_tiled(plan, step) || cpu_is_mean(plan, step);
}

// --- schedules -------------------------------------------------------------------------------------------------------

static bool narrow_as_scheduled(struct tile_step *s)
{
    int lanes = s->schedule.lanes;
    return !lanes || (2 * lanes == s->definition.lanes && tile_narrow(&s->definition, s->operands, lanes));
}

static bool describe(const struct cpu_backend *b, const struct plan *plan, const struct step *step, const char *choice,
                     struct schedule_features *ret_features, struct text *kernel)
{
    ARENA(arena);
    struct tile_step s = {.threads = b->threads};
    const char *schedule = strchr(choice, ' ');
    bool is_had = schedule && tile_schedule_parse(schedule + 1, &s.schedule) &&
                  cpu_tile_define_whole(&s, b, plan, step, &arena) && narrow_as_scheduled(&s) &&
                  tile_suits(&s.definition, &s.schedule);
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
    struct packing packing;
    list_numbers(&k->step, r);
    if (describe_packing(&k->step, &packing))
        k->weights = (float *)cpu_find_packed(r, &packing, bytes);
    if (k->weights)
        return true;
    k->weights = arena_alloc(r->arena, bytes, 64);
    for (size_t i = 0; k->is_mean && i < k->weights_floats; i++)
        k->weights[i] = 1;
    if (k->is_mean || !cpu_provide_plain(r))
        return k->is_mean;
    pack_weights(&k->step, r, k->weights);
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
    const char *schedule = strchr(r->step->way.choice, ' ');
    if (!schedule || !tile_schedule_parse(schedule + 1, &s->schedule) ||
        !cpu_tile_define_whole(s, r->backend, r->plan, r->step, r->arena) || !narrow_as_scheduled(s) ||
        !tile_suits(&s->definition, &s->schedule) || !find_kernel(k, r))
        return NULL;
    k->is_mean = cpu_is_mean(r->plan, r->step);
    k->behind = s->loop ? NULL : cpu_prepare_behind(r);
    k->weights_floats = tile_weights_floats(&s->definition, &s->schedule);
    return give_weights(k, r) ? k : NULL;
}

struct tile_run {
    const struct tile_kernel *kernel;
    const float *x;
    float *y, *scratch;
};

static void run_part(void *argument, int part, int parts)
{
    const struct tile_run *r = argument;
    const struct tile_kernel *k = r->kernel;
    k->run(r->x, k->weights, r->y, k->step.addresses, r->scratch + (size_t)part * k->scratch_floats, k->step.numbers,
           part, parts);
}

bool cpu_tile_run(void *state, const struct execution *e)
{
    const struct tile_kernel *k = state;
    struct tile_run r = {k, (const float *)address_of_view(e->memory, k->step.source),
                         (float *)address_of_view(e->memory, k->step.target), (float *)e->scratch};
    cpu_tile_find_addresses(&k->step, e->memory);
    parallel_for(e->workers, k->step.threads, run_part, &r);
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
    return ((const struct tile_kernel *)state)->is_mean ? -1 : CPU_PACKED_OPERAND;
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
    .weights = cpu_tile_weights,
    .packed_operand = cpu_tile_packed_operand,
    .describe_weights = describe_weights,
};
const struct cpu_way cpu_way_tile = {"tile", takes, cpu_tile_list, &kernel, cpu_tile_list_spaces, describe};
