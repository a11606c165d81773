#include "verifier/conditions.h"

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

// --- samples ---------------------------------------------------------------------------------------------------------

static bool take_sample(void *context, struct instance *in, enum comparison outcome)
{
    struct atom_search *s = context;
    struct sample_set *set = outcome == COMPARISON_EQUAL ? &s->good : &s->bad;
    if (set->count == MAX_SAMPLES)
        return s->good.count + s->bad.count < 2 * MAX_SAMPLES;
    struct sample *sample = &set->items[set->count++];
    memcpy(sample->types, in->types, sizeof sample->types);
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++) {
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
        struct arena_mark mark = arena_mark(s->scratch);
        if (condition_holds(c, &b, NULL, s->scratch))
            ret_met[i / 64] |= (uint64_t)1 << i % 64;
        arena_release(s->scratch, mark);
    }
}

// --- the vocabulary --------------------------------------------------------------------------------------------------

static const struct attribute_term *make_term(struct atom_search *s, enum attribute_term_kind kind, int64_t value,
                                              const struct attribute_term *operand)
{
    struct attribute_term *t = arena_new(s->arena, struct attribute_term);
    const struct attribute_term **operands = arena_array(s->arena, const struct attribute_term *, 1);
    operands[0] = operand;
    *t = (struct attribute_term){kind, value, operand != NULL, operands};
    return t;
}

static const struct attribute_term *integer_term(struct atom_search *s, int64_t value)
{
    return make_term(s, TERM_INTEGER, value, NULL);
}

static const struct attribute_term *dim_term(struct atom_search *s, uint32_t variable, int axis)
{
    return make_term(s, TERM_DIM, variable, integer_term(s, axis));
}

static void add_equality(struct atom_search *s, const struct attribute_term *a, const struct attribute_term *b)
{
    if (s->n_atoms == MAX_ATOMS)
        return;
    struct atom *atom = &s->atoms[s->n_atoms];
    atom->condition = (struct condition){.kind = CONDITION_EQUAL, .a = a, .b = b};
    evaluate_atom(s, &atom->condition, &s->bad, atom->bad);
    evaluate_atom(s, &atom->condition, &s->good, atom->good);
    bool excludes_some = false, allows_some = false;
    for (uint32_t i = 0; i < s->bad.count; i++)
        excludes_some = excludes_some || !(atom->bad[i / 64] >> i % 64 & 1);
    for (uint32_t i = 0; i < s->good.count; i++)
        allows_some = allows_some || (atom->good[i / 64] >> i % 64 & 1);
    s->n_atoms += excludes_some && allows_some;
}

static int largest_rank(const struct atom_search *s, uint32_t variable)
{
    int rank = 0;
    for (uint32_t i = 0; i < s->good.count; i++) {
        const struct type *t = s->good.items[i].types[variable];
        rank = t && t->rank > rank ? t->rank : rank;
    }
    return rank;
}

static bool is_list(const struct atom_search *s, uint32_t attribute_variable)
{
    for (uint32_t i = 0; i < s->good.count; i++)
        if (s->good.items[i].attributes[attribute_variable].count != 1)
            return true;
    return false;
}

static void add_attribute_atoms(struct atom_search *s)
{
    const struct pattern *p = s->equation->pattern;
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        const struct attribute_term *variable = make_term(s, TERM_VARIABLE, v, NULL);
        for (int64_t value = 0; value < 3 && !is_list(s, v); value++)
            add_equality(s, variable, integer_term(s, value));
        add_equality(s, make_term(s, TERM_SUM, 0, variable), integer_term(s, 0));
        add_equality(s, make_term(s, TERM_PRODUCT, 0, variable), integer_term(s, 1));
        for (uint32_t w = 0; w < v; w++)
            add_equality(s, make_term(s, TERM_VARIABLE, w, NULL), variable);
    }
}

static void add_dim_atoms(struct atom_search *s, uint32_t v, uint32_t w)
{
    int rank_of_v = largest_rank(s, v), rank_of_w = largest_rank(s, w);
    if (v == w)
        for (int a = 0; a < rank_of_v; a++)
            add_equality(s, dim_term(s, v, a), integer_term(s, 1));
    for (int a = 0; a < rank_of_v; a++)
        for (int b = v == w ? a + 1 : 0; b < rank_of_w; b++)
            add_equality(s, dim_term(s, v, a), dim_term(s, w, b));
}

static void add_atoms(struct atom_search *s)
{
    uint32_t n = s->equation->pattern->n_variables;
    for (uint32_t v = 0; v < n; v++)
        for (int rank = 0; rank <= largest_rank(s, v); rank++)
            add_equality(s, make_term(s, TERM_RANK, v, NULL), integer_term(s, rank));
    add_attribute_atoms(s);
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t w = v + 1; w < n; w++) {
            add_equality(s, make_term(s, TERM_RANK, v, NULL), make_term(s, TERM_RANK, w, NULL));
            add_equality(s, make_term(s, TERM_DIMS, v, NULL), make_term(s, TERM_DIMS, w, NULL));
        }
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t w = v; w < n; w++)
            add_dim_atoms(s, v, w);
}

// --- the search ------------------------------------------------------------------------------------------------------

struct choice {
    uint32_t count, atoms[MAX_ADDED_CONDITIONS];
    uint32_t met;   // good samples
};

static uint32_t count_met(const uint64_t *samples)
{
    uint32_t n = 0;
    for (int i = 0; i < SAMPLE_WORDS; i++)
        n += (uint32_t)__builtin_popcountll(samples[i]);
    return n;
}

static void try_conjunctions(const struct atom_search *s, struct choice *path, uint32_t first, uint32_t depth,
                             const uint64_t *good, const uint64_t *bad, struct choice *best)
{
    for (uint32_t i = first; i < s->n_atoms; i++) {
        uint64_t good_here[SAMPLE_WORDS], bad_here[SAMPLE_WORDS], left = 0;
        for (int w = 0; w < SAMPLE_WORDS; w++) {
            good_here[w] = good[w] & s->atoms[i].good[w];
            bad_here[w] = bad[w] & s->atoms[i].bad[w];
            left |= bad_here[w];
        }
        uint32_t met = count_met(good_here);
        if (met <= best->met)
            continue;
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
    for (uint32_t depth = 1; depth <= MAX_ADDED_CONDITIONS; depth++) {
        struct choice path = {0};
        try_conjunctions(s, &path, 0, depth, all, all, &best);
    }
    return best;
}

struct found_condition find_weakest_condition(struct judge *j, const struct equation *eq, struct arena *a)
{
    struct arena samples;   // megabytes of them
    arena_init(&samples);
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
