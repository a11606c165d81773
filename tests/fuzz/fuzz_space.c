// Spaces of the generator.
#include "core/text/error.h"
#include "generator/enumerate/space.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scoped.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA(arena);
    struct space space FREED_BY(space_free);
    space_init(&space, &arena);
    (void)space_parse(&space, "fuzz", (const char *)data, size, &(struct error){0});
    return 0;
}
