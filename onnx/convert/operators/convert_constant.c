// Constants, and what is constant once shapes are known.
#include "core/text/error.h"
#include "expressions/elements.h"
#include "onnx/convert/operators/converters.h"
#include "onnx/format/tensor.h"

#include <math.h>

static bool give_tensor(struct conversion *c, const struct onnx_tensor *t)
{
    return give_weight(c, (struct imported_weight){.tensor = t, .type = type_of_tensor(t)});
}

static bool give_numbers(struct conversion *c, enum dtype dtype, int rank, int64_t count, const void *data)
{
    return give_weight(c, (struct imported_weight){.type = type_make(dtype, rank, &count), .data = data});
}

bool convert_constant(struct conversion *c)
{
    static const int64_t no_integers[1];
    static const float no_reals[1];
    if (c->node->attributes.count != 1 || c->n_outputs != 1)
        return cannot(c, "it has no single value");
    const struct onnx_attribute *a = c->node->attributes.items[0];
    if (onnx_string_is(&a->name, "value") && a->t)
        return give_tensor(c, a->t);
    if (onnx_string_is(&a->name, "value_int"))
        return give_numbers(c, DTYPE_I64, 0, 1, &a->i);
    if (onnx_string_is(&a->name, "value_float"))
        return give_numbers(c, DTYPE_F32, 0, 1, &a->f);
    if (onnx_string_is(&a->name, "value_ints"))
        return give_numbers(c, DTYPE_I64, 1, (int64_t)a->ints.count, a->ints.count ? a->ints.items : no_integers);
    if (onnx_string_is(&a->name, "value_floats"))
        return give_numbers(c, DTYPE_F32, 1, (int64_t)a->floats.count, a->floats.count ? a->floats.items : no_reals);
    return cannot(c, "its value is no tensor of numbers");
}

// A number broadcast to the shape; zero without an attribute.
bool convert_constant_of_shape(struct conversion *c)
{
    struct integers dim;
    struct onnx_bytes bytes;
    struct error ignored;
    double value = 0;
    enum dtype dtype = DTYPE_F32;
    const struct onnx_attribute *a = onnx_node_find(c->node, "value");
    if (!constant_ints(c, input_of(c, 0), MAX_RANK, &dim))
        return false;
    if (a && a->t) {
        struct type type = type_of_tensor(a->t);
        if (!type_is_known(&type) || !dtype_has_numbers(type.dtype) || type_elements(&type) != 1 ||
            !onnx_tensor_decode(a->t, &c->importer->scratch, c->model->file->path, &bytes, &ignored))
            return cannot(c, "its value is no single number");
        if (!elements_fit_reals(type.dtype, bytes.at, 1))
            return cannot(c, "its value has more digits than are computed with");
        dtype = type.dtype;
        elements_to_reals(dtype, bytes.at, 1, &value);
    }
    if (ANY(uint32_t, i, dim.count, dim.items[i] < 0 || dim.items[i] > MAX_ELEMENTS))
        return cannot(c, "it has an impossible dimension");
    return give(c, 0, broadcast_to(c, scalar_constant(c, dtype, value), (int)dim.count, dim.items));
}

// The part of a shape from `start` to `end`, as Python slices.
bool convert_shape(struct conversion *c)
{
    if (input_of(c, 0) == NO_TENSOR || !type_is_known(type_of(c, input_of(c, 0))))
        return cannot(c, "the shape of its input is not known");
    struct type x = *type_of(c, input_of(c, 0));
    int64_t start = int_attribute(c, "start", 0), end = int_attribute(c, "end", x.rank);
    start = start < 0 ? start + x.rank : start;
    end = end < 0 ? end + x.rank : end;
    start = start < 0 ? 0 : start;
    end = end > x.rank ? x.rank : end;
    int64_t count = end > start ? end - start : 0;
    c->is_rewritten = true;
    return give(c, 0, int_weight(c, 1, &count, &x.dim[count ? start : 0]));
}

bool convert_size(struct conversion *c)
{
    if (input_of(c, 0) == NO_TENSOR || !type_is_known(type_of(c, input_of(c, 0))))
        return cannot(c, "the shape of its input is not known");
    int64_t size = type_elements(type_of(c, input_of(c, 0)));
    c->is_rewritten = true;
    return give(c, 0, int_weight(c, 0, NULL, &size));
}

// How many numbers there are, as runtimes count them, which subtract and divide in the element type or in doubles.
// False: these do not agree.
static bool count_range(enum dtype dtype, double first, double limit, double step, double *ret_length)
{
    double difference = limit - first, length = ceil(difference / step);
    float narrow = (float)limit - (float)first;
    *ret_length = length >= 0 ? length : 0;
    return dtype != DTYPE_F32 ||
           (ceil((double)narrow / step) == length && (double)ceilf(narrow / (float)step) == length);
}

bool convert_range(struct conversion *c)
{
    double first, limit, step, length;
    if (!constant_real(c, input_of(c, 0), &first) || !constant_real(c, input_of(c, 1), &limit) ||
        !constant_real(c, input_of(c, 2), &step))
        return false;
    enum dtype dtype = type_of(c, input_of(c, 0))->dtype;
    if (!step || !count_range(dtype, first, limit, step, &length))
        return cannot(c, "its length depends on how it is rounded");
    if (length > (double)c->importer->options->fold_limit)
        return cannot(c, "it is longer than the limit of folding");
    int64_t n = (int64_t)length;
    double *values = arena_array(&c->importer->scratch, double, n + 1);
    for (int64_t i = 0; i < n; i++)
        values[i] = first + (double)i * step;
    c->is_rewritten = true;
    return give(c, 0, real_weight(c, dtype, 1, &n, values));
}
