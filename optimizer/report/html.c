// A page in sections, each from the report's own numbers. Graphs are drawn here; the script only moves them.
#include "core/text/text.h"
#include "graph/call_text.h"
#include "optimizer/report/page_files.h"
#include "optimizer/report/pages.h"
#include "optimizer/report/picture.h"
#include "optimizer/report/report.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

// --- text ------------------------------------------------------------------------------------------------------------

static void add_escaped(struct text *out, const char *name)
{
    struct text shown = {0};
    text_add_shown(&shown, name);
    for (const char *chars = shown.chars ? shown.chars : ""; *chars; chars++)
        switch (*chars) {
        case '<':
            text_add(out, "&lt;");
            break;
        case '>':
            text_add(out, "&gt;");
            break;
        case '&':
            text_add(out, "&amp;");
            break;
        case '"':
            text_add(out, "&quot;");
            break;
        default:
            text_add_n(out, chars, 1);
        }
    text_free(&shown);
}

// A cell of a table.
static void add_cell(struct text *out, const char *name)
{
    text_add(out, "<td>");
    add_escaped(out, name);
    text_add(out, "</td>");
}

// --- the head --------------------------------------------------------------------------------------------------------

__attribute__((format(printf, 4, 5))) static void add_fact(struct text *out, const char *label, bool is_bad,
                                                           const char *format, ...)
{
    va_list arguments;
    text_printf(out, "<div class=\"%s\">%s<b>", is_bad ? "bad" : "", label);
    va_start(arguments, format);
    text_vprintf(out, format, arguments);
    va_end(arguments);
    text_add(out, "</b></div>\n");
}

static void add_time(struct text *out, const char *label, double seconds)
{
    if (seconds - seconds == 0)
        add_fact(out, label, false, "%.4g ms", 1e3 * seconds);
    else
        add_fact(out, label, false, "unknown");
}

static void add_facts(struct text *out, const struct report *r)
{
    const struct search_result *s = r->search;
    text_add(out, "<div class=\"facts\">\n");
    add_time(out, "estimated before", report_estimate(r, 0));
    add_time(out, "estimated after", report_estimate(r, 1));
    if (r->n_timed > 0)
        add_time(out, "measured before", r->times[0].median);
    if (r->n_timed == 2) {
        add_time(out, "measured after", r->times[1].median);
        add_fact(out, "measured speed-up", false, "%.3f", r->gain.ratio);
    }
    for (int i = 0; i < r->n_timed && !r->runtime; i++) {
        double error = report_estimate_error(r, i);
        if (isfinite(error))
            add_fact(out, i ? "sum of steps after, off by" : "sum of steps before, off by",
                     fabs(error) > REPORT_LARGE_ERROR, "%+.1f %%", 1e2 * error);
    }
    add_fact(out, "check", r->verdict == CHECK_FAILED, "%s", check_verdict_name(r->verdict));
    add_fact(out, "rewrites", false, "%zu", s->steps.count);
    add_fact(out, "search", false, "%.2f s", s->statistics.seconds);
    text_add(out, "</div>\n");
}

static void add_head(struct text *out, const struct report *r)
{
    text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    add_escaped(out, r->input);
    text_add(out, "</title>\n<style>\n");
    text_add(out, page_css);
    text_add(out, "</style>\n</head>\n<body>\n<h1>");
    add_escaped(out, r->input);
    text_add(out, "</h1>\n<div class=\"soft\">");
    add_escaped(out, r->device);
    if (r->kept_reason) {
        text_add(out, "; the original is kept, because ");
        add_escaped(out, r->kept_reason);
    }
    text_add(out, "</div>\n");
    add_facts(out, r);
}

// --- the graphs ------------------------------------------------------------------------------------------------------

static void add_title(struct text *out, const struct picture *p, const struct picture_node *shown)
{
    const struct node *n = &p->graph->nodes.items[shown->node];
    struct text title = {0};
    call_text_print(&title, n->op, -1, n->attributes);
    text_add(&title, ")");
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        text_add(&title, "\nreads ");
        type_print(&title, graph_type(p->graph, graph_inputs(p->graph, shown->node)[i]));
    }
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        text_add(&title, "\nmakes ");
        type_print(&title, graph_type(p->graph, n->first_output + i));
    }
    if (shown->seconds > 0)
        text_printf(&title, "\n%.4g ms, with what is fused into it", 1e3 * shown->seconds);
    text_add(out, "<title>");
    add_escaped(out, title.chars);
    text_add(out, "</title>");
    text_free(&title);
}

static void add_shape(struct text *out, const struct type *t)
{
    if (t->rank < 0)
        text_add(out, "?");
    for (int i = 0; i < t->rank; i++)
        text_printf(out, "%s%" PRId64, i ? "x" : "", t->dim[i]);
    if (t->rank == 0)
        text_add(out, "scalar");
}

static void add_node(struct text *out, const struct picture *p, const struct picture_node *shown)
{
    const struct node *n = &p->graph->nodes.items[shown->node];
    text_printf(out, "<g class=\"n%s%s\" transform=\"translate(%.1f %.1f)\">", shown->is_changed ? " c" : "",
                n->op->flags & OPERATOR_IS_LEAF ? " leaf" : "", shown->x, shown->y);
    add_title(out, p, shown);
    text_printf(out, "<rect class=\"b\" width=\"%d\" height=\"%d\" rx=\"5\"/>", PICTURE_BOX_WIDTH, PICTURE_BOX_HEIGHT);
    if (shown->seconds > 0)
        text_printf(out, "<rect class=\"h\" y=\"%d\" width=\"%.1f\" height=\"4\"/>", PICTURE_BOX_HEIGHT - 4,
                    PICTURE_BOX_WIDTH * shown->seconds / p->most_seconds);
    text_printf(out, "<text x=\"%d\" y=\"14\">%s</text>", PICTURE_BOX_WIDTH / 2, n->op->name);
    if (n->n_outputs) {
        text_printf(out, "<text class=\"s\" x=\"%d\" y=\"27\">", PICTURE_BOX_WIDTH / 2);
        add_shape(out, graph_type(p->graph, n->first_output));
        text_add(out, "</text>");
    }
    text_add(out, "</g>\n");
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

static void add_graph(struct text *out, const struct picture *p, const char *side)
{
    text_printf(out,
                "<section class=\"graph %s\" id=\"%s\">\n<header><span><b>%s</b> <span class=\"soft\">%zu node%s, %zu "
                "of them only here</span></span><button data-action=\"next\">next change</button>"
                "<button data-action=\"in\">+</button><button data-action=\"out\">&minus;</button>"
                "<button data-action=\"whole\">whole</button></header>\n",
                side, side, side, p->nodes.count, plural_ending(p->nodes.count), p->n_changed);
    text_printf(out, "<svg viewBox=\"0 0 %.1f %.1f\" role=\"img\" aria-label=\"the graph %s\">\n", p->width, p->height,
                side);
    add_edges(out, p);
    for (size_t i = 0; i < p->nodes.count; i++)
        add_node(out, p, &p->nodes.items[i]);
    text_add(out, "</svg>\n</section>\n");
}

static void add_graphs(struct text *out, const struct report *r)
{
    struct picture before, after;
    picture_make(&before, r->before, r->after, r->steps_before);
    picture_make(&after, r->after, r->before, r->steps_after);
    text_add(out, "<h2>Graphs</h2>\n<p class=\"key\">Without the work on weights alone, which is done once."
                  "<i style=\"background:var(--gone)\"></i>rewritten<i style=\"background:var(--new)\"></i>made by "
                  "rewriting<i style=\"background:rgb(var(--heat))\"></i>cost, against the costliest node</p>\n"
                  "<div class=\"graphs\">\n");
    add_graph(out, &before, "before");
    add_graph(out, &after, "after");
    text_add(out, "</div>\n");
    picture_free(&before);
    picture_free(&after);
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
        size_t k = 0;
        while (k < kinds->count && strcmp(kinds->items[k].name, s->kind) != 0)
            k++;
        if (k == kinds->count)
            vec_push(kinds, ((struct kind){.name = s->kind}));
        kinds->items[k].counts[side]++;
        kinds->items[k].seconds[side] += s->seconds;
    }
}

static int compare_kinds(const void *a, const void *b)
{
    const struct kind *x = a, *y = b;
    double most_x = x->seconds[0] > x->seconds[1] ? x->seconds[0] : x->seconds[1];
    double most_y = y->seconds[0] > y->seconds[1] ? y->seconds[0] : y->seconds[1];
    return most_x != most_y ? (most_x < most_y ? 1 : -1) : strcmp(x->name, y->name);
}

// A cell coloured by its share of the largest of its kind.
static void add_heat(struct text *out, double share, const char *format, double value)
{
    text_printf(out, "<td class=\"heat\" style=\"background:rgba(var(--heat),%.2f)\">", 0.75 * share);
    text_printf(out, format, value);
    text_add(out, "</td>");
}

static void add_costs(struct text *out, const struct report *r)
{
    kind_list kinds = {0};
    double most = 0;
    add_to_kinds(&kinds, r->steps_before, 0);
    add_to_kinds(&kinds, r->steps_after, 1);
    vec_sort(&kinds, compare_kinds);
    if (kinds.count)
        most = kinds.items[0].seconds[0] > kinds.items[0].seconds[1] ? kinds.items[0].seconds[0]
                                                                     : kinds.items[0].seconds[1];
    text_add(out, "<h2>Cost by operators</h2>\n<p class=\"soft\">Operators that run as one are priced as one.</p>\n"
                  "<div class=\"wide\"><table id=\"costs\">\n<tr><th>operators</th><th class=\"r\">before</th>"
                  "<th class=\"r\">ms</th><th class=\"r\">after</th><th class=\"r\">ms</th></tr>\n");
    for (size_t i = 0; i < kinds.count; i++) {
        const struct kind *k = &kinds.items[i];
        text_printf(out, "<tr><td>%s</td>", k->name);
        for (int side = 0; side < 2; side++) {
            text_printf(out, "<td class=\"r\">%zu</td>", k->counts[side]);
            add_heat(out, most > 0 ? k->seconds[side] / most : 0, "%.4f", 1e3 * k->seconds[side]);
        }
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table></div>\n");
    vec_free(&kinds);
}

static void add_steps(struct text *out, const struct graph_steps *steps)
{
    text_add(out,
             "<h2>Steps and layouts after</h2>\n<details><summary>every step in order</summary><div class=\"wide\">"
             "<table id=\"steps\">\n<tr><th class=\"r\">#</th><th class=\"r\">ms</th><th>operators</th>"
             "<th>layouts</th><th>step</th></tr>\n");
    for (size_t i = 0; steps && i < steps->steps.count; i++) {
        const struct step_summary *s = &steps->steps.items[i];
        text_printf(out, "<tr><td class=\"r\">%zu</td><td class=\"r\">%.4f</td><td>%s</td><td>", i + 1,
                    1e3 * s->seconds, s->kind);
        add_escaped(out, s->layouts);
        text_add(out, "</td><td class=\"t\">");
        add_escaped(out, s->text);
        text_add(out, "</td></tr>\n");
    }
    text_add(out, "</table></div></details>\n");
}

// --- rules -----------------------------------------------------------------------------------------------------------

static double gain_of_rule(const struct search_result *s, const struct rule *rule)
{
    double last = s->seconds_before, gain = 0;
    for (size_t i = 0; i < s->steps.count; i++) {
        if (s->steps.items[i].rule == rule)
            gain += last - s->steps.items[i].seconds_after;
        last = s->steps.items[i].seconds_after;
    }
    return gain;
}

static void add_rule(struct text *out, const struct report *r, size_t i, uint64_t most)
{
    text_add(out, "<tr>");
    add_cell(out, r->rules->rules.items[i]->name);
    add_heat(out, (double)r->search->applications.items[i] / (double)most, "%.0f",
             (double)r->search->applications.items[i]);
    text_printf(out, "<td class=\"r\">%+.4f</td></tr>\n", 1e3 * gain_of_rule(r->search, r->rules->rules.items[i]));
}

static void add_rules(struct text *out, const struct report *r)
{
    uint64_t most = 0, n_used = 0;
    for (size_t i = 0; i < r->search->applications.count; i++) {
        uint64_t n = r->search->applications.items[i];
        most = n > most ? n : most;
        n_used += n > 0;
    }
    text_printf(out,
                "<h2>Rules used</h2>\n<p class=\"soft\">%" PRIu64 " of %zu rule%s; applied: %" PRIu64
                " times generated ones, %" PRIu64 " times written ones.</p>\n<table id=\"rules\">\n"
                "<tr><th>rule</th><th class=\"r\">times</th><th class=\"r\">gain, ms</th></tr>\n",
                n_used, r->rules->rules.count, plural_ending(r->rules->rules.count), report_applications(r, true),
                report_applications(r, false));
    for (size_t i = 0; i < r->search->applications.count; i++)
        if (r->search->applications.items[i])
            add_rule(out, r, i, most);
    text_add(out, "</table>\n");
}

static void add_rewrites(struct text *out, const struct search_result *s)
{
    double last = s->seconds_before;
    text_add(out,
             "<details><summary>every rewrite in order</summary><table id=\"rewrites\">\n<tr><th class=\"r\">#</th>"
             "<th>rule</th><th class=\"r\">gain, ms</th><th class=\"r\">then, ms</th></tr>\n");
    for (size_t i = 0; i < s->steps.count; i++) {
        const struct search_step *step = &s->steps.items[i];
        text_printf(out, "<tr><td class=\"r\">%zu</td>", i + 1);
        add_cell(out, step->rule->name);
        text_printf(out, "<td class=\"r\">%+.4f</td><td class=\"r\">%.4f</td></tr>\n",
                    1e3 * (last - step->seconds_after), 1e3 * step->seconds_after);
        last = step->seconds_after;
    }
    text_add(out, "</table></details>\n");
}

static void add_unions(struct text *out, const struct report *r)
{
    const struct search_result *s = r->search;
    uint64_t most = 0;
    for (size_t i = 0; i < s->unions.count; i++)
        most = s->unions.items[i] > most ? s->unions.items[i] : most;
    text_add(out, "<table id=\"unions\">\n<tr><th>rule</th><th class=\"r\">unions</th></tr>\n");
    for (size_t i = 0; i < s->unions.count; i++) {
        if (!s->unions.items[i])
            continue;
        text_add(out, "<tr>");
        add_cell(out, r->rules->rules.items[i]->name);
        add_heat(out, (double)s->unions.items[i] / (double)most, "%.0f", (double)s->unions.items[i]);
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table>\n");
}

static void add_saturation(struct text *out, const struct report *r)
{
    const struct saturation_figures *f = &r->search->saturation;
    const struct egraph_figures *last = &f->last;
    if (!f->is_done)
        return;
    text_printf(out,
                "<h2>Saturation</h2>\n<p class=\"soft\">%" PRIu64 " e-graphs: %" PRIu64 " matches, %" PRIu64
                " unions. Cycles: %" PRIu64 " applications left out, %" PRIu64
                " e-nodes filtered. The last one has %" PRIu64 " e-nodes in %" PRIu64 " classes after %" PRIu64
                " rounds (%s).</p>\n",
                f->egraphs, f->matches, f->unions, f->cycles_prevented, f->cycles_resolved, last->nodes, last->classes,
                last->rounds, last->end);
    double gap = last->extracted > 0 ? 100 * (last->extracted - last->bound) / last->extracted : 0;
    text_printf(
        out,
        "<p class=\"soft\">The cheapest sum of e-nodes is %.4f ms, none is below %.4f ms: a gap of %.2f %%. Of %" PRIu64
        " graphs priced as a whole %s.</p>\n",
        1e3 * last->extracted, 1e3 * last->bound, gap, f->graphs_priced,
        f->is_better ? "one is the result" : "none was better than what was found before");
    add_unions(out, r);
}

static void add_kept(struct text *out, const struct report *r)
{
    if (r->kept.count == 0)
        return;
    text_add(out, "<h2>Kept as they are</h2>\n<table id=\"kept\">\n<tr><th>operator</th><th class=\"r\">nodes</th>"
                  "<th>reason</th></tr>\n");
    for (size_t i = 0; i < r->kept.count; i++) {
        const struct kept_operator *k = &r->kept.items[i];
        text_add(out, "<tr>");
        add_cell(out, k->name);
        text_printf(out, "<td class=\"r\">%zu</td>", k->n_nodes);
        add_cell(out, k->reason);
        text_add(out, "</tr>\n");
    }
    text_add(out, "</table>\n");
}

// --- the course ------------------------------------------------------------------------------------------------------

#define CHART_WIDTH 900
#define CHART_HEIGHT 260
#define CHART_MARGIN 90

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
    for (size_t i = 0; i < s->course.count; i++) {
        c.most_expanded = fmax(c.most_expanded, (double)s->course.items[i].expanded);
        c.least = fmin(c.least, s->course.items[i].seconds);
        c.most = fmax(c.most, s->course.items[i].seconds);
    }
    double room = 0.05 * (c.most - c.least);
    room = room > 0 ? room : 0.01 * c.most + 1e-9;
    c.least -= room;
    c.most += room;
    return c;
}

static void add_course(struct text *out, const struct search_result *s)
{
    if (s->seconds_before - s->seconds_before != 0 || s->seconds_after - s->seconds_after != 0)
        return;
    struct chart c = chart_of(s);
    text_printf(out,
                "<h2>Course of the search</h2>\n<svg class=\"course\" id=\"course\" viewBox=\"0 0 %d %d\" role=\"img\" "
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
    for (size_t i = 0; i < s->course.count; i++) {
        const struct search_point *p = &s->course.items[i];
        if (i)
            text_printf(out, " %.1f,%.1f ", chart_x(&c, p->expanded), chart_y(&c, s->course.items[i - 1].seconds));
        text_printf(out, "%.1f,%.1f", chart_x(&c, p->expanded), chart_y(&c, p->seconds));
    }
    text_add(out, "\"/>\n");
    for (size_t i = 0; i < s->course.count; i++) {
        const struct search_point *p = &s->course.items[i];
        text_printf(out,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%.4g ms after %" PRIu64 " graph%s, %.2f s"
                    "</title></circle>\n",
                    chart_x(&c, p->expanded), chart_y(&c, p->seconds), 1e3 * p->seconds, p->expanded,
                    plural_ending(p->expanded), p->elapsed);
    }
    text_add(out, "</svg>\n");
}

void report_print_html(struct text *out, const struct report *r)
{
    add_head(out, r);
    add_graphs(out, r);
    add_kept(out, r);
    add_course(out, r->search);
    add_rules(out, r);
    add_rewrites(out, r->search);
    add_saturation(out, r);
    add_costs(out, r);
    add_steps(out, r->steps_after);
    text_add(out, "<script>\n");
    text_add(out, page_js);
    text_add(out, "</script>\n</body>\n</html>\n");
}
