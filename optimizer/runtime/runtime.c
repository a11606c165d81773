// One interface to a worker with ONNX Runtime, or to a command; loads are fresh each time.
#include "optimizer/runtime/runtime.h"

#include "core/text/error.h"
#include "optimizer/run/contest.h"
#include "optimizer/runtime/command.h"
#include <string.h>

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

bool runtime_is_onnxruntime(const char *name, const char **ret_provider)
{
    static const char own[] = "onnxruntime";
    size_t n = sizeof own - 1;
    if (strncmp(name, own, n) != 0 || (name[n] && (name[n] != ':' || !name[n + 1])))
        return false;
    *ret_provider = name[n] ? name + n + 1 : NULL;
    return true;
}

bool runtime_compares(const struct runtime *r)
{
    return r->is_open && !r->command;
}

// --- outputs ---------------------------------------------------------------------------------------------------------

bool runtime_compare(struct runtime *r, const char *a, const char *b, int n_sets, double tolerance,
                     output_comparisons *ret_outputs, struct error *error)
{
    LOCAL_LIST(worker_numbers, numbers);
    struct worker *w = &r->worker;
    vec_clear(ret_outputs);
    bool is_done = worker_load_file(w, "a", a, error) && worker_load_file(w, "b", b, error) &&
                   worker_compare(w, "a", "b", n_sets, &numbers, error);
    for (size_t i = 0; is_done && i + 3 < numbers.count; i += 4) {
        struct output_comparison c = {.max_difference = numbers.items[i],
                                      .max_magnitude = numbers.items[i + 1],
                                      .is_trustworthy = numbers.items[i + 2] != 0,
                                      .is_finite = numbers.items[i + 3] != 0};
        c.is_equal_enough = output_is_within(&c, tolerance);
        vec_push(ret_outputs, c);
    }
    return is_done;
}

// --- times -----------------------------------------------------------------------------------------------------------

static const char *const ids[] = {"a", "b"};

struct pair {
    struct runtime *runtime;
    const char *paths[2];
};

static bool load_file(void *context, size_t i, struct error *error)
{
    struct pair *p = context;
    return p->runtime->command || worker_load_file(&p->runtime->worker, ids[i], p->paths[i], error);
}

static bool run_file(void *context, size_t i, double *ret_seconds, struct error *error)
{
    struct pair *p = context;
    return p->runtime->command ? command_measure(p->runtime->command, p->paths[i], ret_seconds, error)
                               : worker_run(&p->runtime->worker, ids[i], ret_seconds, error);
}

// A worker that is gone said before what it says now.
static void unload_file(void *context, size_t i)
{
    struct pair *p = context;
    struct error ignored = {0};
    if (!p->runtime->command && !p->runtime->worker.is_gone)
        worker_drop(&p->runtime->worker, ids[i], &ignored);
}

bool runtime_use_one_thread(struct runtime *r, struct error *error)
{
    return !r->command && worker_use_threads(&r->worker, 1, error);
}

bool runtime_time(struct runtime *r, const char *a, const char *b, const struct runtime_timing *timing,
                  struct side_by_side *ret_times, struct error *error)
{
    static const bool is_result[] = {false, true};
    struct pair pair = {r, {a, b}};
    struct contest_runner runner = {&pair, load_file, run_file, unload_file};
    struct contest contest = {.n = 2,
                              .is_result = is_result,
                              .seconds = timing->seconds,
                              .loads = timing->loads,
                              .deadline = timing->deadline,
                              .expected = timing->expected,
                              .most_loaded = r->has_apart ? 1 : 0,
                              .loads_itself = r->command != NULL};
    struct contest_outcome outcome = {0};
    *ret_times = (struct side_by_side){0};
    if (!contest_hold(&runner, &contest, &outcome, error))
        return false;
    ret_times->is_disturbed = outcome.is_disturbed;
    if (!outcome.is_undecided && !outcome.is_disturbed)
        *ret_times = (struct side_by_side){{outcome.times[0], outcome.times[1]}, outcome.gain};
    return true;
}
