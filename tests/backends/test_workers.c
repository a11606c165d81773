// Models of a guest run on threads of whoever calls: those of several sessions at once, each with workers of its own,
// give what they give one after the other, and ask nobody else.
#include "backends/costs/graph_cost.h"
#include "backends/cpu/cpu.h"
#include "backends/cpu/kernel.h"
#include "core/system/clock.h"
#include "tests/backends/check_model.h"
#include "tests/support/parse_graph.h"
#include <pthread.h>
#include <stdatomic.h>

enum { SESSIONS = 3, WORKERS = 3, RUNS = 6 };

static const char *const graph_text =
    "x = f32 1 16 20 20; w = weight f32 32 16 3 3; v = weight f32 32 1 3 3; u = weight f32 32 40; "
    "a = conv :pad 1 1 1 1 x w; b = sigmoid a; c = ewmul a b; d = conv :pad 1 1 1 1 :group 32 c v; "
    "p = poolmax :kernel 2 2 :stride 2 2 d; t = transpose :perm 0 2 3 1 p; r = reshape :shape 100 32 t; "
    "m = matmul r u; s = softmax 1 m; q = transpose :perm 1 0 s; k = matmul q s; z = exp k";

// --- workers: a thread for each part ---------------------------------------------------------------------------------

struct meeting {
    pthread_t home;
    atomic_int n_calls, n_abroad;
};
struct part {
    parallel_function *function;
    void *argument;
    int number, n;
    struct meeting *meeting;
};

static void *do_part(void *context)
{
    const struct part *p = context;
    p->function(p->argument, p->number, p->n);
    atomic_fetch_add(&p->meeting->n_calls, 1);
    atomic_fetch_add(&p->meeting->n_abroad, !pthread_equal(pthread_self(), p->meeting->home));
    return NULL;
}

static void run_parts(void *context, int parts, parallel_function *function, void *argument)
{
    pthread_t threads[WORKERS];
    struct part list[WORKERS];
    assert_true(parts > 1 && parts <= WORKERS);
    for (int i = 0; i < parts; i++) {
        list[i] = (struct part){function, argument, i, parts, context};
        assert_int_equal(pthread_create(&threads[i], NULL, do_part, &list[i]), 0);
    }
    for (int i = 0; i < parts; i++)
        pthread_join(threads[i], NULL);
}

// --- sessions --------------------------------------------------------------------------------------------------------

struct session {
    struct backend *backend;
    struct model *model;
    struct arena arena;
    struct graph graph;
    struct tensor_value input, weights[3], output;
    struct meeting meeting;
    bool is_done;
};

static void open_session(struct session *s, bool is_guest, int threads)
{
    struct error error = {0};
    struct random random = random_seed(7);
    struct backend_options options = {
        .threads = WORKERS, .cost_file = "", .is_guest = is_guest, .seconds_per_step = 1e-5};
    arena_init(&s->arena);
    s->backend = cpu_backend_open(&options, &error);
    assert_non_null(s->backend);
    int all = cpu_backend_use_threads(s->backend, threads);
    parse_graph(&s->graph, &s->arena, graph_text);
    fill_leaves(&s->graph, operators[OP_INPUT], &s->input, &s->arena, &random);
    fill_leaves(&s->graph, operators[OP_WEIGHT], s->weights, &s->arena, &random);
    struct given_weights given = {COUNT_OF(s->weights), s->weights, NULL};
    s->model = backend_prepare_from(s->backend, &s->graph, NULL, NULL, &given, &error);
    assert_non_null(s->model);
    cpu_backend_use_threads(s->backend, all);
    model_allocate_outputs(s->model, &s->output, &s->arena);
}

static void *run_session(void *context)
{
    struct session *s = context;
    struct workers workers = {run_parts, &s->meeting};
    s->meeting.home = pthread_self();
    s->is_done = true;
    for (int i = 0; i < RUNS; i++)
        s->is_done = model_run_on(s->model, &workers, &s->input, &s->output, &(struct error){0}) && s->is_done;
    return NULL;
}

static void close_session(struct session *s)
{
    model_free(s->model);
    backend_close(s->backend);
    graph_free(&s->graph);
    arena_free(&s->arena);
}

TEST(sessions_run_at_once_on_their_callers_threads)
{
    struct session sessions[SESSIONS] = {0}, alone = {0};
    pthread_t threads[SESSIONS];
    open_session(&alone, true, WORKERS);
    assert_true(model_run(alone.model, &alone.input, &alone.output, &(struct error){0}));
    for (int i = 0; i < SESSIONS; i++)
        open_session(&sessions[i], true, WORKERS);
    for (int i = 0; i < SESSIONS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_session, &sessions[i]), 0);
    for (int i = 0; i < SESSIONS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SESSIONS; i++) {
        struct session *s = &sessions[i];
        assert_true(s->is_done);
        assert_true(share_of_tolerance(&s->output, &alone.output) <= 1);
        if (((struct cpu_backend *)s->backend)->is_guest)
            assert_true(s->meeting.n_calls > RUNS && s->meeting.n_abroad == s->meeting.n_calls);
        close_session(s);
    }
    close_session(&alone);
}

static void expect_no_workers(bool is_guest, int threads)
{
    struct session s FREED_BY(close_session) = {0};
    open_session(&s, is_guest, threads);
    run_session(&s);
    assert_true(s.is_done && s.meeting.n_calls == 0);
}

// Without a compiler the library's threads do most of the work, and no others shall stand beside them.
TEST(who_is_no_guest_runs_on_threads_of_his_own)
{
    expect_no_workers(false, WORKERS);
}

// The library's steps are not cut into parts, either: what one thread takes would seem to be a part of it.
TEST(one_thread_of_a_guest_asks_nobody)
{
    expect_no_workers(true, 1);
}

static void expect_standard_way(void *context, const struct plan *plan, const struct step *step,
                                const struct step_cost *cost)
{
    assert_true(!*cost->choice);
    *(int *)context += cost->is_doubtful;
}

struct counted {
    int n_steps, n_doubtful;
    double seconds;
};

static void count_doubtful(void *context, const struct plan *plan, const struct step *step,
                           const struct step_cost *cost)
{
    struct counted *c = context;
    c->n_steps++;
    c->n_doubtful += cost->is_doubtful;
    c->seconds += cost->seconds;
}

static struct counted count_steps(struct backend *b, const char *text)
{
    ARENA(arena);
    struct counted counted = {0};
    GRAPH(graph, &arena, text);
    assert_true(backend_visit_steps(b, &graph, count_doubtful, &counted, &(struct error){0}));
    return counted;
}

static struct backend *open_hasty(void)
{
    struct backend_options options = {.threads = 1, .cost_file = "", .is_guest = true, .seconds_per_step = 1e-5};
    struct backend *b = cpu_backend_open(&options, &(struct error){0});
    assert_non_null(b);
    b->measuring.choices_end = clock_seconds() + 1e3;
    return b;
}

// Else what was measured for a fifth of its time would be believed for ever.
TEST(what_is_measured_in_haste_is_doubtful)
{
    DEVICE(b, open_hasty());
    struct counted counted = count_steps(b, graph_text);
    assert_true(counted.n_steps > 4 && counted.n_doubtful == counted.n_steps);
}

#define CONV(stride, size)                                                                                             \
    "x = f32 1 16 " size " 20; w = weight f32 32 16 3 3; z = conv :stride " stride " 1 :pad 1 1 1 1 x w"

// A step as large again of the same kind takes as long again, more where the smaller ones are a chain, which is not
// looked for when it is late; what has another stride is another kind.
TEST(what_is_late_takes_as_long_as_what_is_like_it)
{
    DEVICE(b, open_hasty());
    double seconds = count_steps(b, CONV("1", "20")).seconds;
    size_t n_measured = b->coster.measured.n_steps;
    b->measuring.choices_end = 1e-9;
    struct counted larger = count_steps(b, CONV("1", "40"));
    assert_true(b->coster.measured.n_steps == n_measured && larger.n_doubtful == larger.n_steps);
    assert_true(larger.seconds > 1.5 * seconds && larger.seconds < 10 * seconds);
    count_steps(b, CONV("2", "40"));
    assert_true(b->coster.measured.n_steps > n_measured);
}

// A cost that there is no time to measure again stays, and is not guessed.
TEST(what_is_known_is_not_guessed_when_it_is_late)
{
    const char *large = "x y = f32 2600 2600; s = ewadd x y; z = relu s";
    DEVICE(b, open_hasty());
    b->measuring.ways = WAYS_QUICK;
    struct counted first = count_steps(b, large);
    size_t n_measured = b->coster.measured.n_steps;
    b->measuring.ways = WAYS_AGAIN;
    b->measuring.choices_end = clock_seconds() + 1e-3;
    struct counted again = count_steps(b, large);
    assert_true(b->coster.measured.n_steps == n_measured && n_measured > 0);
    assert_true(again.seconds == first.seconds && again.n_doubtful == first.n_doubtful && first.n_doubtful > 0);
}

// A guest has a time by which it is to be ready: what is not known then is measured in the standard way, and doubted where
// there are others, for the next time to do better.
TEST(steps_have_one_way_when_it_is_late)
{
    struct backend_options options = {.threads = WORKERS, .cost_file = "", .is_guest = true, .seconds_per_step = 1e-5};
    struct error error = {0};
    ARENA(arena);
    int n_doubtful = 0;
    DEVICE(b, cpu_backend_open(&options, &error));
    GRAPH(graph, &arena, graph_text);
    b->measuring.choices_end = 1e-9;
    assert_true(backend_visit_steps(b, &graph, expect_standard_way, &n_doubtful, &error) && n_doubtful > 0);
}
