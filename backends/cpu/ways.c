// The list of ways, and which of them runs a step.
#include "backends/cpu/ways.h"

#include "backends/programs/programs.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include <stdio.h>
#include <string.h>

static const struct cpu_way *const ways[] = {&cpu_way_winograd, &cpu_way_generated, &cpu_way_rows, &cpu_way_tile};
#define N_WAYS (sizeof ways / sizeof *ways)

static bool is_of_way(const struct cpu_way *way, const char *choice)
{
    size_t n = strlen(way->name);
    return strncmp(choice, way->name, n) == 0 && (choice[n] == '\0' || choice[n] == ' ');
}

void cpu_list_choices(struct backend *b, const struct plan *plan, const struct step *step, choice_list *list)
{
    const char *standard = step->kernel == &cpu_kernel_chain.base ? "chain" : "";
    struct listed_choice only = {.precision = PRECISION_EXACT};
    snprintf(only.text, sizeof only.text, "%s", standard);
    vec_push(list, only);
    for (size_t i = 0; i < N_WAYS; i++)
        if (ways[i]->takes(plan, step))
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

void cpu_make_ready(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among)
{
    size_t n = among->count;
    if (n == 0)
        return;
    struct text *texts = mem_new_array(struct text, n);
    const char **kernels = mem_new_array(const char *, n);
    struct program *programs = mem_new_array(struct program, n);
    struct schedule_features ignored;
    struct error no_error;
    size_t count = 0;
    memset(texts, 0, n * sizeof *texts);
    for (size_t i = 0; i < n; i++)
        if (describe(b, plan, step, among->items[i].text, &ignored, &texts[i]))
            kernels[count++] = texts[i].chars;
    programs_find(((struct cpu_backend *)b)->programs, kernels, count, programs, &no_error);
    for (size_t i = 0; i < n; i++)
        text_free(&texts[i]);
    mem_free(texts, n * sizeof *texts);
    mem_free(kernels, n * sizeof *kernels);
    mem_free(programs, n * sizeof *programs);
}

// --- running ---------------------------------------------------------------------------------------------------------

const struct cpu_kernel *cpu_kernel_of(const struct plan *plan, const struct step *step)
{
    for (size_t i = 0; step->choice && i < N_WAYS; i++)
        if (is_of_way(ways[i], step->choice) && ways[i]->takes(plan, step))
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
