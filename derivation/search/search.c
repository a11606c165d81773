// Breadth first: a state's suggestions make the states of the next depth. What a scope can become, and what operators
// it can be, is found once for each scope, however many programs have it.
#include "derivation/search/search.h"

#include "core/memory/hash.h"
#include "derivation/programs/cost.h"
#include "derivation/scopes/substitution.h"
#include <math.h>

enum { MOST_RESULTS_OF_STATE = 64 };
const struct search_limits search_standard_limits = {
    .depth = 5, .most_programs = 4000, .most_operations = 8, .factorizes = true};

// --- what is known ---------------------------------------------------------------------------------------------------

static uint64_t hash_tensor(int tensor)
{
    return hash_mix((uint64_t)tensor, 0);
}

static bool is_state(const void *owner, uint32_t id, const void *key)
{
    return ((const struct search *)owner)->states.items[id].program == *(const int *)key;
}

static bool is_result(const void *owner, uint32_t id, const void *key)
{
    return ((const struct search *)owner)->results.items[id].program == *(const int *)key;
}

static bool is_matched(const void *owner, uint32_t id, const void *key)
{
    return ((const struct search *)owner)->matches.items[id].tensor == *(const int *)key;
}

static bool is_suggested(const void *owner, uint32_t id, const void *key)
{
    return ((const struct search *)owner)->suggestions.items[id].tensor == *(const int *)key;
}

static struct suggestions suggestions_of(struct search *s, int tensor)
{
    uint32_t found = table_find(&s->suggested, hash_tensor(tensor), is_suggested, s, &tensor);
    if (found == TABLE_NONE) {
        struct search_suggestions suggestions = {.tensor = tensor};
        suggest(&s->dv->all.pool, tensor, s->limits.factorizes, &suggestions.list);
        found = (uint32_t)s->suggestions.count;
        vec_push(&s->suggestions, suggestions);
        table_insert(&s->suggested, hash_tensor(tensor), found);
    }
    return s->suggestions.items[found].list;
}

static const struct match_list *matches_of(struct search *s, int tensor)
{
    uint32_t found = table_find(&s->matched, hash_tensor(tensor), is_matched, s, &tensor);
    if (found == TABLE_NONE) {
        struct search_matches matches = {.tensor = tensor};
        match_scope(s->dv, tensor, &matches.list);
        found = (uint32_t)s->matches.count;
        vec_push(&s->matches, matches);
        table_insert(&s->matched, hash_tensor(tensor), found);
        s->counters.n_matched++;
    }
    return &s->matches.items[found].list;
}

// --- converging ------------------------------------------------------------------------------------------------------

static void add_result(struct search *s, int program, int state)
{
    if (table_find(&s->found, hash_tensor(program), is_result, s, &program) != TABLE_NONE)
        return;
    struct program_cost cost = program_cost(s->dv, program);
    s->cheapest = fmin(s->cheapest, cost.total);
    table_insert(&s->found, hash_tensor(program), (uint32_t)s->results.count);
    vec_push(&s->results, ((struct derived_program){program, state, cost.total, cost.turned}));
}

static bool is_too_costly(struct search *s, int program)
{
    return s->limits.most_cost > 0 && program_least_cost(s->dv, program) > s->limits.most_cost * s->cheapest;
}

// The first scope from `from` on for which an operator is to be found.
static int find_open(struct search *s, int program, int from)
{
    struct tensor_list tensors;
    program_tensors(s->dv, program, &tensors);
    for (int i = 0; i < tensors.n; i++)
        if (tensors.items[i] > from && is_worth_an_operator(s->dv, tensors.items[i]) &&
            !derivation_application(s->dv, tensors.items[i]))
            return tensors.items[i];
    return NO_SCOPE;
}

// Each open scope becomes each of the operators that it can be.
static void converge(struct search *s, int program, int state, int skipped, size_t most)
{
    int open = find_open(s, program, skipped);
    if (s->results.count >= most || is_too_costly(s, program))
        return;
    if (open == NO_SCOPE) {
        add_result(s, program, state);
        return;
    }
    const struct match_list list = *matches_of(s, open);
    size_t n_tried = 0;
    vec_each(&list.items, match) {
        if (s->limits.does_not_converge && match->distance > 0)
            continue;
        converge(s, derivation_replace(s->dv, program, open, match->equal), state, skipped, most);
        n_tried++;
    }
    if (n_tried == 0)
        converge(s, program, state, open, most);
}

// --- exploring -------------------------------------------------------------------------------------------------------

static double operations_of(struct search *s, int program)
{
    struct program_cost cost = program_cost(s->dv, program);
    return cost.operations + cost.others;
}

static bool add_state(struct search *s, struct search_state state)
{
    uint32_t known = table_find(&s->known, hash_tensor(state.program), is_state, s, &state.program);
    s->counters.n_known += known != TABLE_NONE;
    if (known != TABLE_NONE && !s->limits.forgets)
        return false;
    if (known == TABLE_NONE)
        table_insert(&s->known, hash_tensor(state.program), (uint32_t)s->states.count);
    vec_push(&s->states, state);
    return true;
}

static bool has_room(struct derivation *dv, int program)
{
    struct tensor_list tensors;
    program_tensors(dv, program, &tensors);
    return tensors.n < MOST_TENSORS;
}

static void explore_tensor(struct search *s, size_t state, int tensor, double most_operations)
{
    struct search_state from = s->states.items[state];
    const struct suggestions suggestions = suggestions_of(s, tensor);
    for (size_t i = 0; i < suggestions.items.count && s->states.count < s->limits.most_programs; i++) {
        const struct suggestion *to = &suggestions.items.items[i];
        int program = derivation_replace(s->dv, from.program, tensor, to->equal);
        s->counters.n_steps++;
        s->counters.n_by_rule[to->rule]++;
        if (has_room(s->dv, program) && operations_of(s, program) <= most_operations)
            add_state(s, (struct search_state){program, (int)state, from.depth + 1, to->rule, tensor, to->equal});
    }
}

static void explore(struct search *s, size_t state, double most_operations)
{
    struct tensor_list tensors;
    program_tensors(s->dv, s->states.items[state].program, &tensors);
    for (int i = 0; i < tensors.n; i++)
        if (!depends_on_weights_alone(s->dv, tensors.items[i]) && !scope_is_copy(&s->dv->all.pool, tensors.items[i]))
            explore_tensor(s, state, tensors.items[i], most_operations);
}

COMPARISON(by_cost, struct derived_program,
           ORDER(x->cost, y->cost) ?: ORDER(x->turned, y->turned) ?: ORDER(x->program, y->program))

void search_run(struct search *s, struct derivation *dv, int program, const struct search_limits *limits)
{
    *s = (struct search){.dv = dv, .limits = *limits, .cheapest = INFINITY};
    double most_operations = limits->most_operations * operations_of(s, program);
    add_state(s, (struct search_state){.program = program, .before = -1});
    for (size_t i = 0; i < s->states.count; i++) {
        converge(s, s->states.items[i].program, (int)i, -1, s->results.count + MOST_RESULTS_OF_STATE);
        if (s->states.items[i].depth < limits->depth)
            explore(s, i, most_operations);
    }
    vec_sort(&s->results, by_cost);
}

void search_free(struct search *s)
{
    for (size_t i = 0; i < s->matches.count; i++)
        vec_free(&s->matches.items[i].list.items);
    for (size_t i = 0; i < s->suggestions.count; i++)
        vec_free(&s->suggestions.items[i].list.items);
    vecs_free(s, matches, suggestions, states, results);
    table_free(&s->known);
    table_free(&s->matched);
    table_free(&s->suggested);
    table_free(&s->found);
}
