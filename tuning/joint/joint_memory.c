// A place for each hash, whose last owner is remembered: nodes by the passes before theirs, costs by all.
#include "tuning/joint/joint_memory.h"

#define PLACES 512

struct remembered {
    size_t n_passes;   // of which the configuration is; 0: nothing is remembered
    struct joint_candidate candidate;
    pass_nodes nodes;
};
struct joint_memory {
    struct remembered places[PLACES];
};

struct joint_memory *joint_memory_new(void)
{
    return mem_alloc_zero(sizeof(struct joint_memory));
}

void joint_memory_free(struct joint_memory *m)
{
    for (size_t i = 0; i < PLACES; i++) {
        joint_candidate_free(&m->places[i].candidate);
        vec_free(&m->places[i].nodes);
    }
    mem_free(m, sizeof *m);
}

static struct remembered *place_of(struct joint_memory *m, const struct joint_candidate *c, size_t n_passes)
{
    return &m->places[joint_candidate_hash(c, n_passes - 1) % PLACES];
}

static bool is_of(const struct remembered *r, const struct joint_candidate *c, size_t n_passes)
{
    bool is_equal = r->n_passes == n_passes;
    for (size_t pass = 0; is_equal && pass < n_passes; pass++)
        is_equal = configuration_equal(&r->candidate.of[pass], &c->of[pass]);
    return is_equal;
}

static struct remembered *remember(struct joint_memory *m, const struct joint_candidate *c, size_t n_passes)
{
    struct remembered *r = place_of(m, c, n_passes);
    joint_candidate_copy(&r->candidate, c);
    r->n_passes = n_passes;
    return r;
}

// The first pass has the same nodes whatever follows, so nothing is spared there.
bool joint_memory_find_nodes(struct joint_memory *m, const struct joint_candidate *c, size_t pass,
                             pass_nodes *ret_nodes)
{
    const struct remembered *r = pass ? place_of(m, c, pass) : NULL;
    bool is_known = r && is_of(r, c, pass);
    for (size_t i = 0; is_known && i < r->nodes.count; i++)
        vec_push(ret_nodes, r->nodes.items[i]);
    return is_known;
}

void joint_memory_keep_nodes(struct joint_memory *m, const struct joint_candidate *c, size_t pass,
                             const pass_nodes *nodes)
{
    struct remembered *r = pass ? remember(m, c, pass) : NULL;
    if (!r)
        return;
    vec_clear(&r->nodes);
    for (size_t i = 0; i < nodes->count; i++)
        vec_push(&r->nodes, nodes->items[i]);
}

bool joint_memory_find_cost(struct joint_memory *m, const struct joint_candidate *c, double *ret_cost)
{
    const struct remembered *r = place_of(m, c, MOST_PASSES);
    bool is_known = is_of(r, c, MOST_PASSES);
    if (is_known)
        *ret_cost = r->candidate.cost;
    return is_known;
}

void joint_memory_keep_cost(struct joint_memory *m, const struct joint_candidate *c)
{
    remember(m, c, MOST_PASSES);
}

void joint_memory_forget_costs(struct joint_memory *m)
{
    for (size_t i = 0; i < PLACES; i++)
        if (m->places[i].n_passes == MOST_PASSES)
            m->places[i].n_passes = 0;
}
