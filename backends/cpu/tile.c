// Convolutions and products with known weights by register tiles (generated/tile.h), with what stands behind them.
// Rows of pixels that follow each other everywhere, as in products and in most convolutions of 1x1, are one row.
#include "backends/cpu/tile.h"

#include "backends/cpu/generated.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/ways.h"
#include "backends/generated/schedule_spaces.h"
#include "backends/planning/plan_memory.h"
#include "core/text/text.h"
#include <stdio.h>
#include <string.h>

#define WAY "tile"
#define SOURCE_BYTES ((int64_t)192 << 10)   // of the tiles that are done with one group of vectors: they stay near

#define SPARE_REGISTERS 4   // for weights and an entry of the source
#define FEW_PIXELS 8        // the library does not do well with so few
#define FEW_CHANNELS 64     // nor with so few of the source, for results of which each takes as long to store
#define FEWEST_LANES 8      // of half a vector
#define MOST_NARROW 5       // vectors of results, of which half a one is more than a tenth

// --- the step as a definition ----------------------------------------------------------------------------------------

static bool image_of(int rank, const int64_t *dim, const int64_t *stride, int block, int block_axis, int lanes,
                     bool is_product, struct tile_image *ret_image)
{
    struct tile_image i = {.lane = block ? 1 : stride[is_product ? rank - 1 : 1]};
    i.block = block ? stride[1] : lanes * i.lane;
    if (block && (is_product || block != lanes || block_axis != 1))
        return false;
    bool is_image = is_product ? view_find_rows(rank, dim, stride, &i.pixel) : rank == 4;
    if (is_image && !is_product) {
        i.image = stride[0];
        i.row = stride[2];
        i.pixel = stride[3];
    }
    *ret_image = i;
    return is_image;
}

static bool image_of_view(const struct view *v, int lanes, bool is_product, struct tile_image *ret_image)
{
    return image_of(v->rank, v->dim, v->stride, v->block, v->block_axis, lanes, is_product, ret_image);
}

static void define_window(struct tile_definition *d, const struct plan *plan, const struct step *step)
{
    const struct node *n = &plan->graph->nodes.items[step->node];
    struct onednn_window w = cpu_window_of(n, 2, step->operands[1].dim + 2);
    d->groups = cpu_attribute_int(n, ROLE_GROUPS);
    for (int i = 0; i < 2; i++) {
        d->kernel[i] = w.kernel[i];
        d->stride[i] = w.stride[i];
        d->dilation[i] = w.dilation[i];
        d->pad[i] = w.pad_begin[i];
    }
    d->images = step->results[0].dim[0];
    d->channels = step->operands[0].dim[1] / d->groups;
    d->results = step->results[0].dim[1] / d->groups;
    d->height = step->operands[0].dim[2];
    d->width = step->operands[0].dim[3];
    d->result_height = step->results[0].dim[2];
    d->result_width = step->results[0].dim[3];
}

static void define_product(struct tile_definition *d, const struct step *step)
{
    *d = (struct tile_definition){.lanes = d->lanes,
                                  .registers = d->registers,
                                  .images = 1,
                                  .groups = 1,
                                  .channels = step->operands[1].dim[0],
                                  .results = step->operands[1].dim[1],
                                  .height = 1,
                                  .width = step->operands[0].dim[0],
                                  .result_height = 1,
                                  .result_width = step->operands[0].dim[0],
                                  .kernel = {1, 1},
                                  .stride = {1, 1},
                                  .dilation = {1, 1}};
}

static bool is_product(const struct step *step)
{
    return step->kernel == &cpu_kernel_linear.base;
}

bool cpu_tile_define(struct tile_step *s, const struct cpu_backend *b, const struct plan *plan, const struct step *step)
{
    const struct cpu_machine *machine = b->machine;
    struct tile_definition *d = &s->definition;
    *d = (struct tile_definition){.lanes = machine->lanes, .registers = machine->registers};
    s->source = &step->operands[0];
    s->target = &step->results[0];
    s->threads = b->threads;
    s->is_product = is_product(step);
    if (s->is_product)
        define_product(d, step);
    else
        define_window(d, plan, step);
    d->has_relu = cpu_has_activation(plan->graph, step);
    return image_of_view(s->source, d->lanes, is_product(step), &d->source) &&
           image_of_view(s->target, d->lanes, is_product(step), &d->target);
}

bool cpu_tile_define_epilogue(struct tile_step *s, const struct step *step, struct arena *arena)
{
    const struct loop *l = step->n_loops ? &step->loops[0] : NULL;
    bool is_taken = true;
    if (!l)
        return true;
    s->operands = arena_array(arena, struct tile_image, (size_t)l->n_operands);
    s->addresses = arena_array(arena, const float *, (size_t)l->n_operands);
    for (int i = 1; i < l->n_operands && is_taken; i++) {
        const struct loop_access *a = &l->operands[i];
        is_taken = image_of(l->rank, l->dim, a->stride, a->block, a->block_variable, s->definition.lanes,
                            is_product(step), &s->operands[i]);
    }
    s->definition.operands = s->operands;
    s->definition.epilogue = s->loop = l;
    if (is_taken && tile_takes_epilogue(&s->definition))
        return true;
    s->definition.epilogue = s->loop = NULL;
    return false;
}

// --- one row of all --------------------------------------------------------------------------------------------------

static bool are_rows_one(const struct tile_definition *d)
{
    bool are_one = d->source.row == d->width * d->source.pixel && d->target.row == d->width * d->target.pixel;
    for (int i = 1; d->epilogue && i < d->epilogue->n_operands; i++)
        are_one = are_one && d->operands[i].row == d->width * d->operands[i].pixel;
    return are_one;
}

static bool are_images_one(const struct tile_definition *d)
{
    bool are_one = d->source.image == d->width * d->source.pixel && d->target.image == d->width * d->target.pixel;
    for (int i = 1; d->epilogue && i < d->epilogue->n_operands; i++)
        are_one = are_one && d->operands[i].image == d->width * d->operands[i].pixel;
    return are_one;
}

static void join_rows(struct tile_definition *d)
{
    if (!tile_is_of_one_pixel(d) || (d->height > 1 && !are_rows_one(d)))
        return;
    d->width = d->result_width = d->height * d->width;
    d->height = d->result_height = 1;
    if (d->images > 1 && are_images_one(d)) {
        d->width = d->result_width = d->images * d->width;
        d->images = 1;
    }
}

bool cpu_tile_define_whole(struct tile_step *s, const struct cpu_backend *b, const struct plan *plan,
                           const struct step *step, struct arena *arena)
{
    if (!cpu_tile_define(s, b, plan, step))
        return false;
    cpu_tile_define_epilogue(s, step, arena);
    join_rows(&s->definition);
    return true;
}

// --- choices ---------------------------------------------------------------------------------------------------------

bool cpu_is_tiled(const struct plan *plan, const struct step *step)
{
    bool is_conv = step->kernel == &cpu_kernel_conv.base && step->results[0].rank == 4;
    return (is_conv || is_product(step)) && plan_keeps(plan, step->operands[1].memory);
}

static void add_choice(choice_list *list, const struct tile_definition *d, int pixels, int vectors, int64_t tiles)
{
    struct tile_schedule s = {pixels, vectors, tiles, d->source_lanes ? d->lanes : 0};
    struct listed_choice c = {.precision = PRECISION_EXACT};
    struct text text = {0};
    if (!tile_suits(d, &s))
        return;
    tile_schedule_print(&text, &s);
    snprintf(c.text, sizeof c.text, WAY " %s", text.chars);
    text_free(&text);
    vec_push(list, c);
}

// With channels last all vectors of a row follow each other: they are read while they are near.
static void add_lanewise(choice_list *list, const struct tile_definition *d)
{
    bool is_last = d->source.pixel > d->lanes;
    int pixels = d->registers / 2 - 2;
    add_choice(list, d, pixels, 1,
               is_last ? (d->result_width + pixels - 1) / pixels : d->images * d->result_height * d->result_width);
}

static int64_t tiles_that_stay(const struct tile_definition *d, int pixels)
{
    int64_t bytes = pixels * d->stride[0] * d->stride[1] * d->channels * (int64_t)sizeof(float);
    return bytes < SOURCE_BYTES ? SOURCE_BYTES / bytes : 1;
}

static void add_dense_of(choice_list *list, const struct tile_definition *d, int vectors)
{
    int pixels = (d->registers - SPARE_REGISTERS) / vectors;
    add_choice(list, d, pixels, vectors, tiles_that_stay(d, pixels));
}

// Tiles as wide as vectors of results allow, and narrower ones: which is faster depends on the processor's loads.
static void add_dense(choice_list *list, const struct tile_definition *d)
{
    int widest = tile_best_vectors(d);
    for (int q = widest; q; q = q == 4 ? 2 : 0)
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

static bool has_functions(const struct loop *l)
{
    for (int i = 0; l && i < l->n_instructions; i++)
        if (l->instructions[i].kind == INSTRUCTION_APPLY &&
            (l->instructions[i].fn == FN_EXP || l->instructions[i].fn == FN_TANH || l->instructions[i].fn == FN_ERF ||
             l->instructions[i].fn == FN_SIGMOID))
            return true;
    return false;
}

// The library's are near the processor's peak where there are many channels and pixels. Beside these, convolutions of
// 1x1 in blocks are tried, as one kernel serves many of them.
static bool is_worth_generating(const struct tile_definition *d)
{
    int64_t pixels = d->images * d->result_height * d->result_width;
    bool is_thin = d->channels < d->lanes || d->groups > 1, is_small = d->kernel[0] * d->kernel[1] == 1;
    return is_thin || pixels <= FEW_PIXELS || (d->epilogue && has_functions(d->epilogue)) ||
           (is_small && ((d->source.pixel == d->lanes && d->source.block != d->lanes) || d->channels <= FEW_CHANNELS ||
                         d->results <= FEW_CHANNELS));
}

static bool narrow_as_scheduled(struct tile_step *s)
{
    int lanes = s->schedule.lanes;
    return !lanes || (2 * lanes == s->definition.lanes && tile_narrow(&s->definition, s->operands, lanes));
}

static void list(const struct cpu_backend *b, const struct plan *plan, const struct step *step, choice_list *list)
{
    struct arena arena;
    struct tile_step s = {.threads = b->threads};
    arena_init(&arena);
    if (cpu_tile_define_whole(&s, b, plan, step, &arena)) {
        if (tile_is_lanewise(&s.definition))
            add_lanewise(list, &s.definition);
        else if (b->is_guest || is_worth_generating(&s.definition)) {
            add_dense(list, &s.definition);
            if (narrow(&s))
                add_dense_of(list, &s.definition, tile_best_vectors(&s.definition));
        }
    }
    arena_free(&arena);
}

static void add_space(schedule_spaces *list, const struct tile_definition *d)
{
    struct schedule_space space = {.sketch = WAY " (tile", .precision = PRECISION_EXACT};
    tile_list_schedules(d, &space);
    vec_push(list, space);
}

static void list_spaces(const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                        schedule_spaces *list)
{
    struct arena arena;
    struct tile_step s = {.threads = b->threads};
    arena_init(&arena);
    if (!step->operands[CPU_PACKED_OPERAND].block && cpu_tile_define_whole(&s, b, plan, step, &arena)) {
        add_space(list, &s.definition);
        if (narrow(&s))
            add_space(list, &s.definition);
    }
    arena_free(&arena);
}

static bool describe(const struct cpu_backend *b, const struct plan *plan, const struct step *step, const char *choice,
                     struct schedule_features *ret_features, struct text *kernel)
{
    struct arena arena;
    struct tile_step s = {.threads = b->threads};
    const char *schedule = strchr(choice, ' ');
    arena_init(&arena);
    bool is_had = schedule && tile_schedule_parse(schedule + 1, &s.schedule) &&
                  cpu_tile_define_whole(&s, b, plan, step, &arena) && narrow_as_scheduled(&s) &&
                  tile_describe(&s.definition, &s.schedule, ret_features);
    if (is_had && kernel)
        tile_print(kernel, &s.definition, &s.schedule);
    arena_free(&arena);
    return is_had;
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
    int64_t width = (int64_t)s->schedule.vectors * d->lanes, c = d->channels, row = d->kernel[1] * c * width;
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
                                        .dim = {d->results, c, d->kernel[0], d->kernel[1]},
                                        .padded = {d->results, c, d->kernel[0], d->kernel[1]},
                                        .stride = {d->kernel[0] * row, width, row, c * width},
                                        .n_blocks = 1,
                                        .blocks = {{0, width}}};
    return true;
}

void cpu_tile_weight_distances(const struct step *step, int64_t ret_distances[4])
{
    const struct view *w = &step->operands[CPU_PACKED_OPERAND];
    for (int i = 0; i < 4; i++)
        ret_distances[i] = i >= w->rank ? 0 : w->stride[is_product(step) ? 1 - i : i];
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
    if (!cpu_provide_plain(r))
        return false;
    pack_weights(&k->step, r, k->weights);
    return true;
}

static bool find_kernel(struct tile_kernel *k, const struct step_request *r)
{
    struct text text = {0};
    tile_print(&text, &k->step.definition, &k->step.schedule);
    return cpu_find_kernel(r, &text, &k->run);
}

static void *prepare(const struct step_request *r)
{
    struct tile_kernel *k = arena_new(r->arena, struct tile_kernel);
    struct tile_step *s = &k->step;
    const char *schedule = strchr(r->step->choice, ' ');
    if (!schedule || !tile_schedule_parse(schedule + 1, &s->schedule) ||
        !cpu_tile_define_whole(s, r->backend, r->plan, r->step, r->arena) || !narrow_as_scheduled(s) ||
        !tile_suits(&s->definition, &s->schedule) || r->step->operands[CPU_PACKED_OPERAND].block || !find_kernel(k, r))
        return NULL;
    k->behind = s->loop ? NULL : cpu_prepare_behind(r);
    k->weights_floats = tile_weights_floats(&s->definition, &s->schedule);
    return give_weights(k, r) ? k : NULL;
}

void cpu_tile_find_addresses(const struct tile_step *s, char *const *memory)
{
    for (int i = 1; s->loop && i < s->loop->n_operands; i++)
        s->addresses[i] = (const float *)memory[s->loop->operands[i].memory] + s->loop->operands[i].offset;
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
    return CPU_PACKED_OPERAND;
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
const struct cpu_way cpu_way_tile = {WAY, cpu_is_tiled, list, &kernel, list_spaces, describe};
