// Spaces of the generator.
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "generator/enumerate/space.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct space space;
    struct error error;
    arena_init(&arena);
    space_init(&space, &arena);
    (void)space_parse(&space, "fuzz", (const char *)data, size, &error);
    space_free(&space);
    arena_free(&arena);
    return 0;
}
