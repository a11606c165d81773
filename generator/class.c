#include "generator/class.h"

#include <stdlib.h>
#include <string.h>

struct class
{
    const struct store *s;
    struct lookup *l;
    const struct member *members;
    size_t count;
};

// --- confirming ------------------------------------------------------------------------------------------------------

struct content {
    const struct gen_type *type;
    const uint64_t *data;
};

static struct content content_of(const struct class *c, const struct member *m)
{
    const struct store *s = c->s;
    const struct tensor *a = &s->tensors.items[m->arguments[0]];
    if (m->instance == MEMBER_LEAF)
        return (struct content){a->type, a->data};
    const struct tensor *b = m->arguments[1] == NO_TENSOR ? NULL : &s->tensors.items[m->arguments[1]];
    const struct signature *signature = lookup_signature(c->l, m->instance, a->type, b ? b->type : NULL);
    uint64_t *outputs[MAX_NODE_OUTPUTS];
    for (int i = 0; i < signature->n_outputs; i++)
        outputs[i] =
            arena_alloc(&c->l->scratch, signature->outputs[i]->elements * sizeof(uint64_t), _Alignof(uint64_t));
    lookup_evaluate(c->l, signature, a->data, b ? b->data : NULL, outputs);
    return (struct content){signature->outputs[m->output], outputs[m->output]};
}

// A fingerprint is not an identity: is the value of each member that of the first?
static void confirm(const struct class *c, bool *ret_is_confirmed)
{
    struct arena *scratch = &c->l->scratch;
    struct arena_mark mark = arena_mark(scratch);
    struct content first = content_of(c, &c->members[0]);
    for (size_t i = 0; i < c->count; i++) {
        struct arena_mark own = arena_mark(scratch);
        struct content x = content_of(c, &c->members[i]);
        ret_is_confirmed[i] =
            x.type->plain == first.type->plain && memcmp(x.data, first.data, x.type->elements * sizeof *x.data) == 0;
        arena_release(scratch, own);
    }
    arena_release(scratch, mark);
}

// --- keeping ---------------------------------------------------------------------------------------------------------

static bool is_class_of_leaf(const struct class *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->members[i].instance == MEMBER_LEAF)
            return true;
    return false;
}

static bool has_own_value_below(const struct class *c, const struct member *m)
{
    uint32_t closure[MAX_OPS];
    int n = store_closure_of(c->s, m->arguments, closure);
    for (int i = 0; i < n; i++) {
        const struct node *node = &c->s->nodes.items[closure[i]];
        for (uint32_t t = node->first_tensor; t < node->first_tensor + node->n_outputs; t++) {
            const struct hash128 *fingerprint = &c->s->tensors.items[t].fingerprint;
            if (fingerprint->high == m->fingerprint.high && fingerprint->low == m->fingerprint.low)
                return true;
        }
    }
    return false;
}

static uint8_t level_of(const struct store *s, const struct member *m)
{
    uint32_t closure[MAX_OPS];
    return m->instance == MEMBER_LEAF ? 0 : (uint8_t)(store_closure_of(s, m->arguments, closure) + 1);
}

struct kept {
    struct found_member found;
    const struct member *member;
};

static int compare_kept(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->found.level != y->found.level)
        return x->found.level < y->found.level ? -1 : 1;
    return key_compare(&x->found.key, &y->found.key);
}

static size_t choose_members(const struct class *c, const bool *is_confirmed, struct kept *ret_kept)
{
    bool is_of_leaf = is_class_of_leaf(c);
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct member *m = &c->members[i];
        bool is_detour = m->instance != MEMBER_LEAF && !is_of_leaf && has_own_value_below(c, m);
        if (is_detour || !is_confirmed[i])
            continue;
        struct kept *kept = &ret_kept[n++];
        *kept = (struct kept){{.level = level_of(c->s, m)}, m};
        key_of_member(c->s, m, NULL, &kept->found.key);
    }
    qsort(ret_kept, n, sizeof *ret_kept, compare_kept);
    return n;
}

static void add_members(const struct kept *kept, size_t n, struct findings *f)
{
    for (size_t i = 0; i < n; i++) {
        struct found_member m = kept[i].found;
        m.class = f->n_classes;
        vec_push(&f->members, m);
    }
    f->n_classes++;
}

void class_keep(const struct store *s, struct lookup *l, const struct member *members, size_t count, struct findings *f)
{
    struct class c = {s, l, members, count};
    struct kept *kept = mem_new_array(struct kept, count);
    bool *is_confirmed = mem_new_array(bool, count);
    confirm(&c, is_confirmed);
    for (size_t i = 0; i < count; i++)
        f->counts.unconfirmed += !is_confirmed[i];
    size_t n = choose_members(&c, is_confirmed, kept);
    f->counts.classes++;
    f->counts.pairs += count * (count - 1);
    if (n == 0 || !member_is_canonical(s, kept[0].member)) {
        f->counts.renamed += count * (count - 1);
    } else {
        f->counts.detours += count * (count - 1) - n * (n - 1);
        if (n > 1)
            add_members(kept, n, f);
    }
    mem_free_array(kept, count);
    mem_free_array(is_confirmed, count);
}
