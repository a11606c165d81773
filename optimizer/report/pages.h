// The pictures of one run of taso-opt: for Graphviz, and as a page for a browser.
#pragma once

struct report;
struct text;

// The graph before and after, side by side; what differs is coloured.
void report_print_dot(struct text *out, const struct report *r);
// One page that needs nothing else: both graphs to zoom into, costs, rules, layouts, and the course of the search.
void report_print_html(struct text *out, const struct report *r);
