// What the cost database has of each step's choice, in each precision.
#include "tuning/former_choices.h"

#include "backends/costs/cost_database.h"
#include "backends/costs/step_cost.h"
#include "core/memory/arena.h"

struct former {
    const char *key;
    struct step_cost cost;
};
struct former_choices {
    struct arena arena;
    VEC(struct former) all;
};

static void note(struct former_choices *f, struct backend *b, const struct plan *plan, const struct step *step,
                 enum precision precision)
{
    struct step_key key FREED_BY(step_key_free) = step_key_of(b, plan, step, precision);
    struct former former;
    if (cost_database_find(b->costs, key.text.chars, &former.cost)) {
        former.key = arena_string(&f->arena, key.text.chars);
        vec_push(&f->all, former);
    }
}

struct former_choices *former_choices_note(struct backend *b, const struct plan *plan)
{
    struct former_choices *f = mem_alloc_zero(sizeof *f);
    for (size_t i = 0; i < plan->steps.count; i++)
        for (enum precision p = 0; p < N_PRECISIONS && !plan->steps.items[i].is_constant; p++)
            note(f, b, plan, &plan->steps.items[i], p);
    return f;
}

void former_choices_free(struct former_choices *f)
{
    vec_free(&f->all);
    arena_free(&f->arena);
    mem_free(f, sizeof *f);
}

void former_choices_restore(const struct former_choices *f, struct backend *b)
{
    for (size_t i = 0; i < f->all.count; i++)
        cost_database_add(b->costs, f->all.items[i].key, &f->all.items[i].cost);
    backend_forget_costs(b);
}
