// Steps that the library refuses: slow, and right.
#pragma once
#include "backends/cpu/kernel.h"

struct cpu_fallback;
struct cpu_fallback *cpu_fallback_prepare(const struct step_request *r);
bool cpu_fallback_is_generated(const struct cpu_fallback *f);   // or the interpreter evaluates it
bool cpu_fallback_run(const struct cpu_fallback *f, const struct execution *e);
