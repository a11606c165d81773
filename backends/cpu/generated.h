// Kernels that are generated, compiled and loaded on this machine (backends/programs), as further ways to run steps.
#pragma once
#include "backends/planning/view.h"

struct plan;
struct programs;
struct step;
struct step_request;

struct cpu_machine {
    const char *name, *instruction_set;   // of devices, and of compilers
    int lanes, registers;
};
// The best one that this processor has.
const struct cpu_machine *cpu_machine_here(void);
// NAMED(run) of the text; NULL: there is none.
void *cpu_find_function(const struct step_request *r, const char *text);

// A convolution that cpu_is_dense_conv knows, or a product with known weights, as images: the rows of a product are the
// pixels of one row, as are all pixels where the window has one place and rows follow each other.
struct cpu_images {
    bool is_product, has_one_row;
    struct view source, weights, target;
};
// False: it is none, or does not stand so.
bool cpu_step_as_images(const struct plan *plan, const struct step *step, struct cpu_images *ret_images);
