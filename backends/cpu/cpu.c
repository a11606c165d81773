// The device "cpu": which kernel claims a step, models prepared once and run step by step, and opening and closing.
#include "backends/cpu/cpu.h"

#include "backends/backend.h"
#include "backends/costs/plan_choices.h"
#include "backends/cpu/cache_conditions.h"
#include "backends/cpu/generated.h"
#include "backends/cpu/kept_memory.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/loops/kernel_scope.h"
#include "backends/cpu/loops/loops.h"
#include "backends/cpu/loops/parallel.h"
#include "backends/cpu/measure.h"
#include "backends/cpu/memory_probe.h"
#include "backends/cpu/preparation_order.h"
#include "backends/cpu/roofline.h"
#include "backends/cpu/ways.h"
#include "backends/instructions/code_cache.h"
#include "backends/planning/plan_memory.h"
#include "backends/planning/planner.h"
#include "backends/planning/planner_state.h"
#include "backends/programs/programs.h"
#include "core/memory/arena.h"
#include "core/system/clock.h"
#include "core/system/cores.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Part of what costs depend on: to be raised when kernels get faster or slower, so that old costs are not believed.
#define KERNEL_REVISION 24
#define MOST_TRIES 3   // for a run without disturbance

// --- loops as a kernel -----------------------------------------------------------------------------------------------

static void *prepare_loops(const struct step_request *r)
{
    return loops_prepare(r->step, r->backend->threads, r->arena);
}

static bool run_loops(void *state, const struct execution *e)
{
    loops_run(state, e->workers, e->memory);
    return true;
}

const struct cpu_kernel cpu_kernel_loops = {.base = {.name = "loops"}, .prepare = prepare_loops, .run = run_loops};

// --- claims ----------------------------------------------------------------------------------------------------------

static cpu_claim *const claims[OP_COUNT] = {
    [OP_CONV] = cpu_claim_conv,     [OP_MATMUL] = cpu_claim_matmul, [OP_POOLMAX] = cpu_claim_pool,
    [OP_POOLAVG] = cpu_claim_pool,  [OP_CONCAT] = cpu_claim_concat, [OP_PAD] = cpu_claim_pad,
    [OP_GATHER] = cpu_claim_gather, [OP_LRN] = cpu_claim_lrn,       [OP_EXPRESSION] = cpu_claim_expression,
};

static bool claim(void *context, struct planner *p, node_id node)
{
    cpu_claim *of_operator = claims[planner_graph(p)->nodes.items[node].op->id];
    return of_operator && of_operator(p, node);
}

static cpu_writes_part *const claims_of_parts[OP_COUNT] = {
    [OP_CONV] = cpu_conv_writes_part, [OP_POOLMAX] = cpu_pool_writes_part, [OP_POOLAVG] = cpu_pool_writes_part};

// Loops write anywhere.
static bool writes_part(void *context, const struct planner *p, node_id node, const struct view *part)
{
    const struct cpu_backend *b = context;
    const struct graph *g = planner_graph(p);
    enum operator_id op = g->nodes.items[node].op->id;
    if (claims[op])
        return claims_of_parts[op] && claims_of_parts[op](p, node, part);
    return code_cache_find(b->base.codes, g, node)->kind != CODE_NONE;
}

// --- layouts ---------------------------------------------------------------------------------------------------------

#define IMAGES(block) (LAYOUT_BIT(LAYOUT_CHANNELS_LAST) | LAYOUT_BIT(LAYOUT_BLOCKS_OF_##block))
#define LAYOUTS(block)                                                                                                 \
    {                                                                                                                  \
        .of_operator = {[OP_CONV] = IMAGES(block),                                                                     \
                        [OP_POOLMAX] = IMAGES(block),                                                                  \
                        [OP_POOLAVG] = IMAGES(block),                                                                  \
                        [OP_LRN] = IMAGES(block),                                                                      \
                        [OP_MATMUL] = LAYOUT_BIT(LAYOUT_COLUMNS) | LAYOUT_BIT(LAYOUT_MIDDLE_SWAPPED)},                 \
        .of_loops_on_images = IMAGES(block), .of_loops_on_matrices = LAYOUT_BIT(LAYOUT_COLUMNS), .least_share = 0.9,   \
    }

static const struct layout_support layouts_of_8 = LAYOUTS(8), layouts_of_16 = LAYOUTS(16);

// --- models ----------------------------------------------------------------------------------------------------------

struct prepared_step {
    size_t number;   // in the plan
    const struct cpu_kernel *kernel;
    void *state;
};
struct cpu_model {
    struct model base;
    char **memory;
    struct kept_memory kept;
    size_t n_steps;
    struct prepared_step *steps;   // those that run each time, in the order of the plan
    char *scratch;
    size_t n_inputs;   // the highest index and one
};

static void release(struct model *model)
{
    struct cpu_model *m = (struct cpu_model *)model;
    for (size_t i = 0; i < m->n_steps; i++)
        if (m->steps[i].state && m->steps[i].kernel->free)
            m->steps[i].kernel->free(m->steps[i].state);
    kept_memory_free(&m->kept);
}

// Weights are packed by the step's choice, and also where that cannot be had.
static bool packs_weights(const struct plan *plan, const struct step *step)
{
    const struct cpu_kernel *standard = (const struct cpu_kernel *)step->kernel;
    return standard->describe_weights && cpu_kernel_of(plan, step)->describe_weights;
}

#define PADDING_IN_PACKED 32   // one byte for so many, and scratch memory: about

// About: kernels are asked one by one. Steps that read one weight share it, mostly.
static size_t bytes_to_pack(const struct plan *plan)
{
    size_t bytes = 0;
    LOCAL_ZEROS(bool, is_counted, plan->memory.count + 1);
    vec_each(&plan->steps, step) {
        if (step->is_constant || !packs_weights(plan, step) || step->n_operands <= CPU_PACKED_OPERAND)
            continue;
        const struct view *weights = &step->operands[CPU_PACKED_OPERAND];
        if (plan_keeps(plan, weights->memory) && !is_counted[weights->memory])
            bytes = mem_sum(bytes, mem_product((size_t)view_elements(weights), dtype_size(weights->dtype)));
        is_counted[weights->memory] = true;
    }
    return mem_sum(bytes, bytes / PADDING_IN_PACKED);
}

// All memory that a run touches, in one piece: blocks of their own would each leave a rest, and fewer huge pages. What
// depends on steps that are done once stands in front of it, so that a compiled model lies as the one it was made of.
static void find_memory(struct cpu_model *m, size_t to_pack)
{
    m->memory = arena_array(&m->base.arena, char *, m->base.plan.memory.count + 1);
    arena_reserve(&m->base.arena, mem_sum(to_pack, mem_sum(m->base.plan.arena_bytes, 64)));
    char *arena = arena_alloc(&m->base.arena, m->base.plan.arena_bytes + 64, 64);
    for (memory_id i = 0; i < m->base.plan.memory.count; i++) {
        const struct plan_memory *at = &m->base.plan.memory.items[i];
        if (at->place == MEMORY_ARENA)
            m->memory[i] = arena + at->offset;
        else if (at->place == MEMORY_INPUT && (size_t)at->index >= m->n_inputs)
            m->n_inputs = (size_t)at->index + 1;
    }
}

static bool prepare_constant(struct cpu_model *m, struct cpu_backend *b, const struct step *step, struct error *error)
{
    ARENA(arena);
    struct step_request r = {b, &m->base.plan, step, m->memory, &arena, error, &m->kept};
    const struct cpu_kernel *kernel;
    void *state = cpu_prepare(&r, &kernel);
    size_t bytes = state && kernel->scratch_bytes ? kernel->scratch_bytes(state) : 0;
    char *scratch = arena_alloc(&arena, bytes + 64, 64);
    bool is_done = state && kernel->run(state, &(struct execution){.memory = m->memory, .scratch = scratch});
    if (state && !is_done)
        error_set_code(error, EXIT_INTERNAL, NULL, "the kernel %s failed", kernel->base.name);
    if (state && kernel->free)
        kernel->free(state);
    return is_done;
}

static bool prepare_step(struct cpu_model *m, struct cpu_backend *b, size_t number, struct prepared_step *ret_prepared,
                         struct error *error)
{
    const struct step *step = &m->base.plan.steps.items[number];
    const struct cpu_kernel *kernel;
    int left_out = packs_weights(&m->base.plan, step) ? CPU_PACKED_OPERAND : -1;
    if (!kept_memory_enter(&m->kept, number, left_out, error))
        return false;
    if (step->is_constant) {
        bool is_done = prepare_constant(m, b, step, error);
        kept_memory_leave(&m->kept, number, -1);
        return is_done;
    }
    struct step_request r = {
        b, &m->base.plan, step, m->memory, &m->base.arena, error, &m->kept, b->base.options.prepares_to_write};
    void *state = cpu_prepare(&r, &kernel);
    *ret_prepared = (struct prepared_step){number, kernel, state};
    if (!state)
        return false;
    kept_memory_leave(&m->kept, number, kernel->packed_operand ? kernel->packed_operand(state) : -1);
    return true;
}

// The place of each step of the plan among those that run each time.
static const size_t *place_steps(struct cpu_model *m)
{
    const struct plan *plan = &m->base.plan;
    size_t *places = arena_array(&m->base.arena, size_t, plan->steps.count + 1);
    for (size_t i = 0; i < plan->steps.count; i++) {
        places[i] = m->n_steps;
        m->n_steps += !plan->steps.items[i].is_constant;
    }
    m->steps = arena_array(&m->base.arena, struct prepared_step, m->n_steps + 1);
    return places;
}

static bool prepare_steps(struct cpu_model *m, struct cpu_backend *b, const uint32_t *order, const size_t *places,
                          struct error *error)
{
    size_t scratch_bytes = 0;
    bool is_done = true;
    for (size_t i = 0; is_done && i < m->base.plan.steps.count; i++) {
        struct kernel_scope scope = kernel_scope_begin(cpu_library_threads(b));
        is_done = prepare_step(m, b, order[i], &m->steps[places[order[i]]], error);
        kernel_scope_end(&scope);
    }
    if (!is_done)
        return false;
    EACH(m->steps, m->n_steps, s) {
        size_t bytes = s->kernel->scratch_bytes ? s->kernel->scratch_bytes(s->state) : 0;
        scratch_bytes = bytes > scratch_bytes ? bytes : scratch_bytes;
    }
    m->scratch = arena_alloc(&m->base.arena, scratch_bytes + 64, 64);
    return true;
}

static bool prepare(struct model *model, const struct given_weights *weights, struct error *error)
{
    struct cpu_model *m = (struct cpu_model *)model;
    struct cpu_backend *b = (struct cpu_backend *)model->backend;
    size_t n_steps = m->base.plan.steps.count;
    backend_choose_given(&b->base, &m->base.plan, m->base.given);
    if (m->base.plan.steps.count != n_steps)
        plan_lay_out_memory(&m->base.plan);
    if (!plan_has_room(&m->base.plan, error))
        return false;
    const uint32_t *order = preparation_order(&m->base.plan, &m->base.arena);
    const size_t *places = place_steps(m);
    size_t to_pack = bytes_to_pack(&m->base.plan);
    bool stays = weights->source && weights->source->find_packed && to_pack > mem_available() / 2;
    kept_memory_init(&m->kept, &m->base.plan, order, weights, &m->base.arena);
    m->kept.stays = stays;
    find_memory(m, stays ? 0 : to_pack);
    m->kept.at = m->memory;
    return prepare_steps(m, b, order, places, error);
}

static void bind_values(struct cpu_model *m, const struct tensor_value *inputs, const struct tensor_value *outputs)
{
    for (memory_id i = 0; i < m->base.plan.memory.count; i++) {
        const struct plan_memory *at = &m->base.plan.memory.items[i];
        if (at->place == MEMORY_INPUT)
            m->memory[i] = inputs[at->index].data;
        else if (at->place == MEMORY_OUTPUT)
            m->memory[i] = outputs[at->index].data;
    }
}

static bool run_step(const struct cpu_model *m, size_t i, const struct execution *e, struct error *error)
{
    const struct prepared_step *s = &m->steps[i];
    return s->kernel->run(s->state, e) ||
           error_set_code(error, interrupt_requested() ? EXIT_UNSUPPORTED : EXIT_INTERNAL, NULL, "the kernel %s failed",
                          s->kernel->base.name);
}

// Seconds of each step where they are asked for. Two pools whose threads wait busily for work would take the processors
// from each other: others' workers are asked only where the library's threads are not.
static bool run(struct model *model, const struct workers *workers, const struct tensor_value *inputs,
                struct tensor_value *outputs, double *ret_seconds, struct error *error)
{
    struct cpu_model *m = (struct cpu_model *)model;
    const struct cpu_backend *b = (const struct cpu_backend *)model->backend;
    bool is_done = true, is_alone = b->threads == 1;
    struct kernel_scope scope = kernel_scope_begin(cpu_library_threads(b));
    struct execution e = {m->memory, m->scratch, b->is_guest ? workers : NULL};
    bind_values(m, inputs, outputs);
    for (size_t i = 0; is_done && i < m->n_steps; i++) {
        struct stopwatch watch = {0};
        if (ret_seconds)
            stopwatch_start(&watch, is_alone);
        is_done = run_step(m, i, &e, error);
        if (ret_seconds)
            ret_seconds[m->steps[i].number] = stopwatch_stop(&watch, is_alone).seconds;
    }
    kernel_scope_end(&scope);
    return is_done;
}

// With several threads other programs add to what the clock says: the shortest of a few runs, as long as they come
// between.
static bool time_run(struct model *model, const struct tensor_value *inputs, struct tensor_value *outputs,
                     double *ret_seconds, struct error *error)
{
    bool is_alone = ((struct cpu_backend *)model->backend)->threads == 1;
    struct stopwatch watch;
    struct lap lap = {INFINITY, true};
    double shortest = INFINITY;
    for (int i = 0; lap.is_disturbed && i < (is_alone || interrupt_requested() ? 1 : MOST_TRIES); i++) {
        stopwatch_start(&watch, is_alone);
        if (!run(model, NULL, inputs, outputs, NULL, error))
            return false;
        lap = stopwatch_stop(&watch, is_alone);
        shortest = fmin(shortest, lap.seconds);
    }
    *ret_seconds = shortest;
    return true;
}

static void list_packed(const struct model *model, packed_weights *list)
{
    const struct cpu_model *m = (const struct cpu_model *)model;
    EACH(m->steps, m->n_steps, s) {
        const struct step *step = &m->base.plan.steps.items[s->number];
        struct packed_weight w;
        char *data;
        if (!s->kernel->describe_weights || s->kernel->packed_operand(s->state) != CPU_PACKED_OPERAND ||
            !cpu_packs_whole_weight(&m->base.plan, step) || !s->kernel->describe_weights(s->state, &w.packing))
            continue;
        w.index = (size_t)m->base.plan.memory.items[step->operands[CPU_PACKED_OPERAND].memory].index;
        w.bytes = s->kernel->weights(s->state, &data);
        w.data = data;
        vec_push(list, w);
    }
}

static const struct executor executor = {
    .model_bytes = sizeof(struct cpu_model),
    .prepare = prepare,
    .run = run,
    .time = time_run,
    .list_packed = list_packed,
    .release = release,
};

// --- the device ------------------------------------------------------------------------------------------------------

static void rest(struct backend *backend)
{
    struct cpu_backend *b = (struct cpu_backend *)backend;
    memory_probe_free(b->probe);
    mem_free(b->sweep, (size_t)b->threads * b->sweep_bytes);
    arena_free(&b->measured);
    onednn_forget_primitives();
    b->probe = NULL;
    b->sweep = NULL;
    b->sweep_bytes = 0;
}

static void close_cpu(struct backend *backend)
{
    struct cpu_backend *b = (struct cpu_backend *)backend;
    backend_finish(backend);
    rest(backend);
    programs_close(b->programs);
    onednn_close(b->onednn);
    mem_free(b, sizeof *b);
}

static const struct backend_methods methods = {
    .name = "cpu",
    .knows_small_models = true,
    .has_inexact_choices = true,
    .list_choices = cpu_list_choices,
    .list_spaces = cpu_list_spaces,
    .describe_choice = cpu_describe_choice,
    .make_ready = cpu_make_ready,
    .measure = cpu_measure,
    .roofline = cpu_roofline,
    .executor = &executor,
    .rest = rest,
    .close = close_cpu,
};

// The processor's name as the system gives it, blanks trimmed.
static void read_processor_name(char *ret_name, size_t size)
{
    char line[512];
    snprintf(ret_name, size, "unknown processor");
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (!f)
        return;
    while (fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        colon[1 + strcspn(colon + 1, "\n")] = '\0';
        snprintf(ret_name, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
        break;
    }
    fclose(f);
}

void cpu_describe_processor(char *ret_text, size_t size)
{
    char name[128];
    read_processor_name(name, sizeof name);
    snprintf(ret_text, size, "%s %s", name, cpu_machine_here()->name);
}

static void describe_device(const struct cpu_backend *b, char *ret_text, size_t size)
{
    char name[128];
    int major, minor, patch;
    read_processor_name(name, sizeof name);
    onednn_version(&major, &minor, &patch);
    snprintf(ret_text, size, "%s, %s, %d thread%s, oneDNN %d.%d.%d%s, kernels %d", name, b->machine->name, b->threads,
             b->threads == 1 ? "" : "s", major, minor, patch, b->is_guest ? " in parts" : "", KERNEL_REVISION);
}

// The memory that is swept is there for as many threads as the device was opened for.
int cpu_backend_use_threads(struct backend *backend, int threads)
{
    struct cpu_backend *b = (struct cpu_backend *)backend;
    int former = b->threads;
    cpu_sweep_bytes(b);
    cpu_set_threads(b, threads);
    return former;
}

bool cpu_write_kernels(struct backend *b, const char *path, struct error *error)
{
    return programs_write(((struct cpu_backend *)b)->programs, path, error);
}

struct backend *cpu_backend_open(const struct backend_options *options, struct error *error)
{
    struct plan_target target = {
        .loops = &cpu_kernel_loops.base,
        .evaluate = &cpu_kernel_evaluate.base,
        .claim = claim,
        .writes_part = writes_part,
        .chain = &cpu_kernel_chain.base,
        .may_chain = cpu_may_chain,
        .is_chain = cpu_is_chain,
        .layouts = onednn_block_of_channels() == 16 ? &layouts_of_16 : &layouts_of_8,
    };
    char device[256];
    struct cpu_backend *b = mem_alloc_zero(sizeof *b);
    target.context = b;
    b->threads = options->threads > 0 ? options->threads : cores_available();
    b->patience = cpu_patience_after(INFINITY, 0, 0);
    b->machine = cpu_machine_here();
    b->programs =
        programs_open(&(struct programs_options){.instruction_set = b->machine->instruction_set, .log = options->log});
    b->is_guest = options->is_guest && b->threads > 1 && programs_have_compiler(b->programs);
    b->onednn = onednn_open(b->is_guest ? b->threads : 1, parallel_for_library);
    describe_device(b, device, sizeof device);
    if (!b->onednn)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "oneDNN does not serve this processor");
    else if ((!options->kernels || programs_take(b->programs, options->kernels, error)) &&
             backend_init(&b->base, &methods, &target, options, device, error))
        return &b->base;
    if (b->onednn)
        onednn_close(b->onednn);
    programs_close(b->programs);
    mem_free(b, sizeof *b);
    return NULL;
}
