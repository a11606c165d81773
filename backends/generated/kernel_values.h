// Loads and stores of a loop's values in a kernel's text, by pointers and places in nests.
#pragma once
#include "backends/generated/kernel_text.h"
#include "backends/generated/nest.h"

#define MOST_NESTS 3
struct loop_values {
    struct kernel_text *k;
    const struct loop *loop;
    int *pointers;   // of every access: operands, then results
    int n_nests;
    const struct nest *nests[MOST_NESTS];   // whose places are known here
    bool is_raw;                            // a copy of whole elements
    const char *type;                       // of operands: "real", or of such elements
};

// False: too many tensors for a kernel.
bool loop_values_init(struct loop_values *v, struct kernel_text *k, const struct loop *loop, struct arena *arena);
// Places are those of the given nests from now on.
void loop_values_enter(struct loop_values *v, int n_nests, const struct nest *const *nests);
void loop_values_add_load(const struct loop_values *v, struct text *out, int operand);   // "(real)(a0[...])"
void loop_values_add_operand(const struct loop_values *v, int operand);                  // "const real x0 = ...;"
void loop_values_add_operands(const struct loop_values *v);
void loop_values_add_results(const struct loop_values *v);   // of a loop that reduces nothing, from its operands on
// The same of a reduction, whose value has this name.
void loop_values_add_reduced_results(const struct loop_values *v, const char *reduction);
bool fits_single_precision(enum dtype dtype);   // every value of it
// The type that the loop is computed in, and how far its indices go.
enum real_kind loop_real(const struct loop *loop);
bool loop_has_wide_index(const struct loop *loop);
