#include "generator/universe.h"

#include "core/random.h"
#include "core/text.h"
#include "operators/evaluate.h"
#include "operators/field.h"
#include <string.h>

// --- types -----------------------------------------------------------------------------------------------------------

static void add_tree_text(struct text *out, const struct split_tree *tree)
{
    if (!tree || tree == SPLIT_ANY) {
        text_add(out, ".");
    } else {
        text_printf(out, "(%lld", (long long)tree->left_size);
        add_tree_text(out, tree->left);
        add_tree_text(out, tree->right);
        text_add(out, ")");
    }
}

static struct hash128 hash_of_type(const struct type *type)
{
    struct text text = {0};
    text_printf(&text, "%d", type->dtype);
    for (int i = 0; i < type->rank; i++) {
        text_printf(&text, " %lld", (long long)type->dim[i]);
        add_tree_text(&text, type->split[i]);
    }
    struct hash128 hash = hash_bytes_128(text.chars, text.count, 0);
    text_free(&text);
    return hash;
}

static const struct split_tree *copy_tree(struct arena *a, const struct split_tree *tree)
{
    if (!tree || tree == SPLIT_ANY)
        return tree;
    return split_tree_join(a, tree->left_size, copy_tree(a, tree->left), copy_tree(a, tree->right));
}

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
    bool agree = type_equal(a, b);
    for (int i = 0; agree && i < a->rank; i++)
        agree = trees_agree(a->split[i], b->split[i]);
    return agree;
}

static bool is_equal_type(const void *owner, uint32_t id, const void *key)
{
    const struct universe *u = owner;
    const struct type *type = key;
    const struct type *known = &u->types.items[id]->type;
    return type_equal(known, type) && type_equal_split(known, type);
}

static const struct gen_type *intern_type(struct universe *u, const struct type *type)
{
    struct hash128 hash = hash_of_type(type);
    uint32_t found = table_find(&u->by_type, hash.low, is_equal_type, u, type);
    if (found != TABLE_NONE)
        return u->types.items[found];
    struct gen_type *added = arena_new(&u->arena, struct gen_type);
    *added = (struct gen_type){*type, (uint32_t)u->types.count, (size_t)type_elements(type), hash, added};
    for (int i = 0; i < type->rank; i++)
        added->type.split[i] = copy_tree(&u->arena, type->split[i]);
    vec_push(&u->types, added);
    table_insert(&u->by_type, hash.low, added->number);
    struct type plain = *type;
    for (int i = 0; i < type->rank; i++)
        plain.split[i] = without_any(&u->arena, type->split[i]);
    added->plain = type_equal_split(&plain, type) ? added : intern_type(u, &plain);
    return added;
}

const struct gen_type *universe_type(struct universe *u, const struct type *type)
{
    const struct gen_type *found;
#pragma omp critical(universe)
    found = intern_type(u, type);
    return found;
}

// --- signatures ------------------------------------------------------------------------------------------------------

static bool has_shape(const struct argument_pattern *pattern, const struct type *type)
{
    if (pattern->rank != type->rank)
        return false;
    for (int i = 0; i < type->rank; i++)
        if (pattern->dim[i] >= 0 && pattern->dim[i] != type->dim[i])
            return false;
    return true;
}

static bool fits_pattern(const struct argument_pattern *pattern, const struct type *type)
{
    return pattern->rank < 0 || has_shape(pattern, type) != pattern->is_negated;
}

static bool have_allowed_outputs(const struct definition *d)
{
    if (d->n_outputs > MAX_NODE_OUTPUTS)
        return false;
    for (int i = 0; i < d->n_outputs; i++)
        if (type_elements(definition_output(d, i)) > RANDOM_ROW)
            return false;
    return true;
}

static struct signature *make_signature(struct universe *u, int instance, const struct gen_type *a,
                                        const struct gen_type *b, uint64_t key)
{
    const struct instance *in = &u->family->instances[instance];
    struct signature *s = arena_new(&u->arena, struct signature);
    s->key = key;
    s->n_inputs = in->n_inputs;
    s->inputs[0] = a->type;
    if (b)
        s->inputs[1] = b->type;
    for (int i = 0; i < in->n_inputs; i++)
        if (!fits_pattern(&in->arguments[i], &s->inputs[i]))
            return s;
    struct operator_call call = {in->op, in->n_inputs, s->inputs, in->attributes};
    definition_init(&s->definition, &u->arena, in->n_inputs, s->inputs);
    s->is_typed = operator_define(&s->definition, &call) && have_allowed_outputs(&s->definition);
    s->n_outputs = s->is_typed ? s->definition.n_outputs : 0;
    if (s->is_typed)
        s->plan = evaluation_plan_make(&s->definition, &u->arena);
    for (int i = 0; i < s->n_outputs; i++)
        s->outputs[i] = intern_type(u, definition_output(&s->definition, i));
    return s;
}

static bool is_equal_signature(const void *owner, uint32_t id, const void *key)
{
    const struct signature *const *signatures = owner;
    return signatures[id]->key == *(const uint64_t *)key;
}

static const struct signature *find_or_make_signature(struct universe *u, int instance, const struct gen_type *a,
                                                      const struct gen_type *b, uint64_t key)
{
    uint32_t found = table_find(&u->by_signature, key, is_equal_signature, u->signatures.items, &key);
    if (found != TABLE_NONE)
        return u->signatures.items[found];
    struct signature *s = make_signature(u, instance, a, b, key);
    vec_push(&u->signatures, s);
    table_insert(&u->by_signature, key, (uint32_t)u->signatures.count - 1);
    return s;
}

const struct signature *lookup_signature(struct lookup *l, int instance, const struct gen_type *a,
                                         const struct gen_type *b)
{
    uint64_t key = (uint64_t)instance << 56 | (uint64_t)a->number << 28 | (b ? b->number + 1 : 0);
    uint32_t found = table_find(&l->cache, key, is_equal_signature, l->seen.items, &key);
    if (found != TABLE_NONE)
        return l->seen.items[found];
    const struct signature *s;
#pragma omp critical(universe)
    s = find_or_make_signature(l->universe, instance, a, b, key);
    vec_push(&l->seen, s);
    table_insert(&l->cache, key, (uint32_t)l->seen.count - 1);
    return s;
}

void lookup_evaluate(struct lookup *l, const struct signature *s, const uint64_t *a, const uint64_t *b,
                     uint64_t *const *outputs)
{
    const uint64_t *inputs[2] = {a, b};
    evaluate_plan_field(s->plan, l->universe->seed, inputs, outputs, &l->scratch);
}

struct hash128 fingerprint_of(const struct gen_type *type, const uint64_t *data, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    size_t size = type->elements * sizeof *data;
    uint64_t *buffer = arena_alloc(scratch, size + sizeof type->hash, _Alignof(uint64_t));
    memcpy(buffer, &type->hash, sizeof type->hash);
    memcpy(buffer + 2, data, size);
    struct hash128 hash = hash_bytes_128(buffer, size + sizeof type->hash, 0);
    arena_release(scratch, mark);
    return hash;
}

// --- lifetime --------------------------------------------------------------------------------------------------------

static bool make_constant(struct universe *u, int i, char *ret_reason)
{
    const struct instance *in = &u->family->leaves[i].constant;
    struct operator_call call = {in->op, 0, NULL, in->attributes};
    struct definition d;
    definition_init(&d, &u->arena, 0, NULL);
    bool is_typed = operator_define(&d, &call);
    if (!is_typed)
        memcpy(ret_reason, d.reason, sizeof d.reason);
    else {
        u->constants[i].type = intern_type(u, definition_output(&d, 0));
        uint64_t *data = arena_array(&u->arena, uint64_t, u->constants[i].type->elements);
        evaluate_field(&d, u->seed, NULL, &data, &u->arena);
        u->constants[i].data = data;
    }
    definition_free(&d);
    return is_typed;
}

bool universe_init(struct universe *u, const struct family *family, uint64_t seed, char *ret_reason)
{
    *u = (struct universe){.family = family, .seed = seed};
    arena_init(&u->arena);
    struct random stream = random_seed(seed);
    u->random = mem_new_array(uint64_t, RANDOM_ROWS * RANDOM_ROW);
    for (size_t i = 0; i < RANDOM_ROWS * RANDOM_ROW; i++)
        u->random[i] = random_below(&stream, FIELD_PRIME);
    for (int i = family->n_inputs; i < family->n_leaves; i++)
        if (!make_constant(u, i, ret_reason))
            return false;
    return true;
}

void universe_free(struct universe *u)
{
    for (size_t i = 0; i < u->signatures.count; i++)
        definition_free(&u->signatures.items[i]->definition);
    vec_free(&u->types);
    vec_free(&u->signatures);
    table_free(&u->by_type);
    table_free(&u->by_signature);
    mem_free_array(u->random, RANDOM_ROWS * RANDOM_ROW);
    arena_free(&u->arena);
}

const uint64_t *universe_random(const struct universe *u, int row)
{
    return row < RANDOM_ROWS ? u->random + (size_t)row * RANDOM_ROW : NULL;
}

void lookup_init(struct lookup *l, struct universe *u)
{
    *l = (struct lookup){.universe = u};
    arena_init(&l->scratch);
}

void lookup_free(struct lookup *l)
{
    table_free(&l->cache);
    vec_free(&l->seen);
    arena_free(&l->scratch);
}
