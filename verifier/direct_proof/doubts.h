// Of instances that all agree: is that a proof?
#pragma once
#include "verifier/direct_proof/judge.h"

#define MAX_TRIED_LENGTH 4
// Values of an attribute variable, bit by bit, for lists of each length by entry: those tried, those of them that no
// condition on attributes excludes, and those at which there were instances.
struct tries {
    uint32_t tried[MAX_TRIED_LENGTH + 1][MAX_TRIED_LENGTH], admitted[MAX_TRIED_LENGTH + 1][MAX_TRIED_LENGTH],
        met[MAX_TRIED_LENGTH + 1][MAX_TRIED_LENGTH];
};
struct tried {
    struct tries of[MAX_RULE_VARIABLES];
    bool has_more_pairs;       // of attributes on two axes than are tried
    bool has_all_attributes;   // of windows: every value of the domains was tried
};

void tried_note(struct tried *t, const struct equation *eq, const struct attribute_value *attributes,
                bool has_instances, struct arena *scratch);
// Why it is none, or NULL. `r` is what was found, and gets the form that no theorem covers.
const char *find_doubt(struct judge *j, const struct equation *eq, const struct tried *tried, struct judgement *r);
