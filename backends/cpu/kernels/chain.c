// A convolution, a depthwise one and another of 1x1 as one kernel (generated/chains/chain.h), or some of them, without
// the moves between and around them: copies in other layouts, and channels multiplied by a number each, as behind
// squeeze-and-excite; or what attention is made of (attention.h). Without a compiler the steps run one after the other,
// as they would if they were not joined.
#include "backends/generated/chains/chain.h"
#include "backends/cpu/generated.h"
#include "backends/cpu/kept_memory.h"
#include "backends/cpu/kernels/attention.h"
#include "backends/cpu/kernels/tile.h"
#include "backends/cpu/ways.h"
#include "backends/planning/plan_chains.h"
#include "core/text/text.h"
#include <stdio.h>
#include <string.h>

#define FEWEST_PIXELS 196                  // of an image: of smaller ones all is near anyhow
#define MOST_WEIGHTS ((int64_t)96 << 10)   // of a stage that has them all read for each row
#define NO_STAGE (-1)

struct part {   // that runs by itself
    const struct cpu_kernel *kernel;
    void *state;
};
struct chain_kernel {
    int n_parts, threads;
    struct part parts[CHAIN_MOST];
    struct cpu_attention *attention;   // or:
    generated_run_fn *run;             // both NULL: the parts run one after the other
    struct chain_definition definition;
    struct step *steps[CHAIN_STAGES];   // as if they read and wrote what moves do
    struct tile_step stages[CHAIN_STAGES];
    const struct tile_step *first, *last;
    float *all_weights;
    size_t weight_floats;
    const float *weights[CHAIN_STAGES];
    const float *const *operands[CHAIN_STAGES];
    const int64_t *numbers[CHAIN_STAGES + 1];
    int64_t own_numbers[CHAIN_N_NUMBERS];
};

// --- which steps may be joined ---------------------------------------------------------------------------------------

static bool is_conv(const struct step *step)
{
    return step->kernel == &cpu_kernel_conv.base;
}

static bool is_depthwise(const struct step *step)
{
    int64_t channels = step->operands[0].dim[1];
    return channels > 1 && step->operands[1].dim[1] == 1 && step->results[0].dim[1] == channels;
}

static bool is_dense(const struct step *step)
{
    return step->operands[1].dim[1] == step->operands[0].dim[1] && !is_depthwise(step);
}

static bool is_of_one_pixel(const struct step *step)
{
    return is_dense(step) && step->operands[1].dim[2] == 1 && step->operands[1].dim[3] == 1;
}

static bool is_by_channels(const struct view *image)
{
    return image->block || image->stride[1] == 1;
}

static bool is_image_in_f32(const struct plan *plan, const struct step *step)
{
    return is_conv(step) && cpu_is_tiled(plan, step) && step->operands[0].dtype == DTYPE_F32 &&
           step->results[0].dtype == DTYPE_F32 && !step->operands[1].block;
}

static bool has_pixels(const struct view *image)
{
    return image->dim[2] * image->dim[3] >= FEWEST_PIXELS;
}

static bool has_few_weights(const struct step *conv)
{
    return view_elements(&conv->operands[1]) <= MOST_WEIGHTS;
}

static bool may_chain_convolutions(const struct plan *plan, const struct step *first, const struct step *second)
{
    if (!is_image_in_f32(plan, first) || !is_image_in_f32(plan, second) || !is_by_channels(&first->results[0]) ||
        !is_by_channels(&second->results[0]) || !has_pixels(&first->results[0]))
        return false;
    if (is_depthwise(second))
        return is_dense(first) && (is_of_one_pixel(first) || has_few_weights(first));
    return is_depthwise(first) && is_by_channels(&first->operands[0]) && is_of_one_pixel(second);
}

// --- moves -----------------------------------------------------------------------------------------------------------

struct move {
    struct view from, to;
    const struct loop_access *scale;   // of channels, or NULL
};

// Blocks of channels are two axes of the loop; an access of channels that stand in none has multiples of one stride on
// both.
static bool find_view(const struct type *type, const struct loop *l, const struct loop_access *a, struct view *ret_view)
{
    bool has_blocks = l->rank == 5;
    *ret_view = (struct view){.memory = a->memory, .dtype = a->dtype, .rank = 4, .offset = a->offset};
    for (int axis = 0; axis < 4; axis++) {
        int at = axis + (has_blocks && axis > 1);
        ret_view->dim[axis] = type->dim[axis];
        ret_view->stride[axis] = a->stride[at];
        if (l->dim[at] * (has_blocks && axis == 1 ? l->dim[2] : 1) != type->dim[axis])
            return false;
    }
    if (has_blocks && a->stride[1] == l->dim[2] * a->stride[2]) {
        ret_view->stride[1] = a->stride[2];
    } else if (has_blocks) {
        ret_view->block = (int)l->dim[2];
        ret_view->block_axis = 1;
    }
    return a->dtype == DTYPE_F32 && (!ret_view->block || a->stride[2] == 1);
}

// The tensor that the step stores, as far as it may be a move.
static tensor_id moved_tensor(const struct plan *plan, const struct step *step)
{
    bool is_of_one_node = step->origin.first_node != NO_NODE && step->origin.first_node == step->origin.last_node;
    return is_of_one_node ? plan->graph->nodes.items[step->origin.last_node].first_output : step->origin.copied;
}

static bool is_scale(const struct loop *l, const struct loop_access *a)
{
    bool is_by_channel = a->dtype == DTYPE_F32 && a->stride[l->rank - 1] == 0 && a->stride[l->rank - 2] == 0;
    if (l->rank == 5)
        return is_by_channel && a->stride[2] == 1 && a->stride[1] == l->dim[2];
    return is_by_channel && a->stride[1] == 1;
}

// False: it is none of an image in f32.
static bool find_move(const struct plan *plan, const struct step *step, struct move *ret_move)
{
    const struct loop *l = step->loops;
    tensor_id t = moved_tensor(plan, step);
    if (t == NO_TENSOR || step->n_results || step->n_loops != 1 || l->n_reduced || l->n_results != 1 ||
        (l->rank != 4 && l->rank != 5) || l->n_instructions != l->n_operands - 1 || l->n_instructions > 1)
        return false;
    const struct type *type = graph_type(plan->graph, t);
    const struct instruction *i = l->instructions;
    int source = l->n_instructions && is_scale(l, &l->operands[0]);
    bool is_product = l->n_instructions && i->kind == INSTRUCTION_APPLY && i->fn == FN_MUL && i->a + i->b == 1 &&
                      l->results[0].value == VALUE_OF_INSTRUCTION && is_scale(l, &l->operands[!source]);
    ret_move->scale = is_product ? &l->operands[!source] : NULL;
    return (is_product || !l->n_instructions) && type->rank == 4 &&
           find_view(type, l, &l->operands[source], &ret_move->from) &&
           find_view(type, l, &l->results[0].to, &ret_move->to);
}

static bool is_same_view(const struct view *a, const struct view *b)
{
    return a->memory == b->memory && a->offset == b->offset && a->rank == b->rank &&
           memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim) == 0 && view_stands_like(a, b);
}

// A dense convolution reads entries wherever they stand, and multiplies weights instead of them.
static bool may_chain_move(const struct plan *plan, const struct step *first, const struct step *second)
{
    struct move move;
    const struct step *conv = is_conv(first) ? first : second;
    if (!is_image_in_f32(plan, conv) || !(is_depthwise(conv) || is_dense(conv)) || !has_few_weights(conv) ||
        !find_move(plan, conv == first ? second : first, &move) || !has_pixels(&move.to))
        return false;
    if (conv == first)
        return is_same_view(&first->results[0], &move.from) && is_by_channels(&move.to) && !move.scale &&
               is_by_channels(&move.from);
    return is_same_view(&move.to, &second->operands[0]) && is_by_channels(&second->results[0]) &&
           (is_dense(second) || (is_by_channels(&move.from) && !move.scale));
}

bool cpu_may_chain(const struct plan *plan, const struct step *first, const struct step *second)
{
    return may_chain_convolutions(plan, first, second) || may_chain_move(plan, first, second) ||
           cpu_is_part_of_attention(plan, first, second);
}

// The stages of parts; moves are none. False: parts do not follow each other so.
static bool find_stages(const struct step *joined, int ret_stages[CHAIN_MOST])
{
    int n = 0, middle = NO_STAGE;
    for (int i = 0; i < joined->n_parts; i++) {
        if (is_conv(&joined->parts[i]) && middle == NO_STAGE && is_depthwise(&joined->parts[i]))
            middle = n;
        n += is_conv(&joined->parts[i]);
    }
    int first = middle == NO_STAGE ? CHAIN_FIRST : CHAIN_MIDDLE - middle;
    for (int i = 0, stage = first; i < joined->n_parts; i++)
        ret_stages[i] = is_conv(&joined->parts[i]) ? stage++ : NO_STAGE;
    return n > 0 && first >= CHAIN_FIRST && first + n <= CHAIN_STAGES && (middle != NO_STAGE || n == 1);
}

bool cpu_is_chain(const struct step *joined)
{
    int stages[CHAIN_MOST];
    return find_stages(joined, stages) || cpu_is_attention(joined);
}

// --- choices ---------------------------------------------------------------------------------------------------------

static const char *const choices[] = {"chain", "chain q:2"};   // the second with narrow tiles
#define SKETCH "chain (rows"

// The schedule that a choice says; the rest is standard.
static struct chain_schedule read_schedule(const char *choice)
{
    struct chain_schedule s = {.vectors = choice && strcmp(choice, choices[1]) == 0 ? 2 : 0};
    if (choice)
        sscanf(choice, SKETCH " p:%3d q:%3d m:%3d)", &s.pixels, &s.vectors, &s.middle);
    return s;
}

static bool has_wide_tiles(const struct cpu_backend *b, const struct step *joined)
{
    bool is_any = false;
    for (int i = 0; i < joined->n_parts && !cpu_is_attention(joined); i++) {
        const struct step *part = &joined->parts[i];
        struct tile_definition d = {.lanes = b->machine->lanes,
                                    .results = part->n_results ? part->results[0].dim[1] : 0};
        is_any = is_any || (is_conv(part) && !is_depthwise(part) && tile_best_vectors(&d) > 2);
    }
    return is_any;
}

static void list_choices(const struct cpu_backend *b, const struct step *joined, choice_list *list)
{
    for (int i = 0; i < 1 + has_wide_tiles(b, joined); i++) {
        struct listed_choice c = {.precision = PRECISION_EXACT};
        snprintf(c.text, sizeof c.text, "%s", choices[i]);
        vec_push(list, c);
    }
}

// --- preparing -------------------------------------------------------------------------------------------------------

static struct step_request request_of_step(const struct step_request *r, const struct step *step)
{
    struct step_request own = *r;
    own.step = step;
    return own;
}

// The convolution, which reads what a move in front of it does, and writes what one behind it does.
static struct step *without_moves(const struct step_request *r, int part, const struct loop_access **ret_scale)
{
    const struct step *parts = r->step->parts;
    struct step *own = arena_new(r->arena, struct step);
    struct view *views = arena_array(r->arena, struct view, 3);
    struct move move = {0};
    *own = parts[part];
    views[0] = own->operands[0];
    views[1] = own->operands[1];
    views[2] = own->results[0];
    if (part > 0 && !is_conv(&parts[part - 1]) && find_move(r->plan, &parts[part - 1], &move))
        views[0] = move.from;
    *ret_scale = move.scale;
    if (part + 1 < r->step->n_parts && !is_conv(&parts[part + 1]) && find_move(r->plan, &parts[part + 1], &move))
        views[2] = move.to;
    own->operands = views;
    own->results = &views[2];
    return own;
}

static void define_scale(struct tile_step *s, struct arena *arena)
{
    s->definition.reading.is_scaled = s->scale;
    s->definition.reading.scale_image = s->scale ? s->scale->stride[0] : 0;
    if (s->scale && !s->addresses)
        s->addresses = arena_array(arena, const float *, 1);
}

static bool define(struct chain_kernel *c, const struct step_request *r)
{
    int stages[CHAIN_MOST];
    c->definition.wanted = read_schedule(r->step->way.choice);
    find_stages(r->step, stages);
    for (int i = 0; i < r->step->n_parts; i++) {
        if (stages[i] == NO_STAGE)
            continue;
        struct tile_step *s = &c->stages[stages[i]];
        struct step *step = c->steps[stages[i]] = without_moves(r, i, &s->scale);
        if (!cpu_tile_define(s, r->backend, r->plan, step) || !cpu_tile_define_epilogue(s, step, r->arena))
            return false;
        define_scale(s, r->arena);
        c->definition.has[stages[i]] = true;
        c->definition.stages[stages[i]] = s->definition;
        c->first = c->first ? c->first : s;
        c->last = s;
    }
    return chain_complete(&c->definition);
}

static bool find_kernel(struct chain_kernel *c, const struct step_request *r)
{
    TEXT(text);
    chain_print(&text, &c->definition);
    return cpu_find_kernel(r, text.chars, &c->run);
}

static void print(const struct step_request *r, struct text *kernel)
{
    struct chain_kernel c = {0};
    if (cpu_is_attention(r->step))
        cpu_attention_print(r, kernel);
    else if (define(&c, r))
        chain_print(kernel, &c.definition);
}

static size_t weight_floats(const struct chain_definition *d, int stage)
{
    size_t floats = d->has[stage] ? tile_weights_floats(&d->stages[stage], &d->schedules[stage]) : 0;
    return (floats + 15) & ~(size_t)15;
}

static void prepare_stages(struct chain_kernel *c, const struct step_request *r)
{
    size_t at = 0;
    c->weight_floats = SUM_ALL(size_t, int, i, CHAIN_STAGES, weight_floats(&c->definition, i));
    c->all_weights = arena_alloc(r->arena, c->weight_floats * sizeof(float), 64);
    for (int i = 0; i < CHAIN_STAGES; i++) {
        struct tile_step *s = &c->stages[i];
        if (!c->definition.has[i])
            continue;
        struct step_request own = request_of_step(r, c->steps[i]);
        s->definition = c->definition.stages[i];
        s->schedule = c->definition.schedules[i];
        cpu_tile_prepare(s, &own, c->all_weights + at);
        c->weights[i] = c->all_weights + at;
        c->operands[i] = s->addresses;
        c->numbers[i] = s->numbers;
        at += weight_floats(&c->definition, i);
    }
    chain_list_numbers(&c->definition, c->own_numbers);
    c->numbers[CHAIN_STAGES] = c->own_numbers;
}

static void free_chain(void *state)
{
    struct chain_kernel *c = state;
    for (int i = 0; i < c->n_parts; i++)
        if (c->parts[i].state && c->parts[i].kernel->free)
            c->parts[i].kernel->free(c->parts[i].state);
}

static bool prepare_parts(struct chain_kernel *c, const struct step_request *r)
{
    for (int i = 0; i < r->step->n_parts; i++) {
        struct step_request own = request_of_step(r, &r->step->parts[i]);
        c->parts[i].state = cpu_prepare(&own, &c->parts[i].kernel);
        c->n_parts = i + 1;
        if (!c->parts[i].state) {
            free_chain(c);
            return false;
        }
    }
    return true;
}

static bool provide_weights(const struct step_request *r)
{
    bool are_there = true;
    for (int i = 0; i < r->step->n_parts; i++) {
        struct step_request own = request_of_step(r, &r->step->parts[i]);
        are_there = are_there && (!is_conv(own.step) || cpu_provide_plain(&own));
    }
    return are_there;
}

static void *prepare(const struct step_request *r)
{
    struct chain_kernel *c = arena_new(r->arena, struct chain_kernel);
    c->threads = r->backend->threads;
    bool is_attention = cpu_is_attention(r->step);
    if (!is_attention && !provide_weights(r))
        return NULL;
    c->attention = is_attention ? cpu_attention_prepare(r) : NULL;
    if (!is_attention && define(c, r) && find_kernel(c, r))
        prepare_stages(c, r);
    if (c->attention || c->run)
        return c;
    r->backend->n_fallbacks++;
    return prepare_parts(c, r) ? c : NULL;
}

// --- running ---------------------------------------------------------------------------------------------------------

static size_t scratch_bytes(const void *state)
{
    const struct chain_kernel *c = state;
    size_t most = c->attention ? cpu_attention_scratch_bytes(c->attention)
                  : c->run     ? (size_t)c->threads * chain_scratch_floats(&c->definition) * sizeof(float)
                               : 0;
    for (int i = 0; i < c->n_parts; i++) {
        size_t bytes = c->parts[i].kernel->scratch_bytes ? c->parts[i].kernel->scratch_bytes(c->parts[i].state) : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

static bool run(void *state, const struct execution *e)
{
    const struct chain_kernel *c = state;
    bool is_done = ALL(int, i, c->n_parts, c->parts[i].kernel->run(c->parts[i].state, e));
    if (c->attention)
        cpu_attention_run(c->attention, e);
    if (!c->run)
        return is_done;
    for (int i = 0; i < CHAIN_STAGES; i++)
        if (c->definition.has[i])
            cpu_tile_find_addresses(&c->stages[i], e->memory);
    const void *given[] = {address_of_view(e->memory, c->first->source), c->weights,
                           address_of_view(e->memory, c->last->target), c->operands, c->numbers};
    cpu_run_generated(e, c->threads, c->run, given, chain_scratch_floats(&c->definition));
    return true;
}

static size_t weights(const void *state, char **ret_weights)
{
    const struct chain_kernel *c = state;
    *ret_weights = (char *)c->all_weights;
    return c->weight_floats * sizeof(float);
}

const struct cpu_kernel cpu_kernel_chain = {
    .base = {.name = "chain"},
    .prepare = prepare,
    .run = run,
    .scratch_bytes = scratch_bytes,
    .weights = weights,
    .free = free_chain,
    .list = list_choices,
    .print = print,
};

// --- schedules -------------------------------------------------------------------------------------------------------

static bool takes(const struct plan *plan, const struct step *step)
{
    (void)plan;
    return step->kernel == &cpu_kernel_chain.base && !cpu_is_attention(step);
}

static bool define_by(struct chain_kernel *c, const struct cpu_backend *b, const struct plan *plan,
                      const struct step *step, const char *choice, struct arena *arena)
{
    struct step chosen = *step;
    chosen.way.choice = choice;
    return define(c, &(struct step_request){(struct cpu_backend *)b, plan, &chosen, NULL, arena, NULL});
}

static void list_spaces(const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                        schedule_spaces *list)
{
    ARENA(arena);
    struct chain_kernel c = {0};
    struct schedule_space space = {.sketch = SKETCH, .precision = PRECISION_EXACT};
    if (!define_by(&c, b, plan, step, NULL, &arena))
        return;
    chain_list_schedules(&c.definition, &space);
    vec_push(list, space);
}

// Texts are those of the step's own kernel.
static bool describe(const struct cpu_backend *b, const struct plan *plan, const struct step *step, const char *choice,
                     struct schedule_features *ret_features, struct text *kernel)
{
    ARENA(arena);
    struct chain_kernel c = {0};
    (void)kernel;
    return define_by(&c, b, plan, step, choice, &arena) && chain_describe(&c.definition, ret_features);
}

const struct cpu_way cpu_way_chain = {"chain", takes, NULL, &cpu_kernel_chain, list_spaces, describe};
