// taso-verify symbolic: rules proved for all sizes with symbols for sizes, one by one.
#include "core/system/clock.h"
#include "core/system/in_hand.h"
#include "core/text/text.h"
#include "verifier/commands/command.h"
#include "verifier/commands/commands.h"
#include "verifier/symbolic_proof/symbolic.h"
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
    .usage = "FILE.rules ... [options]",
    .summary = "Proves rules a second time, for sizes and attributes that have no values.",
    .epilog = "Exit codes: 0 all proved, 1 some are unknown, 2 wrong command line, 3 bad input.",
    .options = specs,
};

static void prove_all(const struct options *o, const struct rule_set *rules, struct symbolic_proof *proofs,
                      double *seconds, struct arena *arena)
{
    int threads = o->threads ? (int)o->threads : omp_get_max_threads();
    struct in_hand in_hand;
    in_hand_start(&in_hand, arena, o->quiet ? NULL : stderr, "rules", rules->rules.count, threads);
#pragma omp parallel num_threads(threads)
    {
        struct symbolic_prover prover;
        symbolic_prover_init(&prover);
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < (int64_t)rules->rules.count; i++) {
            const struct rule *rule = rules->rules.items[i];
            struct equation eq = equation_of_rule(rule);
            double begin = clock_thread_seconds();
            in_hand_take(&in_hand, omp_get_thread_num(), rule->name);
            symbolic_prove(&prover, &eq, &proofs[i]);
            seconds[i] = clock_thread_seconds() - begin;
            in_hand_finish(&in_hand, omp_get_thread_num());
        }
        symbolic_prover_free(&prover);
    }
    in_hand_end(&in_hand);
}

static int prove_files(struct command *c, int count, char **paths, struct error *error)
{
    const struct options *o = c->options;
    const struct rule_set *rules = &c->rules;
    size_t n_proved = 0;
    double sum = 0, largest = 0;
    if (!command_read_rules(c, count, paths, "files of rules", error))
        return COMMAND_FAILED;
    struct symbolic_proof *proofs = arena_array(&c->arena, struct symbolic_proof, rules->rules.count + 1);
    double *seconds = arena_array(&c->arena, double, rules->rules.count + 1);
    prove_all(o, rules, proofs, seconds, &c->arena);
    for (size_t i = 0; i < rules->rules.count; i++) {
        n_proved += proofs[i].is_proved;
        sum += seconds[i];
        largest = seconds[i] > largest ? seconds[i] : largest;
        if (!o->quiet && proofs[i].is_proved)
            printf("%s: proved, in %" PRIu32 " families\n", rules->rules.items[i]->name, proofs[i].families);
        else if (!o->quiet)
            printf("%s: unknown: %s\n", rules->rules.items[i]->name, proofs[i].why.chars);
        text_free(&proofs[i].why);
    }
    printf("%zu rule%s: %zu proved, %zu unknown\n", rules->rules.count, plural_ending(rules->rules.count), n_proved,
           rules->rules.count - n_proved);
    if (!o->quiet)
        fprintf(stderr, "%.1f seconds of one core, %.2f at most for one rule\n", sum, largest);
    return n_proved == rules->rules.count ? EXIT_DONE : EXIT_CHECK_FAILED;
}

int command_symbolic(int argc, char **argv)
{
    struct options options = {0};
    return command_run(&program, &options, argc, argv, prove_files);
}
