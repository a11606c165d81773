// Both files for Graphviz.
#include "optimizer/report/dot.h"

#include "core/text/text.h"
#include "optimizer/report/picture.h"
#include "optimizer/report/report.h"

// Quoted as the DOT language has it; names of operators and types need no escapes, names of models may.
static void add_quoted(struct text *out, const char *name)
{
    TEXT(shown);
    text_add_shown(&shown, name);
    text_add(out, "\"");
    for (const char *chars = shown.chars ? shown.chars : ""; *chars; chars++) {
        if (*chars == '"' || *chars == '\\')
            text_add(out, "\\");
        text_add_n(out, chars, 1);
    }
    text_add(out, "\"");
}

static void print_node(struct text *out, const struct picture *p, size_t i, const char *side)
{
    const struct picture_node *shown = &p->nodes.items[i];
    TEXT(label);
    text_add(&label, shown->input ? shown->input->name.text : shown->node->op_type.text);
    text_add(&label, " ");
    picture_print_shape(&label, p, picture_output(shown));
    if (shown->seconds > 0)
        text_printf(&label, " %.4g ms", 1e3 * shown->seconds);
    text_printf(out, "    %s%zu [label=", side, i);
    add_quoted(out, label.chars);
    text_printf(out, "%s];\n",
                !shown->is_changed ? ""
                : side[0] == 'b'   ? ", fillcolor=\"#f6c9a8\""
                                   : ", fillcolor=\"#b5e0b5\"");
}

static void print_graph(struct text *out, const struct picture *p, const char *side, const char *label)
{
    text_printf(out, "  subgraph cluster_%s {\n    label=\"%s\";\n", side, label);
    for (size_t i = 0; i < p->nodes.count; i++)
        print_node(out, p, i, side);
    for (size_t i = 0; i < p->edges.count; i++)
        text_printf(out, "    %s%u -> %s%u;\n", side, p->edges.items[i].from, side, p->edges.items[i].to);
    text_add(out, "  }\n");
}

void report_print_dot(struct text *out, const struct report *r)
{
    struct picture before FREED_BY(picture_free), after FREED_BY(picture_free);
    picture_make(&before, r, 0);
    picture_make(&after, r, 1);
    text_add(out, "digraph ");
    add_quoted(out, r->job.input);
    text_add(out, " {\n  node [shape=box, style=filled, fillcolor=\"#eeeeee\", fontname=\"sans-serif\"];\n");
    print_graph(out, &before, "before", "before");
    print_graph(out, &after, "after", "after");
    text_add(out, "}\n");
}
