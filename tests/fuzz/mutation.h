// The common part of mutators of our own: libFuzzer's interface to them, and numbers drawn from the seed that it gives.
#pragma once
#include <stddef.h>
#include <stdint.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t size, const uint8_t *other, size_t other_size, uint8_t *out,
                                 size_t max_size, unsigned seed);

// Below `n`; 0 where n is 0.
static inline unsigned mutation_draw(unsigned *state, size_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return n ? (*state >> 8) % (unsigned)n : 0;
}
