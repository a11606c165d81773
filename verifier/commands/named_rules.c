// A name of no rule is a mistake of the command line's, and no empty answer.
#include "verifier/commands/named_rules.h"

#include "core/text/error.h"
#include <string.h>

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
