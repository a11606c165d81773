// taso-verify import: rules of other projects in this project's text form.
#include "core/system/file.h"
#include "core/system/files_used.h"
#include "core/text/text.h"
#include "verifier/commands/command.h"
#include "verifier/commands/commands.h"
#include "verifier/rules/taso_rules.h"
#include <stdio.h>

struct options {
    const char *output;
};
static const struct option_spec specs[] = {{"output", OPTION_TEXT, offsetof(struct options, output), .letter = 'o',
                                            .metavar = "FILE", .help = "the rules as text (standard: printed)"},
                                           {0}};
static const struct program program = {
    .name = "taso-verify import",
    .usage = "FILE.pb [-o FILE.rules]",
    .summary = "Reads substitutions in TASO's protobuf format. They are not proved: see taso-verify rules.",
    .epilog = "Exit codes: 0 done, 2 wrong command line, 3 bad input.",
    .options = specs,
};

static int import(struct command *c, int count, char **paths, struct error *error)
{
    const struct options *o = c->options;
    const struct used_file files[] = {{"the input", paths[0], FILE_READ}, {"--output", o->output, FILE_WRITTEN}};
    struct text out = {0};
    bool is_done = count == 1 ? files_used_check(files, 2, error) && taso_rules_read(&c->rules, paths[0], error)
                              : error_set_code(error, EXIT_USAGE, NULL, "expected one file (see --help)");
    for (size_t i = 0; is_done && i < c->rules.rules.count; i++)
        rule_print(&out, c->rules.rules.items[i]);
    if (is_done && o->output)
        is_done = file_write_text(o->output, out.chars, out.count, error);
    else if (is_done)
        fputs(out.chars, stdout);
    text_free(&out);
    return is_done ? EXIT_DONE : COMMAND_FAILED;
}

int command_import(int argc, char **argv)
{
    struct options options = {0};
    return command_run(&program, &options, argc, argv, import);
}
