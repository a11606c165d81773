#include "verifier/typing.h"

#include "core/hash.h"
#include <assert.h>
#include <string.h>

void typing_init(struct typing *t)
{
    *t = (struct typing){0};
    arena_init(&t->arena);
    arena_init(&t->rows);
    definition_init(&t->scratch, &t->arena, 0, NULL);
    t->scratch.is_silent = true;
}

void typing_free(struct typing *t)
{
    for (size_t i = 0; i < t->calls.count; i++)
        if (t->calls.items[i]->definition)
            definition_free(t->calls.items[i]->definition);
    definition_free(&t->scratch);
    vec_free(&t->types);
    vec_free(&t->trees);
    vec_free(&t->calls);
    vec_free(&t->pairs);
    vec_free(&t->key);
    table_free(&t->by_type);
    table_free(&t->by_tree);
    table_free(&t->by_call);
    table_free(&t->by_pairs);
    arena_free(&t->arena);
    arena_free(&t->rows);
}

void typing_trim(struct typing *t)
{
    const size_t limit = (size_t)128 << 20;
    if (t->arena.total < limit)
        return;
    typing_free(t);
    typing_init(t);
}

// --- split trees and types -------------------------------------------------------------------------------------------

static bool is_tree(const void *owner, uint32_t id, const void *key)
{
    const struct split_tree *x = ((const struct typing *)owner)->trees.items[id], *y = key;
    return x->left_size == y->left_size && x->left == y->left && x->right == y->right;
}

static const struct split_tree *canonical_tree(struct typing *t, const struct split_tree *tree)
{
    if (!tree || tree == SPLIT_ANY)
        return tree;
    struct split_tree key = {tree->left_size, canonical_tree(t, tree->left), canonical_tree(t, tree->right)};
    uint64_t hash = hash_bytes(&key, sizeof key, 0);
    uint32_t found = table_find(&t->by_tree, hash, is_tree, t, &key);
    if (found != TABLE_NONE)
        return t->trees.items[found];
    vec_push(&t->trees, split_tree_join(&t->arena, key.left_size, key.left, key.right));
    table_insert(&t->by_tree, hash, (uint32_t)t->trees.count - 1);
    return vec_last(&t->trees);
}

static bool is_type(const void *owner, uint32_t id, const void *key)
{
    const struct type *x = ((const struct typing *)owner)->types.items[id], *y = key;
    return x->dtype == y->dtype && x->rank == y->rank &&
           (x->rank == 0 || (memcmp(x->dim, y->dim, sizeof *x->dim * (size_t)x->rank) == 0 &&
                             memcmp(x->split, y->split, sizeof *x->split * (size_t)x->rank) == 0));
}

type_id typing_add(struct typing *t, const struct type *type)
{
    struct type key = {.dtype = type->dtype, .rank = type->rank};
    for (int i = 0; i < type->rank; i++) {
        key.dim[i] = type->dim[i];
        key.split[i] = canonical_tree(t, type->split[i]);
    }
    uint64_t hash = hash_mix(hash_bytes(key.dim, sizeof key.dim, (uint64_t)key.rank),
                             hash_bytes(key.split, sizeof key.split, key.dtype));
    uint32_t found = table_find(&t->by_type, hash, is_type, t, &key);
    if (found != TABLE_NONE)
        return found;
    struct type *kept = arena_new(&t->arena, struct type);
    *kept = key;
    vec_push(&t->types, kept);
    table_insert(&t->by_type, hash, (uint32_t)t->types.count - 1);
    return (uint32_t)t->types.count - 1;
}

const struct type *typing_type(const struct typing *t, type_id id)
{
    return t->types.items[id];
}

// --- applications ----------------------------------------------------------------------------------------------------

static void build_key(struct typing *t, const struct operator* op, const struct attribute_value *attributes,
                      uint32_t n_inputs, const type_id *inputs)
{
    vec_clear(&t->key);
    vec_push(&t->key, (int64_t)op->id);
    for (int i = 0; i < operator_n_attributes(op); i++) {
        vec_push(&t->key, (int64_t)attributes[i].count);
        for (uint32_t j = 0; j < attributes[i].count; j++)
            vec_push(&t->key, attributes[i].ints[j]);
    }
    for (uint32_t i = 0; i < n_inputs; i++)
        vec_push(&t->key, (int64_t)inputs[i]);
}

static bool is_call(const void *owner, uint32_t id, const void *key)
{
    const struct typing *t = owner;
    const struct typed_call *call = t->calls.items[id];
    (void)key;
    return call->key_length == t->key.count && memcmp(call->key, t->key.items, t->key.count * sizeof *call->key) == 0;
}

static struct attribute_value *keep_attributes(struct typing *t, const struct operator* op,
                                               const struct attribute_value *attributes)
{
    int n = operator_n_attributes(op);
    struct attribute_value *kept = arena_array(&t->arena, struct attribute_value, n + 1);
    for (int i = 0; i < n; i++) {
        kept[i].count = attributes[i].count;
        if (attributes[i].count)
            kept[i].ints = arena_copy_array(&t->arena, attributes[i].ints, attributes[i].count);
    }
    return kept;
}

static struct operator_call operator_call_of(struct typing *t, const struct typed_call *call)
{
    struct type *inputs = arena_array(&t->arena, struct type, call->n_inputs + 1);
    for (uint32_t i = 0; i < call->n_inputs; i++)
        inputs[i] = *t->types.items[call->inputs[i]];
    return (struct operator_call){call->op, (int)call->n_inputs, inputs, call->attributes};
}

static void type_outputs(struct typing *t, struct typed_call *call)
{
    struct arena_mark mark = arena_mark(&t->arena);
    struct operator_call asked = operator_call_of(t, call);
    struct type outputs[MAX_OUTPUTS];
    definition_clear(&t->scratch, asked.n_inputs, asked.inputs);
    call->is_typed = operator_define(&t->scratch, &asked);
    call->n_outputs = call->is_typed ? (uint32_t)t->scratch.n_outputs : 0;
    type_id *ids = call->n_outputs ? mem_new_array(type_id, call->n_outputs) : NULL;
    for (uint32_t i = 0; i < call->n_outputs; i++)
        outputs[i] = *definition_output(&t->scratch, (int)i);
    // Trees made by the definition stand behind the mark: they are copied to the heap of canonical trees before it is
    // released only when they are new, so the mark is released only when nothing new was kept.
    size_t kept = t->trees.count + t->types.count;
    for (uint32_t i = 0; i < call->n_outputs; i++)
        ids[i] = typing_add(t, &outputs[i]);
    if (kept == t->trees.count + t->types.count)
        arena_release(&t->arena, mark);
    if (call->n_outputs)
        call->outputs = arena_copy_array(&t->arena, ids, call->n_outputs);
    mem_free(ids, call->n_outputs * sizeof *ids);
}

static bool is_well_typed(struct typing *t, const struct operator* op, const struct attribute_value *attributes,
                          uint32_t n_inputs, const type_id *inputs)
{
    struct type types[MAX_TYPED_INPUTS];
    for (uint32_t i = 0; i < n_inputs; i++)
        types[i] = *t->types.items[inputs[i]];
    struct operator_call asked = {op, (int)n_inputs, types, attributes};
    struct arena_mark mark = arena_mark(&t->arena);
    definition_clear(&t->scratch, asked.n_inputs, asked.inputs);
    bool is_typed = operator_define(&t->scratch, &asked);
    arena_release(&t->arena, mark);
    return is_typed;
}

static bool is_key_of_pairs(const void *owner, uint32_t id, const void *key)
{
    const struct typing *t = owner;
    const struct typed_pairs *pairs = t->pairs.items[id];
    (void)key;
    return pairs->key_length == t->key.count &&
           memcmp(pairs->key, t->key.items, t->key.count * sizeof *pairs->key) == 0;
}

static bool has_other_rank(const struct typing *t, uint32_t n_inputs, const type_id *inputs)
{
    for (uint32_t i = 1; i < n_inputs; i++)
        if (t->types.items[inputs[i]]->rank != t->types.items[inputs[0]]->rank)
            return true;
    return false;
}

static void find_pairs(struct typing *t, struct typed_pairs *ret_pairs, const struct operator* op,
                       const struct attribute_value *attributes, uint32_t n_inputs, uint32_t n_left,
                       const type_id *lefts, uint32_t n_right, const type_id *rights)
{
    VEC(struct typed_pair) found = {0};
    type_id inputs[MAX_TYPED_INPUTS];
    bool keeps_rank = op->flags & (OPERATOR_KEEPS_RANK | OPERATOR_IS_ELEMENTWISE);
    for (uint32_t i = 0; i < n_left; i++)
        for (uint32_t j = 0; j < n_right; j++) {
            if (n_inputs > 1)
                memcpy(inputs, lefts + (size_t)i * (n_inputs - 1), (n_inputs - 1) * sizeof *inputs);
            inputs[n_inputs - 1] = rights[j];
            if ((keeps_rank && has_other_rank(t, n_inputs, inputs)) ||
                !is_well_typed(t, op, attributes, n_inputs, inputs))
                continue;
            struct typed_pair pair = {i, j, typing_apply(t, op, attributes, n_inputs, inputs)};
            vec_push(&found, pair);
        }
    vec_reserve(&found, 1);
    ret_pairs->items = arena_copy_array(&t->arena, found.items, found.count);
    ret_pairs->count = (uint32_t)found.count;
    vec_free(&found);
}

const struct typed_pairs *typing_apply_all(struct typing *t, const struct operator* op,
                                           const struct attribute_value *attributes, uint32_t n_inputs, uint32_t n_left,
                                           const type_id *lefts, uint32_t n_right, const type_id *rights)
{
    build_key(t, op, attributes, n_right, rights);
    for (uint32_t i = 0; i < n_left * (n_inputs - 1); i++)
        vec_push(&t->key, (int64_t)lefts[i]);
    vec_push(&t->key, (int64_t)n_inputs);
    vec_push(&t->key, (int64_t)n_left);
    uint64_t hash = hash_bytes(t->key.items, t->key.count * sizeof *t->key.items, t->key.count);
    uint32_t found = table_find(&t->by_pairs, hash, is_key_of_pairs, t, NULL);
    if (found != TABLE_NONE)
        return t->pairs.items[found];
    struct typed_pairs *pairs = arena_new(&t->arena, struct typed_pairs);
    pairs->key_length = (uint32_t)t->key.count;
    pairs->key = arena_copy_array(&t->arena, t->key.items, t->key.count);
    find_pairs(t, pairs, op, attributes, n_inputs, n_left, lefts, n_right, rights);
    vec_push(&t->pairs, pairs);
    table_insert(&t->by_pairs, hash, (uint32_t)t->pairs.count - 1);
    return pairs;
}

const struct typed_call *typing_apply(struct typing *t, const struct operator* op,
                                      const struct attribute_value *attributes, uint32_t n_inputs,
                                      const type_id *inputs)
{
    build_key(t, op, attributes, n_inputs, inputs);
    uint64_t hash = hash_bytes(t->key.items, t->key.count * sizeof *t->key.items, t->key.count);
    uint32_t found = table_find(&t->by_call, hash, is_call, t, NULL);
    if (found != TABLE_NONE)
        return t->calls.items[found];
    struct typed_call *call = arena_new(&t->arena, struct typed_call);
    call->op = op;
    call->n_inputs = n_inputs;
    call->key_length = (uint32_t)t->key.count;
    call->key = arena_copy_array(&t->arena, t->key.items, t->key.count);
    call->inputs = n_inputs ? arena_copy_array(&t->arena, inputs, n_inputs) : NULL;
    call->attributes = keep_attributes(t, op, attributes);
    type_outputs(t, call);
    vec_push(&t->calls, call);
    table_insert(&t->by_call, hash, (uint32_t)t->calls.count - 1);
    return call;
}

const struct definition *typing_definition(struct typing *t, const struct typed_call *call)
{
    struct typed_call *known = (struct typed_call *)call;
    assert(call->is_typed);
    if (known->definition)
        return known->definition;
    struct operator_call asked = operator_call_of(t, call);
    known->definition = arena_new(&t->arena, struct definition);
    definition_init(known->definition, &t->arena, asked.n_inputs, asked.inputs);
    bool is_typed = operator_define(known->definition, &asked);
    assert(is_typed);
    (void)is_typed;
    return known->definition;
}

static uint64_t structure_of_definition(const struct definition *d)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < d->nodes.count; i++) {
        const struct expr_node *n = &d->nodes.items[i];
        uint64_t shape = (uint64_t)n->kind << 56 ^ (uint64_t)n->fn << 48 ^ (uint64_t)n->count << 40;
        uint64_t operands = (uint64_t)n->a << 40 ^ (uint64_t)n->b << 20 ^ n->c;
        hash = hash_mix(hash, shape ^ operands ^ (n->kind == EXPR_VARIABLE ? (uint64_t)n->value << 8 : 0));
    }
    return hash;
}

uint64_t typing_structure(struct typing *t, const struct typed_call *call)
{
    struct typed_call *known = (struct typed_call *)call;
    if (!known->structure)
        known->structure = structure_of_definition(typing_definition(t, call)) | 1;
    return known->structure;
}
