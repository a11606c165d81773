// Nodes that compute sizes stand before all others.
#include "onnx/convert/export/make_sizes.h"

#include "onnx/convert/reshape_sizes.h"

#include <string.h>

#define OPSET_OF_SHAPE_RANGES 15

static bool is_list_of_numbers(const struct exporter *x, uint32_t count, const int64_t *sizes)
{
    return ALL(uint32_t, i, count, !sizes_varies(&x->model->symbols.sizes, sizes[i]));
}

// --- vectors of one size ---------------------------------------------------------------------------------------------

static const char *one_number(struct exporter *x, int64_t value)
{
    return int_initializer(x, 1, &(int64_t){1}, &value);
}

static const char *emit_symbol(struct exporter *x, uint32_t symbol)
{
    const struct imported_symbol *s = &x->model->symbols.list.items[symbol];
    const char *name = fresh_name(x, "size"), *input = x->model->inputs.items[s->input].name;
    bool has_ranges = x->model->opset >= OPSET_OF_SHAPE_RANGES;
    const char *inputs[2] = {has_ranges ? name : fresh_name(x, "shape"), NULL};
    struct onnx_node *n = emit(x, "Shape", 1, &input, inputs[0]);
    if (has_ranges) {
        set_int_attribute(x, n, "start", s->axis);
        set_int_attribute(x, n, "end", s->axis + 1);
        return name;
    }
    inputs[1] = one_number(x, s->axis);
    set_int_attribute(x, emit(x, "Gather", 2, inputs, name), "axis", 0);
    return name;
}

static const char *size_name(struct exporter *x, int64_t size);

// NULL stands for nothing yet.
static const char *combined(struct exporter *x, const char *op, const char *a, const char *b)
{
    if (!a)
        return b;
    const char *name = fresh_name(x, "size");
    emit(x, op, 2, (const char *[]){a, b}, name);
    return name;
}

static const char *emit_sum(struct exporter *x, const struct size_factor *f)
{
    const struct sizes *s = &x->model->symbols.sizes;
    const char *sum = f->constant ? one_number(x, f->constant) : NULL;
    for (uint32_t i = 0; i < s->n_symbols; i++) {
        if (f->weights[i] == 0)
            continue;
        const char *symbol = size_name(x, s->probes[0][i]);
        sum = combined(x, "Add", sum,
                       f->weights[i] == 1 ? symbol : combined(x, "Mul", symbol, one_number(x, f->weights[i])));
    }
    return sum;
}

static const char *emit_factor(struct exporter *x, uint32_t factor)
{
    const struct size_factor *f = &x->model->symbols.sizes.factors[factor];
    const char *sum = factor < x->model->symbols.sizes.n_symbols ? emit_symbol(x, factor) : emit_sum(x, f);
    return f->divisor == 1 ? sum : combined(x, "Div", sum, one_number(x, f->divisor));
}

static const char *emit_product(struct exporter *x, const struct size_form *form)
{
    const struct sizes *s = &x->model->symbols.sizes;
    const char *product = form->constant == 1 ? NULL : one_number(x, form->constant);
    for (uint32_t i = 0; i < s->n_factors; i++) {
        struct size_form alone = {.constant = 1};
        alone.powers[i] = 1;
        for (int j = 0; j < form->powers[i]; j++)
            product = combined(x, "Mul", product, size_name(x, sizes_form_at(s, &alone, s->probes[0])));
    }
    return product;
}

static const char *emit_size(struct exporter *x, int64_t size)
{
    const struct sizes *s = &x->model->symbols.sizes;
    struct size_form form = sizes_form_of(s, size);
    uint32_t n = 0, last = 0;
    for (uint32_t i = 0; i < s->n_factors; i++) {
        n += form.powers[i];
        last = form.powers[i] ? i : last;
    }
    if (n == 0)
        return one_number(x, size);
    if (n > 1 || form.constant != 1)
        return emit_product(x, &form);
    return emit_factor(x, last);
}

// --- lists -----------------------------------------------------------------------------------------------------------

static const char *find_made(const struct exporter *x, uint32_t count, const int64_t *sizes)
{
    const struct made_size *made =
        vec_find(&x->sizes, m, m->count == count && memcmp(m->sizes, sizes, count * sizeof *sizes) == 0);
    return made ? made->name : NULL;
}

static const char *remember_made(struct exporter *x, uint32_t count, const int64_t *sizes, const char *name)
{
    vec_push(&x->sizes, ((struct made_size){count, arena_copy_array(x->arena, sizes, count), name}));
    return name;
}

static const char *size_name(struct exporter *x, int64_t size)
{
    const char *made = find_made(x, 1, &size);
    return made ? made : remember_made(x, 1, &size, emit_size(x, size));
}

static const char *emit_list(struct exporter *x, uint32_t count, const int64_t *sizes)
{
    const char **parts = arena_array(x->arena, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        parts[i] = sizes_varies(&x->model->symbols.sizes, sizes[i]) ? size_name(x, sizes[i]) : one_number(x, sizes[i]);
    const char *name = fresh_name(x, "sizes");
    set_int_attribute(x, emit(x, "Concat", count, parts, name), "axis", 0);
    return remember_made(x, count, sizes, name);
}

// A list of more than one is told from one size by its length.
static const char *made_list(struct exporter *x, uint32_t count, const int64_t *sizes)
{
    node_id current = x->current;
    const char *made = find_made(x, count, sizes);
    x->current = 0;
    if (!made)
        made = count == 1 ? size_name(x, *sizes) : emit_list(x, count, sizes);
    x->current = current;
    return made;
}

const char *list_of_sizes(const struct making *m, uint32_t count, const int64_t *sizes)
{
    return is_list_of_numbers(m->x, count, sizes) ? list_initializer(m, count, sizes) : made_list(m->x, count, sizes);
}

const char *shape_of_reshape(const struct making *m, uint32_t count, const int64_t *sizes, bool *ret_allows_zero)
{
    struct reshape_sizes said;
    if (is_list_of_numbers(m->x, count, sizes))
        return list_initializer(m, count, sizes);
    if (!reshape_sizes_of(&m->x->model->symbols.sizes, input_type(m, 0), count, sizes, &said))
        return cannot_export(m->x, "a reshape to nothing, beside sizes that are not known");
    *ret_allows_zero |= said.allows_zero;
    return list_of_sizes(m, count, said.list);
}

// A dimension that the input has is 1.
const char *shape_of_expansion(const struct making *m, uint32_t count, const int64_t *sizes)
{
    const struct type *x = input_type(m, 0);
    int64_t list[MAX_RANK];
    for (uint32_t i = 0; i < count; i++) {
        int own = (int)i - ((int)count - x->rank);
        bool is_kept = own >= 0 && x->dim[own] == sizes[i] && sizes_varies(&m->x->model->symbols.sizes, sizes[i]);
        list[i] = is_kept ? 1 : sizes[i];
    }
    return list_of_sizes(m, count, list);
}
