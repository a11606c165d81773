// Texts of terms apart from what their variables are called.
#pragma once

struct text;

enum { MOST_NODES_OF_TEXT = 12 };   // the text of a larger pattern, in which subterms are repeated, is not made
// Adds the text with numbers for names, in the order in which they stand: equal for texts that differ in names alone.
void text_add_numbered(struct text *out, const char *text);
