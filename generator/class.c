#include "generator/class.h"

#include "generator/inputs.h"
#include "generator/sketch.h"
#include "generator/term.h"
#include <string.h>

struct class
{
    const struct store *s;
    struct lookup *l;
    const struct member *members;
    size_t count;
    uint32_t support;   // the inputs that the value depends on
    VEC(struct found_member) kept;
};

// --- what the value depends on ---------------------------------------------------------------------------------------

// Has the term another value when another input stands in this one's place? (One that is alone of its type cannot be
// renamed, so it does not matter.)
static bool depends_on(const struct class *c, const struct key *term, int input)
{
    const struct family *f = c->s->family;
    const struct leaf *leaf = &f->leaves[input];
    uint8_t order[MAX_LEAVES];
    struct key other = *term;
    struct sketch sketch;
    if (leaf->end_alike - leaf->first_alike == 1)
        return true;
    for (int i = 0; i < MAX_LEAVES; i++)
        order[i] = (uint8_t)i;
    order[input] = (uint8_t)(input > leaf->first_alike ? input - 1 : input + 1);
    key_rename(f, &other, order);
    sketch_from_keys(&sketch, f, 1, term, &other);
    return sketch_judge(&sketch, c->l) != VERDICT_EQUAL;
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
    key_of_member(c->s, &c->members[0], &term);
    for (int i = 0; i < c->s->family->n_inputs; i++)
        if (support >> i & 1 && !depends_on(c, &term, i))
            support &= ~(1u << i);
    return support;
}

// --- keeping ---------------------------------------------------------------------------------------------------------

static bool is_class_of_leaf(const struct class *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->members[i].instance == MEMBER_LEAF)
            return true;
    return false;
}

static int compare_kept(const void *a, const void *b)
{
    const struct found_member *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return key_compare(&x->key, &y->key);
}

// Stored terms are there under all names.
static bool is_first_of_its_renamings(const struct class *c, const struct member *m)
{
    return inputs_are_first(c->s->family, m->support);
}

struct renaming_kept {
    struct class *c;
    struct found_member kept;
};

static bool keep_renamed(void *context, const uint8_t *order)
{
    struct renaming_kept *r = context;
    struct found_member renamed = r->kept;
    key_rename(r->c->s->family, &renamed.key, order);
    vec_push(&r->c->kept, renamed);
    return true;
}

// With each term all that it becomes when inputs are renamed that the class does not depend on.
static void choose_members(struct class *c, uint32_t class)
{
    bool is_of_leaf = is_class_of_leaf(c);
    for (size_t i = 0; i < c->count; i++) {
        const struct member *m = &c->members[i];
        if (!is_first_of_its_renamings(c, m) || (m->is_detour && !is_of_leaf))
            continue;
        struct renaming_kept r = {c, {.class = class, .level = m->level}};
        key_of_member(c->s, m, &r.kept.key);
        inputs_visit_alike(c->s->family, m->support, c->support, keep_renamed, &r);
    }
    if (c->kept.count)
        vec_sort(&c->kept, compare_kept);
}

static void add_members(const struct class *c, struct findings *f)
{
    for (size_t i = 0; i < c->kept.count; i++)
        vec_push(&f->members, c->kept.items[i]);
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

static void keep_if_canonical(struct class *c, struct findings *f)
{
    uint64_t alike = inputs_count_alike(c->s->family, c->support, 0), n_terms = count_terms(c);
    uint64_t pairs = n_terms * (n_terms - 1);
    if (n_terms < 2)
        return;
    f->counts.classes += alike;
    f->counts.pairs += alike * pairs;
    choose_members(c, f->n_classes);
    size_t n = c->kept.count;
    if (n == 0 || !key_is_canonical(c->s->family, &c->kept.items[0].key)) {
        f->counts.renamed += alike * pairs;
        return;
    }
    f->counts.renamed += (alike - 1) * pairs;
    f->counts.detours += pairs - (uint64_t)n * (n - 1);
    if (n > 1)
        add_members(c, f);
}

void class_keep(const struct store *s, struct lookup *l, const struct member *members, size_t count, struct findings *f)
{
    struct class c = {.s = s, .l = l, .members = members, .count = count};
    c.support = support_of_class(&c);
    if (inputs_are_first(s->family, c.support))
        keep_if_canonical(&c, f);
    vec_free(&c.kept);
}
