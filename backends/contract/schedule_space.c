// Texts of choices, by the names and values of axes.
#include "backends/contract/schedule_space.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void schedule_space_add_loop(struct schedule_space *s, int64_t length, bool is_of_results)
{
    assert(s->n_loops < SCHEDULE_LOOPS && (!is_of_results || s->n_loops == s->n_space_loops));
    s->loops[s->n_loops++] = length;
    s->n_space_loops += is_of_results;
}

void schedule_axis_add(struct schedule_axis *axis, int64_t value)
{
    int i = axis->n;
    while (i && axis->values[i - 1] >= value)
        i--;
    if ((i < axis->n && axis->values[i] == value) || axis->n == SCHEDULE_VALUES)
        return;
    memmove(&axis->values[i + 1], &axis->values[i], (size_t)(axis->n - i) * sizeof *axis->values);
    axis->values[i] = value;
    axis->n++;
}

void schedule_space_print(const struct schedule_space *s, const int64_t *places, char ret_choice[CHOICE_SIZE])
{
    int n = snprintf(ret_choice, CHOICE_SIZE, "%s", s->sketch);
    for (int i = 0; i < s->n_axes && n < CHOICE_SIZE; i++)
        n += snprintf(ret_choice + n, CHOICE_SIZE - (size_t)n, " %s:%lld", s->axes[i].name,
                      (long long)s->axes[i].values[places[i]]);
    assert(n + 1 < CHOICE_SIZE);
    snprintf(ret_choice + n, CHOICE_SIZE - (size_t)n, ")");
}

// The next value below, as wider tiles may not suit, unless it is less than half.
static int64_t place_of(const struct schedule_axis *axis, long long value)
{
    int64_t above = FIRST_OF(int64_t, i, axis->n, axis->values[i] > value);
    return above && (above == axis->n || 2 * axis->values[above - 1] >= value) ? above - 1 : above;
}

// The rest behind " name:value"; NULL: it does not begin so.
static const char *parse_axis(const struct schedule_axis *axis, const char *text, int64_t *ret_place)
{
    size_t n = strlen(axis->name);
    char *end;
    if (text[0] != ' ' || strncmp(text + 1, axis->name, n) != 0 || text[1 + n] != ':')
        return NULL;
    *ret_place = place_of(axis, strtoll(text + n + 2, &end, 10));
    return end;
}

bool schedule_space_parse(const struct schedule_space *s, const char *choice, int64_t *ret_places)
{
    size_t n = strlen(s->sketch);
    if (strncmp(choice, s->sketch, n) != 0)
        return false;
    choice += n;
    for (int i = 0; choice && i < s->n_axes; i++)
        choice = parse_axis(&s->axes[i], choice, &ret_places[i]);
    return choice && strcmp(choice, ")") == 0;
}
