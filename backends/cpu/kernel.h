// The device, its kernels, and what these are given: a step to prepare, and a run.
#pragma once
#include "backends/contract/backend.h"
#include "backends/cpu/onednn/onednn.h"
#include "core/memory/arena.h"

struct cpu_machine;
struct kept_memory;
struct memory_probe;
struct programs;

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

#define CPU_PACKED_OPERAND 1   // of all kernels that pack one

// The threads that a step of the library takes.
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
