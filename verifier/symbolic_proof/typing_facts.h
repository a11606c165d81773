// Equations of sizes that well-typed applications meet (docs/theory/symbolic.md, S3).
#pragma once
#include "verifier/symbolic_proof/family.h"

void family_add_typing(struct family *f, uint32_t node);     // what the node being well-typed says
bool family_knows_typing(struct family *f, uint32_t node);   // and is there nothing else to it?
bool family_has_empty_windows(struct family *f);             // in which a maximum may have no element
// An entry of a list of the node, or the standard where it has none.
poly family_entry_or(struct family *f, uint32_t node, enum attribute_role role, int entry, int64_t standard);
// The room that a window leaves on an axis of the image, in single steps: the dividend of its size. NO_POLY: of no
// known form.
poly family_room_of_window(struct family *f, uint32_t node, int axis, int n_axes);
