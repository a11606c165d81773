// A request is cut along one axis of its target, in units that no kernel takes apart.
#include "backends/cpu/onednn/parts.h"

#include "core/numbers/integers.h"
#include <string.h>

enum {
    BLOCK = 16,
    COLUMNS = 4 * BLOCK,   // of a product, that are not taken apart
    FEWEST_ROWS = 8,       // of a product, for each part
    EVEN_ENOUGH = 4        // units for each part, where one has another one more
};

struct cut {
    int axis;   // of the target
    int64_t unit;
};

// --- along what ------------------------------------------------------------------------------------------------------

static int64_t groups_of(const struct onednn_request *r)
{
    return r->weights && r->weights->rank > r->target->rank ? r->weights->dim[0] : 1;
}

static bool has_channels_last(const struct onednn_tensor *t)
{
    return !t->block && t->rank > 2 && t->stride[1] == 1;
}

// Whole groups, and whole blocks of channels.
static int64_t unit_of_channels(const struct onednn_request *r)
{
    int64_t groups = groups_of(r), of_group = r->target->dim[1] / groups;
    return groups == 1 || of_group == 1 ? BLOCK : of_group % BLOCK == 0 ? of_group : INT64_MAX;
}

static struct cut cut_of_image(const struct onednn_request *r, int parts)
{
    const struct onednn_tensor *t = r->target;
    if (t->dim[0] >= parts)
        return (struct cut){0, 1};
    if (t->dim[0] > 1 || (r->kind == LRN && !has_channels_last(t)))
        return (struct cut){0, INT64_MAX};
    return has_channels_last(t) ? (struct cut){2, 1} : (struct cut){1, unit_of_channels(r)};
}

// Parts of rows read all weights each, parts of columns the whole source: the larger one is shared out. Rows in the
// place of columns are another cut only where columns were taken first.
static bool is_cut_by_rows(const struct onednn_request *r, int parts)
{
    const struct onednn_tensor *t = r->target;
    int64_t blocks = t->dim[1] / COLUMNS, even_enough = (int64_t)EVEN_ENOUGH * parts;
    bool has_columns = blocks >= parts && (blocks % parts == 0 || blocks >= even_enough) && t->dim[1] > t->dim[0];
    return t->rank == 2 && t->dim[0] >= (int64_t)FEWEST_ROWS * parts && has_columns == r->keeps_columns;
}

static struct cut cut_of_product(const struct onednn_request *r, int parts)
{
    const struct onednn_tensor *t = r->target;
    if (is_cut_by_rows(r, parts))
        return (struct cut){0, 1};
    if (r->keeps_columns || t->rank > 3)
        return (struct cut){0, INT64_MAX};
    return t->rank == 2 ? (struct cut){1, COLUMNS} : (struct cut){t->dim[0] >= parts ? 0 : 1, 1};
}

static struct cut cut_of(const struct onednn_request *r, int parts)
{
    return r->kind == MATMUL ? cut_of_product(r, parts) : cut_of_image(r, parts);
}

int onednn_count_parts(const struct onednn_request *whole, int parts)
{
    struct cut cut = cut_of(whole, parts);
    return (int)larger_of(1, smaller_of(parts, whole->target->dim[cut.axis] / cut.unit));
}

// --- one part --------------------------------------------------------------------------------------------------------

static int64_t elements_behind(const struct onednn_tensor *t, int axis)
{
    return PRODUCT_ALL(int64_t, int, i, t->rank - axis - 1, t->dim[axis + 1 + i]);
}

// A batch of one stands densely. Where it begins, in elements of the whole.
static int64_t slice(struct onednn_tensor *t, int axis, int64_t begin, int64_t size)
{
    int64_t at = begin * (t->block ? elements_behind(t, axis) : t->stride[axis]);
    if (axis > 0 && t->dim[0] == 1 && t->stride[0] % t->dim[axis] == 0)
        t->stride[0] = t->stride[0] / t->dim[axis] * size;
    t->dim[axis] = size;
    return at;
}

static int64_t start_of(const struct onednn_request *whole, const struct cut *cut, int part, int parts)
{
    int64_t size = whole->target->dim[cut->axis];
    return part == parts ? size : size / cut->unit * part / parts * cut->unit;
}

// Rows of the source that rows of the target read, and what is padding around them.
static void slice_rows(struct onednn_part *p, const struct onednn_request *whole, int64_t begin, int64_t size)
{
    const struct onednn_window *w = whole->window;
    int64_t height = whole->source->dim[2];
    int64_t first = begin * w->stride[0] - w->pad_begin[0];
    int64_t end = first + (size - 1) * w->stride[0] + (w->kernel[0] - 1) * w->dilation[0] + 1;
    int64_t from = smaller_of(larger_of(first, 0), height - 1), to = larger_of(smaller_of(end, height), from + 1);
    p->window.pad_begin[0] = from - first;
    p->window.pad_end[0] = end - to;
    p->source_at = slice(&p->source, 2, from, to - from);
}

static void slice_source(struct onednn_part *p, const struct onednn_request *whole, int axis, int64_t begin,
                         int64_t size)
{
    int64_t channels = whole->source->dim[1], of_group = whole->target->dim[1] / groups_of(whole);
    bool is_image = whole->kind != MATMUL;
    if (is_image && axis == 2 && whole->window)
        slice_rows(p, whole, begin, size);
    else if (is_image && axis == 1 && whole->kind == CONVOLUTION && groups_of(whole) == 1)
        return;
    else if (is_image && axis == 1 && whole->kind == CONVOLUTION)
        p->source_at = slice(&p->source, 1, begin / of_group * (channels / groups_of(whole)),
                             size / of_group * (channels / groups_of(whole)));
    else if (is_image || axis < whole->target->rank - 1)
        p->source_at = slice(&p->source, axis, begin, size);
}

static void slice_weights(struct onednn_part *p, const struct onednn_request *whole, int axis, int64_t begin,
                          int64_t size)
{
    bool is_image = whole->kind != MATMUL, is_batch = !is_image && whole->target->rank == 3;
    int64_t of_group = groups_of(whole) > 1 ? whole->target->dim[1] / groups_of(whole) : 1;
    if (is_image ? axis != 1 : is_batch ? axis != 0 || whole->weights->dim[0] == 1 : axis != 1)
        return;
    p->weights_axis = is_image || is_batch ? 0 : 1;
    p->weights_begin = begin / of_group;
    p->weights_at = slice(&p->weights, p->weights_axis, begin / of_group, size / of_group);
}

static void place_operands(struct onednn_part *p, const struct postops *ops, int axis, int64_t begin)
{
    int n = 0;
    for (int i = 0; ops && i < ops->n; i++) {
        enum postop_operand operand = ops->items[i].operand;
        if (operand != OPERAND_NONE)
            p->operands_at[n++] = operand == OPERAND_FULL                                   ? p->target_at
                                  : operand == OPERAND_CHANNEL && axis == ops->channel_axis ? begin
                                                                                            : 0;
    }
}

void onednn_make_part(const struct onednn_request *whole, int part, int parts, struct onednn_part *ret)
{
    struct cut cut = cut_of(whole, parts);
    int64_t begin = start_of(whole, &cut, part, parts), size = start_of(whole, &cut, part + 1, parts) - begin;
    *ret =
        (struct onednn_part){.request = *whole, .source = *whole->source, .target = *whole->target, .weights_axis = -1};
    ret->request.source = &ret->source;
    ret->request.target = &ret->target;
    if (whole->window) {
        ret->window = *whole->window;
        ret->request.window = &ret->window;
    }
    ret->target_at = slice(&ret->target, cut.axis, begin, size);
    slice_source(ret, whole, cut.axis, begin, size);
    if (whole->weights) {
        ret->weights = *whole->weights;
        ret->request.weights = &ret->weights;
        slice_weights(ret, whole, cut.axis, begin, size);
    }
    if (whole->bias) {
        ret->bias = *whole->bias;
        ret->request.bias = &ret->bias;
        if (cut.axis == 1)
            ret->bias_at = slice(&ret->bias, ret->bias.rank - 1, begin, size);
    }
    place_operands(ret, whole->ops, cut.axis, begin);
}

// --- weights that the library arranged -------------------------------------------------------------------------------

static int64_t block_along(const struct packing *p, int axis)
{
    return PRODUCT_ALL(int64_t, int, i, p->n_blocks, p->blocks[i].axis == axis ? p->blocks[i].size : 1);
}

// All along the axis stands as in the whole.
static bool is_run_of(const struct packing *whole, const struct packing *own, int axis)
{
    return whole->rank == own->rank && whole->n_blocks == own->n_blocks &&
           memcmp(whole->blocks, own->blocks, (size_t)own->n_blocks * sizeof *own->blocks) == 0 &&
           !ANY(int, i, own->rank,
                own->stride[i] != whole->stride[i] || (i != axis && own->padded[i] != whole->padded[i]));
}

bool onednn_find_weights(const struct onednn_part *part, const struct packing *whole, const struct packing *own,
                         int64_t *ret_at)
{
    int axis = part->weights_axis;
    int64_t block = axis < 0 ? 1 : block_along(whole, axis);
    if (!is_run_of(whole, own, axis) || (axis >= 0 && part->weights_begin % block))
        return false;
    *ret_at = axis < 0 ? 0 : part->weights_begin / block * whole->stride[axis];
    return true;
}
