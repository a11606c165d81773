// The list of ways, and which of them runs a step.
#include "backends/cpu/ways.h"

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
    *ret_kernel = state ? chosen : standard;
    return state ? state : standard->prepare(r);
}
