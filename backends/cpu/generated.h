// Kernels that are generated, compiled and loaded on this machine (backends/programs), as further ways to run steps.
#pragma once
#include <stdbool.h>

struct loop;
struct step_request;

struct cpu_machine {
    const char *name, *instruction_set;   // of devices, and of compilers
    int lanes, registers;
};
// The best one that this processor has.
const struct cpu_machine *cpu_machine_here(void);
// Gives NAMED(run) of the text to a pointer to a function. False: there is none.
bool cpu_find_kernel(const struct step_request *r, const char *text, void *ret_run);
bool cpu_loop_has_functions(const struct loop *l);   // exp, sigmoid, tanh or erf: they take longer than memory does
