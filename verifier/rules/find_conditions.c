// Atoms that hold of good instances are combined until no failing instance meets them.
#include "verifier/rules/find_conditions.h"

#include "instances/known_ranks.h"
#include "operators/traits.h"
#include "substitutions/pattern.h"
#include <string.h>

#define MAX_SAMPLES 2048
#define MAX_ATOMS 192
#define SAMPLE_WORDS (MAX_SAMPLES / 64)

struct sample {
    const struct type *types[MAX_RULE_VARIABLES];
    struct attribute_value attributes[MAX_RULE_VARIABLES];
};
struct sample_set {
    uint32_t count;
    struct sample items[MAX_SAMPLES];
};
struct atom {
    struct condition condition;
    uint64_t good[SAMPLE_WORDS], bad[SAMPLE_WORDS];   // the samples that meet it
};
struct atom_search {
    const struct equation *equation;
    struct arena *arena;   // of the samples and the vocabulary
    struct arena *scratch;
    struct sample_set good, bad;
    uint32_t n_atoms;
    struct atom atoms[MAX_ATOMS];
};

struct condition condition_equal(const struct attribute_term *x, const struct attribute_term *y)
{
    return (struct condition){.kind = CONDITION_EQUAL, .a = x, .b = y};
}

const struct attribute_term *integer_term(struct arena *a, int64_t value)
{
    return attribute_term_make(TERM_INTEGER, value, NULL, a);
}

const struct attribute_term *dim_term(struct arena *a, uint32_t variable, int64_t axis)
{
    return attribute_term_make(TERM_DIM, variable, integer_term(a, axis), a);
}

void rule_add_conditions(struct rule *r, const struct found_condition *added, struct arena *a)
{
    uint32_t n = r->n_conditions + added->count;
    struct condition *conditions = arena_array(a, struct condition, n + 1);
    if (r->n_conditions)
        memcpy(conditions, r->conditions, r->n_conditions * sizeof *conditions);
    memcpy(conditions + r->n_conditions, added->conditions, added->count * sizeof *conditions);
    r->conditions = conditions;
    r->n_conditions = n;
}

// --- samples ---------------------------------------------------------------------------------------------------------

// Types are void when the judge goes on to other attributes. No condition speaks of split trees.
static const struct type *copy_shape(struct arena *a, const struct type *type)
{
    struct type copy = type_make(type->dtype, type->rank, type->dim);
    return arena_copy_array(a, &copy, 1);
}

static bool take_sample(void *context, struct instance *in, enum comparison outcome)
{
    struct atom_search *s = context;
    struct sample_set *set = outcome == COMPARISON_EQUAL ? &s->good : &s->bad;
    if (set->count == MAX_SAMPLES)
        return s->good.count + s->bad.count < 2 * MAX_SAMPLES;
    struct sample *sample = &set->items[set->count++];
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++) {
        sample->types[v] = in->types[v] ? copy_shape(s->arena, in->types[v]) : NULL;
        sample->attributes[v] = in->attributes[v];
        if (v < in->equation->pattern->n_attribute_variables && in->attributes[v].count)
            sample->attributes[v].ints = arena_copy_array(s->arena, in->attributes[v].ints, in->attributes[v].count);
    }
    return true;
}

static void evaluate_atom(const struct atom_search *s, const struct condition *c, const struct sample_set *set,
                          uint64_t *ret_met)
{
    memset(ret_met, 0, sizeof *ret_met * SAMPLE_WORDS);
    for (uint32_t i = 0; i < set->count; i++) {
        struct term_bindings b = {set->items[i].types, set->items[i].attributes};
        ARENA_MARK(mark, s->scratch);
        if (condition_holds(c, &b, NULL, s->scratch))
            ret_met[i / 64] |= (uint64_t)1 << i % 64;
    }
}

// --- the vocabulary --------------------------------------------------------------------------------------------------

static void add_equality(struct atom_search *s, const struct attribute_term *a, const struct attribute_term *b)
{
    if (s->n_atoms == MAX_ATOMS)
        return;
    struct atom *atom = &s->atoms[s->n_atoms];
    atom->condition = condition_equal(a, b);
    evaluate_atom(s, &atom->condition, &s->bad, atom->bad);
    evaluate_atom(s, &atom->condition, &s->good, atom->good);
    s->n_atoms += ANY(uint32_t, i, s->bad.count, !(atom->bad[i / 64] >> i % 64 & 1)) &&
                  ANY(uint32_t, i, s->good.count, atom->good[i / 64] >> i % 64 & 1);
}

static int largest_rank(const struct atom_search *s, uint32_t variable)
{
    return LARGEST(int, 0, uint32_t, i, s->good.count,
                   s->good.items[i].types[variable] ? s->good.items[i].types[variable]->rank : 0);
}

static bool is_list(const struct atom_search *s, uint32_t attribute_variable)
{
    return ANY(uint32_t, i, s->good.count, s->good.items[i].attributes[attribute_variable].count != 1);
}

static void add_attribute_atoms(struct atom_search *s)
{
    const struct pattern *p = s->equation->pattern;
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        const struct attribute_term *variable = attribute_term_make(TERM_VARIABLE, v, NULL, s->arena);
        for (int64_t value = 0; value < 3 && !is_list(s, v); value++)
            add_equality(s, variable, integer_term(s->arena, value));
        add_equality(s, attribute_term_make(TERM_SUM, 0, variable, s->arena), integer_term(s->arena, 0));
        add_equality(s, attribute_term_make(TERM_PRODUCT, 0, variable, s->arena), integer_term(s->arena, 1));
        for (uint32_t w = 0; w < v; w++)
            add_equality(s, attribute_term_make(TERM_VARIABLE, w, NULL, s->arena), variable);
    }
}

static void add_dim_atoms(struct atom_search *s, uint32_t v, uint32_t w)
{
    int rank_of_v = largest_rank(s, v), rank_of_w = largest_rank(s, w);
    if (v == w)
        for (int a = 0; a < rank_of_v; a++)
            add_equality(s, dim_term(s->arena, v, a), integer_term(s->arena, 1));
    for (int a = 0; a < rank_of_v; a++)
        for (int b = v == w ? a + 1 : 0; b < rank_of_w; b++)
            add_equality(s, dim_term(s->arena, v, a), dim_term(s->arena, w, b));
}

static void add_atoms(struct atom_search *s)
{
    uint32_t n = s->equation->pattern->n_variables;
    for (uint32_t v = 0; v < n; v++)
        for (int rank = 0; rank <= largest_rank(s, v); rank++)
            add_equality(s, attribute_term_make(TERM_RANK, v, NULL, s->arena), integer_term(s->arena, rank));
    add_attribute_atoms(s);
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t w = v + 1; w < n; w++) {
            add_equality(s, attribute_term_make(TERM_RANK, v, NULL, s->arena),
                         attribute_term_make(TERM_RANK, w, NULL, s->arena));
            add_equality(s, attribute_term_make(TERM_DIMS, v, NULL, s->arena),
                         attribute_term_make(TERM_DIMS, w, NULL, s->arena));
        }
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t w = v; w < n; w++)
            add_dim_atoms(s, v, w);
}

// --- the search ------------------------------------------------------------------------------------------------------

struct choice {
    uint32_t count, atoms[MAX_SEARCHED_CONDITIONS];
    uint32_t met;   // good samples
};

// The samples that meet both, and how many these are.
static uint32_t intersect(const uint64_t *a, const uint64_t *b, uint32_t n_samples, uint64_t *ret_both)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < (n_samples + 63) / 64; w++) {
        ret_both[w] = a[w] & b[w];
        n += (uint32_t)__builtin_popcountll(ret_both[w]);
    }
    return n;
}

static void try_conjunctions(const struct atom_search *s, struct choice *path, uint32_t first, uint32_t depth,
                             const uint64_t *good, const uint64_t *bad, struct choice *best)
{
    for (uint32_t i = first; i < s->n_atoms; i++) {
        uint64_t good_here[SAMPLE_WORDS], bad_here[SAMPLE_WORDS];
        uint32_t met = intersect(good, s->atoms[i].good, s->good.count, good_here);
        if (met <= best->met)
            continue;
        uint32_t left = intersect(bad, s->atoms[i].bad, s->bad.count, bad_here);
        path->atoms[path->count++] = i;
        if (!left) {
            *best = *path;
            best->met = met;
        } else if (path->count < depth)
            try_conjunctions(s, path, i + 1, depth, good_here, bad_here, best);
        path->count--;
    }
}

static const struct attribute_term *copy_term(const struct attribute_term *t, struct arena *a)
{
    struct attribute_term *copy = arena_copy_array(a, t, 1);
    const struct attribute_term **operands = arena_array(a, const struct attribute_term *, t->count + 1);
    for (uint32_t i = 0; i < t->count; i++)
        operands[i] = copy_term(t->operands[i], a);
    copy->operands = operands;
    return copy;
}

static struct condition copy_equality(const struct condition *c, struct arena *a)
{
    struct condition copy = *c;
    copy.a = copy_term(c->a, a);
    copy.b = copy_term(c->b, a);
    return copy;
}

static struct choice find_best_choice(struct atom_search *s)
{
    struct choice best = {0};
    uint64_t all[SAMPLE_WORDS];
    memset(all, 0xff, sizeof all);
    if (s->good.count == 0 || s->bad.count == 0)
        return best;
    add_atoms(s);
    for (uint32_t depth = 1; depth <= MAX_SEARCHED_CONDITIONS; depth++) {
        struct choice path = {0};
        try_conjunctions(s, &path, 0, depth, all, all, &best);
    }
    return best;
}

struct found_condition find_weakest_condition(struct judge *j, const struct equation *eq, struct arena *a)
{
    struct arena samples = {0};   // megabytes of them
    struct atom_search *s = arena_new(&samples, struct atom_search);
    s->equation = eq;
    s->arena = &samples;
    s->scratch = &j->scratch;
    judge_each_instance(j, eq, take_sample, s);
    struct choice best = find_best_choice(s);
    struct found_condition found = {.count = best.count, .is_exact = best.met == s->good.count};
    for (uint32_t i = 0; i < best.count; i++)
        found.conditions[i] = copy_equality(&s->atoms[best.atoms[i]].condition, a);
    arena_free(&samples);
    return found;
}

// --- ranks -----------------------------------------------------------------------------------------------------------

// (= (dim ?x 3) 1)
static bool asks_for_one(const struct condition *c, uint32_t variable, int axis)
{
    return c->kind == CONDITION_EQUAL && c->a->kind == TERM_DIM && c->a->value == variable &&
           c->a->operands[0]->kind == TERM_INTEGER && c->a->operands[0]->value == axis && c->b->kind == TERM_INTEGER &&
           c->b->value == 1;
}

static bool is_asked_for_one(const struct equation *eq, uint32_t variable, int axis)
{
    return ANY(uint32_t, i, eq->n_conditions, asks_for_one(&eq->conditions[i], variable, axis));
}

static void add_found(struct found_condition *found, const struct attribute_term *x, const struct attribute_term *y)
{
    if (found->count < MAX_ADDED_CONDITIONS)
        found->conditions[found->count++] = condition_equal(x, y);
}

static bool names_spatial_axis(const struct attribute_term *t, uint32_t variable)
{
    return (t->kind == TERM_DIM && t->value == variable && t->operands[0]->kind == TERM_INTEGER &&
            t->operands[0]->value >= 2) ||
           ANY(uint32_t, i, t->count, names_spatial_axis(t->operands[i], variable));
}

static bool attributes_name_spatial_axis(const struct pattern_node *node, uint32_t variable)
{
    return ANY(int, i, operator_n_attributes(node->op),
               ANY(uint32_t, j, node->attributes[i].count, names_spatial_axis(node->attributes[i].terms[j], variable)));
}

static bool equation_names_spatial_axis(const struct equation *eq, uint32_t variable)
{
    return ANY(size_t, n, eq->pattern->nodes.count,
               attributes_name_spatial_axis(&eq->pattern->nodes.items[n], variable)) ||
           ANY(uint32_t, i, eq->n_conditions,
               !condition_is_of_variable(eq->conditions[i].kind) &&
                   (names_spatial_axis(eq->conditions[i].a, variable) ||
                    names_spatial_axis(eq->conditions[i].b, variable)));
}

struct found_condition find_condition_on_ranks(const struct equation *eq, struct arena *a)
{
    struct found_condition found = {0};
    struct known_ranks ranks;
    known_ranks_begin(&ranks, eq);
    known_ranks_spread(&ranks, eq);
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++) {
        if (ranks.of_variable[v] != RANK_OPEN || !equation_names_spatial_axis(eq, v))
            continue;
        add_found(&found, attribute_term_make(TERM_RANK, v, NULL, a), integer_term(a, 4));
        for (int axis = 2; axis < 4; axis++)
            if (!is_asked_for_one(eq, v, axis) && is_asked_for_one(eq, v, 5 - axis))
                add_found(&found, dim_term(a, v, axis), integer_term(a, 1));
    }
    return found;
}
