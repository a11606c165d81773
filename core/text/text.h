// A growable text buffer: what every printer writes to.
#pragma once
#include "core/memory/memory.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *chars;   // NUL-terminated once something was added; NULL while empty
    size_t count, capacity;
};
void text_add(struct text *t, const char *chars);
void text_add_n(struct text *t, const char *chars, size_t n);
void text_add_int(struct text *t, int64_t value);
void text_add_date(struct text *t, int64_t seconds);   // of time(): "2026-01-01 00:00", by the local clock
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *t, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
// The shortest decimal that the S-expression reader takes back as the same real: 3.0, 1e-05; infinities are 1e999 and
// -1e999, which JSON takes too; nan.
void text_add_real(struct text *t, double value);
void text_add_quoted(struct text *t, const char *chars);   // as a string of the S-expression reader
void text_add_json(struct text *t, const char *chars);     // as a JSON string, invalid UTF-8 replaced
// Text for people: nothing of it is obeyed by a terminal or hides (unicode_is_hidden), and it stays on one line: \x1B,
// \u202E.
void text_add_shown(struct text *t, const char *chars);
void text_add_shown_lines(struct text *t, const char *chars);   // ends of lines stay
const char *plural_ending(uint64_t n);                          // of regular nouns: "%zu node%s", n, plural_ending(n)
bool text_ends_with(const char *text, const char *ending);      // and is longer
bool text_is_among(const char *text, size_t n, const char *const *texts);   // looked for from the last to the first
void text_clear(struct text *t);
void text_free(struct text *t);

#define TEXT(name) struct text name FREED_BY(text_free) = {0}   // freed with the block in which it is declared
