// The effort of a search: what is priced, how often and with how much around it, and when the search ends.
#include "core/system/clock.h"
#include "optimizer/search/backtracking/local_cost.h"
#include "optimizer/search/backtracking/patience.h"
#include "tests/optimizer/search/made_up.h"
#include <time.h>

#define A_SUM_OF_CURVES                                                                                                \
    "x y = f32 4 4; a = tanh x; b = tanh y; c = ewadd x y; d = ewadd c a; e = ewadd d b; g = ewadd e x"

// With next to no memory allowed the search tries less, and still ends well.
TEST(keeps_within_its_memory)
{
    OPTIONS(options.max_memory = 1, options.budget = 50);
    SEARCHED(f, A_SUM_OF_CURVES, &made_up_cost, &options);
    assert_true(f.result.statistics.dropped > 0);
    assert_true(f.result.statistics.expanded > 2);
}

enum { MUCH = 64 << 20 };

static void *take_much(void *context)
{
    *(void **)context = mem_alloc(MUCH);
    return NULL;
}

// As made_up_seconds, while another thread takes what it keeps.
static double seconds_beside_another(void *context, const struct graph *g)
{
    pthread_t other;
    if (!*(void **)context) {
        assert_int_equal(pthread_create(&other, NULL, take_much, context), 0);
        pthread_join(other, NULL);
    }
    return made_up_seconds(NULL, g);
}

// Memory that the threads of a host hold is not the search's, and may not change its result.
TEST(other_threads_have_memory_of_their_own)
{
    void *block = NULL;
    struct cost_model cost = {.graph_seconds = seconds_beside_another, .context = &block};
    OPTIONS(options.max_memory = MUCH / 2, options.budget = 50);
    SEARCHED(f, A_SUM_OF_CURVES, &cost, &options);
    assert_non_null(block);
    assert_int_equal(f.result.statistics.dropped, 0);
    mem_free(block, MUCH);
}

// A sum of eight different inputs: associating them gains nothing, in very many ways.
static void search_a_long_sum(struct fixture *f, const struct cost_model *cost, const struct search_options *options)
{
    TEXT(text);
    text_add(&text, "x1 = f32 4 4; s1 = tanh x1; ");
    graph_text_add_blocks(&text, "x@ = f32 4 4; s@ = ewadd s# x@; ", 7);
    set_up_and_search(f, text.chars, cost, options);
}

// Of graphs that have many matches fewer are expanded in vain than patience allows for.
TEST(loses_patience_by_matches_too)
{
    for (int64_t patience = 10; patience <= 40; patience *= 2) {
        struct fixture f FREED_BY(tear_down);
        OPTIONS(options.patience = patience);
        search_a_long_sum(&f, &made_up_cost, &options);
        assert_int_equal(f.result.ends.items[0], SEARCH_OUT_OF_PATIENCE);
        assert_true(f.result.statistics.matches >= 4 * (uint64_t)patience);
        assert_true(f.result.statistics.expanded < (uint64_t)patience);
    }
}

// A sum of seven inputs, each made of twelve: associating has large surroundings.
TEST(loses_patience_by_work_too)
{
    TEXT(text);
    OPTIONS(options.patience = 20);
    for (int i = 0; i < 7; i++) {
        for (int j = 0; j < 12; j++)
            text_printf(&text, "i%d_%d = f32 1 1 1 1 1 2; ", i, j);
        text_printf(&text, "x%d = concat 5", i);
        for (int j = 0; j < 12; j++)
            text_printf(&text, " i%d_%d", i, j);
        text_printf(&text, i ? "; s%d = ewadd s%d x%d; " : "; s0 = tanh x0; ", i, i - 1, i);
    }
    SEARCHED(f, text.chars, &made_up_cost, &options);
    assert_int_equal(f.result.ends.items[0], SEARCH_OUT_OF_PATIENCE);
    assert_true(f.result.statistics.expanded < 20);
    assert_true(f.result.statistics.matches < 5 * 20);
}

// The work that the budget allows ends the search, and is told as the reason.
TEST(ends_when_the_work_of_the_budget_is_done)
{
    for (int64_t per_graph = 10; per_graph <= 40; per_graph *= 2) {
        struct fixture f FREED_BY(tear_down);
        OPTIONS(options.patience = 0, options.work_per_graph = per_graph, options.work_per_node = 1000,
                options.usual_nodes = 5);
        search_a_long_sum(&f, &made_up_cost, &options);
        uint64_t most = 1000 * (uint64_t)(per_graph + (int64_t)f.g.nodes.count - 5);
        assert_int_equal(f.result.ends.items[0], SEARCH_OUT_OF_WORK);
        assert_true(f.result.statistics.work >= most && f.result.statistics.work < most + 10000);
        assert_true(f.result.statistics.expanded < 1000);
    }
}

// A rewrite that improves is applied, even where all the work was done to find it.
TEST(applies_what_was_found_when_the_work_is_done)
{
    OPTIONS(options.work_per_graph = 0, options.work_per_node = 1, options.usual_nodes = 0);
    SEARCHED(f, THREE_PRODUCTS, &made_up_cost, &options);
    assert_int_equal(f.result.ends.items[0], SEARCH_OUT_OF_WORK);
    assert_int_equal(f.result.statistics.expanded, 1);
    assert_true(f.result.statistics.adopted > 0 && f.result.seconds_after < f.result.seconds_before);
}

struct slow_pricer {
    double seconds, first, end;   // seconds: to find something, half of what there is
    bool has_gain;
    int n_late;   // graphs that were priced when time was over
};

// The first graph that gains is priced at once, the next one takes all the time that there is. Workers (NULL) know nothing.
static double seconds_until_late(void *context, const struct graph *g)
{
    struct slow_pricer *p = context;
    if (!p)
        return NAN;
    double seconds = made_up_seconds(NULL, g);
    p->first = p->first > 0 ? p->first : seconds;
    p->end = p->end > 0 ? p->end : clock_seconds() + 2 * p->seconds;
    p->n_late += clock_seconds() > p->end;
    while (p->has_gain && clock_seconds() <= p->end)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    p->has_gain = p->has_gain || seconds < p->first;
    return seconds;
}

// A rewrite that gains by then is applied, which takes the price of the whole, and nothing else is priced. There is more
// time where a machine has found nothing by then.
TEST(applies_what_was_found_when_time_is_over)
{
    struct slow_pricer pricer = {.n_late = 0};
    for (double seconds = 0.2; !pricer.has_gain && seconds < 100; seconds *= 4) {
        pricer = (struct slow_pricer){.seconds = seconds};
        void *workers[] = {NULL};
        const struct cost_model cost = {seconds_until_late, &pricer, 1, workers};
        OPTIONS(options.seconds = seconds);
        SEARCHED(f, THREE_PRODUCTS, &cost, &options);
        assert_int_equal(f.result.ends.items[0], SEARCH_OUT_OF_TIME);
        assert_int_equal(f.result.statistics.adopted > 0, pricer.has_gain);
        assert_int_equal(f.result.seconds_after < f.result.seconds_before, pricer.has_gain);
        assert_true(pricer.n_late <= 2);
    }
    assert_true(pricer.has_gain);
}

// Two products are merged, then the third one with them. Where no gain matters, patience is not renewed by the first.
TEST(patience_is_renewed_by_gains_that_matter)
{
    for (int matters = 0; matters <= 1; matters++) {
        OPTIONS(options.patience = 1, options.renewing_gain = matters ? 0 : 0.99);
        SEARCHED(f, THREE_PRODUCTS, &made_up_cost, &options);
        assert_true(f.result.statistics.adopted > 0);
        assert_int_equal(f.result.statistics.adopted > 1, matters);
    }
}

// Lists of words of which one is a beginning of the other, too, and words that differ in one bit.
TEST(different_words_are_encoded_differently)
{
    struct encoding lists[600] = {0};
    size_t n = 0;
    for (int bit = 0; bit < 64; bit++)
        for (int k = 0; k < 8; k++) {
            int64_t word = (int64_t)(((uint64_t)1 << bit) - (uint64_t)(k & 1)), sign = k & 2 ? -1 : 0;
            encoding_add(&lists[n], word ^ sign);
            if (k & 4)
                encoding_add(&lists[n], bit);
            assert_int_equal(lists[n++].n_words, k & 4 ? 2 : 1);
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            struct key_words a = encoding_key(&lists[i]), b = encoding_key(&lists[j]);
            bool is_same = a.n_bytes == b.n_bytes && memcmp(a.bytes, b.bytes, a.n_bytes) == 0;
            int bit_a = (int)(i / 8), bit_b = (int)(j / 8);
            int64_t word_a = (int64_t)(((uint64_t)1 << bit_a) - (uint64_t)(i & 1)) ^ (i & 2 ? -1 : 0);
            int64_t word_b = (int64_t)(((uint64_t)1 << bit_b) - (uint64_t)(j & 1)) ^ (j & 2 ? -1 : 0);
            bool is_same_list = word_a == word_b && (i & 4) == (j & 4) && (!(i & 4) || bit_a == bit_b);
            assert_int_equal(is_same, is_same_list);
        }
    for (size_t i = 0; i < n; i++)
        encoding_free(&lists[i]);
}

// Counts how often a device is asked.
static double counted_seconds(void *context, const struct graph *g)
{
    ++*(uint64_t *)context;
    return made_up_seconds(NULL, g);
}

// Rewrites that differ may leave the same of their surroundings: what is left is priced once.
TEST(equal_graphs_are_priced_once)
{
    struct fixture f FREED_BY(tear_down);
    uint64_t n_asked = 0;
    const struct cost_model counting = {counted_seconds, &n_asked, 0, NULL};
    OPTIONS(options.patience = 100);
    search_a_long_sum(&f, &counting, &options);
    assert_true(n_asked < f.result.statistics.priced - f.result.statistics.remembered);
}

// A device on which rewrites of a part seem to gain, and none of the whole does.
struct deceiver {
    size_t least_nodes;   // of the whole
    int n_whole;          // times that it was asked for that
};

static double deceiving_seconds(void *context, const struct graph *g)
{
    struct deceiver *d = context;
    if (g->nodes.count < d->least_nodes)
        return made_up_seconds(NULL, g);
    d->n_whole++;
    return 1;
}

// Twenty equal places, each with two rewrites that gain nothing, as a rule of any two permutations and one of these
// apply: of either all together and one alone say so, and the chain that begins with one is told. The original is
// priced, too.
TEST(asks_no_more_where_the_first_gains_nothing)
{
    TEXT(text);
    struct deceiver deceiver = {.least_nodes = 16};
    const struct cost_model cost = {deceiving_seconds, &deceiver, 0, NULL};
    OPTIONS(options.budget = 2);
    text_add(&text, "x1 = f32 8 4; ");
    graph_text_add_blocks(&text, "a# = transpose :perm 1 0 x#; b# = transpose :perm 1 0 a#; x@ = tanh b#; ", 20);
    SEARCHED(f, text.chars, &cost, &options);
    assert_int_equal(f.result.steps.count, 0);
    assert_int_equal(deceiver.n_whole, 5);
}

// In the whole, two transpositions in a row save what three reshapes cost; parts do not show it.
static double seconds_saved_by_transposing(void *context, const struct graph *g)
{
    struct deceiver *d = context;
    double seconds = 1;
    if (g->nodes.count < d->least_nodes)
        return made_up_seconds(NULL, g);
    d->n_whole++;
    for (node_id n = 0; n < g->nodes.count; n++)
        seconds += 1e-6 * ((g->nodes.items[n].op->id == OP_RESHAPE) - 1.5 * (g->nodes.items[n].op->id == OP_TRANSPOSE));
    return seconds;
}

// `to` is an element-wise function of `from`, of so many operators.
static void add_chain(struct text *out, char from, char to, int number, int length)
{
    text_printf(out, "%c%d_0 = tanh %c%d; ", to, number, from, number);
    for (int i = 1; i < length; i++)
        text_printf(out, "%c%d_%d = %s %c%d_%d; ", to, number, i, i % 2 ? "sigmoid" : "tanh", to, number, i - 1);
    text_printf(out, "%c%d = exp %c%d_%d; ", to, number, to, number, length - 1);
}

// Ten rewrites that gain and ten that only seem to, in turns. The original is priced, all rewrites together, one of
// each kind, for either of two rules that apply to transpositions, and then those that gain; the others, which are near
// enough to be estimated anew, are not believed again.
TEST(believes_no_part_that_the_whole_refutes)
{
    TEXT(text);
    struct deceiver deceiver = {.least_nodes = 30};
    const struct cost_model cost = {seconds_saved_by_transposing, &deceiver, 0, NULL};
    OPTIONS(options.budget = 3);
    text_add(&text, "x0 = f32 8 4; ");
    for (int i = 0; i < 10; i++) {
        const char *shape = i % 2 ? "8 4" : "4 8";
        add_chain(&text, 'x', 'a', i, 4);
        text_printf(&text, "s%d = transpose :perm 1 0 a%d; t%d = transpose :perm 1 0 s%d; ", i, i, i, i);
        add_chain(&text, 't', 'c', i, 6);
        text_printf(&text, "r%d = reshape :shape 32 c%d; x%d = reshape :shape %s r%d; ", i, i, i + 1, shape, i);
    }
    SEARCHED(f, text.chars, &cost, &options);
    assert_int_equal(f.result.steps.count, 10);
    assert_int_equal(deceiver.n_whole, 7);
}

static bool moves_axes(const struct node *n)
{
    return n->op->id == OP_TRANSPOSE && n->attributes[0].ints[0] != 0;
}

// Two pairs of transpositions with tanh between them. Without the first pair it costs less, and then the second may go;
// before, that costs a little more.
static double seconds_of_two_pairs(void *context, const struct graph *g)
{
    int n_left = 0;
    bool is_first_left = true;
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        n_left += moves_axes(node);
        if (node->op->id == OP_TANH)
            is_first_left = moves_axes(graph_producer(g, graph_inputs(g, n)[0]));
    }
    return n_left == 4 ? 4 : n_left == 2 && !is_first_left ? 3 : n_left == 0 ? 1 : 4.1;
}

// A match that gained nothing is priced anew when what is near it has changed and nothing else improves: no chain is
// needed.
TEST(prices_anew_what_gained_nothing)
{
    struct fixture f FREED_BY(tear_down);
    const struct cost_model cost = {seconds_of_two_pairs, NULL, 0, NULL};
    OPTIONS(options.budget = 3);
    set_up_and_search(&f,
                      "x = f32 8 4; a = transpose :perm 1 0 x; b = transpose :perm 1 0 a; y = tanh b; "
                      "c = transpose :perm 1 0 y; d = transpose :perm 1 0 c; z = exp d",
                      &cost, &options);
    assert_true(f.result.seconds_after == 1);
    assert_int_equal(f.result.statistics.queued, 0);
    assert_int_equal(f.result.steps.count, 2);
}

// Several threads may find different prices of one description, if a device tells equal graphs apart: the first counts.
TEST(equal_descriptions_have_one_price)
{
    struct pricer pricer FREED_BY(pricer_free);
    pricer_init(&pricer, &made_up_cost);
    struct encoding words FREED_BY(encoding_free) = {0};
    encoding_add(&words, 1);
    struct description d = {.before = encoding_key(&words)};
    encoding_add(&words, 2);
    d.all = encoding_key(&words);
    d.before.bytes = d.all.bytes;
    struct price first = pricer_note(&pricer, &d, (struct price){5, -1});
    struct price second = pricer_note(&pricer, &d, (struct price){6, -3});
    assert_true(first.before == 5 && first.change == -1);
    assert_true(second.before == 5 && second.change == -1);
}

// Of graphs, matches and work, what ends first; a gain that matters is what all three begin anew from.
TEST(patience_says_how_much_is_done)
{
    struct patience p = {0};
    struct search_statistics s = {.expanded = 10, .matches = 1000, .ill_typed = 200};
    OPTIONS(options.patience = 100);
    assert_true(patience_share(&p, &options, &s, 0) == 1);
    patience_note(&p, &options, &s, 0, 2.0);
    assert_true(patience_share(&p, &options, &s, 0) == 800.0 / 1200);
    assert_true(patience_share(&p, &options, &s, 90000) == 0.9);
    s.expanded = 109;
    patience_note(&p, &options, &s, 90000, 1.9999);
    assert_true(patience_share(&p, &options, &s, 0) == 109.0 / 110);
    patience_note(&p, &options, &s, 90000, 1.9);
    assert_true(patience_share(&p, &options, &s, 0) == 800.0 / 1200);
    options.patience = 0;
    assert_true(patience_share(&p, &options, &s, UINT64_MAX) == 0);
}
