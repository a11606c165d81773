// Checks of import in lockstep, which says of a model what its probes show. Here the model is imported at more
// bindings, one at a time, where nothing is symbolic: sizes of one, sizes beyond those of the probes, those of all of
// each table that is cut to a size, and of one more. Where a value has another type there, or other sizes in it, what
// made it is not understood, and is to be kept: `x[:n]` of 64 entries has n of them only up to 64.
//
// Unless the model cannot run there. Positions that are cut to a length and then added to as many words fail beyond the
// table's end, so that the length is what it seems wherever there is a result. That is said of Slice alone: what it
// cuts off never comes to the size it would have had.
#include "onnx/convert/symbolic/lockstep_check.h"

#include "onnx/convert/symbolic/at_binding.h"

#define MOST_TABLES 8

static const int64_t elsewhere[] = {1, 70, 331, 601, 5003, 20011, 100003};

struct trial {
    struct lockstep *l;
    struct at_binding there;
    int64_t binding[MAX_SYMBOLS];
    bool *is_denied;
};

// --- what is said ----------------------------------------------------------------------------------------------------

static tensor_id tensor_named(const struct importer *im, const struct onnx_string *name)   // NULL: of no outputs
{
    const struct named_value *value = name ? name_find(im, name) : NULL;
    return value ? value->tensor : NO_TENSOR;
}

// A number at all probes, at the trial's binding; `standard` where it is no function of the symbols.
static int64_t at_binding(struct trial *t, const int64_t *at, int64_t standard)
{
    struct size_form form;
    return sizes_fit(t->l->sizes, at, &form) ? sizes_form_at(t->l->sizes, &form, t->binding) : standard;
}

static bool agrees_on_type(struct trial *t, tensor_id at_probes, tensor_id here)
{
    const struct type *probe = graph_type(graph_of(t->l, 0), at_probes),
                      *type = graph_type(&t->there.model.graph, here);
    if (!type_is_known(probe) || !type_is_known(type))
        return true;
    if (probe->rank != type->rank || probe->dtype != type->dtype)
        return false;
    for (int i = 0; i < type->rank; i++) {
        EACH_PROBE(int64_t, at, k, graph_type(graph_of(t->l, k), at_probes)->dim[i]);
        if (at_binding(t, at, type->dim[i]) != type->dim[i])
            return false;
    }
    return true;
}

static bool agrees_on_sizes(struct trial *t, tensor_id at_probes, tensor_id here)
{
    struct imported_weight *w = weight_of(&t->there.model, here);
    const void *data;
    if (!w || w->type.dtype != DTYPE_I64 || !known_at(t->l, 0, at_probes) ||
        !type_equal(&w->type, graph_type(graph_of(t->l, 0), at_probes)) ||
        !(data = weight_elements(&t->there.model, w)))
        return true;
    for (int64_t i = 0; i < type_elements(&w->type); i++) {
        int64_t number = ((const int64_t *)data)[i];
        EACH_PROBE(int64_t, at, k, ((const int64_t *)known_at(t->l, k, at_probes))[i]);
        int64_t said = at_binding(t, at, number);
        if (said >= 0 && said != number)
            return false;
    }
    return true;
}

static bool agrees_on(struct trial *t, const struct onnx_string *name)
{
    tensor_id at_probes = tensor_named(&t->l->importers[0], name), here = tensor_named(&t->there.im, name);
    return at_probes == NO_TENSOR || here == NO_TENSOR ||
           (agrees_on_type(t, at_probes, here) && agrees_on_sizes(t, at_probes, here));
}

static bool agree_on_all(struct trial *t, const struct onnx_string *names, size_t n)
{
    return ALL(size_t, i, n, agrees_on(t, &names[i]));
}

// --- one binding -----------------------------------------------------------------------------------------------------

static bool is_typed_at_probes(const struct trial *t, uint32_t index)
{
    const struct onnx_node *n = t->there.im.source->nodes.items[index];
    tensor_id z = tensor_named(&t->l->importers[0], n->outputs.items);
    return z != NO_TENSOR && type_is_known(graph_type(graph_of(t->l, 0), z));
}

// Is nothing left of a table here? No size is nothing.
static bool is_cut_to_nothing(const struct trial *t, const struct onnx_node *n)
{
    tensor_id here = onnx_node_is(n, "Slice") ? tensor_named(&t->there.im, n->outputs.items) : NO_TENSOR;
    const struct type *type = here == NO_TENSOR ? NULL : graph_type(&t->there.model.graph, here);
    return type && type_is_known(type) && type_elements(type) == 0;
}

// Is there a node that fails here, and whose operands fit at the probes?
static bool cannot_run(const struct trial *t)
{
    return ANY(size_t, i, t->there.im.unfit.count, is_typed_at_probes(t, t->there.im.unfit.items[i])) ||
           ANY(size_t, i, t->there.im.source->nodes.count,
               is_typed_at_probes(t, (uint32_t)i) && is_cut_to_nothing(t, t->there.im.source->nodes.items[i]));
}

// Nodes that make something else than was said out of what was said.
static bool deny_nodes(struct trial *t)
{
    bool runs = !cannot_run(t), denies = false;
    for (size_t i = 0; i < t->there.im.source->nodes.count; i++) {
        const struct onnx_node *n = t->there.im.source->nodes.items[i];
        if ((!runs && onnx_node_is(n, "Slice")) || t->is_denied[i] ||
            agree_on_all(t, n->outputs.items, n->outputs.count) || !agree_on_all(t, n->inputs.items, n->inputs.count))
            continue;
        t->is_denied[i] = denies = true;
    }
    return denies;
}

// A binding makes nothing larger than any memory.
static bool deny_at(struct trial *t)
{
    const struct lockstep *l = t->l;
    bool denies = at_binding_import(&t->there, l->models[0], l->models[0]->file, l->importers[0].options, t->binding) &&
                  deny_nodes(t);
    at_binding_free(&t->there);
    return denies;
}

// --- all of them -----------------------------------------------------------------------------------------------------

// All symbols of this size, and each alone, while others are as at the first probe.
static bool deny_at_size(struct trial *t, int64_t size)
{
    uint32_t n = t->l->sizes->n_symbols;
    bool denies = false;
    for (uint32_t alone = n > 1 ? 0 : n; alone <= n; alone++) {
        for (uint32_t i = 0; i < n; i++)
            t->binding[i] = alone == n || alone == i ? sizes_round_up(t->l->sizes, i, size) : t->l->sizes->probes[0][i];
        denies |= deny_at(t);
    }
    return denies;
}

// Entries of a table that the node cuts to a size; 0: it cuts none.
static int64_t table_cut_by(const struct lockstep *l, const struct onnx_node *n)
{
    const struct graph *g = graph_of(l, 0);
    if (!onnx_node_is(n, "Slice") || n->inputs.count == 0)
        return 0;
    tensor_id x = tensor_named(&l->importers[0], &n->inputs.items[0]);
    tensor_id z = tensor_named(&l->importers[0], n->outputs.items);
    if (x == NO_TENSOR || z == NO_TENSOR || graph_type(g, x)->rank != graph_type(g, z)->rank)
        return 0;
    for (int i = 0; i < graph_type(g, x)->rank; i++)
        if (sizes_varies(l->sizes, graph_type(g, z)->dim[i]) && !sizes_varies(l->sizes, graph_type(g, x)->dim[i]))
            return graph_type(g, x)->dim[i];
    return 0;
}

static size_t find_tables(const struct lockstep *l, int64_t *ret_sizes)
{
    const struct onnx_graph *source = l->importers[0].source;
    size_t count = 0;
    for (size_t i = 0; i < source->nodes.count && count < MOST_TABLES; i++) {
        int64_t size = table_cut_by(l, source->nodes.items[i]);
        bool is_new = size > 0 && ALL(size_t, j, count, ret_sizes[j] != size);
        if (is_new)
            ret_sizes[count++] = size;
    }
    return count;
}

bool find_unknown_elsewhere(struct lockstep *l, bool *is_denied)
{
    struct trial t = {.l = l, .is_denied = is_denied};
    int64_t tables[MOST_TABLES], largest = 0;
    size_t n_tables = find_tables(l, tables);
    uint32_t n_factors = l->sizes->n_factors;
    size_t n_noted = l->sizes->noted.count;
    bool denies = false;
    for (int k = 0; k < N_PROBES; k++)
        largest = l->sizes->probes[k][0] > largest ? l->sizes->probes[k][0] : largest;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (elsewhere[i] == 1 || elsewhere[i] > largest)
            denies |= deny_at_size(&t, elsewhere[i]);
    for (size_t i = 0; i < n_tables; i++) {
        denies |= deny_at_size(&t, tables[i]);
        denies |= deny_at_size(&t, tables[i] + 1);
    }
    l->sizes->n_factors = n_factors;
    l->sizes->noted.count = n_noted;
    return denies;
}
