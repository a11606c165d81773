// The texts are read as rules, sorted by what does not differ, and each group is unified. A rule that others derive is
// written in one direction only; it may be what is missing for several to become one in the other direction, so each
// group is unified once more with those that are read backwards.
#include "generator/output/unified.h"

#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "generator/output/equation_text.h"
#include "generator/unify/unify.h"
#include "substitutions/pattern.h"
#include <string.h>

struct entry {
    const char *skeleton;
    size_t number;                          // of the candidate
    const struct candidate_rule *reverse;   // NULL: it is read as it stands
    struct unify_member member;
};
typedef VEC(struct entry) entry_list;

// --- members ---------------------------------------------------------------------------------------------------------

// Sizes of the list that begins at the place; `base` where there is none.
static const int64_t *sizes_from(const struct shapes *s, const int64_t *sizes, int place, uint32_t n,
                                 const int64_t *base, struct arena *a)
{
    int64_t *list = arena_copy_array(a, base, n);
    for (uint32_t i = 0; place >= 0 && i < n && place + (int)i < s->n; i++)
        list[i] = sizes[place + (int)i];
    return list;
}

// Types in the order in which the rule has its variables.
static const struct type *const *types_of(struct arena *a, const struct candidate_rule *c, const struct rule *r,
                                          const int64_t *sizes)
{
    const struct type **types = arena_array(a, const struct type *, r->pattern.n_variables);
    for (uint32_t i = 0; i < r->pattern.n_variables; i++) {
        struct type *type = arena_new(a, struct type);
        int v = 0;
        while (strcmp(equation_text_variable(v), r->pattern.variables[i]) != 0)
            v++;
        *type = rule_graph_type_of_variable(&c->graph, v);
        int place = shapes_find(c->shapes, SIZE_OF_VARIABLE, v, 0);
        memcpy(type->dim, sizes_from(c->shapes, sizes, place, (uint32_t)type->rank, type->dim, a),
               (size_t)type->rank * sizeof *type->dim);
        types[i] = type;
    }
    return types;
}

// The attributes of a node or of a constant.
static const struct attribute_value *values_of(struct arena *a, const struct candidate_rule *c, reference r,
                                               const int64_t *sizes)
{
    bool is_node = reference_is_node(r);
    int owner = is_node ? reference_node(r) : r - RULE_GRAPH_CONSTANT;
    const struct family *f = c->graph.family;
    const struct instance *in = is_node ? &f->instances[c->graph.nodes[owner].instance] : &f->leaves[owner].constant;
    struct attribute_value *values = arena_array(a, struct attribute_value, operator_n_attributes(in->op));
    for (int i = 0; i < operator_n_attributes(in->op); i++) {
        int place = shapes_find(c->shapes, is_node ? SIZE_OF_ATTRIBUTE : SIZE_OF_CONSTANT, owner, i);
        uint32_t n = in->attributes[i].count;
        values[i] = (struct attribute_value){n, sizes_from(c->shapes, sizes, place, n, in->attributes[i].ints, a)};
    }
    return values;
}

// Which of the graph's references is the term of the rule that was printed of it, and so on below.
static void find_references(const struct candidate_rule *c, const struct rule *r, term_id t, reference of,
                            reference *ret_references)
{
    const struct term *term = &r->pattern.terms.items[t];
    if (term->is_variable)
        return;
    ret_references[term->index] = of;
    for (uint32_t i = 0; i < r->pattern.nodes.items[term->index].n_inputs; i++)
        find_references(c, r, r->pattern.nodes.items[term->index].inputs[i],
                        c->graph.nodes[reference_node(of)].inputs[i], ret_references);
}

// The attributes of all nodes of the rule.
static const struct attribute_value *const *attributes_of(struct arena *a, const struct candidate_rule *c,
                                                          const struct rule *r, const int64_t *sizes)
{
    const struct attribute_value **all = arena_array(a, const struct attribute_value *, r->pattern.nodes.count);
    reference of[MAX_RULE_NODES];
    for (uint32_t i = 0; i < r->n_outputs; i++) {
        find_references(c, r, r->sources[i], c->graph.source[i], of);
        find_references(c, r, r->targets[i], c->graph.target[i], of);
    }
    for (size_t i = 0; i < r->pattern.nodes.count; i++)
        all[i] = values_of(a, c, of[i], sizes);
    return all;
}

static bool speaks_of_attributes(const struct rule *r, const struct condition *c)
{
    return ANY(uint32_t, v, r->pattern.n_attribute_variables,
               attribute_term_mentions_variable(c->a, v) || attribute_term_mentions_variable(c->b, v));
}

// Conditions on attributes hold at all examples, as their values are those of the enumeration.
static bool holds_at(struct arena *a, const struct rule *r, const struct type *const *types)
{
    const struct term_bindings b = {.tensors = types};
    return ALL(uint32_t, i, r->n_conditions,
               speaks_of_attributes(r, &r->conditions[i]) || condition_holds(&r->conditions[i], &b, NULL, a));
}

// The equation may hold at more sizes than what is printed of it.
static struct unify_member make_member(struct arena *a, const struct candidate_rule *c, const struct rule *r)
{
    struct unify_example *examples = arena_array(a, struct unify_example, MAX_ASSIGNMENTS + 1);
    size_t n = 0;
    for (int i = 0; i <= c->shapes->n_assignments; i++) {
        int64_t sizes[MAX_SIZES];
        shapes_sizes(c->shapes, i, sizes);
        const struct type *const *types = types_of(a, c, r, sizes);
        if (holds_at(a, r, types))
            examples[n++] = (struct unify_example){types, attributes_of(a, c, r, sizes)};
    }
    return (struct unify_member){r, n, examples};
}

static const char *skeleton_of(struct arena *a, const struct rule *r)
{
    TEXT(text);
    rule_print_skeleton(&text, r);
    return arena_string(a, text.chars);
}

static bool read_rule(const struct candidate_rule *c, size_t number, struct rule_set *set)
{
    const char *text = arena_printf(set->arena, "(rule c%zu%s)", number, c->body);
    struct error error;
    return rule_set_parse(set, "candidates", text, strlen(text), &error);
}

// The rule that was read last.
static struct entry make_entry(const struct candidate_rule *c, size_t number, bool is_reverse,
                               const struct rule_set *set)
{
    const struct rule *r = vec_last(&set->rules);
    return (struct entry){skeleton_of(set->arena, r), number, is_reverse ? c : NULL, make_member(set->arena, c, r)};
}

// NULL: it would need an input that is not there.
static const struct candidate_rule *reverse_rule(struct arena *a, const struct candidate_rule *c)
{
    struct candidate_rule *reverse = arena_copy_array(a, c, 1);
    memcpy(reverse->graph.source, c->graph.target, sizeof c->graph.target);
    memcpy(reverse->graph.target, c->graph.source, sizeof c->graph.source);
    reverse->operators[0] = c->operators[1];
    reverse->operators[1] = c->operators[0];
    return rule_graph_is_directed(&reverse->graph) ? reverse : NULL;
}

static void read_all(const struct candidates *c, struct rule_set *set, entry_list *ret_entries)
{
    for (size_t i = 0; i < c->rules.count; i++) {
        const struct candidate_rule *rule = &c->rules.items[i];
        if (!read_rule(rule, i, set))
            continue;
        vec_push(ret_entries, make_entry(rule, i, false, set));
        const struct candidate_rule *reverse = rule->is_derivable ? reverse_rule(set->arena, rule) : NULL;
        if (reverse && rule_set_add_backwards_of(set, vec_last(&set->rules)))
            vec_push(ret_entries, make_entry(reverse, i, true, set));
    }
}

// --- groups ----------------------------------------------------------------------------------------------------------

// Entries that are read backwards come behind the others.
COMPARISON(compare_entries, struct entry,
           strcmp(x->skeleton, y->skeleton) ?: ORDER(x->reverse != NULL, y->reverse != NULL) ?:
           ORDER(x->number, y->number))

static void add_rule(struct candidates *c, const struct candidate_rule *model, const struct unified_rule *u)
{
    struct candidate_rule rule = *model;
    rule.body = arena_string(c->arena, u->body);
    rule.over_groups = NULL;
    rule.n_unified = u->n_members;
    rule.is_derivable = false;   // nobody asked
    vec_push(&c->rules, rule);
}

static void unify_group(struct candidates *c, const struct entry *entries, size_t n)
{
    ARENA(scratch);
    LOCAL_LIST(unified_list, found);
    struct unify_member *members = arena_array(&scratch, struct unify_member, n);
    size_t n_forward = 0;
    for (size_t i = 0; i < n; i++) {
        members[i] = entries[i].member;
        n_forward += !entries[i].reverse;
    }
    if (n_forward)
        rules_unify(&scratch, members, n_forward, &found);
    if (n_forward < n)
        rules_unify(&scratch, members, n, &found);
    for (size_t i = 0; i < found.count; i++) {
        const struct entry *model = &entries[found.items[i].first];
        add_rule(c, model->reverse ? model->reverse : &c->rules.items[model->number], &found.items[i]);
    }
}

void unified_add(struct candidates *c)
{
    ARENA(arena);
    struct rule_set set FREED_BY(rule_set_free);
    LOCAL_LIST(entry_list, entries);
    rule_set_init(&set, &arena);
    read_all(c, &set, &entries);
    vec_sort(&entries, compare_entries);
    for (size_t i = 0, end; i < entries.count; i = end) {
        for (end = i + 1; end < entries.count && strcmp(entries.items[i].skeleton, entries.items[end].skeleton) == 0;)
            end++;
        unify_group(c, entries.items + i, end - i);
    }
}
