// The part that models on all devices share: their plan, and that they are given the values that they need.
#include "backends/contract/executor.h"

#include "backends/contract/backend.h"
#include "backends/planning/plan_memory.h"
#include "backends/planning/planner.h"
#include "core/memory/memory.h"
#include "core/text/error.h"
#include "graph/graph.h"
#include <string.h>

struct model *model_prepare(struct backend *b, const struct executor *executor, const struct plan_request *request,
                            const step_choices *given, const struct given_weights *weights, struct error *error)
{
    struct model *m = mem_alloc_zero(executor->model_bytes);
    struct plan_request own = *request;
    m->backend = b;
    m->executor = executor;
    m->given = given;
    own.arena = &m->arena;
    m->arena.is_read_once = b->options.prepares_to_write;
    if (plan_make(&m->plan, &own, error)) {
        plan_lay_out_memory(&m->plan);
        if (executor->prepare(m, weights, error))
            return m;
    }
    model_free(m);
    return NULL;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    m->executor->release(m);
    plan_free(&m->plan);
    arena_free(&m->arena);
    mem_free(m, m->executor->model_bytes);
    mem_give_back();
}

static bool is_value_of(const struct plan_memory *memory, const struct tensor_value *value, const char *what,
                        struct error *error)
{
    bool is_one = value->data && value->type.dtype == memory->dtype && type_elements(&value->type) == memory->elements;
    return is_one || error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s %lld is missing or of another type", what,
                                    (long long)memory->index);
}

static bool are_given(const struct model *m, const struct tensor_value *inputs, const struct tensor_value *outputs,
                      struct error *error)
{
    vec_each(&m->plan.memory, memory)
        if ((memory->place == MEMORY_INPUT && !is_value_of(memory, &inputs[memory->index], "input", error)) ||
            (memory->place == MEMORY_OUTPUT && !is_value_of(memory, &outputs[memory->index], "output", error)))
            return false;
    return true;
}

bool model_run_on(struct model *m, const struct workers *workers, const struct tensor_value *inputs,
                  struct tensor_value *outputs, struct error *error)
{
    return are_given(m, inputs, outputs, error) && m->executor->run(m, workers, inputs, outputs, NULL, error);
}

bool model_run(struct model *m, const struct tensor_value *inputs, struct tensor_value *outputs, struct error *error)
{
    return model_run_on(m, NULL, inputs, outputs, error);
}

bool model_time(struct model *m, const struct tensor_value *inputs, struct tensor_value *outputs, double *ret_seconds,
                struct error *error)
{
    return are_given(m, inputs, outputs, error) && m->executor->time(m, inputs, outputs, ret_seconds, error);
}

bool model_profile(struct model *m, const struct tensor_value *inputs, struct tensor_value *outputs,
                   double *ret_seconds, struct error *error)
{
    memset(ret_seconds, 0, m->plan.steps.count * sizeof *ret_seconds);
    return are_given(m, inputs, outputs, error) && m->executor->run(m, NULL, inputs, outputs, ret_seconds, error);
}

const struct plan *model_plan(const struct model *m)
{
    return &m->plan;
}

void model_list_packed(const struct model *m, packed_weights *list)
{
    if (m->executor->list_packed)
        m->executor->list_packed(m, list);
}

void model_allocate_outputs(const struct model *m, struct tensor_value *ret_outputs, struct arena *arena)
{
    const struct graph *g = m->plan.graph;
    for (size_t i = 0; i < g->outputs.count; i++) {
        ret_outputs[i].type = *graph_type(g, g->outputs.items[i]);
        ret_outputs[i].data = value_allocate(arena, &ret_outputs[i].type);
    }
}
