// Kernels that are generated, compiled and loaded on this machine (backends/programs), as further ways to run steps.
#pragma once
#include <stdbool.h>

struct step_request;
struct text;

struct cpu_machine {
    const char *name, *instruction_set;   // of devices, and of compilers
    int lanes, registers;
};
// The best one that this processor has.
const struct cpu_machine *cpu_machine_here(void);
// Gives NAMED(run) of the text, which is freed, to a pointer to a function. False: there is none.
bool cpu_find_kernel(const struct step_request *r, struct text *text, void *ret_run);
