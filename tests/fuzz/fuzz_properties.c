// Files of properties: what is printed of those that are read is read back to the same text.
#include "core/text/error.h"
#include "properties/property.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scoped.h"

static bool print_properties(const uint8_t *data, size_t size, struct text *out)
{
    ARENA(arena);
    struct property_set set FREED_BY(property_set_free);
    property_set_init(&set, &arena);
    bool is_read = property_set_read(&set, fuzz_file(data, size), &(struct error){0});
    for (size_t i = 0; is_read && i < set.properties.count; i++)
        property_print(out, set.properties.items[i]);
    return is_read;
}

FUZZ_PRINTED_AGAIN(print_properties)
