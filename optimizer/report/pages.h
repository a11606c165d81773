// The pictures of one run of taso-opt: for Graphviz, and as a page for a browser.
#pragma once

struct facts;
struct report;
struct text;
