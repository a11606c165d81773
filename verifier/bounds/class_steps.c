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

// The shortest step of those classes beside this one that windows read, and that are no result of windows.
static int64_t shortest_step(struct analysis *an, const struct window_steps *s, uint32_t class)
{
    int64_t shortest = s->of_class[class];
    for (int i = 0; i < an->n_windows; i++) {
        uint32_t read = classes_find(an, an->windows[i].read_item);
        bool is_beside = s->group[read] == s->group[class] && !windows_stand_below(an, an->windows[i].node);
        if (is_beside && s->of_class[read] < shortest)
            shortest = s->of_class[read];
    }
    return shortest;
}

int64_t windows_size_in_steps(struct analysis *an, uint32_t class, int64_t places, int64_t steps)
{
    struct window_steps *s = arena_new(an->in->scratch, struct window_steps);
    if (!windows_find_steps(an, s) || !s->of_class[class])
        return 0;
    int64_t shortest = shortest_step(an, s, class);
    return s->of_class[class] * ((places + shortest - 1) / shortest + steps);
}
