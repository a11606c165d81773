// Types, heads and calls are interned; refusals are kept as bare hashes.
#include "instances/typing.h"

#include "core/memory/hash.h"
#include <assert.h>
#include <string.h>

void typing_init(struct typing *t)
{
    *t = (struct typing){0};
    arena_init(&t->arena);
    arena_init(&t->temporary);
    arena_init(&t->rows);
    definition_init(&t->scratch, &t->temporary, 0, NULL);
    definition_init(&t->meaning, &t->arena, 0, NULL);
    t->scratch.is_silent = true;
    memset(t->agreements, 0xff, sizeof t->agreements);
}

static void free_questions(struct question_table *q)
{
    mem_free_array(q->slots, q->capacity);
    *q = (struct question_table){0};
}

void typing_free(struct typing *t)
{
    definition_free(&t->scratch);
    definition_free(&t->meaning);
    vec_free(&t->types);
    vec_free(&t->trees);
    vec_free(&t->heads);
    vec_free(&t->key);
    table_free(&t->by_type);
    table_free(&t->by_tree);
    key_set_free(&t->head_keys);
    answers_free(&t->memo);
    free_questions(&t->questions);
    arena_free(&t->arena);
    arena_free(&t->temporary);
    arena_free(&t->rows);
}

#define MOST_BYTES ((size_t)16 << 20)
#define MOST_QUESTIONS ((size_t)1 << 14)

// Keeps the memory of all but the questions.
static void forget(struct typing *t)
{
    struct arena_mark beginning = {0};
    vec_clear(&t->types);
    vec_clear(&t->trees);
    vec_clear(&t->heads);
    table_clear(&t->by_type);
    table_clear(&t->by_tree);
    key_set_clear(&t->head_keys);
    answers_clear(&t->memo);
    free_questions(&t->questions);
    memset(t->recent, 0, sizeof t->recent);
    memset(t->agreements, 0xff, sizeof t->agreements);
    memset(t->evaluations, 0, sizeof t->evaluations);
    arena_release(&t->arena, beginning);
    arena_release(&t->temporary, beginning);
    arena_release(&t->rows, beginning);
}

void typing_trim(struct typing *t)
{
    if (arena_used(&t->arena) >= MOST_BYTES || t->questions.count >= MOST_QUESTIONS)
        forget(t);
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

// --- heads -----------------------------------------------------------------------------------------------------------

static bool has_agreement(struct typing *t, const struct operator* op, const struct attribute_value *attributes)
{
    int flags = OPERATOR_IS_ELEMENTWISE | OPERATOR_KEEPS_RANK;
    struct operator_call call = {.op = op, .attributes = attributes};
    return (op->agreement || (op->flags & flags)) && operator_check_attributes(&t->scratch, &call);
}

// The head with the key that was built.
static head_id find_or_add_head(struct typing *t, const struct operator* op, const struct attribute_value *attributes)
{
    head_id id = key_set_add(&t->head_keys, &t->arena, t->key.items, t->key.count * sizeof *t->key.items);
    if (id < t->heads.count)
        return id;
    struct typed_head head = {.has_agreement = has_agreement(t, op, attributes),
                              .op = op,
                              .attributes = attributes_copy(&t->arena, op, attributes),
                              .typed_like = id};
    vec_push(&t->heads, head);
    return id;
}

// Only of values that the attribute has: others are ill-typed.
static bool is_later_choice(const struct attribute *attribute, const struct attribute_value *value)
{
    if (attribute->kind != ATTRIBUTE_CHOICE || value->count != 1)
        return false;
    for (int64_t i = 0; attribute->choices[i]; i++)
        if (i > 0 && i == value->ints[0])
            return true;
    return false;
}

static bool has_later_choices(const struct operator* op, const struct attribute_value *attributes,
                              struct attribute_value *ret_first_ones)
{
    static const int64_t first = 0;
    bool has_some = false;
    for (int i = 0; i < operator_n_attributes(op); i++) {
        bool is_later = is_later_choice(&op->attributes[i], &attributes[i]);
        ret_first_ones[i] = is_later ? (struct attribute_value){1, &first} : attributes[i];
        has_some = has_some || is_later;
    }
    return has_some;
}

head_id typing_head(struct typing *t, const struct operator* op, const struct attribute_value *attributes)
{
    struct attribute_value first_ones[MAX_ATTRIBUTES];
    vec_clear(&t->key);
    vec_push(&t->key, (int64_t)op->id);
    for (int i = 0; i < operator_n_attributes(op); i++) {
        vec_push(&t->key, (int64_t)attributes[i].count);
        for (uint32_t j = 0; j < attributes[i].count; j++)
            vec_push(&t->key, attributes[i].ints[j]);
    }
    size_t n_heads = t->heads.count;
    head_id head = find_or_add_head(t, op, attributes);
    if (head == n_heads && has_later_choices(op, attributes, first_ones)) {
        head_id like = typing_head(t, op, first_ones);
        t->heads.items[head].typed_like = like;
    }
    return head;
}

const struct attribute_value *typing_attributes(const struct typing *t, head_id head)
{
    return t->heads.items[head].attributes;
}

// With the inputs that a question has no room for.
static head_id head_with_inputs(struct typing *t, head_id head, uint32_t n, const type_id *inputs)
{
    struct typed_head of = t->heads.items[head];
    vec_clear(&t->key);
    vec_push(&t->key, -1);
    vec_push(&t->key, (int64_t)head);
    for (uint32_t i = 0; i < n; i++)
        vec_push(&t->key, (int64_t)inputs[i]);
    return find_or_add_head(t, of.op, of.attributes);
}

// --- applications ----------------------------------------------------------------------------------------------------

static uint64_t hash_question(const struct typed_question *q)
{
    const uint64_t odd = 0x9E3779B97F4A7C15u;
    uint64_t hash = ((uint64_t)q->head << 32 | q->n_inputs) * odd;
    for (int i = 0; i < INPUTS_OF_QUESTION; i += 2) {
        hash ^= hash >> 29 ^ ((uint64_t)q->inputs[i] << 32 | q->inputs[i + 1]);
        hash *= odd;
    }
    return hash ^ hash >> 32;
}

static struct typed_question *recent_slot(struct typing *t, const struct typed_question *q)
{
    return &t->recent[hash_question(q) % RECENT_QUESTIONS];
}

static bool is_same_question(const struct typed_question *x, const struct typed_question *y)
{
    return x->head == y->head && x->n_inputs == y->n_inputs && memcmp(x->inputs, y->inputs, sizeof x->inputs) == 0;
}

// Where the question is, or would be.
static struct typed_question *slot_of_question(const struct question_table *table, const struct typed_question *q)
{
    size_t mask = table->capacity - 1, i = hash_question(q) & mask;
    while (table->slots[i].answer && !is_same_question(&table->slots[i], q))
        i = (i + 1) & mask;
    return &table->slots[i];
}

#define FIRST_QUESTIONS 1024
static void grow_questions(struct question_table *table)
{
    struct question_table old = *table;
    table->capacity = old.capacity ? 2 * old.capacity : FIRST_QUESTIONS;
    table->slots = mem_alloc_zero(table->capacity * sizeof *table->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].answer)
            *slot_of_question(table, &old.slots[i]) = old.slots[i];
    mem_free_array(old.slots, old.capacity);
}

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

static const struct typed_call *answer_like(struct typing *t, head_id head, const struct typed_call *like)
{
    if (!like->is_typed)
        return like;
    struct typed_call *call = arena_copy_array(&t->arena, like, 1);
    call->attributes = t->heads.items[head].attributes;
    call->definition = NULL;
    call->structure = 0;
    return call;
}

static const struct typed_call ill_typed = {0};

static const struct typed_call *answer(struct typing *t, head_id head, uint32_t n_inputs, const type_id *inputs)
{
    struct type types[MAX_TYPED_INPUTS];
    head_id like = t->heads.items[head].typed_like;
    if (like != head)
        return answer_like(t, head, typing_apply(t, like, n_inputs, inputs));
    struct arena_mark mark = arena_mark(&t->temporary);
    bool is_typed = define(t, head, n_inputs, inputs, types);
    const struct typed_call *call = is_typed ? keep_call(t, &t->heads.items[head], n_inputs, inputs) : &ill_typed;
    arena_release(&t->temporary, mark);
    return call;
}

static struct typed_question question_of(struct typing *t, head_id head, uint32_t n_inputs, const type_id *inputs)
{
    uint32_t n_short = n_inputs < INPUTS_OF_QUESTION ? n_inputs : INPUTS_OF_QUESTION;
    struct typed_question q = {.head = head, .n_inputs = n_inputs};
    for (uint32_t i = 0; i < n_short; i++)
        q.inputs[i] = inputs[i];
    if (n_inputs > n_short)
        q.head = head_with_inputs(t, head, n_inputs - n_short, inputs + n_short);
    return q;
}

// NULL: not asked yet.
static const struct typed_call *find_answer(const struct typing *t, const struct typed_question *q)
{
    return t->questions.count ? slot_of_question(&t->questions, q)->answer : NULL;
}

static const struct typed_call *remember(struct typing *t, const struct typed_question *q,
                                         const struct typed_call *call)
{
    if (2 * (t->questions.count + 1) > t->questions.capacity)
        grow_questions(&t->questions);
    struct typed_question *slot = slot_of_question(&t->questions, q);
    *slot = *q;
    slot->answer = call;
    t->questions.count++;
    return call;
}

static uint32_t agreement_of(struct typing *t, head_id head, uint32_t input, type_id type)
{
    uint64_t hash = hash_step(hash_step(head, input), type);
    struct typed_agreement *known = &t->agreements[hash % RECENT_AGREEMENTS];
    if (known->head != head || known->input != input || known->type != type) {
        struct type types[MAX_TYPED_INPUTS];
        types[input] = *t->types.items[type];
        struct operator_call call = {t->heads.items[head].op, (int)input + 1, types, t->heads.items[head].attributes};
        *known = (struct typed_agreement){head, input, type, (uint32_t)operator_agreement(&call, (int)input)};
    }
    return known->agreement;
}

// Most combinations of types are refused by this alone.
static bool inputs_agree(struct typing *t, head_id head, uint32_t n_inputs, const type_id *inputs)
{
    if (n_inputs < 2 || !t->heads.items[head].has_agreement)
        return true;
    uint32_t of_last = agreement_of(t, head, n_inputs - 1, inputs[n_inputs - 1]);
    for (uint32_t i = 0; i + 1 < n_inputs; i++)
        if (agreement_of(t, head, i, inputs[i]) != of_last)
            return false;
    return true;
}

const struct typed_call *typing_apply(struct typing *t, head_id head, uint32_t n_inputs, const type_id *inputs)
{
    if (!inputs_agree(t, head, n_inputs, inputs))
        return &ill_typed;
    struct typed_question q = question_of(t, head, n_inputs, inputs);
    struct typed_question *recent = recent_slot(t, &q);
    if (recent->answer && is_same_question(recent, &q))
        return recent->answer;
    const struct typed_call *known = find_answer(t, &q);
    q.answer = known ? known : remember(t, &q, answer(t, head, n_inputs, inputs));
    *recent = q;
    return q.answer;
}

// --- applications of many to many ------------------------------------------------------------------------------------

// The call of the scratch definition, which is well-typed.
static const struct typed_call *remember_typed(struct typing *t, head_id head, uint32_t n_inputs, const type_id *inputs)
{
    struct typed_question q = question_of(t, head, n_inputs, inputs);
    const struct typed_call *known = find_answer(t, &q);
    return known ? known : remember(t, &q, keep_call(t, &t->heads.items[head], n_inputs, inputs));
}

struct pairing {
    head_id head;
    uint32_t n_inputs, n_left, n_right;
    const type_id *lefts, *rights;
    bool is_checked;   // operator_check_call holds of all pairs
};

static void take_left(const struct pairing *p, uint32_t i, type_id *inputs)
{
    if (p->n_inputs > 1)
        memcpy(inputs, p->lefts + (size_t)i * (p->n_inputs - 1), (p->n_inputs - 1) * sizeof *inputs);
}

// It asks the same of each input, whatever the others are.
static bool check_all(struct typing *t, const struct pairing *p)
{
    type_id inputs[MAX_TYPED_INPUTS];
    struct type types[MAX_TYPED_INPUTS];
    bool are_good = p->n_left > 0 && p->n_right > 0;
    for (uint32_t i = 0; are_good && i < p->n_left + p->n_right; i++) {
        take_left(p, i < p->n_left ? i : 0, inputs);
        inputs[p->n_inputs - 1] = p->rights[i < p->n_left ? 0 : i - p->n_left];
        struct operator_call asked = operator_call_of(t, p->head, p->n_inputs, inputs, types);
        definition_clear(&t->scratch, asked.n_inputs, asked.inputs);
        are_good = operator_check_call(&t->scratch, &asked);
    }
    return are_good;
}

static bool define_pair(struct typing *t, const struct pairing *p, const struct operator_call *asked)
{
    definition_clear(&t->scratch, asked->n_inputs, asked->inputs);
    return p->is_checked ? operator_define_checked(&t->scratch, asked) : operator_define(&t->scratch, asked);
}

// The pairs that are well-typed with the first of each choice. Few of them are asked about one by one afterwards.
static void find_pairs_like(struct typing *t, head_id head, const struct typed_pairs *like,
                            struct typed_pairs *ret_pairs)
{
    ret_pairs->items = arena_copy_array(&t->arena, like->items, like->count);
    ret_pairs->count = like->count;
    for (uint32_t i = 0; i < like->count; i++)
        ret_pairs->items[i].call = answer_like(t, head, like->items[i].call);
}

// What each right type must agree with; most pairs are refused by that alone. NULL: nothing is to be asked.
static const uint64_t *agreements_of_rights(struct typing *t, const struct pairing *p)
{
    if (!p->is_checked || p->n_inputs < 2)
        return NULL;
    uint64_t *all = arena_array(&t->temporary, uint64_t, p->n_right + 1);
    type_id inputs[MAX_TYPED_INPUTS];
    struct type types[MAX_TYPED_INPUTS];
    for (uint32_t i = 0; i < p->n_right; i++) {
        take_left(p, 0, inputs);
        inputs[p->n_inputs - 1] = p->rights[i];
        struct operator_call call = operator_call_of(t, p->head, p->n_inputs, inputs, types);
        all[i] = operator_agreement(&call, (int)p->n_inputs - 1);
    }
    return all;
}

// False: the inputs that are not the last do not agree among themselves.
static bool agreement_of_left(const struct operator_call *of_left, uint64_t *ret_agreement)
{
    *ret_agreement = operator_agreement(of_left, 0);
    for (int i = 1; i < of_left->n_inputs; i++)
        if (operator_agreement(of_left, i) != *ret_agreement)
            return false;
    return true;
}

// What is ill-typed is not remembered, as most is.
static void find_pairs(struct typing *t, struct pairing *p, struct typed_pairs *ret_pairs)
{
    VEC(struct typed_pair) found = {0};
    type_id inputs[MAX_TYPED_INPUTS];
    struct type types[MAX_TYPED_INPUTS];
    uint32_t last = p->n_inputs - 1;
    struct arena_mark beginning = arena_mark(&t->temporary);
    p->is_checked = check_all(t, p);
    const uint64_t *of_right = agreements_of_rights(t, p);
    for (uint32_t i = 0; i < p->n_left; i++) {
        uint64_t of_left = 0;
        take_left(p, i, inputs);
        struct operator_call asked = operator_call_of(t, p->head, last, inputs, types);
        if (of_right && !agreement_of_left(&asked, &of_left))
            continue;
        asked.n_inputs = (int)p->n_inputs;
        for (uint32_t j = 0; j < p->n_right; j++) {
            if (of_right && of_right[j] != of_left)
                continue;
            struct arena_mark mark = arena_mark(&t->temporary);
            inputs[last] = p->rights[j];
            types[last] = *t->types.items[p->rights[j]];
            if (define_pair(t, p, &asked)) {
                struct typed_pair pair = {i, j, remember_typed(t, p->head, p->n_inputs, inputs)};
                vec_push(&found, pair);
            }
            arena_release(&t->temporary, mark);
        }
    }
    arena_release(&t->temporary, beginning);
    vec_reserve(&found, 1);
    ret_pairs->items = arena_copy_array(&t->arena, found.items, found.count);
    ret_pairs->count = (uint32_t)found.count;
    vec_free(&found);
}

const struct typed_pairs *typing_apply_all(struct typing *t, head_id head, uint32_t n_inputs, uint32_t n_left,
                                           const type_id *lefts, uint32_t n_right, const type_id *rights)
{
    vec_clear(&t->key);
    vec_push(&t->key, QUESTION_PAIRS);
    vec_push(&t->key, (int64_t)head);
    vec_push(&t->key, (int64_t)n_inputs);
    vec_push(&t->key, (int64_t)n_left);
    for (uint32_t i = 0; i < n_right; i++)
        vec_push(&t->key, (int64_t)rights[i]);
    for (uint32_t i = 0; i < n_left * (n_inputs - 1); i++)
        vec_push(&t->key, (int64_t)lefts[i]);
    uint32_t found = answers_find(&t->memo, t->key.count, t->key.items);
    if (found != ANSWERS_NONE)
        return t->memo.items.items[found];
    struct typed_pairs *pairs = arena_new(&t->arena, struct typed_pairs);
    answers_add(&t->memo, &t->arena, t->key.count, t->key.items, pairs);
    struct pairing pairing = {
        .head = head, .n_inputs = n_inputs, .n_left = n_left, .n_right = n_right, .lefts = lefts, .rights = rights};
    head_id like = t->heads.items[head].typed_like;
    if (like != head)
        find_pairs_like(t, head, typing_apply_all(t, like, n_inputs, n_left, lefts, n_right, rights), pairs);
    else
        find_pairs(t, &pairing, pairs);
    return pairs;
}

// --- definitions -----------------------------------------------------------------------------------------------------

// In the arena, with no room to grow.
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
