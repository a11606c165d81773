// One step of a plan made ready: a library's plan, or generated kernels.
#include "backends/cuda/steps.h"

#include "backends/cuda/kernel_cache.h"
#include "backends/cuda/library.h"
#include "backends/cuda/tiles.h"
#include "backends/generated/definitions/kernel_definition.h"
#include "backends/generated/definitions/kernel_tiles.h"
#include "backends/generated/kernel_loops.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "graph/graph_whole.h"
#include <stdio.h>
#include <string.h>

// --- generated kernels -----------------------------------------------------------------------------------------------

bool step_generate(const struct plan *plan, const struct step *step, const char *choice, const char *prelude,
                   struct arena *arena, struct generated_kernels *ret_kernels)
{
    struct definition d FREED_BY(definition_free) = {0};
    struct kernel_tile tile;
    if (step->kernel == &cuda_kernel_loops)
        return kernels_from_loops(step, prelude, arena, ret_kernels);
    return graph_define(plan->graph, step->node, &d, arena) &&
           (kernel_tile_parse(choice, &tile) ? kernels_from_contraction(&d, step, &tile, prelude, arena, ret_kernels)
                                             : kernels_from_definition(&d, step, prelude, arena, ret_kernels));
}

static bool load_kernels(struct cuda_backend *b, const struct generated_kernels *kernels, struct arena *arena,
                         struct prepared_step *s, struct error *error)
{
    int n = (int)kernels->list.count;
    s->launches = arena_array(arena, struct launch, n + 1);
    s->scratch_bytes = kernels->scratch_bytes;
    for (int i = 0; i < n; i++) {
        const struct generated_kernel *k = &kernels->list.items[i];
        struct gpu_kernel *kernel = kernel_cache_find(b->kernels, k->text, error);
        if (!kernel)
            return false;
        s->launches[i] = (struct launch){kernel, k->blocks, k->threads, k->n_pointers, k->pointers};
    }
    s->n_launches = n;
    return true;
}

static bool prepare_generated(struct cuda_backend *b, const struct plan *plan, const struct step *step,
                              const char *choice, struct arena *arena, struct prepared_step *s, struct error *error)
{
    struct generated_kernels kernels = {.scratch_bytes = 0};
    bool is_done = step_generate(plan, step, choice, b->api->prelude, arena, &kernels);
    if (!is_done)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "no kernel can be made for %s",
                       step->node == NO_NODE ? "a copy" : plan->graph->nodes.items[step->node].op->name);
    else
        is_done = load_kernels(b, &kernels, arena, s, error);
    vec_free(&kernels.list);
    return is_done;
}

// --- steps -----------------------------------------------------------------------------------------------------------

static struct gpu_plan *plan_library(struct cuda_backend *b, const struct library_step *s, const char *choice)
{
    char reason[GPU_REASON_SIZE];
    return s->is_conv ? b->api->plan_conv(b->gpu, b->information.architecture, &s->conv, choice, reason)
                      : b->api->plan_product(b->gpu, &s->product, choice, reason);
}

// The library does it without its epilogue, which is a kernel of its own behind it.
static bool prepare_apart(struct cuda_backend *b, const struct step *step, const char *choice, struct arena *arena,
                          struct prepared_step *s, struct error *error)
{
    struct library_step bare = library_step_bare(&s->library);
    struct step epilogue = {.n_loops = step->n_loops, .loops = step->loops};
    struct generated_kernels kernels = {.scratch_bytes = 0};
    if (!step->n_loops || !(s->plan = plan_library(b, &bare, choice)))
        return false;
    bool is_done =
        kernels_from_loops(&epilogue, b->api->prelude, arena, &kernels) && load_kernels(b, &kernels, arena, s, error);
    vec_free(&kernels.list);
    if (is_done)
        s->library = bare;
    else
        step_release(b, s);
    return is_done;
}

static bool is_apart(const char *choice)
{
    return strncmp(choice, CHOICE_APART, strlen(CHOICE_APART)) == 0;
}

// Prepares as `choice` says; else as the library likes best, with its epilogue or without. False: not by the library.
static bool prepare_library(struct cuda_backend *b, const struct step *step, const char *choice, struct arena *arena,
                            struct prepared_step *s, struct error *error)
{
    if (is_apart(choice))
        return prepare_apart(b, step, choice + strlen(CHOICE_APART), arena, s, error) ||
               prepare_library(b, step, "", arena, s, error);
    s->plan = plan_library(b, &s->library, choice);
    if (!s->plan && *choice)
        s->plan = plan_library(b, &s->library, "");
    return s->plan || prepare_apart(b, step, "", arena, s, error);
}

// A tile that does not suit a step does not run it.
static bool prepare_tile(struct cuda_backend *b, const struct plan *plan, const struct step *step, const char *choice,
                         struct arena *arena, struct prepared_step *s)
{
    struct kernel_tile tile;
    struct error error;
    if (!kernel_tile_parse(choice, &tile) || !cuda_suits_tile(b, step, &tile) ||
        !prepare_generated(b, plan, step, choice, arena, s, &error))
        return false;
    s->generated = arena_string(arena, choice);
    return true;
}

bool step_prepare(struct cuda_backend *b, const struct plan *plan, const struct step *step, const char *choice,
                  struct arena *arena, struct prepared_step *ret_step, struct error *error)
{
    struct prepared_step s = {.number = (size_t)(step - plan->steps.items), .generated = CHOICE_GENERATED};
    if (cuda_is_library_step(step) && strcmp(choice, CHOICE_GENERATED) != 0 &&
        !prepare_tile(b, plan, step, choice, arena, &s) &&
        library_step_read(plan, step, b->base.options.allows_tf32, &s.library) &&
        prepare_library(b, step, choice, arena, &s, error))
        s.scratch_bytes = GPU_WORKSPACE_BYTES;
    else if (!s.n_launches && !prepare_generated(b, plan, step, "", arena, &s, error))
        return false;
    *ret_step = s;
    return true;
}

static bool is_of_library(const struct step *step, const char *choice)
{
    struct kernel_tile tile;
    return cuda_is_library_step(step) && strcmp(choice, CHOICE_GENERATED) != 0 && !kernel_tile_parse(choice, &tile);
}

void step_expect(struct cuda_backend *b, const struct plan *plan, const struct step *step, const char *choice)
{
    ARENA(arena);
    struct step epilogue = {.n_loops = step->n_loops, .loops = step->loops};
    struct generated_kernels kernels = {.scratch_bytes = 0};
    if (!is_of_library(step, choice))
        step_generate(plan, step, choice, b->api->prelude, &arena, &kernels);
    else if (is_apart(choice) && step->n_loops)
        kernels_from_loops(&epilogue, b->api->prelude, &arena, &kernels);
    for (size_t i = 0; i < kernels.list.count; i++)
        kernel_cache_expect(b->kernels, kernels.list.items[i].text);
    vec_free(&kernels.list);
}

void step_choice(const struct cuda_backend *b, const struct step *step, const struct prepared_step *s, char *ret_choice,
                 size_t size)
{
    const char *engine = s->plan ? b->api->choice_of(s->plan) : cuda_is_library_step(step) ? s->generated : "";
    snprintf(ret_choice, size, "%s%s", s->plan && s->n_launches ? CHOICE_APART : "", engine);
}

static char *address_of(const struct addresses *at, memory_id memory, int64_t offset, enum dtype dtype)
{
    char *base = memory == KERNEL_SCRATCH ? at->scratch : at->memory[memory];
    return base + offset * (int64_t)dtype_size(dtype);
}

static const void *address_of_access(const struct addresses *at, const struct loop_access *a)
{
    return a ? address_of(at, a->memory, a->offset, a->dtype) : NULL;
}

static char *address_of_view(const struct addresses *at, const struct view *v)
{
    return address_of(at, v->memory, v->offset, v->dtype);
}

static bool launch_library(struct cuda_backend *b, const struct prepared_step *s, const struct addresses *at)
{
    const struct library_step *l = &s->library;
    struct gpu_operands operands = {.x = address_of_view(at, &l->x),
                                    .y = address_of_view(at, &l->y),
                                    .z = address_of_view(at, &l->z),
                                    .bias = l->has_zero_bias ? b->zeros : address_of_access(at, l->bias),
                                    .residual = address_of_access(at, l->residual),
                                    .workspace = at->scratch};
    return b->api->run(b->gpu, s->plan, &operands);
}

bool step_launch(struct cuda_backend *b, const struct prepared_step *s, const struct addresses *at)
{
    bool is_done = !s->plan || launch_library(b, s, at);
    for (int i = 0; is_done && i < s->n_launches; i++) {
        const struct launch *l = &s->launches[i];
        void *addresses[KERNEL_MAX_POINTERS];
        for (int k = 0; k < l->n_pointers; k++)
            addresses[k] = l->pointers[k].memory == KERNEL_COUNTER_MEMORY
                               ? (char *)b->zeros + ZERO_BYTES
                               : address_of(at, l->pointers[k].memory, l->pointers[k].offset, l->pointers[k].dtype);
        is_done = b->api->launch(b->gpu, l->kernel, l->blocks, l->threads, l->n_pointers, addresses);
    }
    return is_done;
}

void step_release(struct cuda_backend *b, struct prepared_step *s)
{
    if (s->plan)
        b->api->free_plan(s->plan);
    s->plan = NULL;
    s->n_launches = 0;
}
