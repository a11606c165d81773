// Inexact kernels are judged by what they do to the outputs of a whole model.
#include "optimizer/run/prepare_within.h"

#include "backends/backend.h"
#include "backends/costs/cost_database.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/plan_choices.h"
#include "backends/costs/step_cost.h"
#include "backends/cpu/cpu.h"
#include "backends/planning/planner.h"
#include "optimizer/run/reference.h"
#include "tests/support/interruption.h"
#include "tests/support/parse_graph.h"

#define ALLOWED 5e-6
#define KERNEL "generated (winograd m:4 tiles:14)"
#define EXACT_KERNEL "some exact kernel"

// Both convolutions lose as much, and a tanh behind the one with 64 results makes that larger where its weights are.
static const char two_convolutions[] = "x = f32 1 16 32 32; u = weight f32 32 16 3 3; v = weight f32 64 16 3 3; "
                                       "a = conv :pad 1 1 1 1 x u; b = conv :pad 1 1 1 1 x v; t = tanh b; output a t";
// The losses of both add up at most inputs.
static const char one_behind_the_other[] = "x = f32 1 16 32 32; u = weight f32 32 16 3 3; v = weight f32 64 32 3 3; "
                                           "a = conv :pad 1 1 1 1 x u; b = conv :pad 1 1 1 1 a v";

struct fixture {
    struct arena arena;
    struct graph g;
    struct backend *b;
    struct tensor_value weights[2];
    struct given_weights given;
    struct within_request request;
    struct within_error within;
    int n_exact;       // steps of what was prepared last that run by the exact kernel
    double gains[2];   // of the inexact kernels of the convolutions with 32 and 64 results; 0: there is none
};

static void fill(struct fixture *f, int i, int64_t results, int64_t channels, double size)
{
    struct random random = random_seed((uint64_t)i + 1);
    struct tensor_value *w = &f->weights[i];
    w->type = (struct type){.dtype = DTYPE_F32, .rank = 4, .dim = {results, channels, 3, 3}};
    float *data = value_allocate(&f->arena, &w->type);
    for (int64_t k = 0; k < type_elements(&w->type); k++)
        data[k] = (float)(size * random_normal(&random));
    w->data = data;
}

static void say(struct fixture *f, const struct plan *plan, const struct step *step)
{
    double gain = f->gains[step->results[0].dim[1] == 64];
    const struct step_cost costs[] = {{.seconds = 2e-3, .choice = EXACT_KERNEL},
                                      {.seconds = 2e-3 - gain, .error = 1e-7, .choice = KERNEL}};
    for (enum precision p = 0; p < (gain > 0 ? N_PRECISIONS : PRECISION_INEXACT); p++) {
        struct step_key key FREED_BY(step_key_free) = step_key_of(f->b, plan, step, p);
        cost_database_add(f->b->costs, key.text.chars, &costs[p]);
    }
}

static void set_up(struct fixture *f, const char *graph, double size, double gain, double other_gain)
{
    struct error error = {0};
    struct plan plan FREED_BY(plan_free) = {0};
    *f = (struct fixture){.gains = {gain, other_gain}};
    parse_graph(&f->g, &f->arena, graph);
    fill(f, 0, 32, 16, 0.1);
    fill(f, 1, 64, graph == two_convolutions ? 16 : 32, size);
    f->b = cpu_backend_open(&(struct backend_options){.threads = 1, .cost_file = "", .error_budget = ALLOWED}, &error);
    assert_non_null(f->b);
    struct plan_request request = backend_plan_request(f->b, &f->g, NULL, &f->arena);
    assert_true(plan_make(&plan, &request, &error));
    for (size_t i = 0; i < plan.steps.count; i++)
        if (plan.steps.items[i].n_operands == 2)
            say(f, &plan, &plan.steps.items[i]);
    f->given = (struct given_weights){2, f->weights, NULL};
    f->request = (struct within_request){f->b, &f->g, NULL, &f->given, 1};
}

static void tear_down(struct fixture *f)
{
    backend_close(f->b);
    graph_free(&f->g);
    arena_free(&f->arena);
}

// How many inexact kernels the model has.
static uint32_t prepare(struct fixture *f)
{
    struct model *m = prepare_within(&f->request, &f->within, &(struct error){0});
    assert_non_null(m);
    uint32_t n = plan_inexact_steps(f->b, model_plan(m)).n_taken;
    f->n_exact = 0;
    for (size_t i = 0; i < model_plan(m)->steps.count; i++)
        if (model_plan(m)->steps.items[i].way.choice)
            f->n_exact += strcmp(model_plan(m)->steps.items[i].way.choice, EXACT_KERNEL) == 0;
    model_free(m);
    return n;
}

TEST(what_stays_within_is_taken)
{
    FIXTURE(&f, two_convolutions, 0.1, 1e-3, 1e-3);
    assert_int_equal(prepare(&f), 2);
    assert_true(f.within.difference > 0 && f.within.difference <= ALLOWED);
    assert_int_equal(f.within.n_taken_back, 0);
}

// Its own error is the same, and it moves the output by some 1e-4.
TEST(what_a_later_step_makes_larger_is_taken_back)
{
    FIXTURE(&f, two_convolutions, 100, 1e-3, 1e-3);
    assert_int_equal(prepare(&f), 1);
    assert_true(f.within.difference > 0 && f.within.difference <= ALLOWED);
    assert_int_equal(f.within.n_taken_back, 1);
    assert_int_equal(f.n_exact, 1);
    assert_int_equal(prepare(&f), 1);   // and stays so
    assert_int_equal(f.n_exact, 1);
    assert_int_equal(f.within.n_taken_back, 1);
}

static double difference_of(double gain, double other_gain, uint64_t seed)
{
    FIXTURE(&f, one_behind_the_other, 0.1, gain, other_gain);
    f.b->options.error_budget = 1;
    f.request.seed = seed;
    prepare(&f);
    return f.within.difference;
}

// Each of them would do: the one that errs more stays, as it gains more.
TEST(what_gains_least_is_taken_back)
{
    double alone[2] = {0}, both = 0;
    uint64_t seed = 0;
    int larger = 0;
    while (both <= alone[larger] && seed++ < 20) {
        alone[0] = difference_of(1e-3, 0, seed);
        alone[1] = difference_of(0, 1e-3, seed);
        both = difference_of(1e-3, 1e-3, seed);
        larger = alone[1] > alone[0];
    }
    FIXTURE(&f, one_behind_the_other, 0.1, larger ? 0.4e-3 : 1.6e-3, larger ? 1.6e-3 : 0.4e-3);
    assert_true(alone[larger] < both);
    f.request.seed = seed;
    f.b->options.error_budget = (alone[larger] + both) / 2;
    assert_int_equal(prepare(&f), 1);
    assert_true(f.within.difference == alone[larger]);
}

// Nobody knows an inexact choice yet: that is no reason to run in the standard way.
TEST(what_is_known_of_exact_choices_is_taken)
{
    FIXTURE(&f, two_convolutions, 0.1, 0, 0);
    assert_int_equal(prepare(&f), 0);
    assert_int_equal(f.n_exact, 2);
}

static int n_prepared;
static const struct executor *usual;

static bool count_and_prepare(struct model *m, const struct given_weights *weights, struct error *error)
{
    n_prepared++;
    return usual->prepare(m, weights, error);
}

static void count_prepared(struct fixture *f)
{
    static struct backend_methods methods;
    static struct executor executor;
    methods = *f->b->methods;
    executor = *methods.executor;
    usual = methods.executor;
    executor.prepare = count_and_prepare;
    methods.executor = &executor;
    f->b->methods = &methods;
    n_prepared = 0;
}

// By standard choices, by all, and by what is left: which of them errs is not looked for.
TEST(when_interrupted_nothing_is_tried)
{
    FIXTURE(&f, two_convolutions, 100, 1e-3, 1e-3);
    count_prepared(&f);
    interrupt_listen(&interruption);
    assert_int_equal(prepare(&f), 0);
    interrupt_listen(NULL);
    assert_int_equal(n_prepared, 3);
    assert_int_equal(f.n_exact, 2);
}

static void record(struct fixture *f, struct reference *r)
{
    struct error error = {0};
    struct model *m = backend_prepare_from(f->b, &f->g, NULL, NULL, &f->given, &error);
    assert_true(m && reference_record(r, m, &f->g, &error));
    model_free(m);
}

// The round that an end left time for is not all that there is to compare with when nobody asks for one any more.
TEST(a_reference_that_was_cut_is_recorded_anew)
{
    struct reference r FREED_BY(reference_free) = {.n_inputs = 1, .seed = 1, .rounds = 2};
    FIXTURE(&f, two_convolutions, 0.1, 1e-3, 1e-3);
    assert_false(reference_serves(&r));
    interrupt_listen(&interruption);
    record(&f, &r);
    assert_true(reference_serves(&r) && r.recordings[0].rounds == 1);
    interrupt_listen(NULL);
    assert_true(r.is_there && !reference_serves(&r));
    reference_free(&r);
    record(&f, &r);
    assert_true(reference_serves(&r) && r.recordings[0].rounds == 2);
}

static void judge_only(struct fixture *f)
{
    f->request.is_only_judged = true;
    model_free(prepare_within(&f->request, &f->within, &(struct error){0}));
}

// A weight that was judged before is not packed again.
TEST(what_is_only_judged_is_prepared_for_that_alone)
{
    FIXTURE(&f, two_convolutions, 0.1, 1e-3, 1e-3);
    count_prepared(&f);
    judge_only(&f);
    assert_int_equal(n_prepared, 2);
    judge_only(&f);
    assert_int_equal(n_prepared, 2);
}

TEST(where_all_is_exact_nothing_is_judged)
{
    FIXTURE(&f, two_convolutions, 0.1, 0, 0);
    count_prepared(&f);
    judge_only(&f);
    assert_int_equal(n_prepared, 0);
}

TEST(nothing_is_taken_where_nothing_may_be_lost)
{
    FIXTURE(&f, two_convolutions, 0.1, 1e-3, 1e-3);
    f.b->options.error_budget = 0;
    assert_int_equal(prepare(&f), 0);
    assert_true(f.within.difference == 0);
}
