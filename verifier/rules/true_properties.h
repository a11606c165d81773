// Properties that a proof of a rule may rest on: those that are proved, and axioms. One that is only checked may be
// false where no test gets to, and then whatever follows from it is false there.
#pragma once
#include "properties/property.h"

struct log;

// Leaves out the properties that neither ship nor are proved now. Says to the log which, and why.
void true_properties_keep(struct property_set *set, const struct log *log);
