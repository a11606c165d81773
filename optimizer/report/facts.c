// The tree is a list in the order of its text; the three printers walk it.
#include "optimizer/report/facts.h"

#include "core/text/json.h"
#include "core/text/text.h"
#include "optimizer/limits.def"
#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

// --- building --------------------------------------------------------------------------------------------------------

static struct fact *add(struct facts *f, enum fact_kind kind, const char *key, const char *label)
{
    vec_push(&f->items, ((struct fact){.key = key, .label = label, .kind = kind}));
    vec_last(&f->items).end = (uint32_t)f->items.count;
    return &vec_last(&f->items);
}

void facts_begin(struct facts *f, enum fact_kind kind, const char *key, const char *label)
{
    vec_push(&f->open, (uint32_t)f->items.count);
    add(f, kind, key, label);
}

void facts_end(struct facts *f)
{
    f->items.items[vec_last(&f->open)].end = (uint32_t)f->items.count;
    f->open.count--;
}

void facts_init(struct facts *f)
{
    *f = (struct facts){0};
    facts_begin(f, FACT_GROUP, NULL, "");
}

void facts_free(struct facts *f)
{
    vecs_free(f, items, open);
    arena_free(&f->arena);
}

void facts_add_text(struct facts *f, const char *key, const char *label, const char *text)
{
    add(f, FACT_TEXT, key, label)->text = text ? arena_string(&f->arena, text) : NULL;
}

void facts_add_count(struct facts *f, const char *key, const char *label, uint64_t count)
{
    add(f, FACT_COUNT, key, label)->count = count;
}

void facts_add_integer(struct facts *f, const char *key, const char *label, int64_t value)
{
    add(f, FACT_INTEGER, key, label)->integer = value;
}

void facts_add_real(struct facts *f, const char *key, const char *label, enum fact_unit unit, double value)
{
    struct fact *added = add(f, FACT_REAL, key, label);
    added->unit = unit;
    added->real = value;
}

void facts_add_bytes(struct facts *f, const char *key, const char *label, uint64_t bytes)
{
    struct fact *added = add(f, FACT_COUNT, key, label);
    added->unit = UNIT_MEBIBYTES;
    added->count = bytes;
}

void facts_add_flag(struct facts *f, const char *key, const char *label, bool value)
{
    add(f, FACT_FLAG, key, label)->flag = value;
}

const struct fact *facts_find(const struct facts *f, const char *key)
{
    const struct fact *found = vec_find(&f->items, x, x->key && strcmp(x->key, key) == 0);
    assert(found);
    return found;
}

static bool has_parts(const struct fact *fact)
{
    return fact->kind == FACT_GROUP || fact->kind == FACT_LINE || fact->kind == FACT_LIST;
}

// --- JSON ------------------------------------------------------------------------------------------------------------

static void print_json(struct text *out, const struct facts *f, uint32_t *next)
{
    const struct fact *fact = &f->items.items[(*next)++];
    switch (fact->kind) {
    case FACT_GROUP:
    case FACT_LINE:
    case FACT_LIST:
        json_begin(out, fact->key, fact->kind == FACT_LIST ? '[' : '{');
        while (*next < fact->end)
            print_json(out, f, next);
        json_end(out, fact->kind == FACT_LIST ? ']' : '}');
        break;
    case FACT_TEXT:
        json_add_string(out, fact->key, fact->text);
        break;
    case FACT_COUNT:
        json_add_count(out, fact->key, fact->count);
        break;
    case FACT_INTEGER:
        json_add_integer(out, fact->key, fact->integer);
        break;
    case FACT_REAL:
        json_add_real(out, fact->key, fact->real);
        break;
    case FACT_FLAG:
        json_add_bool(out, fact->key, fact->flag);
        break;
    }
}

void facts_print_json(struct text *out, const struct facts *f)
{
    uint32_t next = 0;
    print_json(out, f, &next);
    text_add(out, "\n");
}

// --- for people ------------------------------------------------------------------------------------------------------

static void print_real(struct text *out, enum fact_unit unit, double value)
{
    if (!isfinite(value))
        text_add(out, "not known");
    else if (unit == UNIT_MILLISECONDS)
        text_printf(out, "%.4f ms", 1e3 * value);
    else if (unit == UNIT_SECONDS)
        text_printf(out, "%.2f s", value);
    else if (unit == UNIT_PERCENT)
        text_printf(out, "%+.1f %%", 1e2 * value);
    else if (unit == UNIT_TIMES)
        text_printf(out, "%.3f x", value);
    else
        text_printf(out, "%.3g", value);
}

static void print_value(struct text *out, const struct fact *fact)
{
    switch (fact->kind) {
    case FACT_TEXT:
        text_add_shown(out, fact->text ? fact->text : "none");
        break;
    case FACT_COUNT:
        if (fact->unit == UNIT_MEBIBYTES)
            text_printf(out, "%.1f MiB", (double)fact->count / 1048576);
        else
            text_printf(out, "%" PRIu64, fact->count);
        break;
    case FACT_INTEGER:
        text_printf(out, "%" PRId64, fact->integer);
        break;
    case FACT_REAL:
        print_real(out, fact->unit, fact->real);
        break;
    case FACT_FLAG:
        text_add(out, fact->flag ? "yes" : "no");
        break;
    case FACT_GROUP:
    case FACT_LINE:
    case FACT_LIST:
        break;
    }
}

// A list of values, or a group of them, on one line.
static void print_inline(struct text *out, const struct facts *f, uint32_t at)
{
    const struct fact *whole = &f->items.items[at];
    const char *comma = "";
    if (!has_parts(whole)) {
        print_value(out, whole);
        return;
    }
    for (uint32_t i = at + 1; i < whole->end; i = f->items.items[i].end) {
        const struct fact *part = &f->items.items[i];
        if (!part->label && whole->kind != FACT_LIST)
            continue;
        text_add(out, comma);
        if (whole->kind != FACT_LIST) {
            text_add_shown(out, part->label);
            text_add(out, " ");
        }
        print_inline(out, f, i);
        comma = ", ";
    }
}

static bool is_table(const struct facts *f, uint32_t at)
{
    const struct fact *whole = &f->items.items[at];
    return whole->kind == FACT_LIST && whole->end > at + 1 && f->items.items[at + 1].kind == FACT_GROUP;
}

// Shown are those with a label that are not empty.
static bool is_shown(const struct facts *f, uint32_t at)
{
    const struct fact *fact = &f->items.items[at];
    return fact->label && (!has_parts(fact) || fact->end > at + 1) && (fact->kind != FACT_TEXT || fact->text);
}

// A cell of a table: a fact, or its label in the head.
static void print_cell(struct text *out, const struct facts *f, uint32_t at, bool is_head)
{
    if (is_head)
        text_add_shown(out, f->items.items[at].label);
    else
        print_inline(out, f, at);
}

// A fact with a heading of its own stands behind those of one line.
static bool is_section(const struct facts *f, uint32_t at)
{
    return f->items.items[at].kind == FACT_GROUP || is_table(f, at);
}

// --- text ------------------------------------------------------------------------------------------------------------

// Characters as they are seen, as far as that is simple: those of UTF-8.
static size_t width_of(const char *chars, size_t n)
{
    return COUNT(size_t, i, n, ((unsigned char)chars[i] & 0xC0) != 0x80);
}

static void pad(struct text *out, size_t start, size_t width)
{
    for (size_t seen = width_of(out->chars + start, out->count - start); seen < width; seen++)
        text_add(out, " ");
}

static void print_line(struct text *out, const struct facts *f, uint32_t at, size_t width)
{
    text_add(out, "  ");
    size_t start = out->count;
    text_add_shown(out, f->items.items[at].label);
    pad(out, start, width);
    text_add(out, "  ");
    print_inline(out, f, at);
    text_add(out, "\n");
}

#define MOST_COLUMNS 12

static void measure_row(const struct facts *f, uint32_t row, bool is_head, size_t *widths)
{
    TEXT(cell);
    size_t column = 0;
    for (uint32_t i = row + 1; i < f->items.items[row].end && column < MOST_COLUMNS; i = f->items.items[i].end) {
        if (!f->items.items[i].label)
            continue;
        text_clear(&cell);
        print_cell(&cell, f, i, is_head);
        size_t width = cell.count ? width_of(cell.chars, cell.count) : 0;
        width = width > MOST_LABEL_WIDTH ? MOST_LABEL_WIDTH : width;
        widths[column] = width > widths[column] ? width : widths[column];
        column++;
    }
}

static void print_row(struct text *out, const struct facts *f, uint32_t row, bool is_head, const size_t *widths)
{
    size_t column = 0;
    for (uint32_t i = row + 1; i < f->items.items[row].end && column < MOST_COLUMNS; i = f->items.items[i].end) {
        if (!f->items.items[i].label)
            continue;
        text_add(out, "  ");
        size_t start = out->count;
        print_cell(out, f, i, is_head);
        pad(out, start, widths[column++]);
    }
    while (out->count && out->chars[out->count - 1] == ' ')
        out->chars[--out->count] = '\0';
    text_add(out, "\n");
}

static void print_table(struct text *out, const struct facts *f, uint32_t at)
{
    size_t widths[MOST_COLUMNS] = {0};
    uint32_t end = f->items.items[at].end;
    measure_row(f, at + 1, true, widths);
    for (uint32_t i = at + 1; i < end; i = f->items.items[i].end)
        measure_row(f, i, false, widths);
    print_row(out, f, at + 1, true, widths);
    for (uint32_t i = at + 1; i < end; i = f->items.items[i].end)
        print_row(out, f, i, false, widths);
}

static size_t width_of_labels(const struct facts *f, uint32_t at)
{
    size_t most = 0;
    for (uint32_t i = at + 1; i < f->items.items[at].end; i = f->items.items[i].end) {
        size_t width = is_shown(f, i) ? width_of(f->items.items[i].label, strlen(f->items.items[i].label)) : 0;
        most = width > most && !is_section(f, i) ? width : most;
    }
    return most < MOST_LABEL_WIDTH ? most : MOST_LABEL_WIDTH;
}

static void print_group(struct text *out, const struct facts *f, uint32_t at)
{
    uint32_t end = f->items.items[at].end;
    size_t width = width_of_labels(f, at);
    for (uint32_t i = at + 1; i < end; i = f->items.items[i].end)
        if (is_shown(f, i) && !is_section(f, i))
            print_line(out, f, i, width);
    for (uint32_t i = at + 1; i < end; i = f->items.items[i].end) {
        if (!is_shown(f, i) || !is_section(f, i))
            continue;
        text_add(out, "\n");
        text_add_shown(out, f->items.items[i].label);
        text_add(out, "\n");
        if (is_table(f, i))
            print_table(out, f, i);
        else
            print_group(out, f, i);
    }
}

void facts_print_text(struct text *out, const struct facts *f, bool is_explained)
{
    const char *headline = facts_find(f, "headline")->text;
    text_add_shown(out, headline);
    text_add(out, "\n");
    print_group(out, f, (uint32_t)(facts_find(f, "summary") - f->items.items));
    if (is_explained) {
        text_add(out, "\n");
        print_group(out, f, 0);
        text_add(out, "\n");
    }
    text_add_shown(out, headline);
    text_add(out, "\n");
}

// --- pages -----------------------------------------------------------------------------------------------------------

void html_add_escaped(struct text *out, const char *text)
{
    static const char *const entities[UCHAR_MAX + 1] = {
        ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;"};
    TEXT(shown);
    text_add_shown(&shown, text);
    for (size_t i = 0; i < shown.count; i++) {
        const char *entity = entities[(unsigned char)shown.chars[i]];
        text_add_n(out, entity ? entity : shown.chars + i, entity ? strlen(entity) : 1);
    }
}

static bool is_number(const struct fact *fact)
{
    return fact->kind == FACT_COUNT || fact->kind == FACT_INTEGER || fact->kind == FACT_REAL;
}

static void add_cell(struct text *out, const struct facts *f, uint32_t at, bool is_head)
{
    TEXT(cell);
    const char *tag = is_head ? "th" : "td";
    print_cell(&cell, f, at, is_head);
    text_printf(out, "<%s%s>", tag, is_number(&f->items.items[at]) ? " class=\"r\"" : "");
    html_add_escaped(out, cell.chars ? cell.chars : "");
    text_printf(out, "</%s>", tag);
}

static void add_row(struct text *out, const struct facts *f, uint32_t row, bool is_head)
{
    text_add(out, "<tr>");
    for (uint32_t i = row + 1; i < f->items.items[row].end; i = f->items.items[i].end)
        if (f->items.items[i].label)
            add_cell(out, f, i, is_head);
    text_add(out, "</tr>\n");
}

static void begin_table(struct text *out, const char *id)
{
    text_add(out, "<div class=\"wide\"><table id=\"");
    html_add_escaped(out, id);
    text_add(out, "\">\n");
}

static void add_table(struct text *out, const struct facts *f, uint32_t at)
{
    begin_table(out, f->items.items[at].key);
    add_row(out, f, at + 1, true);
    for (uint32_t row = at + 1; row < f->items.items[at].end; row = f->items.items[row].end)
        add_row(out, f, row, false);
    text_add(out, "</table></div>\n");
}

static void add_lines(struct text *out, const struct facts *f, uint32_t at)
{
    begin_table(out, f->items.items[at].key ? f->items.items[at].key : "facts");
    for (uint32_t i = at + 1; i < f->items.items[at].end; i = f->items.items[i].end) {
        if (!is_shown(f, i) || is_section(f, i))
            continue;
        text_add(out, "<tr><td>");
        html_add_escaped(out, f->items.items[i].label);
        text_add(out, "</td>");
        add_cell(out, f, i, false);
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table></div>\n");
}

static void add_group(struct text *out, const struct facts *f, uint32_t at)
{
    add_lines(out, f, at);
    for (uint32_t i = at + 1; i < f->items.items[at].end; i = f->items.items[i].end) {
        if (!is_shown(f, i) || !is_section(f, i))
            continue;
        text_add(out, "<details><summary>");
        html_add_escaped(out, f->items.items[i].label);
        text_add(out, "</summary>\n");
        if (is_table(f, i))
            add_table(out, f, i);
        else
            add_group(out, f, i);
        text_add(out, "</details>\n");
    }
}

void facts_print_html(struct text *out, const struct facts *f)
{
    add_group(out, f, 0);
}

void facts_print_group_html(struct text *out, const struct facts *f, const struct fact *group)
{
    add_group(out, f, (uint32_t)(group - f->items.items));
}
