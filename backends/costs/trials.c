// Trials are measured as exact choices are: errors are looked for when one is to be adopted.
#include "backends/costs/trials.h"

#include "backends/costs/cost_database.h"
#include "backends/costs/step_cost.h"
#include "core/system/clock.h"
#include "core/text/error.h"
#include <stdio.h>

bool backend_recall_former_trial(const struct backend *b, const char *key, const char *choice,
                                 struct step_cost *ret_cost)
{
    TEXT(text);
    text_printf(&text, "%s by %s", key, choice);
    return cost_database_find(b->costs, text.chars, ret_cost) && !(ret_cost->is_old && ret_cost->is_doubtful);
}

bool backend_recall_trial(struct backend *b, const struct plan *plan, const struct step *step, const char *choice,
                          struct step_cost *ret_cost)
{
    struct step_key key FREED_BY(step_key_free) = step_key_of(b, plan, step, PRECISION_EXACT);
    bool is_known = backend_recall_former_trial(b, key.text.chars, choice, ret_cost);
    if (is_known)
        ret_cost->seconds *= key.n_parts;
    return is_known;
}

bool backend_time_choice(struct backend *b, const struct plan *plan, const struct step *step, const char *choice,
                         enum precision precision, double best, struct step_cost *ret_cost)
{
    struct listed_choice only = {.precision = precision};
    LOCAL_LIST(choice_list, among);
    struct error ignored = {0};
    double started = clock_seconds(), processor_started = clock_cpu_seconds();
    snprintf(only.text, sizeof only.text, "%s", choice);
    vec_push(&among, only);
    *ret_cost = (struct step_cost){0};
    bool is_had = b->methods->measure(b, plan, step, &among, best, ret_cost, &ignored);
    b->coster.measured.seconds += clock_seconds() - started;
    b->coster.measured.processor_seconds += clock_cpu_seconds() - processor_started;
    b->coster.measured.n_steps++;
    return is_had;
}

static void keep(struct backend *b, struct step_key key, struct step_cost cost)
{
    cost.seconds /= key.n_parts;
    cost_database_add(b->costs, key.text.chars, &cost);
    step_key_free(&key);
}

void backend_keep_trial(struct backend *b, const struct plan *plan, const struct step *step, const char *choice,
                        const struct step_cost *cost)
{
    struct step_cost kept = *cost;
    struct step_key key = step_key_of(b, plan, step, PRECISION_EXACT);
    kept.choice[0] = '\0';   // the key says it
    text_printf(&key.text, " by %s", choice);
    keep(b, key, kept);
}

void backend_adopt_choice(struct backend *b, const struct plan *plan, const struct step *step, enum precision precision,
                          const struct step_cost *cost)
{
    struct step_cost adopted = *cost;
    adopted.is_adopted = true;
    keep(b, step_key_of(b, plan, step, precision), adopted);
}
