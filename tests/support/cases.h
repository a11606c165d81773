// Cases of a test as s-expressions in a file of their own: `TEST_OF_CASES(judges, c, "verifier/judge.cases") { ... }`.
#pragma once
#include "core/formats/sexp.h"
#include "tests/support/check.h"

// The items of a file of tests/.
static inline const struct sexp *read_cases(struct arena *a, const char *file)
{
    const struct sexp *list = NULL;
    OK(sexp_parse_file(a, arena_printf(a, "%s/%s", getenv("TASO_TESTS"), file), &list, &error));
    assert_true(list->count > 0);
    return list;
}

// Items of a list, from one on, as text: the obvious printer, of which the same items are read.
static inline void add_items(struct text *t, const struct sexp *list, size_t from)
{
    for (size_t i = from; i < list->count; i++) {
        const struct sexp *s = &list->items[i];
        text_add(t, i > from ? " " : "");
        if (s->kind == SEXP_LIST) {
            text_add(t, "(");
            add_items(t, s, 0);
            text_add(t, ")");
        } else if (s->kind == SEXP_SYMBOL)
            text_add(t, s->text);
        else if (s->kind == SEXP_STRING)
            text_add_quoted(t, s->text);
        else if (s->kind == SEXP_INTEGER)
            text_printf(t, "%lld", (long long)s->integer);
        else
            text_add_real(t, s->real);
    }
}

static inline const char *text_of_items(struct arena *a, const struct sexp *list, size_t from)
{
    TEXT(text);
    text_add(&text, "");
    add_items(&text, list, from);
    return arena_string(a, text.chars);
}

static inline const char *text_of(struct arena *a, const struct sexp *s)
{
    return text_of_items(a, &(struct sexp){.kind = SEXP_LIST, .count = 1, .items = s}, 0);
}

// The texts of those items of a file that are `(head "text")`, up to NULL.
static inline const char **texts_of(struct arena *a, const char *file, const char *head)
{
    const struct sexp *list = read_cases(a, file);
    const char **texts = arena_array(a, const char *, list->count + 1);
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++)
        if (sexp_is_call(&list->items[i], head))
            texts[n++] = list->items[i].items[1].text;
    assert_true(n > 0);
    return texts;
}

// All items of a file are run, telling the line of the one that fails.
#define TEST_OF_CASES(function, c, file)                                                                               \
    static void function##_of_case(const struct sexp *c);                                                              \
    TEST(function)                                                                                                     \
    {                                                                                                                  \
        ARENA(of_cases);                                                                                               \
        const struct sexp *list = read_cases(&of_cases, file);                                                         \
        table_in_hand = file;                                                                                          \
        for (size_t i = 0; i < list->count; i++) {                                                                     \
            row_in_hand = list->items[i].line;                                                                         \
            function##_of_case(&list->items[i]);                                                                       \
        }                                                                                                              \
        row_in_hand = NO_ROW;                                                                                          \
    }                                                                                                                  \
    static void function##_of_case(const struct sexp *c)
