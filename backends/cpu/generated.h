// Kernels that are generated, compiled and loaded on this machine (backends/programs), as further ways to run steps.
#pragma once

struct log;
struct programs;
struct vector_functions;

// For the instruction set that vector functions have.
struct programs *cpu_open_programs(const struct vector_functions *vector, const struct log *log);
