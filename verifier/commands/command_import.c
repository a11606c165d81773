// taso-verify import: rules of other projects in this project's text form.
#include "core/memory/arena.h"
#include "core/system/file.h"
#include "core/system/files_used.h"
#include "core/text/error.h"
#include "core/text/options.h"
#include "core/text/text.h"
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

static bool import(const char *path, const struct options *options, struct error *error)
{
    struct arena arena;
    struct rule_set set;
    struct text out = {0};
    arena_init(&arena);
    rule_set_init(&set, &arena);
    const struct used_file files[] = {{"the input", path, FILE_READ}, {"--output", options->output, FILE_WRITTEN}};
    bool is_done = files_used_check(files, 2, error) && taso_rules_read(&set, path, error);
    for (size_t i = 0; is_done && i < set.rules.count; i++)
        rule_print(&out, set.rules.items[i]);
    if (is_done && options->output)
        is_done = file_write_text(options->output, out.chars, out.count, error);
    else if (is_done)
        fputs(out.chars, stdout);
    text_free(&out);
    rule_set_free(&set);
    arena_free(&arena);
    return is_done;
}

int command_import(int argc, char **argv)
{
    struct options options = {0};
    struct error error = {.code = EXIT_BAD_INPUT};
    int code;
    if (!options_begin(&program, &argc, argv, &options, &code))
        return code;
    bool is_done = argc == 1 ? import(argv[0], &options, &error)
                             : error_set_code(&error, EXIT_USAGE, NULL, "expected one file (see --help)");
    return is_done ? EXIT_DONE : error_exit(program.name, &error);
}
