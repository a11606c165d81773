// How sizes go with one another where windows of written strides stand between them (T11): a class that windows read in
// steps of 3 has 3 positions for one of the class that they go along.
#include "verifier/bounds/class_windows.h"

#include <string.h>

#define LARGEST_STEP 1000   // larger images are not tested anyway

static int64_t greatest_divisor(int64_t x, int64_t y)
{
    return y == 0 ? x : greatest_divisor(y, x % y);
}

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
    int64_t divisor = greatest_divisor(steps, s->of_class[read]), factor = s->of_class[read] / divisor;
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

static int64_t quotient_down(int64_t x, int64_t y)
{
    return x >= 0 ? x / y : -((-x + y - 1) / y);
}

static int64_t quotient_up(int64_t x, int64_t y)
{
    return -quotient_down(-x, y);
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
        s->least[index] = quotient_down(s->least[read] - more - (stride - 1), stride);
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

int64_t windows_size_beside(struct analysis *an, uint32_t class, window_size_fn *size_to_test, void *context)
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
