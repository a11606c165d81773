// The frame of a command.
#include "verifier/commands/command.h"

#include "core/text/log.h"
#include "verifier/rules/true_properties.h"

int command_run(const struct program *program, void *options, int argc, char **argv, command_work *work)
{
    struct command c = {.options = options};
    struct error error = {.code = EXIT_BAD_INPUT};
    int code;
    if (!options_begin(program, &argc, argv, options, &code))
        return code;
    arena_init(&c.arena);
    rule_set_init(&c.rules, &c.arena);
    property_set_init(&c.properties, &c.arena);
    code = work(&c, argc, argv, &error);
    property_set_free(&c.properties);
    rule_set_free(&c.rules);
    arena_free(&c.arena);
    return code == COMMAND_FAILED ? error_exit(program->name, &error) : code;
}

bool command_read_rules(struct command *c, int count, char **paths, const char *wanted, struct error *error)
{
    if (count == 0)
        return error_set_code(error, EXIT_USAGE, NULL, "expected %s (see --help)", wanted);
    for (int i = 0; i < count; i++)
        if (!rule_set_read(&c->rules, paths[i], error))
            return false;
    return true;
}

bool command_read_true_properties(struct command *c, const struct program *program, const char *folder,
                                  struct error *error)
{
    struct log log = {stderr, program->name, LOG_WARNING};
    if (!property_set_read_folder(&c->properties, folder, error))
        return false;
    true_properties_keep(&c->properties, &log);
    return true;
}
