// Assignments of large random numbers at which all nodes of a family are well-typed, and their definitions there.
#pragma once
#include "verifier/symbolic_proof/family.h"

struct lane *lanes_make(void);   // memory for the lanes of one family after the other
void lanes_free(struct lane *lanes);
const struct type *family_type(const struct family *f, const struct lane *lane, term_id term);
bool lanes_begin(struct family *f);
// The node in all lanes, or it is left undefined, as are those that read it. False: it has no one form.
bool lanes_define(struct family *f, uint32_t node);
bool family_reads_undefined(const struct family *f, uint32_t node);
bool lanes_agree(struct family *f);                        // are all integers in all lanes what they were found to be?
bool lanes_agree_elsewhere(struct family *f);              // the same at others, of all nodes so far
bool lanes_are_defined(struct family *f, uint32_t node);   // without any change to what the lanes are
bool lanes_remember_alike(struct family *f);   // have both sides the same split trees, whichever the inputs have?
