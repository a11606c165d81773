// Definitions of operators as text: what is printed of one is read back to the same text.
#include "core/text/error.h"
#include "expressions/definition_parse.h"
#include "expressions/definition_print.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scoped.h"

static bool print_definition(const uint8_t *data, size_t size, struct text *out)
{
    ARENA(arena);
    struct definition d;
    bool is_read = definition_parse(&arena, "fuzz", (const char *)data, size, &d, &(struct error){0});
    if (is_read) {
        definition_print_typed(out, &d);
        definition_free(&d);
    }
    return is_read;
}

FUZZ_PRINTED_AGAIN(print_definition)
