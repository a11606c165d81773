// The frame of a command.
#include "programs/verify/command.h"

#include "core/system/file.h"
#include "core/text/json.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "properties/shipped_properties.h"
#include "substitutions/pattern.h"
#include "verifier/rules/property_verdict.h"
#include "verifier/symbolic_proof/symbolic.h"
#include "verifier/testing/judge.h"
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

bool rule_is_named(const struct rule *r, int count, char **names)
{
    return ANY(int, i, count, strcmp(names[i], r->name) == 0) || count == 0;
}

bool named_rules_read(struct rule_set *rules, int count, char **positional, struct error *error)
{
    if (count == 0)
        return error_set_code(error, EXIT_USAGE, NULL, "expected a file of rules (see --help)");
    bool is_read = rule_set_read(rules, positional[0], error);
    for (int i = 1; i < count && is_read; i++) {
        bool is_found = ANY(size_t, k, rules->rules.count, rule_is_named(rules->rules.items[k], 1, &positional[i]));
        is_read = is_found || error_set(error, positional[0], 0, 0, "no rule named %s", positional[i]);
    }
    return is_read;
}

bool command_read_equations(struct command *c, int count, char **paths, struct equation **ret_equations, size_t *ret_n,
                            struct error *error)
{
    if (count == 0)
        return error_set_code(error, EXIT_USAGE, NULL, "expected files of rules or properties (see --help)");
    for (int i = 0; i < count; i++)
        if (!(text_ends_with(paths[i], ".properties") ? property_set_read(&c->properties, paths[i], error)
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

// --- properties that proofs may rest on ------------------------------------------------------------------------------

struct validation {
    struct arena arena;
    struct property_set shipped;
    struct judge judge;
    struct symbolic_prover symbols;
    const struct log *log;
};

static void validation_begin(struct validation *v, const struct log *log)
{
    arena_init(&v->arena);
    shipped_properties_read(&v->shipped, &v->arena);
    judge_init(&v->judge);
    symbolic_prover_init(&v->symbols);
    v->log = log;
}

static void validation_end(struct validation *v)
{
    symbolic_prover_free(&v->symbols);
    judge_free(&v->judge);
    property_set_free(&v->shipped);
    arena_free(&v->arena);
}

static bool is_good_now(struct validation *v, const struct property *p)
{
    struct property_verdict verdict FREED_BY(property_verdict_free) = property_verdict_find(p, &v->judge, &v->symbols);
    bool is_good = property_verdict_is_good(&verdict);
    if (!is_good)
        log_warning(v->log, "%s:%u:%u: no proof rests on %s, which is %s: see taso-verify properties", p->file, p->line,
                    p->column, p->name, property_standing_name(verdict.standing));
    return is_good;
}

// Leaves out those that neither ship nor are proved now, and says to the log which, and why: what is only checked may
// be false where no test gets to, and then whatever follows from it is false there. Those that ship cost a comparison
// each, so that only an author's own are judged.
static void true_properties_keep(struct property_set *set, const struct log *log)
{
    struct validation v FREED_BY(validation_end);
    size_t n_kept = 0;
    validation_begin(&v, log);
    for (size_t i = 0; i < set->properties.count; i++) {
        struct property *p = set->properties.items[i];
        if (shipped_properties_have(&v.shipped, p) || is_good_now(&v, p))
            set->properties.items[n_kept++] = p;
        else
            pattern_free(&p->pattern);
    }
    set->properties.count = n_kept;
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
