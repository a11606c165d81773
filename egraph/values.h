// Values of small tensors over the prime field, for fingerprints: each e-node whose children have known values, and
// which is small and cheap itself, is evaluated once, when it is added. Leaves have pseudo-random entries.
#pragma once
#include <stdint.h>

struct egraph;
struct evalues;

struct evalues *evalues_new(int64_t most_entries);   // of a tensor
void evalues_free(struct evalues *v);
// To be called once for every new e-node, in order. Its fingerprint; 0: unknown.
uint64_t evalues_add(struct evalues *v, const struct egraph *e, uint32_t node);
