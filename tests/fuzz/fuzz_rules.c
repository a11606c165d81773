// Files of rules: what is printed of those that are read is read back to the same text.
#include "core/text/error.h"
#include "substitutions/rule.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scoped.h"

static bool print_rules(const uint8_t *data, size_t size, struct text *out)
{
    ARENA(arena);
    struct rule_set set FREED_BY(rule_set_free);
    rule_set_init(&set, &arena);
    bool is_read = rule_set_read(&set, fuzz_file(data, size), &(struct error){0});
    for (size_t i = 0; is_read && i < set.rules.count; i++)
        rule_print(out, set.rules.items[i]);
    return is_read;
}

FUZZ_PRINTED_AGAIN(print_rules)
