// A joint search on made-up passes, beside the exhaustive truth: configurations are made to fit, each strategy comes near
// the least cost, joint search finds what searching one pass after the other does not, and nothing is lost by a kill.
#include "core/memory/hash.h"
#include "tests/support/cases.h"
#include "tuning/joint/joint_search.h"
#include "tuning/joint/pass_turns.h"

// --- a compiler of two passes ----------------------------------------------------------------------------------------
//
// Values of the first decide which nodes there are for the second: a node that is copied has a copy beside it. What a
// node costs depends on its value, its layout, and the value of the one before it.

#define FIRST 5
#define LAYOUTS 3
#define SHARE_OF_NEIGHBOUR 0.3
#define MOST_STORED 4096
#define LESS_BY_WORK 0.99

struct made_up {
    uint64_t seed;
    size_t n_evaluated, most_evaluated;   // 0: no limit
    size_t n_steps;
    struct stored {
        size_t pass;
        struct pass_node node;
        uint32_t value;
    } store[MOST_STORED];
    size_t n_stored;
    bool is_forgetful;
    size_t n_worked;   // each time all costs less
};

static uint64_t name_of_node(size_t i, uint32_t layout)
{
    return 100 + 10 * i + layout;   // in the second pass: another node where the layout is another one
}

static void list_nodes(void *context, const struct joint_candidate *c, size_t pass, pass_nodes *ret_nodes)
{
    for (size_t i = 0; i < FIRST; i++) {
        if (pass != 1) {
            if (pass == 0)
                vec_push(ret_nodes, ((struct pass_node){i, LAYOUTS, 0, 0}));
            continue;
        }
        uint32_t layout = configuration_find(&c->of[0], i)->value;
        vec_push(ret_nodes, ((struct pass_node){name_of_node(i, layout), 2, 0, 0}));
        if (layout == 2)
            vec_push(ret_nodes, ((struct pass_node){name_of_node(i, 9), 2, 0, 0}));
    }
}

static double unit(const struct made_up *m, uint64_t a, uint64_t b)
{
    return (double)(hash_mix(hash_mix(m->seed, a), b) % 1000) / 1000;
}

static double cost_of(const struct made_up *m, const struct joint_candidate *c)
{
    double sum = 1;
    uint64_t before = 0;
    for (size_t i = 0; i < c->of[1].settings.count; i++) {
        const struct setting *s = &c->of[1].settings.items[i];
        sum += unit(m, s->node.fingerprint, s->value) +
               SHARE_OF_NEIGHBOUR * unit(m, hash_mix(before, s->node.fingerprint), s->value);
        before = s->value + 1;
    }
    return sum;
}

static bool evaluate(void *context, const struct joint_candidate *c, double *ret_cost)
{
    struct made_up *m = context;
    *ret_cost = cost_of(m, c) * pow(LESS_BY_WORK, (double)m->n_worked);
    m->n_evaluated++;
    return m->most_evaluated == 0 || m->n_evaluated < m->most_evaluated;
}

static struct stored *find_stored(struct made_up *m, size_t pass, uint64_t fingerprint)
{
    for (size_t i = 0; i < m->n_stored; i++)
        if (m->store[i].pass == pass && m->store[i].node.fingerprint == fingerprint)
            return &m->store[i];
    return NULL;
}

static bool recall(void *context, size_t pass, const struct pass_node *node, uint32_t *ret_value)
{
    const struct stored *s = find_stored(context, pass, node->fingerprint);
    if (s)
        *ret_value = s->value;
    return s != NULL;
}

static void keep(void *context, size_t pass, const struct setting *setting)
{
    struct made_up *m = context;
    struct stored *s = find_stored(m, pass, setting->node.fingerprint);
    if (m->is_forgetful)
        return;
    if (!s)
        s = &m->store[m->n_stored++];
    *s = (struct stored){pass, setting->node, setting->value};
}

static void note_step(void *context, double before, const struct joint_candidate *best)
{
    ((struct made_up *)context)->n_steps++;
}

static double count_steps(void *context)
{
    return (double)((struct made_up *)context)->n_steps;
}

static const char *const pass_names[] = {"layout", "fusion", "schedules"};

static struct joint_problem problem_of(struct made_up *m, uint64_t seed)
{
    return (struct joint_problem){.context = m,
                                  .n_passes = 2,
                                  .seed = seed,
                                  .list_nodes = list_nodes,
                                  .evaluate = evaluate,
                                  .recall = recall,
                                  .keep = keep,
                                  .clock = count_steps,
                                  .tell = note_step};
}

static double search(struct made_up *m, uint64_t seed, const char *text, double budget, struct joint_report *ret_report)
{
    struct joint_problem problem = problem_of(m, seed);
    struct pass_schedule schedule;
    OK(pass_schedule_parse(&schedule, text, pass_names, 2, &error));
    struct joint_candidate best FREED_BY(joint_candidate_free);
    joint_search(&problem, &schedule, budget, 0, &best, ret_report);
    assert_true(best.cost == ret_report->after && best.cost == cost_of(m, &best));
    assert_true(best.cost <= ret_report->at_start && ret_report->at_start <= ret_report->before);
    return ret_report->after;
}

// --- the truth -------------------------------------------------------------------------------------------------------

static double least_of_second(const struct made_up *m, struct joint_candidate *c)
{
    double least = INFINITY;
    size_t n = c->of[1].settings.count;
    for (uint32_t bits = 0; bits < 1u << n; bits++) {
        for (size_t i = 0; i < n; i++)
            c->of[1].settings.items[i].value = bits >> i & 1;
        least = fmin(least, cost_of(m, c));
    }
    return least;
}

static double least_of_all(struct made_up *m)
{
    double least = INFINITY;
    size_t n_all = 1;
    for (size_t i = 0; i < FIRST; i++)
        n_all *= LAYOUTS;
    struct joint_candidate c FREED_BY(joint_candidate_free) = {0};
    for (size_t number = 0; number < n_all; number++) {
        for (size_t pass = 0, rest = number; pass < 2; pass++) {
            LOCAL_LIST(pass_nodes, nodes);
            list_nodes(m, &c, pass, &nodes);
            configuration_fit(&c.of[pass], &nodes, NULL, NULL, pass);
            for (size_t i = 0; pass == 0 && i < FIRST; i++, rest /= LAYOUTS)
                c.of[0].settings.items[i].value = (uint32_t)(rest % LAYOUTS);
        }
        least = fmin(least, least_of_second(m, &c));
    }
    return least;
}

// --- tests -----------------------------------------------------------------------------------------------------------

#define PROBLEMS 12

TEST(strategies_come_near_the_least)
{
    static const struct {
        const char *schedule;
        double most;   // times the least cost, on average
    } cases[] = {
        {"(exhaustive 1 (layout 1) (fusion 1))", 1.2},
        {"(annealing 1 (layout 5) (fusion 5))", 1.04},
        {"(evolution 1 (layout 5) (fusion 5))", 1.08},
        {"(model 1 (layout 5) (fusion 5))", 1.08},
        {"(annealing 0.5 (layout 1)) (annealing 0.5 (fusion 1))", 1.25},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (is_left_out(i, 2))
            continue;
        double sum = 0;
        for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
            struct made_up m = {.seed = seed};
            struct joint_report report;
            double least = least_of_all(&m), found = search(&m, seed, cases[i].schedule, 400, &report);
            assert_true(found >= least - 1e-12);
            sum += found / least;
        }
        print_message("%.3f times the least: %s\n", sum / PROBLEMS, cases[i].schedule);
        assert_true(sum / PROBLEMS <= cases[i].most);
    }
}

// In the same number of steps, and with what was found of nodes forgotten when they are gone.
TEST(joint_search_finds_more_than_one_pass_after_the_other)
{
    double joint = 0, sequential = 0, forgetful = 0;
    size_t n = 0;
    for (uint64_t seed = 1; seed <= 16 * PROBLEMS; seed++) {
        if (is_left_out(seed, 3))
            continue;
        n++;
        struct made_up m[3] = {{.seed = seed}, {.seed = seed}, {.seed = seed}};
        struct joint_report report;
        double least = least_of_all(&m[0]);
        joint += search(&m[0], seed, "(annealing 1 (layout 5) (fusion 5))", 150, &report) / least;
        sequential +=
            search(&m[1], seed, "(annealing 0.5 (layout 1)) (annealing 0.5 (fusion 1))", 150, &report) / least;
        m[2].is_forgetful = true;
        forgetful += search(&m[2], seed, "(annealing 1 (layout 5) (fusion 5))", 150, &report) / least;
    }
    print_message("joint %.3f, sequential %.3f, without a store %.3f times the least\n", joint / (double)n,
                  sequential / (double)n, forgetful / (double)n);
    assert_true(joint < sequential);
    assert_true(joint < forgetful);
}

// Ended at every moment, it goes on from the best that there was; and the same seed finds the same.
TEST(nothing_is_lost_by_a_kill)
{
    static const char schedule[] = "(annealing 0.5 (layout 5) (fusion 5)) (exhaustive 0.5 (layout 1) (fusion 1))";
    struct joint_report killed, resumed, again;
    for (size_t n = 2; n <= 100; n++) {
        struct made_up m = {.seed = 3, .most_evaluated = n}, same = {.seed = 3, .most_evaluated = n};
        search(&m, 7, schedule, 1000, &killed);
        assert_int_equal(m.n_evaluated, n);
        search(&same, 7, schedule, 1000, &again);
        assert_true(again.after == killed.after);
        m.n_evaluated = m.most_evaluated = 0;
        search(&m, 8, schedule, 300, &resumed);
        assert_true(resumed.at_start == killed.after && resumed.before == killed.before);
    }
}

static bool work(void *context, const struct joint_candidate *best, size_t pass)
{
    struct made_up *m = context;
    m->n_worked++;
    return true;
}

static size_t steps_of(const struct joint_report *r)
{
    return r->of[0].n_steps + r->of[1].n_steps;
}

// The cost of a candidate is asked once, and again when something was worked on.
static const char *const texts[] = {"(annealing 1 (layout 5) (fusion 5))",
                                    "(annealing 1 (layout 100) (fusion 100) (schedules 1))"};

TEST_OF_EACH(nothing_is_evaluated_again_in_vain, row, texts)
{
    struct made_up m = {.seed = 1};
    struct joint_problem problem = problem_of(&m, 1);
    struct pass_schedule schedule;
    struct joint_report report;
    problem.work = work;
    problem.n_passes = 3;
    assert_true(pass_schedule_parse(&schedule, *row, pass_names, 3, &(struct error){0}));
    struct joint_candidate best FREED_BY(joint_candidate_free);
    joint_search(&problem, &schedule, 1e9, 4000, &best, &report);
    print_message("%zu evaluations in %zu steps\n", m.n_evaluated, steps_of(&report));
    assert_true(m.n_evaluated < steps_of(&report) * 3 / 4);
    assert_true(best.cost == cost_of(&m, &best) * pow(LESS_BY_WORK, (double)m.n_worked));
}

TEST(configurations_are_made_to_fit)
{
    struct made_up m = {.n_stored = 1, .store = {{1, {30, 2, 0, 0}, 1}}};
    LOCAL_LIST(pass_nodes, nodes);
    const struct pass_node all[] = {{40, 3, 2, 0}, {10, 2, 0, 1}, {30, 2, 0, 0}, {20, 2, 0, 0}, {10, 2, 0, 2}};
    const struct setting former[] = {{{5, 2, 0, 0}, 1}, {{10, 2, 0, 0}, 1}, {{20, 4, 0, 0}, 3}};
    struct configuration c FREED_BY(configuration_free) = {0};
    for (size_t i = 0; i < COUNT_OF(former); i++)
        vec_push(&c.settings, former[i]);
    for (size_t i = 0; i < COUNT_OF(all); i++)
        vec_push(&nodes, all[i]);
    configuration_fit(&c, &nodes, recall, &m, 1);
    // carried over; a value that is none any more; from the store; the standard one
    const struct setting fitted[] = {{{10, 2, 0, 3}, 1}, {{20, 2, 0, 0}, 0}, {{30, 2, 0, 0}, 1}, {{40, 3, 2, 0}, 2}};
    assert_int_equal(c.settings.count, COUNT_OF(fitted));
    for (size_t i = 0; i < COUNT_OF(fitted); i++) {
        assert_int_equal(c.settings.items[i].node.fingerprint, fitted[i].node.fingerprint);
        assert_int_equal(c.settings.items[i].value, fitted[i].value);
        assert_true(c.settings.items[i].node.weight == fitted[i].node.weight);
    }
}

TEST_OF_CASES(schedules_of_passes_are_read, c, "tuning/schedules.cases")
{
    struct pass_schedule s;
    bool is_one = sexp_is_call(c, "right");
    assert_int_equal(pass_schedule_parse(&s, c->items[1].text, pass_names, 2, &(struct error){0}), is_one);
}

TEST(passes_take_turns)
{
    struct tuning_stage stage = {.n_turns = 2, .turns = {{1, 2}, {0, 3}}};
    struct pass_turns t;
    const size_t turns[] = {1, 1, 0, 0, 0, 1, 1, 0};
    size_t pass = 2, n = 0;
    pass_turns_begin(&t, &stage, 100);
    for (size_t i = 0; i < COUNT_OF(turns); i++) {
        assert_true(pass_turns_next(&t, &pass));
        assert_int_equal(pass, turns[i]);
        pass_turns_note(&t, true, 1, 1);
    }
    for (; pass_turns_next(&t, &pass); n++)
        pass_turns_note(&t, false, 1, 1);
    assert_int_equal(n, 5);   // a whole round in vain
}

// Each is tried first; without gains they share the time by what is expected of them; what gains goes on; what is over
// begins again once another one gained.
TEST(passes_that_gain_take_more_turns)
{
    struct tuning_stage stage = {.is_by_gain = true, .n_turns = 2, .turns = {{1, 3}, {0, 1}}};
    struct pass_turns t;
    size_t pass, n[2] = {0};
    pass_turns_begin(&t, &stage, 100);
    for (size_t i = 0; i < 4 && pass_turns_next(&t, &pass); i++, n[pass]++)
        pass_turns_note(&t, true, 1, 1);
    assert_true(n[0] == 2 && n[1] == 2);
    for (size_t i = 0; i < 396 && pass_turns_next(&t, &pass); i++, n[pass]++)
        pass_turns_note(&t, true, 1, 1);
    assert_in_range(n[1], 280, 320);
    n[0] = n[1] = 0;
    for (size_t i = 0; i < 40 && pass_turns_next(&t, &pass); i++, n[pass]++)
        pass_turns_note(&t, true, 1, pass == 0 ? 1.01 : 1);
    assert_in_range(n[0], 30, 40);
    pass_turns_begin(&t, &stage, 100);
    for (n[0] = n[1] = 0; pass_turns_next(&t, &pass) && n[0] + n[1] < 4; n[pass]++)
        pass_turns_note(&t, pass == 0 && n[0] == 0, 1, pass == 0 && n[0] == 0 ? 1.01 : 1);
    assert_int_equal(n[1], 2);   // in vain, and again
}
