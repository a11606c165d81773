// The judgement of an equation by its instances.
#pragma once
#include "verifier/testing/counterexample.h"
#include <stdint.h>

enum verdict {
    VERDICT_AGREES,        // at all instances that were tried
    VERDICT_REFUTED,       // with a counterexample
    VERDICT_NOT_COVERED,   // no instance is among those that are tried
};

struct judgement {
    enum verdict verdict;
    uint64_t instances;
    int largest_rank, largest_size;
    bool was_cut_short;                     // there are more up to this rank and size
    struct counterexample counterexample;   // REFUTED; owned
};
void judgement_free(struct judgement *result);
