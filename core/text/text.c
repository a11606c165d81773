// Text grows by doubling and is always NUL-terminated behind `count`. Reals are printed and read in the C locale: no
// program of the project calls setlocale.
#include "core/text/text.h"
#include "core/memory/vec.h"
#include "core/text/unicode.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void reserve_more(struct text *t, size_t n)
{
    size_t needed;
    if (__builtin_add_overflow(t->count, n, &needed) || needed == SIZE_MAX)
        needed = SIZE_MAX - 1;
    if (needed + 1 > t->capacity)
        vec_grow(&t->chars, &t->capacity, 1, needed + 1);
}

void text_add(struct text *t, const char *chars)
{
    text_add_n(t, chars, strlen(chars));
}

void text_add_n(struct text *t, const char *chars, size_t n)
{
    reserve_more(t, n);
    if (n)
        memcpy(t->chars + t->count, chars, n);
    t->count += n;
    t->chars[t->count] = '\0';
}

// Most of what is printed is short and fits at once.
void text_vprintf(struct text *t, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    reserve_more(t, 32);
    size_t room = t->capacity - t->count;
    int n = vsnprintf(t->chars + t->count, room, format, arguments);
    assert(n >= 0);
    if ((size_t)n >= room) {
        reserve_more(t, (size_t)n);
        vsnprintf(t->chars + t->count, (size_t)n + 1, format, again);
    }
    t->count += (size_t)n;
    va_end(again);
}

void text_add_int(struct text *t, int64_t value)
{
    char digits[20];
    size_t first = sizeof digits;
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do {
        digits[--first] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (value < 0)
        digits[--first] = '-';
    text_add_n(t, digits + first, sizeof digits - first);
}

void text_add_date(struct text *t, int64_t seconds)
{
    char date[sizeof "2026-01-01 00:00" + 16];
    struct tm parts;
    time_t at = (time_t)seconds;
    if (localtime_r(&at, &parts) && strftime(date, sizeof date, "%Y-%m-%d %H:%M", &parts))
        text_add(t, date);
}

void text_printf(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(t, format, arguments);
    va_end(arguments);
}

static void print_shortest(char *digits, size_t size, double value)
{
    if (fabs(value) < 1e15 && value == trunc(value)) {
        snprintf(digits, size, "%.1f", value);
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, size, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            return;
    }
}

void text_add_real(struct text *t, double value)
{
    char digits[40];
    if (isnan(value))
        text_add(t, "nan");
    else if (isinf(value))
        text_add(t, value < 0 ? "-1e999" : "1e999");
    else {
        print_shortest(digits, sizeof digits, value);
        text_add(t, digits);
        if (!strpbrk(digits, ".e"))
            text_add(t, ".0");
    }
}

static void add_quoted_char(struct text *t, unsigned char c)
{
    if (c == '"' || c == '\\')
        text_printf(t, "\\%c", c);
    else if (c == '\n')
        text_add(t, "\\n");
    else if (c == '\t')
        text_add(t, "\\t");
    else if (c < 0x20 || c == 0x7f)
        text_printf(t, "\\x%02X", c);
    else
        text_add_n(t, (const char *)&c, 1);
}

void text_add_quoted(struct text *t, const char *chars)
{
    text_add(t, "\"");
    for (; *chars; chars++)
        add_quoted_char(t, (unsigned char)*chars);
    text_add(t, "\"");
}

// Adds a code point as UTF-16, which JSON escapes are.
static void add_json_escape(struct text *t, uint32_t code)
{
    if (code < 0x10000)
        text_printf(t, "\\u%04" PRIx32, code);
    else
        text_printf(t, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + (code & 0x3FF));
}

static size_t add_json_char(struct text *t, const char *s)
{
    uint32_t code;
    size_t length = unicode_length(s, &code);
    if (length == 0)
        text_add(t, "\\ufffd");
    else if (*s == '"' || *s == '\\')
        text_printf(t, "\\%c", *s);
    else if (*s == '\n')
        text_add(t, "\\n");
    else if (*s == '\t')
        text_add(t, "\\t");
    else if (unicode_is_hidden(code))
        add_json_escape(t, code);
    else
        text_add_n(t, s, length);
    return length ? length : 1;
}

void text_add_json(struct text *t, const char *chars)
{
    text_add(t, "\"");
    while (*chars)
        chars += add_json_char(t, chars);
    text_add(t, "\"");
}

static size_t add_shown_char(struct text *t, const char *s)
{
    uint32_t code;
    size_t length = unicode_length(s, &code);
    if (length == 0 || (length == 1 && unicode_is_hidden(code)))
        text_printf(t, "\\x%02X", (unsigned char)*s);
    else if (unicode_is_hidden(code))
        text_printf(t, "\\u%04" PRIX32, code);
    else
        text_add_n(t, s, length);
    return length ? length : 1;
}

void text_add_shown(struct text *t, const char *chars)
{
    while (*chars)
        chars += add_shown_char(t, chars);
}

void text_add_shown_lines(struct text *t, const char *chars)
{
    while (*chars)
        if (*chars == '\n')
            text_add_n(t, chars++, 1);
        else
            chars += add_shown_char(t, chars);
}

const char *plural_ending(uint64_t n)
{
    return n == 1 ? "" : "s";
}

bool text_ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n > m && strcmp(text + n - m, ending) == 0;
}

bool text_is_among(const char *text, size_t n, const char *const *texts)
{
    while (n-- > 0)
        if (strcmp(texts[n], text) == 0)
            return true;
    return false;
}

void text_clear(struct text *t)
{
    t->count = 0;
    if (t->chars)
        t->chars[0] = '\0';
}

void text_free(struct text *t)
{
    mem_free(t->chars, t->capacity);
    *t = (struct text){0};
}
