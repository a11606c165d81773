// Programs: read in, walked, and changed at one tensor.
#include "derivation/programs/derivation.h"

#include "derivation/scopes/scope.h"
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
    vec_free(&dv->applications);
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

const struct application *derivation_application(const struct derivation *dv, int tensor)
{
    for (size_t i = 0; i < dv->applications.count; i++)
        if (dv->applications.items[i].result == tensor)
            return &dv->applications.items[i];
    return NULL;
}

// --- walks -----------------------------------------------------------------------------------------------------------

static void add_tensor(struct tensor_list *list, int tensor)
{
    for (int i = 0; i < list->n; i++)
        if (list->items[i] == tensor)
            return;
    if (list->n < MOST_TENSORS)
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

void tensors_read(const struct pool *p, int tensor, struct tensor_list *ret_tensors)
{
    ret_tensors->n = 0;
    if (tensor >= p->d.n_inputs)
        add_reads(p, p->d.stages[tensor - p->d.n_inputs].body, ret_tensors);
}

static void add_below(const struct pool *p, int tensor, struct tensor_list *list)
{
    struct tensor_list read;
    if (tensor < p->d.n_inputs)
        return;
    tensors_read(p, tensor, &read);
    for (int i = 0; i < read.n; i++)
        add_below(p, read.items[i], list);
    add_tensor(list, tensor);
}

void program_tensors(const struct pool *p, int program, struct tensor_list *ret_tensors)
{
    ret_tensors->n = 0;
    add_below(p, program, ret_tensors);
}

bool depends_on_weights_alone(const struct derivation *dv, int tensor)
{
    struct tensor_list read;
    if (tensor < dv->all.pool.d.n_inputs)
        return tensor < MOST_WEIGHTS && (dv->weights >> tensor & 1);
    tensors_read(&dv->all.pool, tensor, &read);
    for (int i = 0; i < read.n; i++)
        if (!depends_on_weights_alone(dv, read.items[i]))
            return false;
    return true;
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
    tensors_read(p, program, &read);
    for (int i = 0; i < read.n; i++) {
        struct substitution s = {.tensor = read.items[i]};
        s.by_tensor = derivation_replace(dv, read.items[i], tensor, by);
        const struct stage stage = p->d.stages[replaced - p->d.n_inputs];
        if (s.by_tensor != s.tensor)
            replaced = pool_scope(p, &stage.type, substitution_apply(p, &s, stage.body));
    }
    return replaced == program ? program : derivation_normal(dv, replaced);
}
