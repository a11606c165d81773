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
#include "tests/support/parse_graph.h"
#include <dirent.h>
#include <stdio.h>

// From 16 channels to 32 to 48, with a window, at 15x14.
#define RESIDUAL(between, window, attributes, behind, after)                                                           \
    "x = f32 2 16 15 14; u = weight f32 32 16 1 1; v = weight f32 32 1 " window "; w = weight f32 48 32 1 1; "         \
    "e = conv x u; " between "d = conv " attributes " :group 32 ee v; " behind "p = conv dd w; " after
#define CLIPPED(from, to) to " = clip :min 0 :max 6 " from "; "
#define SWISH(from, to) "s" from " = sigmoid " from "; " to " = ewmul s" from " " from "; "

static const char *const chains[] = {
    RESIDUAL(CLIPPED("e", "ee"), "3 3", ":pad 1 1 1 1", CLIPPED("d", "dd"), ""),
    RESIDUAL(SWISH("e", "ee"), "5 5", ":pad 2 2 2 2 :stride 2 2", SWISH("d", "dd"), "z = relu p"),
    RESIDUAL(CLIPPED("e", "ee"), "3 3", ":pad 0 2 1 0 :stride 1 2 :dilation 2 1", "dd = abs d; ", ""),
    RESIDUAL("ee = relu e; ", "1 1", ":stride 3 3", "dd = relu d; ", ""),
    RESIDUAL("ee = relu e; ", "3 3", ":pad 9 1 9 1", "dd = relu d; ", ""),
    // A bias and a residual; 24 channels, which fill no vectors; nothing in front of the depthwise one.
    "x = f32 1 24 14 20; u = weight f32 72 24 1 1; v = weight f32 72 1 3 3; w = weight f32 24 72 1 1; "
    "t = weight f32 72; r = reshape :shape 72 1 1 t; b = broadcast :shape 1 72 14 20 r; e = conv x u; a = ewadd e b; "
    "f = relu a; d = conv :pad 1 1 1 1 :group 72 f v; g = relu d; p = conv g w; z = ewadd p x",
    "x = f32 3 32 17 16; v = weight f32 32 1 3 3; w = weight f32 16 32 1 1; d = conv :pad 1 1 1 1 :group 32 x v; "
    "g = relu d; p = conv g w",
    // A window in front, of rows of three channels; a window alone; a depthwise one alone; one pixel alone.
    "x = f32 2 3 37 35; u = weight f32 40 3 3 3; v = weight f32 40 1 3 3; w = weight f32 24 40 1 1; t = weight f32 40; "
    "r = reshape :shape 40 1 1 t; b = broadcast :shape 2 40 19 18 r; e = conv :stride 2 2 :pad 1 1 1 1 x u; "
    "a = ewadd e b; f = relu a; d = conv :pad 1 1 1 1 :group 40 f v; g = relu d; p = conv g w",
    "x = f32 2 5 33 35; u = weight f32 32 5 5 3; v = weight f32 17 32 16 15; "
    "e = conv :stride 2 2 :pad 2 1 2 0 :dilation 1 2 x u; f = relu e; d = conv f v",
    "x = f32 2 48 15 15; v = weight f32 48 1 5 5; w = weight f32 16 48 15 15; r = relu x; "
    "d = conv :pad 2 2 2 2 :group 48 r v; s = sigmoid d; p = conv s w",
    // Channels multiplied by numbers, of one image and of two; behind a sum.
    "x = f32 1 48 15 14; t = f32 1 48 1 1; v = weight f32 24 48 1 1; w = weight f32 16 24 15 14; r = relu x; "
    "s = broadcast :shape 1 48 15 14 t; m = ewmul r s; d = conv m v; e = relu d; p = conv e w",
    "x = f32 2 21 14 15; t = f32 2 21 1 1; v = weight f32 40 21 1 1; w = weight f32 16 40 14 15; y = f32 2 40 14 15; z "
    "= relu y; r = relu x; s = broadcast :shape 2 21 14 15 t; m = ewmul s r; d = conv m v; e = ewadd d z; p = conv e w",
    "x = f32 1 32 16 14; t = f32 1 32 1 1; v = weight f32 48 32 3 3; u = weight f32 48 1 3 3; "
    "w = weight f32 16 48 16 14; r = relu x; s = broadcast :shape 1 32 16 14 t; m = ewmul r s; "
    "d = conv :pad 1 1 1 1 m v; e = relu d; f = conv :pad 1 1 1 1 :group 48 e u; g = relu f; p = conv g w",
    "x = f32 1 64 15 14; v = weight f32 33 64 1 1; w = weight f32 16 33 15 14; r = relu x; d = conv r v; s = relu d; "
    "p = conv s w",
    "x = f32 1 16 40 40; u = weight f32 96 16 1 1; v = weight f32 96 1 3 3; e = conv x u; f = relu e; "
    "d = conv :pad 1 1 1 1 :group 96 f v; g = relu d; m = reducemean :axes 2 3 :keepdims 1 g; output g m",
};
// Of heads that are views, with a mask and a scale; one that all products share; rows, columns and depths that fill no
// vectors and no blocks; something behind; NaN and infinities come with the values.
#define OPERANDS(q, k, v) "q = f32 " q "; k = f32 " k "; v = f32 " v "; "
#define SCORES_BY_ROWS "s = matmul q k; p = softmax 2 s; z = matmul p v"
static const char *const attentions[] = {
    OPERANDS("3 40 16", "3 16 33", "3 33 32") SCORES_BY_ROWS,
    OPERANDS("2 29 32", "2 70 32", "2 70 17") "t = transpose :perm 0 2 1 k; s = matmul q t; p = softmax 2 s; y = "
                                              "matmul :act relu p v; z = sigmoid y",
    "x = f32 1 57 96; m = f32 1 1 1 57; w = weight f32; r = reshape :shape 1 57 3 32 x; q = transpose :perm 0 2 1 3 r; "
    "k = transpose :perm 0 2 3 1 r; s = matmul q k; c = broadcast :shape 1 3 57 57 w; d = ewmul s c; "
    "b = broadcast :shape 1 3 57 57 m; e = ewadd d b; p = softmax 3 e; o = matmul p q; t = transpose :perm 0 2 1 3 o; "
    "z = reshape :shape 1 57 96 t",
    OPERANDS("8 100", "100 1000", "1000 64") "s = matmul q k; p = softmax 1 s; z = matmul p v",
    "q = f32 2 2 30 20; k = f32 2 2 20 30; v = f32 2 2 30 24; b = f32 2 2 30 30; s = matmul q k; a = ewadd s b; "
    "p = softmax 3 a; y = matmul p v; z = ewadd y v",
    // Entries and rows that are masked by -inf; one channel, few rows; matrices that products share; whole vectors.
    "q = f32 2 57 20; k = f32 2 20 48; v = f32 2 48 32; h = f32 2 57 48; r = f32 2 57 1; "
    "i = broadcast :shape 2 57 48 r; j = relu i; l = relu h; m = ewmul l j; n = log m; s = matmul q k; a = ewadd s n; "
    "p = softmax 2 a; z = matmul p v",
    OPERANDS("2 8 1", "2 1 16", "2 16 16") SCORES_BY_ROWS,
    OPERANDS("2 29 17", "17 31", "2 31 16") SCORES_BY_ROWS,
    OPERANDS("4 56 16", "4 16 16", "16 80") SCORES_BY_ROWS,
};
// A tensor that somebody else reads, or that is an output, stays.
static const char *const no_chains[] = {
    "x = f32 1 16 15 14; u = weight f32 32 16 1 1; v = weight f32 32 1 3 3; y = relu x; e = conv y u; "
    "d = conv :pad 1 1 1 1 :group 32 e v; output d e",
    "x = f32 1 16 15 14; u = weight f32 32 16 1 1; v = weight f32 32 1 3 3; y = relu x; e = conv y u; "
    "d = conv :pad 1 1 1 1 :group 32 e v; z = ewadd d e",
    "x = f32 1 16 15 14; u = weight f32 32 16 1 1; v = weight f32 16 32 1 1; y = relu x; e = conv y u; d = conv e v",
    "x = f32 1 16 9 9; u = weight f32 32 16 1 1; v = weight f32 32 1 3 3; y = relu x; e = conv y u; "
    "d = conv :pad 1 1 1 1 :group 32 e v",
    // the copy or the product in front is what is added, or multiplied, behind
    "x = f32 1 48 15 15; v = weight f32 48 48 1 1; c = conv x v; z = ewadd c x",
    "x = f32 1 48 15 15; v = weight f32 48 48 1 1; c = conv x v; z = ewmul c x",
    "x = f32 1 32 15 15; v = weight f32 32 1 3 3; c = conv :pad 1 1 1 1 :group 32 x v; z = ewadd c x",
    "x = f32 1 32 15 15; s = f32 1 32 1 1; v = weight f32 32 32 1 1; r = relu x; b = broadcast :shape 1 32 15 15 s; "
    "y = ewmul r b; c = conv y v; z = ewadd c y",
};

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
    size_t n = 0;
    for (int threads = 1; threads <= 3; threads++) {
        if (is_left_out((size_t)threads, 2))
            continue;
        DEVICE(b, open_device(threads));
        for (size_t i = 0; i < COUNT_OF(chains); i++)
            n += check_all_layouts(b, chains[i], threads == 2, i + 1);
    }
    assert_true(n >= (getenv("TASO_FEW") ? 1 : 3) * COUNT_OF(chains));
}

TEST(attention_agrees_with_the_reference)
{
    for (int threads = 1; threads <= 3; threads++) {
        if (is_left_out((size_t)threads, 2))
            continue;
        DEVICE(b, open_device(threads));
        for (size_t i = 0; i < COUNT_OF(attentions); i++)
            assert_true(check_all_layouts(b, attentions[i], false, i + 1) > 0);
    }
}

TEST(what_others_read_is_not_joined)
{
    const enum layout last = LAYOUT_CHANNELS_LAST;
    DEVICE(b, open_device(1));
    for (size_t i = 0; i < COUNT_OF(no_chains); i++)
        assert_int_equal(check_chains(b, no_chains[i], &last, false, 1), 0);
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
    const char *const models[] = {chains[0], attentions[0]};
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
    GRAPH(g, &arena, chains[0]);
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
