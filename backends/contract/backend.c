// What all devices share: estimates from the costs of steps, and the way from a cost's words to its measurement.
#include "backends/contract/backend.h"

#include "backends/contract/cost_database.h"
#include "backends/contract/in_model.h"
#include "backends/contract/step_key.h"
#include "backends/layouts/layout.h"
#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/system/clock.h"
#include "core/system/file.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const layout_policy_names[] = {"standard", "best", "plain", NULL};

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
static double guess_seconds(const struct step *step)
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
    return 2e-6 + bytes / 1e10 + flops / 1e11;
}

#define WEIGHTS_OF_A_SMALL_MODEL ((size_t)8 << 20)   // a last cache keeps them, even if others share it
#define SMALL_MODEL " near"                          // at the end of a key

void backend_expect_model(struct backend *b, size_t weight_bytes)
{
    bool is_small = weight_bytes <= WEIGHTS_OF_A_SMALL_MODEL;
    if (is_small == b->has_small_model)
        return;
    b->has_small_model = is_small;
    backend_forget_costs(b);
}

static bool reads_weights(const struct plan *plan, const struct step *step)
{
    for (int i = 0; i < step->n_operands; i++) {
        enum memory_place place = plan->memory.items[step->operands[i].memory].place;
        if (place == MEMORY_WEIGHT || place == MEMORY_CONSTANT)
            return true;
    }
    return false;
}

static void add_context(const struct backend *b, const struct plan *plan, const struct step *step, struct text *text)
{
    if (b->has_small_model && b->methods->knows_small_models && reads_weights(plan, step))
        text_add(text, SMALL_MODEL);
}

struct step_key step_key_of(const struct backend *b, const struct plan *plan, const struct step *step)
{
    struct step_key key = {{0}, 1};
    if (b->methods->has_exact_costs)
        step_print(&key.text, plan, step);
    else
        key.n_parts = step_print_key(&key.text, plan, step);
    add_context(b, plan, step, &key.text);
    return key;
}

void step_key_free(struct step_key *key)
{
    text_free(&key->text);
}

static bool recall(struct backend *b, const struct step_key *key, struct step_cost *ret_cost)
{
    bool is_known = cost_database_find(b->costs, key->text.chars, ret_cost);
    if (is_known)
        ret_cost->seconds *= key->n_parts;
    return is_known;
}

// A database that was written with the step's own text serves, too.
static bool recall_by_text(struct backend *b, const struct plan *plan, const struct step *step,
                           struct step_cost *ret_cost)
{
    struct step_key exact = {{0}, 1};
    step_print(&exact.text, plan, step);
    add_context(b, plan, step, &exact.text);
    bool is_known = recall(b, &exact, ret_cost);
    step_key_free(&exact);
    return is_known;
}

static bool measure(struct backend *b, const struct plan *plan, const struct step *step, const struct step_key *key,
                    struct step_cost *ret_cost, struct error *error)
{
    double started = clock_seconds();
    bool is_measured = b->methods->measure(b, plan, step, ret_cost, error);
    b->measured.seconds += clock_seconds() - started;
    b->measured.n_steps++;
    if (!is_measured)
        return false;
    log_debug(b->options.log, "measured %.3g s: %s", ret_cost->seconds, key->text.chars);
    ret_cost->seconds /= key->n_parts;
    cost_database_add(b->costs, key->text.chars, ret_cost);
    return recall(b, key, ret_cost);
}

static size_t bytes_of(const struct plan *plan, memory_id id)
{
    const struct plan_memory *m = &plan->memory.items[id];
    return mem_product((size_t)m->elements, dtype_size(m->dtype));
}

// Of what a step reads and writes, at most.
static size_t bytes_of_step(const struct plan *plan, const struct step *step)
{
    size_t bytes = 0;
    for (int i = 0; i < step->n_operands; i++)
        bytes = mem_sum(bytes, bytes_of(plan, step->operands[i].memory));
    for (int i = 0; i < step->n_results; i++)
        bytes = mem_sum(bytes, bytes_of(plan, step->results[i].memory));
    for (int l = 0; l < step->n_loops; l++) {
        const struct loop *loop = &step->loops[l];
        for (int i = 0; i < loop->n_operands; i++)
            bytes = mem_sum(bytes, bytes_of(plan, loop->operands[i].memory));
        for (int i = 0; i < loop->n_results; i++)
            bytes = mem_sum(bytes, bytes_of(plan, loop->results[i].to.memory));
    }
    return bytes;
}

#define ALWAYS_MEASURED ((size_t)64 << 20)   // bytes: there is room for these
#define NEVER_MEASURED ((size_t)4 << 30)     // it would take seconds for each run
#define SHARE_OF_MEMORY 4                    // of what is free, the part that a measurement may take

static bool is_too_large_to_measure(const struct plan *plan, const struct step *step)
{
    size_t bytes = bytes_of_step(plan, step);
    return bytes > NEVER_MEASURED || (bytes > ALWAYS_MEASURED && bytes > mem_available() / SHARE_OF_MEMORY);
}

static void guess(struct backend *b, const struct plan *plan, const struct step *step, const struct step_key *key,
                  struct step_cost *ret_cost)
{
    double seconds = b->methods->guess ? b->methods->guess(b, plan, step) : guess_seconds(step);
    *ret_cost = (struct step_cost){.seconds = seconds, .is_guessed = true};
    log_debug(b->options.log, "guessed %.3g s: %s", ret_cost->seconds, key->text.chars);
}

static bool has_to_be_repaired(const struct backend *b, const struct step_cost *known)
{
    bool is_wanted = b->repairs == REPAIRS_ALL || (b->repairs == REPAIRS_DOUBTFUL && known->is_doubtful);
    return is_wanted && known->is_old && !b->only_recalls && !b->options.never_measures && !interrupt_requested() &&
           (b->repairs_end == 0 || clock_seconds() < b->repairs_end);
}

static bool find_or_measure(struct backend *b, const struct plan *plan, const struct step *step,
                            struct step_cost *ret_cost, struct error *error)
{
    struct step_key key = step_key_of(b, plan, step);
    bool is_known = recall(b, &key, ret_cost) || recall_by_text(b, plan, step, ret_cost);
    if (!is_known || has_to_be_repaired(b, ret_cost)) {
        is_known = true;
        if (b->only_recalls)
            is_known = error_set_code(error, EXIT_UNSUPPORTED, NULL, "a step's cost is not known");
        else if (b->options.never_measures || (!b->methods->has_exact_costs && is_too_large_to_measure(plan, step)))
            guess(b, plan, step, &key, ret_cost);
        else if (!b->methods->has_exact_costs && interrupt_requested())
            is_known = error_set_code(error, EXIT_UNSUPPORTED, NULL, "interrupted: a step's cost is not measured");
        else
            is_known = measure(b, plan, step, &key, ret_cost, error);
    }
    step_key_free(&key);
    return is_known;
}

bool backend_recall_cost(struct backend *b, const struct plan *plan, const struct step *step,
                         struct step_cost *ret_cost)
{
    struct step_key key = step_key_of(b, plan, step);
    bool is_known = recall(b, &key, ret_cost) || recall_by_text(b, plan, step, ret_cost);
    step_key_free(&key);
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

bool backend_find_layouts(struct backend *b, const struct graph *g, struct arena *arena, const uint8_t **ret_layouts,
                          struct error *error)
{
    uint8_t *layouts = NULL;
    if (b->policy == LAYOUTS_BEST && b->target.layouts && !layouts_find(b, g, arena, &layouts, NULL, error))
        return false;
    if (b->policy == LAYOUTS_PLAIN) {
        layouts = arena_array(arena, uint8_t, g->tensors.count + 1);
        memset(layouts, LAYOUT_ROWS, g->tensors.count);
    }
    *ret_layouts = layouts;
    return true;
}

static bool make_plan(struct backend *b, const struct graph *g, const uint8_t *layouts, struct arena *arena,
                      struct plan *ret_plan, struct error *error)
{
    char reason[200];
    struct plan_request request = {g, &b->target, b->codes, layouts, arena};
    if (!plan_make(ret_plan, &request, reason))
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s", reason);
    return true;
}

bool backend_estimate_with(struct backend *b, const struct graph *g, const uint8_t *layouts,
                           struct estimate *ret_estimate, struct error *error)
{
    struct arena_mark mark = arena_mark(b->scratch);
    struct plan plan = {0};
    struct estimate sum = {0};
    bool is_done = make_plan(b, g, layouts, b->scratch, &plan, error);
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
    arena_release(b->scratch, mark);
    return is_done;
}

bool backend_estimate(struct backend *b, const struct graph *g, struct estimate *ret_estimate, struct error *error)
{
    struct arena_mark mark = arena_mark(b->scratch);
    uint8_t *best;
    const uint8_t *layouts;
    bool is_done, is_searched = b->policy == LAYOUTS_BEST && b->target.layouts;
    if (is_searched)
        is_done = layouts_find(b, g, b->scratch, &best, ret_estimate, error);
    else
        is_done = backend_find_layouts(b, g, b->scratch, &layouts, error) &&
                  backend_estimate_with(b, g, layouts, ret_estimate, error);
    arena_release(b->scratch, mark);
    return is_done;
}

bool backend_visit_steps(struct backend *b, const struct graph *g, visit_step_fn *visit, void *context,
                         struct error *error)
{
    struct arena arena;
    struct plan plan = {0};
    const uint8_t *layouts;
    arena_init(&arena);
    bool is_done =
        backend_find_layouts(b, g, &arena, &layouts, error) && make_plan(b, g, layouts, &arena, &plan, error);
    for (size_t i = 0; is_done && i < plan.steps.count; i++) {
        struct step_cost cost;
        if (plan.steps.items[i].is_constant)
            continue;
        is_done = backend_step_cost(b, &plan, &plan.steps.items[i], &cost, error);
        if (is_done)
            visit(context, &plan, &plan.steps.items[i], &cost);
    }
    if (plan.graph)
        plan_free(&plan);
    arena_free(&arena);
    return is_done;
}

bool backend_hash_plan(struct backend *b, const struct graph *g, uint64_t *ret_hash, struct error *error)
{
    struct arena arena;
    struct plan plan = {0};
    const uint8_t *layouts;
    struct words *words = &b->memory->words;
    arena_init(&arena);
    bool is_done =
        backend_find_layouts(b, g, &arena, &layouts, error) && make_plan(b, g, layouts, &arena, &plan, error);
    *ret_hash = 0;
    for (size_t i = 0; is_done && i < plan.steps.count; i++) {
        step_spell(&plan, &plan.steps.items[i], words);
        *ret_hash = hash_bytes(words->list.items, words->list.count * sizeof *words->list.items, *ret_hash);
    }
    if (plan.graph)
        plan_free(&plan);
    arena_free(&arena);
    return is_done;
}

bool backend_has_room(struct backend *b, const struct graph *g, struct error *error)
{
    struct arena arena;
    struct plan plan = {0};
    arena_init(&arena);
    struct error ignored = {0};
    bool has_room = true;
    if (make_plan(b, g, NULL, &arena, &plan, &ignored)) {
        plan_lay_out_memory(&plan);
        has_room = plan_has_room(&plan, error);
    }
    if (plan.graph)
        plan_free(&plan);
    arena_free(&arena);
    return has_room;
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

static bool list_steps(struct backend *b, const struct graph *g, bool only_guesses, struct text *out,
                       struct error *error)
{
    struct arena arena;
    struct plan plan = {0};
    arena_init(&arena);
    const uint8_t *layouts;
    bool is_done =
        backend_find_layouts(b, g, &arena, &layouts, error) && make_plan(b, g, layouts, &arena, &plan, error);
    struct priced_step *priced = is_done ? arena_array(&arena, struct priced_step, plan.steps.count + 1) : NULL;
    size_t n = 0;
    for (size_t i = 0; is_done && i < plan.steps.count; i++) {
        if (plan.steps.items[i].is_constant)
            continue;
        priced[n].step = &plan.steps.items[i];
        is_done = backend_step_cost(b, &plan, priced[n].step, &priced[n].cost, error);
        n += !only_guesses || priced[n].cost.is_guessed;
    }
    if (is_done && n)
        qsort(priced, n, sizeof *priced, compare_prices);
    for (size_t i = 0; is_done && i < n; i++) {
        text_printf(out, "%10.2f us ", priced[i].cost.seconds * 1e6);
        if (priced[i].cost.is_guessed)
            text_add(out, "guessed ");
        else
            text_printf(out, "%5.1f%%  ", priced[i].cost.spread * 100);
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

bool backend_explain(struct backend *b, const struct graph *g, struct text *out, struct error *error)
{
    return list_steps(b, g, false, out, error);
}

bool backend_list_guesses(struct backend *b, const struct graph *g, struct text *out, struct error *error)
{
    return list_steps(b, g, true, out, error);
}

// --- models ----------------------------------------------------------------------------------------------------------

struct model *backend_prepare(struct backend *b, const struct graph *g, size_t n_weights,
                              const struct tensor_value *weights, struct error *error)
{
    struct arena arena;
    const uint8_t *layouts;
    arena_init(&arena);
    struct model *m = backend_find_layouts(b, g, &arena, &layouts, error)
                          ? backend_prepare_with(b, g, layouts, n_weights, weights, error)
                          : NULL;
    arena_free(&arena);
    return m;
}

struct model *backend_prepare_with(struct backend *b, const struct graph *g, const uint8_t *layouts, size_t n_weights,
                                   const struct tensor_value *weights, struct error *error)
{
    struct given_weights given = {n_weights, weights, b->options.weights};
    return backend_prepare_from(b, g, layouts, &given, error);
}

struct model *backend_prepare_from(struct backend *b, const struct graph *g, const uint8_t *layouts,
                                   const struct given_weights *weights, struct error *error)
{
    if (b->methods->prepare)
        return b->methods->prepare(b, g, layouts, weights, error);
    error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s is not here: its costs are known, but nothing can be run on it",
                   b->device);
    return NULL;
}

bool backend_can_run(const struct backend *b)
{
    return b->methods->prepare != NULL;
}

bool model_run(struct model *m, const struct tensor_value *inputs, struct tensor_value *outputs, struct error *error)
{
    return m->backend->methods->run(m, inputs, outputs, error);
}

bool model_time(struct model *m, const struct tensor_value *inputs, struct tensor_value *outputs, double *ret_seconds,
                struct error *error)
{
    if (m->backend->methods->time)
        return m->backend->methods->time(m, inputs, outputs, ret_seconds, error);
    double start = clock_seconds();
    bool is_done = model_run(m, inputs, outputs, error);
    *ret_seconds = clock_seconds() - start;
    return is_done;
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

void model_list_packed(const struct model *m, packed_weights *list)
{
    if (m->backend->methods->list_packed)
        m->backend->methods->list_packed(m, list);
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
    if (!cost_database_open(&b->costs, file, b->device, error))
        return false;
    cost_database_warn(b->costs, b->options.log);
    return true;
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
    b->layout_memory = layout_memory_new();
    b->in_model = in_model_notes_new();
    b->memory = mem_alloc_zero(sizeof *b->memory);
    arena_init(&b->memory->arena);
    b->scratch = mem_alloc_zero(sizeof *b->scratch);
    arena_init(b->scratch);
    return true;
}

bool backend_save_costs(struct backend *b, struct error *error)
{
    return cost_database_write(b->costs, error);
}

void backend_forget_costs(struct backend *b)
{
    vec_clear(&b->memory->steps);
    table_clear(&b->memory->table);
    layout_memory_free(b->layout_memory);
    b->layout_memory = layout_memory_new();
}

void backend_finish(struct backend *b)
{
    struct error error = {0};
    if (!cost_database_write(b->costs, &error))
        log_warning(b->options.log, "%s: %s", error.file, error.message);
    cost_database_free(b->costs);
    code_cache_free(b->codes);
    in_model_notes_free(b->in_model);
    layout_memory_free(b->layout_memory);
    vec_free(&b->memory->steps);
    vec_free(&b->memory->words.list);
    table_free(&b->memory->table);
    arena_free(&b->memory->arena);
    arena_free(b->scratch);
    mem_free(b->scratch, sizeof *b->scratch);
    mem_free(b->memory, sizeof *b->memory);
}

void backend_rest(struct backend *b)
{
    if (b->methods->rest)
        b->methods->rest(b);
    mem_give_back();
}

void backend_close(struct backend *b)
{
    if (b)
        b->methods->close(b);
}
