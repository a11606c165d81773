// What the files of the device share.
#pragma once
#include "backends/contract/backend.h"
#include "backends/cuda/gpu.h"
#include "backends/cuda/kernels.h"

struct kernel_cache;

struct cuda_backend {
    struct backend base;
    const struct gpu_api *api;
    struct gpu *gpu;   // NULL: only costs are here
    struct gpu_information information;
    struct kernel_cache *kernels;
    void *zeros;   // for biases that are not there
};
#define ZERO_BYTES ((size_t)1 << 20)

// --- library steps (library.c) ---------------------------------------------------------------------------------------

// A convolution or matrix product with its epilogue, as the plugin is asked for it.
struct library_step {
    bool is_conv, has_zero_bias;
    struct gpu_conv conv;
    struct gpu_product product;
    struct view x, y, z;
    const struct loop_access *bias, *residual;   // of the step's epilogue; NULL: none
};
extern const struct kernel cuda_kernel_conv, cuda_kernel_product, cuda_kernel_loops, cuda_kernel_definition,
    cuda_kernel_evaluate;
bool cuda_is_library_step(const struct step *step);
// False: the library does not take such a step, a generated kernel has to.
bool library_step_read(const struct plan *plan, const struct step *step, bool allows_tf32,
                       struct library_step *ret_step);
struct library_step library_step_bare(const struct library_step *s);   // without an epilogue

// How such a device is planned for; it may be one that is not open (b->base.codes and options are used).
struct plan_target cuda_plan_target(struct cuda_backend *b);
// Claims (plan.h); the context is the device.
bool cuda_claim(void *context, struct planner *p, node_id node);
typedef bool cuda_claim_operator(const struct cuda_backend *b, struct planner *p, node_id node);
cuda_claim_operator cuda_claim_conv, cuda_claim_product;
// Can they write their result there, within that of a concatenation (plan.h)?
bool cuda_writes_part(void *context, const struct planner *p, node_id node, const struct view *part);
bool cuda_conv_writes_part(const struct planner *p, node_id node, const struct view *part);
extern const struct layout_support cuda_layouts;
bool cuda_product_writes_part(const struct planner *p, node_id node, const struct view *part);
const struct attribute_value *cuda_attribute(const struct node *n, enum attribute_role role);

// --- prepared steps (steps.c) ----------------------------------------------------------------------------------------

struct launch {
    struct gpu_kernel *kernel;   // of the kernel cache
    unsigned blocks, threads;
    int n_pointers;
    const struct kernel_pointer *pointers;
};
struct prepared_step {
    size_t number;   // in the plan
    int n_launches;
    struct launch *launches;
    struct gpu_plan *plan;   // NULL: launches alone
    struct library_step library;
    size_t scratch_bytes;
};
// Where memories of a plan are on the device; `scratch` is shared by all steps.
struct addresses {
    char **memory;
    char *scratch;
};
#define CHOICE_GENERATED "generated"   // of a library step: no library, a kernel from the definition
#define CHOICE_APART "apart "          // before an engine: without the epilogue, which is a kernel of its own

// `choice` as in a step's cost. Everything but the plan is in `arena`. False: error.
bool step_prepare(struct cuda_backend *b, const struct plan *plan, const struct step *step, const char *choice,
                  struct arena *arena, struct prepared_step *ret_step, struct error *error);
void step_choice(const struct cuda_backend *b, const struct step *step, const struct prepared_step *s, char *ret_choice,
                 size_t size);
bool step_launch(struct cuda_backend *b, const struct prepared_step *s, const struct addresses *at);
void step_release(struct cuda_backend *b, struct prepared_step *s);
// Kernels for a step as text, for one machine.
bool step_generate(const struct plan *plan, const struct step *step, const char *prelude, struct arena *arena,
                   struct generated_kernels *ret_kernels);

// --- machine code (kernel_cache.c) -----------------------------------------------------------------------------------

struct kernel_cache *kernel_cache_new(const struct gpu_api *api, struct gpu *gpu, const char *architecture);
void kernel_cache_free(struct kernel_cache *cache);
// Loaded code for a text: from memory, from the cache folder, or compiled now. NULL: error.
struct gpu_kernel *kernel_cache_find(struct kernel_cache *cache, const char *text, struct error *error);

// --- models (model.c), costs (measure.c, roofline.c) -----------------------------------------------------------------

extern const struct executor cuda_executor;
void cuda_list_choices(struct backend *b, const struct plan *plan, const struct step *step, choice_list *list);
bool cuda_measure(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                  double best, struct step_cost *ret_cost, struct error *error);
double cuda_guess(const struct backend *b, const struct plan *plan, const struct step *step);

// Memory of the device, with anything in it; NULL: error.
char *cuda_allocate(struct cuda_backend *b, size_t bytes, struct error *error);
bool cuda_synchronize(struct cuda_backend *b, struct error *error);
