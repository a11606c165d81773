// Arithmetic of shapes that is one function of all sizes. Comparisons are such where they are decided for all sizes,
// and quotients where nothing is left over, or by a number.
#include "onnx/convert/symbolic/shape_arithmetic.h"

#include "onnx/convert/read_node.h"

#include <string.h>

// The elements of input `i` of the node at a binding; NULL: they are not known.
static const void *known_value(const struct lockstep *l, int k, uint32_t i, const struct type **ret_type)
{
    tensor_id t = input_of(&l->c[k], i);
    struct imported_weight *w = t == NO_TENSOR ? NULL : weight_of(l->models[k], t);
    *ret_type = w ? &w->type : NULL;
    return w ? weight_elements(l->models[k], w) : NULL;
}

// An entry of them; where there is a single one, that.
static bool known_entry(const struct lockstep *l, int k, uint32_t i, int64_t entry, int64_t *ret_value)
{
    const struct type *type;
    const int64_t *data = known_value(l, k, i, &type);
    if (!data || type->dtype != DTYPE_I64 || type_elements(type) == 0)
        return false;
    *ret_value = data[type_elements(type) == 1 ? 0 : entry];
    return true;
}

static bool known_operands(const struct lockstep *l, int64_t entry, int64_t *ret_x, int64_t *ret_y)
{
    return ALL(int, k, N_PROBES, known_entry(l, k, 0, entry, &ret_x[k]) && known_entry(l, k, 1, entry, &ret_y[k]));
}

static int64_t entries_of_inputs(const struct lockstep *l)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < l->c[0].n_inputs; i++) {
        int64_t own = input_of(&l->c[0], i) == NO_TENSOR ? 1 : type_elements(type_of(&l->c[0], input_of(&l->c[0], i)));
        n = own > n ? own : n;
    }
    return n;
}

// Sums of sizes, products and quotients: no more is taken away than what there is at sizes of one.
bool is_never_negative(struct lockstep *l, const int64_t *at)
{
    struct size_form form;
    if (!sizes_fit(l->sizes, at, &form) || form.constant < 0)
        return false;
    for (uint32_t i = 0; i < l->sizes->n_factors; i++) {
        const struct size_factor *f = &l->sizes->factors[i];
        int64_t least = f->constant;
        bool grows = true;
        for (uint32_t j = 0; j < l->sizes->n_symbols; j++) {
            grows = grows && f->weights[j] >= 0;
            least += f->weights[j];
        }
        if (form.powers[i] && !(grows && least >= 0))
            return false;
    }
    return true;
}

static bool is_constantly_negative(const int64_t *at)
{
    return at[0] < 0 && !varies(at);
}

// The same function of the symbols, or a size and a number below zero (-1 in the shapes that exporters write).
static bool comparison_is_decided(struct lockstep *l, int64_t entry)
{
    int64_t x[N_PROBES], y[N_PROBES];
    struct size_form form;
    if (!known_operands(l, entry, x, y))
        return false;
    if (memcmp(x, y, sizeof x) == 0)
        return sizes_fit(l->sizes, x, &form);
    return (is_constantly_negative(x) && is_never_negative(l, y)) ||
           (is_constantly_negative(y) && is_never_negative(l, x));
}

// Nothing is left over; or by a number above zero, of what is not below it: there ONNX rounds down, too.
static bool quotient_is_function(struct lockstep *l, int64_t entry)
{
    int64_t x[N_PROBES], y[N_PROBES];
    bool is_known = known_operands(l, entry, x, y), is_exact = is_known;
    for (int k = 0; is_exact && k < N_PROBES; k++)
        is_exact = y[k] != 0 && x[k] % y[k] == 0;
    if (!is_known || is_exact)
        return is_exact;
    if (varies(y) || y[0] < 1 || !is_never_negative(l, x))
        return false;
    sizes_add_quotient(l->sizes, x, 0, y[0]);
    return true;
}

// The places that are gathered or cut are told by numbers: by sizes, it may be something else than what the probes
// show.
static bool has_fixed_places(const struct lockstep *l)
{
    for (uint32_t i = 1; i < l->c[0].n_inputs; i++) {
        const struct type *type, *other_type;
        const void *first = known_value(l, 0, i, &type);
        for (int k = 1; first && k < N_PROBES; k++) {
            const void *other = known_value(l, k, i, &other_type);
            if (!other || type_bytes(other_type) != type_bytes(type) || memcmp(first, other, type_bytes(type)) != 0)
                return false;
        }
    }
    return true;
}

static bool holds_for_entries(struct lockstep *l, bool (*holds)(struct lockstep *l, int64_t entry))
{
    int64_t n = entries_of_inputs(l);
    return ALL(int64_t, i, n, holds(l, i));
}

bool makes_integers(const struct lockstep *l)
{
    const struct type *t = type_of(&l->c[0], l->c[0].outputs[0]);
    return t->dtype == DTYPE_I64 || t->dtype == DTYPE_I32;
}

bool is_arithmetic_of_shapes(struct lockstep *l)
{
    static const char places[] = "Concat Unsqueeze Squeeze Reshape Identity Expand Where Transpose Shape Size Flatten";
    const struct onnx_node *n = l->c[0].node;
    return l->c[0].n_outputs == 1 &&
           (onnx_node_is(n, places) || (onnx_node_is(n, "Gather Slice") && has_fixed_places(l)) ||
            (onnx_node_is(n, "Add Sub Mul Neg ReduceProd Cast") && makes_integers(l)) ||
            (onnx_node_is(n, "Div") && holds_for_entries(l, quotient_is_function)) ||
            (onnx_node_is(n, "Equal") && holds_for_entries(l, comparison_is_decided)));
}
