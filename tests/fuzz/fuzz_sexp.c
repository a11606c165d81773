// S-expressions, and what is printed of their strings and reals is read back as the same.
#include "core/formats/sexp.h"
#include "core/text/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scoped.h"
#include <string.h>

static void check_read_back(const struct sexp *s)
{
    ARENA(arena);
    TEXT(text);
    const struct sexp *list;
    for (size_t i = 0; s->kind == SEXP_LIST && i < s->count; i++)
        check_read_back(&s->items[i]);
    if (s->kind != SEXP_STRING && s->kind != SEXP_REAL)
        return;
    if (s->kind == SEXP_STRING)
        text_add_quoted(&text, s->text);
    else
        text_add_real(&text, s->real);
    FUZZ_REQUIRE(sexp_parse(&arena, "again", text.chars, text.count, &list, &(struct error){0}) && list->count == 1);
    if (s->kind == SEXP_STRING)
        FUZZ_REQUIRE(list->items[0].kind == SEXP_STRING && strcmp(list->items[0].text, s->text) == 0);
    else
        FUZZ_REQUIRE(
            list->items[0].kind == SEXP_REAL &&
            (list->items[0].real == s->real || (s->real != s->real && list->items[0].real != list->items[0].real)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA(arena);
    const struct sexp *list;
    if (sexp_parse(&arena, "fuzz", (const char *)data, size, &list, &(struct error){0}))
        check_read_back(list);
    return 0;
}
