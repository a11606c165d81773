// The text reader shared by rules, properties, graphs, spaces and costs: S-expressions with positions.
//   list      ( item ... )
//   symbol    any run of characters other than white space ( ) " ;
//   string    "..." with \" \\ \n \t \xNN
//   integer   -?[0-9]+ that fits int64
//   real      a decimal that strtod takes, with a dot or an exponent (1e999 is infinite), or nan
//   comment   ; to the end of the line
// Nesting is bounded (SEXP_MAX_DEPTH), so that whoever recurses over a hostile file is safe. Control characters other
// than white space are refused. Columns count characters (UTF-8), not bytes.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

#define SEXP_MAX_DEPTH 200

enum sexp_kind { SEXP_LIST, SEXP_SYMBOL, SEXP_STRING, SEXP_INTEGER, SEXP_REAL };
struct sexp {
    enum sexp_kind kind;
    unsigned line, column;      // of its first character, from 1
    size_t count;               // LIST: items
    const struct sexp *items;   // LIST
    const char *text;           // SYMBOL, STRING: NUL-terminated (a string may not contain NUL)
    int64_t integer;            // INTEGER
    double real;                // REAL, and INTEGER as a real
};

// Gives one LIST of all top-level items, allocated in `a`. `file` names the text in errors.
bool sexp_parse(struct arena *a, const char *file, const char *text, size_t size, const struct sexp **ret_list,
                struct error *error);
bool sexp_parse_file(struct arena *a, const char *path, const struct sexp **ret_list, struct error *error);
bool sexp_is_symbol(const struct sexp *s, const char *text);
bool sexp_is_call(const struct sexp *s, const char *head);   // a list whose first item is the symbol `head`
// "file:line:column" errors about one item: `return sexp_error(error, file, s, "unknown operator %s", s->text);`
bool sexp_error(struct error *error, const char *file, const struct sexp *s, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
