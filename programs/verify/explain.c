// taso-verify explain: how a rule follows from the properties, step by step.
#include "core/text/text.h"
#include "programs/verify/command.h"
#include "programs/verify/commands.h"
#include "verifier/entailment/derivation.h"
#include <stdio.h>

struct options {
    const char *folder;
    int64_t terms, steps;
};
static const struct option_spec specs[] = {{"properties", OPTION_TEXT, offsetof(struct options, folder),
                                            .metavar = "FOLDER", .help = "where the *.properties files are"},
                                           {"terms", OPTION_INTEGER, offsetof(struct options, terms), .low = 2,
                                            .high = 1e9, .metavar = "N",
                                            .help = "terms visited by the search for a derivation"},
                                           {"steps", OPTION_INTEGER, offsetof(struct options, steps), .low = 1,
                                            .high = 4e9, .metavar = "N", .help = "steps of Z3 for each obligation"},
                                           {0}};
static const struct program program = {
    .name = "taso-verify explain",
    .usage = "FILE.rules [RULE ...]",
    .summary = "Derives rules from the properties: a chain of terms from source to target, each step one property.",
    .epilog = "Exit codes: 0 done, 1 a rule has no derivation, 2 wrong command line, 3 bad input.",
    .options = specs,
};

struct explain_run {
    const struct options *options;
    struct axioms axioms;
    struct theory *theory;
};

static void print_chain(const struct derivation *d)
{
    for (size_t i = 0; i < d->steps.count; i++) {
        TEXT(out);
        logic_print_term(&out, &d->logic, d->steps.items[i].term);
        if (d->steps.items[i].property)
            printf("  = %s\n      by %s\n", out.chars, d->steps.items[i].property);
        else
            printf("    %s\n", out.chars);
    }
}

static bool explain_output(struct explain_run *run, const struct equation *eq, uint32_t output,
                           const struct entailment *proof)
{
    struct derivation d FREED_BY(property_derivation_free);
    bool is_found = property_derivation_find(&d, &run->axioms, eq, output, proof, (uint32_t)run->options->terms);
    if (eq->n_pairs > 1)
        printf("  output %u\n", output);
    if (is_found)
        print_chain(&d);
    else
        printf("    no chain within %lld terms\n", (long long)run->options->terms);
    return is_found;
}

static bool explain_rule(struct explain_run *run, const struct rule *r)
{
    struct equation eq = equation_of_rule(r);
    struct entailment proof = theory_prove(run->theory, &eq, NULL);
    if (proof.status != ENTAILMENT_PROVED) {
        printf("%s does not follow from the properties\n", r->name);
        return false;
    }
    printf("%s follows from", r->name);
    for (uint32_t i = 0; i < proof.n_uses; i++)
        printf(" %s", proof.uses[i]);
    printf("\n");
    bool is_explained = true;
    for (uint32_t i = 0; i < eq.n_pairs; i++)
        is_explained = explain_output(run, &eq, i, &proof) && is_explained;
    return is_explained;
}

static int explain_all(struct command *c, int count, char **names)
{
    const struct options *o = c->options;
    struct explain_run run = {.options = o};
    bool is_explained = true;
    axioms_make(&run.axioms, &c->properties);
    run.theory = theory_make(&run.axioms, (unsigned)o->steps);
    for (size_t i = 0; i < c->rules.rules.count; i++)
        if (rule_is_named(c->rules.rules.items[i], count, names))
            is_explained = explain_rule(&run, c->rules.rules.items[i]) && is_explained;
    theory_free(run.theory);
    axioms_free(&run.axioms);
    return is_explained ? EXIT_DONE : EXIT_CHECK_FAILED;
}

static int run_on(struct command *c, int count, char **arguments, struct error *error)
{
    const struct options *o = c->options;
    return named_rules_read(&c->rules, count, arguments, error) &&
                   command_read_true_properties(c, &program, o->folder, error)
               ? explain_all(c, count - 1, arguments + 1)
               : COMMAND_FAILED;
}

int command_explain(int argc, char **argv)
{
    char folder[SHARED_PATH_SIZE];
    struct options options = {.folder = property_standard_folder(folder), .terms = 20000, .steps = 200000};
    return command_run(&program, &options, argc, argv, run_on);
}
