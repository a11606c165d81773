// Substitutions from each member of a class to its smallest ones, and, in families that want these, to one as large
// with fewer products, pruned and tested as all others.
#include "generator/reduce/shortcuts.h"

#include "core/system/interrupt.h"
#include "generator/reduce/derive.h"
#include "generator/reduce/prune.h"

enum { MAX_TARGETS = 2, MAX_TERMS = 40 };   // of one source

static bool is_pruned(const struct rule_graph *rg, struct evaluation_cache *calls, int max_ops)
{
    struct rule_graph general;
    return prune_by_common_root(rg, calls) || prune_by_common_subgraph(rg, calls, &general) ||
           prune_by_renaming(rg, calls, max_ops, &general);
}

typedef VEC(struct equation) equation_list;
struct finding {
    const struct reduction *r;
    int max_ops;
    equation_list equations;
};

static void judge_shortcut(struct finding *f, const struct key *source, const struct key *target)
{
    struct equation equation = {.is_derivable = true};
    struct evaluation_cache *calls = reduction_calls(f->r);
    rule_graph_from_keys(&equation.graph, f->r->family_types->family, 1, source, target);
    if (!is_pruned(&equation.graph, calls, f->max_ops) &&
        shapes_test(&equation.graph, calls, EVIDENCE_DERIVED, &equation.shapes) == SHAPES_HOLD)
        vec_push(&f->equations, equation);
}

static void find_smaller(struct finding *f, uint32_t first, uint32_t source)
{
    const struct family *family = f->r->family_types->family;
    const struct found_member *members = f->r->findings->members.items;
    uint32_t inputs = key_inputs(family, &members[source].key);
    int targets = 0;
    if (derive_smaller(&f->r->rules, &members[source].key, members[first].level, MAX_TERMS))
        return;
    for (uint32_t t = first; t < source && members[t].level == members[first].level && targets < MAX_TARGETS; t++)
        if (members[t].level < members[source].level && !(key_inputs(family, &members[t].key) & ~inputs)) {
            judge_shortcut(f, &members[source].key, &members[t].key);
            targets++;
        }
}

// The first of those with the fewest products among members of as many operators; `source` where it has no more.
static uint32_t find_fewest_products(const struct finding *f, uint32_t first, uint32_t end, uint32_t source)
{
    const struct family *family = f->r->family_types->family;
    const struct found_member *members = f->r->findings->members.items;
    uint32_t inputs = key_inputs(family, &members[source].key), best = source;
    int fewest = key_count_products(family, &members[source].key);
    for (uint32_t t = first; t < end && members[t].level <= members[source].level && fewest > 0; t++) {
        int products = key_count_products(family, &members[t].key);
        if (products < fewest && !(key_inputs(family, &members[t].key) & ~inputs)) {
            fewest = products;
            best = t;
        }
    }
    return best;
}

static void find_fewer_products(struct finding *f, uint32_t first, uint32_t end, uint32_t source)
{
    const struct found_member *members = f->r->findings->members.items;
    uint32_t target = find_fewest_products(f, first, end, source);
    if (target != source && members[target].level == members[source].level &&
        !derive_term(&f->r->rules, &members[source].key, &members[target].key, members[source].level, MAX_TERMS,
                     DERIVE_BY_RULES))
        judge_shortcut(f, &members[source].key, &members[target].key);
}

static void find_in_class(struct finding *f, uint32_t class)
{
    const struct reduction *r = f->r;
    uint32_t first = r->first_member.items[class], end = r->first_member.items[class + 1];
    const struct found_member *members = r->findings->members.items;
    for (uint32_t s = first; s < end && members[s].level <= f->max_ops; s++) {
        if (s > first)
            find_smaller(f, first, s);
        if (r->family_types->family->wants_fewer_products)
            find_fewer_products(f, first, end, s);
    }
}

void shortcuts_find(struct reduction *r, int max_ops)
{
    uint32_t n = r->findings->n_classes;
    LOCAL_ZEROS(struct finding, parts, n);
#pragma omp parallel for num_threads(r->family_types->threads) schedule(dynamic, 64)
    for (uint32_t class = 0; class < n; class ++) {
        parts[class] = (struct finding){.r = r, .max_ops = max_ops};
        if (!interrupt_requested())
            find_in_class(&parts[class], class);
    }
    for (uint32_t class = 0; class < n; class ++) {
        for (size_t i = 0; i < parts[class].equations.count; i++)
            vec_push(&r->equations, parts[class].equations.items[i]);
        vec_free(&parts[class].equations);
    }
}
