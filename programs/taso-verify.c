// taso-verify: proofs that hold for every shape. Each sub-command stands in a file of its own.
#include "core/system/program.h"
#include "core/text/error.h"
#include "core/text/options.h"
#include "core/text/options_help.h"
#include "core/text/text.h"
#include "programs/verify/commands.h"
#include <stdio.h>
#include <string.h>

static const struct sub_command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} sub_commands[] = {
    {"derivations", "programs equal to a definition, of other operators", command_derivations},
    {"derive", "which rules follow from others", command_derive},
    {"explain", "derive a rule from the properties, step by step", command_explain},
    {"expressions", "what both sides of rules compute, as one expression each", command_expressions},
    {"model", "compare two models: by rules, over a prime field, in numbers", command_model},
    {"properties", "validate properties from the operators' definitions", command_properties},
    {"rules", "prove substitution rules for all shapes", command_rules},
    {"select", "choose the proved rules that a search is worth", command_select},
    {"symbolic", "prove rules once more, with sizes that have no values", command_symbolic},
    {"try", "run rules and properties at random attributes and large sizes", command_try},
};
#define N_SUB_COMMANDS (sizeof sub_commands / sizeof *sub_commands)

static const char summary[] = "Proves substitution rules and properties of operators, and compares models.";

static const char examples[] =
    "  taso-verify rules candidates.rules -o proved.rules    # which are true for all sizes\n"
    "  taso-verify properties my.properties                  # the same of what is known of operators\n"
    "  taso-verify try proved.rules                          # at random sizes, far beyond those of proofs\n"
    "  taso-verify model model.onnx fast.onnx                # do two models compute the same?\n";

static void print_usage(FILE *out)
{
    fprintf(out, "Usage: taso-verify COMMAND [...]\n\n%s\n\nCommands:\n", summary);
    for (size_t i = 0; i < N_SUB_COMMANDS; i++)
        fprintf(out, "  %-12s %s\n", sub_commands[i].name, sub_commands[i].summary);
    fprintf(out, "\nExamples:\n%s\ntaso-verify COMMAND --help says more.\n", examples);
}

static int print_description(void)
{
    const char *names[N_SUB_COMMANDS + 1] = {0};
    struct program program = {
        .name = "taso-verify", .usage = "COMMAND [...]", .summary = summary, .commands = names, .examples = examples};
    TEXT(text);
    for (size_t i = 0; i < N_SUB_COMMANDS; i++)
        names[i] = sub_commands[i].name;
    options_add_description(&text, &program, NULL);
    return fputs(text.chars, stdout) < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
}

static int refuse(const char *name)
{
    struct error error;
    TEXT(known);
    for (size_t i = 0; i < N_SUB_COMMANDS; i++)
        text_printf(&known, "%s%s", i ? ", " : "", sub_commands[i].name);
    error_set_code(&error, EXIT_USAGE, NULL, "unknown command %.100s: there are %s", name, known.chars);
    return error_exit("taso-verify", &error);
}

static int run_program(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0)
        return options_print_version("taso-verify");
    if (strcmp(argv[1], "--describe") == 0)
        return print_description();
    for (size_t i = 0; i < N_SUB_COMMANDS; i++)
        if (strcmp(argv[1], sub_commands[i].name) == 0)
            return sub_commands[i].run(argc - 2, argv + 2);
    return refuse(argv[1]);
}

int main(int argc, char **argv)
{
    program_begin();
    return program_end("taso-verify", run_program(argc, argv));
}
