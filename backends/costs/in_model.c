// Notes by the database's key of a step: the sum of what all its occurrences took, until they are adopted.
#include "backends/costs/in_model.h"

#include "backends/costs/cost_database.h"
#include "backends/costs/step_cost.h"
#include "backends/limits.def"
#include "core/memory/arena.h"
#include "core/memory/key_set.h"
#include <math.h>
#include <string.h>

struct note {
    const char *step;   // the key
    uint32_t n;
    double seconds, spread;   // the sum, and the largest
    bool is_doubtful;
};
struct former_cost {
    const char *step;
    struct step_cost cost;
};
struct in_model_notes {
    struct arena arena;   // of the names of steps
    struct key_set steps;
    VEC(struct note) notes;
    VEC(struct former_cost) formers;   // of what was adopted last
};

struct in_model_notes *in_model_notes_new(void)
{
    return mem_alloc_zero(sizeof(struct in_model_notes));
}

void in_model_notes_free(struct in_model_notes *notes)
{
    vecs_free(notes, notes, formers);
    key_set_free(&notes->steps);
    arena_free(&notes->arena);
    mem_free(notes, sizeof *notes);
}

static struct note *note_of(struct in_model_notes *notes, const char *step)
{
    uint32_t id = key_set_add(&notes->steps, &notes->arena, step, strlen(step) + 1);
    if (id == notes->notes.count)
        vec_push(&notes->notes, ((struct note){.step = notes->steps.keys.items[id].bytes}));
    return &notes->notes.items[id];
}

void backend_note_in_model(struct backend *b, const struct plan *plan, const struct step *step, double seconds,
                           double spread, bool is_doubtful)
{
    struct step_key key FREED_BY(step_key_free) = step_key_of(b, plan, step, step_precision(step));
    struct note *note = note_of(b->in_model, key.text.chars);
    note->n++;
    note->seconds += seconds / key.n_parts;
    note->spread = fmax(note->spread, spread);
    note->is_doubtful = note->is_doubtful || is_doubtful;
}

static bool differs(const struct step_cost *known, const struct step_cost *noted)
{
    double scatter = fmin(MOST_SCATTER, fmax(LEAST_DIFFERENCE, fmax(known->spread, noted->spread)));
    return fabs(noted->seconds - known->seconds) > scatter * known->seconds;
}

// In another load of the model, or in another model, some minutes ago at most: what it takes longer now was added by
// what else ran, or by where memory lies. Other costs, and those of another run, stay where they agree, as each that
// changes by its scatter sends the search to steps that are not known; else they give way, as the machine may have
// become another.
static bool stays(const struct step_cost *known, const struct step_cost *noted)
{
    bool is_sound = known->is_in_model && !known->is_doubtful;
    return is_sound && (known->is_old ? !differs(known, noted) : known->seconds <= noted->seconds);
}

static void adopt(struct backend *b, const struct note *note, cost_corrections *corrections)
{
    struct step_cost known = {.seconds = INFINITY}, cost = {.seconds = note->seconds / note->n,
                                                            .spread = note->spread,
                                                            .is_doubtful = note->is_doubtful,
                                                            .is_in_model = true};
    if (cost_database_find(b->costs, note->step, &known)) {
        memcpy(cost.choice, known.choice, sizeof cost.choice);
        cost.error = known.error;
    }
    if (stays(&known, &cost))
        return;
    if (isfinite(known.seconds) && !known.is_doubtful) {
        cost.seconds = differs(&known, &cost) ? cost.seconds : known.seconds;
        known.is_in_model = true;
        vec_push(&b->in_model->formers, ((struct former_cost){note->step, known}));
    }
    cost_database_add(b->costs, note->step, &cost);
    if (differs(&known, &cost))
        vec_push(corrections, ((struct cost_correction){note->step, known.seconds, cost.seconds, note->n}));
}

void backend_adopt_in_model(struct backend *b, cost_corrections *corrections)
{
    struct in_model_notes *notes = b->in_model;
    vec_clear(&notes->formers);
    for (size_t i = 0; i < notes->notes.count; i++)
        adopt(b, &notes->notes.items[i], corrections);
    vec_clear(&notes->notes);
    key_set_clear(&notes->steps);
    backend_forget_costs(b);
}

void backend_keep_former_costs(struct backend *b)
{
    struct in_model_notes *notes = b->in_model;
    for (size_t i = 0; i < notes->formers.count; i++) {
        cost_database_add(b->costs, notes->formers.items[i].step, &notes->formers.items[i].cost);
    }
    vec_clear(&notes->formers);
    backend_forget_costs(b);
}
