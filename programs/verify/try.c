// taso-verify try: rules and properties run at random attributes and large sizes, without the argument of any proof.
#include "core/system/in_hand.h"
#include "core/text/text.h"
#include "programs/verify/command.h"
#include "programs/verify/commands.h"
#include "verifier/testing/random_trials.h"
#include <inttypes.h>
#include <omp.h>
#include <string.h>

struct options {
    int64_t threads, instances, attempts, largest, seed, steps;
    bool far, quiet;
};
static const struct option_spec specs[] = {
    {"instances", OPTION_INTEGER, offsetof(struct options, instances), .low = 1, .high = 1e9, .metavar = "N",
     .help = "instances to run of each equation"},
    {"attempts", OPTION_INTEGER, offsetof(struct options, attempts), .low = 1, .high = 1e9, .metavar = "N",
     .help = "random choices of attributes and sizes to look for them in, at most"},
    {"largest", OPTION_INTEGER, offsetof(struct options, largest), .low = 1, .high = LARGEST_TRIED, .metavar = "N",
     .help = "largest size of an axis"},
    {"steps", OPTION_INTEGER, offsetof(struct options, steps), .low = 1, .high = 1e12, .metavar = "N",
     .help = "types tried for each choice"},
    {"far", OPTION_FLAG, offsetof(struct options, far),
     .help = "ranks up to 6, attributes that double up to 33, and one long axis"},
    {"seed", OPTION_INTEGER, offsetof(struct options, seed), .low = 0, .high = 1e15, .metavar = "N",
     .help = "of the choices"},
    {"threads", OPTION_INTEGER, offsetof(struct options, threads), .letter = 'j', .low = 0, .high = 1024,
     .metavar = "N", .help = "threads; 0: all that this process may use"},
    {"quiet", OPTION_FLAG, offsetof(struct options, quiet), .letter = 'q', .help = "print failures and totals only"},
    {0}};
static const struct program program = {
    .name = "taso-verify try",
    .usage = "FILE.rules|FILE.properties ... [options]",
    .summary = "Runs rules and properties at random attributes and sizes, larger than those that proofs look at.",
    .epilog = "Exit codes: 0 all agree, 1 one has sides that differ, 2 wrong command line, 3 bad input.",
    .options = specs,
};

struct result {
    bool is_equal;
    uint32_t instances, overflows;
    struct counterexample counterexample;
};
struct try_run {
    const struct options *options;
    size_t n;
    struct equation *equations;
    struct result *results;
};

static void try_all(struct try_run *run, struct arena *arena)
{
    const struct options *o = run->options;
    int threads = o->threads ? (int)o->threads : omp_get_max_threads();
    struct in_hand in_hand;
    in_hand_start(&in_hand, arena, o->quiet ? NULL : stderr, "equations", run->n, threads);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t i = 0; i < (int64_t)run->n; i++) {
        struct result *result = &run->results[i];
        struct trials trials = {.search = {.seed = (uint64_t)o->seed,
                                           .largest = (int)o->largest,
                                           .is_far = o->far,
                                           .wanted = (uint32_t)o->instances,
                                           .attempts = (uint32_t)o->attempts,
                                           .step_limit = (uint64_t)o->steps}};
        in_hand_take(&in_hand, omp_get_thread_num(), run->equations[i].name);
        result->is_equal = trials_run(&trials, &run->equations[i], &result->counterexample);
        result->instances = trials.search.instances;
        result->overflows = trials.overflows;
        in_hand_finish(&in_hand, omp_get_thread_num());
    }
    in_hand_end(&in_hand);
}

static bool print_all(const struct try_run *run)
{
    size_t n_different = 0, n_untried = 0;
    uint64_t instances = 0, overflows = 0;
    for (size_t i = 0; i < run->n; i++) {
        const struct result *result = &run->results[i];
        instances += result->instances;
        overflows += result->overflows;
        n_different += !result->is_equal;
        n_untried += result->instances == 0;
        if (!result->is_equal)
            printf("%s: %s\n", run->equations[i].name, result->counterexample.text.chars);
        else if (!run->options->quiet || result->instances == 0)
            printf("%s: %" PRIu32 " instance%s\n", run->equations[i].name, result->instances,
                   plural_ending(result->instances));
    }
    printf("%zu equation%s at %" PRIu64 " instance%s: %zu differ, %zu have no instance\n", run->n,
           plural_ending(run->n), instances, plural_ending(instances), n_different, n_untried);
    if (overflows)
        printf("%" PRIu64 " instance%s overflowed: entries that are numbers on one side alone tell nothing there\n",
               overflows, plural_ending(overflows));
    return n_different == 0;
}

static int try_files(struct command *c, int count, char **paths, struct error *error)
{
    struct try_run run = {.options = c->options};
    if (!command_read_equations(c, count, paths, &run.equations, &run.n, error))
        return COMMAND_FAILED;
    run.results = arena_array(&c->arena, struct result, run.n + 1);
    try_all(&run, &c->arena);
    int code = print_all(&run) ? EXIT_DONE : EXIT_CHECK_FAILED;
    for (size_t i = 0; i < run.n; i++)
        counterexample_free(&run.results[i].counterexample);
    return code;
}

int command_try(int argc, char **argv)
{
    struct options options = {.instances = 40, .attempts = 400, .largest = 13, .steps = 300000, .seed = 1};
    return command_run(&program, &options, argc, argv, try_files);
}
