// What the text of an equation says of windows, at all attributes: instances show only attributes at which both sides
// are well-typed, and types may tie one attribute to another on small images alone (docs/theory/bounds.md, section
// 2.3).
#pragma once
#include "verifier/bounds/classes/index_classes.h"

// The terms of an attribute, or some of them.
struct term_list {
    uint32_t n;
    const struct attribute_term *const *terms;
};
// Do both lists have the same value in every instance, if they have in this one? They are one term after the other the
// same, where sizes of axes of one class are, or conditions make them equal, or both are made of numbers alone.
bool terms_are_alike(struct analysis *an, struct term_list x, struct term_list y);
// The same of the attributes of two nodes; neither may have it.
bool attributes_are_alike(struct analysis *an, uint32_t x, uint32_t y, enum attribute_role role);
// Is the tensor variable read in steps of the same strides wherever it is read, one after the other, but for strides
// that are numbers?
bool variable_is_read_alike(struct analysis *an, uint32_t variable);
