// A reader without recursion. Items wait on one stack; an opening bracket remembers where its list begins there, the
// closing one moves the items behind that place into the arena and leaves one list in their stead:
//
//     pending  a b | c d | e f      open lists at 2 and 4;  after ')':  a b | c d (e f)
#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/memory/vec.h"
#include "core/system/file.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "core/text/unicode.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    unsigned line, column;
};
struct open_list {
    size_t first;   // of its items, in `pending`
    struct place place;
};
struct reader {
    struct arena *arena;
    struct error *error;
    const char *file;
    const unsigned char *next, *end;
    struct place place;   // of *next
    VEC(struct sexp) pending;
    struct text token;   // a string being unescaped
    size_t depth;
    struct open_list open[SEXP_MAX_DEPTH];
};

static bool is_space(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_control(unsigned char c)
{
    return (c < 0x20 && !is_space(c)) || c == 0x7f;
}

static bool ends_symbol(unsigned char c)
{
    return is_space(c) || is_control(c) || c == '(' || c == ')' || c == '"' || c == ';';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_utf8_continuation(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

static unsigned char take_char(struct reader *r)
{
    unsigned char c = *r->next++;
    if (c == '\n')
        r->place = (struct place){r->place.line + 1, 1};
    else if (!is_utf8_continuation(c))
        r->place.column++;
    return c;
}

static bool fail_at(struct reader *r, struct place at, const char *message)
{
    return error_set(r->error, r->file, at.line, at.column, "%s", message);
}

static void push_item(struct reader *r, struct place at, struct sexp item)
{
    item.line = at.line;
    item.column = at.column;
    vec_push(&r->pending, item);
}

static void skip_comment(struct reader *r)
{
    while (r->next < r->end && *r->next != '\n')
        take_char(r);
}

static bool open_list(struct reader *r)
{
    if (r->depth == SEXP_MAX_DEPTH)
        return error_set(r->error, r->file, r->place.line, r->place.column, "lists are nested more than %d deep",
                         SEXP_MAX_DEPTH);
    r->open[r->depth++] = (struct open_list){r->pending.count, r->place};
    take_char(r);
    return true;
}

static struct sexp list_of_pending_from(struct reader *r, size_t first)
{
    size_t count = r->pending.count - first;
    struct sexp list = {.kind = SEXP_LIST, .count = count};
    if (count)
        list.items = arena_copy_array(r->arena, r->pending.items + first, count);
    r->pending.count = first;
    return list;
}

static bool close_list(struct reader *r)
{
    if (r->depth == 0)
        return fail_at(r, r->place, "`)` without `(`");
    take_char(r);
    struct open_list open = r->open[--r->depth];
    push_item(r, open.place, list_of_pending_from(r, open.first));
    return true;
}

static int hexadecimal_value(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool read_hexadecimal_escape(struct reader *r, struct place at, char *ret_char)
{
    int high = r->end - r->next >= 2 ? hexadecimal_value(r->next[0]) : -1;
    int low = high >= 0 ? hexadecimal_value(r->next[1]) : -1;
    if (low < 0)
        return fail_at(r, at, "`\\x` needs two hexadecimal digits");
    if (high == 0 && low == 0)
        return fail_at(r, at, "a string may not contain NUL");
    take_char(r);
    take_char(r);
    *ret_char = (char)(high * 16 + low);
    return true;
}

// `at` is the place of the backslash, which has been taken.
static bool read_escape(struct reader *r, struct place at, char *ret_char)
{
    unsigned char c = r->next < r->end ? take_char(r) : '\0';
    switch (c) {
    case '"':
    case '\\':
        *ret_char = (char)c;
        return true;
    case 'n':
        *ret_char = '\n';
        return true;
    case 't':
        *ret_char = '\t';
        return true;
    case 'x':
        return read_hexadecimal_escape(r, at, ret_char);
    default:
        return fail_at(r, at, "unknown escape in a string (known: \\\" \\\\ \\n \\t \\xNN)");
    }
}

static bool read_string_char(struct reader *r)
{
    struct place at = r->place;
    if (is_control(*r->next))
        return fail_at(r, at, "control character in a string (write it as \\xNN)");
    char c = (char)take_char(r);
    if (c == '\\' && !read_escape(r, at, &c))
        return false;
    text_add_n(&r->token, &c, 1);
    return true;
}

static bool read_string(struct reader *r)
{
    struct place start = r->place;
    text_clear(&r->token);
    take_char(r);
    while (r->next < r->end && *r->next != '"')
        if (!read_string_char(r))
            return false;
    if (r->next == r->end)
        return fail_at(r, start, "this string is never closed");
    take_char(r);
    const char *text = arena_string_n(r->arena, r->token.chars, r->token.count);
    push_item(r, start, (struct sexp){.kind = SEXP_STRING, .text = text});
    return true;
}

static bool is_integer_text(const char *text)
{
    text += *text == '-';
    if (!*text)
        return false;
    while (is_digit(*text))
        text++;
    return !*text;
}

// The numbers that strtod takes, without its hexadecimal numbers and names: a decimal with a dot or an exponent, or
// `nan`, which text_add_real prints.
static bool read_real(const char *text, double *ret_real)
{
    bool is_nan = strcmp(text, "nan") == 0;
    bool is_decimal = strspn(text, "+-.0123456789eE") == strlen(text) && strpbrk(text, "0123456789");
    if (!is_nan && (!is_decimal || !(is_digit(*text) || strchr("+-.", *text))))
        return false;
    char *end;
    double real = strtod(text, &end);
    if (*end)
        return false;
    *ret_real = real;
    return is_nan || strpbrk(text, ".eE") != NULL;
}

static bool push_integer(struct reader *r, struct place at, const char *text)
{
    errno = 0;
    intmax_t integer = strtoimax(text, NULL, 10);
    if (errno == ERANGE || integer < INT64_MIN || integer > INT64_MAX)
        return fail_at(r, at, "integer does not fit 64 bits");
    push_item(r, at, (struct sexp){.kind = SEXP_INTEGER, .integer = integer, .real = (double)integer});
    return true;
}

// Names of rules are printed as they are.
static bool check_symbol(struct reader *r, struct place at, const char *text)
{
    for (uint32_t code; *text; at.column++) {
        size_t length = unicode_length(text, &code);
        if (length == 0)
            return fail_at(r, at, "this is no UTF-8");
        if (unicode_is_hidden(code))
            return error_set(r->error, r->file, at.line, at.column, "character U+%04X in a name", (unsigned)code);
        text += length;
    }
    return true;
}

static bool read_number_or_symbol(struct reader *r)
{
    struct place at = r->place;
    const unsigned char *start = r->next;
    while (r->next < r->end && !ends_symbol(*r->next))
        take_char(r);
    struct arena_mark mark = arena_mark(r->arena);
    const char *text = arena_string_n(r->arena, (const char *)start, (size_t)(r->next - start));
    double real;
    if (!check_symbol(r, at, text))
        return false;
    if (is_integer_text(text)) {
        bool fits = push_integer(r, at, text);
        arena_release(r->arena, mark);
        return fits;
    }
    if (read_real(text, &real)) {
        arena_release(r->arena, mark);
        push_item(r, at, (struct sexp){.kind = SEXP_REAL, .real = real});
    } else
        push_item(r, at, (struct sexp){.kind = SEXP_SYMBOL, .text = text});
    return true;
}

static bool read_something(struct reader *r)
{
    unsigned char c = *r->next;
    if (is_space(c))
        return take_char(r), true;
    if (is_control(c))
        return error_set(r->error, r->file, r->place.line, r->place.column, "control character \\x%02X: is this text?",
                         c);
    if (c == ';')
        return skip_comment(r), true;
    if (c == '(')
        return open_list(r);
    if (c == ')')
        return close_list(r);
    return c == '"' ? read_string(r) : read_number_or_symbol(r);
}

static bool read_everything(struct reader *r)
{
    while (r->next < r->end)
        if (!read_something(r))
            return false;
    return r->depth == 0 || fail_at(r, r->open[r->depth - 1].place, "this `(` is never closed");
}

bool sexp_parse(struct arena *a, const char *file, const char *text, size_t size, const struct sexp **ret_list,
                struct error *error)
{
    struct reader r = {.arena = a, .error = error, .file = file, .place = {1, 1}};
    r.next = (const unsigned char *)(size ? text : "");
    r.end = r.next + size;
    bool is_read = read_everything(&r);
    if (is_read) {
        push_item(&r, (struct place){1, 1}, list_of_pending_from(&r, 0));
        *ret_list = arena_copy_array(a, r.pending.items, 1);
    }
    vec_free(&r.pending);
    text_free(&r.token);
    return is_read;
}

bool sexp_parse_file(struct arena *a, const char *path, const struct sexp **ret_list, struct error *error)
{
    struct file_map map FREED_BY(file_map_close) = {0};
    return file_map_open(&map, path, error) && sexp_parse(a, path, (const char *)map.bytes, map.size, ret_list, error);
}

bool sexp_is_symbol(const struct sexp *s, const char *text)
{
    return s->kind == SEXP_SYMBOL && strcmp(s->text, text) == 0;
}

bool sexp_is_call(const struct sexp *s, const char *head)
{
    return s->kind == SEXP_LIST && s->count > 0 && sexp_is_symbol(&s->items[0], head);
}

bool sexp_error(struct error *error, const char *file, const struct sexp *s, const char *format, ...)
{
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return error_set(error, file, s->line, s->column, "%s", message);
}
