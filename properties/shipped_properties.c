// Compared are whole texts, printed, so that nothing depends on which file a property is read from.
#include "properties/shipped_properties.h"

#include "core/text/error.h"
#include "core/text/text.h"
#include <assert.h>
#include <string.h>

void shipped_properties_read(struct property_set *ret_set, struct arena *arena)
{
    struct error error;
    property_set_init(ret_set, arena);
    bool is_read = property_set_parse(ret_set, "shipped properties", shipped_properties_file,
                                      strlen(shipped_properties_file), &error);
    assert(is_read);
    (void)is_read;
}

bool shipped_properties_have(const struct property_set *shipped, const struct property *p)
{
    const struct property *q = property_find(shipped, p->name);
    TEXT(own);
    TEXT(other);
    if (!q)
        return false;
    property_print(&own, p);
    property_print(&other, q);
    return strcmp(own.chars, other.chars) == 0;
}
