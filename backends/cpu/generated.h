// Kernels that are generated, compiled and loaded on this machine (backends/programs), as further ways to run steps.
#pragma once

struct log;
struct programs;
struct step_request;
struct vector_functions;

struct cpu_machine {
    const char *name, *instruction_set;   // of vector functions, and of compilers
    int lanes, registers;
};
const struct cpu_machine *cpu_machine_of(const struct vector_functions *vector);
// NAMED(run) of the text; NULL: there is none.
void *cpu_find_function(const struct step_request *r, const char *text);

// For the instruction set that vector functions have.
struct programs *cpu_open_programs(const struct vector_functions *vector, const struct log *log);
