// The properties that ship, as they were when the project was built: the suite proves them all. Of any other file
// somebody has to find out first.
#pragma once
#include "properties/property.h"

extern const char shipped_properties_file[];   // the texts of all files

void shipped_properties_read(struct property_set *ret_set, struct arena *arena);
// Is it one of them, by name and whole text?
bool shipped_properties_have(const struct property_set *shipped, const struct property *p);
