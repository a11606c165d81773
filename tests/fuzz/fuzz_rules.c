// Files of rules: what is printed of those that are read is read back to the same text.
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "substitutions/rule.h"
#include "tests/fuzz/fuzz.h"

static bool print_rules(const uint8_t *data, size_t size, struct text *out)
{
    struct arena arena;
    struct rule_set set;
    struct error error;
    arena_init(&arena);
    rule_set_init(&set, &arena);
    bool is_read = rule_set_read(&set, fuzz_file(data, size), &error);
    for (size_t i = 0; is_read && i < set.rules.count; i++)
        rule_print(out, set.rules.items[i]);
    rule_set_free(&set);
    arena_free(&arena);
    return is_read;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_require_printed_again(data, size, print_rules);
    return 0;
}
