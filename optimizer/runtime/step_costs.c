// Groups of nodes as small models, timed in the worker and kept in the cost database by their text.
#include "optimizer/runtime/step_costs.h"

#include "backends/contract/backend.h"
#include "backends/costs/cost_database.h"
#include "core/memory/arena.h"
#include "core/memory/key_set.h"
#include "core/numbers/statistics.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "graph/graph_whole.h"
#include "graph/text.h"
#include "onnx/convert/export/export_alone.h"
#include "optimizer/limits.def"
#include "optimizer/runtime/channel_blocks.h"
#include "optimizer/runtime/session_shares.h"
#include "optimizer/runtime/step_groups.h"
#include <math.h>
#include <string.h>

// A group in sessions: the sum of what all its occurrences took. Its kind is that of step_groups_kind.
struct session_note {
    const char *text;
    double seconds, alone;   // alone: of one, NAN where it is not known
    double adopted;          // of one; NAN: not yet
    uint32_t n;
    enum operator_id kind;
    bool is_of_original;
};

struct step_costs {
    struct coster base;
    struct worker *worker;
    struct step_costs_options options;
    struct cost_database *costs;
    double overhead;                        // of one run of a model, beside its nodes
    const struct weight_source *original;   // of the graphs that are priced now; NULL: they are candidates
    struct arena arena;                     // of what failed
    struct key_set failures;                // texts of groups: nobody asks twice while the program runs
    VEC(double) guesses;                    // what each failure is taken to cost: infinite where it is a candidate's
    struct key_set noted;                   // texts of groups that were seen in sessions
    VEC(struct session_note) notes;         // of each
    bool are_adopted;                       // notes are believed
    double hope;                            // share that other groups cost less
};

// --- measuring -------------------------------------------------------------------------------------------------------

// Runs that other programs came between are told as less than 0. They have to do where there are few others.
static bool drop_disturbed(double *seconds, size_t *n)
{
    size_t n_quiet = COUNT(size_t, i, *n, seconds[i] >= 0);
    bool are_enough = n_quiet >= ENOUGH_GROUP_RUNS;
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++)
        if (seconds[i] >= 0 || !are_enough)
            seconds[kept++] = fabs(seconds[i]);
    *n = kept;
    return are_enough;
}

// The runs that are left when those that were disturbed are gone.
static struct step_cost summarize(double *seconds, size_t n)
{
    bool is_quiet = drop_disturbed(seconds, &n);
    double shortest = SMALLEST(double, INFINITY, size_t, i, n, seconds[i]);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (seconds[i] <= DISTURBED * shortest)
            seconds[kept++] = seconds[i];
    struct sample_summary summary = sample_summarize(seconds, kept);
    return (struct step_cost){.seconds = summary.median,
                              .spread = summary.spread,
                              .is_doubtful = !is_quiet || summary.spread > DOUBTFUL_SPREAD || kept < ENOUGH_GROUP_RUNS};
}

static bool run_with_weights(struct step_costs *c, const struct graph *g, const struct alone_weights *weights,
                             bool is_cold, struct step_cost *ret_cost, struct error *error)
{
    ARENA(arena);
    struct onnx_bytes bytes;
    LOCAL_LIST(worker_numbers, seconds);
    bool is_run = export_alone(g, c->options.opset, weights, &arena, &bytes, error) &&
                  worker_load_bytes(c->worker, "part", bytes.at, bytes.size, error) &&
                  worker_time_bound(c->worker, "part", is_cold, SECONDS_PER_GROUP, LEAST_GROUP_RUNS, &seconds, error);
    if (is_run)
        *ret_cost = summarize(seconds.items, seconds.count);
    return is_run;
}

static bool has_integers(const struct graph *g)
{
    return ANY(node_id, n, g->nodes.count,
               g->nodes.items[n].op->id == OP_WEIGHT &&
                   !dtype_is_float(graph_type(g, g->nodes.items[n].first_output)->dtype));
}

// Integers that nobody knows may be divisors, which are not 0, or indices of an axis that has one entry.
static bool run_alone(struct step_costs *c, const struct graph *g, const void *const *elements, bool is_cold,
                      struct step_cost *ret_cost, struct error *error)
{
    struct alone_weights weights = {.elements = elements, .integer = 1};
    if (run_with_weights(c, g, &weights, is_cold, ret_cost, error))
        return true;
    weights.integer = 0;
    return !c->worker->is_gone && has_integers(g) && run_with_weights(c, g, &weights, is_cold, ret_cost, error);
}

static bool add_exponentials(struct graph *g, const struct type *type, int n)
{
    tensor_id last = graph_add_leaf(g, operators[OP_INPUT], 0, type);
    bool is_built = true;
    for (int i = 0; is_built && i < n; i++) {
        node_id node;
        is_built = graph_add(g, operators[OP_EXP], NULL, 1, &last, &node);
        last = is_built ? graph_output_of(g, node, 0) : last;
    }
    graph_add_output(g, last);
    return is_built;
}

typedef bool add_chain(struct graph *g, const struct type *type, int n);

static bool time_chain(struct step_costs *c, add_chain *add, const struct type *type, int n, double *ret_seconds,
                       struct error *error)
{
    ARENA(arena);
    struct graph g FREED_BY(graph_free);
    struct step_cost cost = {0};
    graph_init(&g, &arena);
    bool is_timed = add(&g, type, n) && run_alone(c, &g, NULL, false, &cost, error);
    *ret_seconds = cost.seconds;
    return is_timed;
}

// The seconds of a run that are of no node of a chain: what one takes, less the ninth part of what nine do beside that.
static bool time_beside_chain(struct step_costs *c, add_chain *add, const struct type *type, double *ret_seconds,
                              struct error *error)
{
    double one, many;
    if (!time_chain(c, add, type, 1, &one, error) || !time_chain(c, add, type, 9, &many, error))
        return false;
    *ret_seconds = fmax(0, one - fmax(0, many - one) / 8);
    return true;
}

static bool measure_overhead(struct step_costs *c, struct error *error)
{
    struct type one = type_make(DTYPE_F32, 0, NULL);
    return time_beside_chain(c, add_exponentials, &one, &c->overhead, error);
}

// Bound by reading its weights, which are not there any more when their turn comes again.
static bool has_cold_weights(const struct step_costs *c, const struct graph *g)
{
    size_t weights = graph_bytes_of_leaves(g, OP_WEIGHT);
    return c->options.weight_bytes > CACHED_WEIGHTS && weights > WORTH_COOLING &&
           weights > graph_bytes_of_leaves(g, OP_INPUT);
}

// Ours and the worker's.
static double processor_seconds(const struct step_costs *c)
{
    return clock_cpu_seconds() + process_cpu_seconds(&c->worker->process);
}

static size_t bytes_of_group(const struct graph *g)
{
    return graph_bytes_of_leaves(g, OP_WEIGHT) + graph_bytes_of_leaves(g, OP_INPUT);
}

static double guessed_seconds(const struct graph *g)
{
    return fmax((double)bytes_of_group(g) / GUESSED_BYTES_PER_SECOND, LEAST_COST);
}

// A part of a graph as a small model. Elements are those of its weights, NULL where they are made up.
struct group {
    struct graph graph;
    const void *const *elements;
    bool is_cold;
    enum operator_id kind;
    struct text text;   // by what its costs are known
};

static bool measure(struct step_costs *c, const struct group *group, const char *text, struct step_cost *ret_cost)
{
    struct error error = {0};
    const struct graph *g = &group->graph;
    double started = clock_seconds(), processor_started = processor_seconds(c);
    if (bytes_of_group(g) > LARGEST_GROUP)
        *ret_cost = (struct step_cost){.seconds = guessed_seconds(g), .is_guessed = true, .is_doubtful = true};
    else if (run_alone(c, g, group->elements, group->is_cold, ret_cost, &error))
        ret_cost->seconds = fmax(ret_cost->seconds - c->overhead, LEAST_COST);
    else {
        log_info(c->options.log, "%s: %s", error.message, text);
        return false;
    }
    c->base.measured.n_steps++;
    c->base.measured.seconds += clock_seconds() - started;
    c->base.measured.processor_seconds += processor_seconds(c) - processor_started;
    log_debug(c->options.log, "measured %.3g s: %s", ret_cost->seconds, text);
    return true;
}

// --- costs -----------------------------------------------------------------------------------------------------------

static uint32_t find_failure(const struct step_costs *c, const struct text *text)
{
    return key_set_find(&c->failures, text->chars, text->count);
}

// The original has it in any case, and its neighbours may be rewritten; a candidate with it is none.
static double note_failure(struct step_costs *c, const struct graph *g, const struct text *text)
{
    double seconds = c->original && !c->worker->is_gone ? guessed_seconds(g) : INFINITY;
    key_set_add(&c->failures, &c->arena, text->chars, text->count);
    vec_push(&c->guesses, seconds);
    return seconds;
}

static double measured_cost(struct step_costs *c, const struct group *group)
{
    const char *text = group->text.chars;
    struct step_cost cost = {0};
    if (c->worker->is_gone || !measure(c, group, text, &cost))
        return note_failure(c, &group->graph, &group->text);
    cost_database_try(c->costs, text, &cost, c->options.log);
    cost_database_find(c->costs, text, &cost);
    return cost.seconds;
}

// A cost on trial is not known where nothing may be measured: then somebody asks who may.
static bool find_alone(const struct step_costs *c, const struct group *group, double *ret_seconds)
{
    struct step_cost cost;
    if (!cost_database_find(c->costs, group->text.chars, &cost) || cost.seconds >= LONGEST_STEP ||
        (c->options.tries_costs && cost_database_is_on_trial(c->costs, group->text.chars, &cost) &&
         !interrupt_requested()))
        return false;
    *ret_seconds = cost.seconds;
    return true;
}

static double cost_alone(struct step_costs *c, const struct group *group, bool only_recalls)
{
    double seconds;
    uint32_t failure = find_failure(c, &group->text);
    return find_alone(c, group, &seconds) ? seconds
           : failure != KEY_NONE          ? c->guesses.items[failure]
           : only_recalls                 ? NAN
           : interrupt_requested()        ? INFINITY
                                          : measured_cost(c, group);
}

// A change that cannot be measured is taken to cost nothing, as long as the program runs.
static double measured_change(struct step_costs *c, const struct type *type, const struct text *text)
{
    struct step_cost cost = {0};
    struct error error = {0};
    double started = clock_seconds(), processor_started = processor_seconds(c);
    if (c->worker->is_gone || type_bytes(type) > LARGEST_IMAGE ||
        !time_beside_chain(c, channel_blocks_chain, type, &cost.seconds, &error)) {
        key_set_add(&c->failures, &c->arena, text->chars, text->count);
        vec_push(&c->guesses, 0);
        return 0;
    }
    cost.seconds = fmax((cost.seconds - c->overhead) / 2, LEAST_COST);
    c->base.measured.seconds += clock_seconds() - started;
    c->base.measured.processor_seconds += processor_seconds(c) - processor_started;
    cost_database_try(c->costs, text->chars, &cost, c->options.log);
    log_debug(c->options.log, "measured %.3g s: %s", cost.seconds, text->chars);
    return cost.seconds;
}

// The seconds of bringing a tensor into blocks of channels, or out of them, as cost_alone tells those of groups.
static double cost_of_change(struct step_costs *c, const struct type *type, bool only_recalls)
{
    struct text text FREED_BY(text_free) = {0};
    struct step_cost cost;
    text_add(&text, "blocks of ");
    type_print(&text, type);
    uint32_t failure = find_failure(c, &text);
    return cost_database_find(c->costs, text.chars, &cost) ? cost.seconds
           : failure != KEY_NONE                           ? c->guesses.items[failure]
           : only_recalls                                  ? NAN
           : interrupt_requested()                         ? INFINITY
                                                           : measured_change(c, type, &text);
}

// Alone, but for changes of layouts that its neighbours may spare it.
static double cost_in_blocks(struct step_costs *c, const struct step_groups *groups, node_id first,
                             const struct group *group, bool only_recalls)
{
    tensor_id changed[2];
    double alone = cost_alone(c, group, only_recalls), changes = 0;
    for (int i = channel_blocks_of_group(groups, channel_block_here(), first, changed); i-- > 0 && isfinite(alone);)
        changes += cost_of_change(c, graph_type(groups->graph, changed[i]), only_recalls);
    return !isfinite(changes) ? changes : fmax(alone - changes, alone * LEAST_IN_BLOCKS);
}

static struct session_note *note_of(const struct step_costs *c, const struct group *group)
{
    uint32_t id = key_set_find(&c->noted, group->text.chars, group->text.count + 1);
    return id != KEY_NONE ? &c->notes.items[id] : NULL;
}

static bool is_adopted(const struct session_note *note)
{
    return note && !isnan(note->adopted);
}

// The ratio of one kind, or of all (OP_COUNT); NAN: no session had any.
static double ratio_of(const struct step_costs *c, enum operator_id kind)
{
    double in_session = 0, alone = 0;
    vec_each(&c->notes, note) {
        if ((note->kind == kind || kind == OP_COUNT) && isfinite(note->alone)) {
            in_session += note->seconds;
            alone += note->alone * note->n;
        }
    }
    return alone > 0 ? fmin(fmax(in_session / alone, LEAST_RATIO), MOST_RATIO) : NAN;
}

// Kinds that no session had are like all others.
static double ratio_of_kind(const struct step_costs *c, enum operator_id kind)
{
    double own = ratio_of(c, kind);
    return isnan(own) ? ratio_of(c, OP_COUNT) : own;
}

static double cost_of_group(struct step_costs *c, const struct step_groups *groups, node_id first,
                            const struct group *group, bool only_recalls)
{
    const struct session_note *note = note_of(c, group);
    if (is_adopted(note))
        return note->adopted;
    double seconds = cost_in_blocks(c, groups, first, group, only_recalls);
    return c->are_adopted ? seconds * ratio_of_kind(c, group->kind) * (1 - c->hope) : seconds;
}

static bool is_kept(const struct type *type)
{
    return dtype_is_float(type->dtype) ? type_elements(type) <= KEPT_REALS : type_bytes(type) <= KEPT_BYTES;
}

// The model's own constants, where the graph that is priced has them as leaves.
static const void *own_elements(const struct step_costs *c, const struct graph *g, tensor_id t, struct arena *arena)
{
    const struct node *leaf = t == NO_TENSOR ? NULL : graph_producer(g, t);
    struct error ignored;
    if (!leaf || leaf->op->id != OP_WEIGHT || !is_kept(graph_type(g, t)))
        return NULL;
    size_t index = (size_t)leaf->attributes[0].ints[0], size = type_bytes(graph_type(g, t));
    const void *data = c->original->acquire(c->original->context, index, &ignored);
    if (!data)
        return NULL;
    void *copy = memcpy(arena_alloc(arena, size + 1, 64), data, size);
    c->original->release(c->original->context, index, data);
    return copy;
}

static void extract_group(struct step_costs *c, const struct step_groups *groups, node_id first, struct arena *arena,
                          struct group *ret_group)
{
    const struct graph *g = groups->graph;
    tensor_id *weights = arena_array(arena, tensor_id, g->tensors.count + 1);
    *ret_group = (struct group){.elements = NULL};
    step_groups_extract(groups, first, &ret_group->graph, weights);
    ret_group->is_cold = has_cold_weights(c, &ret_group->graph);
    ret_group->kind = step_groups_kind(groups, first);
    text_add(&ret_group->text, ret_group->is_cold ? "cold " : "");
    graph_print(&ret_group->text, &ret_group->graph);
    if (!c->original)
        return;
    const void **elements = arena_array(arena, const void *, ret_group->graph.nodes.count + 1);
    size_t n_weights = 0;
    for (node_id n = 0; n < ret_group->graph.nodes.count; n++)
        if (ret_group->graph.nodes.items[n].op->id == OP_WEIGHT) {
            elements[n_weights] = own_elements(c, g, weights[n_weights], arena);
            n_weights++;
        }
    ret_group->elements = elements;
}

static void free_group(struct group *group)
{
    graph_free(&group->graph);
    text_free(&group->text);
}

// Changes of layouts between groups. What sessions tell of two groups has those between them.
static double cost_of_changes(struct step_costs *c, const struct step_groups *groups, const bool *is_told,
                              bool only_recalls)
{
    const struct graph *g = groups->graph;
    struct channel_blocks blocks;
    bool *is_paid = arena_array(groups->arena, bool, g->tensors.count + 1);
    double seconds = 0;
    channel_blocks_find(&blocks, groups, channel_block_here());
    for (node_id n = 0; n < g->nodes.count; n++)
        for (uint32_t i = 0; groups->is_run[n] && i < g->nodes.items[n].n_inputs; i++) {
            tensor_id t = graph_inputs(g, n)[i];
            node_id maker = groups->first[g->tensors.items[t].producer], reader = groups->first[n];
            bool is_between = maker != reader && !(is_told[reader] && (maker == NO_NODE || is_told[maker]));
            if (!is_between || is_paid[t] || !channel_blocks_differ(&blocks, n, t))
                continue;
            is_paid[t] = true;
            seconds += cost_of_change(c, graph_type(g, t), only_recalls);
        }
    return seconds;
}

static bool estimate(struct coster *coster, const struct graph *g, bool only_recalls, struct estimate *ret_estimate)
{
    struct step_costs *c = (struct step_costs *)coster;
    ARENA(arena);
    struct step_groups groups;
    double seconds = 0;
    bool *is_told = arena_array(&arena, bool, g->nodes.count + 1);
    step_groups_find(&groups, g, &arena);
    for (node_id n = 0; n < g->nodes.count && isfinite(seconds); n++) {
        if (!step_groups_is_first(&groups, n))
            continue;
        ARENA_MARK(mark, &arena);
        struct group group FREED_BY(free_group);
        extract_group(c, &groups, n, &arena, &group);
        is_told[n] = is_adopted(note_of(c, &group));
        seconds += cost_of_group(c, &groups, n, &group, only_recalls);
    }
    if (isfinite(seconds))
        seconds += cost_of_changes(c, &groups, is_told, only_recalls);
    *ret_estimate = (struct estimate){.seconds = seconds};
    return isfinite(seconds);
}

// --- sessions --------------------------------------------------------------------------------------------------------

// All groups of a graph.
struct grouped {
    struct step_groups groups;
    struct arena arena;
    struct group *all;   // by their first nodes
    double *alone, *seconds;
};

static void open_grouped(struct step_costs *c, const struct graph *g, struct grouped *ret)
{
    arena_init(&ret->arena);
    step_groups_find(&ret->groups, g, &ret->arena);
    ret->all = arena_array(&ret->arena, struct group, g->nodes.count + 1);
    ret->alone = arena_array(&ret->arena, double, g->nodes.count + 1);
    ret->seconds = arena_array(&ret->arena, double, g->nodes.count + 1);
    for (node_id n = 0; n < g->nodes.count; n++)
        if (step_groups_is_first(&ret->groups, n)) {
            extract_group(c, &ret->groups, n, &ret->arena, &ret->all[n]);
            ret->alone[n] = cost_in_blocks(c, &ret->groups, n, &ret->all[n], true);
        }
}

static void close_grouped(struct grouped *r)
{
    for (node_id n = 0; n < r->groups.graph->nodes.count; n++)
        if (step_groups_is_first(&r->groups, n))
            free_group(&r->all[n]);
    arena_free(&r->arena);
}

static void note_group(struct step_costs *c, const struct group *group, double alone, double seconds, bool is_original)
{
    uint32_t id = key_set_add(&c->noted, &c->arena, group->text.chars, group->text.count + 1);
    if (id == c->notes.count)
        vec_push(&c->notes, ((struct session_note){c->noted.keys.items[id].bytes, .alone = alone, .adopted = NAN,
                                                   .kind = group->kind}));
    c->notes.items[id].seconds += seconds;
    c->notes.items[id].n++;
    c->notes.items[id].is_of_original = is_original;
}

static struct session_note *note_of_original(const struct step_costs *c, const struct group *group)
{
    struct session_note *note = note_of(c, group);
    return note && note->is_of_original ? note : NULL;
}

// A node of the original costs what it does there, and all that a rewrite makes longer or shorter around it is counted
// as the rewrite's, so that the sum is the whole.
static void lay_to_rewrites(const struct step_costs *c, struct grouped *r)
{
    double whole = 0, known = 0, fresh = 0;
    for (node_id n = 0; n < r->groups.graph->nodes.count; n++) {
        if (!step_groups_is_first(&r->groups, n))
            continue;
        const struct session_note *former = note_of_original(c, &r->all[n]);
        whole += r->seconds[n];
        *(former ? &known : &fresh) += former ? former->seconds / former->n : r->seconds[n];
    }
    double scale = fresh > 0 ? fmin(fmax((whole - known) / fresh, 1 / MOST_LAID), MOST_LAID) : 1;
    for (node_id n = 0; n < r->groups.graph->nodes.count; n++)
        r->seconds[n] *= scale;
}

static void note_grouped(struct step_costs *c, const struct grouped *r, bool is_original)
{
    for (node_id n = 0; n < r->groups.graph->nodes.count; n++)
        if (step_groups_is_first(&r->groups, n) && (is_original || !note_of_original(c, &r->all[n])))
            note_group(c, &r->all[n], r->alone[n], r->seconds[n], is_original);
}

void step_costs_note_session(struct coster *coster, const struct graph *g, const double *seconds, bool is_original)
{
    struct step_costs *c = (struct step_costs *)coster;
    struct grouped r FREED_BY(close_grouped);
    open_grouped(c, g, &r);
    session_shares(&r.groups, r.alone, seconds, r.seconds);
    if (!is_original)
        lay_to_rewrites(c, &r);
    note_grouped(c, &r, is_original);
}

double step_costs_note_original_again(struct coster *coster, const struct graph *original, double seconds)
{
    struct step_costs *c = (struct step_costs *)coster;
    struct session_note *note;
    struct grouped r FREED_BY(close_grouped);
    double noted = 0;
    open_grouped(c, original, &r);
    for (node_id n = 0; n < original->nodes.count; n++)
        if (step_groups_is_first(&r.groups, n) && (note = note_of_original(c, &r.all[n])))
            noted += r.seconds[n] = note->seconds / note->n;
    for (node_id n = 0; n < original->nodes.count && seconds < noted; n++)
        if (step_groups_is_first(&r.groups, n) && (note = note_of_original(c, &r.all[n])))
            note->seconds = r.seconds[n] * note->n * (seconds / noted);
    return noted > 0 ? fmax(seconds / noted, 1) : 1;
}

bool step_costs_know_session(struct coster *coster, const struct graph *g)
{
    struct step_costs *c = (struct step_costs *)coster;
    struct grouped r FREED_BY(close_grouped);
    bool are_known = true;
    open_grouped(c, g, &r);
    for (node_id n = 0; are_known && n < g->nodes.count; n++)
        are_known = !step_groups_is_first(&r.groups, n) || is_adopted(note_of(c, &r.all[n]));
    return are_known;
}

static void adopt_note(struct session_note *note, cost_corrections *corrections)
{
    double known = fmin(isnan(note->adopted) ? note->alone : note->adopted, INFINITY);
    note->adopted = fmax(note->seconds / note->n, LEAST_COST);
    if (!(fabs(note->adopted - known) <= CORRECTED * known))
        vec_push(corrections, ((struct cost_correction){note->text, known, note->adopted, note->n}));
}

void step_costs_adopt_sessions(struct coster *coster, cost_corrections *corrections)
{
    struct step_costs *c = (struct step_costs *)coster;
    for (size_t i = 0; i < c->notes.count; i++)
        adopt_note(&c->notes.items[i], corrections);
    c->are_adopted = c->notes.count > 0;
}

void step_costs_hope(struct coster *coster, double share)
{
    struct step_costs *c = (struct step_costs *)coster;
    c->hope = share;
}

// --- opening ---------------------------------------------------------------------------------------------------------

static bool open_database(struct step_costs *c, struct error *error)
{
    char device[600];
    snprintf(device, sizeof device, "%s on %s", c->worker->name, c->options.device);
    return cost_database_open_for(&c->costs, c->options.cost_file, "onnxruntime", device, c->options.log, error);
}

struct coster *step_costs_open(struct worker *w, const struct step_costs_options *options, struct error *error)
{
    struct step_costs *c = mem_alloc_zero(sizeof *c);
    *c = (struct step_costs){.base.estimate = estimate, .worker = w, .options = *options};
    if (open_database(c, error) && measure_overhead(c, error))
        return &c->base;
    step_costs_close(&c->base);
    return NULL;
}

size_t step_costs_price_original(struct coster *coster, const struct weight_source *weights,
                                 double (*price)(void *context), void *context)
{
    struct step_costs *c = (struct step_costs *)coster;
    size_t n_failures = c->failures.keys.count;
    c->original = weights;
    price(context);
    c->original = NULL;
    return c->failures.keys.count - n_failures;
}

bool step_costs_save_last(struct coster *coster, struct error *error)
{
    struct step_costs *c = (struct step_costs *)coster;
    return !c || cost_database_write_last(c->costs, error);
}

void step_costs_close(struct coster *coster)
{
    struct step_costs *c = (struct step_costs *)coster;
    struct error error = {0};
    if (!c)
        return;
    if (c->costs && !cost_database_write(c->costs, &error))
        log_warning(c->options.log, "%s", error.message);
    if (c->costs)
        cost_database_free(c->costs);
    key_set_free(&c->failures);
    key_set_free(&c->noted);
    vecs_free(c, notes, guesses);
    arena_free(&c->arena);
    mem_free(c, sizeof *c);
}
