// The text of one kernel, being written.
//
// Kernels are C that both CUDA and a plain C compiler take, in words that the prelude of a machine (gpu.h) gives:
//     real, index          the types to compute in and to count in
//     KERNEL(parameters)   before the body;  ENTRY(arguments) behind it
//     block, n_blocks      which of how many
//     THREADS(t) { ... }   every thread t of 0 .. BLOCK - 1 does that; then SYNC; makes what they wrote visible
//     SHARED               of a block's threads
//     OWN(name, n)         so many reals of each thread, MINE(name) in what it does
//     COUNT_BLOCKS(counter, n, last)  all that blocks have written is there for the last of n, for which last becomes 1
//     FRESH(entry)         as another block wrote it
//     ROUNDED(r)           to TF32, as tensor cores take it
//     MULTIPLY_FRAGMENTS(sum, x, x_row, y, y_row, lane)   adds x' * y, of 8 rows of 16 and of 8 entries, to the four
//                          results of a lane: rows lane / 4 and 8 more, columns lane % 4 * 2 and the next
//     REDUCE(array, f)     array[0] becomes all BLOCK entries joined by f; synchronized before and after
//     INFINITE, half_to_real(h), half_from_real(r), bfloat_to_real(h), bfloat_from_real(r)
// so that kernels are tested without a GPU. Names in the text: a0, a1, ... are what the kernel reads and writes; i0,
// ... places on axes, r0, ... places on reduced ones; values of loops are those of loop_text.h.
#pragma once
#include "backends/generated/loop_text.h"
#include "backends/planning/plan.h"
#include "core/text/text.h"

#define KERNEL_MAX_POINTERS 96
#define KERNEL_SCRATCH (NO_MEMORY - 1)          // the memory that steps share for what lives in one step only
#define KERNEL_COUNTER_MEMORY (NO_MEMORY - 2)   // so many counters, which are 0 before and after each kernel
#define KERNEL_COUNTERS 8192

enum real_kind { REAL_F32, REAL_F64, REAL_I64 };
struct kernel_pointer {
    memory_id memory;
    enum dtype dtype;
    int64_t offset;   // in elements
    bool is_written;
};
struct kernel_text {
    struct text body;
    enum real_kind real;
    bool has_wide_index;
    uint64_t functions;   // a bit for each scalar function that the body calls
    int threads, n_pointers;
    int64_t blocks;
    struct kernel_pointer pointers[KERNEL_MAX_POINTERS];
};

const char *kernel_type_of(enum dtype dtype);   // as C has it; halves are 16-bit integers
// The number of a pointer to there; false when there are too many.
bool kernel_add_pointer(struct kernel_text *k, struct kernel_pointer pointer, int *ret_number);
void kernel_use_function(struct kernel_text *k, enum scalar_function fn);   // it is called somewhere
void kernel_add_call(struct text *out, enum scalar_function fn,
                     char operands[3][VALUE_NAME_SIZE]);   // f_add(a, b)
void kernel_add_constant(struct text *out, double value);
void kernel_add_identity(struct kernel_text *k, struct text *out, enum scalar_function fn);   // of a reduction
// An element at `place` as a real, and a real as an element.
void kernel_add_load(struct text *out, int pointer, enum dtype dtype, const char *place);
void kernel_add_store(struct text *out, const struct kernel_text *k, int pointer, enum dtype dtype, const char *place,
                      const char *value);
extern const struct dialect kernel_dialect;
// The whole text: types, the machine's prelude, functions, the kernel.
void kernel_text_finish(const struct kernel_text *k, const char *prelude, struct text *out);
void kernel_text_free(struct kernel_text *k);
