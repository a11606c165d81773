// Kernels that are generated, compiled and loaded on this machine (backends/programs), as further ways to run steps.
#pragma once

struct log;
struct programs;
struct step_request;

struct cpu_machine {
    const char *name, *instruction_set;   // of devices, and of compilers
    int lanes, registers;
};
// The best one that this processor has.
const struct cpu_machine *cpu_machine_here(void);
// NAMED(run) of the text; NULL: there is none.
void *cpu_find_function(const struct step_request *r, const char *text);
