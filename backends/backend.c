// All that devices share: opening and closing, layouts by the policy, and preparing models where the device is here.
#include "backends/backend.h"

#include "backends/costs/cost_database.h"
#include "backends/costs/graph_cost.h"
#include "backends/costs/in_model.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/step_cost.h"
#include "backends/instructions/code_cache.h"
#include "backends/layouts/layout_tables.h"
#include "backends/planning/plan_memory.h"
#include "backends/planning/planner.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include <stdio.h>
#include <string.h>

bool backend_has_room(struct backend *b, const struct graph *g, size_t *ret_bytes, struct error *error)
{
    ARENA(arena);
    struct plan plan FREED_BY(plan_free) = {0};
    struct plan_request request = backend_plan_request(b, g, NULL, &arena);
    struct error ignored = {0};
    bool has_room = true;
    if (plan_make(&plan, &request, &ignored)) {
        plan_lay_out_memory(&plan);
        has_room = plan_has_room(&plan, error);
        if (ret_bytes)
            *ret_bytes = plan_bytes(&plan);
    }
    return has_room;
}

// --- models ----------------------------------------------------------------------------------------------------------

bool backend_find_layouts_only(struct backend *b, const struct graph *g, uint8_t **ret_layouts, struct error *error)
{
    struct arena arena = {0};
    const uint8_t *layouts;
    bool are_found = backend_find_layouts(b, g, &arena, &layouts, error);
    *ret_layouts = are_found && layouts ? mem_new_array(uint8_t, g->tensors.count + 1) : NULL;
    if (*ret_layouts)
        memcpy(*ret_layouts, layouts, g->tensors.count);
    arena_free(&arena);
    arena_free(b->scratch);
    mem_give_back();
    return are_found;
}

struct model *backend_prepare(struct backend *b, const struct graph *g, size_t n_weights,
                              const struct tensor_value *weights, struct error *error)
{
    struct given_weights given = {n_weights, weights, b->options.weights};
    uint8_t *layouts;
    if (!backend_find_layouts_only(b, g, &layouts, error))
        return NULL;
    struct model *m = backend_prepare_from(b, g, layouts, NULL, &given, error);
    mem_free(layouts, layouts ? g->tensors.count + 1 : 0);
    return m;
}

struct model *backend_prepare_from(struct backend *b, const struct graph *g, const uint8_t *layouts,
                                   const step_choices *given, const struct given_weights *weights, struct error *error)
{
    struct plan_request request = backend_plan_request(b, g, layouts, NULL);
    if (b->methods->executor)
        return model_prepare(b, b->methods->executor, &request, given, weights, error);
    error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s is not here: its costs are known, but nothing can be run on it",
                   b->device);
    return NULL;
}

bool backend_can_run(const struct backend *b)
{
    return b->methods->executor != NULL;
}

// --- opening and closing ---------------------------------------------------------------------------------------------

static bool estimate(struct coster *c, const struct graph *g, bool only_recalls, struct estimate *ret_estimate)
{
    struct backend *b = (struct backend *)c;
    struct error ignored = {0};
    b->measuring.only_recalls = only_recalls;
    bool is_known = backend_estimate(b, g, ret_estimate, &ignored);
    b->measuring.only_recalls = false;
    return is_known;
}

bool backend_init(struct backend *b, const struct backend_methods *methods, const struct plan_target *target,
                  const struct backend_options *options, const char *device, struct error *error)
{
    b->coster.estimate = estimate;
    b->methods = methods;
    b->target = *target;
    b->options = *options;
    if (b->options.seconds_per_step <= 0)
        b->options.seconds_per_step = 0.05;
    snprintf(b->device, sizeof b->device, "%s", device);
    if (!cost_database_open_for(&b->costs, b->options.cost_file, b->methods->name, b->device, b->options.log, error))
        return false;
    b->codes = code_cache_new();
    b->layout_memory = layout_memory_new();
    b->in_model = in_model_notes_new();
    b->memory = step_memory_new();
    b->scratch = mem_alloc_zero(sizeof *b->scratch);
    arena_init(b->scratch);
    return true;
}

bool backend_save_costs(struct backend *b, struct error *error)
{
    return cost_database_write(b->costs, error);
}

bool backend_save_costs_last(struct backend *b, struct error *error)
{
    return cost_database_write_last(b->costs, error);
}

void backend_finish(struct backend *b)
{
    struct error error = {0};
    if (!cost_database_write(b->costs, &error))
        log_warning(b->options.log, "%s: %s", error.file, error.message);
    cost_database_free(b->costs);
    code_cache_free(b->codes);
    in_model_notes_free(b->in_model);
    layout_memory_free(b->layout_memory);
    step_memory_free(b->memory);
    arena_free(b->scratch);
    mem_free(b->scratch, sizeof *b->scratch);
}

void backend_forget_code(struct backend *b)
{
    if (b->methods->rest)
        b->methods->rest(b);
}

void backend_rest(struct backend *b)
{
    backend_forget_code(b);
    backend_forget_costs(b);
    layout_memory_free(b->layout_memory);
    b->layout_memory = layout_memory_new();
    code_cache_free(b->codes);
    b->codes = code_cache_new();
    arena_free(b->scratch);
    mem_give_back();
}

void backend_close(struct backend *b)
{
    if (b)
        b->methods->close(b);
}
