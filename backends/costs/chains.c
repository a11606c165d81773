// From the last step to the first: the longest chain that ends with a step is tried.
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

static bool make_chain(struct backend *b, struct plan *plan, uint32_t last, struct plan_chain *ret_chain)
{
    uint32_t before = plan_find_before(plan, &b->target, last);
    uint32_t first = before == NO_STEP ? NO_STEP : plan_find_before(plan, &b->target, before);
    const uint32_t three[] = {first, before, last};
    int n = before == NO_STEP ? 0 : first == NO_STEP ? 2 : 3;
    if (n)
        plan_chain_make(plan, &b->target, n, three + 3 - n, ret_chain);
    return n > 0 && b->target.is_chain(&ret_chain->joined);
}

static void join_by(struct backend *b, struct plan *plan, judge_fn *judge, void *context)
{
    size_t n = plan->steps.count;
    if (!b->target.chain)
        return;
    for (size_t i = n; i-- > 0;) {
        struct plan_chain chain;
        if (!make_chain(b, plan, (uint32_t)i, &chain) || !judge(context, b, plan, &chain))
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
    *ret_seconds = is_known ? p.of[PRECISION_EXACT].seconds : 0;
    return is_known && !p.of[PRECISION_EXACT].is_guessed;
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
