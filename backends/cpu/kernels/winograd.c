// Convolutions and products by fewer products (generated/winograd.h). A choice is the word `generated` and a schedule:
// `generated (winograd m:4 tiles:14)`. Where there is no compiler, or the schedule does not suit the step, the
// choice cannot be had.
#include "backends/generated/winograd.h"
#include "backends/cpu/conv.h"
#include "backends/cpu/epilogue.h"
#include "backends/cpu/generated.h"
#include "backends/cpu/kept_memory.h"
#include "backends/cpu/kernels/tile.h"
#include "backends/cpu/loops/parallel.h"
#include "backends/cpu/ways.h"
#include "backends/generated/schedule_spaces.h"
#include "backends/limits.def"
#include "core/text/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WAY "generated"
#define FEW_TILES 14    // of a block: what accumulators hold at once
#define MORE_TILES 56   // where weights of many channels come from far, so that they are read less often
#define MANY_CHANNELS 256
#define WIDEST_WINDOW 7
#define LEAST_HALVED 128   // channels, and results, of a product that is worth Strassen's
#define FEW_PAIRS 32       // of its rows, in a block
#define MORE_PAIRS 112
#define LEAST_ROWS 32    // and its rows
#define SMALL_IMAGE 14   // pixels of an edge up to which tiles of 2x2 may suit better: fewer of them lie outside

// --- the step as a definition ----------------------------------------------------------------------------------------

struct winograd_kernel {
    struct tile_kernel base;
    struct winograd_schedule schedule;
};

static bool define(struct winograd_kernel *k, const struct cpu_backend *b, const struct plan *plan,
                   const struct step *step, struct arena *arena)
{
    return cpu_tile_define_whole(&k->base.step, b, plan, step, arena) &&
           winograd_suits(&k->base.step.definition, &(struct winograd_schedule){2, FEW_TILES});
}

// --- choices ---------------------------------------------------------------------------------------------------------

static bool takes(const struct plan *plan, const struct step *step)
{
    const struct view *weights = &step->operands[1];
    return cpu_is_tiled(plan, step) &&
           (step->kernel == &cpu_kernel_linear.base ||
            (cpu_is_dense_conv(plan, step) && weights->dim[2] <= WIDEST_WINDOW && weights->dim[3] <= WIDEST_WINDOW));
}

static void add_choice(choice_list *list, const struct tile_definition *d, enum precision precision, int m,
                       int64_t tiles)
{
    struct listed_choice c = {.precision = precision};
    TEXT(text);
    if (!winograd_suits(d, &(struct winograd_schedule){m, tiles}))
        return;
    winograd_schedule_print(&text, &(struct winograd_schedule){m, tiles});
    snprintf(c.text, sizeof c.text, WAY " %s", text.chars);
    vec_push(list, c);
}

// An eighth of the products is saved: it has to be worth the transforms.
static void list_strassen(const struct tile_definition *d, int64_t pixels, choice_list *list)
{
    if (d->channels < LEAST_HALVED || d->results < LEAST_HALVED || pixels < LEAST_ROWS)
        return;
    if (pixels > 2 * FEW_PAIRS)
        add_choice(list, d, PRECISION_INEXACT, 2, FEW_PAIRS);
    add_choice(list, d, PRECISION_INEXACT, 2, MORE_PAIRS);
}

// Tiles that are much larger than the window lose more digits than they save products.
static double products_of(const struct tile_definition *d, int m)
{
    struct winograd_schedule s = {m, MORE_TILES};
    int window = d->window.kernel[0] > d->window.kernel[1] ? d->window.kernel[0] : d->window.kernel[1];
    return m <= window + 2 && winograd_suits(d, &s) ? (double)winograd_tiles(d, &s) * winograd_places(d, &s) : INFINITY;
}

// Other windows than 3x3, by tiles that take about as few products as can be: few are saved along one axis, so weights
// are to be read seldom.
static void list_others(const struct tile_definition *d, choice_list *list)
{
    double least = INFINITY;
    for (int m = 2; m <= WINOGRAD_MOST_EDGE; m++)
        least = fmin(least, products_of(d, m));
    for (int m = WINOGRAD_MOST_EDGE; m >= 2; m--) {
        if (products_of(d, m) > MORE_PRODUCTS * least)
            continue;
        add_choice(list, d, PRECISION_INEXACT, m, 2 * FEW_TILES);
        add_choice(list, d, PRECISION_INEXACT, m, MORE_TILES);
    }
}

// Images of two small blocks may do better with one, for which weights are read once.
static void list_of(const struct tile_definition *d, choice_list *list)
{
    int64_t pixels = d->images * d->result_height * d->result_width;
    if (d->window.kernel[0] == 1 && d->window.kernel[1] == 1) {
        list_strassen(d, pixels, list);
        return;
    }
    if (d->window.kernel[0] != 3 || d->window.kernel[1] != 3) {
        list_others(d, list);
        return;
    }
    int64_t all = winograd_tiles(d, &(struct winograd_schedule){4, FEW_TILES});
    add_choice(list, d, PRECISION_INEXACT, 4, FEW_TILES);
    if (all > FEW_TILES && all <= 2 * FEW_TILES)
        add_choice(list, d, PRECISION_INEXACT, 4, all);
    if (d->channels >= MANY_CHANNELS && pixels > 4 * 4 * 2 * FEW_TILES)
        add_choice(list, d, PRECISION_INEXACT, 4, MORE_TILES);
    if (d->result_height <= SMALL_IMAGE && d->result_width <= SMALL_IMAGE)
        add_choice(list, d, PRECISION_INEXACT, 2, 2 * FEW_TILES);
}

static void list(const struct cpu_backend *b, const struct plan *plan, const struct step *step, choice_list *list)
{
    struct winograd_kernel k = {.schedule = {.m = 0}};
    ARENA(arena);
    if (define(&k, b, plan, step, &arena))
        list_of(&k.base.step.definition, list);
}

static void list_spaces(const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                        schedule_spaces *list)
{
    struct winograd_kernel k = {.schedule = {.m = 0}};
    struct schedule_space space = {.sketch = WAY " (winograd", .precision = PRECISION_INEXACT};
    ARENA(arena);
    if (define(&k, b, plan, step, &arena)) {
        winograd_list_schedules(&k.base.step.definition, &space);
        vec_push(list, space);
    }
}

static bool parse(struct winograd_kernel *k, const char *choice)
{
    const char *schedule = strchr(choice, ' ');
    return schedule && winograd_schedule_parse(schedule + 1, &k->schedule);
}

static bool describe(const struct cpu_backend *b, const struct plan *plan, const struct step *step, const char *choice,
                     struct schedule_features *ret_features, struct text *kernel)
{
    struct winograd_kernel k = {.schedule = {.m = 0}};
    ARENA(arena);
    bool is_had = parse(&k, choice) && define(&k, b, plan, step, &arena) &&
                  winograd_describe(&k.base.step.definition, &k.schedule, ret_features);
    if (is_had && kernel)
        winograd_print(kernel, &k.base.step.definition, &k.schedule);
    return is_had;
}

// --- preparing and running -------------------------------------------------------------------------------------------

struct packing_run {
    struct winograd_kernel *kernel;
    const float *plain;
    int64_t distances[4];   // of weights
};

static void pack_part(void *argument, int part, int parts)
{
    const struct packing_run *p = argument;
    const struct winograd_kernel *k = p->kernel;
    int64_t groups = winograd_groups(&k->base.step.definition), first = groups * part / parts;
    winograd_pack(&k->base.step.definition, &k->schedule, p->plain, p->distances[0], p->distances[1], k->base.weights,
                  first, groups * (part + 1) / parts - first);
}

static bool pack_weights(struct winograd_kernel *k, const struct step_request *r)
{
    const struct view *w = &r->step->operands[CPU_PACKED_OPERAND];
    const struct tile_definition *d = &k->base.step.definition;
    struct packing_run p = {.kernel = k, .plain = (const float *)address_of_view(r->memory, w)};
    cpu_tile_weight_distances(r->step, p.distances);
    bool is_one = d->window.kernel[0] == 1 && d->window.kernel[1] == 1;
    if (w->block || !(is_one || (p.distances[3] == 1 && p.distances[2] == d->window.kernel[1])))
        return false;
    if (r->is_only_written)
        return true;
    if (!cpu_provide_plain(r))
        return false;
    k->base.weights_floats = winograd_weights_floats(d, &k->schedule);
    k->base.weights = arena_alloc(r->arena, k->base.weights_floats * sizeof(float), 64);
    parallel_for(NULL, k->base.step.threads, pack_part, &p);
    return true;
}

static void *prepare(const struct step_request *r)
{
    struct winograd_kernel *k = arena_new(r->arena, struct winograd_kernel);
    struct tile_step *s = &k->base.step;
    TEXT(text);
    if (!parse(k, r->step->way.choice) || !define(k, r->backend, r->plan, r->step, r->arena) ||
        !winograd_suits(&s->definition, &k->schedule))
        return NULL;
    winograd_print(&text, &s->definition, &k->schedule);
    if (!cpu_find_kernel(r, text.chars, &k->base.run) || !pack_weights(k, r))
        return NULL;
    k->base.behind = s->loop ? NULL : cpu_prepare_behind(r);
    s->numbers = arena_array(r->arena, int64_t, winograd_n_numbers(&s->definition));
    winograd_list_numbers(&s->definition, &k->schedule, s->numbers);
    k->base.scratch_floats = winograd_scratch_floats(&s->definition, &k->schedule);
    return k;
}

static const struct cpu_kernel kernel = {
    .base = {.name = "conv"},
    .prepare = prepare,
    .run = cpu_tile_run,
    .scratch_bytes = cpu_tile_scratch_bytes,
    .weights = cpu_tile_weights,
    .packed_operand = cpu_tile_packed_operand,
};
const struct cpu_way cpu_way_generated = {WAY, takes, list, &kernel, list_spaces, describe};
