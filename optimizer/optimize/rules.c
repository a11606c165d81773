// The rules of both searches stand in one set: those of backtracking first, behind them those that only an e-graph has.
// A rule that both files have stands once.
#include "optimizer/optimize/rules.h"

#include "optimizer/derive/derived_rules.h"
#include "optimizer/optimize/compilation.h"

#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "operators/traits.h"
#include "substitutions/standard_rules.h"
#include "substitutions/trusted_rules.h"
#include <string.h>

static const struct rule *find_rule(const struct rule_set *rules, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(rules->rules.items[i]->name, name) == 0)
            return rules->rules.items[i];
    return NULL;
}

static bool say_the_same(const struct rule *x, const struct rule *y)
{
    TEXT(of_x);
    TEXT(of_y);
    rule_print_statement(&of_x, x);
    rule_print_statement(&of_y, y);
    return strcmp(of_x.chars, of_y.chars) == 0;
}

static bool is_of_backtracking(const struct optimizing *o, const struct rule *r)
{
    return r->number < o->rules.n_of_backtracking || (o->rules.n_derived && r->number >= o->rules.first_derived);
}

static bool is_of_some_search(const struct rule *r, const void *context)
{
    const struct optimizing *o = context;
    return r->number < o->rules.n_of_backtracking || o->rules.is_of_egraph.items[r->number];
}

// The same name with fewer or other conditions is another rule.
static void add_to_egraph(struct optimizing *o, struct rule *r)
{
    const struct rule *namesake = find_rule(&o->rules.set, o->rules.n_of_backtracking, r->name);
    bool is_same = namesake && say_the_same(namesake, r);
    o->rules.is_of_egraph.items[is_same ? namesake->number : r->number] = true;
    if (namesake && !is_same)
        r->name = arena_printf(&o->arena, "egraph-%s", r->name);
}

static bool read_rules_of_egraph(struct optimizing *o, const char *path)
{
    if (!rule_set_read(&o->rules.set, path, o->error))
        return false;
    for (size_t i = 0; i < o->rules.set.rules.count; i++)
        vec_push(&o->rules.is_of_egraph, false);
    for (size_t i = o->rules.n_of_backtracking; i < o->rules.set.rules.count; i++)
        add_to_egraph(o, o->rules.set.rules.items[i]);
    rule_set_filter(&o->rules.set, is_of_some_search, o);
    return true;
}

// NULL: those of the other search.
static const char *rules_of_egraph(const struct optimize_options *options, char buffer[SHARED_PATH_SIZE])
{
    char standard[SHARED_PATH_SIZE];
    if (options->search == SEARCH_BACKTRACKING)
        return NULL;
    if (options->egraph_rules)
        return options->egraph_rules;
    return strcmp(options->rules, standard_rules_file(standard)) == 0 ? standard_egraph_rules_file(buffer) : NULL;
}

static bool is_wanted(const struct rule *r, const void *context)
{
    const struct optimize_options *options = context;
    return ALL(size_t, i, options->without.count, strcmp(options->without.items[i], r->name) != 0) &&
           (options->max_rule_ops == 0 || rule_most_operators(r) <= (size_t)options->max_rule_ops);
}

bool optimizing_read_rules(struct optimizing *o)
{
    const struct option_list *without = &o->options->without;
    char buffer[SHARED_PATH_SIZE];
    const char *of_egraph = rules_of_egraph(o->options, buffer);
    if (!rule_set_read(&o->rules.set, o->options->rules, o->error))
        return false;
    o->rules.n_of_backtracking = o->rules.set.rules.count;
    if (o->rules.n_of_backtracking == 0)
        log_warning(o->options->log, "%s: has no rules", o->options->rules);
    if (of_egraph && !read_rules_of_egraph(o, of_egraph))
        return false;
    for (size_t i = 0; i < without->count; i++)
        if (!find_rule(&o->rules.set, o->rules.set.rules.count, without->items[i]))
            return error_set_code(o->error, EXIT_USAGE, o->options->rules, "there is no rule %s", without->items[i]);
    rule_set_filter(&o->rules.set, is_wanted, o->options);
    return !o->options->only_proved || proved_rules_keep(&o->rules.set, o->options->rules, o->options->log,
                                                         &o->report.found.n_rules_left_out, o->error);
}

static bool is_for_all_sizes(const struct rule *r, const void *context)
{
    (void)context;
    return rule_claims_proof(r);
}

void optimizing_keep_rules_for_sizes(struct optimizing *o)
{
    if (o->model.symbols.list.count == 0)
        return;
    o->report.found.n_rules_of_known_sizes = rule_set_filter(&o->rules.set, is_for_all_sizes, NULL);
    if (o->report.found.n_rules_of_known_sizes)
        log_info(o->options->log, "%s: has symbolic sizes, at which %zu rules are not used that are not proved",
                 o->options->input, o->report.found.n_rules_of_known_sizes);
}

static bool has_products(const struct operator* op)
{
    return operator_convolves(op) || operator_multiplies_matrices(op);
}

static bool saves_no_products(const struct rule *r, const void *context)
{
    (void)context;
    return !rule_introduces_differences(r) ||
           ALL(uint32_t, i, r->n_source_nodes, !has_products(r->pattern.nodes.items[i].op));
}

void optimizing_leave_products_to_kernels(struct optimizing *o)
{
    char standard[SHARED_PATH_SIZE];
    bool has_kernels = o->backend->methods->has_inexact_choices && o->backend->options.error_budget > 0;
    bool is_ours = strcmp(o->options->rules, standard_rules_file(standard)) == 0;
    size_t n = has_kernels && is_ours ? rule_set_filter(&o->rules.set, saves_no_products, NULL) : 0;
    if (n)
        log_info(o->options->log, "%zu rule%s left to kernels, which save products by differences here", n,
                 n == 1 ? " is" : "s are");
}

void optimizing_rules_of_backtracking(struct optimizing *o, struct rule_set *ret_rules)
{
    rule_set_init(ret_rules, &o->arena);
    for (size_t i = 0; i < o->rules.set.rules.count; i++)
        if (is_of_backtracking(o, o->rules.set.rules.items[i]))
            vec_push(&ret_rules->rules, o->rules.set.rules.items[i]);
}

// --- derived ones ----------------------------------------------------------------------------------------------------

static uint32_t number_behind(const struct rule_set *rules)
{
    uint32_t number = 0;
    for (size_t i = 0; i < rules->rules.count; i++)
        number = rules->rules.items[i]->number >= number ? rules->rules.items[i]->number + 1 : number;
    return number;
}

// The rules from `first` on come before all others: what they gain is known first, where the time is limited.
static void move_forward(struct rule_set *set, size_t first)
{
    LOCAL_VEC(struct rule *, all);
    for (size_t i = 0; i < set->rules.count; i++)
        vec_push(&all, set->rules.items[i]);
    for (size_t i = 0; i < all.count; i++)
        set->rules.items[i] = all.items[(first + i) % all.count];
}

static bool is_of_onnx(const struct rule *r, const void *context)
{
    return ALL(size_t, i, r->pattern.nodes.count, !operator_has_role(r->pattern.nodes.items[i].op, ROLE_CODE));
}

// Rules for all sizes, which ship.
static void read_derived_rules(struct optimizing *o)
{
    struct error error;
    char buffer[SHARED_PATH_SIZE];
    if (!rule_set_read(&o->rules.set, standard_derived_rules_file(buffer), &error))
        log_warning(o->options->log, "%s:%u:%u: %s", error.file, error.line, error.column, error.message);
    if (!optimizing_compiles(o->options))
        rule_set_filter(&o->rules.set, is_of_onnx, NULL);
    rule_set_filter(&o->rules.set, is_wanted, o->options);
}

static void print_rules(const struct optimizing *o, size_t first, struct text *out)
{
    for (size_t i = first; i < o->rules.set.rules.count; i++)
        rule_print(out, o->rules.set.rules.items[i]);
}

static bool derives(const struct optimizing *o)
{
    const struct optimize_options *options = o->options;
    bool is_wanted = options->says_whether_to_derive ? options->derives : optimizing_compiles(options);
    bool may_be = !options->only_proved && !options->keeps_nan && o->search.layout != STRATEGY_LAYOUT_ONLY;
    return is_wanted && may_be && o->model.symbols.list.count == 0;
}

void optimizing_derive_rules(struct optimizing *o)
{
    TEXT(text);
    size_t first = o->rules.set.rules.count;
    uint32_t number = number_behind(&o->rules.set);
    bool has_egraph = o->rules.is_of_egraph.count > 0;
    if (!derives(o))
        return;
    phases_enter(&o->time.phases, PHASE_DERIVING);
    read_derived_rules(o);
    size_t n_shipped = o->rules.set.rules.count - first,
           n_parts = derived_rules_add(&o->rules.set, &o->model.graph, !optimizing_compiles(o->options),
                                       !o->options->derives);
    rule_set_filter(&o->rules.set, is_wanted, o->options);
    print_rules(o, first + n_shipped, &text);
    log_info(o->options->log, "derived from %zu products and convolutions:\n%s", n_parts,
             text.count ? text.chars : "nothing");
    o->rules.first_derived = number;
    o->rules.n_derived = o->rules.set.rules.count - first;
    for (size_t i = first; i < o->rules.set.rules.count; i++)
        o->rules.set.rules.items[i]->number = number++;
    while (has_egraph && o->rules.is_of_egraph.count < number)
        vec_push(&o->rules.is_of_egraph, true);
    move_forward(&o->rules.set, first);
}
