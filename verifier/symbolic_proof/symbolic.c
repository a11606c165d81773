// The families that an equation has instances of, and the proof for each.
#include "verifier/symbolic_proof/symbolic.h"

#include "operators/traits.h"
#include "substitutions/pattern.h"
#include "verifier/bounds/forms/terms.h"
#include "verifier/direct_proof/small_instances.h"
#include "verifier/instances/ranks.h"
#include "verifier/kinds/kinds.h"
#include "verifier/symbolic_proof/execute.h"
#include <string.h>

#define MOST_FAMILIES 1500
#define MOST_EXAMPLES 300   // of each family that are kept
struct kind {
    VEC(int64_t) key;
    VEC(struct instance) examples;
};
struct kinds {
    struct arena *arena;
    uint32_t is_symbolic;
    bool are_too_many;
    VEC(struct kind) items;
    struct met_kinds met;
};

void symbolic_prover_init(struct symbolic_prover *prover)
{
    judge_init(&prover->judge);
    prover->lanes = lanes_make();
    arena_init(&prover->arena);
}

void symbolic_prover_free(struct symbolic_prover *prover)
{
    arena_free(&prover->arena);
    lanes_free(prover->lanes);
    judge_free(&prover->judge);
}

// --- attribute variables ---------------------------------------------------------------------------------------------

static bool is_number_of_role(enum attribute_role role)
{
    return role == ROLE_SHAPE || role == ROLE_PART_SIZES || role == ROLE_STRIDE || role == ROLE_WINDOW_PADS ||
           role == ROLE_DILATION || role == ROLE_KERNEL || role == ROLE_GROUPS || role == ROLE_MERGED_GROUPS;
}

// Is it in attributes of such roles alone, and one of them as a whole?
static bool is_symbol(const struct pattern *p, uint32_t variable)
{
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++)
            for (uint32_t j = 0; j < p->nodes.items[n].attributes[i].count; j++)
                if (attribute_term_mentions_variable(p->nodes.items[n].attributes[i].terms[j], variable) &&
                    !is_number_of_role(p->nodes.items[n].op->attributes[i].role))
                    return false;
    return family_role_of_variable(p, variable) != ROLE_NONE;
}

static bool is_in_condition(const struct condition *c, uint32_t variable)
{
    return !condition_is_of_variable(c->kind) &&
           ((attribute_variables_of_term(c->a) | attribute_variables_of_term(c->b)) >> variable & 1);
}

// Are all values of the variable tried? Conditions may ask for those that only larger sizes have.
static bool is_tried_everywhere(const struct equation *eq, uint32_t variable, struct arena *arena)
{
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (is_in_condition(&eq->conditions[i], variable) && !form_names_condition(eq->pattern, &eq->conditions[i]))
            return false;
    return domain_of_variable(eq->pattern, variable, ranks_to_test(eq), DOMAIN_SOME, arena).is_whole_range;
}

// The variables that are symbols. False: one is neither a number of a known role nor tried at all of its values.
static bool find_symbols(const struct equation *eq, struct arena *arena, uint32_t *ret_symbols, struct text *why)
{
    *ret_symbols = 0;
    for (uint32_t v = 0; v < eq->pattern->n_attribute_variables; v++) {
        if (is_symbol(eq->pattern, v)) {
            *ret_symbols |= 1u << v;
            continue;
        }
        if (!is_tried_everywhere(eq, v, arena)) {
            text_printf(why, "$%s has other values than those tried", eq->pattern->attribute_variables[v]);
            return false;
        }
    }
    return true;
}

static uint64_t numbers_of_term(const struct attribute_term *t)
{
    uint64_t numbers = t->kind == TERM_INTEGER && t->value >= 1 ? (uint64_t)1 << (t->value < 63 ? t->value : 63) : 0;
    for (uint32_t i = 0; i < t->count; i++)
        numbers |= numbers_of_term(t->operands[i]);
    return numbers;
}

// The numbers that the text names as sizes, of tensors, windows, parts or groups, or compares these with.
static uint64_t numbers_of_equation(const struct equation *eq)
{
    const struct pattern *p = eq->pattern;
    uint64_t numbers = 0;
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++)
            for (uint32_t j = 0; j < p->nodes.items[n].attributes[i].count; j++)
                if (is_number_of_role(p->nodes.items[n].op->attributes[i].role))
                    numbers |= numbers_of_term(p->nodes.items[n].attributes[i].terms[j]);
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (eq->conditions[i].a)
            numbers |= numbers_of_term(eq->conditions[i].a) | numbers_of_term(eq->conditions[i].b);
    return numbers;
}

// --- kinds of instances ----------------------------------------------------------------------------------------------

typedef VEC(int64_t) kind_key;

static void push_type(kind_key *key, const struct type *type)
{
    vec_push(key, type ? type->rank : -1);
    vec_push(key, type ? (int64_t)type->dtype : -1);
}

// Which axes of size 1 are repeated.
static void push_repeated_axes(kind_key *key, const struct instance *in, uint32_t node)
{
    const struct typed_call *call = in->calls[node];
    const struct type *x = typing_type(in->typing, call->inputs[0]), *z = typing_type(in->typing, call->outputs[0]);
    for (int a = 0; a < x->rank; a++)
        vec_push(key, x->dim[a] == 1 && z->dim[z->rank - x->rank + a] != 1);
}

static void key_of(const struct instance *in, uint32_t is_symbolic, kind_key *key)
{
    const struct pattern *p = in->equation->pattern;
    vec_clear(key);
    for (uint32_t v = 0; v < p->n_variables; v++)
        push_type(key, in->types[v]);
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        vec_push(key, in->attributes[v].count);
        for (uint32_t i = 0; !(is_symbolic >> v & 1) && i < in->attributes[v].count; i++)
            vec_push(key, in->attributes[v].ints[i]);
    }
    for (uint32_t n = 0; n < p->nodes.count; n++)
        if (operator_repeats(p->nodes.items[n].op))
            push_repeated_axes(key, in, n);
}

static struct kind *kind_with_key(struct kinds *kinds, const kind_key *key)
{
    for (size_t i = 0; i < kinds->items.count; i++) {
        struct kind *kind = &kinds->items.items[i];
        if (kind->key.count == key->count && memcmp(kind->key.items, key->items, key->count * sizeof *key->items) == 0)
            return kind;
    }
    if (kinds->items.count == MOST_FAMILIES)
        return NULL;
    struct kind kind = {0};
    for (size_t i = 0; i < key->count; i++)
        vec_push(&kind.key, key->items[i]);
    vec_push(&kinds->items, kind);
    return &vec_last(&kinds->items);
}

static bool hear(void *context, struct instance *in)
{
    struct kinds *kinds = context;
    kind_key key = {0};
    if (instance_has_cuts(in))
        return true;
    kinds_note(&kinds->met, in);
    key_of(in, kinds->is_symbolic, &key);
    struct kind *kind = kind_with_key(kinds, &key);
    vec_free(&key);
    kinds->are_too_many = kinds->are_too_many || !kind;
    if (!kind || kind->examples.count == MOST_EXAMPLES)
        return kind != NULL;
    struct instance copy = *in;
    for (uint32_t v = 0; v < in->equation->pattern->n_attribute_variables; v++)
        copy.attributes[v].ints = arena_copy_array(kinds->arena, in->attributes[v].ints, in->attributes[v].count);
    vec_push(&kind->examples, copy);
    return true;
}

static bool search_box(struct judge *j, const struct equation *eq, const struct box *box,
                       bool (*visit)(void *context, struct instance *in), struct kinds *kinds)
{
    struct enumeration e = {.equation = eq,
                            .typing = &j->typing,
                            .scratch = &j->scratch,
                            .box = box,
                            .wanted = WANTED_BOTH,
                            .step_limit = j->step_limit,
                            .visit = visit,
                            .context = kinds};
    return enumerate_instances(&e) && !e.was_cut_short;
}

// A kind may need the sizes that numbers in the text ask for, where others do with less.
static bool hear_sizes_of_numbers(struct judge *j, const struct equation *eq, struct kinds *kinds)
{
    struct box box = box_uniform(ranks_to_test(eq), 2);
    uint64_t numbers = numbers_of_equation(eq);
    if (numbers >> 32)
        return false;
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        for (int rank = 0; rank <= box.max_rank; rank++)
            for (int a = 0; a < rank; a++)
                box.sizes[v][rank][a] |= (uint32_t)numbers;
    return numbers < 1 << 3 || search_box(j, eq, &box, hear, kinds);
}

// An instance whose inputs remember concatenations is of a kind that has others, too: no split cuts where its input was
// joined.
static bool hear_cuts(void *context, struct instance *in)
{
    struct kinds *kinds = context;
    size_t before = kinds->items.count;
    kind_key key = {0};
    if (!instance_has_cuts(in))
        return true;
    key_of(in, kinds->is_symbolic, &key);
    kinds->are_too_many = !kind_with_key(kinds, &key) || kinds->items.count > before;
    vec_free(&key);
    return !kinds->are_too_many;
}

static bool inputs_are_not_cut(struct judge *j, const struct equation *eq, struct kinds *kinds)
{
    struct box box = box_uniform(ranks_to_test(eq), 2);
    box.has_split_trees = true;
    return !eq->pattern->looks_at_split_trees || search_box(j, eq, &box, hear_cuts, kinds);
}

static bool have_value(const struct kinds *kinds, uint32_t variable, const struct attribute_value *value)
{
    for (size_t i = 0; i < kinds->items.count; i++)
        if (attribute_value_equal(&kinds->items.items[i].examples.items[0].attributes[variable], value))
            return true;
    return false;
}

// Lists of parts of each length that is tried (T6): three parts have no instance where an axis has two entries.
static bool have_length(const struct kinds *kinds, uint32_t variable, uint32_t length)
{
    for (size_t i = 0; i < kinds->items.count; i++)
        if (kinds->items.items[i].examples.items[0].attributes[variable].count == length)
            return true;
    return false;
}

// A condition may say how many parts there are. Another one that no theorem speaks of may leave out lists that are
// tried, and ask for longer ones, or for those of larger axes.
static bool all_lengths_were_met(const struct equation *eq, const struct kinds *kinds, uint32_t variable,
                                 const struct domain *d)
{
    int64_t length = form_length_of_parts(eq, variable);
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (is_in_condition(&eq->conditions[i], variable) && !form_names_condition(eq->pattern, &eq->conditions[i]))
            return false;
    for (size_t i = 0; i < d->count; i++) {
        bool is_asked = d->values[i].count > 1 && (length == 0 || length == d->values[i].count);
        if (is_asked && !have_length(kinds, variable, d->values[i].count))
            return false;
    }
    return true;
}

// Windows may leave nothing of small images, so that axes of theirs, and sets of them, are met at larger ones only.
static bool all_axes_were_met(const struct equation *eq, const struct kinds *kinds, struct arena *arena)
{
    for (uint32_t v = 0; v < eq->pattern->n_attribute_variables; v++) {
        struct domain d = domain_of_variable(eq->pattern, v, ranks_to_test(eq), DOMAIN_SOME, arena);
        bool is_asked = d.attribute && (d.attribute->role == ROLE_AXIS || d.attribute->role == ROLE_AXES);
        bool is_of_parts = d.attribute && d.attribute->role == ROLE_PART_SIZES;
        for (uint32_t i = 0; i < eq->n_conditions; i++)
            is_asked = is_asked && !is_in_condition(&eq->conditions[i], v);
        if (is_of_parts && !all_lengths_were_met(eq, kinds, v, &d))
            return false;
        for (size_t i = 0; i < d.count && is_asked; i++)
            if (!have_value(kinds, v, &d.values[i]))
                return false;
    }
    return true;
}

static void free_kinds(struct kinds *kinds)
{
    for (size_t i = 0; i < kinds->items.count; i++) {
        vec_free(&kinds->items.items[i].key);
        vec_free(&kinds->items.items[i].examples);
    }
    vec_free(&kinds->items);
    kinds_free(&kinds->met);
}

// --- the proof -------------------------------------------------------------------------------------------------------

static void assume_family(struct entails *e, const struct family *f)
{
    for (size_t i = 0; i < f->not_negative.count; i++)
        vec_push(&e->assumed, f->not_negative.items[i]);
    for (uint32_t i = 0; i < f->n_symbols; i++) {
        int64_t least = f->polys->atoms.items[i].least;
        if (f->symbols[i].source != SYMBOL_NONE && f->values[i] != NO_POLY && least >= 0)
            vec_push(&e->assumed, poly_sub(f->polys, f->values[i], poly_const(f->polys, least)));
    }
}

static bool pairs_are_equal(struct family *f, struct symbolic_proof *proof)
{
    const struct equation *eq = f->equation;
    struct entails e;
    bool are_equal = true;
    entails_init(&e, f->polys);
    assume_family(&e, f);
    struct sums sums = {.arena = f->arena, .polys = f->polys, .entails = &e};
    struct execution ex = {.family = f, .sums = &sums};
    for (uint32_t i = 0; are_equal && i < eq->n_pairs; i++)
        are_equal = execute_and_compare(&ex, eq->left[i], eq->right[i]);
    if (f->polys->has_failed)
        are_equal = sums_fail(&sums, "polynomials too large");
    if (!are_equal)
        family_fails(f, "%s", sums.why);
    proof->questions += e.questions;
    vec_free(&ex.frames);
    vec_free(&ex.answers);
    entails_free(&e);
    return are_equal;
}

static void print_family(struct text *out, const struct instance *in)
{
    const struct pattern *p = in->equation->pattern;
    text_add(out, " (at");
    for (uint32_t v = 0; v < p->n_variables; v++)
        if (in->types[v]) {
            text_printf(out, " ?%s ", p->variables[v]);
            type_print(out, in->types[v]);
        }
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        text_printf(out, " $%s", p->attribute_variables[v]);
        for (uint32_t i = 0; i < in->attributes[v].count; i++)
            text_printf(out, " %lld", (long long)in->attributes[v].ints[i]);
    }
    text_add(out, ")");
}

static bool prove_family(struct symbolic_prover *prover, const struct equation *eq, const struct kind *kind,
                         uint32_t is_symbolic, struct symbolic_proof *proof)
{
    struct arena_mark mark = arena_mark(&prover->arena);
    const struct instance *outside = NULL;
    struct polys polys;
    struct family f;
    polys_init(&polys);
    bool is_built = family_build(&f, eq, &kind->examples.items[0], is_symbolic, &polys, prover->lanes, &prover->arena);
    for (size_t i = 0; is_built && !outside && i < kind->examples.count; i++)
        outside = family_has(&f, &kind->examples.items[i]) ? NULL : &kind->examples.items[i];
    if (outside)
        family_fails(&f, "a well-typed instance that is none of the family");
    bool is_proved = is_built && !outside && pairs_are_equal(&f, proof);
    if (!is_proved) {
        text_add(&proof->why, f.why ? f.why : "the pool is full");
        print_family(&proof->why, outside ? outside : &kind->examples.items[0]);
    }
    family_free(&f);
    polys_free(&polys);
    arena_release(&prover->arena, mark);
    return is_proved;
}

static bool prove_kinds(struct symbolic_prover *prover, const struct equation *eq, struct kinds *kinds,
                        struct symbolic_proof *proof)
{
    struct judge *j = &prover->judge;
    typing_trim(&j->typing);
    bool is_whole = explore_kinds(j, eq, false, hear, kinds) && hear_sizes_of_numbers(j, eq, kinds);
    if (!is_whole || kinds->are_too_many || kinds->items.count == 0) {
        text_add(&proof->why, kinds->items.count == 0 ? "no instance was found"
                              : kinds->are_too_many   ? "too many kinds of instances"
                                                      : "the search for kinds of instances was cut short");
        return false;
    }
    if (!all_axes_were_met(eq, kinds, &prover->arena)) {
        text_add(&proof->why, "axes that no small instance has");
        return false;
    }
    if (!kinds_are_met(&kinds->met, &j->learned, eq, ranks_to_test(eq))) {
        text_add(&proof->why, "ranks or axes that larger instances alone have (T15)");
        return false;
    }
    if (!kinds_have_all_repeats(&kinds->met, &j->learned, eq, ranks_to_test(eq))) {
        text_add(&proof->why, "axes that larger instances alone repeat, or do not repeat");
        return false;
    }
    if (!inputs_are_not_cut(j, eq, kinds)) {
        text_add(&proof->why, kinds->are_too_many
                                  ? "inputs that remember a concatenation are of other kinds"
                                  : "the search for inputs that remember a concatenation was cut short");
        return false;
    }
    for (size_t i = 0; i < kinds->items.count; i++)
        if (!prove_family(prover, eq, &kinds->items.items[i], kinds->is_symbolic, proof))
            return false;
    proof->families = (uint32_t)kinds->items.count;
    return true;
}

void symbolic_prove(struct symbolic_prover *prover, const struct equation *eq, struct symbolic_proof *ret_proof)
{
    struct arena_mark mark = arena_mark(&prover->arena);
    struct kinds kinds = {.arena = &prover->arena};
    *ret_proof = (struct symbolic_proof){0};
    kinds_begin(&kinds.met, eq);
    kinds_tell_repeats_apart(&kinds.met, eq);
    ret_proof->is_proved = theorems_cover(eq, ranks_to_test(eq), NULL, THEOREMS_OF_KINDS, &ret_proof->why) &&
                           find_symbols(eq, &prover->arena, &kinds.is_symbolic, &ret_proof->why) &&
                           prove_kinds(prover, eq, &kinds, ret_proof);
    free_kinds(&kinds);
    arena_release(&prover->arena, mark);
}
