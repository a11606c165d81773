// Steps as people read them: operators in order, and the types of what they read. Graphs are in the form that they are
// priced by, a line for each node: (let NAMES (OPERATOR ...) TYPE).
#include "optimizer/report/step_text.h"

#include "core/text/text.h"
#include <stdbool.h>
#include <string.h>

#define BEGIN_OF_NODE "(let "

static const char *line_of_node(const char *text)
{
    return text ? strstr(text, BEGIN_OF_NODE) : NULL;
}

// The application stands behind the names, of which several stand in parentheses.
static const char *application_of_line(const char *line)
{
    const char *names = line + strlen(BEGIN_OF_NODE);
    const char *end = strchr(names, *names == '(' ? ')' : ' ');
    return end ? strchr(end, '(') : NULL;
}

static bool is_called(const char *application, const char *name)
{
    size_t length = strlen(name);
    return strncmp(application + 1, name, length) == 0 && strchr(" )", application[1 + length]);
}

static bool is_read(const char *application)
{
    return is_called(application, "input") || is_called(application, "weight");
}

static void add_part(struct text *out, const char *part, size_t length, bool is_first)
{
    text_add(out, is_first ? "" : ", ");
    text_add_n(out, part, length);
}

static void add_operators(struct text *out, const char *graph)
{
    bool is_first = true;
    for (const char *line = line_of_node(graph); line; line = line_of_node(line + 1)) {
        const char *application = application_of_line(line);
        if (!application || is_read(application) || is_called(application, "broadcast"))
            continue;
        add_part(out, application + 1, strcspn(application + 1, " )"), is_first);
        is_first = false;
    }
    text_add(out, is_first ? "nothing" : "");
}

static void add_types(struct text *out, const char *graph)
{
    bool is_first = true;
    for (const char *line = line_of_node(graph); line; line = line_of_node(line + 1)) {
        const char *application = application_of_line(line), *type = application ? strchr(application + 1, '(') : NULL;
        if (!type || !is_read(application))
            continue;
        text_add(out, is_first ? " of " : "");
        add_part(out, type + 1, strcspn(type + 1, ")"), is_first);
        is_first = false;
    }
}

void text_add_step(struct text *out, const char *step)
{
    const char *graph = strstr(step, "(graph");
    if (!graph) {
        text_add(out, step);
        return;
    }
    add_operators(out, graph);
    add_types(out, graph);
}
