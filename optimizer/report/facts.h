// The contents of a report, as a tree of facts that is built once and printed as text, as JSON and as a part of a page.
//
// A fact is a value, a group of facts with keys (a line is a short one), or a list of facts without. Its key names
// it for programs, its label for people; a fact without a label is for programs alone, and so is what it holds. A list
// of groups is a table: the labels of the first group's facts head its columns.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/vec.h"
#include <stdbool.h>
#include <stdint.h>

struct text;

enum fact_kind { FACT_GROUP, FACT_LINE, FACT_LIST, FACT_TEXT, FACT_COUNT, FACT_INTEGER, FACT_REAL, FACT_FLAG };
// Programs get reals and counts in seconds, bytes and shares; people see milliseconds, MiB and percents of them.
enum fact_unit { UNIT_NONE, UNIT_SECONDS, UNIT_MILLISECONDS, UNIT_MEBIBYTES, UNIT_PERCENT, UNIT_TIMES };

struct fact {
    const char *key, *label;
    enum fact_kind kind;
    enum fact_unit unit;
    union {
        const char *text;   // NULL: none
        uint64_t count;
        int64_t integer;
        double real;
        bool flag;
    };
    uint32_t end;   // the index behind all that it holds
};
struct facts {
    struct arena arena;
    VEC(struct fact) items;   // each before what it holds
    VEC(uint32_t) open;
};

void facts_init(struct facts *f);   // with one group, the whole: facts_end closes it
void facts_free(struct facts *f);
void facts_begin(struct facts *f, enum fact_kind kind, const char *key, const char *label);   // until facts_end
void facts_end(struct facts *f);
// Texts are copied; keys and labels live as long as the facts. In lists the key is NULL.
void facts_add_text(struct facts *f, const char *key, const char *label, const char *text);
void facts_add_count(struct facts *f, const char *key, const char *label, uint64_t count);
void facts_add_integer(struct facts *f, const char *key, const char *label, int64_t value);
void facts_add_real(struct facts *f, const char *key, const char *label, enum fact_unit unit, double value);
void facts_add_bytes(struct facts *f, const char *key, const char *label, uint64_t bytes);
void facts_add_flag(struct facts *f, const char *key, const char *label, bool value);

// The first with this key, which must be there.
const struct fact *facts_find(const struct facts *f, const char *key);

void facts_print_json(struct text *out, const struct facts *f);
// The headline, the lines of the summary, where it `is_explained` everything that has a label, values first, then
// groups and tables with headings; and the headline again, which then stands right above the prompt.
void facts_print_text(struct text *out, const struct facts *f, bool is_explained);
// The same as elements of a page: tables have their keys as ids.
void facts_print_html(struct text *out, const struct facts *f);
void facts_print_group_html(struct text *out, const struct facts *f, const struct fact *group);
// Text for pages: nothing of the text is markup or hides.
void html_add_escaped(struct text *out, const char *text);
