// The list of ways, and which of them runs a step.
#include "backends/cpu/ways.h"

#include "backends/limits.def"
#include "backends/planning/plan_memory.h"
#include "backends/programs/programs.h"
#include "core/memory/arena.h"
#include "core/text/text.h"
#include <math.h>
#include <string.h>

static const struct cpu_way *const ways[] = {&cpu_way_winograd, &cpu_way_generated, &cpu_way_rows, &cpu_way_tile,
                                             &cpu_way_chain};
#define N_WAYS (sizeof ways / sizeof *ways)

static bool is_of_way(const struct cpu_way *way, const char *choice)
{
    size_t n = strlen(way->name);
    return strncmp(choice, way->name, n) == 0 && (choice[n] == '\0' || choice[n] == ' ');
}

void cpu_list_choices(struct backend *b, const struct plan *plan, const struct step *step, choice_list *list)
{
    const struct cpu_kernel *own = (const struct cpu_kernel *)step->kernel;
    if (own->list)
        own->list((const struct cpu_backend *)b, step, list);
    else
        vec_push(list, ((struct listed_choice){.text = "", .precision = PRECISION_EXACT}));
    for (size_t i = 0; i < N_WAYS; i++)
        if (ways[i]->list && ways[i]->takes(plan, step))
            ways[i]->list((const struct cpu_backend *)b, plan, step, list);
}

// --- spaces ----------------------------------------------------------------------------------------------------------

void cpu_list_spaces(const struct backend *b, const struct plan *plan, const struct step *step, schedule_spaces *list)
{
    for (size_t i = 0; i < N_WAYS; i++)
        if (ways[i]->list_spaces && ways[i]->takes(plan, step))
            ways[i]->list_spaces((const struct cpu_backend *)b, plan, step, list);
}

static bool describe(const struct backend *b, const struct plan *plan, const struct step *step, const char *choice,
                     struct schedule_features *ret_features, struct text *kernel)
{
    for (size_t i = 0; i < N_WAYS; i++)
        if (ways[i]->describe && is_of_way(ways[i], choice) && ways[i]->takes(plan, step))
            return ways[i]->describe((const struct cpu_backend *)b, plan, step, choice, ret_features, kernel);
    return false;
}

bool cpu_describe_choice(const struct backend *b, const struct plan *plan, const struct step *step, const char *choice,
                         struct schedule_features *ret_features)
{
    return describe(b, plan, step, choice, ret_features, NULL);
}

static void expect_kernel(struct backend *b, const struct plan *plan, const struct step *step,
                          const struct listed_choice *choice)
{
    ARENA(arena);
    TEXT(text);
    struct schedule_features ignored;
    const struct cpu_kernel *own = (const struct cpu_kernel *)step->kernel;
    struct step chosen = *step;
    chosen.way.choice = choice->text;
    describe(b, plan, step, choice->text, &ignored, &text);
    if (own->print)
        own->print(&(struct step_request){(struct cpu_backend *)b, plan, &chosen, NULL, &arena, NULL}, &text);
    if (text.count)
        programs_expect(((struct cpu_backend *)b)->programs, text.chars);
}

void cpu_make_ready(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                    bool is_now)
{
    struct programs *programs = ((struct cpu_backend *)b)->programs;
    struct step bare = *step;
    bare.n_loops = 0;
    for (size_t i = 0; i < among->count; i++) {
        expect_kernel(b, plan, step, &among->items[i]);
        if (among->items[i].precision == PRECISION_INEXACT)
            expect_kernel(b, plan, &bare, &among->items[i]);   // its error is looked for (result_error.h)
    }
    if (is_now)
        programs_make_expected(programs);
}

// --- running ---------------------------------------------------------------------------------------------------------

const struct cpu_kernel *cpu_kernel_of(const struct plan *plan, const struct step *step)
{
    for (size_t i = 0; step->way.choice && i < N_WAYS; i++)
        if (is_of_way(ways[i], step->way.choice) && ways[i]->takes(plan, step))
            return ways[i]->kernel;
    return (const struct cpu_kernel *)step->kernel;
}

void *cpu_prepare(const struct step_request *r, const struct cpu_kernel **ret_kernel)
{
    const struct cpu_kernel *standard = (const struct cpu_kernel *)r->step->kernel;
    const struct cpu_kernel *chosen = cpu_kernel_of(r->plan, r->step);
    void *state = chosen != standard ? chosen->prepare(r) : NULL;
    r->backend->n_fallbacks += chosen != standard && !state;
    *ret_kernel = state ? chosen : standard;
    return state ? state : standard->prepare(r);
}

// --- excerpts --------------------------------------------------------------------------------------------------------
//
// The first axis of the result is that of images or rows, and that of the first operand, too.

static bool has_epilogue_of_result(const struct step *step)
{
    const struct loop *l = step->loops;
    const struct view *z = &step->results[0];
    bool is_of_result = step->n_loops == 0 || (step->n_loops == 1 && l->rank == z->rank && l->n_reduced == 0);
    for (int axis = 0; step->n_loops && is_of_result && axis < z->rank; axis++)
        is_of_result = l->dim[axis] == z->dim[axis];
    return is_of_result;
}

static bool has_items(const struct step *step)
{
    bool is_known = step->kernel == &cpu_kernel_conv.base || step->kernel == &cpu_kernel_linear.base;
    return is_known && step->n_parts == 0 && step->n_results == 1 && has_epilogue_of_result(step) &&
           step->results[0].dim[0] > 1 && step->operands[0].dim[0] % step->results[0].dim[0] == 0 &&
           (step->operands[0].block == 0 || step->operands[0].block_axis > 0);
}

static double wanted_operations(const struct cpu_backend *b, const struct plan *plan, const struct step *step)
{
    const struct view *weights = &step->operands[CPU_PACKED_OPERAND];
    double bytes =
        plan_keeps(plan, weights->memory) ? (double)view_elements(weights) * (double)dtype_size(weights->dtype) : 0;
    return fmax(b->threads * OPERATIONS_OF_EXCERPT, OPERATIONS_FOR_A_BYTE * bytes);
}

static int64_t count_taken(const struct cpu_backend *b, const struct plan *plan, const struct step *step)
{
    int64_t n = step->results[0].dim[0], taken = n % b->threads == 0 ? b->threads : 1;
    double of_one = step_work(plan, step).operations / (double)n, wanted = wanted_operations(b, plan, step);
    while (taken < n && (n % taken != 0 || of_one * (double)taken < wanted))
        taken += n % b->threads == 0 ? b->threads : 1;
    return taken;
}

const struct step *cpu_excerpt(const struct cpu_backend *b, const struct plan *plan, const struct step *step,
                               struct excerpt *ret_excerpt)
{
    struct excerpt *e = ret_excerpt;
    int64_t n = has_items(step) ? step->results[0].dim[0] : 1, taken = n > 1 ? count_taken(b, plan, step) : n;
    e->share = (double)taken / (double)n;
    if (taken == n)
        return step;
    e->step = *step;
    e->operands[0] = step->operands[0];
    e->operands[1] = step->operands[1];
    e->result = step->results[0];
    e->step.operands = e->operands;
    e->step.results = &e->result;
    e->operands[0].dim[0] = e->operands[0].dim[0] / n * taken;
    e->result.dim[0] = taken;
    if (step->n_loops) {
        e->epilogue = step->loops[0];
        e->epilogue.dim[0] = taken;
        e->step.loops = &e->epilogue;
    }
    return &e->step;
}
