// Every way to run a step of the processor against the reference; which choices a plan's steps get, and their budget.
#include "backends/costs/cost_database.h"
#include "backends/costs/graph_cost.h"
#include "backends/costs/plan_choices.h"
#include "backends/costs/step_cost.h"
#include "backends/cpu/result_error.h"
#include "backends/cpu/ways.h"
#include "backends/cuda/steps.h"
#include "backends/generated/rows.h"
#include "core/memory/hash.h"
#include "tests/backends/check_model.h"
#include "tests/backends/graphs.h"
#include "tests/backends/processor.h"
#include "tests/support/cases.h"
#include "tests/support/parse_graph.h"
#include "tests/support/temporary_path.h"

#define CASES "backends/ways.cases"

static struct backend *open_device(int threads, double budget)
{
    return open_processor(&(struct backend_options){.threads = threads, .cost_file = "", .error_budget = budget});
}

#define SCHEDULES_OF_SPACE 6   // that are compiled, of each

// --- against the reference -------------------------------------------------------------------------------------------

static void add_choices(struct backend *b, const struct plan *plan, const struct step *step, struct arena *arena,
                        step_choices *all)
{
    TEXT(text);
    LOCAL_LIST(choice_list, list);
    b->methods->list_choices(b, plan, step, &list);
    assert_true(list.count > 0 && !*list.items[0].text);
    step_print(&text, plan, step);
    for (size_t i = 1; i < list.count; i++)
        vec_push(all, ((struct step_choice){arena_string(arena, text.chars), arena_string(arena, list.items[i].text),
                                            list.items[i].precision != PRECISION_EXACT ? 1e-6 : 0}));
    b->methods->make_ready(b, plan, step, &list, false);
}

// Searches start from choices without tuning, whatever numbers these have.
static void check_starts(const struct schedule_space *s, const choice_list *untuned)
{
    int64_t places[SCHEDULE_AXES];
    for (size_t i = 0; i < untuned->count; i++)
        assert_true(strncmp(untuned->items[i].text, s->sketch, strlen(s->sketch)) != 0 ||
                    schedule_space_parse(s, untuned->items[i].text, places));
}

// Some schedules of every space of a step, those that suit.
static void add_schedules(struct backend *b, const struct plan *plan, const struct step *step, struct arena *arena,
                          step_choices *all)
{
    TEXT(text);
    LOCAL_LIST(schedule_spaces, spaces);
    LOCAL_LIST(choice_list, list);
    LOCAL_LIST(choice_list, untuned);
    struct random random = random_seed(hash_string(plan->graph->nodes.items[0].op->name));
    b->methods->list_spaces(b, plan, step, &spaces);
    step_print(&text, plan, step);
    b->methods->list_choices(b, plan, step, &untuned);
    for (size_t i = 0; i < spaces.count; i++)
        check_starts(&spaces.items[i], &untuned);
    for (size_t i = 0; i < spaces.count; i++)
        for (int k = 0; k < SCHEDULES_OF_SPACE; k++) {
            const struct schedule_space *s = &spaces.items[i];
            int64_t places[SCHEDULE_AXES], read[SCHEDULE_AXES];
            char choice[CHOICE_SIZE];
            struct schedule_features f;
            for (int axis = 0; axis < s->n_axes; axis++)
                places[axis] = (int64_t)random_below(&random, (uint64_t)s->axes[axis].n);
            schedule_space_print(s, places, choice);
            assert_true(schedule_space_parse(s, choice, read));
            assert_memory_equal(places, read, (size_t)s->n_axes * sizeof *places);
            if (!b->methods->describe_choice(b, plan, step, choice, &f))
                continue;
            assert_true(f.useful > 0 && f.useful <= 1.0001 && f.blocks >= 1 && f.operations > 0 && f.packed_bytes > 0);
            struct listed_choice listed = {.precision = s->precision};
            snprintf(listed.text, sizeof listed.text, "%s", choice);
            vec_push(&list, listed);
            vec_push(all, ((struct step_choice){arena_string(arena, text.chars), arena_string(arena, choice),
                                                s->precision != PRECISION_EXACT ? 1e-6 : 0}));
        }
    b->methods->make_ready(b, plan, step, &list, false);
}

typedef void add_choices_fn(struct backend *b, const struct plan *plan, const struct step *step, struct arena *arena,
                            step_choices *all);

// Choices of all steps of the graph in these layouts.
static void list_all(struct backend *b, const struct graph *g, const uint8_t *layouts, struct arena *arena,
                     add_choices_fn *add, step_choices *all)
{
    PLAN(plan, b, g, layouts, arena);
    for (size_t i = 0; i < plan.steps.count; i++)
        if (!plan.steps.items[i].is_constant)
            add(b, &plan, &plan.steps.items[i], arena, all);
}

// Times the tolerance, which is a share of results that epilogues have clipped.
#define ALLOWED_INEXACT 5

static size_t check_all_ways(struct backend *b, const char *text, enum layout layout, add_choices_fn *add,
                             uint64_t seed)
{
    ARENA(arena);
    LOCAL_LIST(step_choices, all);
    GRAPH(g, &arena, text);
    const uint8_t *layouts = same_layouts(&g, &arena, layout);
    list_all(b, &g, layouts, &arena, add, &all);
    for (size_t i = 0; i < all.count; i++) {
        LOCAL_LIST(step_choices, one);
        vec_push(&one, all.items[i]);
        check_model_by(b, &g, layouts, &one, seed, all.items[i].error > 0 ? ALLOWED_INEXACT : 1);
        bool is_librarys = strcmp(all.items[i].choice, "winograd") == 0;   // of which only it knows where it has it
        if (((struct cpu_backend *)b)->n_fallbacks && !is_librarys)
            fail_msg("%s does not run %s", all.items[i].choice, all.items[i].step);
        ((struct cpu_backend *)b)->n_fallbacks = 0;
    }
    return all.count;
}

static bool library_has_winograd(void)
{
    int major, minor, patch;
    onednn_version(&major, &minor, &patch);
    return major == 2 && onednn_block_of_channels() == 16;
}

// By day each graph runs with one number of threads, and a sixth of the choices; sanitizers have a part of their own.
static bool is_of_night(size_t combination, size_t each)
{
    return !getenv("TASO_ALL_CHOICES") && !getenv("TASO_FEW") && combination % each;
}

TEST(all_ways_agree_with_the_reference)
{
    size_t n = 0;
    ARENA(a);
    const char **graphs = texts_of(&a, CASES, "ways"), **halves = texts_of(&a, CASES, "halves");
    const char **others = texts_of(&a, CONFORMANCE, "graph");
    for (int threads = 1; threads <= 2; threads++) {
        DEVICE(b, open_device(threads, 1e-5));
        for (size_t i = 0; graphs[i]; i++)
            for (enum layout layout = 0; layout < LAYOUT_COUNT; layout++)
                if (!is_left_out(i + layout + (size_t)threads, 7) && !is_of_night(i + layout + (size_t)threads, 2))
                    n += check_all_ways(b, graphs[i], layout, add_choices, i + 1);
        for (size_t i = 0; halves[i]; i++)
            for (enum layout layout = 0; layout < LAYOUT_COUNT; layout++)
                n += check_all_ways(b, halves[i], layout, add_choices, i + 1);
        for (size_t i = 0; others[i]; i++)
            if (!is_left_out(i + (size_t)threads, 7) && !is_of_night(i + (size_t)threads, 2))
                n += check_all_ways(b, others[i], LAYOUT_BLOCKS_OF_16, add_choices, i + 1);
    }
    assert_true(n > 10 || !library_has_winograd());
}

static bool is_listed(struct backend *b, const char *text, const char *choice)
{
    ARENA(arena);
    LOCAL_LIST(step_choices, all);
    GRAPH(g, &arena, text);
    list_all(b, &g, same_layouts(&g, &arena, LAYOUT_BLOCKS_OF_16), &arena, add_choices, &all);
    return ANY(size_t, i, all.count, strcmp(all.items[i].choice, choice) == 0);
}

// Weights are read once for all 16 tiles of an image of 14x14, and for 25 of one of 20x20; 36 are no more than several
// small blocks.
TEST(small_images_may_be_one_block)
{
    static const char *const models[] = {"x = f32 1 16 14 14; w = weight f32 16 16 3 3; c = conv :pad 1 1 1 1 x w",
                                         "x = f32 1 16 20 20; w = weight f32 16 16 3 3; c = conv :pad 1 1 1 1 x w",
                                         "x = f32 1 16 24 24; w = weight f32 16 16 3 3; c = conv :pad 1 1 1 1 x w"};
    DEVICE(b, open_device(1, 1e-5));
    for (size_t i = 0; i < COUNT_OF(models); i++)
        assert_true(is_listed(b, models[i], "generated (winograd m:4 tiles:14)"));
    assert_true(is_listed(b, models[0], "generated (winograd m:4 tiles:16)"));
    assert_true(is_listed(b, models[1], "generated (winograd m:4 tiles:25)"));
    assert_false(is_listed(b, models[2], "generated (winograd m:4 tiles:36)"));
}

TEST(schedules_of_spaces_agree_with_the_reference)
{
    size_t n = 0;
    ARENA(a);
    DEVICE(b, open_device(1, 1e-5));
    const char **graphs = texts_of(&a, CASES, "ways");
    for (size_t i = 0; graphs[i]; i++)
        if (!is_left_out(i, 7))
            n += check_all_ways(b, graphs[i], i % 2 ? LAYOUT_CHANNELS_LAST : LAYOUT_BLOCKS_OF_16, add_schedules, i + 1);
    assert_true(n > 10);
}

// Which steps of the graph run by another kernel than their own.
static size_t count_prepared_by(struct backend *b, const struct graph *g, const uint8_t *layouts, const char *choice,
                                struct arena *arena)
{
    LOCAL_LIST(step_choices, given);
    PLAN(plan, b, g, layouts, arena);
    for (size_t i = 0; i < plan.steps.count; i++) {
        TEXT(text);
        step_print(&text, &plan, &plan.steps.items[i]);
        vec_push(&given, ((struct step_choice){arena_string(arena, text.chars), choice, 1e-6}));
    }
    check_model_by(b, g, layouts, &given, 1, 1);
    backend_choose_given(b, &plan, &given);
    return COUNT(size_t, i, plan.steps.count,
                 cpu_kernel_of(&plan, &plan.steps.items[i]) != (const struct cpu_kernel *)plan.steps.items[i].kernel);
}

// Files may name any choice for any step: what cannot run so runs in its standard way. Each choice at a sixth of the graphs.
TEST(choices_that_cannot_be_had_do_no_harm)
{
    static const char *const wrong[] = {"winograd",
                                        "winograd 9",
                                        "generated",
                                        "generated (winograd m:4 tiles:0)",
                                        "generated (winograd m:4 tiles:5)",
                                        "nonsense",
                                        "winogradx",
                                        " ",
                                        "(tile n:64)",
                                        "tile",
                                        "tile (tile p:0 q:1 t:1)",
                                        "tile (tile p:14 q:2 t:1)x"};
    ARENA(a);
    const char **graphs = texts_of(&a, CONFORMANCE, "graph");
    DEVICE(b, open_device(1, 1e-5));
    for (size_t i = 0; graphs[i]; i++)
        for (size_t k = 0; k < COUNT_OF(wrong); k++) {
            if (is_of_night(i + k, 6) || is_left_out(i + k, 9))
                continue;
            ARENA(arena);
            GRAPH(g, &arena, graphs[i]);
            const uint8_t *layouts = same_layouts(&g, &arena, LAYOUT_BLOCKS_OF_16);
            size_t n = count_prepared_by(b, &g, layouts, wrong[k], &arena);
            assert_true(k < 5 || k > 8 || n == 0);
            b->options.error_budget = 0;
            assert_int_equal(count_prepared_by(b, &g, layouts, wrong[k], &arena), 0);
            b->options.error_budget = 1e-5;
        }
}

// The window has forms for tiles of two results and none for four.
TEST(tiles_without_a_form_do_no_harm)
{
    static const char *const models[] = {"x = f32 1 16 14 14; w = weight f32 16 16 7 7; c = conv :pad 3 3 3 3 x w",
                                         "x = f32 1 16 14 14; w = weight f32 16 16 1 7; c = conv :pad 0 3 0 3 x w"};
    DEVICE(b, open_device(1, 1e-5));
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        ARENA(arena);
        GRAPH(g, &arena, models[i]);
        const uint8_t *layouts = same_layouts(&g, &arena, LAYOUT_BLOCKS_OF_16);
        count_prepared_by(b, &g, layouts, "generated (winograd m:4 tiles:28)", &arena);   // and compared
    }
}

// Some way runs a step that begins so by a choice that begins so, and all ways agree.
static void check_has_ways(struct backend *b, const char *text, enum layout layout, const char *step,
                           const char *choice, uint64_t seed)
{
    ARENA(arena);
    LOCAL_LIST(step_choices, all);
    GRAPH(g, &arena, text);
    list_all(b, &g, same_layouts(&g, &arena, layout), &arena, add_choices, &all);
    size_t n = COUNT(size_t, i, all.count,
                     strncmp(all.items[i].step, step, strlen(step)) == 0 &&
                         strncmp(all.items[i].choice, choice, strlen(choice)) == 0);
    assert_true(n > 0);
    assert_true(check_all_ways(b, text, layout, add_choices, seed) >= n);
}

// Products and convolutions of 1x1 of many channels have tiles, too, though the library is at its best there.
TEST(products_of_many_channels_have_tiles)
{
    DEVICE(b, open_device(2, 0));
    check_has_ways(b, "x = f32 64 256; w = weight f32 256 256; y = matmul x w", LAYOUT_CHANNELS_LAST, "", "tile (tile ",
                   5);
    check_has_ways(b, "x = f32 1 256 8 8; w = weight f32 256 256 1 1; y = conv x w", LAYOUT_CHANNELS_LAST, "",
                   "tile (tile ", 6);
}

// Sums of parts stand in memory for each thread: of many pixels they are no choice.
TEST(sums_of_many_pixels_have_no_parts)
{
    DEVICE(b, open_device(2, 0));
    for (int is_large = 0; is_large < 2; is_large++) {
        ARENA(arena);
        LOCAL_LIST(step_choices, all);
        GRAPH(g, &arena,
              is_large ? "x = f32 9000 4096; w = weight f32 4096 1024; y = matmul x w"
                       : "x = f32 64 4096; w = weight f32 4096 1024; y = matmul x w");
        list_all(b, &g, same_layouts(&g, &arena, LAYOUT_CHANNELS_LAST), &arena, add_choices, &all);
        assert_int_equal(COUNT(size_t, i, all.count, strncmp(all.items[i].choice, "tile (parts", 11) == 0) > 0,
                         !is_large);
    }
}

#define POOL(kind, shape, attributes)                                                                                  \
    "x = f32 " shape "; r = sigmoid x; a = pool" kind " " attributes " r; z = sigmoid a"
static const struct {
    enum layout layout;
    const char *graph;
} pools[] = {
    {LAYOUT_CHANNELS_LAST, POOL("avg", "2 40 11 9", ":kernel 3 3 :stride 1 1 :pad 1 1 1 1")},
    {LAYOUT_CHANNELS_LAST, POOL("avg", "1 17 11 9", ":kernel 3 2 :stride 2 1 :pad 1 0 2 1 :padding counted")},
    {LAYOUT_BLOCKS_OF_16, POOL("avg", "2 32 11 9", ":kernel 3 5 :stride 2 2 :pad 1 2 0 2")},
    {LAYOUT_BLOCKS_OF_16, POOL("avg", "1 16 7 7", ":kernel 7 7 :stride 1 1 :pad 0 0 0 0 :padding counted")},
    {LAYOUT_CHANNELS_LAST, POOL("max", "2 40 11 9", ":kernel 3 3 :stride 1 1 :pad 1 1 1 1")},
    {LAYOUT_CHANNELS_LAST, POOL("max", "1 17 11 9", ":kernel 3 2 :stride 2 1 :pad 1 0 2 1 :dilation 2 1")},
    {LAYOUT_BLOCKS_OF_16, POOL("max", "2 32 11 9", ":kernel 3 5 :stride 2 2 :pad 1 2 0 2")},
    {LAYOUT_BLOCKS_OF_16, POOL("max", "1 16 8 8", ":kernel 2 2 :stride 2 2 :pad 0 0 0 0")},
    {LAYOUT_CHANNELS_LAST,   // which begins with no bias
     "x = f32 1 32 8 8; w = weight f32 32; r = reshape :shape 32 1 1 w; b = broadcast :shape 1 32 4 4 r; "
     "m = poolmax :kernel 2 2 :stride 2 2 x; z = ewadd m b"},
    {LAYOUT_CHANNELS_LAST, "x = f32 1 32 8 8; w = weight f32 32 32 1 1; b = conv x w; "
                           "a = poolavg :kernel 3 3 :stride 1 1 :pad 1 1 1 1 x; c = concat 1 a b; z = relu c"},
};

// Images in blocks and with channels last, channels that fill no vectors, windows that lie outside, as a part.
TEST_OF_EACH(pools_have_tiles, row, pools)
{
    DEVICE(b, open_device(2, 0));
    check_has_ways(b, row->graph, row->layout, "pool ", "tile ", 5 + row_in_hand);
}

// --- results in their place in a concatenation -----------------------------------------------------------------------

static size_t count_concatenating(struct backend *b, const struct graph *g, const uint8_t *layouts, struct arena *arena)
{
    size_t n = 0;
    PLAN(plan, b, g, layouts, arena);
    for (size_t i = 0; i < plan.steps.count; i++)
        n += plan.steps.items[i].node != NO_NODE && g->nodes.items[plan.steps.items[i].node].op == operators[OP_CONCAT];
    return n;
}

TEST_OF_CASES(parts_are_written_in_place, c, CASES)
{
    for (int threads = 1; threads <= 2 && sexp_is_call(c, "parts"); threads++) {
        if (is_left_out((size_t)threads, 2))
            continue;
        ARENA(arena);
        DEVICE(b, open_device(threads, 1e-5));
        GRAPH(g, &arena, c->items[1].text);
        check_model(b, &g, c->line, 1);
        for (enum layout layout = 0; layout < LAYOUT_COUNT; layout++) {
            check_model_with(b, &g, same_layouts(&g, &arena, layout), c->line, 1);
            if (!is_left_out(c->line + layout, 3))
                check_all_ways(b, c->items[1].text, layout, add_choices, c->line);
        }
        for (uint64_t seed = 1; seed <= some_of(20); seed++)
            check_model_with(b, &g, random_layouts(&g, &arena, seed), seed, 1);
        const uint8_t *blocks = same_layouts(&g, &arena, LAYOUT_BLOCKS_OF_16);
        if (onednn_block_of_channels() == 16)
            assert_int_equal(count_concatenating(b, &g, blocks, &arena), c->items[2].integer);
    }
}

// --- the budget ------------------------------------------------------------------------------------------------------

// Two convolutions that are equal work, one larger and one smaller.
static const char four_convolutions[] =
    "x = f32 1 16 8 8; u v = weight f32 16 16 3 3; w = weight f32 64 16 3 3; t = weight f32 32 64 3 3; "
    "a = conv :pad 1 1 1 1 x u; b = conv :pad 1 1 1 1 a v; c = conv :pad 1 1 1 1 b w; d = conv :pad 1 1 1 1 c t";

struct fixture {
    struct arena arena;
    struct graph g;
    struct plan plan;
    struct backend *b;
};

static void set_up(struct fixture *f, double budget)
{
    *f = (struct fixture){0};
    parse_graph(&f->g, &f->arena, four_convolutions);
    f->b = open_device(1, budget);
    struct plan_request request =
        backend_plan_request(f->b, &f->g, same_layouts(&f->g, &f->arena, LAYOUT_BLOCKS_OF_16), &f->arena);
    assert_true(plan_make(&f->plan, &request, &(struct error){0}));
}

static void tear_down(struct fixture *f)
{
    plan_free(&f->plan);
    backend_close(f->b);
    graph_free(&f->g);
    arena_free(&f->arena);
}

static void say_of(struct fixture *f, const struct step *step, enum precision precision, double seconds, double error)
{
    static const char *const choices[N_PRECISIONS] = {"", "winograd"};
    struct step_key key FREED_BY(step_key_free) = step_key_of(f->b, &f->plan, step, precision);
    struct step_cost cost = {.seconds = seconds, .error = error};
    snprintf(cost.choice, sizeof cost.choice, "%s", choices[precision]);
    cost_database_add(f->b->costs, key.text.chars, &cost);
}

static void say(struct fixture *f, const struct step *step, double exact, double inexact, double error)
{
    say_of(f, step, PRECISION_EXACT, exact, 0);
    say_of(f, step, PRECISION_INEXACT, inexact, error);
}

static struct step *convolution(struct fixture *f, int64_t from, int64_t to)
{
    for (size_t i = 0; i < f->plan.steps.count; i++) {
        struct step *s = &f->plan.steps.items[i];
        if (s->n_operands == 2 && s->operands[1].dim[0] == to && s->operands[1].dim[1] == from)
            return s;
    }
    fail_msg("there is no such convolution");
    return NULL;
}

static void say_all(struct fixture *f)
{
    say(f, convolution(f, 16, 16), 3e-3, 2e-3, 3e-6);
    say(f, convolution(f, 16, 64), 6e-3, 3e-3, 5e-6);
    say(f, convolution(f, 64, 32), 4e-3, 3.5e-3, 1e-6);
}

static void expect_chosen(struct fixture *f, int equal, int large, int small)
{
    backend_choose(f->b, &f->plan);
    int n_equal = 0;
    for (size_t i = 0; i < f->plan.steps.count; i++)
        if (f->plan.steps.items[i].n_operands == 2 && f->plan.steps.items[i].operands[1].dim[0] == 16)
            n_equal += f->plan.steps.items[i].way.error > 0;
    assert_int_equal(n_equal, equal);
    assert_int_equal(convolution(f, 16, 64)->way.error > 0, large);
    assert_int_equal(convolution(f, 64, 32)->way.error > 0, small);
    assert_int_equal(plan_inexact_steps(f->b, &f->plan).n_taken, equal + large + small);
}

static void take_back(struct fixture *f, const struct step *step)
{
    TEXT(text);
    step_print(&text, &f->plan, step);
    backend_take_back(f->b, text.chars);
}

// The faster way is taken that loses no more than a model may.
TEST(errors_stay_within_what_is_allowed)
{
    FIXTURE(&f, 1e-5);
    say_all(&f);
    expect_chosen(&f, 2, 1, 1);
    f.b->options.error_budget = 4e-6;
    expect_chosen(&f, 2, 0, 1);
    f.b->options.error_budget = 0;
    expect_chosen(&f, 0, 0, 0);
}

// Steps of one text are taken back together, and stay so when costs are looked up anew.
TEST(what_is_taken_back_stays_exact)
{
    FIXTURE(&f, 1e-5);
    say_all(&f);
    take_back(&f, convolution(&f, 16, 16));
    expect_chosen(&f, 0, 1, 1);
    struct inexact_steps sum = plan_inexact_steps(f.b, &f.plan);
    assert_true(sum.n_taken_back == 2 && fabs(sum.gain - (3e-3 + 0.5e-3)) < 1e-9);
    backend_forget_costs(f.b);
    expect_chosen(&f, 0, 1, 1);
}

// A doubtful cost of an exact way is not measured again where an inexact one is faster by more than it may be wrong.
TEST(what_is_beaten_is_not_repaired)
{
    TEMPORARY_PATH(path);
    for (int is_near = 0; is_near < 2; is_near++) {
        struct fixture f;
        struct step_prices prices;
        set_up(&f, 1e-5);
        const struct step *step = convolution(&f, 16, 16);
        struct step_key key FREED_BY(step_key_free) = step_key_of(f.b, &f.plan, step, PRECISION_EXACT);
        for (int opened = 0; opened < 2; opened++) {
            cost_database_free(f.b->costs);
            OK(cost_database_open(&f.b->costs, path, f.b->device, &error));
            struct step_cost cost = {.seconds = is_near ? 2.5e-3 : 2.7e-3, .is_doubtful = true};
            if (!opened) {
                say_of(&f, step, PRECISION_INEXACT, 2e-3, 3e-6);
                cost_database_replace(f.b->costs, key.text.chars, &cost);
                OK(cost_database_write(f.b->costs, &error));
            }
        }
        f.b->measuring.repairs = REPAIRS_DOUBTFUL;
        OK(step_prices_find(f.b, &f.plan, step, &prices, &error));
        assert_int_equal(f.b->coster.measured.n_steps, is_near);
        tear_down(&f);
    }
}

// A way that is no faster is not taken; nor is what nobody has measured.
TEST(only_gains_are_taken)
{
    FIXTURE(&f, 1e-5);
    expect_chosen(&f, 0, 0, 0);
    say(&f, convolution(&f, 16, 16), 2e-3, 2e-3, 1e-6);
    say(&f, convolution(&f, 16, 64), 2e-3, 1e-3, 1.1e-5);
    say(&f, convolution(&f, 64, 32), 4e-3, 3e-3, 1e-6);
    expect_chosen(&f, 0, 0, 1);
}

// The standard way is measured twice where no inexact one can be had, as no kernel can be compiled, and is exact.
TEST(the_standard_way_is_exact)
{
    FIXTURE(&f, 1e-5);
    LOCAL_LIST(step_choices, list);
    const struct step *step = convolution(&f, 16, 16);
    for (enum precision p = 0; p < N_PRECISIONS; p++) {
        struct step_key key FREED_BY(step_key_free) = step_key_of(f.b, &f.plan, step, p);
        cost_database_add(f.b->costs, key.text.chars, &(struct step_cost){.seconds = p ? 1e-3 : 2e-3, .error = 1e-9});
    }
    expect_chosen(&f, 0, 0, 0);
    const uint8_t *layouts = same_layouts(&f.g, &f.arena, LAYOUT_BLOCKS_OF_16);
    OK(backend_list_choices(f.b, &f.g, layouts, &f.arena, &list, &error));
    assert_int_equal(list.count, 0);
}

// The least of both kinds is what a step may cost, and the sum is that of what was chosen.
TEST(estimates_are_sums_of_what_is_chosen)
{
    FIXTURE(&f, 5e-6);
    struct estimate sum = {0};
    f.b->options.never_measures = true;
    say(&f, convolution(&f, 16, 16), 3e-3, 2e-3, 6e-6);
    say(&f, convolution(&f, 16, 64), 6e-3, 3e-3, 5e-6);
    say(&f, convolution(&f, 64, 32), 4e-3, 3.5e-3, 7e-6);
    OK(backend_choose_priced(f.b, &f.plan, &sum, &error));
    double rest = 0;
    for (size_t i = 0; i < f.plan.steps.count; i++) {
        struct step_cost cost;
        const struct step *step = &f.plan.steps.items[i];
        if (!step->is_constant && step->n_operands != 2) {
            OK(backend_step_cost(f.b, &f.plan, step, &cost, &error));
            rest += cost.seconds;
        }
    }
    assert_true(fabs(sum.seconds - rest - (2 * 3e-3 + 3e-3 + 4e-3)) < 1e-9);
}

// --- generated loops -------------------------------------------------------------------------------------------------

static bool is_printed(const struct step *step)
{
    TEXT(text);
    struct rows_kernel k FREED_BY(rows_kernel_free) = {0};
    return step->kernel == &cpu_kernel_loops.base && rows_print(&text, step, 16, &k);
}

// Every step of loops that can be printed runs so; gives their number.
static size_t check_rows(struct backend *b, const char *text)
{
    ARENA(arena);
    GRAPH(g, &arena, text);
    const uint8_t *layouts = same_layouts(&g, &arena, LAYOUT_ROWS);
    count_prepared_by(b, &g, layouts, "rows", &arena);
    PLAN(plan, b, &g, layouts, &arena);
    return COUNT(size_t, i, plan.steps.count, is_printed(&plan.steps.items[i]));
}

TEST(generated_rows_agree_with_the_reference)
{
    size_t n = 0;
    ARENA(a);
    for (int threads = 1; threads <= 2; threads++) {
        DEVICE(b, open_device(threads, 1e-5));
        for (const char **graph = texts_of(&a, CASES, "rows"); *graph; graph++)
            n += check_rows(b, *graph);
        const char **graphs = texts_of(&a, CONFORMANCE, "graph");
        for (size_t i = 0; graphs[i]; i++)
            n += is_left_out(i, 10) ? 0 : check_rows(b, graphs[i]);
    }
    assert_true(n > some_of(40));
}

// --- measuring -------------------------------------------------------------------------------------------------------

TEST(measured_errors_are_those_of_the_kernel)
{
    FIXTURE(&f, 1e-5);
    struct error error = {0};
    struct result_error first, second, exact;
    struct step_request r = {(struct cpu_backend *)f.b, &f.plan, convolution(&f, 16, 64), NULL, NULL, &error};
    const char *choice = library_has_winograd() ? "winograd" : "generated (winograd m:4 tiles:14)";
    assert_true(cpu_result_error(&r, choice, &first) && cpu_result_error(&r, choice, &second));
    assert_true(cpu_result_error(&r, "", &exact));
    assert_true(exact.excess == 1e-9 && exact.of_choice == exact.of_standard);
    assert_true(first.excess == second.excess && first.of_standard == exact.of_standard);
    assert_true(exact.of_standard > 1e-9 && exact.of_standard < 1e-6);
    assert_true(first.excess < 3e-6 && first.of_choice > first.excess);
}

TEST(both_kinds_are_measured_once)
{
    FIXTURE(&f, 1e-5);
    struct error error = {0};
    struct step_prices p;
    const struct step *step = convolution(&f, 16, 64);
    assert_true(step_prices_find(f.b, &f.plan, step, &p, &error));
    assert_true(p.of[PRECISION_EXACT].seconds > 0 && p.of[PRECISION_EXACT].error == 0);
    uint64_t n = f.b->coster.measured.n_steps;
    if (library_has_winograd()) {
        assert_true(n == 2 && p.of[PRECISION_INEXACT].error > 0 && *p.of[PRECISION_INEXACT].choice);
        struct step_key key FREED_BY(step_key_free) = step_key_of(f.b, &f.plan, step, PRECISION_INEXACT);
        struct step_cost cost;
        assert_true(cost_database_find(f.b->costs, key.text.chars, &cost) &&
                    cost.error == p.of[PRECISION_INEXACT].error);
    }
    backend_forget_costs(f.b);
    assert_true(step_prices_find(f.b, &f.plan, step, &p, &error));
    assert_true(f.b->coster.measured.n_steps == n || !library_has_winograd());
}

// Of steps that differ in the epilogue alone the second one is measured by the choice of the first, and errs as it does.
struct asked {
    struct backend_methods methods;
    size_t n_choices[N_PRECISIONS];   // of the last that was measured
    double known_error;
};
static struct asked asked;

static bool pretend_to_measure(struct backend *b, const struct plan *plan, const struct step *step,
                               const choice_list *among, double best, struct step_cost *ret_cost, struct error *error)
{
    const struct listed_choice *last = &among->items[among->count - 1];
    asked.n_choices[last->precision] = among->count;
    asked.known_error = ret_cost->error;
    *ret_cost = (struct step_cost){.seconds = last->precision == PRECISION_EXACT ? 2e-3 : 1e-3,
                                   .error = last->precision == PRECISION_EXACT ? 0 : 1e-7};
    snprintf(ret_cost->choice, sizeof ret_cost->choice, "%s", last->text);
    return true;
}

TEST(near_steps_choose_alike)
{
    static const char two[] = "x = f32 1 16 8 8; u v = weight f32 16 16 3 3; a = conv :pad 1 1 1 1 x u; "
                              "b = conv :pad 1 1 1 1 x v; r = relu b; output a r";
    ARENA(arena);
    struct step_prices p;
    DEVICE(b, open_device(1, 1e-5));
    asked = (struct asked){.methods = *b->methods};
    asked.methods.measure = pretend_to_measure;
    b->methods = &asked.methods;
    GRAPH(g, &arena, two);
    PLAN(plan, b, &g, same_layouts(&g, &arena, LAYOUT_CHANNELS_LAST), &arena);
    size_t n = 0, seen[2] = {0};
    for (size_t i = 0; i < plan.steps.count && n < 2; i++)
        if (plan.steps.items[i].n_operands == 2) {
            OK(step_prices_find(b, &plan, &plan.steps.items[i], &p, &error));
            seen[n++] = asked.n_choices[PRECISION_INEXACT];
        }
    assert_true(n == 2 && seen[0] > 1 && seen[1] == 1 && asked.known_error == 1e-7);
}

// Convolutions that were made ready, and those that were measured, in each layout.
struct readied {
    struct backend_methods methods;
    struct {
        uint64_t text;
        enum layout layout;
        bool is_measured;
    } steps[64];
    size_t n, fewest;   // fewest: that were ready when one was measured that is not the first
};
static struct readied readied;

static size_t number_of_step(const struct plan *plan, const struct step *step)
{
    TEXT(text);
    size_t i = 0;
    step_print(&text, plan, step);
    while (i < readied.n && readied.steps[i].text != hash_string(text.chars))
        i++;
    if (i == readied.n) {
        readied.steps[readied.n].text = hash_string(text.chars);
        readied.steps[readied.n++].layout = view_find_layout(&step->results[0], LAYOUT_BIT(LAYOUT_COUNT) - 1);
    }
    return i;
}

static void note_ready(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                       bool is_now)
{
    if (step->n_operands == 2)
        number_of_step(plan, step);
}

static bool note_measured(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                          double best, struct step_cost *ret_cost, struct error *error)
{
    if (step->n_operands == 2) {
        size_t own = number_of_step(plan, step);
        enum layout layout = readied.steps[own].layout;
        readied.steps[own].is_measured = true;
        size_t n_ready = COUNT(size_t, i, readied.n, readied.steps[i].layout == layout);
        bool is_first =
            !ANY(size_t, i, readied.n, i != own && readied.steps[i].layout == layout && readied.steps[i].is_measured);
        readied.fewest = !is_first && n_ready < readied.fewest ? n_ready : readied.fewest;
    }
    return pretend_to_measure(b, plan, step, among, best, ret_cost, error);
}

// So their kernels are compiled together.
TEST(steps_that_wait_for_a_choice_are_made_ready_together)
{
    static const char three[] = "x = f32 1 16 8 8; u v w = weight f32 16 16 3 3; a = conv :pad 1 1 1 1 x u; b = conv "
                                ":pad 1 1 1 1 x v; c = conv :pad 1 1 1 1 x w; r = relu b; s = sigmoid c; output a r s";
    ARENA(arena);
    struct estimate estimate;
    DEVICE(b, open_device(1, 1e-5));
    readied = (struct readied){.methods = *b->methods, .fewest = COUNT_OF(readied.steps)};
    readied.methods.make_ready = note_ready;
    readied.methods.measure = note_measured;
    b->methods = &readied.methods;
    GRAPH(g, &arena, three);
    b->policy = LAYOUTS_BEST;
    assert_true(backend_estimate(b, &g, &estimate, &(struct error){0}));
    assert_int_equal(readied.fewest, 3);
}
