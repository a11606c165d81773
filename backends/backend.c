// What all devices share: estimates from the costs of steps, and the way from a cost's words to its measurement.
#include "backends/backend.h"

#include "backends/cost.h"
#include "core/arena.h"
#include "core/error.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Costs by the words of a step: found without making its text.
struct known_step {
    size_t n_words;
    const int64_t *words;
    struct step_cost cost;
};
struct step_memory {
    struct arena arena;
    struct table table;
    VEC(struct known_step) steps;
    struct words words;   // of the step being looked for
};

static bool is_known_step(const void *owner, uint32_t id, const void *key)
{
    const struct step_memory *memory = owner;
    const struct words *words = key;
    const struct known_step *s = &memory->steps.items[id];
    return s->n_words == words->list.count && memcmp(s->words, words->list.items, s->n_words * sizeof *s->words) == 0;
}

// --- costs -----------------------------------------------------------------------------------------------------------

// A guess for what cannot be measured: bytes at 10 GB/s and a launch.
static struct step_cost guess_cost(const struct plan *plan, const struct step *step)
{
    double bytes = 0;
    for (int i = 0; i < step->n_operands; i++)
        bytes += (double)view_elements(&step->operands[i]) * (double)dtype_size(step->operands[i].dtype);
    for (int i = 0; i < step->n_results; i++)
        bytes += (double)view_elements(&step->results[i]) * (double)dtype_size(step->results[i].dtype);
    double flops = 0;
    for (int l = 0; l < step->n_loops; l++) {
        double places = 1;
        for (int i = 0; i < step->loops[l].rank + step->loops[l].n_reduced; i++)
            places *= (double)step->loops[l].dim[i];
        bytes += 4 * places * (step->loops[l].n_operands + step->loops[l].n_results);
        flops += places * step->loops[l].n_instructions;
    }
    if (step->node != NO_NODE && step->n_operands >= 2)
        flops += 2 * (double)view_elements(&step->operands[0]) * (double)view_elements(&step->operands[1]) /
                 (double)(1 + step->operands[0].dim[0]);
    (void)plan;
    return (struct step_cost){2e-6 + bytes / 1e10 + flops / 1e11, 0, true};
}

static bool find_or_measure(struct backend *b, const struct plan *plan, const struct step *step,
                            struct step_cost *ret_cost, struct error *error)
{
    struct text text = {0};
    bool is_known = true;
    step_print(&text, plan, step);
    if (!cost_database_find(b->costs, text.chars, ret_cost)) {
        if (b->options.never_measures) {
            *ret_cost = guess_cost(plan, step);
            log_debug(b->options.log, "guessed %.3g s: %s", ret_cost->seconds, text.chars);
        } else {
            is_known = b->methods->measure(b, plan, step, ret_cost, error);
            if (is_known)
                cost_database_add(b->costs, text.chars, ret_cost);
            if (is_known)
                log_debug(b->options.log, "measured %.3g s: %s", ret_cost->seconds, text.chars);
        }
    }
    text_free(&text);
    return is_known;
}

bool backend_step_cost(struct backend *b, const struct plan *plan, const struct step *step, struct step_cost *ret_cost,
                       struct error *error)
{
    struct step_memory *memory = b->memory;
    step_spell(plan, step, &memory->words);
    uint64_t hash = hash_bytes(memory->words.list.items, memory->words.list.count * sizeof(int64_t), 0);
    uint32_t id = table_find(&memory->table, hash, is_known_step, memory, &memory->words);
    if (id != TABLE_NONE) {
        *ret_cost = memory->steps.items[id].cost;
        return true;
    }
    struct known_step known = {.n_words = memory->words.list.count};
    known.words = arena_copy_array(&memory->arena, memory->words.list.items, memory->words.list.count);
    if (!find_or_measure(b, plan, step, &known.cost, error))
        return false;
    table_insert(&memory->table, hash, (uint32_t)memory->steps.count);
    vec_push(&memory->steps, known);
    *ret_cost = known.cost;
    return true;
}

static bool make_plan(struct backend *b, const struct graph *g, struct arena *arena, struct plan *ret_plan,
                      struct error *error)
{
    char reason[200];
    if (!plan_make(ret_plan, g, &b->target, b->codes, arena, reason))
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s", reason);
    return true;
}

bool backend_estimate(struct backend *b, const struct graph *g, struct estimate *ret_estimate, struct error *error)
{
    struct arena arena;
    struct plan plan = {0};
    struct estimate sum = {0};
    arena_init(&arena);
    bool is_done = make_plan(b, g, &arena, &plan, error);
    for (size_t i = 0; is_done && i < plan.steps.count; i++) {
        struct step_cost cost;
        if (plan.steps.items[i].is_constant)
            continue;
        if ((is_done = backend_step_cost(b, &plan, &plan.steps.items[i], &cost, error))) {
            sum.seconds += cost.seconds;
            sum.n_steps++;
            sum.n_guessed += cost.is_guessed;
        }
    }
    if (is_done)
        *ret_estimate = sum;
    if (plan.graph)
        plan_free(&plan);
    arena_free(&arena);
    return is_done;
}

// --- explaining ------------------------------------------------------------------------------------------------------

struct priced_step {
    const struct step *step;
    struct step_cost cost;
};

static int compare_prices(const void *a, const void *b)
{
    const struct priced_step *x = a, *y = b;
    if (x->cost.seconds != y->cost.seconds)
        return x->cost.seconds < y->cost.seconds ? 1 : -1;
    return (x->step > y->step) - (x->step < y->step);
}

bool backend_explain(struct backend *b, const struct graph *g, struct text *out, struct error *error)
{
    struct arena arena;
    struct plan plan = {0};
    arena_init(&arena);
    bool is_done = make_plan(b, g, &arena, &plan, error);
    struct priced_step *priced = is_done ? arena_array(&arena, struct priced_step, plan.steps.count + 1) : NULL;
    size_t n = 0;
    for (size_t i = 0; is_done && i < plan.steps.count; i++) {
        if (plan.steps.items[i].is_constant)
            continue;
        priced[n].step = &plan.steps.items[i];
        is_done = backend_step_cost(b, &plan, priced[n].step, &priced[n].cost, error);
        n++;
    }
    if (is_done && n)
        qsort(priced, n, sizeof *priced, compare_prices);
    for (size_t i = 0; is_done && i < n; i++) {
        text_printf(out, "%10.2f us %5.1f%%  ", priced[i].cost.seconds * 1e6, priced[i].cost.spread * 100);
        step_print(out, &plan, priced[i].step);
        text_add(out, "   ;");
        for (node_id node = priced[i].step->first_node; node != NO_NODE; node = plan.next_node[node])
            text_printf(out, " %s", g->nodes.items[node].op->name);
        text_add(out, "\n");
    }
    if (plan.graph)
        plan_free(&plan);
    arena_free(&arena);
    return is_done;
}

// --- models ----------------------------------------------------------------------------------------------------------

struct model *backend_prepare(struct backend *b, const struct graph *g, size_t n_weights,
                              const struct tensor_value *weights, struct error *error)
{
    return b->methods->prepare(b, g, n_weights, weights, error);
}

bool model_run(struct model *m, const struct tensor_value *inputs, struct tensor_value *outputs, struct error *error)
{
    return m->backend->methods->run(m, inputs, outputs, error);
}

bool model_profile(struct model *m, const struct tensor_value *inputs, struct tensor_value *outputs,
                   double *ret_seconds, struct error *error)
{
    return m->backend->methods->profile(m, inputs, outputs, ret_seconds, error);
}

const struct plan *model_plan(const struct model *m)
{
    return m->backend->methods->plan_of(m);
}

void model_allocate_outputs(const struct model *m, struct tensor_value *ret_outputs, struct arena *arena)
{
    const struct graph *g = model_plan(m)->graph;
    for (size_t i = 0; i < g->outputs.count; i++) {
        ret_outputs[i].type = *graph_type(g, g->outputs.items[i]);
        ret_outputs[i].data = value_allocate(arena, &ret_outputs[i].type);
    }
}

void model_free(struct model *m)
{
    if (m)
        m->backend->methods->free_model(m);
}

// --- opening and closing ---------------------------------------------------------------------------------------------

static bool open_costs(struct backend *b, struct error *error)
{
    char folder[4096], path[4096 + 64];
    const char *file = b->options.cost_file;
    if (file && !*file)
        file = NULL;
    else if (!file && file_cache_folder(folder, sizeof folder)) {
        snprintf(path, sizeof path, "%s/%s.costs", folder, b->methods->name);
        file = path;
    }
    return cost_database_open(&b->costs, file, b->device, error);
}

bool backend_init(struct backend *b, const struct backend_methods *methods, const struct plan_target *target,
                  const struct backend_options *options, const char *device, struct error *error)
{
    b->methods = methods;
    b->target = *target;
    b->options = *options;
    if (b->options.seconds_per_step <= 0)
        b->options.seconds_per_step = 0.05;
    snprintf(b->device, sizeof b->device, "%s", device);
    if (!open_costs(b, error))
        return false;
    b->codes = code_cache_new();
    b->memory = mem_alloc_zero(sizeof *b->memory);
    arena_init(&b->memory->arena);
    return true;
}

void backend_finish(struct backend *b)
{
    struct error error = {0};
    if (!cost_database_write(b->costs, &error))
        log_warning(b->options.log, "%s: %s", error.file, error.message);
    cost_database_free(b->costs);
    code_cache_free(b->codes);
    vec_free(&b->memory->steps);
    vec_free(&b->memory->words.list);
    table_free(&b->memory->table);
    arena_free(&b->memory->arena);
    mem_free(b->memory, sizeof *b->memory);
}

void backend_close(struct backend *b)
{
    if (b)
        b->methods->close(b);
}
