// The interface that the files of the device share: its kernels and what they are given.
#pragma once
#include "backends/contract/backend.h"
#include "backends/cpu/onednn/onednn.h"
#include "core/memory/arena.h"

struct cpu_machine;
struct kept_memory;
struct memory_probe;
struct programs;
struct workers;

struct cpu_backend {
    struct backend base;
    struct onednn *onednn;
    const struct cpu_machine *machine;
    struct programs *programs;   // generated kernels
    int threads;
    bool is_guest;                // the library's steps run as parts of one thread each, on the threads of model_run_on
    bool has_warned;              // that other programs disturb the threads
    struct memory_probe *probe;   // NULL before its first use
    char *sweep;                  // cpu_sweep_bytes for each thread; NULL before its first use
    size_t sweep_bytes;           // for each
    struct arena measured;        // of the step that is measured, kept for its memory
    double shortest_sentinel;     // of work that takes equally long each time; 0: not done yet
    uint64_t sentinel_result;
    double patience;   // seconds that disturbed steps may be sampled longer than others
    int n_fallbacks;   // steps of models that run in their standard way, as their choice could not be had
};

// One step of one model being prepared.
struct step_request {
    struct cpu_backend *backend;
    const struct plan *plan;
    const struct step *step;
    char *const *memory;   // addresses; only of constants may the contents be read
    struct arena *arena;   // lives as long as the prepared step
    struct error *error;
    struct kept_memory *kept;   // of a model; NULL: the step is measured alone
    bool is_only_written;       // it is never run: what is not written of it is not packed
};
// One run of a step.
struct execution {
    char *const *memory;   // addresses
    char *scratch;
    const struct workers *workers;   // NULL: OpenMP
};
struct cpu_kernel {
    struct kernel base;
    // NULL: failed, r->error says why.
    void *(*prepare)(const struct step_request *r);
    bool (*run)(void *state, const struct execution *e);
    size_t (*scratch_bytes)(const void *state);                 // NULL: none
    size_t (*weights)(const void *state, char **ret_weights);   // the packed ones; NULL: none
    int (*packed_operand)(const void *state);   // that is not read after prepare, -1: none; NULL: none ever
    // How those weights stand, in a kernel that takes them packed, or asks for that operand's memory itself
    // (kept_memory.c). False: in no way that can be described. NULL: it does neither.
    bool (*describe_weights)(const void *state, struct packing *ret_packing);
    void (*free)(void *state);   // NULL: nothing to free
    // Adds its own choices of a step. NULL: the standard way is the only one.
    void (*list)(const struct cpu_backend *b, const struct step *step, choice_list *list);
    // Adds the text that its choice is compiled from; nothing is prepared. NULL: no choice of its own is.
    void (*print)(const struct step_request *r, struct text *kernel);
};

extern const struct cpu_kernel cpu_kernel_loops, cpu_kernel_evaluate, cpu_kernel_conv, cpu_kernel_pool,
    cpu_kernel_linear, cpu_kernel_matmul, cpu_kernel_gather, cpu_kernel_lrn, cpu_kernel_chain;
// Neighbours in some chain, and a whole one (kernels/chain.c).
bool cpu_may_chain(const struct plan *plan, const struct step *first, const struct step *second);
bool cpu_is_chain(const struct step *joined);

// Claims (see plan.h), one per operator that has a kernel or a better arrangement of loops than its definition.
typedef bool cpu_claim(struct planner *p, node_id node);
cpu_claim cpu_claim_conv, cpu_claim_pool, cpu_claim_matmul, cpu_claim_concat, cpu_claim_pad, cpu_claim_gather,
    cpu_claim_lrn, cpu_claim_expression;

// Can the operator write its result there (plan.h)?
typedef bool cpu_writes_part(const struct planner *p, node_id node, const struct view *part);
cpu_writes_part cpu_conv_writes_part, cpu_pool_writes_part;

// That a step of the library takes.
static inline int cpu_library_threads(const struct cpu_backend *b)
{
    return b->is_guest ? 1 : b->threads;
}
// Threads of steps that are prepared from now on.
static inline void cpu_set_threads(struct cpu_backend *b, int threads)
{
    b->threads = threads;
    if (b->is_guest)
        onednn_use_parts(b->onednn, threads);
}
static inline char *address_of_view(char *const *memory, const struct view *v)
{
    return memory[v->memory] + (size_t)v->offset * dtype_size(v->dtype);
}
// f32 as it is; f16 and bf16 copied to f32 first. Other element types: false.
bool cpu_is_computed_in_f32(enum dtype dtype);
struct view cpu_view_in_f32(struct planner *p, tensor_id t, enum layout layout);   // dense in that layout
struct onednn_tensor cpu_tensor_of_view(const struct view *v);
// The same for an image of a step whose images stand in blocks of that size (0: they do not), where they can.
struct onednn_tensor cpu_tensor_of_image(const struct view *v, int block);
const struct attribute_value *cpu_attribute(const struct node *n, enum attribute_role role);
int64_t cpu_attribute_int(const struct node *n, enum attribute_role role);
double cpu_attribute_real(const struct node *n, const char *name);
struct onednn_window cpu_window_of(const struct node *n, int spatial, const int64_t *kernel);

// Post-operations of a step: `act` of its operator, then its epilogue; a first addition along the channels becomes the
// bias (its operand number of the epilogue, else -1).
struct cpu_epilogue {
    struct postops ops;
    int bias;
    int n_operands, operands[POSTOPS_MAX];   // of the epilogue's loop, in the order of the operations that have one
};
bool cpu_has_activation(const struct graph *g, const struct step *step);   // of its operator's own
bool cpu_read_epilogue(const struct graph *g, const struct step *step, const struct loop *loop, int channel_axis,
                       struct cpu_epilogue *ret_epilogue);
void cpu_epilogue_arguments(const struct cpu_epilogue *e, const struct loop *loop, char *const *memory,
                            struct onednn_arguments *ret_arguments);
// The epilogue as loops of its own behind the operator, generated where that is worth it; NULL: there is none.
struct cpu_behind;
struct cpu_behind *cpu_prepare_behind(const struct step_request *r);
void cpu_run_behind(const struct cpu_behind *behind, const struct execution *e);   // NULL is allowed

#define CPU_PACKED_OPERAND 1   // of all kernels that pack one
// A weight that the source of the model has packed so, and NULL otherwise: then its plain memory is to be provided. The
// view has to be the whole of it (kept_memory.c).
const void *cpu_find_packed(const struct step_request *r, const struct packing *packing, size_t bytes);
bool cpu_provide_plain(const struct step_request *r);
bool cpu_packs_whole_weight(const struct plan *plan, const struct step *step);

// For steps that the library refuses: slow, and right (fallback.c).
struct cpu_fallback;
struct cpu_fallback *cpu_fallback_prepare(const struct step_request *r);
bool cpu_fallback_is_generated(const struct cpu_fallback *f);   // or the interpreter evaluates it
bool cpu_fallback_run(const struct cpu_fallback *f, const struct execution *e);

// --- measuring (measure.c) -------------------------------------------------------------------------------------------

bool cpu_measure(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                 double best, struct step_cost *ret_cost, struct error *error);
// Seconds that a step takes several threads, of the shortest run beside other programs and a share of one thread's.
double cpu_seconds_beside_others(double shortest, double share);
// How long a step is sampled at most, and what is left of the patience with disturbed ones when it was sampled for
// `spent`. One is sampled three times as long, where many are disturbed that is a quarter longer.
double cpu_sampling_limit(double patience, double budget, bool is_disturbed);
double cpu_patience_after(double patience, double budget, double spent);
bool cpu_roofs(struct backend *b, struct roofs *ret_roofs);   // (roofs.c)
