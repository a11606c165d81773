// ScatterND and GatherND: entries, or runs of trailing ones, at places that a tensor of constant indices names. The
// graph has no operator for them. What is scattered into constants is computed, as a copy of bytes; what is gathered is
// a `gather` on the axis that the chosen axes become.
#include "expressions/elements.h"
#include "onnx/convert/bind_shapes.h"
#include "onnx/convert/fold_constants.h"
#include "onnx/convert/operators/converters.h"

#include <string.h>

struct constant {
    struct type type;
    const uint8_t *data;
};
// Runs of `length` entries; the i-th one begins at entry offset[i].
struct places {
    int64_t count, length;
    int64_t *offset;
};

// --- reading ---------------------------------------------------------------------------------------------------------

// A constant that was not computed before because it only repeats numbers is computed here, and counts.
static bool read_constant(struct conversion *c, uint32_t input, struct constant *ret_constant)
{
    tensor_id x = input_of(c, input);
    ret_constant->type = *type_of(c, x);
    int64_t n = type_elements(&ret_constant->type);
    if (!is_constant(c, x))
        return cannot(c, "input %u is not constant", input + 1);
    if (n > c->importer->options->fold_limit ||
        (!is_weight(c, x) &&
         (!folding_has_room(c->importer, n) || !folding_take_room_for(c->importer, &c->model->graph, x))))
        return cannot(c, "input %u is larger than the limit of folding", input + 1);
    c->importer->folding.elements += is_weight(c, x) ? 0 : n;
    ret_constant->data = evaluate_constant(c->model, &c->model->graph, x, &c->model->arena);
    return ret_constant->data || cannot(c, "input %u cannot be computed", input + 1);
}

static int64_t *numbers_of(struct conversion *c, const struct constant *x)
{
    int64_t n = type_elements(&x->type), *numbers = arena_array(&c->importer->scratch, int64_t, n + 1);
    elements_to_integers(x->type.dtype, x->data, (size_t)n, numbers);
    return numbers;
}

// An index counts from the end when it is negative.
static bool add_index(struct conversion *c, int64_t index, int64_t size, int64_t stride, int64_t *offset)
{
    if (index < -size || index >= size)
        return cannot(c, "an index is out of range");
    *offset += (index < 0 ? index + size : index) * stride;
    return true;
}

// --- places ----------------------------------------------------------------------------------------------------------

// The last axis of the indices has one index for each of the tensor's axes from `batch` on.
static bool find_runs(struct conversion *c, const struct type *x, const struct constant *indices, int batch,
                      struct places *ret_places)
{
    int rank = indices->type.rank, depth = rank > 0 ? (int)indices->type.dim[rank - 1] : 0, last = batch + depth;
    if (rank <= batch || batch < 0 || depth < 1 || last > x->rank)
        return cannot(c, "its indices do not fit its axes");
    for (int i = 0; i < batch; i++)
        if (x->dim[i] != indices->type.dim[i])
            return cannot(c, "its batches differ");
    int64_t count = entries_between(&indices->type, 0, rank - 1),
            per_batch = entries_between(&indices->type, batch, rank - 1);
    int64_t batch_stride = entries_between(x, batch, x->rank), *index = numbers_of(c, indices);
    struct places p = {count, entries_between(x, last, x->rank),
                       arena_array(&c->importer->scratch, int64_t, count + 1)};
    for (int64_t i = 0; i < count; i++) {
        p.offset[i] = i / per_batch * batch_stride;
        for (int k = 0; k < depth; k++)
            if (!add_index(c, index[i * depth + k], x->dim[batch + k], entries_between(x, batch + k + 1, x->rank),
                           &p.offset[i]))
                return false;
    }
    *ret_places = p;
    return true;
}

static bool are_different(struct conversion *c, const struct places *p, int64_t n_elements)
{
    bool *is_taken = arena_array(&c->importer->scratch, bool, n_elements + 1);
    memset(is_taken, 0, (size_t)n_elements + 1);
    for (int64_t i = 0; i < p->count; i++) {
        if (is_taken[p->offset[i]])
            return cannot(c, "two updates have one place");
        is_taken[p->offset[i]] = true;
    }
    return true;
}

// --- results ---------------------------------------------------------------------------------------------------------

static bool give_folded(struct conversion *c, const struct type *type, const void *data)
{
    c->importer->folding.elements += type_elements(type);
    c->model->counts.folded++;
    c->is_rewritten = true;
    return give_weight(c,
                       (struct imported_weight){.type = type_make(type->dtype, type->rank, type->dim), .data = data});
}

static bool scatter(struct conversion *c, const struct constant *inputs, const struct places *p)
{
    const struct type *type = &inputs[0].type;
    size_t size = dtype_size(type->dtype), run = (size_t)p->length * size;
    if (inputs[2].type.dtype != type->dtype || type_elements(&inputs[2].type) != p->count * p->length)
        return cannot(c, "its updates do not fit its indices");
    if (p->length > 0 && !are_different(c, p, type_elements(type)))
        return false;
    if (!folding_has_room(c->importer, type_elements(type)))
        return cannot(c, "it is larger than the limit of folding");
    uint8_t *z = arena_alloc(&c->model->arena, (size_t)type_bytes(type) + 1, _Alignof(max_align_t));
    memcpy(z, inputs[0].data, (size_t)type_bytes(type));
    for (int64_t i = 0; i < p->count; i++)
        memcpy(z + (size_t)p->offset[i] * size, inputs[2].data + (size_t)i * run, run);
    return give_folded(c, type, z);
}

bool convert_scatter_nd(struct conversion *c)
{
    struct constant inputs[3];
    struct places places;
    if (!text_attribute_is(c, "reduction", "none", "none"))
        return cannot(c, "it reduces what is there with its updates");
    return read_constant(c, 2, &inputs[2]) && read_constant(c, 1, &inputs[1]) && read_constant(c, 0, &inputs[0]) &&
           find_runs(c, &inputs[0].type, &inputs[1], 0, &places) && scatter(c, inputs, &places);
}

// The first `last` axes become one, whose entries are runs; the indices have the first `rank` axes of the result.
static bool give_gathered(struct conversion *c, const struct places *p, int last, int rank, const int64_t *dim)
{
    tensor_id x = input_of(c, 0);
    const struct type t = *type_of(c, x);
    int64_t *run = arena_array(&c->importer->scratch, int64_t, p->count + 1), flat[MAX_RANK];
    if (type_elements(&t) == 0)
        return cannot(c, "input 1 has no entries");
    for (int i = 0; i < last; i++)
        if (axis_varies(c, x, i))
            return cannot(c, "it chooses from an axis of any size");
    for (int64_t i = 0; i < p->count; i++)
        run[i] = p->offset[i] / p->length;
    flat[0] = entries_between(&t, 0, last);
    for (int i = last; i < t.rank; i++)
        flat[1 + i - last] = t.dim[i];
    tensor_id rows = reshape_to(c, x, 1 + t.rank - last, flat);
    return give(c, 0, apply(c, OP_GATHER, INPUTS(rows, int_weight(c, rank, dim, run)), WITH(integer("axis", 0))));
}

bool convert_gather_nd(struct conversion *c)
{
    struct constant indices;
    struct places p;
    int64_t batch = int_attribute(c, "batch_dims", 0);
    if (!read_constant(c, 1, &indices))
        return false;
    if (batch < 0 || batch > MAX_RANK)
        return cannot(c, "it has %lld batch axes", (long long)batch);
    struct type x = *type_of(c, input_of(c, 0));
    if (!find_runs(c, &x, &indices, (int)batch, &p))
        return false;
    int n = indices.type.rank - 1, last = (int)(batch + indices.type.dim[n]), rank = n + x.rank - last;
    if (rank > MAX_RANK)
        return cannot(c, "it makes a tensor of rank %d", rank);
    return give_gathered(c, &p, last, n, indices.type.dim);
}
