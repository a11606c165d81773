// Evaluation of a definition over a scalar domain: the slow, obvious truth that every kernel and proof is checked
// against.
//
//   f64     IEEE doubles
//   i64     64-bit integers, wrapping; division truncates; functions without an integer meaning go through doubles
//   field   integers modulo 2^61 - 1 (field.h); functions outside of + - * / are functions keyed by `key` that mimic
//   only
//           what every rule may rely on: RELU is monotone and idempotent, MAX and MIN are those of the representatives,
//           every other one maps equal arguments to equal, otherwise unrelated, values
//
// The arrays are dense and row-major. `inputs` has d->n_inputs arrays, `outputs` d->n_outputs; stages that are no
// output live in `scratch` for the time of the call.
#ifndef OPERATORS_EVALUATE_H
#define OPERATORS_EVALUATE_H
#include <stdint.h>

struct arena;
struct definition;

void evaluate_f64(const struct definition *d, const double *const *inputs, double *const *outputs,
                  struct arena *scratch);
void evaluate_i64(const struct definition *d, const int64_t *const *inputs, int64_t *const *outputs,
                  struct arena *scratch);
void evaluate_field(const struct definition *d, uint64_t key, const uint64_t *const *inputs, uint64_t *const *outputs,
                    struct arena *scratch);
#endif
