// Rules by root; of each root sets of rules by the heads of its arguments.
#include "generator/reduce/rewrite_rules.h"

#include "generator/enumerate/term.h"
#include <string.h>

void rewrite_rules_init(struct rewrite_rules *r, const struct family *family)
{
    memset(r, 0, sizeof *r);
    r->family = family;
    r->n_heads = 1 + MAX_LEAVES + family->n_instances * MAX_NODE_OUTPUTS;
}

static void free_root(struct rewrite_root *root, int n_heads)
{
    for (int usable = 0; usable < USABLE_COUNT; usable++)
        mem_free_array(root->usable[usable], root->set_words);
    for (int argument = 0; argument < 2; argument++)
        mem_free_array(root->heads[argument], (size_t)n_heads * root->set_words);
    vec_free(&root->rules);
}

void rewrite_rules_free(struct rewrite_rules *r)
{
    vec_free(&r->rules);
    for (int i = 0; i <= MAX_INSTANCES; i++)
        for (int j = 0; j < MAX_NODE_OUTPUTS; j++)
            free_root(&r->roots[i][j], r->n_heads);
}

static uint32_t variables_of(const struct key *key)
{
    uint32_t variables = 0;
    for (int at = 0; at < key->length; at++) {
        if (key->bytes[at] >= KEY_NODE)
            at++;
        else if (key->bytes[at] < RULE_GRAPH_CONSTANT)
            variables |= 1u << key->bytes[at];
    }
    return variables;
}

// Makes every one of `n` sets longer.
static void lengthen_sets(uint64_t **sets, size_t n, size_t old_words, size_t new_words)
{
    uint64_t *longer = mem_alloc_zero(n * new_words * sizeof *longer);
    for (size_t i = 0; old_words && i < n; i++)
        memcpy(longer + i * new_words, *sets + i * old_words, old_words * sizeof *longer);
    mem_free_array(*sets, n * old_words);
    *sets = longer;
}

static void make_room_for_rule(struct rewrite_root *root, int n_heads)
{
    size_t old = root->set_words, new = old ? 2 * old : 1;
    if (root->rules.count < 64 * old)
        return;
    for (int usable = 0; usable < USABLE_COUNT; usable++)
        lengthen_sets(&root->usable[usable], 1, old, new);
    for (int argument = 0; argument < 2; argument++)
        lengthen_sets(&root->heads[argument], (size_t)n_heads, old, new);
    root->set_words = new;
}

// A variable at the beginning of an argument matches every head.
static void add_to_heads(struct rewrite_root *root, int argument, int head, int n_heads, uint32_t place)
{
    int first = head == REWRITE_ANY_HEAD ? 0 : head, end = head == REWRITE_ANY_HEAD ? n_heads : head + 1;
    for (int i = first; i < end; i++)
        root->heads[argument][(size_t)i * root->set_words + place / 64] |= UINT64_C(1) << place % 64;
}

static struct rewrite_root *root_of(struct rewrite_rules *r, const struct rewrite_rule *rule)
{
    return &r->roots[rule->source.bytes[1]][rule->source.bytes[0] - KEY_NODE];
}

static bool is_usable(const struct rewrite_rule *rule, enum usable usable)
{
    return (usable == USABLE_ALL || !rule->is_conditional) && (usable != USABLE_REVERSIBLE || rule->is_reversible);
}

static void use_rule(struct rewrite_rules *r, const struct rewrite_rule *rule, bool is_used)
{
    struct rewrite_root *root = root_of(r, rule);
    for (int usable = 0; usable < USABLE_COUNT; usable++) {
        uint64_t *word = &root->usable[usable][rule->place / 64], bit = UINT64_C(1) << rule->place % 64;
        *word = is_used && is_usable(rule, (enum usable)usable) ? *word | bit : *word & ~bit;
    }
}

int rewrite_find_swappable(const struct family *f, const struct key *pattern, struct swappable *ret_swappable)
{
    uint8_t lengths[KEY_LENGTH];
    int n = 0;
    term_measure_lengths(f, pattern->bytes, 0, lengths);
    for (int at = 0; at < pattern->length; at++) {
        if (pattern->bytes[at] < KEY_NODE || !f->instances[pattern->bytes[++at]].is_commutative)
            continue;
        int first = at + 1, second = first + lengths[first];
        ret_swappable[n++] = (struct swappable){(uint8_t)first, (uint8_t)second, (uint8_t)(second + lengths[second])};
    }
    return n;
}

static void add_to_root(struct rewrite_rules *r, struct rewrite_root *root, const struct rewrite_rule *rule)
{
    const struct key *source = &rule->source;
    bool is_binary = r->family->instances[source->bytes[1]].n_inputs == 2;
    uint8_t lengths[KEY_LENGTH];
    term_measure_lengths(r->family, source->bytes, 0, lengths);
    make_room_for_rule(root, r->n_heads);
    add_to_heads(root, 0, rewrite_head_at(source->bytes + 2, RULE_GRAPH_CONSTANT), r->n_heads, rule->place);
    add_to_heads(root, 1,
                 is_binary ? rewrite_head_at(source->bytes + 2 + lengths[2], RULE_GRAPH_CONSTANT) : REWRITE_ANY_HEAD,
                 r->n_heads, rule->place);
    vec_push(&root->rules, (uint32_t)r->rules.count);
}

static void add_direction(struct rewrite_rules *r, const struct rewrite_rule *rule)
{
    struct rewrite_rule added = *rule;
    struct rewrite_root *root = root_of(r, rule);
    added.n_swappable = rewrite_find_swappable(r->family, &rule->target, added.swappable);
    added.place = (uint32_t)root->rules.count;
    add_to_root(r, root, &added);
    use_rule(r, &added, true);
    vec_push(&r->rules, added);
}

void rewrite_rules_add(struct rewrite_rules *r, const struct key *source, const struct key *target, uint32_t owner,
                       bool is_conditional)
{
    bool is_reversible = target->bytes[0] >= KEY_NODE && !(variables_of(source) & ~variables_of(target));
    add_direction(r, &(struct rewrite_rule){.source = *source,
                                            .target = *target,
                                            .owner = owner,
                                            .is_reversible = is_reversible,
                                            .is_conditional = is_conditional});
    if (is_reversible)
        add_direction(r, &(struct rewrite_rule){.source = *target,
                                                .target = *source,
                                                .owner = owner,
                                                .is_reversible = true,
                                                .is_conditional = is_conditional});
}

void rewrite_rules_use(struct rewrite_rules *r, uint32_t owner, bool is_used)
{
    const struct rewrite_rule *rules = r->rules.items;
    size_t first = 0, end = r->rules.count;
    while (first < end) {
        size_t middle = (first + end) / 2;
        if (rules[middle].owner < owner)
            first = middle + 1;
        else
            end = middle;
    }
    for (; first < r->rules.count && rules[first].owner == owner; first++)
        use_rule(r, &rules[first], is_used);
}
