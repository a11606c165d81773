#include "tests/cuda/planning.h"
#include "backends/cuda/cuda.h"
#include "backends/cuda/steps.h"

#include "backends/planning/planner.h"
#include "core/memory/hash.h"
#include "core/text/error.h"
#include <string.h>

void kernel_texts_free(struct kernel_texts *texts)
{
    vec_free(&texts->list);
    table_free(&texts->table);
    arena_free(&texts->arena);
}

static bool is_text(const void *owner, uint32_t id, const void *key)
{
    return strcmp(((const struct kernel_texts *)owner)->list.items[id], key) == 0;
}

static void add_text(struct kernel_texts *texts, const char *text)
{
    uint64_t hash = hash_string(text);
    if (table_find(&texts->table, hash, is_text, texts, text) != TABLE_NONE)
        return;
    table_insert(&texts->table, hash, (uint32_t)texts->list.count);
    vec_push(&texts->list, arena_string(&texts->arena, text));
}

bool kernel_texts_add_step(struct kernel_texts *texts, const struct plan *plan, const struct step *step,
                           const char *choice, const char *prelude)
{
    struct generated_kernels kernels = {.scratch_bytes = 0};
    ARENA(arena);
    bool is_made = step_generate(plan, step, choice, prelude, &arena, &kernels);
    for (size_t i = 0; is_made && i < kernels.list.count; i++)
        add_text(texts, kernels.list.items[i].text);
    vec_free(&kernels.list);
    return is_made;
}

bool plan_for_cuda(const struct graph *g, bool allows_tf32, visit_planned_step *visit, void *context)
{
    struct cuda_backend b = {.base.options.allows_tf32 = allows_tf32, .base.codes = code_cache_new()};
    struct plan_target target = cuda_plan_target(&b);
    ARENA(arena);
    struct plan plan FREED_BY(plan_free) = {0};
    struct plan_request request = {.graph = g, .target = &target, .codes = b.base.codes, .arena = &arena};
    bool is_planned = plan_make(&plan, &request, &(struct error){0});
    for (size_t i = 0; is_planned && i < plan.steps.count; i++)
        visit(context, &plan, &plan.steps.items[i]);
    code_cache_free(b.base.codes);
    return is_planned;
}
