// Symbols that tables limit: positions of 64 rows that are cut to a length, or gathered up to it, allow no more than
// 64. At probes beyond that nothing behind them would be understood. Where the value that cuts is a function of the
// symbols, the largest size that it allows, the same for all symbols in it, is a limit of each.
#include "onnx/convert/symbolic/size_limits.h"

#include "onnx/convert/import_names.h"
#include "onnx/convert/symbolic/lockstep.h"
#include "onnx/convert/weights.h"
#include "onnx/format/visit.h"

#include <string.h>

#define MOST_STEPS_BACK 8   // from a Gather to the Range that its places come from

struct limiting {
    struct lockstep *l;
    const int64_t *units;
    struct size_limits *limits;
    bool is_lower;
};

// --- what is known ---------------------------------------------------------------------------------------------------

static tensor_id tensor_called(const struct importer *im, const struct onnx_string *name)
{
    const struct named_value *value = name_find(im, name);
    return value ? value->tensor : NO_TENSOR;
}

static const struct type *type_called(const struct lockstep *l, int k, const struct onnx_string *name)
{
    tensor_id t = tensor_called(&l->importers[k], name);
    return t == NO_TENSOR ? NULL : graph_type(graph_of(l, k), t);
}

// Numbers of 64 bits that are constant or known at a probe; NULL: they are none.
static const int64_t *numbers_called(const struct lockstep *l, int k, const struct onnx_string *name,
                                     int64_t *ret_count)
{
    const struct importer *im = &l->importers[k];
    tensor_id t = tensor_called(im, name);
    const struct type *type = type_called(l, k, name);
    if (!type || !type_is_known(type) || type->dtype != DTYPE_I64)
        return NULL;
    *ret_count = type_elements(type);
    const struct imported_weight *w = weight_of(l->models[k], t);
    return w                     ? lockstep_weight(l, k, (size_t)(w - l->models[k]->weights.items))
           : t < im->known.count ? im->known.items[t]
                                 : NULL;
}

static bool number_at_all_probes(const struct lockstep *l, const struct onnx_node *n, size_t input, int64_t entry,
                                 int64_t *ret_at)
{
    for (int k = 0; k < N_PROBES; k++) {
        int64_t count;
        const int64_t *numbers = input < n->inputs.count ? numbers_called(l, k, &n->inputs.items[input], &count) : NULL;
        if (!numbers || entry >= count)
            return false;
        ret_at[k] = numbers[entry];
    }
    return true;
}

// Entries of an axis that has as many at all probes; -1: it has not, or that is not known.
static int64_t fixed_entries(const struct lockstep *l, const struct onnx_string *name, int64_t axis)
{
    int64_t entries = -1;
    for (int k = 0; k < N_PROBES; k++) {
        const struct type *t = type_called(l, k, name);
        int64_t at = !t || t->rank == RANK_UNKNOWN ? -1 : axis < 0 ? axis + t->rank : axis;
        if (at < 0 || at >= t->rank || (k > 0 && t->dim[at] != entries))
            return -1;
        entries = t->dim[at];
    }
    return entries;
}

// --- limits ----------------------------------------------------------------------------------------------------------

static bool has_symbol(const struct sizes *s, const struct size_form *form, uint32_t symbol)
{
    for (uint32_t i = 0; i < s->n_factors; i++)
        if (form->powers[i] && s->factors[i].weights[symbol])
            return true;
    return false;
}

static bool is_within(const struct limiting *x, const struct size_form *form, int64_t size, int64_t bound)
{
    const struct sizes *s = x->l->sizes;
    int64_t binding[MAX_SYMBOLS];
    for (uint32_t i = 0; i < s->n_symbols; i++)
        binding[i] = has_symbol(s, form, i) ? size / x->units[i] * x->units[i] : x->units[i];
    int64_t value = sizes_form_at(s, form, binding);
    return value >= 0 && value <= bound;
}

// Of sums and products, which grow with each symbol; 0: none is within the bound.
static int64_t largest_within(const struct limiting *x, const struct size_form *form, int64_t bound)
{
    int64_t low = 0, high = bound + 1;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        *(is_within(x, form, middle, bound) ? &low : &high) = middle;
    }
    return low;
}

static void lower(struct limiting *x, uint32_t symbol, int64_t size)
{
    int64_t most = size / x->units[symbol] * x->units[symbol];
    if (most < x->units[symbol] || most >= x->limits->most[symbol])
        return;
    x->limits->most[symbol] = most;
    x->is_lower = true;
}

// A value of the symbols that must not be larger than a number.
static void limit_value(struct limiting *x, const int64_t *at, int64_t bound)
{
    struct sizes *s = x->l->sizes;
    uint32_t n_factors = s->n_factors;
    size_t n_noted = s->noted.count;
    struct size_form form;
    struct size_limit limit;
    bool is_beyond = false;
    for (int k = 0; k < N_PROBES; k++)
        is_beyond = is_beyond || at[k] > bound;
    int64_t size = is_beyond && sizes_fit(s, at, &form) ? largest_within(x, &form, bound) : 0;
    for (uint32_t i = 0; size > 0 && i < s->n_symbols; i++)
        if (has_symbol(s, &form, i))
            lower(x, i, size);
    if (size > 0 && sizes_limit(s, &form, bound, &limit))
        vec_push(&x->limits->found, limit);
    s->n_factors = n_factors;
    s->noted.count = n_noted;
}

// From 0 up to the bound: what is below zero is too far from the other end.
static void limit_place(struct limiting *x, const int64_t *at, int64_t bound)
{
    int64_t from_end[N_PROBES];
    for (int k = 0; k < N_PROBES; k++)
        from_end[k] = bound - at[k];
    limit_value(x, at, bound);
    limit_value(x, from_end, bound);
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static void limit_slice(struct limiting *x, const struct onnx_node *n)
{
    int64_t ends[N_PROBES], starts[N_PROBES], axes[N_PROBES];
    for (int64_t i = 0; n->inputs.count > 2 && number_at_all_probes(x->l, n, 2, i, ends); i++) {
        int64_t axis = number_at_all_probes(x->l, n, 3, i, axes) ? axes[0] : i;
        int64_t entries = fixed_entries(x->l, &n->inputs.items[0], axis);
        if (entries > 0 && ends[0] != ends[1])
            limit_place(x, ends, entries);
        if (entries > 0 && number_at_all_probes(x->l, n, 1, i, starts) && starts[0] != starts[1])
            limit_place(x, starts, entries);
    }
}

static const struct onnx_node *maker_of(const struct lockstep *l, const struct onnx_string *name)
{
    const struct onnx_graph *g = l->importers[0].source;
    for (size_t i = 0; name->size && i < g->nodes.count; i++) {
        const struct onnx_node *n = g->nodes.items[i];
        for (size_t j = 0; j < n->outputs.count; j++)
            if (onnx_string_is(&n->outputs.items[j], name->text))
                return n;
    }
    return NULL;
}

// The Range behind nodes that only move what it makes; NULL: there is none.
static const struct onnx_node *range_behind(const struct lockstep *l, const struct onnx_string *name)
{
    static const char *const movers[] = {"Unsqueeze", "Squeeze", "Expand", "Reshape", "Identity", "Cast", "Tile", NULL};
    for (int step = 0; step < MOST_STEPS_BACK; step++) {
        const struct onnx_node *n = maker_of(l, name);
        bool moves = false;
        if (!n || onnx_string_is(&n->op_type, "Range"))
            return n;
        for (size_t i = 0; movers[i]; i++)
            moves = moves || onnx_string_is(&n->op_type, movers[i]);
        if (!moves)
            return NULL;
        name = &n->inputs.items[0];
    }
    return NULL;
}

static void limit_gather(struct limiting *x, const struct onnx_node *n)
{
    const struct onnx_attribute *axis = onnx_node_find(n, "axis");
    int64_t at[N_PROBES],
        entries = n->inputs.count < 2 ? -1 : fixed_entries(x->l, &n->inputs.items[0], axis ? axis->i : 0);
    if (entries <= 0)
        return;
    for (int64_t i = 0; number_at_all_probes(x->l, n, 1, i, at); i++)
        if (at[0] != at[1])
            limit_place(x, at, entries - 1);
    const struct onnx_node *range = range_behind(x->l, &n->inputs.items[1]);
    if (range && number_at_all_probes(x->l, range, 1, 0, at) && at[0] != at[1])
        limit_place(x, at, entries);
}

bool find_size_limits(struct lockstep *l, const int64_t *units, struct size_limits *limits)
{
    struct limiting x = {l, units, limits, false};
    const struct onnx_graph *g = l->importers[0].source;
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct onnx_node *n = g->nodes.items[i];
        if (!onnx_node_has_standard_domain(n))
            continue;
        if (onnx_string_is(&n->op_type, "Slice"))
            limit_slice(&x, n);
        else if (onnx_string_is(&n->op_type, "Gather"))
            limit_gather(&x, n);
    }
    return x.is_lower;
}

void size_limits_forget(struct size_limits *limits)
{
    vec_free(&limits->found);
    for (int i = 0; i < MAX_SYMBOLS; i++)
        limits->most[i] = INT64_MAX;
}
