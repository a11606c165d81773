// Judgements of rules.
#include "verifier/testing/judgement.h"

void judgement_free(struct judgement *result)
{
    counterexample_free(&result->counterexample);
}
