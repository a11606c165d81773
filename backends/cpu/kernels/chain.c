// A convolution of 1x1, a depthwise one and another of 1x1 as one kernel (generated/chains/chain.h), or two of them; or
// what attention is made of (attention.h). Without a compiler the steps run one after the other, as they would if they
// were not joined.
#include "backends/generated/chains/chain.h"
#include "backends/cpu/generated.h"
#include "backends/cpu/kernels/attention.h"
#include "backends/cpu/kernels/tile.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/ways.h"
#include "core/text/text.h"
#include <string.h>

#define FEWEST_PIXELS 196   // of an image: of smaller ones all is near anyhow

struct part {   // that runs by itself
    const struct cpu_kernel *kernel;
    void *state;
};
struct chain_kernel {
    int n_parts, threads;
    struct part parts[CHAIN_STAGES];
    struct cpu_attention *attention;   // or:
    chain_run_fn *run;                 // both NULL: the parts run one after the other
    struct chain_definition definition;
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

static int64_t groups_of(const struct plan *plan, const struct step *step)
{
    return cpu_attribute_int(&plan->graph->nodes.items[step->node], ROLE_GROUPS);
}

static bool is_depthwise(const struct plan *plan, const struct step *step)
{
    int64_t groups = groups_of(plan, step);
    return groups > 1 && step->operands[0].dim[1] == groups && step->results[0].dim[1] == groups;
}

static bool is_of_one_pixel(const struct plan *plan, const struct step *step)
{
    return groups_of(plan, step) == 1 && step->operands[1].dim[2] == 1 && step->operands[1].dim[3] == 1;
}

static bool is_by_channels(const struct view *image)
{
    return image->block || image->stride[1] == 1;
}

static bool is_image_in_f32(const struct plan *plan, const struct step *step)
{
    return step->kernel == &cpu_kernel_conv.base && cpu_is_tiled(plan, step) && step->operands[0].dtype == DTYPE_F32 &&
           step->results[0].dtype == DTYPE_F32 && !step->operands[1].block;
}

static bool may_chain_images(const struct plan *plan, const struct step *first, const struct step *second)
{
    if (!is_image_in_f32(plan, first) || !is_image_in_f32(plan, second) || !is_by_channels(&first->results[0]) ||
        !is_by_channels(&second->results[0]) || first->results[0].dim[2] * first->results[0].dim[3] < FEWEST_PIXELS)
        return false;
    return (is_of_one_pixel(plan, first) && is_depthwise(plan, second)) ||
           (is_depthwise(plan, first) && is_by_channels(&first->operands[0]) && is_of_one_pixel(plan, second));
}

bool cpu_may_chain(const struct plan *plan, const struct step *first, const struct step *second)
{
    return may_chain_images(plan, first, second) || cpu_is_part_of_attention(plan, first, second);
}

bool cpu_is_chain(const struct step *joined)
{
    return joined->parts[0].kernel == &cpu_kernel_conv.base || cpu_is_attention(joined);
}

// --- preparing -------------------------------------------------------------------------------------------------------

static struct step_request request_of_part(const struct step_request *r, int part)
{
    struct step_request own = *r;
    own.step = &r->step->parts[part];
    return own;
}

static bool define(struct chain_kernel *c, const struct step_request *r)
{
    int middle = 0;
    while (middle < r->step->n_parts && !is_depthwise(r->plan, &r->step->parts[middle]))
        middle++;
    for (int i = 0; i < r->step->n_parts; i++) {
        int stage = CHAIN_MIDDLE + i - middle;
        struct tile_step *s = &c->stages[stage];
        if (!cpu_tile_define(s, r->backend, r->plan, &r->step->parts[i]) ||
            !cpu_tile_define_epilogue(s, &r->step->parts[i], r->arena))
            return false;
        c->definition.has[stage] = true;
        c->definition.stages[stage] = s->definition;
        c->first = i ? c->first : s;
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

static size_t weight_floats(const struct chain_definition *d, int stage)
{
    size_t floats = d->has[stage] ? tile_weights_floats(&d->stages[stage], &d->schedules[stage]) : 0;
    return (floats + 15) & ~(size_t)15;
}

static void prepare_stages(struct chain_kernel *c, const struct step_request *r)
{
    size_t at = 0;
    for (int i = 0; i < CHAIN_STAGES; i++)
        c->weight_floats += weight_floats(&c->definition, i);
    c->all_weights = arena_alloc(r->arena, c->weight_floats * sizeof(float), 64);
    for (int i = 0, part = 0; i < CHAIN_STAGES; i++) {
        struct tile_step *s = &c->stages[i];
        if (!c->definition.has[i])
            continue;
        struct step_request own = request_of_part(r, part++);
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
        struct step_request own = request_of_part(r, i);
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
        struct step_request own = request_of_part(r, i);
        are_there = are_there && cpu_provide_plain(&own);
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

struct chain_run {
    const struct chain_kernel *kernel;
    const float *x;
    float *y, *scratch;
};

static void run_part(void *argument, int part, int parts)
{
    const struct chain_run *r = argument;
    const struct chain_kernel *c = r->kernel;
    c->run(r->x, c->weights, r->y, c->operands, c->numbers,
           r->scratch + (size_t)part * chain_scratch_floats(&c->definition), part, parts);
}

static bool run(void *state, const struct execution *e)
{
    const struct chain_kernel *c = state;
    bool is_done = true;
    for (int i = 0; is_done && i < c->n_parts; i++)
        is_done = c->parts[i].kernel->run(c->parts[i].state, e);
    if (c->attention)
        cpu_attention_run(c->attention, e);
    if (!c->run)
        return is_done;
    for (int i = 0; i < CHAIN_STAGES; i++)
        if (c->definition.has[i])
            cpu_tile_find_addresses(&c->stages[i], e->memory);
    struct chain_run r = {c, (const float *)address_of_view(e->memory, c->first->source),
                          (float *)address_of_view(e->memory, c->last->target), (float *)e->scratch};
    parallel_for(e->workers, c->threads, run_part, &r);
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
};
