// Names of verdicts.
#include "verifier/testing/judgement.h"

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICT_COUNT] = {
        [VERDICT_AGREES] = "agrees",
        [VERDICT_REFUTED] = "refuted",
        [VERDICT_NOT_COVERED] = "not covered",
    };
    return names[verdict];
}

void judgement_free(struct judgement *result)
{
    counterexample_free(&result->counterexample);
}
