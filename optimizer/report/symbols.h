// A report's facts of a model with symbolic dimensions, and how it writes sizes that depend on them.
#pragma once
#include <stdint.h>

struct facts;
struct imported_model;
struct report;
struct text;

// The sizes that the model was optimized for and checked at, and what is kept for sizes that are not known; of a model
// without symbols nothing.
void report_add_symbols(struct facts *f, const struct report *r);
// A size in the model's graph: "12*batch", "(past + sequence)", or a number.
void symbols_print_size(struct text *out, const struct imported_model *m, int64_t size);
