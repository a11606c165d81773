// Whole models: weights uploaded once, one arena, one stream; the first run launches step by step, later ones launch
// what was captured of it as one graph.
#include "backends/cuda/model.h"

#include "backends/costs/plan_choices.h"
#include "backends/costs/step_cost.h"
#include "backends/cuda/library.h"
#include "backends/cuda/steps.h"
#include "backends/planning/plan_memory.h"
#include "core/memory/arena.h"
#include "core/text/error.h"

struct cuda_model {
    struct model base;
    bool has_run;
    struct addresses at;
    char *working;   // the plan's arena
    char **blocks;   // all other allocations, of every memory; NULL where there is none
    size_t n_steps;
    struct prepared_step *steps;
    struct gpu_graph *graph;   // NULL until captured
};

// --- memory ----------------------------------------------------------------------------------------------------------

char *cuda_allocate(struct cuda_backend *b, size_t bytes, struct error *error)
{
    char reason[GPU_REASON_SIZE];
    char *memory = b->api->allocate(b->gpu, bytes ? bytes : 1, reason);
    if (!memory)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "%zu bytes cannot be had on the device: %s", bytes, reason);
    return memory;
}

bool cuda_synchronize(struct cuda_backend *b, struct error *error)
{
    char reason[GPU_REASON_SIZE];
    return b->api->synchronize(b->gpu, reason) ||
           error_set_code(error, EXIT_INTERNAL, NULL, "the device failed: %s", reason);
}

static bool upload_weight(struct cuda_backend *b, char *block, size_t index, size_t bytes,
                          const struct given_weights *weights, struct error *error)
{
    const struct tensor_value *value = &weights->values[index];
    const struct weight_source *source = value->data ? NULL : weights->source;
    const void *data = source ? source->acquire(source->context, index, error) : value->data;
    if (!data)
        return !source && error_set_code(error, EXIT_UNSUPPORTED, NULL, "weight %zu has no value", index);
    bool is_done = b->api->upload(b->gpu, block, data, bytes) ||
                   error_set_code(error, EXIT_INTERNAL, NULL, "weights cannot be uploaded");
    if (source)
        source->release(source->context, index, data);
    return is_done;
}

static bool place_memory(struct cuda_model *m, struct cuda_backend *b, memory_id id,
                         const struct given_weights *weights, struct error *error)
{
    const struct plan_memory *memory = &m->base.plan.memory.items[id];
    size_t bytes = mem_product((size_t)memory->elements, dtype_size(memory->dtype));
    if (memory->place == MEMORY_ARENA) {
        m->at.memory[id] = m->working + memory->offset;
        return true;
    }
    bool is_weight = memory->place == MEMORY_WEIGHT;
    if (is_weight && (memory->index < 0 || (uint64_t)memory->index >= weights->count ||
                      type_bytes(&weights->values[memory->index].type) != bytes))
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "weight %lld has no value", (long long)memory->index);
    m->at.memory[id] = m->blocks[id] = cuda_allocate(b, bytes, error);
    return m->blocks[id] &&
           (!is_weight || upload_weight(b, m->blocks[id], (size_t)memory->index, bytes, weights, error));
}

static bool place_memories(struct cuda_model *m, struct cuda_backend *b, const struct given_weights *weights,
                           struct error *error)
{
    m->at.memory = arena_array(&m->base.arena, char *, m->base.plan.memory.count + 1);
    m->blocks = arena_array(&m->base.arena, char *, m->base.plan.memory.count + 1);
    m->working = cuda_allocate(b, m->base.plan.arena_bytes, error);
    for (memory_id i = 0; m->working && i < m->base.plan.memory.count; i++)
        if (!place_memory(m, b, i, weights, error))
            return false;
    return m->working != NULL;
}

// Weights that were only read by steps done once.
static void release_used_weights(struct cuda_model *m, struct cuda_backend *b)
{
    const bool *is_read = plan_list_read(&m->base.plan, &m->base.arena);
    for (memory_id i = 0; i < m->base.plan.memory.count; i++)
        if (m->base.plan.memory.items[i].place == MEMORY_WEIGHT && !is_read[i] && m->blocks[i]) {
            b->api->release(b->gpu, m->blocks[i]);
            m->blocks[i] = NULL;
        }
}

// --- preparing -------------------------------------------------------------------------------------------------------

// The engines that were measured to be the best; measured now when they are not known and may be.
static bool choose(struct cuda_model *m, struct cuda_backend *b, struct error *error)
{
    struct plan *plan = &m->base.plan;
    for (size_t i = 0; !m->base.given && i < plan->steps.count; i++) {
        const struct step *step = &plan->steps.items[i];
        struct step_cost cost;
        if (!step->is_constant && cuda_is_library_step(step) && !backend_step_cost(&b->base, plan, step, &cost, error))
            return false;
    }
    backend_choose_given(&b->base, plan, m->base.given);
    return true;
}

static bool run_constants(struct cuda_model *m, struct cuda_backend *b, struct error *error)
{
    for (size_t i = 0; i < m->n_steps; i++)
        if (m->base.plan.steps.items[m->steps[i].number].is_constant && !step_launch(b, &m->steps[i], &m->at))
            return error_set_code(error, EXIT_INTERNAL, NULL, "a step on weights failed");
    return cuda_synchronize(b, error);
}

static void drop_constants(struct cuda_model *m, struct cuda_backend *b)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_steps; i++) {
        if (m->base.plan.steps.items[m->steps[i].number].is_constant)
            step_release(b, &m->steps[i]);
        else
            m->steps[n++] = m->steps[i];
    }
    m->n_steps = n;
}

static const char *choice_of(const struct step *step)
{
    return step->way.choice ? step->way.choice : "";
}

static bool prepare_steps(struct cuda_model *m, struct cuda_backend *b, struct error *error)
{
    size_t scratch_bytes = 0;
    m->steps = arena_array(&m->base.arena, struct prepared_step, m->base.plan.steps.count + 1);
    for (size_t i = 0; i < m->base.plan.steps.count; i++)
        step_expect(b, &m->base.plan, &m->base.plan.steps.items[i], choice_of(&m->base.plan.steps.items[i]));
    for (size_t i = 0; i < m->base.plan.steps.count; i++) {
        struct prepared_step *s = &m->steps[m->n_steps];
        const struct step *step = &m->base.plan.steps.items[i];
        if (!step_prepare(b, &m->base.plan, step, choice_of(step), &m->base.arena, s, error))
            return false;
        m->n_steps++;
        scratch_bytes = s->scratch_bytes > scratch_bytes ? s->scratch_bytes : scratch_bytes;
    }
    m->at.scratch = cuda_allocate(b, scratch_bytes, error);
    return m->at.scratch && run_constants(m, b, error);
}

static bool prepare(struct model *model, const struct given_weights *weights, struct error *error)
{
    struct cuda_model *m = (struct cuda_model *)model;
    struct cuda_backend *b = (struct cuda_backend *)model->backend;
    if (!choose(m, b, error) || !place_memories(m, b, weights, error) || !prepare_steps(m, b, error))
        return false;
    drop_constants(m, b);
    release_used_weights(m, b);
    return true;
}

static void release(struct model *model)
{
    struct cuda_model *m = (struct cuda_model *)model;
    struct cuda_backend *b = (struct cuda_backend *)model->backend;
    if (m->graph)
        b->api->free_graph(m->graph);
    for (size_t i = 0; i < m->n_steps; i++)
        step_release(b, &m->steps[i]);
    for (memory_id i = 0; m->blocks && i < m->base.plan.memory.count; i++)
        if (m->blocks[i])
            b->api->release(b->gpu, m->blocks[i]);
    if (m->at.scratch)
        b->api->release(b->gpu, m->at.scratch);
    if (m->working)
        b->api->release(b->gpu, m->working);
}

// --- running ---------------------------------------------------------------------------------------------------------

static bool upload_inputs(const struct cuda_model *m, const struct tensor_value *inputs, struct error *error)
{
    struct cuda_backend *b = (struct cuda_backend *)m->base.backend;
    for (memory_id i = 0; i < m->base.plan.memory.count; i++) {
        const struct plan_memory *memory = &m->base.plan.memory.items[i];
        if (memory->place != MEMORY_INPUT)
            continue;
        const struct tensor_value *value = &inputs[memory->index];
        if (!b->api->upload(b->gpu, m->at.memory[i], value->data, type_bytes(&value->type)))
            return error_set_code(error, EXIT_INTERNAL, NULL, "inputs cannot be uploaded");
    }
    return true;
}

static bool download_outputs(const struct cuda_model *m, struct tensor_value *outputs, struct error *error)
{
    struct cuda_backend *b = (struct cuda_backend *)m->base.backend;
    for (memory_id i = 0; i < m->base.plan.memory.count; i++) {
        const struct plan_memory *memory = &m->base.plan.memory.items[i];
        if (memory->place != MEMORY_OUTPUT)
            continue;
        struct tensor_value *value = &outputs[memory->index];
        if (!b->api->download(b->gpu, value->data, m->at.memory[i], type_bytes(&value->type)))
            return error_set_code(error, EXIT_INTERNAL, NULL, "outputs cannot be downloaded");
    }
    return cuda_synchronize(b, error);
}

static bool launch_steps(const struct cuda_model *m, struct error *error)
{
    struct cuda_backend *b = (struct cuda_backend *)m->base.backend;
    for (size_t i = 0; i < m->n_steps; i++)
        if (!step_launch(b, &m->steps[i], &m->at))
            return error_set_code(error, EXIT_INTERNAL, NULL, "the kernel %s failed",
                                  m->base.plan.steps.items[m->steps[i].number].kernel->name);
    return true;
}

struct gpu_graph *cuda_capture(struct cuda_backend *b, bool (*launch)(void *context), void *context)
{
    char reason[GPU_REASON_SIZE];
    if (!b->api->begin_capture(b->gpu, reason))
        return NULL;
    bool is_whole = launch(context);
    struct gpu_graph *graph = b->api->end_capture(b->gpu, reason);
    if (is_whole || !graph)
        return graph;
    b->api->free_graph(graph);
    return NULL;
}

static bool launch_captured(void *model)
{
    struct error ignored;
    return launch_steps(model, &ignored);
}

static bool launch_all(struct cuda_model *m, struct error *error)
{
    struct cuda_backend *b = (struct cuda_backend *)m->base.backend;
    if (m->graph)
        return b->api->launch_graph(b->gpu, m->graph) ||
               error_set_code(error, EXIT_INTERNAL, NULL, "the captured model cannot be launched");
    if (!launch_steps(m, error))
        return false;
    if (m->has_run)
        return true;
    m->has_run = true;
    bool is_sound = cuda_synchronize(b, error);
    if (is_sound && m->n_steps)
        m->graph = cuda_capture(b, launch_captured, m);   // a device that cannot goes on step by step
    return is_sound;
}

// The timed launch waits for a launch of the same before it, as long as there are captures: so the time that the host
// takes to launch is not counted.
static bool time_run(struct model *model, const struct tensor_value *inputs, struct tensor_value *outputs,
                     double *ret_seconds, struct error *error)
{
    struct cuda_model *m = (struct cuda_model *)model;
    struct cuda_backend *b = (struct cuda_backend *)model->backend;
    if (!upload_inputs(m, inputs, error) || !cuda_synchronize(b, error) || (m->graph && !launch_all(m, error)))
        return false;
    b->api->note_moment(b->gpu, 0);
    if (!launch_all(m, error))
        return false;
    b->api->note_moment(b->gpu, 1);
    return download_outputs(m, outputs, error) &&
           (b->api->seconds_between(b->gpu, 0, 1, ret_seconds) ||
            error_set_code(error, EXIT_INTERNAL, NULL, "the device's clock failed"));
}

// Step by step, so gaps between short kernels count: those of the graph are smaller.
static bool launch_timed(struct cuda_model *m, double *ret_seconds, struct error *error)
{
    struct cuda_backend *b = (struct cuda_backend *)m->base.backend;
    for (size_t first = 0; first < m->n_steps; first += GPU_MOMENTS - 1) {
        size_t n = m->n_steps - first < GPU_MOMENTS - 1 ? m->n_steps - first : GPU_MOMENTS - 1;
        b->api->note_moment(b->gpu, 0);
        for (size_t i = 0; i < n; i++) {
            if (!step_launch(b, &m->steps[first + i], &m->at))
                return error_set_code(error, EXIT_INTERNAL, NULL, "a step failed");
            b->api->note_moment(b->gpu, (int)i + 1);
        }
        if (!cuda_synchronize(b, error))
            return false;
        for (size_t i = 0; i < n; i++)
            b->api->seconds_between(b->gpu, (int)i, (int)i + 1, &ret_seconds[m->steps[first + i].number]);
    }
    return true;
}

static bool run(struct model *model, const struct workers *workers, const struct tensor_value *inputs,
                struct tensor_value *outputs, double *ret_seconds, struct error *error)
{
    struct cuda_model *m = (struct cuda_model *)model;
    return upload_inputs(m, inputs, error) &&
           (ret_seconds ? launch_timed(m, ret_seconds, error) : launch_all(m, error)) &&
           download_outputs(m, outputs, error);
}

static size_t own_memory(const struct backend *b)
{
    return ((const struct cuda_backend *)b)->information.memory_bytes;
}

const struct executor cuda_executor = {
    .model_bytes = sizeof(struct cuda_model),
    .prepare = prepare,
    .run = run,
    .time = time_run,
    .own_memory = own_memory,
    .release = release,
};
