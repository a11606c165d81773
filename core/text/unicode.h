// Characters of UTF-8: which byte sequences are one, and which a terminal or a reader would not show as what they are.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes of the well-formed character at `s` (Unicode 15, table 3-7), with its code point; 0 when there is none.
size_t unicode_length(const char *s, uint32_t *ret_code);
// Controls (C0, DEL, C1), marks that turn the direction of text, and characters without width: what a name may hold to
// look like another, or to be obeyed by a terminal.
bool unicode_is_hidden(uint32_t code);
