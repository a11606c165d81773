// Keys are written depth first; renamings of inputs are visited in order, within each type.
#include "generator/enumerate/key.h"

#include <assert.h>
#include <string.h>

static void add_byte(struct key *key, unsigned byte)
{
    assert(key->length < KEY_LENGTH);
    key->bytes[key->length++] = (uint8_t)byte;
}

static void write_tensor(const struct tensor_store *s, uint32_t tensor, struct key *key);

static void write_application(const struct tensor_store *s, unsigned instance, unsigned output,
                              const uint32_t *arguments, struct key *key)
{
    add_byte(key, KEY_NODE + output);
    add_byte(key, instance);
    if (!s->family->instances[instance].is_commutative) {
        write_tensor(s, arguments[0], key);
        if (arguments[1] != NO_TENSOR)
            write_tensor(s, arguments[1], key);
        return;
    }
    struct key a = {0}, b = {0};
    write_tensor(s, arguments[0], &a);
    write_tensor(s, arguments[1], &b);
    bool is_ascending = key_compare(&a, &b) <= 0;
    key_append(key, is_ascending ? &a : &b);
    key_append(key, is_ascending ? &b : &a);
}

static void write_tensor(const struct tensor_store *s, uint32_t tensor, struct key *key)
{
    const struct tensor *t = &s->tensors.items[tensor];
    if (t->node == NO_NODE)
        add_byte(key, tensor);
    else
        write_application(s, s->nodes.items[t->node].instance, t->output, s->nodes.items[t->node].arguments, key);
}

static int length_of_application(const struct tensor_store *s, const uint32_t *arguments)
{
    int length = 2;
    for (int i = 0; i < 2 && arguments[i] != NO_TENSOR; i++) {
        uint32_t node = s->tensors.items[arguments[i]].node;
        length += node == NO_NODE ? 1 : length_of_application(s, s->nodes.items[node].arguments);
    }
    return length;
}

bool key_of_member(const struct tensor_store *s, const struct member *m, struct key *ret_key)
{
    ret_key->length = 0;
    if (m->instance == MEMBER_LEAF)
        add_byte(ret_key, m->arguments[0]);
    else if (length_of_application(s, m->arguments) > KEY_LENGTH)
        return false;
    else
        write_application(s, m->instance, m->output, m->arguments, ret_key);
    return true;
}

void key_append(struct key *key, const struct key *part)
{
    assert(key->length + part->length <= KEY_LENGTH);
    memcpy(key->bytes + key->length, part->bytes, part->length);
    key->length = (uint8_t)(key->length + part->length);
}

int key_compare(const struct key *a, const struct key *b)
{
    size_t common = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->bytes, b->bytes, common);
    return order ? order : (int)a->length - (int)b->length;
}

int keys_compare(const struct key *a, const struct key *b, int n)
{
    for (int i = 0; i < n; i++) {
        int order = key_compare(&a[i], &b[i]);
        if (order)
            return order;
    }
    return 0;
}

uint64_t key_hash(const struct key *key)
{
    return hash_bytes(key->bytes, key->length, 0);
}

// --- renamings -------------------------------------------------------------------------------------------------------

struct renaming {
    const struct family *family;
    uint32_t used, taken;
    uint8_t order[MAX_LEAVES];
    renaming_fn *visit;
    void *context;
};

static bool rename_from(struct renaming *r, int leaf)
{
    while (leaf < r->family->n_inputs && !(r->used >> leaf & 1))
        leaf++;
    if (leaf == r->family->n_inputs)
        return r->visit(r->context, r->order);
    // First the leaf itself, so that the identity comes first.
    int first = r->family->leaves[leaf].first_alike, end = r->family->leaves[leaf].end_alike;
    for (int i = first - 1; i < end; i++) {
        int to = i < first ? leaf : i;
        if (i == leaf || r->taken >> to & 1)
            continue;
        r->order[leaf] = (uint8_t)to;
        r->taken |= 1u << to;
        bool goes_on = rename_from(r, leaf + 1);
        r->taken &= ~(1u << to);
        if (!goes_on)
            return false;
    }
    return true;
}

void renamings_visit(const struct family *family, uint32_t used, renaming_fn *visit, void *context)
{
    struct renaming r = {.family = family, .used = used, .visit = visit, .context = context};
    for (int i = 0; i < MAX_LEAVES; i++)
        r.order[i] = (uint8_t)i;
    rename_from(&r, 0);
}
