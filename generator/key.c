#include "generator/key.h"

#include <assert.h>
#include <string.h>

struct writer {
    const struct store *s;
    const uint8_t *order;
};

static void add_byte(struct key *key, unsigned byte)
{
    assert(key->length < KEY_LENGTH);
    key->bytes[key->length++] = (uint8_t)byte;
}

static void add_key(struct key *key, const struct key *part)
{
    assert(key->length + part->length <= KEY_LENGTH);
    memcpy(key->bytes + key->length, part->bytes, part->length);
    key->length = (uint8_t)(key->length + part->length);
}

static void write_tensor(const struct writer *w, uint32_t tensor, struct key *key);

static void write_application(const struct writer *w, unsigned instance, unsigned output, const uint32_t *arguments,
                              struct key *key)
{
    add_byte(key, KEY_NODE + output);
    add_byte(key, instance);
    if (!w->s->family->instances[instance].is_commutative) {
        write_tensor(w, arguments[0], key);
        if (arguments[1] != NO_TENSOR)
            write_tensor(w, arguments[1], key);
        return;
    }
    struct key a = {0}, b = {0};
    write_tensor(w, arguments[0], &a);
    write_tensor(w, arguments[1], &b);
    bool is_ascending = key_compare(&a, &b) <= 0;
    add_key(key, is_ascending ? &a : &b);
    add_key(key, is_ascending ? &b : &a);
}

static void write_leaf(const struct writer *w, uint32_t leaf, struct key *key)
{
    add_byte(key, w->order ? w->order[leaf] : leaf);
}

static void write_tensor(const struct writer *w, uint32_t tensor, struct key *key)
{
    const struct tensor *t = &w->s->tensors.items[tensor];
    if (t->node == NO_NODE)
        write_leaf(w, tensor, key);
    else
        write_application(w, w->s->nodes.items[t->node].instance, t->output, w->s->nodes.items[t->node].arguments, key);
}

void key_of_member(const struct store *s, const struct member *m, const uint8_t *order, struct key *ret_key)
{
    struct writer w = {s, order};
    ret_key->length = 0;
    if (m->instance == MEMBER_LEAF)
        write_leaf(&w, m->arguments[0], ret_key);
    else
        write_application(&w, m->instance, m->output, m->arguments, ret_key);
}

int key_compare(const struct key *a, const struct key *b)
{
    size_t common = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->bytes, b->bytes, common);
    return order ? order : (int)a->length - (int)b->length;
}

uint32_t member_leaves(const struct store *s, const struct member *m)
{
    struct combination c = {.arguments = {m->arguments[0], m->arguments[1]}};
    return m->instance == MEMBER_LEAF ? 1u << m->arguments[0] : store_leaves_of(s, &c);
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
    for (int i = -1; i < r->family->n_inputs; i++) {
        int to = i < 0 ? leaf : i;
        if (i == leaf || r->taken >> to & 1 || !type_equal(&r->family->leaves[leaf].type, &r->family->leaves[to].type))
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

struct comparing {
    const struct store *s;
    const struct member *member;
    struct key own;
    bool is_canonical;
};

static bool is_not_smaller(void *context, const uint8_t *order)
{
    struct comparing *c = context;
    struct key renamed;
    key_of_member(c->s, c->member, order, &renamed);
    c->is_canonical = key_compare(&renamed, &c->own) >= 0;
    return c->is_canonical;
}

bool member_is_canonical(const struct store *s, const struct member *m)
{
    struct comparing c = {.s = s, .member = m, .is_canonical = true};
    key_of_member(s, m, NULL, &c.own);
    renamings_visit(s->family, member_leaves(s, m), is_not_smaller, &c);
    return c.is_canonical;
}
