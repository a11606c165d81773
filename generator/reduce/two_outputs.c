// Targets, groups of sources, and renamings of targets, each with an index.
#include "generator/reduce/two_outputs.h"

#include <string.h>

// --- terms and the nodes that they need ------------------------------------------------------------------------------

static bool is_node(const void *owner, uint32_t id, const void *key)
{
    const struct two_outputs_terms *j = owner;
    return key_compare(&j->nodes.items[id], key) == 0;
}

static uint32_t number_of_node(struct two_outputs_terms *j, const uint8_t *bytes, int length)
{
    struct key key = {.length = (uint8_t)length};
    memcpy(key.bytes, bytes, (size_t)length);
    key.bytes[0] = 0;
    uint32_t found = table_find(&j->by_node, key_hash(&key), is_node, j, &key);
    if (found != TABLE_NONE)
        return found;
    table_insert(&j->by_node, key_hash(&key), (uint32_t)j->nodes.count);
    vec_push(&j->nodes, key);
    return (uint32_t)j->nodes.count - 1;
}

static void add_node_number(struct two_outputs *t, uint32_t number)
{
    int at = 0;
    while (at < t->n_nodes && t->nodes[at] < number)
        at++;
    if (at < t->n_nodes && t->nodes[at] == number)
        return;
    if (t->n_nodes == MAX_OPS)
        return;
    memmove(&t->nodes[at + 1], &t->nodes[at], sizeof *t->nodes * (size_t)(t->n_nodes - at));
    t->nodes[at] = number;
    t->node_bits |= UINT64_C(1) << number % 64;
    t->n_nodes++;
}

// Gives the length of the term that starts at `at`.
static int read_term(struct two_outputs_terms *j, struct two_outputs *t, int at)
{
    if (t->key.bytes[at] < KEY_NODE) {
        if (t->key.bytes[at] < j->family->n_inputs)
            t->leaves |= 1u << t->key.bytes[at];
        return 1;
    }
    int length = 2, n = j->family->instances[t->key.bytes[at + 1]].n_inputs;
    for (int i = 0; i < n; i++)
        length += read_term(j, t, at + length);
    add_node_number(t, number_of_node(j, t->key.bytes + at, length));
    return length;
}

static void make_joined(struct two_outputs_terms *j, const struct key *key, uint32_t class, const uint8_t *order,
                        struct two_outputs *ret_term)
{
    *ret_term = (struct two_outputs){.key = *key, .class = class};
    key_rename(j->family, &ret_term->key, order);
    read_term(j, ret_term, 0);
}

int two_outputs_count_nodes(const struct two_outputs *a, const struct two_outputs *b, int limit)
{
    int n = 0;
    for (int i = 0, k = 0; (i < a->n_nodes || k < b->n_nodes) && n <= limit; n++) {
        uint32_t x = i < a->n_nodes ? a->nodes[i] : UINT32_MAX, y = k < b->n_nodes ? b->nodes[k] : UINT32_MAX;
        i += x <= y;
        k += y <= x;
    }
    return n;
}

static bool contains_term(const struct key *whole, const struct key *part)
{
    for (int i = 0; i + part->length <= whole->length; i++)
        if (memcmp(whole->bytes + i, part->bytes, part->length) == 0)
            return true;
    return false;
}

// Different bits are different nodes.
static bool have_more_bits(uint64_t bits, int limit)
{
    for (int i = 0; i < limit; i++)
        bits &= bits - 1;
    return bits != 0;
}

bool two_outputs_go_together(const struct two_outputs *a, const struct two_outputs *b, int max_ops)
{
    return !have_more_bits(a->node_bits | b->node_bits, max_ops) && two_outputs_count_nodes(a, b, max_ops) <= max_ops &&
           !contains_term(&a->key, &b->key) && !contains_term(&b->key, &a->key);
}

// --- the classes concerned -------------------------------------------------------------------------------------------

static bool needs_more(const struct two_outputs *target, const struct two_outputs *source)
{
    return (target->leaves & ~source->leaves) != 0;
}

static void mark_targets(struct two_outputs_terms *j, size_t first)
{
    for (size_t t = first; t < j->terms.count; t++)
        for (size_t s = first; s < j->terms.count; s++)
            if (needs_more(&j->terms.items[t], &j->terms.items[s]))
                j->terms.items[t].is_target = true;
}

// Term t follows the last one of its group, or starts one after `last_group`.
static void add_to_group(struct two_outputs_terms *j, uint32_t first_member, size_t first, size_t t, size_t *last_group)
{
    struct parts *parts = &j->r->firm_parts;
    struct two_outputs *terms = j->terms.items;
    uint32_t part = parts_find(parts, first_member + (uint32_t)(t - first));
    size_t g = first;
    while (g < t &&
           (terms[g].leaves != terms[t].leaves || parts_find(parts, first_member + (uint32_t)(g - first)) != part))
        g = terms[g].next_group ? g + terms[g].next_group : t;
    terms[t].group = (uint32_t)g;
    if (g == t) {
        terms[*last_group].next_group = (uint32_t)(t - *last_group);
        *last_group = t;
        return;
    }
    while (terms[g].next_in_group)
        g += terms[g].next_in_group;
    terms[g].next_in_group = (uint32_t)(t - g);
}

static void find_groups(struct two_outputs_terms *j, uint32_t first_member, size_t first)
{
    size_t last_group = first;
    for (size_t t = first; t < j->terms.count; t++)
        add_to_group(j, first_member, first, t, &last_group);
}

static void take_class(struct two_outputs_terms *j, uint32_t class)
{
    static const uint8_t same_order[MAX_LEAVES] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    const struct reduction *r = j->r;
    size_t first = j->terms.count;
    uint32_t all = UINT32_MAX, some = 0;
    const struct found_member *members = r->findings->members.items;
    if (members[r->first_member.items[class]].level == 0)
        return;
    for (uint32_t i = r->first_member.items[class]; i < r->first_member.items[class + 1]; i++) {
        struct two_outputs t;
        make_joined(j, &members[i].key, (uint32_t)j->first_term.count, same_order, &t);
        vec_push(&j->terms, t);
        all &= t.leaves;
        some |= t.leaves;
    }
    bool is_constant = all == 0;   // as x - x is: needs no input at all
    if (some & ~all && !is_constant) {
        mark_targets(j, first);
        find_groups(j, r->first_member.items[class], first);
        vec_push(&j->first_term, (uint32_t)first);
    } else {
        j->terms.count = first;
    }
}

uint32_t two_outputs_end_of_class(const struct two_outputs_terms *j, uint32_t class)
{
    return class + 1 < j->first_term.count ? j->first_term.items[class + 1] : (uint32_t)j->terms.count;
}

static bool is_target_key(const void *owner, uint32_t id, const void *key)
{
    const struct two_outputs_terms *j = owner;
    return key_compare(&j->targets.items[id].key, key) == 0;
}

static bool is_node_pair(const void *owner, uint32_t id, const void *key)
{
    const struct two_outputs_terms *j = owner;
    const uint32_t *pair = key;
    return j->pairs.items[id].a == pair[0] && j->pairs.items[id].b == pair[1];
}

static void index_pair(struct two_outputs_terms *j, uint32_t a, uint32_t b, uint32_t target)
{
    uint32_t pair[2] = {a, b};
    uint64_t hash = hash_mix(a, b);
    uint32_t found = table_find(&j->by_pair, hash, is_node_pair, j, pair);
    if (found == TABLE_NONE) {
        found = (uint32_t)j->pairs.count;
        table_insert(&j->by_pair, hash, found);
        vec_push(&j->pairs, ((struct node_pair){a, b, {0}}));
    }
    vec_push(&j->pairs.items[found].targets, target);
}

// Targets of three operators or more that stand in one graph share two, of which one finds the other.
static void index_target(struct two_outputs_terms *j, uint32_t target)
{
    const struct two_outputs *t = &j->targets.items[target];
    for (int i = 0; i < t->n_nodes; i++)
        for (int k = i + 1; k < t->n_nodes; k++)
            index_pair(j, t->nodes[i], t->nodes[k], target);
    if (t->n_nodes > MAX_OPS / 2)
        return;
    for (int i = 0; i < t->n_nodes; i++)
        index_pair(j, t->nodes[i], t->nodes[i], target);
    index_pair(j, JOINED_ANY, JOINED_ANY, target);
}

struct renaming_target {
    struct two_outputs_terms *j;
    const struct two_outputs *target;
    uint32_t used;   // by its class
};

// Targets are told apart by the term and, if other terms of its class need more inputs, by the renaming.
static uint64_t hash_of_target(const struct renaming_target *r, const struct two_outputs *renamed, const uint8_t *order)
{
    bool is_decided = (r->used & ~r->target->leaves) == 0;
    return is_decided ? key_hash(&renamed->key) : hash_mix(key_hash(&renamed->key), hash_bytes(order, MAX_LEAVES, 1));
}

static bool is_renamed_class(const void *owner, uint32_t id, const void *key)
{
    const struct two_outputs_terms *j = owner;
    const struct renamed_class *known = &j->classes.items[id], *asked = key;
    return known->class == asked->class && memcmp(known->order, asked->order, MAX_LEAVES) == 0;
}

static uint32_t number_of_class(struct two_outputs_terms *j, uint32_t class, const uint8_t *order)
{
    struct renamed_class asked = {.class = class};
    memcpy(asked.order, order, MAX_LEAVES);
    uint64_t hash = hash_mix(class, hash_bytes(order, MAX_LEAVES, 0));
    uint32_t found = table_find(&j->by_class, hash, is_renamed_class, j, &asked);
    if (found != TABLE_NONE)
        return found;
    table_insert(&j->by_class, hash, (uint32_t)j->classes.count);
    vec_push(&j->classes, asked);
    return (uint32_t)j->classes.count - 1;
}

static bool is_group(const void *owner, uint32_t id, const void *key)
{
    const struct two_outputs_terms *j = owner;
    const struct two_outputs *first = &j->targets.items[j->groups.items[id]], *asked = key;
    return first->group == asked->group && first->renamed_class == asked->renamed_class;
}

static uint32_t number_of_group(struct two_outputs_terms *j, const struct two_outputs *target)
{
    uint64_t hash = hash_mix(target->group, target->renamed_class);
    uint32_t found = table_find(&j->by_group, hash, is_group, j, target);
    if (found != TABLE_NONE)
        return found;
    table_insert(&j->by_group, hash, (uint32_t)j->groups.count);
    vec_push(&j->groups, (uint32_t)j->targets.count);
    return (uint32_t)j->groups.count - 1;
}

static bool add_renamed_target(void *context, const uint8_t *order)
{
    struct renaming_target *r = context;
    struct two_outputs_terms *j = r->j;
    struct two_outputs renamed;
    make_joined(j, &r->target->key, r->target->class, order, &renamed);
    renamed.group = r->target->group;
    uint64_t hash = hash_of_target(r, &renamed, order);
    if (table_find(&j->by_target, hash, is_target_key, j, &renamed.key) != TABLE_NONE)
        return true;
    table_insert(&j->by_target, hash, (uint32_t)j->targets.count);
    renamed.renamed_class = number_of_class(j, renamed.class, order);
    renamed.renamed_group = number_of_group(j, &renamed);
    vec_push(&j->targets, renamed);
    index_target(j, (uint32_t)j->targets.count - 1);
    return true;
}

static void add_renamed_targets(struct two_outputs_terms *j, uint32_t class)
{
    struct renaming_target r = {.j = j};
    for (uint32_t i = j->first_term.items[class]; i < two_outputs_end_of_class(j, class); i++)
        r.used |= j->terms.items[i].leaves;
    for (uint32_t i = j->first_term.items[class]; i < two_outputs_end_of_class(j, class); i++) {
        r.target = &j->terms.items[i];
        if (r.target->is_target)
            renamings_visit(j->family, r.used, add_renamed_target, &r);
    }
}

void two_outputs_rename(struct two_outputs_terms *j, uint32_t term, const uint8_t *order, struct two_outputs *ret_term)
{
    const struct two_outputs *t = &j->terms.items[term];
    make_joined(j, &t->key, t->class, order, ret_term);
    ret_term->group = t->group;
    ret_term->next_in_group = t->next_in_group;
    ret_term->next_group = t->next_group;
}

size_t two_outputs_targets_with(const struct two_outputs_terms *j, uint32_t a, uint32_t b, const uint32_t **ret_targets)
{
    uint32_t pair[2] = {a, b};
    uint32_t found = table_find(&j->by_pair, hash_mix(a, b), is_node_pair, j, pair);
    if (found == TABLE_NONE)
        return 0;
    *ret_targets = j->pairs.items[found].targets.items;
    return j->pairs.items[found].targets.count;
}

void two_outputs_terms_init(struct two_outputs_terms *j, struct reduction *r)
{
    *j = (struct two_outputs_terms){.r = r, .family = r->family_types->family};
    for (uint32_t class = 0; class < r->findings->n_classes; class ++)
        take_class(j, class);
    for (uint32_t class = 0; class < j->first_term.count; class ++)
        add_renamed_targets(j, class);
}

void two_outputs_terms_free(struct two_outputs_terms *j)
{
    for (size_t i = 0; i < j->pairs.count; i++)
        vec_free(&j->pairs.items[i].targets);
    vec_free(&j->terms);
    vec_free(&j->targets);
    vec_free(&j->first_term);
    vec_free(&j->groups);
    vec_free(&j->classes);
    vec_free(&j->nodes);
    vec_free(&j->pairs);
    table_free(&j->by_node);
    table_free(&j->by_target);
    table_free(&j->by_pair);
    table_free(&j->by_group);
    table_free(&j->by_class);
}
