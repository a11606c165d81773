// Types, heads, questions and answers are interned.
#include "instances/typing.h"

#include "expressions/evaluation/evaluate.h"
#include "expressions/type_identity.h"
#include <assert.h>
#include <string.h>

void typing_init(struct typing *t)
{
    *t = (struct typing){0};
    definition_init(&t->scratch, &t->temporary, 0, NULL);
    definition_init(&t->meaning, &t->arena, 0, NULL);
    t->scratch.is_silent = true;
}

void typing_free(struct typing *t)
{
    definition_free(&t->scratch);
    definition_free(&t->meaning);
    vecs_free(t, types, heads, answers, key);
    table_free(&t->by_type);
    key_set_free(&t->head_keys);
    key_set_free(&t->questions);
    arena_free(&t->arena);
    arena_free(&t->temporary);
}

#define MOST_BYTES ((size_t)16 << 20)
#define MOST_QUESTIONS ((size_t)1 << 17)

static bool are_many(const struct typing *t)
{
    return t->questions.keys.count >= MOST_QUESTIONS;
}

void typing_forget(struct typing *t)
{
    struct arena_mark beginning = {0};
    vec_clear(&t->types);
    vec_clear(&t->heads);
    vec_clear(&t->answers);
    table_clear(&t->by_type);
    key_set_clear(&t->head_keys);
    key_set_clear(&t->questions);
    arena_release(&t->arena, beginning);
    arena_release(&t->temporary, beginning);
}

void typing_trim(struct typing *t)
{
    if (arena_used(&t->arena) >= MOST_BYTES || are_many(t))
        typing_forget(t);
}

// --- types -----------------------------------------------------------------------------------------------------------

static bool is_type(const void *owner, uint32_t id, const void *key)
{
    return type_is_identical(((const struct typing *)owner)->types.items[id], key);
}

type_id typing_add(struct typing *t, const struct type *type)
{
    uint64_t hash = type_identity_hash(type);
    uint32_t found = table_find(&t->by_type, hash, is_type, t, type);
    if (found != TABLE_NONE)
        return found;
    struct type *kept = arena_new(&t->arena, struct type);
    *kept = type_copy(&t->arena, type);
    vec_push(&t->types, kept);
    table_insert(&t->by_type, hash, (uint32_t)t->types.count - 1);
    return (uint32_t)t->types.count - 1;
}

const struct type *typing_type(const struct typing *t, type_id id)
{
    return t->types.items[id];
}

// --- heads -----------------------------------------------------------------------------------------------------------

static bool has_agreement(struct typing *t, const struct operator* op, const struct attribute_value *attributes)
{
    int flags = OPERATOR_IS_ELEMENTWISE | OPERATOR_KEEPS_RANK;
    struct operator_call call = {.op = op, .attributes = attributes};
    return (op->agreement || (op->flags & flags)) && operator_check_attributes(&t->scratch, &call);
}

head_id typing_head(struct typing *t, const struct operator* op, const struct attribute_value *attributes)
{
    vec_clear(&t->key);
    vec_push(&t->key, (int64_t)op->id);
    for (int i = 0, n = operator_n_attributes(op); i < n; i++) {
        vec_push(&t->key, (int64_t)attributes[i].count);
        for (uint32_t j = 0; j < attributes[i].count; j++)
            vec_push(&t->key, attributes[i].ints[j]);
    }
    head_id id = key_set_add(&t->head_keys, &t->arena, t->key.items, t->key.count * sizeof *t->key.items);
    if (id == t->heads.count) {
        struct typed_head head = {has_agreement(t, op, attributes), op, attributes_copy(&t->arena, op, attributes)};
        vec_push(&t->heads, head);
    }
    return id;
}

const struct attribute_value *typing_attributes(const struct typing *t, head_id head)
{
    return t->heads.items[head].attributes;
}

// --- applications ----------------------------------------------------------------------------------------------------

// Types in `ret_inputs`, which the call reads.
static struct operator_call operator_call_of(const struct typing *t, head_id head, uint32_t n_inputs,
                                             const type_id *inputs, struct type *ret_inputs)
{
    const struct typed_head *of = &t->heads.items[head];
    for (uint32_t i = 0; i < n_inputs; i++)
        ret_inputs[i] = *t->types.items[inputs[i]];
    return (struct operator_call){of->op, (int)n_inputs, ret_inputs, of->attributes};
}

static const struct typed_call *keep_call(struct typing *t, const struct typed_head *head, uint32_t n_inputs,
                                          const type_id *inputs)
{
    struct typed_call *call = arena_new(&t->arena, struct typed_call);
    type_id *outputs = arena_array(&t->arena, type_id, t->scratch.n_outputs + 1);
    *call = (struct typed_call){.is_typed = true,
                                .n_inputs = n_inputs,
                                .n_outputs = (uint32_t)t->scratch.n_outputs,
                                .inputs = n_inputs ? arena_copy_array(&t->arena, inputs, n_inputs) : NULL,
                                .outputs = outputs,
                                .attributes = head->attributes,
                                .op = head->op};
    for (uint32_t i = 0; i < call->n_outputs; i++)
        outputs[i] = typing_add(t, definition_output(&t->scratch, (int)i));
    return call;
}

// Into the scratch definition, whose arena goes back to the mark when it was read.
static bool define(struct typing *t, head_id head, uint32_t n_inputs, const type_id *inputs, struct type *types)
{
    struct operator_call asked = operator_call_of(t, head, n_inputs, inputs, types);
    definition_clear(&t->scratch, asked.n_inputs, asked.inputs);
    return operator_define(&t->scratch, &asked);
}

static const struct typed_call ill_typed = {0};

static const struct typed_call *answer(struct typing *t, head_id head, uint32_t n_inputs, const type_id *inputs)
{
    struct type types[MAX_TYPED_INPUTS];
    ARENA_MARK(mark, &t->temporary);
    bool is_typed = define(t, head, n_inputs, inputs, types);
    const struct typed_call *call = is_typed ? keep_call(t, &t->heads.items[head], n_inputs, inputs) : &ill_typed;
    return call;
}

bool typing_has_agreement(const struct typing *t, head_id head)
{
    return t->heads.items[head].has_agreement;
}

uint32_t typing_agreement(const struct typing *t, head_id head, uint32_t input, type_id type)
{
    struct type types[MAX_TYPED_INPUTS];
    types[input] = *t->types.items[type];
    struct operator_call call = {t->heads.items[head].op, (int)input + 1, types, t->heads.items[head].attributes};
    return (uint32_t)operator_agreement(&call, (int)input);
}

// KEY_NONE: there is no room for it.
static uint32_t number_of_question(struct typing *t, head_id head, uint32_t n_inputs, const type_id *inputs)
{
    uint32_t question[MAX_TYPED_INPUTS + 1];
    size_t size = (n_inputs + 1) * sizeof *question;
    question[0] = head;
    if (n_inputs)
        memcpy(question + 1, inputs, n_inputs * sizeof *inputs);
    return are_many(t) ? key_set_find(&t->questions, question, size)
                       : key_set_add(&t->questions, &t->arena, question, size);
}

const struct typed_call *typing_apply(struct typing *t, head_id head, uint32_t n_inputs, const type_id *inputs)
{
    uint32_t number = number_of_question(t, head, n_inputs, inputs);
    if (number < t->answers.count)
        return t->answers.items[number];
    if (number != KEY_NONE)
        vec_push(&t->answers, NULL);
    const struct typed_call *call = answer(t, head, n_inputs, inputs);
    if (number != KEY_NONE)
        t->answers.items[number] = call;
    return call;
}

// --- definitions -----------------------------------------------------------------------------------------------------

// The definition in the arena, with no room to grow.
static struct definition *keep_definition(struct typing *t, const struct definition *d)
{
    struct definition *kept = arena_copy_array(&t->arena, d, 1);
    kept->nodes.items = arena_copy_array(&t->arena, d->nodes.items, d->nodes.count);
    kept->indices.items = arena_copy_array(&t->arena, d->indices.items, d->indices.count);
    kept->extents.items = arena_copy_array(&t->arena, d->extents.items, d->extents.count);
    kept->nodes.capacity = kept->indices.capacity = kept->extents.capacity = 0;
    return kept;
}

const struct definition *typing_definition(struct typing *t, const struct typed_call *call)
{
    struct typed_call *known = (struct typed_call *)call;
    assert(call->is_typed);
    if (known->definition)
        return known->definition;
    struct type *inputs = arena_array(&t->arena, struct type, call->n_inputs + 1);
    for (uint32_t i = 0; i < call->n_inputs; i++)
        inputs[i] = *t->types.items[call->inputs[i]];
    struct operator_call asked = {call->op, (int)call->n_inputs, inputs, call->attributes};
    definition_clear(&t->meaning, asked.n_inputs, asked.inputs);
    bool is_typed = operator_define(&t->meaning, &asked);
    assert(is_typed);
    (void)is_typed;
    known->definition = keep_definition(t, &t->meaning);
    return known->definition;
}

const struct evaluation_plan *typing_plan(struct typing *t, const struct typed_call *call)
{
    struct typed_call *known = (struct typed_call *)call;
    if (!known->plan)
        known->plan = evaluation_plan_make(typing_definition(t, call), &t->arena);
    return known->plan;
}
