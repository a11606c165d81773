// Classes concerned, their groups, and targets by pairs of operators.
#include "generator/reduce/two_outputs.h"

#include "generator/enumerate/term.h"
#include <string.h>

const uint8_t two_outputs_same_order[MAX_LEAVES] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

// --- halves ----------------------------------------------------------------------------------------------------------

static bool is_node_of(const struct half *h, const uint8_t *bytes, int length, uint64_t hash)
{
    return ANY(int, i, h->n_nodes,
               h->node_hashes[i] == hash && h->lengths[i] == length &&
                   memcmp(h->key.bytes + h->starts[i] + 1, bytes + 1, (size_t)length - 1) == 0);
}

static void add_node(struct half *h, int at, int length, uint64_t hash)
{
    if (h->n_nodes == MAX_OPS || is_node_of(h, h->key.bytes + at, length, hash))
        return;
    h->starts[h->n_nodes] = (uint8_t)at;
    h->lengths[h->n_nodes] = (uint8_t)length;
    h->node_hashes[h->n_nodes++] = hash;
    h->node_bits |= term_bit(hash);
}

// Gives the length of the term that starts at `at`.
static int read_term(const struct family *f, struct half *h, int at, uint64_t *ret_hash)
{
    const uint8_t *bytes = h->key.bytes + at;
    if (bytes[0] < KEY_NODE) {
        h->leaves |= bytes[0] < f->n_inputs ? 1u << bytes[0] : 0;
        *ret_hash = term_hash_of_leaf(bytes[0]);
        return 1;
    }
    uint64_t of[2] = {0};
    int length = 2, n = f->instances[bytes[1]].n_inputs;
    for (int i = 0; i < n; i++)
        length += read_term(f, h, at + length, &of[i]);
    uint64_t node = term_hash_of_node(f, bytes[1], of[0], of[1]);
    add_node(h, at, length, node);
    *ret_hash = term_hash_of_output(node, bytes[0] - KEY_NODE);
    return length;
}

static void read_half(const struct family *f, struct half *h)
{
    uint64_t hash;
    h->leaves = 0;
    h->n_nodes = 0;
    h->node_bits = 0;
    read_term(f, h, 0, &hash);
}

void two_outputs_make_half(const struct two_outputs_terms *j, uint32_t term, const uint8_t *order,
                           struct half *ret_half)
{
    ret_half->key = j->members[j->terms.items[term].member].key;
    key_rename(j->family, &ret_half->key, order);
    read_half(j->family, ret_half);
}

int two_outputs_count_nodes(const struct half *a, const struct half *b, int limit)
{
    int n = a->n_nodes;
    for (int i = 0; i < b->n_nodes && n <= limit; i++)
        n += !is_node_of(a, b->key.bytes + b->starts[i], b->lengths[i], b->node_hashes[i]);
    return n <= limit ? n : limit + 1;
}

static bool contains_term(const struct key *whole, const struct key *part)
{
    for (int i = 0; i + part->length <= whole->length; i += whole->bytes[i] >= KEY_NODE ? 2 : 1)
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

bool two_outputs_go_together(const struct half *a, const struct half *b, int max_ops)
{
    return !have_more_bits(a->node_bits | b->node_bits, max_ops) && two_outputs_count_nodes(a, b, max_ops) <= max_ops &&
           !contains_term(&a->key, &b->key) && !contains_term(&b->key, &a->key);
}

// --- the classes concerned -------------------------------------------------------------------------------------------

// A member in the order in which terms are kept: sources first, groups together, as they were found within these.
struct sorted_member {
    uint32_t member, leaves, part;
    bool is_target;
};

COMPARISON(compare_groups, struct sorted_member,
           ORDER(x->is_target, y->is_target) ?: ORDER(x->leaves, y->leaves) ?: ORDER(x->part, y->part))
COMPARISON(compare_members, struct sorted_member, compare_groups(x, y) ?: ORDER(x->member, y->member))

typedef VEC(struct sorted_member) sorted_members;

static void add_terms(struct two_outputs_terms *j, const sorted_members *sorted, struct known_class *c)
{
    c->first_source = (uint32_t)j->terms.count;
    for (size_t i = 0; i < sorted->count; i++) {
        bool starts_group = i == 0 || compare_groups(&sorted->items[i - 1], &sorted->items[i]) != 0;
        uint32_t at = (uint32_t)j->terms.count, group = starts_group ? at : j->terms.items[at - 1].group;
        if (sorted->items[i].is_target && (i == 0 || !sorted->items[i - 1].is_target))
            c->first_target = at;
        vec_push(&j->terms, ((struct known_term){sorted->items[i].member, sorted->items[i].leaves, group}));
    }
    c->end = (uint32_t)j->terms.count;
    vec_push(&j->classes, *c);
}

// Members [first, end) are one class. Left out are those of a leaf, and constants, as x - x is: it needs no input.
static void take_class(struct two_outputs_terms *j, struct reduction *r, uint32_t first, uint32_t end,
                       sorted_members *sorted)
{
    struct known_class c = {.needed = UINT32_MAX};
    uint32_t some = 0;
    size_t n_targets = 0;
    vec_clear(sorted);
    for (uint32_t i = first; i < end && j->members[first].level > 0; i++) {
        uint32_t leaves = key_inputs(j->family, &j->members[i].key);
        vec_push(sorted, ((struct sorted_member){i, leaves, parts_find(&r->firm_parts, i), false}));
        c.needed &= leaves;
        some |= leaves;
    }
    if (sorted->count == 0 || c.needed == 0 || some == c.needed)
        return;
    for (size_t i = 0; i < sorted->count; i++)
        n_targets += sorted->items[i].is_target = sorted->items[i].leaves != c.needed;
    vec_sort(sorted, compare_members);
    if (n_targets < sorted->count)
        add_terms(j, sorted, &c);
}

// --- targets, by pairs of operators ----------------------------------------------------------------------------------

static void index_pair(struct two_outputs_terms *j, uint64_t a, uint64_t b, uint32_t target)
{
    uint64_t pair[2] = {a < b ? a : b, a < b ? b : a};
    uint32_t number = key_set_add(&j->pairs, &j->keys, pair, sizeof pair);
    if (number == j->with_pair.count)
        vec_push(&j->with_pair, ((target_list){0}));
    vec_push(&j->with_pair.items[number], target);
}

// The smaller one of two targets is found: with b operators it shares none with the other only where 2 b <= max_ops,
// and one only where 2 b <= max_ops + 1.
static void index_target(struct two_outputs_terms *j, uint32_t target)
{
    const struct half *h = &j->targets.items[target].half;
    for (int i = 0; i < h->n_nodes; i++)
        for (int k = i + 1; k < h->n_nodes; k++)
            index_pair(j, h->node_hashes[i], h->node_hashes[k], target);
    for (int i = 0; i < h->n_nodes && 2 * h->n_nodes <= j->max_ops + 1; i++)
        index_pair(j, h->node_hashes[i], h->node_hashes[i], target);
    if (2 * h->n_nodes <= j->max_ops)
        index_pair(j, 0, 0, target);
}

struct renaming_target {
    struct two_outputs_terms *j;
    uint32_t class, term;
};

static bool add_target(void *context, const uint8_t *order)
{
    struct renaming_target *r = context;
    struct two_outputs_terms *j = r->j;
    struct renamed_target added = {.class = r->class, .term = r->term};
    two_outputs_make_half(j, r->term, order, &added.half);
    memcpy(added.order, order, sizeof added.order);
    uint32_t number = key_set_add(&j->known_targets, &j->keys, added.half.key.bytes, added.half.key.length);
    if (number == j->targets.count) {
        vec_push(&j->targets, added);
        index_target(j, number);
    }
    return true;
}

static void visit_pair(const struct two_outputs_terms *j, uint64_t a, uint64_t b, partner_fn *visit, void *context)
{
    uint64_t pair[2] = {a < b ? a : b, a < b ? b : a};
    uint32_t found = key_set_find(&j->pairs, pair, sizeof pair);
    for (size_t i = 0; found != KEY_NONE && i < j->with_pair.items[found].count; i++)
        visit(context, &j->targets.items[j->with_pair.items[found].items[i]]);
}

void two_outputs_visit_partners(const struct two_outputs_terms *j, const struct half *target, partner_fn *visit,
                                void *context)
{
    for (int i = 0; i < target->n_nodes; i++)
        for (int k = i; k < target->n_nodes; k++)
            visit_pair(j, target->node_hashes[i], target->node_hashes[k], visit, context);
    if (2 * target->n_nodes <= j->max_ops)
        visit_pair(j, 0, 0, visit, context);
}

// --- all of it -------------------------------------------------------------------------------------------------------

static void take_classes(struct two_outputs_terms *j, struct reduction *r)
{
    LOCAL_LIST(sorted_members, sorted);
    for (uint32_t class = 0; class < r->findings->n_classes; class ++)
        take_class(j, r, r->first_member.items[class], r->first_member.items[class + 1], &sorted);
}

void two_outputs_terms_init(struct two_outputs_terms *j, struct reduction *r, int max_ops)
{
    *j = (struct two_outputs_terms){
        .family = r->family_types->family, .members = r->findings->members.items, .max_ops = max_ops};
    take_classes(j, r);
    for (uint32_t class = 0; class < j->classes.count; class ++)
        for (uint32_t t = j->classes.items[class].first_target; t < j->classes.items[class].end; t++)
            renamings_visit(j->family, j->terms.items[t].leaves, add_target, &(struct renaming_target){j, class, t});
}

void two_outputs_terms_free(struct two_outputs_terms *j)
{
    for (size_t i = 0; i < j->with_pair.count; i++)
        vec_free(&j->with_pair.items[i]);
    vecs_free(j, classes, terms, targets, with_pair);
    key_set_free(&j->known_targets);
    key_set_free(&j->pairs);
    arena_free(&j->keys);
}
