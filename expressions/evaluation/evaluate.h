// Evaluation of a definition over a scalar domain: the slow, obvious truth that every kernel and proof is checked
// against.
//
//   f64     IEEE doubles
//   i64     64-bit integers, wrapping; division truncates; functions without an integer meaning go through doubles
//   field   integers modulo 2^61 - 1 (field.h); functions outside of + - * / are stand-ins keyed by `key`, with the
//           laws that evaluate_field.c lists
//
// The arrays are dense and row-major. `inputs` has d->n_inputs arrays, `outputs` d->n_outputs; stages that are no
// output live in `scratch` for the time of the call.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct definition;
struct evaluation_plan;

void evaluate_f64(const struct definition *d, const double *const *inputs, double *const *outputs,
                  struct arena *scratch);
void evaluate_i64(const struct definition *d, const int64_t *const *inputs, int64_t *const *outputs,
                  struct arena *scratch);
void evaluate_field(const struct definition *d, uint64_t key, const uint64_t *const *inputs, uint64_t *const *outputs,
                    struct arena *scratch);

// The same for whoever works long and may be told to end: false once interrupt_is_overdue, and outputs mean nothing.
bool evaluate_f64_or_stop(const struct definition *d, const double *const *inputs, double *const *outputs,
                          struct arena *scratch);
bool evaluate_i64_or_stop(const struct definition *d, const int64_t *const *inputs, int64_t *const *outputs,
                          struct arena *scratch);

// A plan is made once of a definition that is evaluated many times: what does not depend on values is then done once
// (for small tensors that is half of the work). It is made in `arena`, keeps a pointer to `d`, and may be used by
// several threads at a time. It depends on shapes, not on split trees.
const struct evaluation_plan *evaluation_plan_make(const struct definition *d, struct arena *arena);
void evaluate_plan_f64(const struct evaluation_plan *plan, const double *const *inputs, double *const *outputs,
                       struct arena *scratch);
void evaluate_plan_field(const struct evaluation_plan *plan, uint64_t key, const uint64_t *const *inputs,
                         uint64_t *const *outputs, struct arena *scratch);
