// How large images and kernels of windows are to be tested (bounds.md, 2.3): by how far windows of written sizes reach
// (T11), or by the labels of windows that are alike (T10); and as large as images ask for that windows tie to them: a
// class that is read in steps of 3 has 3 positions for one of the class that windows go along.
#include "verifier/bounds/windows/windows.h"

#include "core/numbers/integers.h"
#include "operators/traits.h"
#include "verifier/instances/size_ranges.h"
#include <string.h>

// --- steps -----------------------------------------------------------------------------------------------------------

#define LARGEST_STEP 1000   // larger images are not tested anyway

static void multiply_group(struct window_steps *s, uint16_t group, int64_t factor)
{
    for (uint32_t c = 0; c < MAX_ITEMS && factor > 1; c++)
        if (s->of_class[c] && s->group[c] == group)
            s->of_class[c] *= factor;
}

static void begin_group(struct window_steps *s, uint32_t class)
{
    if (s->of_class[class])
        return;
    s->of_class[class] = 1;
    s->group[class] = (uint16_t) class;
}

static void join_groups(struct window_steps *s, uint16_t from, uint16_t to)
{
    for (uint32_t c = 0; c < MAX_ITEMS; c++)
        if (s->of_class[c] && s->group[c] == from)
            s->group[c] = to;
}

// The class `read` has `stride` positions for one of `index`. False: it is known to have another number.
static bool relate(struct window_steps *s, uint32_t index, uint32_t read, int64_t stride)
{
    begin_group(s, index);
    begin_group(s, read);
    int64_t steps = s->of_class[index] * stride;
    if (s->group[index] == s->group[read])
        return s->of_class[read] == steps;
    int64_t divisor = greatest_common_divisor(steps, s->of_class[read]), factor = s->of_class[read] / divisor;
    multiply_group(s, s->group[read], steps / divisor);
    multiply_group(s, s->group[index], factor);
    join_groups(s, s->group[index], s->group[read]);
    return s->of_class[read] <= LARGEST_STEP;
}

bool windows_find_steps(struct analysis *an, struct window_steps *ret)
{
    bool are_told = true;
    memset(ret, 0, sizeof *ret);
    for (int i = 0; i < an->n_windows && are_told; i++) {
        const struct window_use *w = &an->windows[i];
        int64_t stride = w->stride > 0 ? w->stride : -w->stride;
        are_told = relate(ret, classes_find(an, w->index_item), classes_find(an, w->read_item), stride ? stride : 1);
    }
    return are_told;
}

// --- sizes beside one another ----------------------------------------------------------------------------------------

// What a class can have more than its steps say, or less, where another one has no place more: pads, the reach of
// windows, and remainders of steps.
struct slack {
    bool is_known[MAX_ITEMS];
    int64_t least[MAX_ITEMS], most[MAX_ITEMS];
};

static int64_t quotient_up(int64_t x, int64_t y)
{
    return -floor_quotient(-x, y);
}

// What is read has `stride` places for one of the index, and as many more as in this instance, but for a remainder.
static bool pass_window(struct analysis *an, const struct window_use *w, struct slack *s)
{
    uint32_t index = classes_find(an, w->index_item), read = classes_find(an, w->read_item);
    int64_t stride = w->stride ? w->stride > 0 ? w->stride : -w->stride : 1;
    int64_t more = an->size[w->read_item] - stride * an->size[w->index_item];
    if (s->is_known[index] == s->is_known[read])
        return false;
    if (s->is_known[index]) {
        s->least[read] = stride * s->least[index] + more - (stride - 1);
        s->most[read] = stride * s->most[index] + more + (stride - 1);
    } else {
        s->least[index] = floor_quotient(s->least[read] - more - (stride - 1), stride);
        s->most[index] = quotient_up(s->most[read] - more + (stride - 1), stride);
    }
    return s->is_known[index] = s->is_known[read] = true;
}

static void find_slack(struct analysis *an, uint32_t class, struct slack *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->is_known[class] = true;
    for (bool is_changing = true; is_changing;) {
        is_changing = false;
        for (int i = 0; i < an->n_windows; i++)
            is_changing = pass_window(an, &an->windows[i], ret) || is_changing;
    }
}

static bool is_of_variable(struct analysis *an, uint32_t class)
{
    for (uint32_t i = 0; i < MAX_RULE_VARIABLES * MAX_RANK; i++)
        if (an->size[i] && classes_find(an, i) == class)
            return true;
    return false;
}

static bool is_left_by_windows(struct analysis *an, uint32_t class)
{
    for (int i = 0; i < an->n_windows; i++)
        if (classes_find(an, an->windows[i].index_item) == class)
            return true;
    return false;
}

// How long the axis has to be that all images, which windows tie to it, are as large as they are to be tested, with a
// step of so many places. 0: windows say nothing of it.
typedef int64_t image_size_fn(struct analysis *an, const void *context, uint32_t image, int64_t step);
static int64_t size_beside(struct analysis *an, uint32_t class, image_size_fn *size_to_test, const void *context)
{
    struct window_steps *s = arena_new(an->in->scratch, struct window_steps);
    struct slack *slack = arena_new(an->in->scratch, struct slack);
    int64_t largest = 0;
    if (!windows_find_steps(an, s) || !s->of_class[class])
        return 0;
    find_slack(an, class, slack);
    for (int i = 0; i < an->n_windows; i++) {
        uint32_t read = classes_find(an, an->windows[i].read_item);
        bool is_image = is_of_variable(an, read) || !is_left_by_windows(an, read);
        if (!is_image || read == class || !slack->is_known[read])
            continue;
        int64_t asked = size_to_test(an, context, read, s->of_class[read]) - slack->least[read];
        int64_t size = quotient_up(asked * s->of_class[class], s->of_class[read]);
        largest = size > largest ? size : largest;
    }
    return largest;
}

// --- reach (T11) -----------------------------------------------------------------------------------------------------

// Kernels that are variables are tested at sizes up to the largest one.
static int64_t extent_to_test(struct analysis *an, const struct window_use *w)
{
    bool is_free = w->kernel_item != NO_ITEM && is_of_variable(an, classes_find(an, w->kernel_item));
    return is_free && w->extent_of_sum < LARGEST_KERNEL ? LARGEST_KERNEL : w->extent_of_sum;
}

// Where what an entry is made of lies in the inputs: first and last place beside the one it stands at, which is one of
// them, and how far apart those of two neighbours are. Pads move windows: behind 5 of them the entry i reads the
// place i - 5, and beside one that reads the place i it reaches 6 places (T11).
struct span {
    int64_t first, last, stride;
};

static struct span farther(struct span x, struct span y)
{
    return (struct span){x.first < y.first ? x.first : y.first, x.last > y.last ? x.last : y.last,
                         x.stride > y.stride ? x.stride : y.stride};
}

// Windows of windows: a step of the outer one is a stride of the inner one, whatever axes they are on.
static struct span span_of_window(struct analysis *an, const struct window_use *w, struct span below)
{
    int64_t stride = w->stride > 0 ? w->stride : -w->stride, first = w->offset < 0 ? w->offset : 0;
    int64_t last = w->offset + (extent_to_test(an, w) - 1) * w->dilation;
    return (struct span){first * below.stride + below.first, (last > 0 ? last : 0) * below.stride + below.last,
                         (stride > 1 ? stride : 1) * below.stride};
}

static struct span span_of_node(struct analysis *an, uint32_t node, const struct span *of_nodes)
{
    const struct pattern *p = an->in->equation->pattern;
    struct span below = {0, 0, 1};
    for (uint32_t i = 0; i < p->nodes.items[node].n_inputs; i++) {
        const struct term *t = &p->terms.items[p->nodes.items[node].inputs[i]];
        below = t->is_variable ? below : farther(below, of_nodes[t->index]);
    }
    struct span span = below;
    for (int i = 0; i < an->n_windows; i++)
        if (an->windows[i].node == node)
            span = farther(span, span_of_window(an, &an->windows[i], below));
    return span;
}

// Two more places than one, or as many as labels ask for.
static int64_t steps_to_test(struct analysis *an)
{
    int64_t steps = 2;
    for (int i = 0; i < an->n_windows; i++) {
        int64_t of_index = classes_labels_of(an, an->windows[i].index_item);
        int64_t of_image = classes_labels_of(an, an->windows[i].read_item);
        int64_t most = of_index > of_image ? of_index : of_image;
        steps = most > steps ? most : steps;
    }
    return steps;
}

struct reach {
    int64_t places, steps;
};

static int64_t size_by_reach(struct analysis *an, const void *context, uint32_t image, int64_t step)
{
    const struct reach *reach = context;
    return reach->places + reach->steps * step;
}

int64_t windows_size_by_reach(struct analysis *an, uint32_t class)
{
    struct span of_nodes[MAX_RULE_NODES], of_all = {0, 0, 1};
    for (uint32_t n = 0; n < an->in->equation->pattern->nodes.count; n++) {
        of_nodes[n] = span_of_node(an, n, of_nodes);
        of_all = farther(of_all, of_nodes[n]);
    }
    struct reach reach = {of_all.last - of_all.first + 1, steps_to_test(an)};
    int64_t size = size_by_reach(an, &reach, class, of_all.stride);
    int64_t beside = size_beside(an, class, size_by_reach, &reach);
    return beside > size ? beside : size;
}

// --- labels (T10) ----------------------------------------------------------------------------------------------------

// The first place in the image that a window of one entry reads, behind its pads. Of strides and pads that are open
// steps of 1 and no pads stand for all.
static int64_t first_place(const struct analysis *an, const struct window_use *w)
{
    const struct pattern_node *node = &an->in->equation->pattern->nodes.items[w->node];
    bool is_written =
        !attribute_variables_of_role(node, ROLE_STRIDE) && !attribute_variables_of_role(node, ROLE_WINDOW_PADS);
    return is_written && w->offset < 0 && w->stride > 0 ? (w->stride - -w->offset % w->stride) % w->stride : 0;
}

// How much larger than with one place an image is that has a place for each label of the output, and of the kernel
// where that is a tensor's.
static int64_t size_of_labels(struct analysis *an, uint32_t class)
{
    int64_t most = 0;
    for (int i = 0; i < an->n_windows; i++) {
        const struct window_use *w = &an->windows[i];
        if (classes_find(an, w->read_item) != class)
            continue;
        bool has_tensor = w->kernel_item != NO_ITEM && is_of_variable(an, classes_find(an, w->kernel_item));
        int64_t size = (classes_labels_of(an, w->index_item) - 1) * (w->stride > 0 ? w->stride : -w->stride);
        size += w->kernel_item != NO_ITEM ? first_place(an, w) : 0;
        size += has_tensor ? (classes_labels_of(an, w->kernel_item) - 1) * w->dilation : 0;
        size += operator_enlarges(an->in->calls[w->node]->op);   // every other size alone
        most = size > most ? size : most;
    }
    return most;
}

// Pads in front of an image that has one size: how many entries more of the kernel until one is in the image.
static int64_t size_of_kernel_beside(struct analysis *an, uint32_t class)
{
    int64_t most = 0;
    for (int i = 0; i < an->n_windows; i++) {
        const struct window_use *w = &an->windows[i];
        bool is_kernel = w->kernel_item != NO_ITEM && classes_find(an, w->kernel_item) == class && w->offset < 0;
        uint32_t image = classes_find(an, w->read_item);
        if (!is_kernel || is_of_variable(an, image) || is_left_by_windows(an, image))
            continue;
        int64_t size = (w->size - 1 - w->offset) / w->dilation;
        most = size > most ? size : most;
    }
    return most;
}

static int64_t size_by_labels(struct analysis *an, const void *context, uint32_t image, int64_t step)
{
    return 1 + size_of_labels(an, image);
}

int64_t windows_size_by_labels(struct analysis *an, uint32_t class, int64_t least)
{
    int64_t size = least + size_of_labels(an, class) + size_of_kernel_beside(an, class);
    int64_t beside = size_beside(an, class, size_by_labels, NULL);
    return beside > size ? beside : size;
}
