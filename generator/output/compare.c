// Rules of others are written in a family's own terms, and chains to their targets looked for.
#include "generator/output/compare.h"

#include "core/memory/arena.h"
#include "core/text/text.h"
#include "generator/reduce/derive.h"
#include <string.h>

enum { MAX_COMPARED_TERMS = 3000 };

bool comparison_init(struct comparison *c, struct arena *arena, const char *path, struct error *error)
{
    rule_set_init(&c->rules, arena);
    if (!rule_set_read(&c->rules, path, error))
        return false;
    c->family = arena_array(arena, const char *, c->rules.rules.count + 1);
    c->is_sayable = arena_array(arena, bool, c->rules.rules.count + 1);
    return true;
}

void comparison_free(struct comparison *c)
{
    rule_set_free(&c->rules);
}

// --- a rule's terms in a family --------------------------------------------------------------------------------------

static bool has_attribute(const struct attribute_pattern *pattern, const struct attribute_value *value)
{
    if (pattern->count != value->count)
        return false;
    return ALL(uint32_t, i, pattern->count,
               pattern->terms[i]->kind == TERM_INTEGER && pattern->terms[i]->value == value->ints[i]);
}

static bool is_instance(const struct pattern_node *node, const struct instance *in)
{
    if (node->op != in->op || (int)node->n_inputs != in->n_inputs)
        return false;
    return ALL(int, i, operator_n_attributes(in->op), has_attribute(&node->attributes[i], &in->attributes[i]));
}

static int find_instance(const struct family *f, const struct pattern_node *node)
{
    for (int i = 0; i < f->n_instances; i++)
        if (is_instance(node, &f->instances[i]))
            return i;
    return -1;
}

// Constants by their operator alone: a rule file says their shapes otherwise.
static int find_constant(const struct family *f, const struct pattern_node *node)
{
    for (int i = f->n_inputs; i < f->n_leaves; i++)
        if (is_instance(node, &f->leaves[i].constant))
            return i;
    return -1;
}

static bool add_bytes(struct key *key, const uint8_t *bytes, int n)
{
    if (key->length + n > KEY_LENGTH)
        return false;
    memcpy(key->bytes + key->length, bytes, (size_t)n);
    key->length = (uint8_t)(key->length + n);
    return true;
}

static bool make_key(const struct family *f, const struct pattern *p, term_id term, struct key *key)
{
    const struct term *t = &p->terms.items[term];
    if (t->is_variable)
        return (int)t->index < f->n_inputs && add_bytes(key, &(uint8_t){(uint8_t)t->index}, 1);
    const struct pattern_node *node = &p->nodes.items[t->index];
    int constant = node->n_inputs == 0 ? find_constant(f, node) : -1;
    if (node->n_inputs == 0)
        return constant >= 0 && add_bytes(key, &(uint8_t){(uint8_t)constant}, 1);
    int instance = find_instance(f, node);
    uint8_t head[2] = {(uint8_t)(KEY_NODE + t->output), (uint8_t)instance};
    struct key parts[2] = {0};
    if (instance < 0 || t->output >= MAX_NODE_OUTPUTS || !add_bytes(key, head, 2))
        return false;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (!make_key(f, p, node->inputs[i], &parts[i]))
            return false;
    bool is_swapped = f->instances[instance].is_commutative && key_compare(&parts[0], &parts[1]) > 0;
    return add_bytes(key, parts[is_swapped].bytes, parts[is_swapped].length) &&
           add_bytes(key, parts[!is_swapped].bytes, parts[!is_swapped].length);
}

static bool make_side(const struct family *f, const struct rule *rule, const term_id *terms, struct key *ret_key)
{
    struct key keys[2] = {0};
    for (uint32_t i = 0; i < rule->n_outputs; i++)
        if (i >= 2 || !make_key(f, &rule->pattern, terms[i], &keys[i]))
            return false;
    if (rule->n_outputs == 2)
        return key_pair(&keys[0], &keys[1], ret_key);
    *ret_key = keys[0];
    return true;
}

// --- the comparison --------------------------------------------------------------------------------------------------

// Shortcuts are no help and pairs of keys are deep: operators as in the rule, and some more on the way.
static bool is_derived(const struct reduction *r, const struct rule *rule, int max_ops, bool *ret_is_sayable)
{
    struct key source, target;
    if (!make_side(r->family_types->family, rule, rule->sources, &source) ||
        !make_side(r->family_types->family, rule, rule->targets, &target))
        return false;
    *ret_is_sayable = true;
    int most = key_count_nodes(r->family_types->family, &source),
        other = key_count_nodes(r->family_types->family, &target);
    most = most > other ? most : other;
    most = most > max_ops ? most : max_ops;
    return derive_term(&r->rules, &source, &target, most + 2, MAX_COMPARED_TERMS, DERIVE_BY_ANY_RULES);
}

void comparison_with(struct comparison *c, const struct reduction *r, int max_ops)
{
#pragma omp parallel for num_threads(r->family_types->threads) schedule(dynamic, 1)
    for (size_t i = 0; i < c->rules.rules.count; i++)
        if (!c->family[i] && is_derived(r, c->rules.rules.items[i], max_ops, &c->is_sayable[i]))
            c->family[i] = r->family_types->family->name;
}

void comparison_print(struct text *out, const struct comparison *c)
{
    size_t derived = 0;
    for (size_t i = 0; i < c->rules.rules.count; i++) {
        derived += c->family[i] != NULL;
        text_printf(out, "%-40s %s\n", c->rules.rules.items[i]->name,
                    c->family[i]       ? c->family[i]
                    : c->is_sayable[i] ? "- not derived"
                                       : "- no family has its operators and as many inputs");
    }
    text_printf(out, "%zu of %zu rules are derived\n", derived, c->rules.rules.count);
}
