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
    size_t n_rows;   // that the database had
};

struct former_choices *former_choices_note(const struct backend *b)
{
    struct former_choices *f = mem_alloc_zero(sizeof *f);
    f->n_rows = cost_database_count(b->costs);
    for (size_t i = 0; i < f->n_rows; i++) {
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

// Choices that were adopted for steps of which nothing was known: what these run by untuned is measured when asked for.
static void forget_newer(const struct former_choices *f, struct backend *b)
{
    for (size_t i = f->n_rows; i < cost_database_count(b->costs); i++) {
        struct step_cost now;
        const char *row = cost_database_text(b->costs, i);
        if (cost_database_find(b->costs, row, &now) && now.is_adopted)
            cost_database_forget(b->costs, row);
    }
}

void former_choices_restore(const struct former_choices *f, struct backend *b)
{
    forget_newer(f, b);
    vec_each(&f->all, former) {
        struct step_cost now;
        bool is_known = cost_database_find(b->costs, former->key, &now);
        if (is_known ? is_tuned(&now, &former->cost) : former->cost.is_adopted)   // forgotten since
            cost_database_replace(b->costs, former->key, &former->cost);
    }
    backend_forget_costs(b);
}
