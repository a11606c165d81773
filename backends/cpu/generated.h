// Kernels that are generated, compiled and loaded on this machine (backends/programs), as further ways to run steps.
#pragma once
#include "backends/generated/run.h"
#include <stdbool.h>
#include <stddef.h>

struct execution;
struct loop;
struct step_request;

struct cpu_machine {
    const char *name, *instruction_set;   // of devices, and of compilers
    int lanes, registers;
};
// The best one that this processor has.
const struct cpu_machine *cpu_machine_here(void);
// Gives NAMED(run) of the text. False: there is none.
bool cpu_find_kernel(const struct step_request *r, const char *text, generated_run_fn **ret_run);
// Runs a kernel by threads, each of which has so much of the scratch memory.
void cpu_run_generated(const struct execution *e, int threads, generated_run_fn *run, const void *const *given,
                       size_t scratch_floats);
bool cpu_loop_has_functions(const struct loop *l);   // exp, sigmoid, tanh or erf: they take longer than memory does
