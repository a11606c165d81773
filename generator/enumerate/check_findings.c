// Keys are read as terms, with the types of all that stands in them.
#include "generator/enumerate/check_findings.h"

#include "generator/enumerate/term.h"
#include <string.h>

struct term_check {
    const struct family *family;
    struct lookup lookup;
    const struct gen_type *leaves[MAX_LEAVES];
    const struct key *key;
    int at;
};

static void term_check_init(struct term_check *c, struct family_types *u)
{
    c->family = u->family;
    lookup_init(&c->lookup, u);
    for (int i = 0; i < c->family->n_leaves; i++)
        c->leaves[i] =
            i < c->family->n_inputs ? family_types_type(u, &c->family->leaves[i].type) : u->constants[i].type;
}

static bool take_byte(struct term_check *c, int *ret_byte)
{
    if (c->at == c->key->length)
        return false;
    *ret_byte = c->key->bytes[c->at++];
    return true;
}

static bool are_ascending(const struct term_check *c, int first, int second)
{
    const uint8_t *bytes = c->key->bytes;
    int a = second - first, b = c->at - second;
    int order = memcmp(bytes + first, bytes + second, (size_t)(a < b ? a : b));
    return order ? order < 0 : a <= b;
}

static const struct gen_type *type_of_term(struct term_check *c);

// NULL: there is no such instance, or not on these arguments.
static const struct gen_type *type_of_application(struct term_check *c, int output)
{
    int instance, starts[2];
    if (!take_byte(c, &instance) || instance >= c->family->n_instances)
        return NULL;
    const struct instance *in = &c->family->instances[instance];
    const struct gen_type *arguments[2] = {NULL, NULL};
    for (int i = 0; i < in->n_inputs; i++) {
        starts[i] = c->at;
        arguments[i] = type_of_term(c);
        if (!arguments[i])
            return NULL;
    }
    if (in->is_commutative && !are_ascending(c, starts[0], starts[1]))
        return NULL;
    const struct signature *s = lookup_signature(&c->lookup, instance, arguments[0], arguments[1]);
    return s->is_typed && output < s->n_outputs ? s->outputs[output] : NULL;
}

static const struct gen_type *type_of_term(struct term_check *c)
{
    int byte;
    if (!take_byte(c, &byte))
        return NULL;
    if (byte >= KEY_NODE)
        return type_of_application(c, byte - KEY_NODE);
    return byte < c->family->n_leaves ? c->leaves[byte] : NULL;
}

static bool is_term_of_its_level(struct term_check *c, const struct found_member *m)
{
    c->key = &m->key;
    c->at = 0;
    return type_of_term(c) && c->at == m->key.length && key_count_nodes(c->family, &m->key) == m->level;
}

static bool stands_behind(const struct found_member *m, const struct found_member *before)
{
    return m->class != before->class ||
           (m->level == before->level ? key_compare(&before->key, &m->key) < 0 : before->level < m->level);
}

bool findings_are_sound(struct family_types *u, int max_ops, const struct findings *f)
{
    struct term_check c;
    term_check_init(&c, u);
    bool is_sound = !vec_find(&f->members, m,
                              m->level > max_ops || !is_term_of_its_level(&c, m) ||
                                  (m > f->members.items && !stands_behind(m, m - 1)));
    lookup_free(&c.lookup);
    return is_sound;
}
