// Operators that move entries as ONNX nodes.
#include "onnx/convert/export/make_sizes.h"
#include "onnx/convert/export/making.h"
#include "onnx/convert/reshape_sizes.h"

// A target shape with a zero keeps that dimension by being allowed to, or by the zero standing at its own place.
bool make_reshape(struct making *m, const struct row *row)
{
    const struct attribute_value *shape = attribute_of(m, "shape");
    const struct type *x = input_type(m, 0);
    bool has_zero = false, is_at_place = true;
    for (uint32_t i = 0; i < shape->count; i++) {
        has_zero |= shape->ints[i] == 0;
        is_at_place &= shape->ints[i] != 0 || (i < (uint32_t)x->rank && x->dim[i] == 0);
    }
    bool allows_zero = has_zero && !is_at_place;
    const char *names[2] = {input_name(m, 0), shape_of_reshape(m, shape->count, shape->ints, &allows_zero)};
    if (allows_zero && opset_of(m) < OPSET_OF_ALLOWED_ZEROS)
        return cannot_export(m->x, "a reshape to a size that is, or may be, nothing needs operator set 14");
    struct onnx_node *n = emit(m->x, row->onnx, 2, names, m->output);
    if (allows_zero)
        set_int_attribute(m->x, n, "allowzero", 1);
    return true;
}

bool make_broadcast(struct making *m, const struct row *row)
{
    const struct attribute_value *shape = attribute_of(m, "shape");
    const char *names[2] = {input_name(m, 0), shape_of_expansion(m, shape->count, shape->ints)};
    emit(m->x, row->onnx, 2, names, m->output);
    return true;
}

// The end of a range: one step beyond the last entry, and for a negative step beyond the first a number that means it.
static int64_t end_of(int64_t start, int64_t size, int64_t step)
{
    int64_t end = start + size * step;
    return step < 0 && end < 0 ? -MAX_ELEMENTS : end;
}

// The axes that are really cut.
struct cuts {
    uint32_t n;
    bool has_steps;
    int64_t axes[MAX_RANK], starts[MAX_RANK], ends[MAX_RANK], steps[MAX_RANK];
};

static struct cuts cuts_of(const struct making *m)
{
    const struct attribute_value *start = attribute_of(m, "start"), *size = attribute_of(m, "size"),
                                 *step = attribute_of(m, "step");
    struct cuts c = {0};
    for (uint32_t i = 0; i < start->count; i++) {
        int64_t every = step->count ? step->ints[i] : 1;
        if (every == 1 && size->ints[i] == input_type(m, 0)->dim[i])
            continue;
        c.axes[c.n] = i;
        c.starts[c.n] = start->ints[i];
        c.ends[c.n] = end_of(start->ints[i], size->ints[i], every);
        c.steps[c.n++] = every;
        c.has_steps |= every != 1;
    }
    return c;
}

bool make_slice(struct making *m, const struct row *row)
{
    struct cuts c = cuts_of(m);
    for (uint32_t i = 0; i < c.n; i++)
        if (sizes_varies(&m->x->model->symbols.sizes, c.ends[i]) ||
            sizes_varies(&m->x->model->symbols.sizes, c.starts[i]))
            return cannot_export(m->x, "a slice to a size that is not known");
    if (opset_of(m) < 10) {
        if (c.has_steps)
            return cannot_export(m->x, "a slice with steps needs operator set 10");
        struct onnx_node *n = emit_plain(m, row->onnx, m->output);
        set_ints_attribute(m->x, n, "axes", c.n, c.axes);
        set_ints_attribute(m->x, n, "ends", c.n, c.ends);
        set_ints_attribute(m->x, n, "starts", c.n, c.starts);
        return true;
    }
    const char *names[5] = {input_name(m, 0), list_initializer(m, c.n, c.starts), list_initializer(m, c.n, c.ends),
                            list_initializer(m, c.n, c.axes), NULL};
    if (c.has_steps)
        names[4] = list_initializer(m, c.n, c.steps);
    emit(m->x, row->onnx, c.has_steps ? 5 : 4, names, m->output);
    return true;
}

static bool emit_pad(struct making *m, uint32_t count, const int64_t *pads, double value)
{
    const char *names[3] = {input_name(m, 0), NULL, NULL};
    if (opset_of(m) < 11) {
        struct onnx_node *n = emit(m->x, "Pad", 1, names, m->output);
        set_ints_attribute(m->x, n, "pads", count, pads);
        set_float_attribute(m->x, n, "value", value);
        return true;
    }
    names[1] = list_initializer(m, count, pads);
    names[2] = value == 0 ? NULL : real_initializer(m->x, output_type(m)->dtype, value);
    emit(m->x, "Pad", names[2] ? 3 : 2, names, m->output);
    return true;
}

bool make_pad(struct making *m, const struct row *row)
{
    const struct attribute_value *pads = attribute_of(m, "pads");
    return emit_pad(m, pads->count, pads->ints, real_of(m, "value"));
}

bool make_enlarge(struct making *m, const struct row *row)
{
    const struct type *x = input_type(m, 0), *z = output_type(m);
    int64_t pads[2 * MAX_RANK] = {0};
    for (int i = 2; i < x->rank; i++)
        pads[i] = pads[x->rank + i] = (z->dim[i] - x->dim[i]) / 2;
    return emit_pad(m, 2 * (uint32_t)x->rank, pads, 0);
}

bool make_trilu(struct making *m, const struct row *row)
{
    int64_t k = int_of(m, "k");
    const char *names[2] = {input_name(m, 0), int_initializer(m->x, 0, NULL, &k)};
    set_int_attribute(m->x, emit(m->x, row->onnx, 2, names, m->output), "upper", int_of(m, "part") == 0);
    return true;
}

bool make_one_hot(struct making *m, const struct row *row)
{
    int64_t depth = int_of(m, "depth");
    const char *names[3] = {input_name(m, 0), int_initializer(m->x, 0, NULL, &depth), input_name(m, 1)};
    set_int_attribute(m->x, emit(m->x, row->onnx, 3, names, m->output), "axis", int_of(m, "axis"));
    return true;
}
