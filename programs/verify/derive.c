// taso-verify derive: which rules follow from others, by how many rewrites, and by which.
#include "graph/graph_whole.h"
#include "programs/verify/command.h"
#include "programs/verify/commands.h"
#include "selection/example.h"
#include "selection/reach.h"
#include <omp.h>
#include <stdio.h>
#include <string.h>

struct options {
    const char *from;
    int64_t threads, steps, graphs, random;
    bool is_from_generated;
};
static const struct option_spec specs[] = {
    {"from", OPTION_TEXT, offsetof(struct options, from), .metavar = "FILE", .help = "the rules to derive them from"},
    {"generated", OPTION_FLAG, offsetof(struct options, is_from_generated),
     .help = "from the generated ones of these rules alone"},
    {"steps", OPTION_INTEGER, offsetof(struct options, steps), .low = 1, .high = REACH_MAX_STEPS, .metavar = "N",
     .help = "at most so many rewrites"},
    {"graphs", OPTION_INTEGER, offsetof(struct options, graphs), .low = 1, .high = 1e6, .metavar = "N",
     .help = "look at no more than N graphs of each example"},
    {"random", OPTION_INTEGER, offsetof(struct options, random), .low = 0, .high = 1e6, .metavar = "N",
     .help = "examples at random attributes and sizes, of ranks up to 4, beside those"},
    {"threads", OPTION_INTEGER, offsetof(struct options, threads), .letter = 'j', .low = 0, .high = 1024,
     .metavar = "N", .help = "threads; 0: all that this process may use"},
    {0}};
static const struct program program = {
    .name = "taso-verify derive",
    .usage = "RULES... --from FILE [options]",
    .summary = "Says of each rule at how many of its examples (of a few combinations of ranks and axes that it may "
               "have, and random ones) rewrites by other rules lead from its source to its target. A line has the "
               "name, the examples, how many were derived, the most rewrites that one took, and the rules that were "
               "used.",
    .epilog = "Where more graphs than --graphs would have to be looked at, that is said on stderr: it is not known "
              "then whether the example is derived. Exit codes: 0 every rule is derived at all its examples, 1 some "
              "are not, or that is not known, 2 wrong command line, 3 bad input.",
    .options = specs,
};

typedef VEC(const struct rule *) rule_list;

struct derivation {
    size_t n_examples, n_derived, n_cut_short;
    int steps;        // of the longest chain
    rule_list used;   // by the chains of all examples
};

static bool is_target(void *context, const struct graph *g)
{
    return graph_equal(g, context);
}

static void note_used(struct derivation *d, const struct reach_chain *chain)
{
    d->steps = chain->n > d->steps ? chain->n : d->steps;
    for (int i = 0; i < chain->n; i++) {
        bool is_known = ANY(size_t, k, d->used.count, d->used.items[k] == chain->rules[i]);
        if (!is_known)
            vec_push(&d->used, chain->rules[i]);
    }
}

static void derive(const struct rule *rule, const struct reach *reach, int64_t random, struct typing *typing,
                   struct derivation *ret)
{
    struct examples examples FREED_BY(examples_free);
    struct reach_chain chain;
    examples_make(&examples, rule, typing);
    examples_add_random(&examples, rule, (uint32_t)random);
    examples_set_weights(&examples, rule_weights(rule));
    ret->n_examples = examples.items.count;
    for (size_t i = 0; i < examples.items.count; i++)
        if (reach_visit(reach, &examples.items.items[i].source, is_target, &examples.items.items[i].target, &chain)) {
            ret->n_derived++;
            note_used(ret, &chain);
        } else
            ret->n_cut_short += chain.was_cut_short;
}

static void derive_all(const struct rule_set *set, const struct reach *reach, const struct options *o,
                       struct derivation *ret)
{
#pragma omp parallel num_threads(o->threads ? (int)o->threads : omp_get_max_threads())
    {
        struct typing typing FREED_BY(typing_free);
        typing_init(&typing);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < set->rules.count; i++)
            derive(set->rules.items[i], reach, o->random, &typing, &ret[i]);
    }
}

static void print_derivation(const struct rule *rule, const struct derivation *d, const struct options *o)
{
    printf("%-32s %3zu %3zu %d", rule->name, d->n_examples, d->n_derived, d->steps);
    for (size_t i = 0; i < d->used.count; i++)
        printf(" %s", d->used.items[i]->name);
    printf("\n");
    if (d->n_cut_short)
        fprintf(stderr, "%s: %s: whether %zu of the examples are derived is not known: more than %lld graphs\n",
                program.name, rule->name, d->n_cut_short, (long long)o->graphs);
}

// ret_is_all: every rule is derived at all its examples.
static void run(const struct options *o, const struct rule_set *set, const struct rule_set *others, bool *ret_is_all)
{
    LOCAL_ZEROS(struct derivation, derivations, set->rules.count + 1);
    struct reach reach = {(const struct rule *const *)others->rules.items, others->rules.count, (int)o->steps,
                          (int)o->graphs};
    derive_all(set, &reach, o, derivations);
    *ret_is_all = true;
    for (size_t i = 0; i < set->rules.count; i++) {
        print_derivation(set->rules.items[i], &derivations[i], o);
        *ret_is_all =
            *ret_is_all && derivations[i].n_examples > 0 && derivations[i].n_derived == derivations[i].n_examples;
        vec_free(&derivations[i].used);
    }
}

static bool is_generated(const struct rule *r, const void *context)
{
    return rule_is_generated(r);
}

static int run_on(struct command *c, int count, char **paths, struct error *error)
{
    const struct options *o = c->options;
    struct rule_set others FREED_BY(rule_set_free);
    bool is_all = false;
    rule_set_init(&others, &c->arena);
    bool is_read = command_read_rules(c, o->from ? count : 0, paths, "files of rules, and --from FILE", error) &&
                   rule_set_read(&others, o->from, error);
    if (o->is_from_generated)
        rule_set_filter(&others, is_generated, NULL);
    if (is_read)
        run(o, &c->rules, &others, &is_all);
    return !is_read ? COMMAND_FAILED : is_all ? EXIT_DONE : EXIT_CHECK_FAILED;
}

int command_derive(int argc, char **argv)
{
    struct options options = {.steps = 3, .graphs = 1000, .random = 40};
    return command_run(&program, &options, argc, argv, run_on);
}
