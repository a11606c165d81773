// Operators that join tensors, and that cut, pad or choose entries of one.
#include "onnx/convert/bind_shapes.h"
#include "onnx/convert/operators/converters.h"

// ---- joining and cutting ----

// A tensor without entries is left out by runtimes, whatever its shape.
static bool fit_beside_axis(const struct conversion *c, int axis)
{
    const struct type *first = type_of(c, input_of(c, 0));
    for (uint32_t i = 1; i < c->n_inputs; i++) {
        const struct type *t = type_of(c, input_of(c, i));
        bool has_entries = type_elements(t) > 0 && type_elements(first) > 0 && t->rank == first->rank;
        for (int k = 0; has_entries && k < t->rank; k++)
            if (k != axis && t->dim[k] != first->dim[k])
                return false;
    }
    return true;
}

// The parts that have entries, at any sizes; the first of those that have none where all have none.
static uint32_t parts_with_entries(struct conversion *c, int axis, tensor_id *ret_parts)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_inputs; i++)
        if (type_of(c, input_of(c, i))->dim[axis] > 0 || axis_varies(c, input_of(c, i), axis))
            ret_parts[n++] = input_of(c, i);
    if (n == 0)
        ret_parts[n++] = input_of(c, 0);
    return n;
}

bool convert_concat(struct conversion *c)
{
    int axis;
    if (!normalize_axis(c, int_attribute(c, "axis", 1), type_of(c, input_of(c, 0))->rank, &axis))
        return cannot(c, "it joins nothing");
    c->is_unfit |= c->n_inputs > 1 && !fit_beside_axis(c, axis);
    tensor_id *parts = arena_array(&c->importer->scratch, tensor_id, c->n_inputs + 1);
    uint32_t n = c->is_unfit ? c->n_inputs : parts_with_entries(c, axis, parts);
    if (n < c->n_inputs)
        c->is_rewritten = true;
    if (n == 1)
        return give(c, 0, parts[0]);
    return give(c, 0, apply(c, OP_CONCAT, n, c->is_unfit ? c->inputs : parts, WITH(integer("axis", axis))));
}

// Parts of equal size, the last one smaller where that is allowed (num_outputs, operator set 18).
static bool equal_parts(struct conversion *c, int64_t size, int64_t *ret_sizes)
{
    int64_t n = c->n_outputs, part = (size + n - 1) / n;
    if (size % n && !has_attribute(c, "num_outputs"))
        return cannot(c, "its axis cannot be split equally");
    for (int64_t i = 0; i < n; i++) {
        ret_sizes[i] = i + 1 < n ? part : size - part * (n - 1);
        if (ret_sizes[i] < 0)
            return cannot(c, "it has more parts than entries");
    }
    return true;
}

static bool part_sizes(struct conversion *c, int64_t size, int64_t *ret_sizes)
{
    struct integers list;
    if (c->n_outputs == 0 || c->n_outputs > MAX_OUTPUTS)
        return cannot(c, "it has %u parts", c->n_outputs);
    if (!list_of(c, "split", 1, &list))
        return false;
    if (!list.items)
        return equal_parts(c, size, ret_sizes);
    if (list.count != c->n_outputs)
        return cannot(c, "its sizes are not as many as its parts");
    for (uint32_t i = 0; i < list.count; i++)
        ret_sizes[i] = list.items[i];
    return true;
}

bool convert_split(struct conversion *c)
{
    int axis;
    int64_t sizes[MAX_OUTPUTS];
    struct type x = *type_of(c, input_of(c, 0));
    if (!normalize_axis(c, int_attribute(c, "axis", 0), x.rank, &axis) || !part_sizes(c, x.dim[axis], sizes))
        return false;
    if (c->n_outputs == 1 && sizes[0] == x.dim[axis])
        return give(c, 0, input_of(c, 0));
    struct application a = application_of(c, OP_SPLIT);
    set_attributes(c, &a, WITH(integer("axis", axis), list("sizes", c->n_outputs, sizes)));
    node_id node = apply_node(c, &a, 1, c->inputs);
    for (uint32_t i = 0; i < c->n_outputs; i++)
        c->outputs[i] = node == NO_NODE ? NO_TENSOR : graph_output_of(&c->model->graph, node, i);
    return node != NO_NODE;
}

struct ranges {
    int64_t start[MAX_RANK], size[MAX_RANK], step[MAX_RANK];
};

static int64_t clamped(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static int64_t from_the_front(int64_t place, int64_t size)
{
    return place < 0 ? clamped(place, -size - 1, 0) + size : place;
}

// A range along one axis of a slice, as Python does it, but for a backward one that begins before the first entry: ONNX
// begins it there, Python has none.
static bool set_range(struct conversion *c, struct ranges *r, int axis, int64_t size, int64_t start, int64_t end,
                      int64_t step)
{
    if (step == 0 || step == INT64_MIN)
        return cannot(c, "a step is out of range");
    if (step < 0 && size == 0)
        return cannot(c, "it goes backward through nothing, of which runtimes make something");
    if (step < 0 && (end == INT32_MAX || end == INT64_MAX))
        return cannot(c, "it goes backward to a number that runtimes take for the first entry");
    int64_t last = step < 0 ? size - 1 : size;
    start = clamped(from_the_front(start, size), 0, last);
    end = clamped(from_the_front(end, size), step < 0 ? -1 : 0, last);
    int64_t span = step > 0 ? end - start : start - end, stride = step > 0 ? step : -step;
    r->size[axis] = span > 0 ? (span - 1) / stride + 1 : 0;
    r->start[axis] = r->size[axis] ? start : 0;
    r->step[axis] = r->size[axis] > 1 ? step : 1;
    return true;
}

static bool lies_within(int64_t place, int64_t size)
{
    return place >= -size && place <= size;
}

// A slice at this size of its axis. That it does so at all sizes is seen where all probes are.
static bool takes_what_is_there(int64_t size, int64_t start, int64_t end, int64_t step)
{
    return step == 1 && lies_within(start, size) && (lies_within(end, size) || end >= LONGEST_AXIS);
}

static bool read_ranges(struct conversion *c, const struct type *x, struct ranges *r)
{
    struct slice_lists cuts;
    if (!read_slice_lists(c, &cuts))
        return false;
    for (uint32_t i = 0; i < cuts.starts.count; i++) {
        int axis;
        int64_t start = cuts.starts.items[i], end = cuts.ends.items[i],
                step = cuts.steps.items ? cuts.steps.items[i] : 1;
        if (!normalize_axis(c, cuts.axes.items ? cuts.axes.items[i] : i, x->rank, &axis))
            return false;
        if (axis_varies(c, input_of(c, 0), axis) && !takes_what_is_there(x->dim[axis], start, end, step))
            return cannot(c, "it cuts an axis of any size");
        if (!set_range(c, r, axis, x->dim[axis], start, end, step))
            return false;
    }
    return true;
}

static tensor_id slice_by(struct conversion *c, tensor_id x, const struct ranges *r)
{
    int rank = type_of(c, x)->rank;
    return apply(c, OP_SLICE, INPUTS(x),
                 WITH(list("start", rank, r->start), list("size", rank, r->size), list("step", rank, r->step)));
}

// The tensor that `slice` was cut out of, and the ranges there.
static tensor_id slice_of_source(struct conversion *c, tensor_id slice, struct ranges *r)
{
    const struct node *n = graph_producer(&c->model->graph, slice);
    const int64_t *start = node_attribute(n, ROLE_START)->ints;
    const int64_t *step = node_attribute(n, ROLE_STEP)->ints;
    for (int i = 0; i < type_of(c, slice)->rank; i++) {
        r->start[i] = start[i] + r->start[i] * step[i];
        r->step[i] = r->size[i] > 1 ? r->step[i] * step[i] : 1;
    }
    c->is_rewritten = true;
    return graph_inputs(&c->model->graph, c->model->graph.tensors.items[slice].producer)[0];
}

bool convert_slice(struct conversion *c)
{
    struct ranges r = {0};
    struct type x = *type_of(c, input_of(c, 0));
    for (int i = 0; i < x.rank; i++) {
        r.size[i] = x.dim[i];
        r.step[i] = 1;
    }
    if (!read_ranges(c, &x, &r))
        return false;
    if (ALL(int, i, x.rank, r.size[i] == x.dim[i] && r.step[i] == 1))
        return give(c, 0, input_of(c, 0));
    tensor_id source = input_of(c, 0);
    while (graph_producer(&c->model->graph, source)->op->id == OP_SLICE)
        source = slice_of_source(c, source, &r);
    return give(c, 0, slice_by(c, source, &r));
}

// ---- chosen by data ----

// A runtime fails at an index beyond the axis.
static bool are_within_axis(struct conversion *c, tensor_id indices, int64_t size)
{
    struct integers list;
    if (!is_weight(c, indices))
        return true;
    if (!constant_ints(c, indices, SIZE_MAX, &list))
        return false;
    bool is_beyond = ANY(uint32_t, i, list.count, list.items[i] < -size || list.items[i] >= size);
    c->is_unfit |= is_beyond;
    return !is_beyond || cannot(c, "an index is out of range");
}

bool convert_gather(struct conversion *c)
{
    int axis;
    return normalize_axis(c, int_attribute(c, "axis", 0), type_of(c, input_of(c, 0))->rank, &axis) &&
           are_within_axis(c, input_of(c, 1), type_of(c, input_of(c, 0))->dim[axis]) && convert_plain(c);
}

bool convert_one_hot(struct conversion *c)
{
    int64_t depth;
    int axis;
    return constant_int(c, input_of(c, 1), &depth) &&
           normalize_axis(c, int_attribute(c, "axis", -1), type_of(c, input_of(c, 0))->rank + 1, &axis) &&
           give(c, 0,
                apply(c, OP_ONEHOT, INPUTS(input_of(c, 0), input_of(c, 2)),
                      WITH(integer("axis", axis), integer("depth", depth))));
}

bool convert_trilu(struct conversion *c)
{
    int64_t k = 0;
    if (input_of(c, 1) != NO_TENSOR && !constant_int(c, input_of(c, 1), &k))
        return false;
    bool is_lower = int_attribute(c, "upper", 1) == 0;
    return give(c, 0, apply(c, OP_TRILU, 1, c->inputs, WITH(integer("part", is_lower), integer("k", k))));
}
