// Results that have a shape of the inputs: the first one's, a common one, or one that is said by sizes of several.
#include "onnx/convert/opaque/opaque_types.h"
#include "onnx/convert/opaque/typing.h"
#include "onnx/convert/read_node.h"

static void as_first(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    if (x)
        set_type(c, types, 0, without_splits(x));
}

static void set_like_first(struct conversion *c, struct type *types, uint32_t output, enum dtype dtype)
{
    const struct type *x = known_input(c, 0);
    if (x)
        set_type(c, types, output, type_make(dtype, x->rank, x->dim));
}

static void as_first_of_bool(struct conversion *c, struct type *types)
{
    set_like_first(c, types, 0, DTYPE_BOOL);
}

// The element type may be an attribute.
static void as_first_with_dtype(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    if (x)
        set_type(c, types, 0,
                 type_make(has_attribute(c, "dtype") ? dtype_from_onnx(int_attribute(c, "dtype", 0)) : x->dtype,
                           x->rank, x->dim));
}

static void cast(struct conversion *c, struct type *types)
{
    set_like_first(c, types, 0, dtype_from_onnx(int_attribute(c, "to", 0)));
}

static void dropout(struct conversion *c, struct type *types)
{
    as_first(c, types);
    if (known_input(c, 0) && c->n_outputs > 1)
        set_type(c, types, 1, type_make(DTYPE_BOOL, types[0].rank, types[0].dim));
}

static void set_common_shape(struct conversion *c, struct type *types, uint32_t second)
{
    const struct type *x = known_input(c, 0), *y = known_input(c, second);
    struct type z = {0};
    if (x && y && common_shape(c, x, y, &z.rank, z.dim))
        set_type(c, types, 0, type_make(x->dtype, z.rank, z.dim));
}

static void broadcast(struct conversion *c, struct type *types)
{
    set_common_shape(c, types, 1);
}

// Each operand stands with its scale and zero point.
static void broadcast_quantized(struct conversion *c, struct type *types)
{
    set_common_shape(c, types, 3);
}

// X is (time, batch, size), with layout 1 (batch, time, size).
static void recurrent(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *weights = known_input(c, 2);
    int64_t hidden = int_attribute(c, "hidden_size", weights && weights->rank == 3 ? weights->dim[2] : -1);
    if (!x || x->rank != 3 || hidden < 1)
        return;
    int64_t directions = text_attribute_is(c, "direction", "bidirectional", "forward") ? 2 : 1;
    bool is_batch_first = int_attribute(c, "layout", 0) == 1;
    int64_t batch = x->dim[is_batch_first ? 0 : 1], time = x->dim[is_batch_first ? 1 : 0];
    int64_t all[2][4] = {{time, directions, batch, hidden}, {batch, time, directions, hidden}};
    int64_t last[2][3] = {{directions, batch, hidden}, {batch, directions, hidden}};
    set_type(c, types, 0, type_make(x->dtype, 4, all[is_batch_first]));
    set_type(c, types, 1, type_make(x->dtype, 3, last[is_batch_first]));
    set_type(c, types, 2, type_make(x->dtype, 3, last[is_batch_first]));
}

static void gather(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *indices = known_input(c, 1);
    int axis;
    if (!x || !indices || !normalize_axis(c, int_attribute(c, "axis", 0), x->rank, &axis) ||
        x->rank - 1 + indices->rank > MAX_RANK)
        return;
    struct type z = type_make(x->dtype, axis, x->dim);
    for (int i = 0; i < indices->rank; i++)
        z.dim[z.rank++] = indices->dim[i];
    for (int i = axis + 1; i < x->rank; i++)
        z.dim[z.rank++] = x->dim[i];
    set_type(c, types, 0, z);
}

static void loss(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0), *target = known_input(c, 1);
    bool is_for_each = text_attribute_is(c, "reduction", "none", "mean");
    if (x && target)
        set_type(c, types, 0, type_make(x->dtype, is_for_each ? target->rank : 0, target->dim));
    if (x)
        set_type(c, types, 1, without_splits(x));
}

static void determinant(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    if (x && x->rank >= 2)
        set_type(c, types, 0, type_make(x->dtype, x->rank - 2, x->dim));
}

static void split_text(struct conversion *c, struct type *types)
{
    set_like_first(c, types, 1, DTYPE_I64);
}

static void is_there(struct conversion *c, struct type *types)
{
    set_type(c, types, 0, type_make(DTYPE_BOOL, 0, NULL));
}

static void length_of_sequence(struct conversion *c, struct type *types)
{
    set_type(c, types, 0, type_make(DTYPE_I64, 0, NULL));
}

// Queries that attend to values: (batch, heads, places, entries), or (batch, places, heads times entries).
static void attention(struct conversion *c, struct type *types)
{
    const struct type *queries = known_input(c, 0), *values = known_input(c, 2);
    if (!queries || !values || queries->rank != values->rank || (queries->rank != 3 && queries->rank != 4))
        return;
    bool is_flat = queries->rank == 3;
    int64_t heads = is_flat ? int_attribute(c, "q_num_heads", 0) : 1;
    int64_t heads_of_values = is_flat ? int_attribute(c, "kv_num_heads", 0) : 1;
    int last = queries->rank - 1;
    struct type z = without_splits(queries);
    if (heads < 1 || heads_of_values < 1 || values->dim[last] % heads_of_values ||
        __builtin_mul_overflow(values->dim[last] / heads_of_values, heads, &z.dim[last]))
        return;
    set_type(c, types, 0, z);
}

// The sum of both inputs is the fourth output.
static void normalized_sum(struct conversion *c, struct type *types)
{
    const struct type *x = known_input(c, 0);
    for (uint32_t i = 0; x && i <= 3; i += 3)
        set_type(c, types, i, without_splits(x));
}

const struct typing typings_of_inputs[] = {
    {"Attention", attention},
    {"Bernoulli", as_first_with_dtype},
    {"BitShift", broadcast},
    {"BitwiseAnd", broadcast},
    {"BitwiseOr", broadcast},
    {"BitwiseXor", broadcast},
    {"Cast", cast},
    {"Clip", as_first},
    {"CumProd", as_first},
    {"Det", determinant},
    {"Dropout", dropout},
    {"EyeLike", as_first_with_dtype},
    {"GRU", recurrent},
    {"Gather", gather},
    {"Hardmax", as_first},
    {"IsInf", as_first_of_bool},
    {"LSTM", recurrent},
    {"LpNormalization", as_first},
    {"MeanVarianceNormalization", as_first},
    {"Mod", broadcast},
    {"NegativeLogLikelihoodLoss", loss},
    {"OptionalHasElement", is_there},
    {"RNN", recurrent},
    {"RandomNormalLike", as_first_with_dtype},
    {"RandomUniformLike", as_first_with_dtype},
    {"RegexFullMatch", as_first_of_bool},
    {"ReverseSequence", as_first},
    {"RotaryEmbedding", as_first},
    {"Scatter", as_first},
    {"ScatterElements", as_first},
    {"ScatterND", as_first},
    {"SequenceLength", length_of_sequence},
    {"Shrink", as_first},
    {"SimplifiedLayerNormalization", as_first},
    {"SoftmaxCrossEntropyLoss", loss},
    {"StringConcat", broadcast},
    {"StringSplit", split_text},
    {"TensorScatter", as_first},
    {"Trilu", as_first},
    {"BiasGelu", as_first, MICROSOFT},
    {"FastGelu", as_first, MICROSOFT},
    {"QLinearAdd", broadcast_quantized, MICROSOFT},
    {"QLinearLeakyRelu", as_first, MICROSOFT},
    {"QLinearMul", broadcast_quantized, MICROSOFT},
    {"QLinearSigmoid", as_first, MICROSOFT},
    {"QLinearSoftmax", as_first, MICROSOFT},
    {"QuickGelu", as_first, MICROSOFT},
    {"SkipLayerNormalization", normalized_sum, MICROSOFT},
    {"SkipSimplifiedLayerNormalization", normalized_sum, MICROSOFT},
    {0},
};
