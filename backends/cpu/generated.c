// A choice is the word `generated` and a schedule: `generated (winograd m:4 tiles:14)`. Where there is no compiler, or
// the schedule does not suit the step, the choice cannot be had.
#include "backends/cpu/generated.h"

#include "backends/cpu/conv.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/ways.h"
#include "backends/generated/rows.h"
#include "backends/generated/schedule_spaces.h"
#include "backends/generated/winograd.h"
#include "backends/limits.def"
#include "backends/planning/plan_memory.h"
#include "backends/programs/programs.h"
#include "core/text/error.h"
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

// --- instruction sets ------------------------------------------------------------------------------------------------

#if defined(__x86_64__)
const struct cpu_machine *cpu_machine_here(void)
{
    static const struct cpu_machine avx512 = {"avx512", "x86-64-v4", 16, 32}, avx2 = {"avx2", "x86-64-v3", 8, 16},
                                    baseline = {"baseline", "x86-64-v2", 4, 16};
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return &avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2 : &baseline;
}
#else
const struct cpu_machine *cpu_machine_here(void)
{
    static const struct cpu_machine machine = {"baseline", "armv8-a", 4, 32};
    return &machine;
}
#endif

// --- steps as images -------------------------------------------------------------------------------------------------

static bool has_one_row(const struct view *v)
{
    return v->dim[2] == 1 || v->stride[2] == v->dim[3] * v->stride[3];
}

// Makes an image stand as the step's own do.
static bool make_image(const struct cpu_images *images, struct view *v)
{
    int last = v->rank - 1;
    int64_t pixel;
    if (images->is_product) {
        if (v->block || !view_find_rows(v->rank, v->dim, v->stride, &pixel))
            return false;
        *v = (struct view){.memory = v->memory,
                           .dtype = v->dtype,
                           .rank = 4,
                           .dim = {1, v->dim[last], 1, view_elements(v) / v->dim[last]},
                           .stride = {0, v->stride[last], 0, pixel},
                           .offset = v->offset};
    } else if (images->has_one_row) {
        if (v->rank != 4 || !has_one_row(v))
            return false;
        v->dim[3] *= v->dim[2];
        v->dim[2] = 1;
        v->stride[2] = 0;
    }
    return v->rank == 4;
}

static void exchange_weights(struct view *w)
{
    *w = (struct view){.memory = w->memory,
                       .dtype = w->dtype,
                       .rank = 4,
                       .dim = {w->dim[1], w->dim[0], 1, 1},
                       .stride = {w->stride[1], w->stride[0], 1, 1},
                       .offset = w->offset};
}

bool cpu_step_as_images(const struct plan *plan, const struct step *step, struct cpu_images *ret_images)
{
    struct cpu_images i = {.is_product = step->kernel == &cpu_kernel_linear.base};
    if (!i.is_product && !cpu_is_dense_conv(plan, step))
        return false;
    i.source = step->operands[0];
    i.weights = step->operands[1];
    i.target = step->results[0];
    if (!plan_keeps(plan, i.weights.memory) || view_elements(&i.target) == 0)
        return false;
    if (i.is_product)
        exchange_weights(&i.weights);
    else
        i.has_one_row = i.weights.dim[2] == 1 && i.weights.dim[3] == 1 && has_one_row(&i.source) &&
                        has_one_row(&i.target) && i.source.dim[2] == i.target.dim[2] &&
                        i.source.dim[3] == i.target.dim[3];
    *ret_images = i;
    return make_image(&i, &ret_images->source) && make_image(&i, &ret_images->target);
}

// --- the step as a definition ----------------------------------------------------------------------------------------

// Channels in runs of so many lanes.
static bool image_of_view(const struct view *v, int lanes, struct winograd_image *ret_image)
{
    bool is_last = !v->block && v->stride[1] == 1;
    *ret_image = (struct winograd_image){v->stride[0], is_last ? lanes : v->stride[1], v->stride[2], v->stride[3]};
    return is_last || (v->block == lanes && v->block_axis == 1);
}

// An operand of the epilogue.
static bool image_of_access(const struct cpu_images *images, const struct loop *l, const struct loop_access *a,
                            int lanes, struct winograd_image *ret_image)
{
    struct view v = {.rank = l->rank, .block = a->block, .block_axis = a->block_variable};
    if (l->rank > MAX_RANK)
        return false;
    memcpy(v.dim, l->dim, (size_t)l->rank * sizeof *v.dim);
    memcpy(v.stride, a->stride, (size_t)l->rank * sizeof *v.stride);
    return make_image(images, &v) && image_of_view(&v, lanes, ret_image);
}

struct generated_conv {
    struct winograd_definition definition;
    struct winograd_schedule schedule;
    struct cpu_images images;
    const struct loop *loop;   // the epilogue, or NULL
    struct cpu_epilogue epilogue;
    bool has_residual;
    struct cpu_behind *loops;   // the epilogue behind the kernel where that does not take it
    winograd_run_fn *run;
    int64_t numbers[WINOGRAD_N_NUMBERS];
    size_t scratch_floats;   // of each part
    int threads;
    float *weights;
};

static bool define_sizes(struct generated_conv *c, const struct cpu_backend *b, const struct plan *plan,
                         const struct step *step)
{
    const struct cpu_machine *machine = b->machine;
    struct onednn_window w = {{0}};
    if (!cpu_step_as_images(plan, step, &c->images))
        return false;
    const struct view *source = &c->images.source, *weights = &c->images.weights, *target = &c->images.target;
    if (!c->images.is_product)
        w = cpu_window_of(&plan->graph->nodes.items[step->node], 2, weights->dim + 2);
    c->definition = (struct winograd_definition){.lanes = machine->lanes,
                                                 .registers = machine->registers,
                                                 .window = {(int)weights->dim[2], (int)weights->dim[3]},
                                                 .images = source->dim[0],
                                                 .channels = source->dim[1],
                                                 .results = target->dim[1],
                                                 .height = source->dim[2],
                                                 .width = source->dim[3],
                                                 .result_height = target->dim[2],
                                                 .result_width = target->dim[3],
                                                 .pad_top = w.pad_begin[0],
                                                 .pad_left = w.pad_begin[1]};
    return image_of_view(source, machine->lanes, &c->definition.source) &&
           image_of_view(target, machine->lanes, &c->definition.target) &&
           winograd_suits(&c->definition, &(struct winograd_schedule){2, FEW_TILES});
}

// At most a bias, a residual and a relu.
static bool takes_epilogue(struct generated_conv *c)
{
    const struct postops *ops = &c->epilogue.ops;
    int at = 0;
    c->has_residual = false;
    if (at < ops->n && ops->items[at].kind == POSTOP_ADD && ops->items[at].operand == OPERAND_FULL) {
        const struct loop_access *a = &c->loop->operands[ops->items[at].operand_number];
        c->has_residual = image_of_access(&c->images, c->loop, a, c->definition.lanes, &c->definition.residual);
        at += c->has_residual;
    }
    c->definition.has_relu = at < ops->n && ops->items[at].kind == POSTOP_RELU;
    return at + c->definition.has_relu == ops->n;
}

static bool define_epilogue(struct generated_conv *c, const struct step_request *r)
{
    int channel_axis = c->images.is_product ? r->step->results[0].rank - 1 : 1;
    c->loop = r->step->n_loops ? &r->step->loops[0] : NULL;
    if (cpu_read_epilogue(r->plan->graph, r->step, c->loop, channel_axis, &c->epilogue) && takes_epilogue(c))
        return true;
    c->loops = cpu_prepare_behind(r);
    c->loop = NULL;
    return cpu_read_epilogue(r->plan->graph, r->step, NULL, channel_axis, &c->epilogue) && takes_epilogue(c);
}

// --- choices ---------------------------------------------------------------------------------------------------------

static bool takes(const struct plan *plan, const struct step *step)
{
    const struct view *weights = &step->operands[1];
    return step->kernel == &cpu_kernel_linear.base ||
           (cpu_is_dense_conv(plan, step) && weights->dim[2] <= WIDEST_WINDOW && weights->dim[3] <= WIDEST_WINDOW);
}

static void add_choice(choice_list *list, const struct winograd_definition *d, enum precision precision, int m,
                       int64_t tiles)
{
    struct listed_choice c = {.precision = precision};
    struct text text = {0};
    if (!winograd_suits(d, &(struct winograd_schedule){m, tiles}))
        return;
    winograd_schedule_print(&text, &(struct winograd_schedule){m, tiles});
    snprintf(c.text, sizeof c.text, WAY " %s", text.chars);
    text_free(&text);
    vec_push(list, c);
}

// An eighth of the products is saved: it has to be worth the transforms.
static void list_strassen(const struct winograd_definition *d, int64_t pixels, choice_list *list)
{
    if (d->channels < LEAST_HALVED || d->results < LEAST_HALVED || pixels < LEAST_ROWS)
        return;
    if (pixels > 2 * FEW_PAIRS)
        add_choice(list, d, PRECISION_INEXACT, 2, FEW_PAIRS);
    add_choice(list, d, PRECISION_INEXACT, 2, MORE_PAIRS);
}

// Tiles that are much larger than the window lose more digits than they save products.
static double products_of(const struct winograd_definition *d, int m)
{
    struct winograd_schedule s = {m, MORE_TILES};
    int window = d->window[0] > d->window[1] ? d->window[0] : d->window[1];
    return m <= window + 2 && winograd_suits(d, &s) ? (double)winograd_tiles(d, &s) * winograd_places(d, &s) : INFINITY;
}

// Other windows than 3x3, by tiles that take about as few products as can be: few are saved along one axis, so weights
// are to be read seldom.
static void list_others(const struct winograd_definition *d, choice_list *list)
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

static void list(const struct cpu_backend *b, const struct plan *plan, const struct step *step, choice_list *list)
{
    struct generated_conv c = {.threads = b->threads};
    if (!define_sizes(&c, b, plan, step))
        return;
    const struct winograd_definition *d = &c.definition;
    int64_t pixels = d->images * d->result_height * d->result_width;
    if (d->window[0] == 1 && d->window[1] == 1) {
        list_strassen(d, pixels, list);
        return;
    }
    if (d->window[0] != 3 || d->window[1] != 3) {
        list_others(d, list);
        return;
    }
    add_choice(list, d, PRECISION_INEXACT, 4, FEW_TILES);
    if (d->channels >= MANY_CHANNELS && pixels > 4 * 4 * 2 * FEW_TILES)
        add_choice(list, d, PRECISION_INEXACT, 4, MORE_TILES);
    if (d->result_height <= SMALL_IMAGE && d->result_width <= SMALL_IMAGE)
        add_choice(list, d, PRECISION_INEXACT, 2, 2 * FEW_TILES);
}

static void list_spaces(const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                        schedule_spaces *list)
{
    struct generated_conv c = {.threads = b->threads};
    struct schedule_space space = {.sketch = WAY " (winograd", .precision = PRECISION_INEXACT};
    if (!define_sizes(&c, b, plan, step))
        return;
    winograd_list_schedules(&c.definition, &space);
    vec_push(list, space);
}

static bool describe(const struct cpu_backend *b, const struct plan *plan, const struct step *step, const char *choice,
                     struct schedule_features *ret_features, struct text *kernel)
{
    struct generated_conv c = {.threads = b->threads};
    const char *schedule = strchr(choice, ' ');
    if (!schedule || !winograd_schedule_parse(schedule + 1, &c.schedule) || !define_sizes(&c, b, plan, step) ||
        !winograd_describe(&c.definition, &c.schedule, ret_features))
        return false;
    if (kernel)
        winograd_print(kernel, &c.definition, &c.schedule);
    return true;
}

// --- preparing and running -------------------------------------------------------------------------------------------

void *cpu_find_function(const struct step_request *r, const char *text)
{
    struct program program;
    struct error ignored;
    bool is_found = programs_find(r->backend->programs, &text, 1, &program, &ignored);
    return is_found ? program_function(&program, "run") : NULL;
}

static bool find_kernel(struct generated_conv *c, const struct step_request *r)
{
    struct text text = {0};
    winograd_print(&text, &c->definition, &c->schedule);
    void *address = cpu_find_function(r, text.chars);
    memcpy(&c->run, &address, sizeof c->run);
    text_free(&text);
    return address != NULL;
}

struct packing_run {
    struct generated_conv *conv;
    const float *plain;
    const struct view *view;
};

static void pack_part(void *argument, int part, int parts)
{
    const struct packing_run *p = argument;
    const struct generated_conv *c = p->conv;
    int64_t groups = winograd_groups(&c->definition), first = groups * part / parts;
    winograd_pack(&c->definition, &c->schedule, p->plain, p->view->stride[0], p->view->stride[1], c->weights, first,
                  groups * (part + 1) / parts - first);
}

static bool pack_weights(struct generated_conv *c, const struct step_request *r)
{
    const struct view *w = &c->images.weights;
    if (w->block || w->stride[3] != 1 || w->stride[2] != w->dim[3] || !cpu_provide_plain(r))
        return false;
    c->weights = arena_alloc(r->arena, winograd_weights_floats(&c->definition, &c->schedule) * sizeof(float), 64);
    parallel_for(NULL, c->threads, pack_part,
                 &(struct packing_run){c, (const float *)address_of_view(r->memory, w), w});
    return true;
}

static void *prepare(const struct step_request *r)
{
    struct generated_conv *c = arena_new(r->arena, struct generated_conv);
    c->threads = r->backend->threads;
    const char *schedule = strchr(r->step->choice, ' ');
    if (!schedule || !winograd_schedule_parse(schedule + 1, &c->schedule) ||
        !define_sizes(c, r->backend, r->plan, r->step) || !winograd_suits(&c->definition, &c->schedule) ||
        !define_epilogue(c, r) || !find_kernel(c, r) || !pack_weights(c, r))
        return NULL;
    winograd_list_numbers(&c->definition, &c->schedule, c->numbers);
    c->scratch_floats = winograd_scratch_floats(&c->definition, &c->schedule);
    return c;
}

struct conv_run {
    const struct generated_conv *conv;
    const float *x, *bias, *residual;
    float *y, *scratch;
};

static void run_part(void *argument, int part, int parts)
{
    const struct conv_run *r = argument;
    const struct generated_conv *c = r->conv;
    c->run(r->x, c->weights, r->bias, r->residual, r->y, r->scratch + (size_t)part * c->scratch_floats, c->numbers,
           part, parts);
}

static bool run(void *state, const struct execution *e)
{
    const struct generated_conv *c = state;
    struct onednn_arguments a = {NULL};
    if (c->loop)
        cpu_epilogue_arguments(&c->epilogue, c->loop, e->memory, &a);
    struct conv_run r = {.conv = c,
                         .x = (const float *)address_of_view(e->memory, &c->images.source),
                         .bias = a.bias,
                         .residual = c->has_residual ? a.operands[0] : NULL,
                         .y = (float *)address_of_view(e->memory, &c->images.target),
                         .scratch = (float *)e->scratch};
    parallel_for(e->workers, c->threads, run_part, &r);
    cpu_run_behind(c->loops, e);
    return true;
}

static size_t scratch_bytes(const void *state)
{
    const struct generated_conv *c = state;
    return (size_t)c->threads * c->scratch_floats * sizeof(float);
}

static size_t weights(const void *state, char **ret_weights)
{
    const struct generated_conv *c = state;
    *ret_weights = (char *)c->weights;
    return winograd_weights_floats(&c->definition, &c->schedule) * sizeof(float);
}

static int packed_operand(const void *state)
{
    return CPU_PACKED_OPERAND;
}

static const struct cpu_kernel kernel = {
    .base = {.name = "conv"},
    .prepare = prepare,
    .run = run,
    .scratch_bytes = scratch_bytes,
    .weights = weights,
    .packed_operand = packed_operand,
};
const struct cpu_way cpu_way_generated = {WAY, takes, list, &kernel, list_spaces, describe};

// --- loops -----------------------------------------------------------------------------------------------------------

#define FEW_PLACES 2048     // of a step's loops: what is shorter is not worth a compiler's time
#define MANY_PLACES 32768   // worth it whatever is computed

struct generated_rows {
    rows_run_fn *run;
    int n_addresses, threads;
    const struct loop_access *accesses;
    const int64_t *numbers;
    float **addresses;
};

static bool takes_rows(const struct plan *plan, const struct step *step)
{
    return step->kernel == &cpu_kernel_loops.base;
}

// Functions that take longer than memory does, and what goes over its rows several times, if there is something of it.
static bool is_worth_generating(const struct step *step)
{
    bool is_hard = false;
    double places = 0;
    for (int i = 0; i < step->n_loops; i++) {
        const struct loop *l = &step->loops[i];
        places += loop_places(l);
        for (int k = 0; k < l->n_instructions; k++) {
            uint8_t fn = l->instructions[k].fn;
            is_hard = is_hard || l->instructions[k].kind == INSTRUCTION_REDUCE ||
                      (l->instructions[k].kind == INSTRUCTION_APPLY &&
                       (fn == FN_EXP || fn == FN_SIGMOID || fn == FN_TANH || fn == FN_ERF));
        }
    }
    return places >= (is_hard ? FEW_PLACES : MANY_PLACES);
}

static void list_rows(const struct cpu_backend *b, const struct plan *plan, const struct step *step, choice_list *list)
{
    struct text text = {0};
    struct rows_kernel k = {0};
    struct listed_choice c = {.text = "rows"};
    if (is_worth_generating(step) && rows_print(&text, step, b->machine->lanes, &k))
        vec_push(list, c);
    rows_kernel_free(&k);
    text_free(&text);
}

static void *prepare_rows(const struct step_request *r)
{
    struct text text = {0};
    struct rows_kernel k = {0};
    struct generated_rows *s = arena_new(r->arena, struct generated_rows);
    void *address = NULL;
    if (rows_print(&text, r->step, r->backend->machine->lanes, &k))
        address = cpu_find_function(r, text.chars);
    s->n_addresses = (int)k.accesses.count;
    s->accesses = arena_copy_array(r->arena, k.accesses.items, k.accesses.count);
    s->numbers = arena_copy_array(r->arena, k.numbers.items, k.numbers.count);
    s->addresses = arena_array(r->arena, float *, k.accesses.count + 1);
    s->threads = r->backend->threads;
    memcpy(&s->run, &address, sizeof s->run);
    rows_kernel_free(&k);
    text_free(&text);
    return address ? s : NULL;
}

static void run_part_of_rows(void *argument, int part, int parts)
{
    const struct generated_rows *s = argument;
    s->run(s->addresses, s->numbers, part, parts);
}

static bool run_rows(void *state, const struct execution *e)
{
    const struct generated_rows *s = state;
    for (int i = 0; i < s->n_addresses; i++)
        s->addresses[i] = (float *)e->memory[s->accesses[i].memory] + s->accesses[i].offset;
    parallel_for(e->workers, s->threads, run_part_of_rows, state);
    return true;
}

static const struct cpu_kernel rows_kernel = {.base = {.name = "loops"}, .prepare = prepare_rows, .run = run_rows};
const struct cpu_way cpu_way_rows = {"rows", takes_rows, list_rows, &rows_kernel};
