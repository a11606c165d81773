// Programs: read in, walked, and changed at one tensor.
#include "derivation/programs/derivation.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "derivation/scopes/substitution.h"

void derivation_begin(struct derivation *dv, struct arena *arena, int n_inputs, const struct type *inputs,
                      const struct iterator_tables *tables)
{
    *dv = (struct derivation){.arena = arena, .tables = tables};
    composition_init(&dv->all, arena, n_inputs, inputs);
    dv->all.keeps_scopes = dv->all.pool.keeps_conditions = true;
}

void derivation_end(struct derivation *dv)
{
    composition_free(&dv->all);
    vecs_free(dv, applications, facts);
    table_free(&dv->applied);
}

int derivation_normal(struct derivation *dv, int tensor)
{
    struct scope s;
    int normal = scope_take(&dv->all.pool, tensor, &s) ? scope_make(&dv->all.pool, &s) : NO_SCOPE;
    return normal == NO_SCOPE ? tensor : normal;
}

int derivation_add(struct derivation *dv, const struct definition *d)
{
    int *inputs = mem_new_array(int, d->n_inputs + 1), outputs[MAX_OUTPUTS], program = NO_SCOPE;
    for (int i = 0; i < d->n_inputs; i++)
        inputs[i] = i;
    if (d->n_outputs == 1 && dtype_is_float(definition_output(d, 0)->dtype)) {
        composition_add(&dv->all, d, inputs, outputs);
        program = derivation_normal(dv, outputs[0]);
    }
    mem_free_array(inputs, d->n_inputs + 1);
    return program;
}

static bool is_result(const void *owner, uint32_t id, const void *key)
{
    return ((const struct derivation *)owner)->applications.items[id].result == *(const int *)key;
}

static uint32_t find_application(const struct derivation *dv, int tensor)
{
    return table_find(&dv->applied, hash_mix((uint64_t)tensor, 0), is_result, dv, &tensor);
}

const struct application *derivation_application(const struct derivation *dv, int tensor)
{
    uint32_t found = find_application(dv, tensor);
    return found == TABLE_NONE ? NULL : &dv->applications.items[found];
}

void derivation_add_application(struct derivation *dv, const struct application *application)
{
    if (find_application(dv, application->result) != TABLE_NONE)
        return;
    table_insert(&dv->applied, hash_mix((uint64_t)application->result, 0), (uint32_t)dv->applications.count);
    vec_push(&dv->applications, *application);
}

// --- what is read ----------------------------------------------------------------------------------------------------

static bool has_tensor(const struct tensor_list *list, int tensor)
{
    return ANY(int, i, list->n, list->items[i] == tensor);
}

static void add_tensor(struct tensor_list *list, int tensor)
{
    if (!has_tensor(list, tensor) && list->n < MOST_TENSORS)
        list->items[list->n++] = tensor;
}

static void add_reads(const struct pool *p, expr e, struct tensor_list *list)
{
    struct operands below = expr_operands(&p->d, e);
    if (p->d.nodes.items[e].kind == EXPR_READ)
        add_tensor(list, read_tensor_of(p, e));
    for (uint32_t i = 0; i < below.n; i++)
        add_reads(p, below.items[i], list);
}

static struct tensor_facts look_at(struct derivation *dv, int tensor)
{
    const struct pool *p = &dv->all.pool;
    struct tensor_list read = {.n = 0};
    struct tensor_facts facts = {.is_known = true, .is_of_weights = true};
    add_reads(p, p->d.stages[tensor - p->d.n_inputs].body, &read);
    for (int i = 0; i < read.n; i++)
        facts.is_of_weights = facts.is_of_weights && depends_on_weights_alone(dv, read.items[i]);
    facts.n_read = read.n;
    facts.read = arena_copy_array(dv->arena, read.items, read.n);
    return facts;
}

struct tensor_facts *tensor_facts_of(struct derivation *dv, int tensor)
{
    size_t number = (size_t)(tensor - dv->all.pool.d.n_inputs);
    while (dv->facts.count <= number)
        vec_push(&dv->facts, ((struct tensor_facts){.is_known = false}));
    if (!dv->facts.items[number].is_known) {
        struct tensor_facts facts = look_at(dv, tensor);   // looks at others
        dv->facts.items[number] = facts;
    }
    return &dv->facts.items[number];
}

void tensors_read(struct derivation *dv, int tensor, struct tensor_list *ret_tensors)
{
    ret_tensors->n = 0;
    if (tensor < dv->all.pool.d.n_inputs)
        return;
    const struct tensor_facts *facts = tensor_facts_of(dv, tensor);
    for (int i = 0; i < facts->n_read; i++)
        ret_tensors->items[ret_tensors->n++] = facts->read[i];
}

bool depends_on_weights_alone(struct derivation *dv, int tensor)
{
    if (tensor < dv->all.pool.d.n_inputs)
        return tensor < MOST_WEIGHTS && (dv->weights >> tensor & 1);
    return tensor_facts_of(dv, tensor)->is_of_weights;
}

static void add_below(struct derivation *dv, int tensor, struct tensor_list *list)
{
    struct tensor_list read;
    if (tensor < dv->all.pool.d.n_inputs || has_tensor(list, tensor))
        return;
    tensors_read(dv, tensor, &read);
    for (int i = 0; i < read.n; i++)
        add_below(dv, read.items[i], list);
    add_tensor(list, tensor);
}

void program_tensors(struct derivation *dv, int program, struct tensor_list *ret_tensors)
{
    ret_tensors->n = 0;
    add_below(dv, program, ret_tensors);
}

// --- changes ---------------------------------------------------------------------------------------------------------

// Scopes read what was made before them, so that none that is older than the tensor reads it.
int derivation_replace(struct derivation *dv, int program, int tensor, int by)
{
    struct pool *p = &dv->all.pool;
    struct tensor_list read;
    int replaced = program;
    if (program == tensor)
        return by;
    if (program < tensor || program < p->d.n_inputs)
        return program;
    tensors_read(dv, program, &read);
    for (int i = 0; i < read.n; i++) {
        struct substitution s = {.tensor = read.items[i]};
        s.by_tensor = derivation_replace(dv, read.items[i], tensor, by);
        const struct stage stage = p->d.stages[replaced - p->d.n_inputs];
        if (s.by_tensor != s.tensor)
            replaced = pool_scope(p, &stage.type, substitution_apply(p, &s, stage.body));
    }
    return replaced == program ? program : derivation_normal(dv, replaced);
}
