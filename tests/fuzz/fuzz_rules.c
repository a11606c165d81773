// Files of rules: what is printed of those that are read is read back to the same text.
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "substitutions/rule.h"
#include "tests/fuzz/fuzz.h"
#include <string.h>

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
    struct text first = {0}, second = {0};
    if (print_rules(data, size, &first) && first.count) {
        FUZZ_REQUIRE(print_rules((const uint8_t *)first.chars, first.count, &second));
        FUZZ_REQUIRE(strcmp(first.chars, second.chars) == 0);
    }
    text_free(&first);
    text_free(&second);
    return 0;
}
