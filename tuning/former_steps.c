// Rows are `pass loops FAMILY LOOPS LOOPS-ALONG-RESULTS LENGTH ... of KEY`, beside those of the ConfStore.
#include "tuning/former_steps.h"

#include "backends/costs/cost_database.h"
#include "backends/costs/step_cost.h"
#include <stdio.h>
#include <string.h>

#define PREFIX "pass loops "
#define BEFORE_KEY " of "

void former_step_note(struct backend *b, const struct plan *plan, const struct step *step,
                      const struct schedule_space *space)
{
    struct step_key key FREED_BY(step_key_free) = step_key_of(b, plan, step, PRECISION_EXACT);
    struct step_cost row = {.seconds = 1};
    TEXT(text);
    text_printf(&text, PREFIX "%s %d %d", space->family, space->n_loops, space->n_space_loops);
    for (int i = 0; i < space->n_loops; i++)
        text_printf(&text, " %lld", (long long)space->loops[i]);
    text_printf(&text, BEFORE_KEY "%s", key.text.chars);
    if (!cost_database_find(b->costs, text.chars, &row))
        cost_database_add(b->costs, text.chars, &row);
}

static bool read_row(const char *row, struct former_step *ret)
{
    struct reuse_loops *l = &ret->loops;
    int64_t most = MAX_ELEMENTS;   // iterations: whoever plans such a step multiplies extents
    int end = 0;
    *ret = (struct former_step){.key = NULL};
    sscanf(row, PREFIX "%15s %d %d%n", ret->family, &l->n, &l->n_space, &end);
    if (!end || l->n < 0 || l->n > REUSE_LOOPS || l->n_space < 0 || l->n_space > l->n)
        return false;
    for (int i = 0; i < l->n; i++) {
        long long extent = 0;
        int length = 0;
        sscanf(row + end, " %18lld%n", &extent, &length);
        l->extents[i] = extent;
        end += length;
        if (extent < 1 || extent > most)
            return false;
        most /= extent;
    }
    ret->key = row + end + strlen(BEFORE_KEY);
    return strncmp(row + end, BEFORE_KEY, strlen(BEFORE_KEY)) == 0;
}

void former_steps_list(const struct backend *b, struct arena *arena, former_step_list *list)
{
    for (size_t i = 0; i < cost_database_count(b->costs); i++) {
        const char *row = cost_database_text(b->costs, i);
        struct former_step step;
        struct step_cost ignored;
        if (!read_row(row, &step) || !cost_database_find(b->costs, row, &ignored))   // of another device
            continue;
        step.key = arena_string(arena, step.key);
        vec_push(list, step);
    }
}
