// Names are met one after the other, each with its ? or $.
#include "verifier/text/variables.h"

#include "core/text/text.h"
#include "substitutions/rule.h"
#include <string.h>

struct names {
    uint32_t n;
    const char *items[2 * MAX_RULE_VARIABLES];
};

static size_t length_of(const char *name)
{
    return strcspn(name, " ()");
}

static uint32_t number_of(struct names *names, const char *name)
{
    size_t length = length_of(name);
    uint32_t number = FIRST_OF(uint32_t, i, names->n,
                               length_of(names->items[i]) == length && memcmp(names->items[i], name, length) == 0);
    if (number == names->n)
        names->items[names->n++] = name;
    return number;
}

void text_add_numbered(struct text *out, const char *text)
{
    struct names names = {0};
    while (*text) {
        size_t others = strcspn(text, "?$");
        text_add_n(out, text, others);
        text += others;
        if (*text)
            text_printf(out, "%c%u", *text, number_of(&names, text));
        text += length_of(text);
    }
}
