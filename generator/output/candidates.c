// Equations become rules in both directions; texts are sorted, and duplicates and instances of others dropped.
#include "generator/output/candidates.h"

#include "core/text/text.h"
#include "generator/other_sizes/instances.h"
#include "generator/output/equation_text.h"
#include "generator/output/unified.h"
#include <string.h>

void candidate_rules_init(struct candidates *c, struct arena *arena)
{
    *c = (struct candidates){.arena = arena};
}

void candidate_rules_free(struct candidates *c)
{
    vecs_free(c, rules, counts);
}

// --- from equations -------------------------------------------------------------------------------------------------

// The texts of one direction of an equation; empty where it is no rule. (What constants make alone is for deriving
// only.)
struct printed {
    struct text body, over_groups;
    struct rule_graph graph;
    const struct shapes *shapes;
};

// Only the arena is shared by threads.
static void print_direction(struct arena *a, const struct equation *equation, struct evaluation_cache *calls,
                            struct printed *ret_printed)
{
    ret_printed->graph = equation->graph;
    if (!equation_text_add(&ret_printed->body, equation_has_one_group(equation) ? &ret_printed->over_groups : NULL,
                           equation, calls))
        text_clear(&ret_printed->body);
#pragma omp critical(shapes)
    ret_printed->shapes = arena_copy_array(a, &equation->shapes, 1);
}

static bool make_reverse(const struct equation *equation, struct evaluation_cache *calls, struct equation *ret_reverse)
{
    struct equation reverse = {.graph = equation->graph, .is_derivable = equation->is_derivable};
    for (int i = 0; i < equation->graph.n_outputs; i++) {
        if (!reference_is_node(equation->graph.target[i]))
            return false;
        reverse.graph.source[i] = equation->graph.target[i];
        reverse.graph.target[i] = equation->graph.source[i];
    }
    if (equation->is_derivable || !rule_graph_is_directed(&reverse.graph))
        return false;
    rule_graph_clean(&reverse.graph);
    *ret_reverse = reverse;
    return shapes_test(&ret_reverse->graph, calls, EVIDENCE_DERIVED, &ret_reverse->shapes) == SHAPES_HOLD;
}

static void print_equation(struct arena *a, const struct equation *equation, struct evaluation_cache *calls,
                           struct printed ret_printed[2])
{
    struct equation reverse;
    print_direction(a, equation, calls, &ret_printed[0]);
    if (make_reverse(equation, calls, &reverse))
        print_direction(a, &reverse, calls, &ret_printed[1]);
    if (ret_printed[1].body.count && strcmp(ret_printed[0].body.chars, ret_printed[1].body.chars) == 0)
        text_clear(&ret_printed[1].body);
}

static uint32_t rank_of_rule_graph(const struct rule_graph *rg)
{
    return (uint32_t)LARGEST(int, 0, int, v, rg->n_variables, rg->variables[v].rank);
}

static void take_printed(struct candidates *c, const struct reduction *r, const struct equation *equation,
                         struct printed *p)
{
    if (p->body.count && p->graph.n_variables > 0)
        vec_push(&c->rules,
                 ((struct candidate_rule){
                     .body = arena_string(c->arena, p->body.chars),
                     .over_groups = p->over_groups.count ? arena_string(c->arena, p->over_groups.chars) : NULL,
                     .family = r->family_types->family->name,
                     .operators = {(uint8_t)rule_graph_count_nodes(&p->graph, p->graph.source),
                                   (uint8_t)rule_graph_count_nodes(&p->graph, p->graph.target)},
                     .outputs = p->graph.n_outputs,
                     .ranks = 1u << rank_of_rule_graph(&p->graph),
                     .is_derivable = equation->is_derivable,
                     .graph = p->graph,
                     .shapes = p->shapes}));
    text_free(&p->body);
    text_free(&p->over_groups);
}

void candidate_rules_add(struct candidates *c, const struct reduction *r, struct family_counts *counts)
{
    size_t n = r->equations.count, before = c->rules.count;
    struct printed(*printed)[2] = mem_alloc_zero(n * sizeof *printed);
#pragma omp parallel for num_threads(r->family_types->threads) schedule(dynamic, 4)
    for (size_t i = 0; i < n; i++)
        print_equation(c->arena, &r->equations.items[i], reduction_calls(r), printed[i]);
    for (size_t i = 0; i < n; i++) {
        counts->minimal += !r->equations.items[i].is_derivable;
        for (int direction = 0; direction < 2; direction++)
            take_printed(c, r, &r->equations.items[i], &printed[i][direction]);
    }
    mem_free(printed, n * sizeof *printed);
    counts->rules = c->rules.count - before;
    vec_push(&c->counts, *counts);
}

// --- sorting and merging ---------------------------------------------------------------------------------------------

static int larger_side(const struct candidate_rule *r)
{
    return r->operators[0] > r->operators[1] ? r->operators[0] : r->operators[1];
}

// Small rules first; equal ones with the one that is not derivable first, then by family.
COMPARISON(compare_rules, struct candidate_rule,
           ORDER(larger_side(x), larger_side(y)) ?:
           x->operators[0] + x->operators[1] - y->operators[0] - y->operators[1] ?: strcmp(x->body, y->body) ?:
           ORDER(x->is_derivable, y->is_derivable) ?: strcmp(x->family, y->family))

COMPARISON(compare_over_groups, struct candidate_rule *,
           strcmp((*x)->over_groups, (*y)->over_groups) ?: compare_rules(*x, *y))

static void sort_and_deduplicate(struct candidates *c)
{
    size_t n = 0;
    vec_sort(&c->rules, compare_rules);
    for (size_t i = 0; i < c->rules.count; i++)
        if (n == 0 || strcmp(c->rules.items[n - 1].body, c->rules.items[i].body) != 0)
            c->rules.items[n++] = c->rules.items[i];
        else
            c->rules.items[n - 1].ranks |= c->rules.items[i].ranks;
    c->rules.count = n;
}

// Rules that agree but for the groups of convolutions, two or more of them, become one with a variable.
static void join_over_groups(struct candidates *c)
{
    LOCAL_VEC(struct candidate_rule *, grouped);
    for (size_t i = 0; i < c->rules.count; i++)
        if (c->rules.items[i].over_groups)
            vec_push(&grouped, &c->rules.items[i]);
    vec_sort(&grouped, compare_over_groups);
    for (size_t i = 0, end; i < grouped.count; i = end) {
        for (end = i + 1; end < grouped.count; end++)
            if (strcmp(grouped.items[i]->over_groups, grouped.items[end]->over_groups) != 0)
                break;
        for (size_t k = i; end - i > 1 && k < end; k++)
            grouped.items[k]->body = grouped.items[k]->over_groups;
    }
}

struct instance_order {
    uint64_t hash;
    struct candidate_rule *rule;
};

COMPARISON(compare_instances, struct instance_order, ORDER(x->hash, y->hash) ?: compare_rules(x->rule, y->rule))

static bool drop_if_instance(struct candidate_rule *special, struct candidate_rule *general)
{
    bool is_seen_there = general->body && (special->ranks & ~general->ranks) == 0;
    if (special == general || !is_seen_there || !text_is_instance(general->body, special->body))
        return false;
    general->is_derivable = general->is_derivable && special->is_derivable;
    special->body = NULL;
    return true;
}

// A rule with attribute variables replaces those that it becomes with some values of them, if it was found for tensors
// of their ranks too.
static void drop_instances(struct candidates *c)
{
    LOCAL_VEC(struct instance_order, order);
    size_t n = 0;
    for (size_t i = 0; i < c->rules.count; i++)
        vec_push(&order, ((struct instance_order){text_hash_of_instances(c->rules.items[i].body), &c->rules.items[i]}));
    vec_sort(&order, compare_instances);
    for (size_t i = 0, end; i < order.count; i = end) {
        for (end = i + 1; end < order.count && order.items[end].hash == order.items[i].hash;)
            end++;
        for (size_t special = i; special < end; special++)
            for (size_t k = i; k < end && order.items[special].rule->body; k++)
                drop_if_instance(order.items[special].rule, order.items[k].rule);
    }
    for (size_t i = 0; i < c->rules.count; i++)
        if (c->rules.items[i].body)
            c->rules.items[n++] = c->rules.items[i];
    c->rules.count = n;
}

void candidate_rules_finish(struct candidates *c)
{
    sort_and_deduplicate(c);
    join_over_groups(c);
    sort_and_deduplicate(c);
    drop_instances(c);
    unified_add(c);
    sort_and_deduplicate(c);
}

// --- printing --------------------------------------------------------------------------------------------------------

static const char *root_name(const struct rule_graph *rg, reference root)
{
    return reference_is_node(root)       ? rg->family->instances[rg->nodes[reference_node(root)].instance].op->name
           : reference_is_variable(root) ? "input"
                                         : "constant";
}

static void print_rule(struct text *out, const struct candidate_rule *r)
{
    uint64_t hash = hash_string(r->body);
    text_printf(out, "(rule %s-%s-%012llx%s", root_name(&r->graph, r->graph.source[0]),
                root_name(&r->graph, r->graph.target[0]), (unsigned long long)(hash >> 16), r->body);
    text_printf(out, "\n  (proof (generated (family %s) (operators %d %d)", r->family, r->operators[0],
                r->operators[1]);
    if (r->n_unified)
        text_printf(out, " (of %zu)", r->n_unified);
    text_add(out, r->is_derivable ? " derivable)))\n" : ")))\n");
}

void candidate_rules_print(struct text *out, const struct candidates *c, bool only_minimal)
{
    for (size_t i = 0; i < c->rules.count; i++)
        if (!only_minimal || !c->rules.items[i].is_derivable)
            print_rule(out, &c->rules.items[i]);
}
