// Rows of the cost database that are of steps.
#include "tuning/former_choices.h"

#include "backends/costs/cost_database.h"
#include "backends/costs/step_cost.h"
#include "backends/costs/verdicts.h"
#include "core/memory/arena.h"
#include "tuning/conf_store.h"
#include <string.h>

struct former {
    const char *key;
    struct step_cost cost;
};
struct former_choices {
    struct arena arena;
    VEC(struct former) all;
};

struct former_choices *former_choices_note(const struct backend *b)
{
    struct former_choices *f = mem_alloc_zero(sizeof *f);
    for (size_t i = 0; i < cost_database_count(b->costs); i++) {
        struct former former = {.key = cost_database_text(b->costs, i)};
        if (conf_store_has(former.key) || verdict_has(former.key) ||
            !cost_database_find(b->costs, former.key, &former.cost))
            continue;
        former.key = arena_string(&f->arena, former.key);
        vec_push(&f->all, former);
    }
    return f;
}

void former_choices_free(struct former_choices *f)
{
    vec_free(&f->all);
    arena_free(&f->arena);
    mem_free(f, sizeof *f);
}

bool former_choices_find(const struct former_choices *f, const char *key, struct step_cost *ret_cost)
{
    const struct former *found = vec_find(&f->all, x, strcmp(x->key, key) == 0);
    if (found)
        *ret_cost = found->cost;
    return found;
}

// A choice that tuning came back to costs what others compare with (places.h).
static bool is_tuned(const struct step_cost *now, const struct step_cost *former)
{
    return strcmp(now->choice, former->choice) != 0 ||
           (now->seconds != former->seconds && !now->is_old && !now->is_in_model);
}

void former_choices_restore(const struct former_choices *f, struct backend *b)
{
    vec_each(&f->all, former) {
        struct step_cost now;
        if (cost_database_find(b->costs, former->key, &now) && is_tuned(&now, &former->cost))
            cost_database_replace(b->costs, former->key, &former->cost);
    }
    backend_forget_costs(b);
}
