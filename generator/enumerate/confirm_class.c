// Members with equal fingerprints are compared by their contents; renamings and detours are left out.
#include "generator/enumerate/confirm_class.h"

#include "generator/enumerate/inputs.h"
#include "generator/enumerate/size_test.h"
#include "generator/enumerate/term.h"
#include <string.h>

struct kept {
    struct found_member found;
    const struct member *member;
};
struct class
{
    const struct tensor_store *s;
    struct lookup *l;
    struct evaluation_cache *calls;
    const struct member *members;
    size_t count;
    uint32_t support;   // the inputs that the value depends on
    VEC(struct kept) kept;
};

// --- confirming ------------------------------------------------------------------------------------------------------

struct content {
    const struct gen_type *type;
    const uint64_t *data;
};

static struct content content_of(const struct class *c, const struct member *m)
{
    const struct tensor_store *s = c->s;
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

static bool has_content(const struct class *c, const struct member *m, const struct content *content)
{
    ARENA_MARK(mark, &c->l->scratch);
    struct content own = content_of(c, m);
    return own.type->plain == content->type->plain &&
           memcmp(own.data, content->data, own.type->elements * sizeof *own.data) == 0;
}

// A fingerprint is not an identity: drops the terms whose value is not that of the first. Renamings of one member are
// kept or dropped together, as their values are that of the class, which does not depend on what is renamed.
static void confirm(struct class *c)
{
    enum { UNKNOWN, SAME, OTHER };
    struct arena *scratch = &c->l->scratch;
    struct arena_mark mark = arena_mark(scratch);
    struct content first = content_of(c, c->kept.items[0].member);
    uint8_t *known = arena_array(scratch, uint8_t, c->count);
    size_t n = 0;
    known[c->kept.items[0].member - c->members] = SAME;
    for (size_t i = 0; i < c->kept.count; i++) {
        const struct member *m = c->kept.items[i].member;
        uint8_t *value = &known[m - c->members];
        if (*value == UNKNOWN)
            *value = has_content(c, m, &first) ? SAME : OTHER;
        if (*value == SAME)
            c->kept.items[n++] = c->kept.items[i];
    }
    arena_release(scratch, mark);
    c->kept.count = n;
}

// --- what the value depends on ---------------------------------------------------------------------------------------

// Has the term another value when another input stands in this one's place? (One that is alone of its type cannot be
// renamed, so it does not matter.)
static bool depends_on(const struct class *c, const struct key *term, int input)
{
    const struct family *f = c->s->family;
    const struct leaf *leaf = &f->leaves[input];
    uint8_t order[MAX_LEAVES];
    struct key other = *term;
    struct rule_graph graph;
    if (leaf->end_alike - leaf->first_alike == 1)
        return true;
    for (int i = 0; i < MAX_LEAVES; i++)
        order[i] = (uint8_t)i;
    order[input] = (uint8_t)(input > leaf->first_alike ? input - 1 : input + 1);
    key_rename(f, &other, order);
    rule_graph_from_keys(&graph, f, 1, term, &other);
    return !rule_graph_holds(&graph, c->calls);
}

// The key of the first member that has one.
static bool key_of_first(const struct class *c, struct key *ret_key)
{
    return ANY(size_t, i, c->count, key_of_member(c->s, &c->members[i], ret_key));
}

static uint32_t support_of_class(const struct class *c)
{
    uint32_t support = UINT32_MAX;
    bool is_exact = false;
    struct key term;
    for (size_t i = 0; i < c->count; i++) {
        support &= c->members[i].support;
        is_exact = is_exact || c->members[i].has_exact_support;
    }
    if (is_exact)
        return support;
    if (!key_of_first(c, &term))
        return support;
    for (int i = 0; i < c->s->family->n_inputs; i++)
        if (support >> i & 1 && !depends_on(c, &term, i))
            support &= ~(1u << i);
    return support;
}

// --- keeping ---------------------------------------------------------------------------------------------------------

COMPARISON(compare_kept, struct kept,
           ORDER(x->found.level, y->found.level) ?: key_compare(&x->found.key, &y->found.key))

// Stored terms are there under all names.
static bool is_first_of_its_renamings(const struct class *c, const struct member *m)
{
    return inputs_are_first(c->s->family, m->support);
}

struct renaming_kept {
    struct class *c;
    struct kept kept;
};

static bool keep_renamed(void *context, const uint8_t *order)
{
    struct renaming_kept *r = context;
    struct kept renamed = r->kept;
    key_rename(r->c->s->family, &renamed.found.key, order);
    vec_push(&r->c->kept, renamed);
    return true;
}

// With each term all that it becomes when inputs are renamed that the class does not depend on.
static void choose_members(struct class *c)
{
    bool is_of_leaf = ANY(size_t, i, c->count, c->members[i].instance == MEMBER_LEAF);
    EACH(c->members, c->count, m) {
        if (!is_first_of_its_renamings(c, m) || (m->is_detour && !is_of_leaf))
            continue;
        struct renaming_kept r = {c, {{.level = m->level}, m}};
        if (key_of_member(c->s, m, &r.kept.found.key))
            inputs_visit_alike(c->s->family, m->support, c->support, keep_renamed, &r);
    }
    vec_sort(&c->kept, compare_kept);
}

static void add_members(const struct class *c, struct findings *f)
{
    for (size_t i = 0; i < c->kept.count; i++) {
        struct found_member m = c->kept.items[i].found;
        m.class = f->n_classes;
        vec_push(&f->members, m);
    }
    f->n_classes++;
}

static uint64_t count_terms(const struct class *c)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->count; i++)
        if (is_first_of_its_renamings(c, &c->members[i]))
            n += inputs_count_alike(c->s->family, c->members[i].support, c->support);
    return n;
}

// Values are compared last, in the one class that is kept of all its renamings.
static void keep_if_canonical(struct class *c, struct findings *f)
{
    uint64_t alike = inputs_count_alike(c->s->family, c->support, 0), n_terms = count_terms(c);
    uint64_t pairs = n_terms * (n_terms - 1);
    if (n_terms < 2)
        return;
    f->counts.classes += alike;
    f->counts.pairs += alike * pairs;
    choose_members(c);
    size_t n = c->kept.count;
    if (n == 0 || !key_is_canonical(c->s->family, &c->kept.items[0].found.key)) {
        f->counts.renamed += alike * pairs;
        return;
    }
    if (n > 1)
        confirm(c);
    f->counts.renamed += (alike - 1) * pairs;
    f->counts.unconfirmed += n - c->kept.count;
    f->counts.detours += pairs - (uint64_t)n * (n - 1);
    if (c->kept.count > 1)
        add_members(c, f);
}

void class_confirm(const struct tensor_store *s, struct lookup *l, struct evaluation_cache *calls,
                   const struct member *members, size_t count, struct findings *f)
{
    struct class c = {.s = s, .l = l, .calls = calls, .members = members, .count = count};
    c.support = support_of_class(&c);
    if (inputs_are_first(s->family, c.support))
        keep_if_canonical(&c, f);
    vec_free(&c.kept);
}
