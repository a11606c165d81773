// Threads take matches from the longest run that is left; equal ones and known ones are priced once.
#include "optimizer/search/backtracking/parallel_cost.h"

#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/system/thread_pool.h"
#include "graph/graph_whole.h"
#include <math.h>
#include <string.h>

enum { BATCH_ENTRIES = 256 };

static void init_worker(struct batch_worker *w, struct graph_costs *costs, void *context)
{
    *w = (struct batch_worker){.context = context};
    describer_init(&w->describer, costs);
}

static void forget_graph(struct batch_worker *w)
{
    if (w->has_graph)
        graph_free(&w->working);
    w->has_graph = false;
}

static void free_worker(struct batch_worker *w)
{
    forget_graph(w);
    describer_free(&w->describer);
    arena_free(&w->arena);
    arena_free(&w->scratch);
}

void batch_init(struct batch *b, struct pricer *pricer)
{
    const struct cost_model *cost = pricer->cost;
    *b = (struct batch){.pricer = pricer, .n_workers = cost->n_workers ? cost->n_workers : 1};
    b->workers = mem_new_array(struct batch_worker, b->n_workers);
    for (size_t i = 0; i < b->n_workers; i++)
        init_worker(&b->workers[i], &pricer->graph_costs, cost->n_workers ? cost->workers[i] : cost->context);
    b->team = thread_pool_new(b->n_workers);
    memo_init(&b->firsts, SIZE_MAX);
    pthread_mutex_init(&b->firsts_lock, NULL);
    b->entries = mem_alloc_zero(BATCH_ENTRIES * sizeof *b->entries);
}

void batch_free(struct batch *b)
{
    thread_pool_free(b->team);
    memo_free(&b->firsts);
    pthread_mutex_destroy(&b->firsts_lock);
    for (size_t i = 0; i < b->n_workers; i++)
        free_worker(&b->workers[i]);
    mem_free_array(b->workers, b->n_workers);
    for (size_t i = 0; i < BATCH_ENTRIES; i++)
        vec_free(&b->entries[i].bytes);
    mem_free(b->entries, BATCH_ENTRIES * sizeof *b->entries);
}

// --- one match -------------------------------------------------------------------------------------------------------

static void keep_description(struct batch_entry *e, const struct description *d)
{
    vec_clear(&e->bytes);
    vec_reserve(&e->bytes, d->all.n_bytes);
    memcpy(e->bytes.items, d->all.bytes, d->all.n_bytes);
    e->bytes.count = d->all.n_bytes;
    e->description = *d;
    e->description.all.bytes = e->description.before.bytes = e->bytes.items;
}

static bool is_known(struct price price)
{
    return !isnan(price.before) && !isnan(price.change);
}

// Was the same met already, of an entry that stands before this one? That one's price is noted first, and so is this
// one's, too. Where the later one is met first both are priced, and it does not matter who is faster.
static bool is_repeated(struct batch *b, const struct batch_entry *e)
{
    double number = (double)(e - b->entries), first = INFINITY;
    pthread_mutex_lock(&b->firsts_lock);
    memo_find(&b->firsts, e->description.all, &first);
    if (number < first)
        memo_set(&b->firsts, e->description.all, number);
    pthread_mutex_unlock(&b->firsts_lock);
    return first < number;
}

static void price_rewrite(struct batch *b, struct batch_worker *w, struct batch_entry *e, const struct rewrite *r,
                          const struct cost_model *cost, bool in_job)
{
    void *context = in_job ? w->context : cost->context;
    struct describer *s = &w->describer;
    describer_describe(s, r);
    struct description d = describer_description(s);
    keep_description(e, &d);
    e->price = pricer_recall(b->pricer, &d);
    e->is_repeated = in_job && !is_known(e->price) && is_repeated(b, e);
    if (!is_known(e->price) && !e->is_repeated)
        e->price = describer_price(s, r, cost, context, e->price.before);
}

static void make_copy(const struct batch *b, struct batch_worker *w)
{
    if (!w->has_graph)
        graph_copy_apart(&w->working, b->index->graph, &w->arena);
    w->has_graph = true;
}

// Applies the match to the worker's copy, prices it, and takes it back.
static void price_entry(struct batch *b, struct batch_worker *w, struct batch_entry *e, const struct cost_model *cost,
                        bool in_job)
{
    make_copy(b, w);
    struct attempt a FREED_BY(attempt_end) = attempt_begin(&e->match, &w->working, &w->scratch);
    e->outcome = !a.is_typed ? OUTCOME_ILL_TYPED : attempt_is_cyclic(&a) ? OUTCOME_CYCLIC : OUTCOME_PRICED;
    if (e->outcome == OUTCOME_PRICED) {
        struct rewrite r = attempt_rewrite(&a, b->index);
        price_rewrite(b, w, e, &r, cost, in_job);
    }
}

// --- all of them -----------------------------------------------------------------------------------------------------

static void price_entry_by(void *context, size_t i, size_t member)
{
    struct batch *b = context;
    price_entry(b, &b->workers[member], &b->entries[i], b->pricer->cost, true);
}

static bool is_late(const struct batch *b)
{
    return interrupt_requested() || (b->deadline > 0 && clock_seconds() > b->deadline);
}

// False: it would have to be measured, and there is no time.
static bool note_price(struct batch *b, struct batch_entry *e)
{
    if (!is_known(e->price))
        e->price = pricer_recall(b->pricer, &e->description);
    if (!is_known(e->price) && is_late(b))
        return false;
    if (!is_known(e->price))
        price_entry(b, &b->workers[0], e, b->pricer->cost, false);
    e->price = pricer_note(b->pricer, &e->description, e->price);
    return true;
}

// Matches that nobody could price are about to be measured.
static void expect_entries(struct batch *b)
{
    struct cost_model expecting = *b->pricer->cost;
    expecting.graph_seconds = expecting.expected_seconds;
    for (size_t i = 0; expecting.expected_seconds && !is_late(b) && i < b->n_entries; i++)
        if (b->entries[i].outcome == OUTCOME_PRICED && !is_known(b->entries[i].price) && !b->entries[i].is_repeated)
            price_entry(b, &b->workers[0], &b->entries[i], &expecting, false);
}

struct turn {
    double flops;   // of what the entry would replace
    struct batch_entry *entry;
};

COMPARISON(compare_turns, struct turn, ORDER(y->flops, x->flops) ?: ORDER(x->entry, y->entry))

static double flops_of_source(const struct batch *b, const struct match *m)
{
    return SUM_ALL(double, uint32_t, i, m->rule->n_source_nodes, graph_node_flops(b->index->graph, m->nodes[i]));
}

// Matches that nobody could price are priced by measuring, where there is a deadline the most work first.
static void measure_most_work_first(struct batch *b)
{
    LOCAL_VEC(struct turn, turns);
    for (size_t i = 0; b->deadline > 0 && i < b->n_entries; i++)
        if (b->entries[i].outcome == OUTCOME_PRICED && !is_known(b->entries[i].price))
            vec_push(&turns, ((struct turn){flops_of_source(b, &b->entries[i].match), &b->entries[i]}));
    vec_sort(&turns, compare_turns);
    for (size_t i = 0; i < turns.count && !is_late(b); i++)
        price_entry(b, &b->workers[0], turns.items[i].entry, b->pricer->cost, false);
}

// Visits are in the order of the entries.
static void visit_entries(struct batch *b)
{
    measure_most_work_first(b);
    EACH(b->entries, b->n_entries, e) {
        if (e->outcome == OUTCOME_PRICED && !note_price(b, e))
            continue;
        b->visit(b->context, &e->match, e->tag, e->outcome, e->outcome == OUTCOME_PRICED ? e->price.change : INFINITY);
    }
}

static void flush(struct batch *b)
{
    thread_pool_share(b->team, b->n_entries, price_entry_by, b);
    expect_entries(b);
    visit_entries(b);
    b->n_entries = 0;
    memo_free(&b->firsts);
}

void batch_begin(struct batch *b, const struct match_index *index, batch_visit_fn *visit, void *context)
{
    b->index = index;
    b->visit = visit;
    b->context = context;
}

void batch_add(struct batch *b, const struct match *m, size_t tag)
{
    struct batch_entry *e = &b->entries[b->n_entries++];
    e->match = *m;
    e->tag = tag;
    if (b->n_entries == BATCH_ENTRIES)
        flush(b);
}

static void forget_graphs(struct batch *b)
{
    for (size_t i = 0; i < b->n_workers; i++)
        forget_graph(&b->workers[i]);
}

void batch_end(struct batch *b)
{
    flush(b);
    forget_graphs(b);
}

// --- whole graphs ----------------------------------------------------------------------------------------------------

struct graph_prices {
    struct batch *b;
    const struct match *const *matches;
    double *seconds;
};

static double seconds_with_match(const struct batch *b, struct batch_worker *w, const struct match *m, void *context)
{
    make_copy(b, w);
    struct attempt a FREED_BY(attempt_end) = attempt_begin(m, &w->working, &w->scratch);
    struct graph changed FREED_BY(graph_free) = {0};
    bool is_made = a.is_typed && graph_replace(&changed, &w->working, m->rule->n_outputs, a.old, a.new, NULL) &&
                   graph_is_within(&changed, &b->weights);
    return is_made ? b->pricer->cost->graph_seconds(context, &changed) : INFINITY;
}

static void price_graph_by(void *context, size_t i, size_t member)
{
    struct graph_prices *p = context;
    struct batch_worker *w = &p->b->workers[member];
    p->seconds[i] = seconds_with_match(p->b, w, p->matches[i], w->context);
}

void batch_price_graphs(struct batch *b, const struct match_index *index, size_t n, const struct match *const *matches,
                        double *ret_seconds)
{
    struct graph_prices prices = {b, matches, ret_seconds};
    b->index = index;
    thread_pool_share(b->team, n, price_graph_by, &prices);
    for (size_t i = 0; i < n; i++)
        if (isnan(ret_seconds[i]))
            ret_seconds[i] = seconds_with_match(b, &b->workers[0], matches[i], b->pricer->cost->context);
    forget_graphs(b);
}
