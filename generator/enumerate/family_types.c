// Types, signatures and meanings of a family, interned behind one lock, with a cache for each thread in front.
#include "generator/enumerate/family_types.h"

#include "core/numbers/random.h"
#include "expressions/evaluation/evaluate.h"
#include "expressions/evaluation/tape.h"
#include "expressions/field.h"
#include "expressions/type_identity.h"
#include "generator/enumerate/same_definition.h"
#include <stdio.h>
#include <string.h>

// --- types -----------------------------------------------------------------------------------------------------------

static const struct split_tree *without_any(struct arena *a, const struct split_tree *tree)
{
    if (!tree || tree == SPLIT_ANY)
        return NULL;
    return split_tree_join(a, tree->left_size, without_any(a, tree->left), without_any(a, tree->right));
}

static bool trees_agree(const struct split_tree *x, const struct split_tree *y)
{
    bool is_x_plain = !x || x == SPLIT_ANY, is_y_plain = !y || y == SPLIT_ANY;
    if (is_x_plain || is_y_plain)
        return is_x_plain && is_y_plain;
    return x->left_size == y->left_size && trees_agree(x->left, y->left) && trees_agree(x->right, y->right);
}

bool types_agree(const struct type *a, const struct type *b)
{
    return type_equal(a, b) && ALL(int, i, a->rank, trees_agree(a->split[i], b->split[i]));
}

static bool is_equal_type(const void *owner, uint32_t id, const void *key)
{
    const struct family_types *u = owner;
    return type_is_identical(&u->types.items[id]->type, key);
}

static const struct gen_type *intern_type(struct family_types *u, const struct type *type)
{
    uint64_t hash = type_identity_hash(type);
    uint32_t found = table_find(&u->by_type, hash, is_equal_type, u, type);
    if (found != TABLE_NONE)
        return u->types.items[found];
    struct type plain = *type;
    for (int i = 0; i < type->rank; i++)
        plain.split[i] = without_any(&u->arena, type->split[i]);
    uint64_t of_plain = type_identity_hash(&plain);
    struct gen_type *added = arena_new(&u->arena, struct gen_type);
    *added = (struct gen_type){type_copy(&u->arena, type), (uint32_t)u->types.count, (size_t)type_elements(type),
                               hash_bytes_128(&of_plain, sizeof of_plain, 0), added};
    vec_push(&u->types, added);
    table_insert(&u->by_type, hash, added->number);
    added->plain = type_equal_split(&plain, type) ? added : intern_type(u, &plain);
    return added;
}

const struct gen_type *family_types_type(struct family_types *u, const struct type *type)
{
    const struct gen_type *found;
#pragma omp critical(family_types)
    found = intern_type(u, type);
    return found;
}

// --- signatures ------------------------------------------------------------------------------------------------------

static bool has_shape(const struct argument_pattern *pattern, const struct type *type)
{
    return pattern->rank == type->rank &&
           !ANY(int, i, type->rank, pattern->dim[i] >= 0 && pattern->dim[i] != type->dim[i]);
}

static bool fits_pattern(const struct argument_pattern *pattern, const struct type *type)
{
    return pattern->rank < 0 || has_shape(pattern, type) != pattern->is_negated;
}

static bool fit_patterns(const struct instance *in, const struct gen_type *a, const struct gen_type *b)
{
    return fits_pattern(&in->arguments[0], &a->type) && (!b || fits_pattern(&in->arguments[1], &b->type));
}

static bool have_allowed_outputs(const struct definition *d)
{
    return d->n_outputs <= MAX_NODE_OUTPUTS &&
           !ANY(int, i, d->n_outputs, type_elements(definition_output(d, i)) > RANDOM_ROW);
}

// --- how to evaluate -------------------------------------------------------------------------------------------------

static bool has_meaning(const void *owner, uint32_t id, const void *key)
{
    const struct family_types *u = owner;
    return is_same_definition(&u->meanings.items[id]->definition, key);
}

static bool define(const struct instance *in, const struct gen_type *a, const struct gen_type *b, struct meaning *m)
{
    m->inputs[0] = a->type;
    m->inputs[1] = b ? b->type : (struct type){0};
    definition_clear(&m->definition, in->n_inputs, m->inputs);
    struct operator_call call = {in->op, in->n_inputs, m->inputs, in->attributes};
    return fit_patterns(in, a, b) && operator_define(&m->definition, &call) && have_allowed_outputs(&m->definition);
}

static const struct meaning *find_or_make_meaning(struct family_types *u, const struct instance *in,
                                                  const struct gen_type *a, const struct gen_type *b)
{
    uint64_t hash = same_definition_hash(&u->draft.definition);
    uint32_t found = table_find(&u->by_meaning, hash, has_meaning, u, &u->draft.definition);
    if (found != TABLE_NONE)
        return u->meanings.items[found];
    struct meaning *m = arena_new(&u->arena, struct meaning);
    definition_init(&m->definition, &u->arena, in->n_inputs, m->inputs);
    define(in, a, b, m);
    m->tape = tape_make(&m->definition, u->seed, &u->arena);
    if (!m->tape)
        m->plan = evaluation_plan_make(&m->definition, &u->arena);
    table_insert(&u->by_meaning, hash, (uint32_t)u->meanings.count);
    vec_push(&u->meanings, m);
    return m;
}

static const struct gen_type *type_of_output(struct family_types *u, const struct type *type)
{
    struct type known = *type;
    for (int i = 0; u->family->forgets_cuts && i < type->rank; i++)
        known.split[i] = NULL;
    return intern_type(u, &known);
}

static struct signature *make_signature(struct family_types *u, int instance, const struct gen_type *a,
                                        const struct gen_type *b)
{
    const struct instance *in = &u->family->instances[instance];
    struct signature *s = arena_new(&u->arena, struct signature);
    ARENA_MARK(mark, &u->draft_arena);
    *s = (struct signature){.is_typed = define(in, a, b, &u->draft)};
    s->n_outputs = s->is_typed ? u->draft.definition.n_outputs : 0;
    for (int i = 0; i < s->n_outputs; i++)
        s->outputs[i] = type_of_output(u, definition_output(&u->draft.definition, i));
    if (s->is_typed)
        s->meaning = find_or_make_meaning(u, in, a, b);
    return s;
}

static const struct signature *find_or_make_signature(struct family_types *u, int instance, const struct gen_type *a,
                                                      const struct gen_type *b, uint64_t key)
{
    uint32_t found = table_find(&u->by_signature, key, NULL, NULL, NULL);
    if (found != TABLE_NONE)
        return u->signatures.items[found];
    struct signature *s = make_signature(u, instance, a, b);
    vec_push(&u->signatures, s);
    table_insert(&u->by_signature, key, (uint32_t)u->signatures.count - 1);
    return s;
}

const struct signature *lookup_signature(struct lookup *l, int instance, const struct gen_type *a,
                                         const struct gen_type *b)
{
    uint64_t key = (uint64_t)instance << 56 | (uint64_t)a->number << 28 | (b ? b->number + 1 : 0);
    uint32_t found = table_find(&l->cache, key, NULL, NULL, NULL);
    if (found != TABLE_NONE)
        return l->seen.items[found];
    const struct signature *s;
#pragma omp critical(family_types)
    s = find_or_make_signature(l->family_types, instance, a, b, key);
    vec_push(&l->seen, s);
    table_insert(&l->cache, key, (uint32_t)l->seen.count - 1);
    return s;
}

// --- all applications to some types ----------------------------------------------------------------------------------

static bool is_allowed(const struct instance *in, const struct gen_type *b, int kind)
{
    bool wants_leaf =
        (kind & FIRST_IS_NODE && in->arguments[0].is_leaf) || (b && kind & SECOND_IS_NODE && in->arguments[1].is_leaf);
    return in->n_inputs == (b ? 2 : 1) && !wants_leaf && !(kind & SECOND_ORDER && in->is_commutative);
}

static const struct applications *make_applications(struct lookup *l, const struct gen_type *a,
                                                    const struct gen_type *b, int kind)
{
    const struct family *f = l->family_types->family;
    struct typed_application found[MAX_INSTANCES];
    struct applications all = {0};
    for (int i = 0; i < f->n_instances; i++) {
        if (!is_allowed(&f->instances[i], b, kind) || !fit_patterns(&f->instances[i], a, b))
            continue;
        const struct signature *s = lookup_signature(l, i, a, b);
        if (s->is_typed) {
            found[all.count++] = (struct typed_application){(uint32_t)i, all.n_outputs, s};
            all.n_outputs += (uint32_t)s->n_outputs;
        }
    }
    if (all.count)
        all.items = arena_copy_array(&l->kept, found, all.count);
    return arena_copy(&l->kept, &all, sizeof all, _Alignof(struct applications));
}

const struct applications *lookup_applications(struct lookup *l, const struct gen_type *a, const struct gen_type *b,
                                               int kind)
{
    uint64_t key = (uint64_t)kind << 56 | (uint64_t)a->number << 28 | (b ? b->number + 1 : 0);
    uint64_t hash = (key ^ key >> 32) * UINT64_C(0x9fb21c651e98df25);
    uint32_t found = table_find(&l->by_types, hash ^ hash >> 32, NULL, NULL, NULL);
    if (found != TABLE_NONE)
        return l->applications.items[found];
    const struct applications *made = make_applications(l, a, b, kind);
    table_insert(&l->by_types, hash ^ hash >> 32, (uint32_t)l->applications.count);
    vec_push(&l->applications, made);
    return made;
}

// --- evaluation ------------------------------------------------------------------------------------------------------

void lookup_evaluate_all(struct lookup *l, const struct applications *all, const uint64_t *a, const uint64_t *b,
                         uint64_t *const *outputs)
{
    for (uint32_t i = 0; i < all->count; i++)
        lookup_evaluate(l, all->items[i].signature, a, b, outputs + all->items[i].first_output);
}

void lookup_evaluate(struct lookup *l, const struct signature *s, const uint64_t *a, const uint64_t *b,
                     uint64_t *const *outputs)
{
    const uint64_t *inputs[2] = {a, b};
    if (s->meaning->tape)
        tape_run(s->meaning->tape, inputs, outputs, &l->scratch);
    else
        evaluate_plan_field(s->meaning->plan, l->family_types->seed, inputs, outputs, &l->scratch);
}

// --- lifetime --------------------------------------------------------------------------------------------------------

static void evaluate_constant(struct family_types *u, int i, struct definition *d)
{
    u->constants[i].type = intern_type(u, definition_output(d, 0));
    uint64_t *data = arena_array(&u->arena, uint64_t, u->constants[i].type->elements);
    evaluate_field(d, u->seed, NULL, &data, &u->arena);
    u->constants[i].data = data;
}

static bool make_constant(struct family_types *u, int i, char *ret_reason)
{
    const struct instance *in = &u->family->leaves[i].constant;
    struct operator_call call = {in->op, 0, NULL, in->attributes};
    struct definition d FREED_BY(definition_free) = {0};
    definition_init(&d, &u->arena, 0, NULL);
    bool is_typed = operator_define(&d, &call), is_small = is_typed && have_allowed_outputs(&d);
    if (is_small)
        evaluate_constant(u, i, &d);
    else
        snprintf(ret_reason, sizeof d.reason, "%s", is_typed ? "it has too many elements" : d.reason);
    return is_small;
}

const uint64_t *family_types_draw(struct arena *a, uint64_t seed)
{
    struct random stream = random_seed(seed);
    uint64_t *rows = arena_array(a, uint64_t, RANDOM_ROWS * RANDOM_ROW);
    for (size_t i = 0; i < RANDOM_ROWS * RANDOM_ROW; i++)
        rows[i] = random_below(&stream, FIELD_PRIME);
    return rows;
}

bool family_types_init(struct family_types *u, const struct family *family, uint64_t seed, int threads,
                       const uint64_t *random, char *ret_reason)
{
    *u = (struct family_types){.family = family, .seed = seed, .threads = threads, .random = random};
    definition_init(&u->draft.definition, &u->draft_arena, 0, NULL);
    for (int i = family->n_inputs; i < family->n_leaves; i++)
        if (!make_constant(u, i, ret_reason))
            return false;
    return true;
}

void family_types_free(struct family_types *u)
{
    for (size_t i = 0; i < u->meanings.count; i++)
        definition_free(&u->meanings.items[i]->definition);
    definition_free(&u->draft.definition);
    vecs_free(u, meanings, types, signatures);
    table_free(&u->by_type);
    table_free(&u->by_signature);
    table_free(&u->by_meaning);
    arena_free(&u->arena);
    arena_free(&u->draft_arena);
}

const uint64_t *family_types_random(const struct family_types *u, int row)
{
    return row < RANDOM_ROWS ? u->random + (size_t)row * RANDOM_ROW : NULL;
}

void lookup_init(struct lookup *l, struct family_types *u)
{
    *l = (struct lookup){.family_types = u};
}

void lookup_free(struct lookup *l)
{
    table_free(&l->cache);
    vec_free(&l->seen);
    table_free(&l->by_types);
    vec_free(&l->applications);
    arena_free(&l->kept);
    arena_free(&l->scratch);
}
