// The values of a loop inside of a kernel's text: loads, applications, constants, each a variable v7 where it is used.
#pragma once
#include "backends/cuda/kernel_text.h"
#include "backends/cuda/nest.h"

struct arena;

#define MOST_NESTS 3
struct loop_values {
    struct kernel_text *k;
    const struct loop *loop;
    int *pointers;   // of every access: operands, then results
    int n_nests;
    const struct nest *nests[MOST_NESTS];   // whose places are known here
    const char *raw_type;                   // a copy of whole elements of this type; NULL: values are reals
    // Names of values in this scope, -1 where there is none yet; of operands, then of instructions.
    int *names;
    int n_names;
};

// False: too many tensors for a kernel.
bool loop_values_init(struct loop_values *v, struct kernel_text *k, const struct loop *loop, struct arena *arena);
// What the scope knows is forgotten; from now on places are those of the given nests.
void loop_values_enter(struct loop_values *v, int n_nests, const struct nest *const *nests);
void loop_values_bind(struct loop_values *v, uint16_t value, int name);   // the variable v`name` holds it
int loop_values_use(struct loop_values *v, uint16_t value);               // its name, after writing what makes it
void loop_values_store(struct loop_values *v);                            // all results
void loop_values_load(const struct loop_values *v, struct text *out, int operand);   // "(real)(a0[...])"
const char *loop_values_type(const struct loop_values *v);
bool fits_single_precision(enum dtype dtype);   // every value of it
// What the loop has to be computed in, and how far its indices go.
enum real_kind loop_real(const struct loop *loop);
bool loop_has_wide_index(const struct loop *loop);
