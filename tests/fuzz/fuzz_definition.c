// Definitions of operators as text: what is printed of one is read back to the same text.
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "expressions/definition_print.h"
#include "tests/support/definition_parse.h"
#include "tests/fuzz/fuzz.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct error error;
    struct definition d, again;
    struct text first = {0}, second = {0};
    arena_init(&arena);
    if (definition_parse(&arena, "fuzz", (const char *)data, size, &d, &error)) {
        definition_print_typed(&first, &d);
        FUZZ_REQUIRE(definition_parse(&arena, "again", first.chars, first.count, &again, &error));
        definition_print_typed(&second, &again);
        FUZZ_REQUIRE(strcmp(first.chars, second.chars) == 0);
        definition_free(&again);
        definition_free(&d);
    }
    text_free(&first);
    text_free(&second);
    arena_free(&arena);
    return 0;
}
