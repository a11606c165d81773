// Types, settings, calls and values are interned in tables of their own; the larger ones are emptied when they are
// full.
#include "generator/enumerate/evaluation_cache.h"

#include "core/memory/hash.h"
#include "core/numbers/random.h"
#include "expressions/evaluation/evaluate.h"
#include "expressions/evaluation/tape.h"
#include "expressions/field.h"
#include "expressions/type_identity.h"
#include "generator/enumerate/same_definition.h"
#include <assert.h>
#include <string.h>

// A tape is made for a call that is evaluated so often: making one takes as long as some evaluations by a plan.
enum { MAX_CALL_ELEMENTS = 1 << 20, USES_BEFORE_TAPE = 4, CACHE_LINE = 64 };
#define NO_APPLICATION UINT32_MAX

// How to evaluate the calls of one meaning: those that differ in split trees mostly share one.
struct method {
    struct type inputs[2];
    struct definition definition;   // while is_defined
    bool is_defined;                // false: not asked for since the values were forgotten
    uint32_t n_uses;
    const struct tape *tape;              // NULL: there is none yet, or it would be too large
    const struct evaluation_plan *plan;   // NULL: there is none, or it was forgotten
};
// A call is a line of the processor's cache, as it is read where it is found.
struct call {
    uint32_t number;
    const struct call_setting *setting;
    uint16_t n_inputs, n_outputs;
    bool is_typed;
    const struct call_type *input_types[2], *outputs[MAX_NODE_OUTPUTS];
    struct method *method;   // NULL: ill-typed, or of more outputs
};
struct call_application {
    call_value inputs[2], outputs;
    uint32_t call;
};
struct call_tensor {
    const struct call_type *type;
    uint32_t application;   // NO_APPLICATION: a variable
    uint32_t variable;
    const void *contents[CALL_DOMAINS];   // of an application's output; NULL: not asked for yet
};

static void start_draft(struct evaluation_cache *c)
{
    definition_init(&c->draft, &c->kept, 0, NULL);
    c->draft.is_silent = true;
}

void evaluation_cache_init(struct evaluation_cache *c, uint64_t seed, size_t max_bytes)
{
    memset(c, 0, sizeof *c);
    c->seed = seed;
    c->max_bytes = max_bytes;
    start_draft(c);
}

static void forget_values(struct evaluation_cache *c)
{
    for (size_t i = 0; i < c->methods.count; i++) {
        struct method *method = c->methods.items[i];
        if (method->is_defined)
            definition_free(&method->definition);
        method->is_defined = false;
        method->plan = NULL;
    }
    vecs_free(c, applications, values);
    for (int i = 0; i < MAX_CALL_VARIABLES; i++)
        vec_free(&c->of_variable[i]);
    table_free(&c->by_application);
    table_free(&c->by_meaning);
    arena_free(&c->kept);
}

static void forget_calls(struct evaluation_cache *c)
{
    forget_values(c);
    vecs_free(c, calls, methods);
    table_free(&c->by_call);
    arena_free(&c->of_calls);
}

void evaluation_cache_limit(struct evaluation_cache *c)
{
    if (c->kept.total + c->of_calls.total < c->max_bytes)
        return;
    if (c->of_calls.total < c->max_bytes / 2)
        forget_values(c);
    else
        forget_calls(c);
}

void evaluation_cache_free(struct evaluation_cache *c)
{
    forget_calls(c);
    vecs_free(c, types, settings);
    table_free(&c->by_type);
    table_free(&c->by_setting);
    definition_free(&c->draft);
    arena_free(&c->lasting);
    arena_free(&c->scratch);
    for (int i = 0; i < MAX_CALL_VARIABLES; i++)
        for (int domain = 0; domain < CALL_DOMAINS; domain++)
            vec_free(&c->rows[domain][i]);
}

// --- types -----------------------------------------------------------------------------------------------------------

static bool is_equal_type(const void *owner, uint32_t id, const void *key)
{
    const struct evaluation_cache *c = owner;
    return type_is_identical(&c->types.items[id]->type, key);
}

const struct call_type *evaluation_cache_type(struct evaluation_cache *c, const struct type *type)
{
    uint64_t hash = type_identity_hash(type);
    uint32_t found = table_find(&c->by_type, hash, is_equal_type, c, type);
    if (found != TABLE_NONE)
        return c->types.items[found];
    struct call_type *added = arena_new(&c->lasting, struct call_type);
    *added =
        (struct call_type){type_copy(&c->lasting, type), hash, (uint32_t)c->types.count, (size_t)type_elements(type)};
    table_insert(&c->by_type, hash, (uint32_t)c->types.count);
    vec_push(&c->types, added);
    return added;
}

// --- settings --------------------------------------------------------------------------------------------------------

static bool is_equal_setting(const void *owner, uint32_t id, const void *key)
{
    const struct evaluation_cache *c = owner;
    const struct call_setting *known = c->settings.items[id], *asked = key;
    return known->op == asked->op && attributes_equal(known->op, known->attributes, asked->attributes);
}

const struct call_setting *evaluation_cache_setting(struct evaluation_cache *c, const struct operator* op,
                                                    const struct attribute_value *attributes)
{
    struct call_setting asked = {.op = op, .attributes = attributes};
    asked.hash = attributes_hash(asked.op, asked.attributes);
    uint32_t found = table_find(&c->by_setting, asked.hash, is_equal_setting, c, &asked);
    if (found != TABLE_NONE)
        return c->settings.items[found];
    struct call_setting *added = arena_new(&c->lasting, struct call_setting);
    *added = asked;
    added->attributes = attributes_copy(&c->lasting, op, attributes);
    added->number = (uint32_t)c->settings.count;
    table_insert(&c->by_setting, asked.hash, added->number);
    vec_push(&c->settings, added);
    return added;
}

// --- calls -----------------------------------------------------------------------------------------------------------

// Settings and types are interned.
static bool is_equal_call(const void *owner, uint32_t id, const void *key)
{
    const struct evaluation_cache *c = owner;
    const struct call *known = c->calls.items[id], *asked = key;
    return known->setting == asked->setting && known->input_types[0] == asked->input_types[0] &&
           known->input_types[1] == asked->input_types[1];
}

static bool take_results(struct evaluation_cache *c, struct call *call)
{
    const struct definition *d = &c->draft;
    call->n_outputs = (uint16_t)(d->n_outputs < MAX_NODE_OUTPUTS ? d->n_outputs : MAX_NODE_OUTPUTS);
    for (int i = 0; i < call->n_outputs; i++) {
        if (type_elements(definition_output(d, i)) > MAX_CALL_ELEMENTS)
            return false;
        call->outputs[i] = evaluation_cache_type(c, definition_output(d, i));
    }
    return call->is_typed = true;
}

static bool have_allowed_elements(const struct call *call)
{
    return !ANY(int, i, call->n_inputs, call->input_types[i]->elements > MAX_CALL_ELEMENTS);
}

static bool define_draft(struct evaluation_cache *c, const struct call *call, struct type inputs[2])
{
    struct operator_call of = {call->setting->op, call->n_inputs, inputs, call->setting->attributes};
    for (int i = 0; i < call->n_inputs; i++)
        inputs[i] = call->input_types[i]->type;
    definition_clear(&c->draft, call->n_inputs, inputs);
    return operator_define(&c->draft, &of);
}

static void take_draft(struct evaluation_cache *c, struct method *method)
{
    for (int i = 0; i < c->draft.n_inputs; i++)
        method->inputs[i] = c->draft.inputs[i];
    method->definition = c->draft;
    method->definition.inputs = method->inputs;
    method->is_defined = true;
    start_draft(c);
}

static bool has_meaning(const void *owner, uint32_t id, const void *key)
{
    const struct evaluation_cache *c = owner;
    return is_same_definition(&c->methods.items[id]->definition, key);
}

static struct method *find_or_make_method(struct evaluation_cache *c)
{
    uint64_t hash = same_definition_hash(&c->draft);
    uint32_t found = table_find(&c->by_meaning, hash, has_meaning, c, &c->draft);
    if (found != TABLE_NONE)
        return c->methods.items[found];
    struct method *added = arena_new(&c->of_calls, struct method);
    take_draft(c, added);
    table_insert(&c->by_meaning, hash, (uint32_t)c->methods.count);
    vec_push(&c->methods, added);
    return added;
}

// Most calls that are asked for are ill-typed, or mean what another one does: what their draft takes is used again.
static void define_call(struct evaluation_cache *c, struct call *call)
{
    struct type inputs[2];
    struct arena_mark mark = arena_mark(&c->kept);
    size_t n_methods = c->methods.count;
    bool is_typed = have_allowed_elements(call) && define_draft(c, call, inputs) && take_results(c, call);
    if (is_typed && c->draft.n_outputs == call->n_outputs)
        call->method = find_or_make_method(c);
    if (c->methods.count == n_methods)
        arena_release(&c->kept, mark);
}

static const struct definition *definition_of(struct evaluation_cache *c, struct call *call)
{
    struct type inputs[2];
    if (!call->method->is_defined && define_draft(c, call, inputs))
        take_draft(c, call->method);
    return &call->method->definition;
}

const struct call *evaluation_cache_find(struct evaluation_cache *c, const struct call_setting *setting, int n_inputs,
                                         const struct call_type *const *inputs)
{
    struct call asked = {.number = (uint32_t)c->calls.count, .setting = setting, .n_inputs = (uint16_t)n_inputs};
    uint64_t types = 0;
    for (int i = 0; i < n_inputs; i++) {
        asked.input_types[i] = inputs[i];
        types = types << 32 | (inputs[i]->number + 1);
    }
    uint64_t hash = hash_mix(types, setting->number);
    uint32_t found = table_find(&c->by_call, hash, is_equal_call, c, &asked);
    if (found != TABLE_NONE)
        return c->calls.items[found];
    struct call *added = arena_alloc(&c->of_calls, sizeof *added, CACHE_LINE);
    *added = asked;
    define_call(c, added);
    table_insert(&c->by_call, hash, added->number);
    vec_push(&c->calls, added);
    return added;
}

const struct call_type *const *evaluation_cache_results(const struct call *call)
{
    return call->is_typed ? call->outputs : NULL;
}

bool evaluation_cache_may_apply(const struct call *call)
{
    return call->method != NULL;
}

// --- values ----------------------------------------------------------------------------------------------------------

const struct call_type *evaluation_cache_type_of(const struct evaluation_cache *c, call_value value)
{
    return c->values.items[value].type;
}

call_value evaluation_cache_variable(struct evaluation_cache *c, int variable, const struct call_type *type)
{
    while (c->of_variable[variable].count <= type->number)
        vec_push(&c->of_variable[variable], NO_CALL_VALUE);
    call_value *value = &c->of_variable[variable].items[type->number];
    if (*value == NO_CALL_VALUE) {
        *value = (call_value)c->values.count;
        vec_push(&c->values, ((struct call_tensor){type, NO_APPLICATION, (uint32_t)variable, {NULL}}));
    }
    return *value;
}

static bool is_equal_application(const void *owner, uint32_t id, const void *key)
{
    const struct evaluation_cache *c = owner;
    const struct call_application *known = &c->applications.items[id], *asked = key;
    return known->call == asked->call && known->inputs[0] == asked->inputs[0] && known->inputs[1] == asked->inputs[1];
}

call_value evaluation_cache_apply(struct evaluation_cache *c, const struct call *call, const call_value *inputs)
{
    struct call_application asked = {{NO_CALL_VALUE, NO_CALL_VALUE}, (call_value)c->values.count, call->number};
    for (int i = 0; i < call->n_inputs; i++)
        asked.inputs[i] = inputs[i];
    uint64_t hash = ((uint64_t)asked.inputs[0] << 32 | asked.inputs[1]) * UINT64_C(0x9fb21c651e98df25);
    hash = (hash ^ hash >> 31) + call->number * UINT64_C(0xd6e8feb86659fd93);
    uint32_t found = table_find(&c->by_application, hash, is_equal_application, c, &asked);
    if (found != TABLE_NONE)
        return c->applications.items[found].outputs;
    table_insert(&c->by_application, hash, (uint32_t)c->applications.count);
    for (int i = 0; i < call->n_outputs; i++)
        vec_push(&c->values, ((struct call_tensor){call->outputs[i], (uint32_t)c->applications.count, 0, {NULL}}));
    vec_push(&c->applications, asked);
    return asked.outputs;
}

// --- contents --------------------------------------------------------------------------------------------------------

static_assert(sizeof(union call_number) == sizeof(uint64_t) && sizeof(double) == sizeof(uint64_t), "one size for both");

static union call_number number_of(struct random *stream, enum call_domain domain, uint32_t variable)
{
    if (domain == CALL_FIELD)
        return (union call_number){.field = random_below(stream, FIELD_PRIME)};
    return (union call_number){.real = (1 << variable / CALL_VARIABLES % 4) * (2 * random_unit(stream) - 1)};
}

// The first n values of a variable, and one where n is 0: there is no memory without it.
static const void *row_of(struct evaluation_cache *c, enum call_domain domain, uint32_t variable, size_t n)
{
    n = n ? n : 1;
    if (c->rows[domain][variable].count < n) {
        struct random stream = random_seed(hash_mix(c->seed, (uint64_t)variable));
        vec_clear(&c->rows[domain][variable]);
        for (size_t i = 0; i < n; i++)
            vec_push(&c->rows[domain][variable], number_of(&stream, domain, variable));
    }
    return c->rows[domain][variable].items;
}

static const struct evaluation_plan *plan_of(struct evaluation_cache *c, struct call *call)
{
    struct method *method = call->method;
    if (!method->plan)
        method->plan = evaluation_plan_make(definition_of(c, call), &c->kept);
    return method->plan;
}

// NULL: there is none, or not yet.
static const struct tape *tape_of(struct evaluation_cache *c, struct call *call)
{
    struct method *method = call->method;
    if (++method->n_uses == USES_BEFORE_TAPE)
        method->tape = tape_make(definition_of(c, call), c->seed, &c->of_calls);
    return method->tape;
}

static void run_on_field(struct evaluation_cache *c, struct call *call, const void *const *inputs, void *const *outputs)
{
    const uint64_t *in[] = {inputs[0], inputs[1]};
    uint64_t *out[] = {outputs[0], outputs[1]};
    const struct tape *tape = tape_of(c, call);
    if (tape)
        tape_run(tape, in, out, &c->scratch);
    else
        evaluate_plan_field(plan_of(c, call), c->seed, in, out, &c->scratch);
}

static void run_on_reals(struct evaluation_cache *c, struct call *call, const void *const *inputs, void *const *outputs)
{
    const double *in[] = {inputs[0], inputs[1]};
    double *out[] = {outputs[0], outputs[1]};
    evaluate_plan_f64(plan_of(c, call), in, out, &c->scratch);
}

// Inputs are asked for twice: only when all are computed do the rows of variables stay where they are.
static void compute(struct evaluation_cache *c, enum call_domain domain, const struct call_application *a)
{
    struct call *call = c->calls.items[a->call];
    const void *inputs[2] = {0};
    void *outputs[MAX_NODE_OUTPUTS] = {0};
    for (int i = 0; i < 2 * call->n_inputs; i++)
        inputs[i % call->n_inputs] = evaluation_cache_contents(c, domain, a->inputs[i % call->n_inputs]);
    for (int i = 0; i < call->n_outputs; i++) {
        outputs[i] =
            arena_alloc(&c->kept, call->outputs[i]->elements * sizeof(union call_number), _Alignof(union call_number));
        c->values.items[a->outputs + (call_value)i].contents[domain] = outputs[i];
    }
    (domain == CALL_FIELD ? run_on_field : run_on_reals)(c, call, inputs, outputs);
}

const void *evaluation_cache_contents(struct evaluation_cache *c, enum call_domain domain, call_value value)
{
    const struct call_tensor *v = &c->values.items[value];
    if (v->application == NO_APPLICATION)
        return row_of(c, domain, v->variable, v->type->elements);
    if (!v->contents[domain])
        compute(c, domain, &c->applications.items[v->application]);
    return v->contents[domain];
}
