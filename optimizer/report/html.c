// A page in sections, each from the report's own numbers. Graphs are drawn here; the script only moves them.
#include "optimizer/report/html.h"

#include "core/text/text.h"
#include "optimizer/limits.def"
#include "optimizer/report/facts.h"
#include "optimizer/report/page_files.h"
#include "optimizer/report/picture.h"
#include "optimizer/report/report.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

// --- the head --------------------------------------------------------------------------------------------------------

static void add_head(struct text *out, const struct report *r, const struct facts *f)
{
    text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    html_add_escaped(out, r->job.input);
    text_printf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", page_css);
    html_add_escaped(out, facts_find(f, "headline")->text);
    text_add(out, "</h1>\n<div class=\"soft\">");
    html_add_escaped(out, r->job.device);
    if (r->job.date)
        text_printf(out, "; %s", r->job.date);
    if (r->job.command) {
        text_add(out, "; <code>");
        html_add_escaped(out, r->job.command);
        text_add(out, "</code>");
    }
    text_add(out, "</div>\n");
    facts_print_group_html(out, f, facts_find(f, "summary"));
}

// --- the graphs ------------------------------------------------------------------------------------------------------

// A tooltip breaks lines where its text does.
static void add_line(struct text *out, const char *label, const struct picture *p, const struct onnx_string *name)
{
    TEXT(line);
    text_add(&line, label);
    picture_print_value(&line, p, name);
    text_add(out, "\n");
    html_add_escaped(out, line.chars);
}

static void print_attribute(struct text *out, const struct onnx_attribute *a)
{
    text_printf(out, "%s = ", a->name.text);
    if (a->type == ONNX_ATTRIBUTE_INT)
        text_printf(out, "%" PRId64, a->i);
    else if (a->type == ONNX_ATTRIBUTE_FLOAT)
        text_printf(out, "%g", (double)a->f);
    else if (a->type == ONNX_ATTRIBUTE_STRING)
        text_add_n(out, (const char *)a->s.at, a->s.size);
    else if (a->type == ONNX_ATTRIBUTE_INTS)
        for (size_t i = 0; i < a->ints.count; i++)
            text_printf(out, "%s%" PRId64, i ? ", " : "", a->ints.items[i]);
    else
        text_add(out, "...");
}

static void add_attributes(struct text *out, const struct onnx_node *n)
{
    for (size_t i = 0; i < n->attributes.count; i++) {
        TEXT(line);
        print_attribute(&line, n->attributes.items[i]);
        text_add(out, "\n");
        html_add_escaped(out, line.chars);
    }
}

static void add_title(struct text *out, const struct picture *p, const struct picture_node *shown)
{
    const struct onnx_node *n = shown->node;
    text_add(out, "<title>");
    html_add_escaped(out, n ? n->op_type.text : "an input of the model");
    if (n && n->name.size) {
        text_add(out, " ");
        html_add_escaped(out, n->name.text);
    }
    if (n)
        add_attributes(out, n);
    for (size_t i = 0; n && i < n->inputs.count; i++)
        add_line(out, "reads ", p, &n->inputs.items[i]);
    for (size_t i = 0; n && i < n->outputs.count; i++)
        add_line(out, "makes ", p, &n->outputs.items[i]);
    if (!n)
        add_line(out, "", p, &shown->input->name);
    if (shown->seconds > 0)
        text_printf(out, "\n%.4g ms, with what runs as one with it", 1e3 * shown->seconds);
    text_add(out, "</title>");
}

static void add_node(struct text *out, const struct picture *p, const struct picture_node *shown)
{
    TEXT(shape);
    text_printf(out, "<g class=\"n%s%s\" transform=\"translate(%.1f %.1f)\">", shown->is_changed ? " c" : "",
                shown->input ? " leaf" : "", shown->x, shown->y);
    add_title(out, p, shown);
    text_printf(out, "<rect class=\"b\" width=\"%d\" height=\"%d\" rx=\"5\"/>", PICTURE_BOX_WIDTH, PICTURE_BOX_HEIGHT);
    if (shown->seconds > 0)
        text_printf(out, "<rect class=\"h\" y=\"%d\" width=\"%.1f\" height=\"4\"/>", PICTURE_BOX_HEIGHT - 4,
                    PICTURE_BOX_WIDTH * shown->seconds / p->most_seconds);
    text_printf(out, "<text x=\"%d\" y=\"14\">", PICTURE_BOX_WIDTH / 2);
    html_add_escaped(out, shown->input ? shown->input->name.text : shown->node->op_type.text);
    text_printf(out, "</text><text class=\"s\" x=\"%d\" y=\"27\">", PICTURE_BOX_WIDTH / 2);
    picture_print_shape(&shape, p, picture_output(shown));
    html_add_escaped(out, shape.chars);
    text_add(out, "</text></g>\n");
}

// An edge past other layers swings out, beside the boxes between.
static double swing_of_edge(const struct picture_node *from, const struct picture_node *to)
{
    double between = to->x - from->x;
    bool is_straight = between > -PICTURE_BOX_WIDTH && between < PICTURE_BOX_WIDTH;
    return to->layer > from->layer + 1 && is_straight ? PICTURE_BOX_WIDTH : 0;
}

static void add_edges(struct text *out, const struct picture *p)
{
    text_add(out, "<path class=\"e\" d=\"");
    for (size_t i = 0; i < p->edges.count; i++) {
        const struct picture_node *from = &p->nodes.items[p->edges.items[i].from];
        const struct picture_node *to = &p->nodes.items[p->edges.items[i].to];
        double x = from->x + PICTURE_BOX_WIDTH / 2.0, y = from->y + PICTURE_BOX_HEIGHT;
        double end = to->x + PICTURE_BOX_WIDTH / 2.0, middle = (y + to->y) / 2;
        double swing = swing_of_edge(from, to), bend = swing > 0 ? y + PICTURE_BOX_HEIGHT : middle;
        text_printf(out, "M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x, y, x + swing, bend, end + swing,
                    swing > 0 ? to->y - PICTURE_BOX_HEIGHT : middle, end, to->y);
    }
    text_add(out, "\"/>\n");
}

static void add_graph(struct text *out, const struct picture *p, const char *side, const char *label)
{
    text_printf(out,
                "<section class=\"graph %s\" id=\"%s\">\n<header><span><b>%s</b> <span class=\"soft\">%zu node%s, %zu "
                "of them only here</span></span><button data-action=\"next\">next change</button>"
                "<button data-action=\"in\">+</button><button data-action=\"out\">&minus;</button>"
                "<button data-action=\"whole\">whole</button></header>\n",
                side, side, label, p->nodes.count, plural_ending(p->nodes.count), p->n_changed);
    text_printf(out, "<svg viewBox=\"0 0 %.1f %.1f\" role=\"img\" aria-label=\"the graph %s\">\n", p->width, p->height,
                side);
    add_edges(out, p);
    for (size_t i = 0; i < p->nodes.count; i++)
        add_node(out, p, &p->nodes.items[i]);
    text_add(out, "</svg>\n</section>\n");
}

static void add_graphs(struct text *out, const struct report *r)
{
    static const char *const sides[] = {"before", "after"}, *const labels[] = {"the original", "what is written"};
    text_add(out,
             "<h2>The two files</h2>\n<p class=\"key\">Without the work on weights alone, which is done once."
             "<i style=\"background:var(--gone)\"></i>only in the original<i style=\"background:var(--new)\"></i>"
             "only in what is written<i style=\"background:rgb(var(--heat))\"></i>time, against the node that takes "
             "most</p>\n<div class=\"graphs\">\n");
    for (int i = 0; i < 2; i++) {
        struct picture p FREED_BY(picture_free);
        picture_make(&p, r, i);
        if (r->written.files[i])
            add_graph(out, &p, sides[i], labels[i]);
    }
    text_add(out, r->written.files[1]      ? "</div>\n"
                  : r->written.is_compiled ? "</div>\n<p>What is written is compiled: it has no nodes of ONNX.</p>\n"
                                           : "</div>\n<p>Nothing is written.</p>\n");
}

// --- costs -----------------------------------------------------------------------------------------------------------

struct kind {
    const char *name;
    size_t counts[2];
    double seconds[2];
};
typedef VEC(struct kind) kind_list;

static void add_to_kinds(kind_list *kinds, const struct graph_steps *steps, int side)
{
    for (size_t i = 0; steps && i < steps->steps.count; i++) {
        const struct step_summary *s = &steps->steps.items[i];
        size_t k = FIRST_OF(size_t, n, kinds->count, strcmp(kinds->items[n].name, s->kind) == 0);
        if (k == kinds->count)
            vec_push(kinds, ((struct kind){.name = s->kind}));
        kinds->items[k].counts[side]++;
        kinds->items[k].seconds[side] += s->seconds;
    }
}

static double most_seconds(const struct kind *k)
{
    return fmax(k->seconds[0], k->seconds[1]);
}

COMPARISON(compare_kinds, struct kind, ORDER(most_seconds(y), most_seconds(x)) ?: strcmp(x->name, y->name))

// A cell coloured by its share of the largest of its kind.
static void add_heat(struct text *out, double share, const char *format, double value)
{
    text_printf(out, "<td class=\"heat\" style=\"background:rgba(var(--heat),%.2f)\">", 0.75 * share);
    text_printf(out, format, value);
    text_add(out, "</td>");
}

static void add_costs(struct text *out, const struct report *r)
{
    LOCAL_LIST(kind_list, kinds);
    add_to_kinds(&kinds, r->written.steps[0], 0);
    add_to_kinds(&kinds, r->written.steps[1], 1);
    vec_sort(&kinds, compare_kinds);
    double most = kinds.count ? most_seconds(&kinds.items[0]) : 0;
    text_add(out, "<h3>Time by operators</h3>\n<p class=\"soft\">Operators that run as one are measured as one.</p>\n"
                  "<div class=\"wide\"><table id=\"costs\">\n<tr><th>operators</th><th class=\"r\">before</th>"
                  "<th class=\"r\">ms</th><th class=\"r\">after</th><th class=\"r\">ms</th></tr>\n");
    vec_each(&kinds, k) {
        text_printf(out, "<tr><td>%s</td>", k->name);
        for (int side = 0; side < 2; side++) {
            text_printf(out, "<td class=\"r\">%zu</td>", k->counts[side]);
            add_heat(out, most > 0 ? k->seconds[side] / most : 0, "%.4f", 1e3 * k->seconds[side]);
        }
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table></div>\n");
}

static void add_steps(struct text *out, const struct graph_steps *steps)
{
    text_add(out, "<details><summary>Every step of the result in order, with its layouts</summary><div class=\"wide\">"
                  "<table id=\"steps\">\n<tr><th class=\"r\">#</th><th class=\"r\">ms</th><th>operators</th>"
                  "<th>layouts</th><th>step</th></tr>\n");
    for (size_t i = 0; i < steps->steps.count; i++) {
        const struct step_summary *s = &steps->steps.items[i];
        text_printf(out, "<tr><td class=\"r\">%zu</td><td class=\"r\">%.4f</td><td>%s</td><td>", i + 1,
                    1e3 * s->seconds, s->kind);
        html_add_escaped(out, s->layouts);
        text_add(out, "</td><td class=\"t\">");
        html_add_escaped(out, s->text);
        text_add(out, "</td></tr>\n");
    }
    text_add(out, "</table></div></details>\n");
}

// --- the trajectory --------------------------------------------------------------------------------------------------

struct chart {
    double most_expanded, least, most;   // of what is shown
};

static double chart_x(const struct chart *c, uint64_t expanded)
{
    return CHART_MARGIN + (CHART_WIDTH - 2 * CHART_MARGIN) * (double)expanded / c->most_expanded;
}

static double chart_y(const struct chart *c, double seconds)
{
    return CHART_MARGIN / 2.0 + (CHART_HEIGHT - CHART_MARGIN) * (c->most - seconds) / (c->most - c->least);
}

static struct chart chart_of(const struct search_result *s)
{
    struct chart c = {1, s->seconds_after, s->seconds_before};
    for (size_t i = 0; i < s->trajectory.count; i++) {
        c.most_expanded = fmax(c.most_expanded, (double)s->trajectory.items[i].expanded);
        c.least = fmin(c.least, s->trajectory.items[i].seconds);
        c.most = fmax(c.most, s->trajectory.items[i].seconds);
    }
    double room = 0.05 * (c.most - c.least);
    room = room > 0 ? room : 0.01 * c.most + 1e-9;
    c.least -= room;
    c.most += room;
    return c;
}

static void add_trajectory(struct text *out, const struct search_result *s)
{
    if (s->seconds_before - s->seconds_before != 0 || s->seconds_after - s->seconds_after != 0)
        return;
    struct chart c = chart_of(s);
    text_printf(out,
                "<h3>Estimated time of the best graph so far, as the search went on</h3>\n<svg class=\"trajectory\" "
                "id=\"trajectory\" viewBox=\"0 0 %d %d\" role=\"img\" "
                "aria-label=\"estimated cost of the best graph by graphs expanded\">\n",
                CHART_WIDTH, CHART_HEIGHT);
    text_printf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n", CHART_MARGIN, CHART_WIDTH - CHART_MARGIN,
                CHART_HEIGHT - CHART_MARGIN / 2, CHART_HEIGHT - CHART_MARGIN / 2);
    text_printf(out, "<text x=\"%d\" y=\"%.1f\">%.4g ms</text>\n<text x=\"%d\" y=\"%.1f\">%.4g ms</text>\n", 4,
                chart_y(&c, s->seconds_before) + 4, 1e3 * s->seconds_before, CHART_WIDTH - CHART_MARGIN + 4,
                chart_y(&c, s->seconds_after) + 4, 1e3 * s->seconds_after);
    text_printf(out,
                "<text x=\"%d\" y=\"%d\">0</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.0f graphs expanded"
                "</text>\n",
                CHART_MARGIN, CHART_HEIGHT - 10, CHART_WIDTH - CHART_MARGIN, CHART_HEIGHT - 10, c.most_expanded);
    text_add(out, "<polyline points=\"");
    for (size_t i = 0; i < s->trajectory.count; i++) {
        const struct search_point *p = &s->trajectory.items[i];
        if (i)
            text_printf(out, " %.1f,%.1f ", chart_x(&c, p->expanded), chart_y(&c, s->trajectory.items[i - 1].seconds));
        text_printf(out, "%.1f,%.1f", chart_x(&c, p->expanded), chart_y(&c, p->seconds));
    }
    text_add(out, "\"/>\n");
    vec_each(&s->trajectory, p)
        text_printf(out,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%.4g ms after %" PRIu64 " graph%s, %.2f s"
                    "</title></circle>\n",
                    chart_x(&c, p->expanded), chart_y(&c, p->seconds), 1e3 * p->seconds, p->expanded,
                    plural_ending(p->expanded), p->elapsed);
    text_add(out, "</svg>\n");
}

void report_print_html(struct text *out, const struct report *r, const struct facts *f)
{
    add_head(out, r, f);
    add_graphs(out, r);
    text_add(out, "<h2>How it was found</h2>\n");
    if (!r->written.is_optimized && r->found.search->steps.count > 0)
        text_add(out, "<p>All below is of what the search found, which is not what is written.</p>\n");
    add_trajectory(out, r->found.search);
    if (r->written.steps[0] || r->written.steps[1])
        add_costs(out, r);
    if (r->written.steps[1])
        add_steps(out, r->written.steps[1]);
    facts_print_html(out, f);
    text_printf(out, "<script>\n%s</script>\n</body>\n</html>\n", page_js);
}
