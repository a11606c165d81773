// Unused passes have empty configurations.
#include "tuning/joint/joint_candidate.h"

#include "core/memory/hash.h"

void joint_candidate_free(struct joint_candidate *c)
{
    for (size_t i = 0; i < MOST_PASSES; i++)
        configuration_free(&c->of[i]);
}

void joint_candidate_copy(struct joint_candidate *to, const struct joint_candidate *from)
{
    for (size_t i = 0; i < MOST_PASSES; i++)
        configuration_copy(&to->of[i], &from->of[i]);
    to->cost = from->cost;
}

bool joint_candidate_equal(const struct joint_candidate *a, const struct joint_candidate *b)
{
    return ALL(size_t, i, MOST_PASSES, configuration_equal(&a->of[i], &b->of[i]));
}

uint64_t joint_candidate_hash(const struct joint_candidate *c, size_t last_pass)
{
    uint64_t hash = last_pass;
    for (size_t pass = 0; pass <= last_pass; pass++)
        for (size_t i = 0; i < c->of[pass].settings.count; i++) {
            const struct setting *s = &c->of[pass].settings.items[i];
            hash = hash_mix(hash, hash_mix(s->node.fingerprint ^ pass, s->value));
        }
    return hash;
}
