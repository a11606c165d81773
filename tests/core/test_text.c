#include "tests/support/check.h"
#include <inttypes.h>

TEST(grows_and_stays_terminated)
{
    struct text t = {0};
    for (int i = 0; i < 1000; i++) {
        text_printf(&t, "%d,", i % 10);
        assert_int_equal(strlen(t.chars), t.count);
    }
    assert_int_equal(t.count, 2000);
    text_clear(&t);
    assert_string_equal(t.chars, "");
    text_add(&t, "");
    text_add_n(&t, "abc", 2);
    assert_string_equal(t.chars, "ab");
    text_free(&t);
    assert_null(t.chars);
    text_clear(&t);
}

static const int64_t integers[] = {0, 7, 10, 99, -1, -10, 1234567890123, INT64_MAX, INT64_MIN};

TEST_OF_EACH(integers_are_as_printf_has_them, row, integers)
{
    TEXT(ours);
    TEXT(theirs);
    text_add_int(&ours, *row);
    text_printf(&theirs, "%" PRId64, *row);
    assert_string_equal(ours.chars, theirs.chars);
}

static const struct {
    double value;
    const char *text;
} reals[] = {
    {0, "0.0"},
    {-0.0, "-0.0"},
    {1, "1.0"},
    {-3, "-3.0"},
    {0.1, "0.1"},
    {1e-5, "1e-05"},
    {1e22, "1e+22"},
    {1.0 / 3, "0.3333333333333333"},
    {5e-324, "5e-324"},
    {1e15, "1e+15"},
    {123456, "123456.0"},
    {INFINITY, "1e999"},
    {-INFINITY, "-1e999"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {0.5, "0.5"},
    {NAN, "nan"},
};

TEST_OF_EACH(reals_are_shortest, row, reals)
{
    TEXT(t);
    text_add_real(&t, row->value);
    assert_string_equal(t.chars, row->text);
}

static double real_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

TEST(random_reals_read_back_exactly)
{
    struct random r = random_seed(3);
    TEXT(t);
    for (int i = 0; i < 20000; i++) {
        double value = real_of_bits(random_next(&r));
        if (isnan(value))
            continue;
        text_clear(&t);
        text_add_real(&t, value);
        assert_memory_equal(&(double){strtod(t.chars, NULL)}, &value, sizeof value);
    }
}

static const struct {
    const char *text, *quoted, *json;
} quoted_as[] = {
    {"", "\"\"", "\"\""},
    {"plain", "\"plain\"", "\"plain\""},
    {"a\"b\\c", "\"a\\\"b\\\\c\"", "\"a\\\"b\\\\c\""},
    {"\n\t\r\x01\x7f", "\"\\n\\t\\x0D\\x01\\x7F\"", "\"\\n\\t\\u000d\\u0001\\u007f\""},
    {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"",
     "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""},
    {"\xC2\x9B\xE2\x80\xAE", "\"\xC2\x9B\xE2\x80\xAE\"", "\"\\u009b\\u202e\""},   // C1, right to left
    {"\xF3\xA0\x81\x81", "\"\xF3\xA0\x81\x81\"", "\"\\udb40\\udc41\""},           // a tag
    {"\xFF.", "\"\xFF.\"", "\"\\ufffd.\""},
    {"\xC3", "\"\xC3\"", "\"\\ufffd\""},                                                // cut off
    {"\xE2\x82", "\"\xE2\x82\"", "\"\\ufffd\\ufffd\""},                                 // cut off
    {"\xC0\xAF", "\"\xC0\xAF\"", "\"\\ufffd\\ufffd\""},                                 // overlong
    {"\xED\xA0\x80", "\"\xED\xA0\x80\"", "\"\\ufffd\\ufffd\\ufffd\""},                  // a surrogate
    {"\xF4\x90\x80\x80", "\"\xF4\x90\x80\x80\"", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},   // above U+10FFFF
};

TEST_OF_EACH(quoting_and_json, row, quoted_as)
{
    TEXT(quoted);
    TEXT(json);
    text_add_quoted(&quoted, row->text);
    text_add_json(&json, row->text);
    assert_string_equal(quoted.chars, row->quoted);
    assert_string_equal(json.chars, row->json);
}

static const char *const shown_as[][2] = {
    {"plain caf\xC3\xA9 \xF0\x9F\x98\x80", "plain caf\xC3\xA9 \xF0\x9F\x98\x80"},
    {"\x1B[2J\n\t\x7F", "\\x1B[2J\\x0A\\x09\\x7F"},
    {"\xC2\x9B"
     "2J \xC2\xA0",
     "\\u009B2J \xC2\xA0"},
    {"\xE2\x80\xAE\xE2\x81\xA6\xD8\x9C\xEF\xBB\xBF", "\\u202E\\u2066\\u061C\\uFEFF"},
    {"\x9B\xFF\xC3", "\\x9B\\xFF\\xC3"},
};

TEST_OF_EACH(what_is_shown_obeys_nobody, row, shown_as)
{
    TEXT(shown);
    text_add_shown(&shown, (*row)[0]);
    assert_string_equal(shown.chars, (*row)[1]);
}
