// Settings are sorted, so that two configurations are compared, and one is looked through, from front to back.
#include "tuning/joint/configuration.h"

#include "core/memory/hash.h"

void configuration_free(struct configuration *c)
{
    vec_free(&c->settings);
}

void configuration_copy(struct configuration *to, const struct configuration *from)
{
    vec_clear(&to->settings);
    vec_reserve(&to->settings, from->settings.count);
    for (size_t i = 0; i < from->settings.count; i++)
        vec_push(&to->settings, from->settings.items[i]);
}

bool configuration_equal(const struct configuration *a, const struct configuration *b)
{
    return a->settings.count == b->settings.count &&
           ALL(size_t, i, a->settings.count,
               a->settings.items[i].node.fingerprint == b->settings.items[i].node.fingerprint &&
                   a->settings.items[i].value == b->settings.items[i].value);
}

const struct setting *configuration_find(const struct configuration *c, uint64_t fingerprint)
{
    size_t low = 0, high = c->settings.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->settings.items[middle].node.fingerprint < fingerprint)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_found = low < c->settings.count && c->settings.items[low].node.fingerprint == fingerprint;
    return is_found ? &c->settings.items[low] : NULL;
}

// --- fitting ---------------------------------------------------------------------------------------------------------

COMPARISON(compare_nodes, struct pass_node, ORDER(x->fingerprint, y->fingerprint) ?: ORDER(x->n_values, y->n_values))

static uint32_t infer_value(const struct configuration *c, const struct pass_node *node, recall_value_fn *recall,
                            void *context, size_t pass)
{
    const struct setting *same = configuration_find(c, node->fingerprint);
    uint32_t value = node->standard;
    if (same)
        return same->value < node->n_values ? same->value : node->standard;
    return recall && recall(context, pass, node, &value) && value < node->n_values ? value : node->standard;
}

void configuration_fit(struct configuration *c, pass_nodes *nodes, recall_value_fn *recall, void *context, size_t pass)
{
    struct configuration fitted = {0};
    vec_sort(nodes, compare_nodes);
    for (size_t i = 0; i < nodes->count; i++) {
        const struct pass_node *node = &nodes->items[i];
        if (i && node[-1].fingerprint == node->fingerprint) {
            vec_last(&fitted.settings).node.weight += node->weight;
            continue;
        }
        vec_push(&fitted.settings, ((struct setting){*node, infer_value(c, node, recall, context, pass)}));
    }
    configuration_free(c);
    *c = fitted;
}

// --- changing --------------------------------------------------------------------------------------------------------

static void change(struct setting *s, struct random *random)
{
    uint32_t other = (uint32_t)random_below(random, s->node.n_values - 1);
    s->value = other + (other >= s->value);
}

static bool is_changeable(const struct setting *s)
{
    return s->node.n_values > 1;
}

static size_t count_changeable(const struct configuration *c)
{
    return COUNT(size_t, i, c->settings.count, is_changeable(&c->settings.items[i]));
}

bool configuration_can_change(const struct configuration *c)
{
    return count_changeable(c) > 0;
}

static double mean_weight(const struct configuration *c)
{
    double sum = SUM_ALL(double, size_t, i, c->settings.count,
                         is_changeable(&c->settings.items[i]) ? c->settings.items[i].node.weight : 0);
    return sum > 0 ? sum / (double)count_changeable(c) : 1;
}

static double chance_of(const struct setting *s, double mean)
{
    return is_changeable(s) ? mean + s->node.weight : 0;
}

static double sum_of_chances(const struct configuration *c, double mean)
{
    return SUM_ALL(double, size_t, i, c->settings.count, chance_of(&c->settings.items[i], mean));
}

// Drawn by half alike, by half by weight. SIZE_MAX: there is none.
static size_t draw_by_weight(const struct configuration *c, struct random *random)
{
    double mean = mean_weight(c), left = sum_of_chances(c, mean) * random_unit(random);
    size_t drawn = SIZE_MAX;
    for (size_t i = 0; left >= 0 && i < c->settings.count; i++) {
        const struct setting *s = &c->settings.items[i];
        drawn = is_changeable(s) ? i : drawn;
        left -= chance_of(s, mean);
    }
    return drawn;
}

void configuration_mutate(struct configuration *c, double probability, struct random *random)
{
    size_t surely = draw_by_weight(c, random);
    for (size_t i = 0; i < c->settings.count; i++) {
        bool is_chosen = is_changeable(&c->settings.items[i]) && random_unit(random) < probability;
        if (is_chosen || i == surely)
            change(&c->settings.items[i], random);
    }
}

void configuration_cross(struct configuration *c, const struct configuration *other, double probability,
                         struct random *random)
{
    vec_each(&c->settings, s) {
        const struct setting *of_other = configuration_find(other, s->node.fingerprint);
        if (of_other && of_other->value < s->node.n_values && random_unit(random) < probability)
            s->value = of_other->value;
    }
}

// --- of all passes ---------------------------------------------------------------------------------------------------

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
