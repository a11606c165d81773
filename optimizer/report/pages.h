// The pictures of one run of taso-opt: for Graphviz, and as a page for a browser.
#pragma once

struct facts;
struct report;
struct text;

// The original and what was written, side by side; what differs is coloured.
void report_print_dot(struct text *out, const struct report *r);
// One page that needs nothing else: the summary, both files to zoom into, and all facts of how it was found.
void report_print_html(struct text *out, const struct report *r, const struct facts *f);
