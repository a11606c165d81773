// Whether a comma is due follows from what stands before: none after a bracket or where a line begins.
#include "core/text/json.h"

#include "core/text/text.h"
#include <inttypes.h>
#include <string.h>

static void begin_value(struct text *out, const char *key)
{
    size_t end = out->count;
    while (end && out->chars[end - 1] == ' ')
        end--;
    if (end && !strchr("{[\n", out->chars[end - 1]))
        text_add(out, ", ");
    if (!key)
        return;
    text_add_json(out, key);
    text_add(out, ": ");
}

void json_begin(struct text *out, const char *key, char bracket)
{
    begin_value(out, key);
    text_add_n(out, &bracket, 1);
}

void json_end(struct text *out, char bracket)
{
    text_add_n(out, &bracket, 1);
}

void json_add_string(struct text *out, const char *key, const char *value)
{
    begin_value(out, key);
    if (value)
        text_add_json(out, value);
    else
        text_add(out, "null");
}

// JSON has no infinities and no NaN.
void json_add_real(struct text *out, const char *key, double value)
{
    begin_value(out, key);
    if (value - value == 0)
        text_add_real(out, value);
    else
        text_add(out, "null");
}

void json_add_integer(struct text *out, const char *key, int64_t value)
{
    begin_value(out, key);
    text_printf(out, "%" PRId64, value);
}

void json_add_count(struct text *out, const char *key, uint64_t value)
{
    begin_value(out, key);
    text_printf(out, "%" PRIu64, value);
}

void json_add_bool(struct text *out, const char *key, bool value)
{
    begin_value(out, key);
    text_add(out, value ? "true" : "false");
}
