// One interface to a worker with ONNX Runtime, or to a command; loads are fresh each time.
#include "optimizer/runtime/runtime.h"

#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "optimizer/runtime/command.h"

enum { MOST_LOADS = 40, USUAL_LOADS = 10, LEAST_PAIRS = 2 };

const char *runtime_name(const struct runtime *r)
{
    return r->command ? r->command : r->worker.name;
}

void runtime_close(struct runtime *r)
{
    if (!r->command)
        worker_end(&r->worker);
    r->is_open = false;
}

bool runtime_compares(const struct runtime *r)
{
    return r->is_open && !r->command;
}

// --- outputs ---------------------------------------------------------------------------------------------------------

bool runtime_compare(struct runtime *r, const char *a, const char *b, int n_sets, double tolerance,
                     output_comparisons *ret_outputs, struct error *error)
{
    worker_numbers numbers = {0};
    struct worker *w = &r->worker;
    vec_clear(ret_outputs);
    bool is_done = worker_load_file(w, "a", a, error) && worker_load_file(w, "b", b, error) &&
                   worker_compare(w, "a", "b", n_sets, &numbers, error);
    for (size_t i = 0; is_done && i + 2 < numbers.count; i += 3) {
        struct output_comparison c = {.max_difference = numbers.items[i],
                                      .max_magnitude = numbers.items[i + 1],
                                      .is_trustworthy = numbers.items[i + 2] != 0};
        c.is_equal_enough = c.max_difference <= tolerance * c.max_magnitude;
        vec_push(ret_outputs, c);
    }
    vec_free(&numbers);
    return is_done;
}

// --- times -----------------------------------------------------------------------------------------------------------

static void push_pair(struct pair_times *t, double a, double b)
{
    vec_push(&t->a, a);
    vec_push(&t->b, b);
}

static bool time_loaded(struct runtime *r, double seconds, struct pair_times *t, struct error *error)
{
    worker_numbers numbers = {0};
    bool is_timed = worker_time(&r->worker, "a", "b", seconds, LEAST_PAIRS, &numbers, error);
    for (size_t i = 0; is_timed && i + 1 < numbers.count; i += 2)
        push_pair(t, numbers.items[i], numbers.items[i + 1]);
    vec_free(&numbers);
    return is_timed;
}

// The one that is loaded first is another one each time: memory is given out in that order.
static bool load_and_time(struct runtime *r, const char *const *paths, bool is_turned, double seconds,
                          struct pair_times *t, struct error *error)
{
    static const char *const ids[] = {"a", "b"};
    struct worker *w = &r->worker;
    return worker_drop(w, "a", error) && worker_drop(w, "b", error) &&
           worker_load_file(w, ids[is_turned], paths[is_turned], error) &&
           worker_load_file(w, ids[!is_turned], paths[!is_turned], error) && time_loaded(r, seconds, t, error);
}

// One after the other, so that only one is there; run i of the one makes a pair with run i of the other.
static bool load_and_time_apart(struct runtime *r, const char *const *paths, bool is_turned, double seconds,
                                struct pair_times *t, struct error *error)
{
    struct worker *w = &r->worker;
    worker_numbers numbers[2] = {{0}, {0}};
    bool is_timed = true;
    for (int i = 0; is_timed && i < 2; i++) {
        int which = is_turned ? 1 - i : i;
        is_timed = worker_drop(w, "a", error) && worker_load_file(w, "a", paths[which], error) &&
                   worker_time(w, "a", NULL, seconds / 2, LEAST_PAIRS, &numbers[which], error);
    }
    for (size_t i = 0; is_timed && i < numbers[0].count && i < numbers[1].count; i++)
        push_pair(t, numbers[0].items[i], numbers[1].items[i]);
    vec_free(&numbers[0]);
    vec_free(&numbers[1]);
    return is_timed;
}

static bool measure_by_command(struct runtime *r, const char *const *paths, bool is_turned, struct pair_times *t,
                               struct error *error)
{
    double seconds[2];
    if (!command_measure(r->command, paths[is_turned], &seconds[is_turned], error) ||
        !command_measure(r->command, paths[!is_turned], &seconds[!is_turned], error))
        return false;
    push_pair(t, seconds[0], seconds[1]);
    return true;
}

static bool take_load(struct runtime *r, const char *const *paths, size_t load, double seconds, struct pair_times *t,
                      struct error *error)
{
    bool is_turned = load % 2, is_taken = r->command     ? measure_by_command(r, paths, is_turned, t, error)
                                          : r->has_apart ? load_and_time_apart(r, paths, is_turned, seconds, t, error)
                                                         : load_and_time(r, paths, is_turned, seconds, t, error);
    if (is_taken)
        vec_push(&t->ends, t->a.count);
    return is_taken;
}

static struct side_by_side summarize(struct pair_times *t)
{
    VEC(double) ratios = {0};
    for (size_t i = 0; i < t->a.count; i++)
        vec_push(&ratios, t->a.items[i] / t->b.items[i]);
    struct side_by_side times = {{sample_summarize(t->a.items, t->a.count), sample_summarize(t->b.items, t->b.count)},
                                 ratios_summarize(ratios.items, t->ends.items, t->ends.count)};
    vec_free(&ratios);
    return times;
}

bool runtime_time(struct runtime *r, const char *a, const char *b, size_t least_loads, double seconds,
                  struct side_by_side *ret_times, struct error *error)
{
    const char *const paths[] = {a, b};
    struct pair_times t = {0};
    double started = clock_seconds();
    bool is_timed = true;
    for (size_t load = 0; is_timed && load < MOST_LOADS; load++) {
        bool is_long_enough = load >= least_loads && clock_seconds() - started > seconds;
        if (is_long_enough || (load > 0 && interrupt_requested()))
            break;
        is_timed = take_load(r, paths, load, seconds / USUAL_LOADS, &t, error);
    }
    if (is_timed)
        *ret_times = summarize(&t);
    vec_free(&t.a);
    vec_free(&t.b);
    vec_free(&t.ends);
    return is_timed;
}
