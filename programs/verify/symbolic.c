// taso-verify symbolic: rules and properties proved for all sizes with symbols for sizes, one by one.
#include "verifier/symbolic_proof/symbolic.h"
#include "core/system/clock.h"
#include "core/system/in_hand.h"
#include "core/text/text.h"
#include "programs/verify/command.h"
#include "programs/verify/commands.h"
#include <inttypes.h>
#include <omp.h>
#include <string.h>

struct options {
    int64_t threads;
    bool quiet;
};
static const struct option_spec specs[] = {
    {"threads", OPTION_INTEGER, offsetof(struct options, threads), .letter = 'j', .low = 0, .high = 1024,
     .metavar = "N", .help = "threads; 0: all that this process may use"},
    {"quiet", OPTION_FLAG, offsetof(struct options, quiet), .letter = 'q', .help = "print totals only"},
    {0}};
static const struct program program = {
    .name = "taso-verify symbolic",
    .usage = "FILE ... [options]",
    .summary =
        "Proves rules and properties (*.properties) for sizes and attributes that have no values, and tests nothing.",
    .epilog = "Exit codes: 0 all proved, 1 some are unknown, 2 wrong command line, 3 bad input.",
    .options = specs,
};

static void prove_all(const struct options *o, const struct equation *equations, size_t n,
                      struct symbolic_proof *proofs, double *seconds, struct arena *arena)
{
    int threads = o->threads ? (int)o->threads : omp_get_max_threads();
    struct in_hand in_hand;
    in_hand_start(&in_hand, arena, o->quiet ? NULL : stderr, "equations", n, threads);
#pragma omp parallel num_threads(threads)
    {
        struct symbolic_prover prover FREED_BY(symbolic_prover_free);
        symbolic_prover_init(&prover);
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < (int64_t)n; i++) {
            double begin = clock_thread_seconds();
            in_hand_take(&in_hand, omp_get_thread_num(), equations[i].name);
            symbolic_prove(&prover, &equations[i], &proofs[i]);
            seconds[i] = clock_thread_seconds() - begin;
            in_hand_finish(&in_hand, omp_get_thread_num());
        }
    }
    in_hand_end(&in_hand);
}

static int prove_files(struct command *c, int count, char **paths, struct error *error)
{
    const struct options *o = c->options;
    struct equation *equations;
    size_t n, n_proved = 0;
    double sum = 0, largest = 0;
    if (!command_read_equations(c, count, paths, &equations, &n, error))
        return COMMAND_FAILED;
    struct symbolic_proof *proofs = arena_array(&c->arena, struct symbolic_proof, n + 1);
    double *seconds = arena_array(&c->arena, double, n + 1);
    prove_all(o, equations, n, proofs, seconds, &c->arena);
    for (size_t i = 0; i < n; i++) {
        n_proved += proofs[i].is_proved;
        sum += seconds[i];
        largest = seconds[i] > largest ? seconds[i] : largest;
        if (!o->quiet && proofs[i].is_proved)
            printf("%s: proved, in %" PRIu32 " families\n", equations[i].name, proofs[i].families);
        else if (!o->quiet)
            printf("%s: unknown: %s\n", equations[i].name, proofs[i].why.chars);
        text_free(&proofs[i].why);
    }
    printf("%zu equation%s: %zu proved, %zu unknown\n", n, plural_ending(n), n_proved, n - n_proved);
    if (!o->quiet)
        fprintf(stderr, "%.1f seconds of one core, %.2f at most for one equation\n", sum, largest);
    return n_proved == n ? EXIT_DONE : EXIT_CHECK_FAILED;
}

int command_symbolic(int argc, char **argv)
{
    struct options options = {0};
    return command_run(&program, &options, argc, argv, prove_files);
}
