// Fourier transforms of signals, and their windows.
#include "onnx/convert/opaque/opaque_types.h"
#include "onnx/convert/opaque/typing.h"
#include "onnx/convert/read_node.h"

// A real one has a last axis of one entry, a complex one of two. One side of a transform stands for all of a real
// signal's, which the inverse makes of it.
static void fourier(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    int64_t where = int_attribute(c, "axis", c->opset < 20 ? 1 : -2);
    const int64_t *given;
    uint32_t count;
    int axis;
    bool is_half = int_attribute(c, "onesided", 0) != 0, is_to_real = is_half && int_attribute(c, "inverse", 0);
    if (!x)
        return;
    if (input_of(c, 2) != NO_TENSOR) {
        if (!is_weight(c, input_of(c, 2)) || !constant_ints(c, input_of(c, 2), 1, &given, &count) || count != 1)
            return;
        where = given[0];
    }
    if (!normalize_axis(c, where, x->rank, &axis) || axis == x->rank - 1 || (is_to_real && x->dim[x->rank - 1] != 2))
        return;
    struct type z = without_splits(x);
    if (is_to_real)
        z.dim[axis] = 2 * (z.dim[axis] - 1);
    if ((input_of(c, 1) != NO_TENSOR && !constant_size(c, 1, &z.dim[axis])) || z.dim[axis] < 1)
        return;
    z.dim[axis] = is_half && !is_to_real ? z.dim[axis] / 2 + 1 : z.dim[axis];
    z.dim[x->rank - 1] = is_to_real ? 1 : 2;
    set_type(c, types, 0, z);
}

// A transform of each frame of a signal, (batch, time, 1 or 2).
static void fourier_of_frames(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *window = known_input(c, 2);
    int64_t step, length = window && window->rank == 1 ? window->dim[0] : -1;
    if (!x || x->rank != 3 || !constant_size(c, 1, &step) ||
        (input_of(c, 3) != NO_TENSOR && !constant_size(c, 3, &length)) || step < 1 || length < 0 || length > x->dim[1])
        return;
    int64_t bins = int_attribute(c, "onesided", 1) ? length / 2 + 1 : length;
    set_type(c, types, 0, type_make(x->dtype, 4, (int64_t[]){x->dim[0], (x->dim[1] - length) / step + 1, bins, 2}));
}

static enum dtype dtype_of_signal(struct conversion *c)
{
    return dtype_from_onnx(int_attribute(c, "output_datatype", dtype_to_onnx(DTYPE_F32)));
}

static void window_of_signal(struct conversion *c, struct type *types)
{
    int64_t size;
    if (constant_size(c, 0, &size))
        set_type(c, types, 0, type_make(dtype_of_signal(c), 1, &size));
}

static void mel_weights(struct conversion *c, struct type *types)
{
    int64_t bins, length;
    if (constant_size(c, 0, &bins) && constant_size(c, 1, &length))
        set_type(c, types, 0, type_make(dtype_of_signal(c), 2, (int64_t[]){length / 2 + 1, bins}));
}

const struct typing typings_of_signals[] = {
    {"BlackmanWindow", window_of_signal},
    {"DFT", fourier},
    {"HammingWindow", window_of_signal},
    {"HannWindow", window_of_signal},
    {"MelWeightMatrix", mel_weights},
    {"STFT", fourier_of_frames},
    {0},
};
