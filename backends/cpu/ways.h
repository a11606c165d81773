// Ways to run a step beside its kernel's own: other kernels for the same step, each with choices (contract/choice.h)
// whose texts begin with the name of the way.
//
// To add one: a struct cpu_way, one line in ways.c. Its `list` says by what choices it may run a step; its kernel's
// `prepare` reads r->step->choice, and gives NULL where that cannot be had here, as another library or processor may
// have chosen it: then the step runs in its standard way. Its results stand where the step's stand, and its epilogue
// (r->step->loops) is its own to run.
#pragma once
#include "backends/cpu/kernel.h"
#include "backends/planning/plan.h"

struct cpu_way {
    const char *name;   // the first word of its choices
    // Is it a step of a kind that the way may run, on some machine?
    bool (*takes)(const struct plan *plan, const struct step *step);
    // Adds what is worth a trial here for such a step. By the step's shape alone, as costs of the list are kept. NULL:
    // the step's own kernel does.
    void (*list)(const struct cpu_backend *b, const struct plan *plan, const struct step *step, choice_list *list);
    const struct cpu_kernel *kernel;
    // Adds all schedules of such a step, for who searches them; NULL: it has none.
    void (*list_spaces)(const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                        schedule_spaces *list);
    // Gives the work of a choice, and adds the text of its kernel, if there is one and `kernel` is not NULL. False: it
    // does not suit, or is no schedule.
    bool (*describe)(const struct cpu_backend *b, const struct plan *plan, const struct step *step, const char *choice,
                     struct schedule_features *ret_features, struct text *kernel);
};
extern const struct cpu_way cpu_way_winograd, cpu_way_generated, cpu_way_rows, cpu_way_tile, cpu_way_chain;

void cpu_list_choices(struct backend *b, const struct plan *plan, const struct step *step, choice_list *list);
void cpu_list_spaces(const struct backend *b, const struct plan *plan, const struct step *step, schedule_spaces *list);
bool cpu_describe_choice(const struct backend *b, const struct plan *plan, const struct step *step, const char *choice,
                         struct schedule_features *ret_features);
void cpu_make_ready(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                    bool is_now);
// The kernel that runs a step by its choice; its own where that is the standard one, or of no way that takes it.
const struct cpu_kernel *cpu_kernel_of(const struct plan *plan, const struct step *step);
// Prepares a step by its choice, or in the standard way where that cannot be had. NULL: failed, as of prepare.
void *cpu_prepare(const struct step_request *r, const struct cpu_kernel **ret_kernel);

// An excerpt: a few of a step's images, or of its rows where it is a product. They tell its ways apart where all of it
// takes long. Kernels go by what views say, so that an excerpt is a step like others, over the
// same memory.
struct excerpt {
    struct step step;   // with views and an epilogue of its own
    struct view operands[2], result;
    struct loop epilogue;
    double share;   // of the whole
};
// The excerpt: as few as compute for some time, and for long beside reading the weights; each thread has as many. The
// step itself, with a share of 1, where it has no such parts, or takes less.
const struct step *cpu_excerpt(const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                               struct excerpt *ret_excerpt);
