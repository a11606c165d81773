// From the last step to the first: of chains that end with a step the longest is tried first.
#include "backends/costs/chains.h"

#include "backends/costs/step_cost.h"
#include "backends/limits.def"
#include "backends/planning/plan_chains.h"
#include "backends/planning/plan_text.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include <string.h>

#define NO_STEP UINT32_MAX

// Is it better to join them?
typedef bool judge_fn(void *context, struct backend *b, const struct plan *plan, const struct plan_chain *chain);

// Neighbours that end with a step, in the last places. Gives how many they are.
static int find_neighbours(const struct backend *b, const struct plan *plan, uint32_t last,
                           uint32_t ret_steps[CHAIN_MOST])
{
    int n = 0;
    for (uint32_t step = last; step != NO_STEP && n < CHAIN_MOST; step = plan_find_before(plan, &b->target, step))
        ret_steps[CHAIN_MOST - ++n] = step;
    return n;
}

static bool find_chain(struct backend *b, struct plan *plan, uint32_t last, judge_fn *judge, void *context,
                       struct plan_chain *ret_chain)
{
    uint32_t steps[CHAIN_MOST];
    for (int n = find_neighbours(b, plan, last, steps); n > 1; n--) {
        plan_chain_make(plan, &b->target, n, steps + CHAIN_MOST - n, ret_chain);
        if (b->target.is_chain(&ret_chain->joined) && judge(context, b, plan, ret_chain))
            return true;
    }
    return false;
}

static void join_by(struct backend *b, struct plan *plan, judge_fn *judge, void *context)
{
    size_t n = plan->steps.count;
    if (!b->target.chain)
        return;
    for (size_t i = n; i-- > 0;) {
        struct plan_chain chain;
        if (!find_chain(b, plan, (uint32_t)i, judge, context, &chain))
            continue;
        plan_join_chain(plan, &chain);
        i -= (size_t)chain.n - 1;
    }
    if (plan->steps.count < n)
        plan_note_lives(plan);
}

// --- by costs --------------------------------------------------------------------------------------------------------

struct costing {
    bool has_failed;
    struct error *error;
};

static bool find_seconds(struct costing *c, struct backend *b, const struct plan *plan, const struct step *step,
                         double *ret_seconds)
{
    struct step_prices p;
    bool is_known = step_prices_find(b, plan, step, &p, c->error);
    c->has_failed = c->has_failed || (!is_known && !b->measuring.only_recalls && !interrupt_requested());
    const struct step_cost *least =
        &p.of[is_known && step_prices_prefer_inexact(b, &p) ? PRECISION_INEXACT : PRECISION_EXACT];
    *ret_seconds = is_known ? least->seconds : 0;
    return is_known && !least->is_guessed;
}

static bool takes_less(void *context, struct backend *b, const struct plan *plan, const struct plan_chain *chain)
{
    double apart = 0, joined, seconds;
    for (int i = 0; i < chain->n; i++) {
        if (!find_seconds(context, b, plan, &plan->steps.items[chain->steps[i]], &seconds))
            return false;
        apart += seconds;
    }
    return find_seconds(context, b, plan, &chain->joined, &joined) && joined < WORTH_JOINING * apart;
}

static bool expect(void *context, struct backend *b, const struct plan *plan, const struct plan_chain *chain)
{
    step_prices_expect(b, plan, &chain->joined);
    return false;
}

void chains_expect(struct backend *b, struct plan *plan)
{
    join_by(b, plan, expect, NULL);
}

bool chains_join(struct backend *b, struct plan *plan, struct error *error)
{
    struct costing c = {.error = error};
    join_by(b, plan, takes_less, &c);
    return !c.has_failed;
}

// --- by what is given ------------------------------------------------------------------------------------------------

static bool is_given(void *context, struct backend *b, const struct plan *plan, const struct plan_chain *chain)
{
    const step_choices *given = context;
    TEXT(text);
    bool is_found = false;
    step_print(&text, plan, &chain->joined);
    for (size_t i = 0; i < given->count && !is_found; i++)
        is_found = strcmp(given->items[i].step, text.chars) == 0;
    return is_found;
}

void chains_join_given(struct backend *b, struct plan *plan, const step_choices *given)
{
    join_by(b, plan, is_given, (void *)given);
}
