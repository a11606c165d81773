// Convolutions around a depthwise one, with copies between and around them, and what attention is made of, as one step,
// against the reference: in all layouts, for one thread and several, with what stands between and behind them; and which
// steps are joined.
#include "backends/costs/cost_database.h"
#include "backends/costs/graph_cost.h"
#include "backends/costs/plan_choices.h"
#include "backends/costs/step_cost.h"
#include "backends/cpu/kernel.h"
#include "backends/generated/chains/chain.h"
#include "backends/planning/plan_chains.h"
#include "tests/backends/check_model.h"
#include "tests/backends/images.h"
#include "tests/backends/processor.h"
#include "tests/support/cases.h"
#include "tests/support/parse_graph.h"
#include <dirent.h>

#define CASES "backends/chains.cases"

static struct backend *open_device(int threads)
{
    return open_processor(&(struct backend_options){.threads = threads, .cost_file = "", .is_guest = true});
}

// A choice: a standard one, or a schedule.
static const char *choose(struct backend *b, const struct plan *plan, const struct step *joined, uint32_t number,
                          struct arena *arena)
{
    LOCAL_LIST(schedule_spaces, spaces);
    char choice[CHOICE_SIZE] = "";
    int64_t places[SCHEDULE_AXES], read[SCHEDULE_AXES];
    struct schedule_features f;
    bool suits = false;
    b->methods->list_spaces(b, plan, joined, &spaces);
    for (int turn = 0; spaces.count && number % 3 && !suits && turn < 60; turn++) {
        for (int axis = 0; axis < spaces.items[0].n_axes; axis++)
            places[axis] = (5 * turn + 3 * axis + (int)number) % spaces.items[0].axes[axis].n;
        schedule_space_print(&spaces.items[0], places, choice);
        assert_true(schedule_space_parse(&spaces.items[0], choice, read));
        suits = b->methods->describe_choice(b, plan, joined, choice, &f);
        assert_true(!suits || (f.useful > 0 && f.useful <= 1.0001 && f.operations > 0));
    }
    return suits ? arena_string(arena, choice) : number % 2 ? "chain q:2" : "chain";
}

// The longest, or the shortest chain of each step.
static void list_chains(struct backend *b, const struct graph *g, const uint8_t *layouts, bool is_short,
                        struct arena *arena, step_choices *list)
{
    PLAN(plan, b, g, layouts, arena);
    for (uint32_t i = 0; i < plan.steps.count; i++) {
        TEXT(text);
        struct plan_chain chain;
        uint32_t steps[CHAIN_MOST];
        int most = 0;
        for (uint32_t at = i; at != NO_STEP && most < CHAIN_MOST; at = plan_find_before(&plan, &b->target, at))
            steps[CHAIN_MOST - ++most] = at;
        bool is_found = false;
        for (int k = 2; k <= most && !is_found; k++) {
            int n = is_short ? k : most + 2 - k;
            plan_chain_make(&plan, &b->target, n, steps + CHAIN_MOST - n, &chain);
            is_found = b->target.is_chain(&chain.joined);
        }
        if (!is_found)
            continue;
        step_print(&text, &plan, &chain.joined);
        const char *choice = choose(b, &plan, &chain.joined, i + plan.steps.count, arena);
        vec_push(list, ((struct step_choice){arena_string(arena, text.chars), choice, 0}));
    }
}

static size_t check_chains(struct backend *b, const char *text, const enum layout *layout, bool is_short, uint64_t seed)
{
    ARENA(arena);
    LOCAL_LIST(step_choices, given);
    GRAPH(g, &arena, text);
    const uint8_t *layouts = layout ? same_layouts(&g, &arena, *layout) : random_layouts(&g, &arena, seed);
    list_chains(b, &g, layouts, is_short, &arena, &given);
    check_model_by(b, &g, layouts, &given, seed, 1);
    if (((struct cpu_backend *)b)->n_fallbacks)
        fail_msg("it does not run as a chain: %s", given.items[0].step);
    return given.count;
}

static size_t check_all_layouts(struct backend *b, const char *text, bool is_short, uint64_t seed)
{
    size_t n = check_chains(b, text, NULL, is_short, seed);
    for (enum layout layout = 0; layout < LAYOUT_COUNT; layout++)
        n += check_chains(b, text, &layout, is_short, seed);
    return n;
}

TEST(chains_agree_with_the_reference)
{
    ARENA(a);
    const char **chains = texts_of(&a, CASES, "chain");
    for (int threads = 1; threads <= 3; threads++) {
        if (is_left_out((size_t)threads, 2))
            continue;
        DEVICE(b, open_device(threads));
        size_t n = 0, i = 0;
        for (; chains[i]; i++)
            n += check_all_layouts(b, chains[i], threads == 2, i + 1);
        assert_true(n >= i);
    }
}

TEST(attention_agrees_with_the_reference)
{
    ARENA(a);
    const char **attentions = texts_of(&a, CASES, "attention");
    for (int threads = 1; threads <= 3; threads++) {
        if (is_left_out((size_t)threads, 2))
            continue;
        DEVICE(b, open_device(threads));
        for (size_t i = 0; attentions[i]; i++)
            assert_true(check_all_layouts(b, attentions[i], false, i + 1) > 0);
    }
}

TEST(what_others_read_is_not_joined)
{
    const enum layout last = LAYOUT_CHANNELS_LAST;
    ARENA(a);
    DEVICE(b, open_device(1));
    for (const char **graph = texts_of(&a, CASES, "apart"); *graph; graph++)
        assert_int_equal(check_chains(b, *graph, &last, false, 1), 0);
}

// --- kernels ---------------------------------------------------------------------------------------------------------

static struct chain_definition definition_for(const struct machine *m, bool has_first, bool has_last)
{
    const int64_t lanes = m->lanes, size = 14;
    struct tile_definition one = definition_of(m, 1, lanes, lanes, size, size);
    one.source = one.target = image_of(LAST, lanes, lanes, size, size);
    struct chain_definition d = {.has = {has_first, true, has_last}, .stages = {one, one, one}};
    d.stages[CHAIN_MIDDLE].groups = lanes;
    d.stages[CHAIN_MIDDLE].channels = d.stages[CHAIN_MIDDLE].results = 1;
    return d;
}

// A model would run without them, step by step.
TEST(kernels_are_compiled)
{
    struct machine machines[4];
    int n;
    list_machines(machines, &n);
    for (int i = 0; i < 3 * n; i++) {
        struct programs *service = open_service(&machines[i / 3]);
        struct chain_definition d = definition_for(&machines[i / 3], i % 3 != 1, i % 3 != 2);
        TEXT(text);
        struct program program;
        struct error error = {0};
        assert_true(chain_complete(&d));
        chain_print(&text, &d);
        const char *chars = text.chars;
        if (machines[i / 3].is_here && !programs_find(service, chars, &program, &error))
            fail_msg("%s", error.message);
        programs_close(service);
    }
}

// A cache of kernels of one's own, for a block, and the device that has it.
struct empty_cache {
    char folder[64], programs[96];
    struct backend *b;
};

static struct empty_cache open_cache(void)
{
    struct empty_cache c = {.folder = "/tmp/taso_chains_XXXXXX"};
    assert_non_null(mkdtemp(c.folder));
    snprintf(c.programs, sizeof c.programs, "%s/taso/programs", c.folder);
    setenv("XDG_CACHE_HOME", c.folder, 1);
    c.b = open_device(1);
    return c;
}

static void close_cache(struct empty_cache *c)
{
    char command[96];
    backend_close(c->b);
    unsetenv("XDG_CACHE_HOME");
    snprintf(command, sizeof command, "rm -r %s", c->folder);
    assert_int_equal(system(command), 0);
}

static size_t count_kernels(const struct empty_cache *c)
{
    size_t n = 0;
    DIR *d = opendir(c->programs);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static bool generates(const struct empty_cache *c)
{
    return programs_have_compiler(((struct cpu_backend *)c->b)->programs);
}

// The kernels of all chains that a plan may have are compiled at once, and not one by one as they are measured.
TEST(chains_are_made_ready)
{
    ARENA(a);
    const char *const models[] = {*texts_of(&a, CASES, "chain"), *texts_of(&a, CASES, "attention")};
    struct listed_choice chain = {.text = "chain"};
    const choice_list among = {.items = &chain, .count = 1};
    struct empty_cache c FREED_BY(close_cache) = open_cache();
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        ARENA(arena);
        struct plan_chain joined = {.n = 0};
        GRAPH(g, &arena, models[i]);
        PLAN(plan, c.b, &g, same_layouts(&g, &arena, LAYOUT_CHANNELS_LAST), &arena);
        for (uint32_t last = 0; last < plan.steps.count && !joined.n; last++) {
            uint32_t middle = plan_find_before(&plan, &c.b->target, last);
            uint32_t first = middle == NO_STEP ? NO_STEP : plan_find_before(&plan, &c.b->target, middle);
            if (first != NO_STEP)
                plan_chain_make(&plan, &c.b->target, 3, (const uint32_t[]){first, middle, last}, &joined);
        }
        assert_int_equal(joined.n, 3);
        c.b->methods->make_ready(c.b, &plan, &joined.joined, &among, true);
        assert_true(count_kernels(&c) == i + 1 || !generates(&c));
    }
}

TEST(what_several_graphs_need_is_compiled_together)
{
    static const char *const models[] = {"x = f32 64 64; y = sigmoid x", "x = f32 64 64; y = tanh x; z = relu y"};
    struct empty_cache c FREED_BY(close_cache) = open_cache();
    ARENA(arena);
    struct estimate estimate;
    GRAPH(first, &arena, models[0]);
    GRAPH(second, &arena, models[1]);
    backend_expect(c.b, &first);
    backend_expect(c.b, &second);
    assert_int_equal(count_kernels(&c), 0);
    assert_true(backend_estimate(c.b, &first, &estimate, &(struct error){0}));
    assert_true(count_kernels(&c) == 2 || !generates(&c));
}

// --- by costs --------------------------------------------------------------------------------------------------------

static void say(struct backend *b, const struct plan *plan, const struct step *step, double seconds)
{
    struct step_key key FREED_BY(step_key_free) = step_key_of(b, plan, step, PRECISION_EXACT);
    struct step_cost cost = {.seconds = seconds};
    cost_database_add(b->costs, key.text.chars, &cost);
}

// How many steps are left of three of 1 ms each, when all together take so long.
static size_t steps_left(double seconds)
{
    ARENA(arena);
    struct plan_chain chain;
    DEVICE(b, open_device(1));
    GRAPH(g, &arena, *texts_of(&arena, CASES, "chain"));
    const uint8_t *layouts = same_layouts(&g, &arena, LAYOUT_CHANNELS_LAST);
    PLAN(plan, b, &g, layouts, &arena);
    uint32_t last = (uint32_t)plan.steps.count, middle;
    do
        middle = plan_find_before(&plan, &b->target, --last);
    while (middle == NO_STEP);
    const uint32_t steps[3] = {plan_find_before(&plan, &b->target, middle), middle, last};
    plan_chain_make(&plan, &b->target, 3, steps, &chain);
    for (int i = 0; i < 3; i++)
        say(b, &plan, &plan.steps.items[steps[i]], 1e-3);
    if (seconds > 0)
        say(b, &plan, &chain.joined, seconds);
    size_t n = plan.steps.count;
    backend_choose(b, &plan);
    size_t left = 3 - (n - plan.steps.count);
    for (size_t i = 0; i < plan.steps.count; i++)
        assert_true(plan.steps.items[i].n_parts == 0 || plan.steps.items[i].n_parts == 3);
    return left;
}

TEST(what_takes_less_is_joined)
{
    assert_int_equal(steps_left(2.9e-3), 1);
    assert_int_equal(steps_left(3.1e-3), 3);
    assert_int_equal(steps_left(0), 3);   // not known
}
