// The cost of one step of a plan: from memory, from the database, measured now, or guessed.
#include "backends/costs/step_cost.h"

#include "backends/costs/cost_database.h"
#include "backends/limits.def"
#include "backends/planning/plan_memory.h"
#include "backends/planning/plan_text.h"
#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/memory/key_set.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "operators/traits.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// Prices by the words of a step, found without making its text: of the step, and of the last measured one of those that
// differ from it in the epilogue alone, as they choose alike, and err alike.
struct prices_by_words {
    struct arena arena;
    struct key_set steps;
    VEC(struct step_prices) prices;
};
struct known_step {
    uint64_t kind;
    double work;
    struct step_cost cost;
};
struct step_memory {
    struct prices_by_words own, near;
    VEC(struct known_step) known;   // what was measured, for what is like it (predict)
    struct arena arena;
    struct key_set taken_back;   // texts of steps
    struct key_set expected;     // keys of steps whose choices were made ready
    struct words words;          // of the step being looked for
};

static void forget_prices(struct prices_by_words *p)
{
    key_set_free(&p->steps);
    vec_free(&p->prices);
    arena_free(&p->arena);
    *p = (struct prices_by_words){0};
}

struct step_memory *step_memory_new(void)
{
    return mem_alloc_zero(sizeof(struct step_memory));
}

void step_memory_free(struct step_memory *memory)
{
    forget_prices(&memory->own);
    forget_prices(&memory->near);
    key_set_free(&memory->taken_back);
    key_set_free(&memory->expected);
    arena_free(&memory->arena);
    vecs_free(memory, words.list, known);
    mem_free(memory, sizeof *memory);
}

void backend_forget_costs(struct backend *b)
{
    forget_prices(&b->memory->own);
    vec_clear(&b->memory->known);
    b->cost_edition++;
}

void backend_take_back(struct backend *b, const char *step)
{
    key_set_add(&b->memory->taken_back, &b->memory->arena, step, strlen(step));
    backend_forget_costs(b);
}

void backend_take_back_as(struct backend *b, const struct backend *other)
{
    const struct key_set *texts = &other->memory->taken_back;
    for (size_t i = 0; i < texts->keys.count; i++)
        key_set_add(&b->memory->taken_back, &b->memory->arena, texts->keys.items[i].bytes, texts->keys.items[i].size);
    backend_forget_costs(b);
}

static bool is_taken_back(const struct backend *b, const struct plan *plan, const struct step *step)
{
    TEXT(text);
    if (b->memory->taken_back.keys.count == 0)
        return false;
    step_print(&text, plan, step);
    return key_set_find(&b->memory->taken_back, text.chars, text.count) != KEY_NONE;
}

// A guess for what cannot be measured: bytes at 10 GB/s, operations at 100 a nanosecond, and a launch.
static double guess_seconds(const struct plan *plan, const struct step *step)
{
    struct step_work w = step_work(plan, step);
    return 2e-6 + (w.bytes_read + w.bytes_written) / 1e10 + w.operations / 1e11;
}

#define WEIGHTS_OF_A_SMALL_MODEL ((size_t)8 << 20)   // a last cache keeps them, even if others share it
#define SMALL_MODEL " near"                          // at the end of a key
// The precision stands behind that.
static const char *const marks_of_precision[N_PRECISIONS] = {"", " inexact"};

void backend_expect_model(struct backend *b, size_t weight_bytes)
{
    bool is_small = weight_bytes <= WEIGHTS_OF_A_SMALL_MODEL;
    if (is_small == b->measuring.has_small_model)
        return;
    b->measuring.has_small_model = is_small;
    backend_forget_costs(b);
}

static bool reads_weights(const struct plan *plan, const struct step *step)
{
    return ANY(int, i, step->n_operands, plan_keeps(plan, step->operands[i].memory));
}

static void add_context(const struct backend *b, const struct plan *plan, const struct step *step, struct text *text)
{
    if (b->measuring.has_small_model && b->methods->knows_small_models && reads_weights(plan, step))
        text_add(text, SMALL_MODEL);
}

struct step_key step_key_of(const struct backend *b, const struct plan *plan, const struct step *step,
                            enum precision precision)
{
    struct step_key key = {{0}, 1};
    if (b->methods->has_exact_costs)
        step_print(&key.text, plan, step);
    else
        key.n_parts = step_print_key(&key.text, plan, step);
    add_context(b, plan, step, &key.text);
    text_add(&key.text, marks_of_precision[precision]);
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

// A database that was written with the step's own text serves, too; and, where nothing is measured, the costs of
// weights that are not near.
static bool recall_otherwise(struct backend *b, const struct plan *plan, const struct step *step,
                             enum precision precision, struct step_cost *ret_cost)
{
    bool is_known = false;
    for (int way = 0; !is_known && way < (b->options.never_measures ? 3 : 1); way++) {
        struct step_key key FREED_BY(step_key_free) = {{0}, 1};
        if (way == 1)
            key.n_parts = step_print_key(&key.text, plan, step);
        else
            step_print(&key.text, plan, step);
        if (way == 0)
            add_context(b, plan, step, &key.text);
        text_add(&key.text, marks_of_precision[precision]);
        is_known = recall(b, &key, ret_cost);
    }
    return is_known;
}

static struct step_prices *prices_of(struct backend *b, const struct plan *plan, const struct step *step, bool is_near)
{
    struct step bare = *step;
    bare.n_loops = is_near ? 0 : step->n_loops;
    struct prices_by_words *p = is_near ? &b->memory->near : &b->memory->own;
    struct words *words = &b->memory->words;
    step_encode(plan, &bare, words);
    uint32_t id = key_set_add(&p->steps, &p->arena, words->list.items, words->list.count * sizeof *words->list.items);
    if (id == p->prices.count)
        vec_push(&p->prices, ((struct step_prices){.is_taken_back = is_taken_back(b, plan, step)}));
    return &p->prices.items[id];
}

bool backend_is_late(const struct backend *b)
{
    return b->measuring.choices_end > 0 && clock_seconds() > b->measuring.choices_end;
}

static bool is_listed(const choice_list *list, const char *choice)
{
    return ANY(size_t, i, list->count, strcmp(list->items[i].text, choice) == 0);
}

// The choice of a step that differs in the epilogue alone, and the standard one.
static void keep_near_choice(const struct step_cost *near, choice_list *among)
{
    if (near->seconds > 0 && (is_listed(among, "") || is_listed(among, near->choice)))
        vec_keep(among, c, !*c->text || strcmp(c->text, near->choice) == 0);
}

static bool measure(struct backend *b, const struct plan *plan, const struct step *step, const struct step_key *key,
                    choice_list *among, bool is_cut, double best, struct step_cost *ret_cost, struct error *error)
{
    enum precision precision = among->items[0].precision;
    struct step_cost unknown = {0}, *near = &unknown;
    if (step->n_results)
        near = &prices_of(b, plan, step, true)->of[precision];
    keep_near_choice(near, among);
    *ret_cost = (struct step_cost){.error = near->error};
    snprintf(ret_cost->choice, sizeof ret_cost->choice, "%s", near->choice);
    double started = clock_seconds(), processor_started = clock_cpu_seconds();
    if (b->methods->make_ready)
        b->methods->make_ready(b, plan, step, among, false);
    bool is_measured = b->methods->measure(b, plan, step, among, best, ret_cost, error);
    b->coster.measured.seconds += clock_seconds() - started;
    b->coster.measured.processor_seconds += clock_cpu_seconds() - processor_started;
    b->coster.measured.n_steps++;
    if (!is_measured)
        return false;
    log_debug(b->options.log, "measured %.3g s: %s", ret_cost->seconds, key->text.chars);
    ret_cost->is_cut = is_cut;
    ret_cost->is_doubtful = ret_cost->is_doubtful || ret_cost->is_hurried || is_cut;
    if (!is_cut)
        *near = *ret_cost;
    ret_cost->seconds /= key->n_parts;
    if (b->measuring.repairs == REPAIRS_ON_TRIAL)
        cost_database_try(b->costs, key->text.chars, ret_cost, b->options.log);
    else
        cost_database_add(b->costs, key->text.chars, ret_cost);
    return recall(b, key, ret_cost);
}

// Steps that differ from another in their epilogues alone wait for the choice of that one, whose kernels are expected;
// and then until their own ones are.
static bool waits(struct backend *b, const struct plan *plan, const struct step *step, const struct step_key *key,
                  enum precision precision)
{
    const struct step_prices *near = step->n_results ? prices_of(b, plan, step, true) : NULL;
    return near && near->is_expected[precision] &&
           key_set_find(&b->memory->expected, key->text.chars, key->text.count) == KEY_NONE;
}

// Choices that `measure` will try of a step.
static void expect(struct backend *b, const struct plan *plan, const struct step *step, const struct step_key *key,
                   enum precision precision, choice_list *among)
{
    struct step_prices none = {0}, *near = step->n_results ? prices_of(b, plan, step, true) : &none;
    size_t n = b->memory->expected.keys.count;
    bool is_open = near->of[precision].seconds == 0;
    if (!b->methods->make_ready || (is_open && waits(b, plan, step, key, precision)) ||
        key_set_add(&b->memory->expected, &b->memory->arena, key->text.chars, key->text.count) < n)
        return;
    near->is_expected[precision] = near->is_expected[precision] || is_open;
    keep_near_choice(&near->of[precision], among);
    b->methods->make_ready(b, plan, step, among, false);
}

static size_t bytes_of(const struct plan *plan, memory_id id)
{
    const struct plan_memory *m = &plan->memory.items[id];
    return mem_product((size_t)m->elements, dtype_size(m->dtype));
}

// Bytes that a step reads and writes, at most.
static size_t bytes_of_step(const struct plan *plan, const struct step *step)
{
    size_t bytes = 0;
    for (struct touched_memory t = {0}; step_next_memory(step, &t);)
        bytes = mem_sum(bytes, bytes_of(plan, t.memory));
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
    double seconds = b->methods->guess ? b->methods->guess(b, plan, step) : guess_seconds(plan, step);
    *ret_cost = (struct step_cost){.seconds = seconds, .is_guessed = true};
    log_debug(b->options.log, "guessed %.3g s: %s", ret_cost->seconds, key->text.chars);
}

// The rest that a first round left out: ways, or what an earlier run could not know well.
static bool is_wanted_again(const struct backend *b, const struct step_cost *known)
{
    return b->measuring.ways == WAYS_AGAIN && (known->is_cut || (known->is_old && known->is_doubtful));
}

static bool has_to_be_repaired(const struct backend *b, const struct step_key *key, const struct step_cost *known)
{
    if (is_wanted_again(b, known))
        return !b->measuring.only_recalls && !b->options.never_measures && !interrupt_requested();
    if (b->measuring.ways == WAYS_QUICK && known->is_doubtful)
        return false;
    bool is_wanted =
        b->measuring.repairs == REPAIRS_ALL || (b->measuring.repairs != REPAIRS_NOTHING && known->is_doubtful) ||
        (b->measuring.repairs == REPAIRS_ON_TRIAL && cost_database_is_on_trial(b->costs, key->text.chars, known));
    return is_wanted && known->is_old && !b->measuring.only_recalls && !b->options.never_measures &&
           !interrupt_requested() && (b->measuring.repairs_end == 0 || clock_seconds() < b->measuring.repairs_end);
}

static bool takes_inexact(const struct backend *b)
{
    return b->methods->has_inexact_choices && b->options.error_budget > 0;
}

// An exact way that an inexact one beats even if it takes less than is known need not be known well.
static bool is_beaten(struct backend *b, const struct plan *plan, const struct step *step, enum precision precision,
                      const struct step_cost *known)
{
    struct step_cost inexact;
    if (precision != PRECISION_EXACT || !takes_inexact(b) || b->measuring.repairs == REPAIRS_ALL)
        return false;
    struct step_key key FREED_BY(step_key_free) = step_key_of(b, plan, step, PRECISION_INEXACT);
    return recall(b, &key, &inexact) && !inexact.is_doubtful && inexact.error <= b->options.error_budget &&
           MOST_WRONG * inexact.seconds <= known->seconds;
}

// The choices of one precision; the standard one is exact, where nothing is listed.
static void list_choices(struct backend *b, const struct plan *plan, const struct step *step, enum precision precision,
                         choice_list *list)
{
    if (b->methods->list_choices)
        b->methods->list_choices(b, plan, step, list);
    else
        vec_push(list, ((struct listed_choice){.text = ""}));
    vec_keep(list, c, c->precision == precision);
}

// Data for it cannot be made in what is left of the time, and nobody can interrupt that.
static bool is_too_late_to_begin(const struct backend *b, const struct plan *plan, const struct step *step)
{
    size_t bytes = bytes_of_step(plan, step);
    return b->measuring.choices_end > 0 && bytes > ALWAYS_MEASURED &&
           (double)bytes > BYTES_MADE_PER_SECOND * (b->measuring.choices_end - clock_seconds());
}

static bool is_never_measured(const struct backend *b, const struct plan *plan, const struct step *step)
{
    return b->options.never_measures || (!b->methods->has_exact_costs &&
                                         (is_too_large_to_measure(plan, step) || is_too_late_to_begin(b, plan, step)));
}

static bool refuse_to_measure(struct error *error)
{
    error_set_code(error, EXIT_UNSUPPORTED, NULL, "interrupted: a step's cost is not measured");
    return true;
}

// --- what is late ----------------------------------------------------------------------------------------------------

// Steps of one kind take about as long for their work: kernel, operator, attributes, windows and layouts are the same.
static uint64_t kind_of(const struct plan *plan, const struct step *step, enum precision precision)
{
    uint64_t kind = hash_mix(hash_string(step->kernel->name), precision);
    const struct node *n = step->node == NO_NODE || !step->n_results ? NULL : &plan->graph->nodes.items[step->node];
    for (int i = 0; n && i < operator_n_attributes(n->op); i++)
        kind = hash_bytes(n->attributes[i].ints, n->attributes[i].count * sizeof *n->attributes[i].ints, kind);
    for (int i = 2; n && operator_convolves(n->op) && i < step->operands[1].rank; i++)
        kind = hash_mix(kind, (uint64_t)step->operands[1].dim[i]);
    for (int i = 0; i < step->n_operands + step->n_results; i++) {
        const struct view *v = i < step->n_operands ? &step->operands[i] : &step->results[i - step->n_operands];
        kind = hash_mix(kind, (uint64_t)view_find_layout(v, LAYOUT_BIT(LAYOUT_COUNT) - 1) << 8 | (uint64_t)v->block);
    }
    return n ? hash_mix(kind, n->op->id) : kind;
}

static double work_of(const struct plan *plan, const struct step *step)
{
    struct step_work w = step_work(plan, step);
    return w.operations + w.bytes_read + w.bytes_written;
}

static void remember(struct backend *b, const struct plan *plan, const struct step *step, enum precision precision,
                     const struct step_cost *cost)
{
    if (b->measuring.choices_end > 0 && !step->n_parts && isfinite(cost->seconds))
        vec_push(&b->memory->known, ((struct known_step){kind_of(plan, step, precision), work_of(plan, step), *cost}));
}

// The time of the most alike step of its kind, for its work, and a little more: measured ones go before. False: none is
// known that runs in a way which this step has, too.
static bool predict(struct backend *b, const struct plan *plan, const struct step *step, enum precision precision,
                    struct step_cost *ret_cost)
{
    uint64_t kind = kind_of(plan, step, precision);
    double work = work_of(plan, step), nearest = INFINITY;
    LOCAL_LIST(choice_list, among);
    if (step->n_parts || b->memory->known.count == 0)
        return false;
    list_choices(b, plan, step, precision, &among);
    vec_each(&b->memory->known, k) {
        double distance = fabs(log(work / k->work));
        if (k->kind != kind || distance >= nearest || !is_listed(&among, k->cost.choice))
            continue;
        nearest = distance;
        *ret_cost = k->cost;
        ret_cost->seconds *= PREDICTED * work / k->work;
        ret_cost->error *= fmax(1, work / k->work);   // sums of more terms err by more
    }
    ret_cost->is_doubtful = ret_cost->is_cut = true;
    return isfinite(nearest);
}

// Choices of one precision. `best` as of measuring. A chain that nothing is known of when it is late is none: its parts
// are known, or are like what is.
static bool find_or_measure(struct backend *b, const struct plan *plan, const struct step *step,
                            enum precision precision, double best, struct step_cost *ret_cost, struct error *error)
{
    struct step_key key FREED_BY(step_key_free) = step_key_of(b, plan, step, precision);
    LOCAL_LIST(choice_list, among);
    bool is_known = recall(b, &key, ret_cost) || recall_otherwise(b, plan, step, precision, ret_cost);
    bool is_late = backend_is_late(b) || (!b->methods->has_exact_costs && is_too_late_to_begin(b, plan, step));
    if (!is_known && is_late && step->n_parts) {
        *ret_cost = (struct step_cost){.seconds = INFINITY};
        return true;
    }
    bool is_predicted = !is_known && is_late && predict(b, plan, step, precision, ret_cost);
    bool is_repaired =
        is_known && !is_late && has_to_be_repaired(b, &key, ret_cost) && !is_beaten(b, plan, step, precision, ret_cost);
    if (!is_predicted && (!is_known || is_repaired)) {
        bool is_inexact = precision != PRECISION_EXACT;
        b->measuring.is_hasty = b->measuring.choices_end > 0 && !is_known;
        list_choices(b, plan, step, precision, &among);
        size_t n_all = among.count;
        if (is_late || (b->measuring.ways == WAYS_QUICK && !is_inexact))
            vec_keep(&among, c, !*c->text);
        bool is_cut = among.count < n_all;
        if (!is_cut && is_known && b->measuring.repairs == REPAIRS_ON_TRIAL && !ret_cost->is_doubtful)
            keep_near_choice(ret_cost, &among);
        is_known = true;
        if (is_inexact && (is_never_measured(b, plan, step) || !among.count))
            *ret_cost = (struct step_cost){.seconds = INFINITY};
        else if (b->measuring.only_recalls || (b->measuring.leaves_waiting && waits(b, plan, step, &key, precision))) {
            if (b->measuring.expects)
                expect(b, plan, step, &key, precision, &among);
            is_known = error_set_code(error, EXIT_UNSUPPORTED, NULL, "a step's cost is not known");
        } else if (is_never_measured(b, plan, step))
            guess(b, plan, step, &key, ret_cost);
        else if ((!b->methods->has_exact_costs && interrupt_requested() && refuse_to_measure(error)) ||
                 !measure(b, plan, step, &key, &among, is_cut, best, ret_cost, error)) {
            is_known = is_inexact;
            *ret_cost = (struct step_cost){.seconds = INFINITY};
        }
        b->measuring.is_hasty = false;
    }
    if (is_known && !ret_cost->is_guessed)
        remember(b, plan, step, precision, ret_cost);
    return is_known || is_predicted;
}

// --- all precisions --------------------------------------------------------------------------------------------------

// Inexact ones need be known no better than it takes to compare them with the exact one.
static bool find_price(struct backend *b, const struct plan *plan, const struct step *step, enum precision precision,
                       struct step_prices *p, struct error *error)
{
    struct step_cost cost;
    double best = precision == PRECISION_EXACT ? INFINITY : p->of[PRECISION_EXACT].seconds;
    if (p->of[precision].seconds > 0 && !is_wanted_again(b, &p->of[precision]))
        return true;
    bool is_found = find_or_measure(b, plan, step, precision, best, &cost, error);
    if (b->measuring.expects)   // what is known may be measured again
        return is_found;
    if (is_found)
        p->of[precision] = cost;
    if (is_found && b->methods->learn)
        b->methods->learn(b, plan, step, &cost);
    return is_found;
}

bool step_prices_find(struct backend *b, const struct plan *plan, const struct step *step, struct step_prices *ret,
                      struct error *error)
{
    struct step_prices *p = prices_of(b, plan, step, false);
    bool is_known = find_price(b, plan, step, PRECISION_EXACT, p, error);
    if (takes_inexact(b) && (is_known || b->measuring.expects))
        is_known = find_price(b, plan, step, PRECISION_INEXACT, p, error) && is_known;
    *ret = *p;
    return is_known;
}

void step_prices_expect(struct backend *b, const struct plan *plan, const struct step *step)
{
    struct cost_measuring former = b->measuring;
    struct step_prices ignored;
    struct error none = {0};
    b->measuring.expects = b->measuring.only_recalls = true;
    if (!former.only_recalls)
        step_prices_find(b, plan, step, &ignored, &none);
    b->measuring = former;
}

bool step_prices_recall(struct backend *b, const struct plan *plan, const struct step *step, struct step_prices *ret)
{
    struct step_prices *p = prices_of(b, plan, step, false);
    struct error ignored;
    bool only_recalls = b->measuring.only_recalls;
    b->measuring.only_recalls = true;
    bool is_known = find_price(b, plan, step, PRECISION_EXACT, p, &ignored);
    if (is_known && takes_inexact(b))
        find_price(b, plan, step, PRECISION_INEXACT, p, &ignored);
    b->measuring.only_recalls = only_recalls;
    *ret = *p;
    return is_known;
}

// The standard way is measured for an inexact one where none can be had, and has no choice.
bool step_prices_prefer_inexact(const struct backend *b, const struct step_prices *p)
{
    const struct step_cost *cost = &p->of[PRECISION_INEXACT];
    return *cost->choice && !p->is_taken_back && cost->seconds > 0 && cost->seconds < p->of[PRECISION_EXACT].seconds &&
           cost->error <= b->options.error_budget;
}

enum precision step_precision(const struct step *step)
{
    return step->way.choice && step->way.error > 0 ? PRECISION_INEXACT : PRECISION_EXACT;
}

bool backend_step_cost(struct backend *b, const struct plan *plan, const struct step *step, struct step_cost *ret_cost,
                       struct error *error)
{
    struct step_prices p;
    if (!step_prices_find(b, plan, step, &p, error))
        return false;
    bool is_inexact = step->way.choice ? step->way.error > 0 : step_prices_prefer_inexact(b, &p);
    *ret_cost = p.of[is_inexact ? PRECISION_INEXACT : PRECISION_EXACT];
    return true;
}

bool backend_recall_cost(struct backend *b, const struct plan *plan, const struct step *step,
                         struct step_cost *ret_cost)
{
    enum precision precision = step_precision(step);
    struct step_key key FREED_BY(step_key_free) = step_key_of(b, plan, step, precision);
    return recall(b, &key, ret_cost) || recall_otherwise(b, plan, step, precision, ret_cost);
}
