// Product, softmax and product of a chain of steps as one kernel (generated/chains/attention.h).
#pragma once
#include "backends/cpu/kernel.h"

struct cpu_attention;

// May they be neighbours in such a chain?
bool cpu_is_part_of_attention(const struct plan *plan, const struct step *first, const struct step *second);
bool cpu_is_attention(const struct step *joined);
void cpu_attention_print(const struct step_request *r, struct text *kernel);   // nothing, if it is not of this form
// NULL: not of this form, or nothing can be generated.
struct cpu_attention *cpu_attention_prepare(const struct step_request *r);
size_t cpu_attention_scratch_bytes(const struct cpu_attention *a);
void cpu_attention_run(const struct cpu_attention *a, const struct execution *e);
