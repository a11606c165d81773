// The report as text: the headline, the lines of the summary, where it is wanted everything else, and the headline
// again, which then stands right above the prompt.
#include "optimizer/report/report_text.h"

#include "core/text/text.h"
#include "optimizer/report/facts.h"
#include <string.h>

void report_print(struct text *out, const struct facts *f, bool is_explained)
{
    const char *headline = facts_find(f, "headline")->text;
    text_add_shown(out, headline);
    text_add(out, "\n");
    facts_print_group_text(out, f, facts_find(f, "summary"));
    if (is_explained) {
        text_add(out, "\n");
        facts_print_text(out, f);
        text_add(out, "\n");
    }
    text_add_shown(out, headline);
    text_add(out, "\n");
}
