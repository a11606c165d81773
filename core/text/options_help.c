// --help, made from the option table.
#include "core/text/options_help.h"

#include "core/text/json.h"
#include "core/text/text.h"
#include <inttypes.h>
#include <string.h>

enum { HELP_COLUMN = 28, PAGE_WIDTH = 100 };

static void add_size(struct text *t, int64_t value)
{
    static const char suffixes[] = {'G', 'M', 'k'};
    for (int i = 0; i < 3; i++) {
        int64_t unit = (int64_t)1 << (30 - 10 * i);
        if (value != 0 && value % unit == 0) {
            text_printf(t, "%" PRId64 "%c", value / unit, suffixes[i]);
            return;
        }
    }
    text_printf(t, "%" PRId64, value);
}

static void add_integer_default(struct text *t, const struct option_spec *s, const void *field)
{
    int64_t value;
    memcpy(&value, field, sizeof value);
    text_add(t, ", default ");
    if (s->is_size)
        add_size(t, value);
    else
        text_printf(t, "%" PRId64, value);
}

static void add_real_default(struct text *t, const void *field)
{
    double value;
    memcpy(&value, field, sizeof value);
    text_printf(t, ", default %g", value);
}

static void add_text_default(struct text *t, const void *field)
{
    const char *value;
    memcpy(&value, field, sizeof value);
    if (value)
        text_printf(t, ", default %s", value);
}

static void add_choice_default(struct text *t, const struct option_spec *s, const void *field)
{
    int value;
    memcpy(&value, field, sizeof value);
    text_printf(t, ", default %s", s->choices[value]);
}

static void add_flag_default(struct text *t, const void *field)
{
    bool value;
    memcpy(&value, field, sizeof value);
    if (value)
        text_add(t, ", default on");
}

static void add_default(struct text *t, const struct option_spec *s, const void *defaults)
{
    const void *field = (const unsigned char *)defaults + s->offset;
    switch (s->kind) {
    case OPTION_FLAG:
        add_flag_default(t, field);
        break;
    case OPTION_INTEGER:
        add_integer_default(t, s, field);
        break;
    case OPTION_REAL:
        add_real_default(t, field);
        break;
    case OPTION_TEXT:
        add_text_default(t, field);
        break;
    case OPTION_CHOICE:
        add_choice_default(t, s, field);
        break;
    case OPTION_LIST:
        text_add(t, ", may be repeated");
        break;
    case OPTION_NONE:
        break;
    }
}

static void add_range(struct text *t, const struct option_spec *s)
{
    bool is_number = s->kind == OPTION_INTEGER || s->kind == OPTION_REAL;
    if (!is_number || (s->low == 0 && s->high == 0))
        return;
    text_add(t, ", ");
    if (s->is_size)
        add_size(t, (int64_t)s->low);
    else
        text_printf(t, "%.12g", s->low);
    if (s->high >= 9e15)
        text_add(t, " or more");
    else if (s->is_size)
        text_add(t, " to "), add_size(t, (int64_t)s->high);
    else
        text_printf(t, " to %.12g", s->high);
}

static void add_choices(struct text *t, const struct option_spec *s)
{
    for (const char *const *c = s->choices; *c; c++)
        text_printf(t, "%s%s", c == s->choices ? "" : "|", *c);
}

// On, or on sometimes: then the help says when.
static bool is_on_by_default(const struct option_spec *s, const void *defaults)
{
    bool value = s->said > 0;
    if (s->kind == OPTION_FLAG && !value)
        memcpy(&value, (const unsigned char *)defaults + s->offset, sizeof value);
    return value;
}

static void add_names(struct text *t, const struct option_spec *s, const void *defaults)
{
    if (s->letter)
        text_printf(t, "  -%c, ", s->letter);
    else
        text_add(t, "      ");
    text_printf(t, is_on_by_default(s, defaults) ? "--[no-]%s" : "--%s", s->name);
    if (s->kind == OPTION_FLAG)
        return;
    text_add(t, " ");
    if (s->kind == OPTION_CHOICE && !s->metavar)
        add_choices(t, s);
    else
        text_add(t, s->metavar ? s->metavar : "VALUE");
}

static void indent_to(struct text *t, size_t *column, size_t wanted)
{
    for (; *column < wanted; (*column)++)
        text_add(t, " ");
}

// Words of `help`, wrapped between the help column and the width of the page; `column` is where the line stands.
static void add_wrapped(struct text *t, const char *help, size_t column)
{
    while (*help) {
        size_t word = strcspn(help, " ");
        bool is_first = column <= HELP_COLUMN;
        if (!is_first && column + 1 + word > PAGE_WIDTH) {
            text_add(t, "\n");
            column = 0;
            is_first = true;
        }
        indent_to(t, &column, HELP_COLUMN);
        text_printf(t, "%s%.*s", is_first ? "" : " ", (int)word, help);
        column += word + !is_first;
        help += word;
        help += strspn(help, " ");
    }
    text_add(t, "\n");
}

static void add_option(struct text *page, const struct option_spec *s, const void *defaults)
{
    TEXT(facts);
    TEXT(help);
    size_t line_start = page->count;
    add_names(page, s, defaults);
    size_t column = page->count - line_start;
    if (column + 2 > HELP_COLUMN) {
        text_add(page, "\n");
        column = 0;
    }
    add_range(&facts, s);
    add_default(&facts, s, defaults);
    text_add(&help, s->help ? s->help : "");
    if (facts.count)
        text_printf(&help, " (%s)", facts.chars + 2);
    add_wrapped(page, help.chars, column);
}

void options_add_help(struct text *page, const struct program *program, const void *defaults)
{
    text_printf(page, "Usage: %s %s\n", program->name, program->usage ? program->usage : "");
    if (program->summary)
        text_printf(page, "\n%s\n", program->summary);
    text_add(page, program->options->group ? "" : "\nOptions:\n");
    for (const struct option_spec *s = program->options; s->name; s++) {
        if (s->group)
            text_printf(page, "\n%s:\n", s->group);
        add_option(page, s, defaults);
    }
    text_add(page, "  -h, --help                print this text\n"
                   "      --version             print the version\n");
    if (program->examples)
        text_printf(page, "\nExamples:\n%s", program->examples);
    if (program->epilog)
        text_printf(page, "\n%s\n", program->epilog);
}

// --- for programs ----------------------------------------------------------------------------------------------------

static const char *const kinds[] = {[OPTION_FLAG] = "flag", [OPTION_INTEGER] = "integer", [OPTION_REAL] = "real",
                                    [OPTION_TEXT] = "text", [OPTION_CHOICE] = "choice",   [OPTION_LIST] = "list"};

// A missing value is an empty text.
static void add_field(struct text *out, const char *name, const char *value)
{
    json_add_string(out, name, value ? value : "");
}

static void add_strings(struct text *out, const char *name, const char *const *strings)
{
    json_begin(out, name, '[');
    for (size_t i = 0; strings && strings[i]; i++)
        json_add_string(out, NULL, strings[i]);
    json_end(out, ']');
}

static void describe_option(struct text *out, const struct option_spec *s, const void *defaults)
{
    const char letter[2] = {s->letter, '\0'};
    TEXT(facts);
    add_range(&facts, s);
    add_default(&facts, s, defaults);
    json_begin(out, NULL, '{');
    add_field(out, "name", s->name);
    add_field(out, "letter", letter);
    add_field(out, "kind", kinds[s->kind]);
    add_field(out, "metavar", s->metavar);
    add_field(out, "help", s->help);
    add_field(out, "group", s->group);
    add_field(out, "facts", facts.count ? facts.chars + 2 : "");
    add_strings(out, "choices", s->choices);
    json_add_bool(out, "is_on", is_on_by_default(s, defaults));
    json_add_bool(out, "is_size", s->is_size);
    json_end(out, '}');
}

void options_add_description(struct text *out, const struct program *program, const void *defaults)
{
    json_begin(out, NULL, '{');
    add_field(out, "name", program->name);
    add_field(out, "version", TASO_VERSION);
    add_field(out, "usage", program->usage);
    add_field(out, "summary", program->summary);
    add_field(out, "epilog", program->epilog);
    add_field(out, "examples", program->examples);
    add_strings(out, "commands", program->commands);
    json_begin(out, "options", '[');
    for (const struct option_spec *s = program->options; s && s->name; s++) {
        text_add(out, s == program->options ? "\n" : ",\n");
        describe_option(out, s, defaults);
    }
    text_add(out, "]}\n");
}
