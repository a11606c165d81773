// The frame of a command.
#include "verifier/commands/command.h"

#include "core/system/file.h"
#include "core/text/json.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "verifier/rules/true_properties.h"
#include <string.h>

int command_run(const struct program *program, void *options, int argc, char **argv, command_work *work)
{
    struct command c = {.options = options};
    struct error error = {.code = EXIT_BAD_INPUT};
    int code;
    if (!options_begin(program, &argc, argv, options, &code))
        return code;
    rule_set_init(&c.rules, &c.arena);
    property_set_init(&c.properties, &c.arena);
    code = work(&c, argc, argv, &error);
    property_set_free(&c.properties);
    rule_set_free(&c.rules);
    arena_free(&c.arena);
    return code == COMMAND_FAILED ? error_exit(program->name, &error) : code;
}

bool command_write_list(const char *path, const char *key, const struct text *items, struct error *error)
{
    TEXT(out);
    json_begin(&out, NULL, '{');
    json_begin(&out, key, '[');
    text_add(&out, items->count ? items->chars : "");
    json_end(&out, ']');
    json_end(&out, '}');
    text_add(&out, "\n");
    return file_write_text(path, out.chars, out.count, error);
}

bool command_read_rules(struct command *c, int count, char **paths, const char *wanted, struct error *error)
{
    if (count == 0)
        return error_set_code(error, EXIT_USAGE, NULL, "expected %s (see --help)", wanted);
    return ALL(int, i, count, rule_set_read(&c->rules, paths[i], error));
}

static bool has_properties(const char *path)
{
    static const char suffix[] = ".properties";
    size_t length = strlen(path), of_suffix = sizeof suffix - 1;
    return length > of_suffix && strcmp(path + length - of_suffix, suffix) == 0;
}

bool command_read_equations(struct command *c, int count, char **paths, struct equation **ret_equations, size_t *ret_n,
                            struct error *error)
{
    if (count == 0)
        return error_set_code(error, EXIT_USAGE, NULL, "expected files of rules or properties (see --help)");
    for (int i = 0; i < count; i++)
        if (!(has_properties(paths[i]) ? property_set_read(&c->properties, paths[i], error)
                                       : rule_set_read(&c->rules, paths[i], error)))
            return false;
    *ret_n = c->rules.rules.count + c->properties.properties.count;
    struct equation *next = *ret_equations = arena_array(&c->arena, struct equation, *ret_n + 1);
    for (size_t i = 0; i < c->rules.rules.count; i++)
        *next++ = equation_of_rule(c->rules.rules.items[i]);
    for (size_t i = 0; i < c->properties.properties.count; i++)
        *next++ = equation_of_property(c->properties.properties.items[i]);
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
