// Rules in TASO's protobuf format: each that is read can be printed and read as one of ours.
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "tests/fuzz/fuzz.h"
#include "verifier/rules/taso_rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct rule_set set, again;
    struct error error;
    struct text text = {0};
    arena_init(&arena);
    rule_set_init(&set, &arena);
    rule_set_init(&again, &arena);
    if (taso_rules_read(&set, fuzz_file(data, size), &error)) {
        for (size_t i = 0; i < set.rules.count; i++)
            rule_print(&text, set.rules.items[i]);
        FUZZ_REQUIRE(rule_set_read(&again, fuzz_file((const uint8_t *)text.chars, text.count), &error));
    }
    rule_set_free(&again);
    rule_set_free(&set);
    text_free(&text);
    arena_free(&arena);
    return 0;
}
