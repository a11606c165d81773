#include "core/system/file.h"
#include "tests/support/cases.h"
#include "tests/support/temporary_path.h"

// Print after parse must be the text itself when that is written in the printer's way.
static void check_prints_as(const char *text, const char *printed)
{
    ARENA(a);
    struct error error;
    TEXT(t);
    const struct sexp *list;
    if (!sexp_parse(&a, "test", text, strlen(text), &list, &error))
        fail_msg("%s: %u:%u: %s", text, error.line, error.column, error.message);
    text_add(&t, "");
    add_items(&t, list, 0);
    assert_string_equal(t.chars, printed);
}

static const struct {
    const char *text, *printed;
} printed[] = {
    {"", ""},
    {"  ; nothing but a comment", ""},
    {"a(b)c", "a (b) c"},
    {"()(())", "() (())"},
    {"(rule x ; why\n  (source (matmul ?x ?y)))", "(rule x (source (matmul ?x ?y)))"},
    {"1 -1 0 007 -0", "1 -1 0 7 0"},
    {"9223372036854775807 -9223372036854775808", "9223372036854775807 -9223372036854775808"},
    {"1.0 .5 -2. 1e3 +1.5 1E-2 -0.0 1e999 -1e999 nan", "1.0 0.5 -2.0 1000.0 1.5 0.01 -0.0 1e999 -1e999 nan"},
    {"- + . 1..2 1.2.3 1e 1e+ 0x10 0x1.8 0xe inf -inf e5 +5 1-2 x=1 a;b",
     "- + . 1..2 1.2.3 1e 1e+ 0x10 0x1.8 0xe inf -inf e5 +5 1-2 x=1 a"},
    {"\"\" \"a b\" \"\\\"\\\\\\n\\t\\x41\\xe9\"", "\"\" \"a b\" \"\\\"\\\\\\n\\tA\xe9\""},
    {"\"two\nlines\"", "\"two\\nlines\""},
    {"a\"b\"c", "a \"b\" c"},
    {"\xC3\xA9t\xC3\xA9 \xE2\x88\x91", "\xC3\xA9t\xC3\xA9 \xE2\x88\x91"},
    {"\ta\r\n\vb\fc", "a b c"},
};

TEST_OF_EACH(reads_and_prints, row, printed)
{
    check_prints_as(row->text, row->printed);
}

static const struct {
    const char *text;
    unsigned line, column;
    const char *message;
} errors[] = {
    {"(a\n (b c)", 1, 1, "this `(` is never closed"},
    {"(a)\n  (b (c)", 2, 3, "this `(` is never closed"},
    {"a\n b)", 2, 3, "`)` without `(`"},
    {"\xC3\xA9\xC3\xA9 )", 1, 4, "`)` without `(`"},
    {"(x \"abc)", 1, 4, "this string is never closed"},
    {"\"abc\\", 1, 5, "unknown escape in a string (known: \\\" \\\\ \\n \\t \\xNN)"},
    {"\"a\\q\"", 1, 3, "unknown escape in a string (known: \\\" \\\\ \\n \\t \\xNN)"},
    {"\"\\x4\"", 1, 2, "`\\x` needs two hexadecimal digits"},
    {"\"\\x\"", 1, 2, "`\\x` needs two hexadecimal digits"},
    {"\"\\x00\"", 1, 2, "a string may not contain NUL"},
    {"\"a\n\x01\"", 2, 1, "control character in a string (write it as \\xNN)"},
    {"a \x01", 1, 3, "control character \\x01: is this text?"},
    {"ab\x7f", 1, 3, "control character \\x7F: is this text?"},
    {"\n(9223372036854775808)", 2, 2, "integer does not fit 64 bits"},
    {"-9223372036854775809", 1, 1, "integer does not fit 64 bits"},
};

TEST_OF_EACH(says_where_and_why, row, errors)
{
    ARENA(a);
    struct error error;
    const struct sexp *list = NULL;
    assert_false(sexp_parse(&a, "file.rules", row->text, strlen(row->text), &list, &error));
    assert_null(list);
    assert_string_equal(error.file, "file.rules");
    assert_string_equal(error.message, row->message);
    assert_int_equal(error.line, row->line);
    assert_int_equal(error.column, row->column);
    assert_int_equal(error.code, EXIT_BAD_INPUT);
}

static bool parses_nested(size_t depth, struct error *error)
{
    TEXT(t);
    ARENA(a);
    const struct sexp *list;
    for (size_t i = 0; i < depth; i++)
        text_add(&t, "(");
    for (size_t i = 0; i < depth; i++)
        text_add(&t, ")");
    return sexp_parse(&a, NULL, t.chars, t.count, &list, error);
}

TEST(nesting_is_bounded)
{
    struct error error;
    assert_true(parses_nested(SEXP_MAX_DEPTH, &error));
    assert_false(parses_nested(SEXP_MAX_DEPTH + 1, &error));
    assert_int_equal(error.column, SEXP_MAX_DEPTH + 1);
    assert_string_equal(error.message, "lists are nested more than 200 deep");
    assert_false(parses_nested(1000000, &error));
}

TEST(places_and_kinds_are_kept)
{
    static const char text[] = "(conv 3 2.5\n  \"s\")";
    ARENA(a);
    struct error error;
    const struct sexp *list;
    assert_true(sexp_parse(&a, "f", text, strlen(text), &list, &error));
    assert_int_equal(list->kind, SEXP_LIST);
    assert_int_equal(list->count, 1);
    const struct sexp *call = &list->items[0];
    assert_true(sexp_is_call(call, "conv"));
    assert_false(sexp_is_call(call, "matmul"));
    assert_false(sexp_is_call(&call->items[0], "conv"));
    assert_true(sexp_is_symbol(&call->items[0], "conv"));
    assert_false(sexp_is_symbol(&call->items[3], "s"));
    assert_int_equal(call->items[1].integer, 3);
    assert_true(call->items[1].real == 3.0);
    assert_true(call->items[2].real == 2.5);
    assert_int_equal(call->items[3].line, 2);
    assert_int_equal(call->items[3].column, 3);
    assert_false(sexp_error(&error, "f", &call->items[3], "no %s here", "string"));
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 3);
    assert_string_equal(error.message, "no string here");
}

TEST(nul_is_refused)
{
    ARENA(a);
    struct error error;
    const struct sexp *list;
    assert_false(sexp_parse(&a, "f", "a\0b", 3, &list, &error));
    assert_int_equal(error.column, 2);
    assert_true(sexp_parse(&a, "f", NULL, 0, &list, &error));
    assert_int_equal(list->count, 0);
}

static void add_random_item(struct text *t, struct random *r, unsigned depth)
{
    switch (random_below(r, depth < 6 ? 6 : 4)) {
    case 0:
        text_printf(t, "s%u", (unsigned)random_below(r, 1000));
        break;
    case 1:
        text_printf(t, "%lld", (long long)random_next(r));
        break;
    case 2:
        text_add_real(t, ldexp(random_unit(r) - 0.5, (int)random_below(r, 2000) - 1000));
        break;
    case 3: {
        char string[8] = "";
        for (size_t i = 0, n = random_below(r, 8); i < n; i++)
            string[i] = (char)(1 + random_below(r, 255));
        text_add_quoted(t, string);
        break;
    }
    default:
        text_add(t, "(");
        for (uint64_t i = 0, n = random_below(r, 5); i < n; i++) {
            text_add(t, i ? " " : "");
            add_random_item(t, r, depth + 1);
        }
        text_add(t, ")");
    }
}

TEST(printed_text_reads_back_the_same)
{
    struct random r = random_seed(17);
    for (int i = 0; i < 3000; i++) {
        TEXT(t);
        add_random_item(&t, &r, 0);
        check_prints_as(t.chars, t.chars);
    }
}

// Whatever the bytes are, the reader ends with a list or with a place inside the text.
TEST(random_bytes_never_break_the_reader)
{
    static const char likely[] = "(()))\"\\;x1-.e\n \t\x80\xff\x01";
    struct random r = random_seed(23);
    for (int i = 0; i < 5000; i++) {
        char text[64];
        size_t size = random_below(&r, sizeof text);
        for (size_t k = 0; k < size; k++)
            text[k] = likely[random_below(&r, sizeof likely)];
        ARENA(a);
        struct error error;
        const struct sexp *list = NULL;
        if (!sexp_parse(&a, "f", text, size, &list, &error)) {
            assert_in_range(error.line, 1, 64);
            assert_in_range(error.column, 1, 65);
            assert_true(error.message[0] != '\0');
        } else
            assert_non_null(list);
    }
}

TEST(files_are_read_and_named)
{
    TEMPORARY_PATH(path);
    ARENA(a);
    struct error error;
    const struct sexp *list;
    assert_true(file_write_text(path, "(a b)\n(c", 8, &error));
    assert_false(sexp_parse_file(&a, path, &list, &error));
    assert_string_equal(error.file, path);
    assert_int_equal(error.line, 2);
    assert_true(file_write_text(path, "", 0, &error));
    assert_true(sexp_parse_file(&a, path, &list, &error));
    assert_int_equal(list->count, 0);
    unlink(path);
    assert_false(sexp_parse_file(&a, path, &list, &error));
    assert_int_equal(error.line, 0);
}
