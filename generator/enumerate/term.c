// Terms measured: where the arguments of a key's applications begin and end, and what follows from that.
#include "generator/enumerate/term.h"

#include "operators/traits.h"

#include <assert.h>
#include <string.h>

// --- measuring -------------------------------------------------------------------------------------------------------

// Lists where the terms begin that stand in the one at `at`; gives their number.
static int find_starts(const struct family *family, const uint8_t *bytes, int at, uint8_t *ret_starts)
{
    int n = 0;
    for (int missing = 1; missing > 0; n++) {
        ret_starts[n] = (uint8_t)at;
        bool is_node = bytes[at] >= KEY_NODE;
        missing += is_node ? family->instances[bytes[at + 1]].n_inputs - 1 : -1;
        at += is_node ? 2 : 1;
    }
    return n;
}

int term_measure_lengths(const struct family *family, const uint8_t *bytes, int at, uint8_t *ret_lengths)
{
    uint8_t starts[KEY_LENGTH];
    for (int i = find_starts(family, bytes, at, starts); i-- > 0;) {
        int start = starts[i], length = 1;
        if (bytes[start] >= KEY_NODE) {
            int n = family->instances[bytes[start + 1]].n_inputs;
            length = 2;
            for (int k = 0; k < n; k++)
                length += ret_lengths[start + length];
        }
        ret_lengths[start] = (uint8_t)length;
    }
    return ret_lengths[at];
}

static bool is_same_node(const uint8_t *a, const uint8_t *b, int length)
{
    return memcmp(a + 1, b + 1, (size_t)length - 1) == 0;
}

// The nodes found so far.
struct numbering {
    struct measured *m;
    int n;
    uint8_t starts[MAX_TERM_NODES];
};

static int number_of_node(struct numbering *found, int at, uint64_t hash)
{
    struct measured *m = found->m;
    const uint8_t *bytes = m->key->bytes, *lengths = m->lengths;
    for (int i = 0; i < found->n; i++)
        if (m->node_hashes[i] == hash && lengths[found->starts[i]] == lengths[at] &&
            is_same_node(bytes + found->starts[i], bytes + at, lengths[at]))
            return i;
    found->starts[found->n] = (uint8_t)at;
    m->node_hashes[found->n] = hash;
    return found->n++;
}

static void measure_leaf(struct measured *m, int at)
{
    m->lengths[at] = 1;
    m->numbers[at] = m->key->bytes[at];
    m->hashes[at] = term_hash_of_leaf(m->key->bytes[at]);
    m->nodes[at] = 0;
    m->bits[at] = 0;
}

// The arguments stand behind it and are measured.
static void measure_application(struct numbering *found, const struct family *family, int at)
{
    struct measured *m = found->m;
    int instance = m->key->bytes[at + 1], output = m->key->bytes[at] - KEY_NODE, first = at + 2;
    bool is_binary = family->instances[instance].n_inputs == 2;
    int second = first + m->lengths[first];
    uint64_t hash = term_hash_of_node(family, instance, m->hashes[first], is_binary ? m->hashes[second] : 0);
    m->lengths[at] = (uint8_t)(2 + m->lengths[first] + (is_binary ? m->lengths[second] : 0));
    int node = number_of_node(found, at, hash);
    m->numbers[at] = (uint8_t)(KEY_NODE + MAX_NODE_OUTPUTS * node + output);
    m->hashes[at] = term_hash_of_output(hash, output);
    m->nodes[at] = UINT32_C(1) << node | m->nodes[first] | (is_binary ? m->nodes[second] : 0);
    m->bits[at] = term_bit(hash) | m->bits[first] | (is_binary ? m->bits[second] : 0);
}

static void find_subterms(struct measured *m)
{
    uint64_t seen = 0;
    m->n_subterms = 0;
    for (int at = 0; at < m->key->length; at++) {
        if (m->key->bytes[at] < KEY_NODE)
            continue;
        uint64_t bit = UINT64_C(1) << (m->numbers[at] - KEY_NODE);
        if (!(seen & bit))
            m->subterms[m->n_subterms++] = (uint8_t)at;
        seen |= bit;
        at++;
    }
}

void term_measure(const struct family *family, const struct key *key, struct measured *ret_measured)
{
    static_assert(MAX_TERM_NODES * MAX_NODE_OUTPUTS <= 64, "different applications are a set of bits");
    struct numbering found = {.m = ret_measured};
    uint8_t starts[KEY_LENGTH];
    int n = 0;
    ret_measured->key = key;
    for (int at = 0; at < key->length; at += key->bytes[at] >= KEY_NODE ? 2 : 1)
        starts[n++] = (uint8_t)at;
    while (n-- > 0)
        if (key->bytes[starts[n]] < KEY_NODE)
            measure_leaf(ret_measured, starts[n]);
        else
            measure_application(&found, family, starts[n]);
    find_subterms(ret_measured);
}

static uint64_t hash_from(const struct family *family, const uint8_t **bytes)
{
    int first = *(*bytes)++;
    if (first < KEY_NODE)
        return term_hash_of_leaf(first);
    int instance = *(*bytes)++;
    uint64_t a = hash_from(family, bytes);
    uint64_t b = family->instances[instance].n_inputs == 2 ? hash_from(family, bytes) : 0;
    return term_hash_of_output(term_hash_of_node(family, instance, a, b), first - KEY_NODE);
}

uint64_t term_hash(const struct family *family, const struct key *key)
{
    const uint8_t *bytes = key->bytes;
    return hash_from(family, &bytes);
}

static bool is_product(const struct family *family, int instance)
{
    return instance != PAIR_INSTANCE && operator_has(family->instances[instance].op, TRAIT_CONTRACTS);
}

// Outputs of one node count once: two subterms that differ in their first byte alone. Counts no further than `most`.
// The first node of an instance is new; what stands in a key is measured only where another one follows.
static int count_nodes_up_to(const struct family *family, const struct key *key, int most, bool counts_products)
{
    uint8_t lengths[KEY_LENGTH], starts[KEY_LENGTH];
    uint64_t seen[MAX_INSTANCES / 64 + 1] = {0};
    bool is_measured = false;
    int different = 0;
    for (int at = 0; at < key->length && different < most; at++) {
        const uint8_t *node = key->bytes + at;
        if (node[0] < KEY_NODE)
            continue;
        uint64_t *word = &seen[node[1] / 64], bit = UINT64_C(1) << node[1] % 64;
        bool is_new = true;
        if (*word & bit) {
            if (!is_measured)
                term_measure_lengths(family, key->bytes, 0, lengths);
            is_measured = true;
            for (int j = 0; j < different && is_new; j++)
                is_new = key->bytes[starts[j] + 1] != node[1] || lengths[starts[j]] != lengths[at] ||
                         !is_same_node(key->bytes + starts[j], node, lengths[at]);
        }
        *word |= bit;
        starts[different] = (uint8_t)at++;
        different += is_new && (!counts_products || is_product(family, node[1]));
    }
    return different;
}

int key_count_nodes(const struct family *family, const struct key *key)
{
    return count_nodes_up_to(family, key, KEY_LENGTH, false);
}

int key_count_products(const struct family *family, const struct key *key)
{
    return count_nodes_up_to(family, key, KEY_LENGTH, true);
}

// Mostly no node stands twice, and there are few: then nothing is compared.
bool key_has_more_nodes(const struct family *family, const struct key *key, int n_nodes)
{
    int places = 0;
    for (int at = 0; at < key->length; at++)
        if (key->bytes[at] >= KEY_NODE) {
            places++;
            at++;
        }
    return places > n_nodes && (n_nodes < 0 || count_nodes_up_to(family, key, n_nodes + 1, false) > n_nodes);
}

uint32_t key_inputs(const struct family *family, const struct key *key)
{
    uint32_t inputs = 0;
    for (int at = 0; at < key->length; at++) {
        if (key->bytes[at] >= KEY_NODE)
            at++;
        else if (key->bytes[at] < family->n_inputs)
            inputs |= 1u << key->bytes[at];
    }
    return inputs;
}

bool key_pair(const struct key *a, const struct key *b, struct key *ret_pair)
{
    if (2 + a->length + b->length > KEY_LENGTH)
        return false;
    *ret_pair = (struct key){(uint8_t)(2 + a->length + b->length), {KEY_NODE, PAIR_INSTANCE}};
    memcpy(ret_pair->bytes + 2, a->bytes, a->length);
    memcpy(ret_pair->bytes + 2 + a->length, b->bytes, b->length);
    return true;
}

// --- renaming --------------------------------------------------------------------------------------------------------

void term_sort_arguments(uint8_t *bytes, int first_length, int second_length)
{
    uint8_t *second = bytes + first_length, swapped[KEY_LENGTH];
    int common = first_length < second_length ? first_length : second_length;
    int order = memcmp(bytes, second, (size_t)common);
    if (order < 0 || (order == 0 && first_length <= second_length))
        return;
    memcpy(swapped, bytes, (size_t)first_length);
    memmove(bytes, second, (size_t)second_length);
    memcpy(bytes + second_length, swapped, (size_t)first_length);
}

// Gives the length of the term at `bytes`, renamed in place: a renaming changes no length.
static int rename_term(const struct family *family, uint8_t *bytes, const uint8_t *order)
{
    if (bytes[0] < KEY_NODE) {
        bytes[0] = order[bytes[0]];
        return 1;
    }
    const struct instance *instance = &family->instances[bytes[1]];
    int first = rename_term(family, bytes + 2, order);
    int second = instance->n_inputs == 2 ? rename_term(family, bytes + 2 + first, order) : 0;
    if (instance->is_commutative)
        term_sort_arguments(bytes + 2, first, second);
    return 2 + first + second;
}

void key_rename(const struct family *family, struct key *key, const uint8_t *order)
{
    rename_term(family, key->bytes, order);
}

struct minimizing {
    const struct family *family;
    int n;
    const struct key *keys;
    struct key best[8];
};

static bool keep_smaller(void *context, const uint8_t *order)
{
    struct minimizing *m = context;
    struct key renamed[8];
    memcpy(renamed, m->keys, sizeof *renamed * (size_t)m->n);
    for (int i = 0; i < m->n; i++)
        key_rename(m->family, &renamed[i], order);
    if (keys_compare(renamed, m->best, m->n) < 0)
        memcpy(m->best, renamed, sizeof *renamed * (size_t)m->n);
    return true;
}

void keys_make_canonical(const struct family *family, struct key *keys, int n)
{
    struct minimizing m = {.family = family, .n = n, .keys = keys};
    uint32_t used = 0;
    memcpy(m.best, keys, sizeof *keys * (size_t)n);
    used |= UNION_ALL(uint32_t, int, i, n, key_inputs(family, &keys[i]));
    renamings_visit(family, used, keep_smaller, &m);
    memcpy(keys, m.best, sizeof *keys * (size_t)n);
}

struct comparing {
    const struct family *family;
    const struct key *key;
    bool is_canonical;
};

static bool is_not_smaller(void *context, const uint8_t *order)
{
    struct comparing *c = context;
    struct key renamed = *c->key;
    key_rename(c->family, &renamed, order);
    c->is_canonical = key_compare(&renamed, c->key) >= 0;
    return c->is_canonical;
}

bool key_is_canonical(const struct family *family, const struct key *key)
{
    struct comparing c = {family, key, true};
    renamings_visit(family, key_inputs(family, key), is_not_smaller, &c);
    return c.is_canonical;
}
