// --help, made from the option table: names in one column, help wrapped in a second one, defaults and ranges behind;
// and the same for programs that make other pages of it.
#pragma once
#include "core/text/options.h"

void options_add_help(struct text *page, const struct program *program, const void *defaults);
// All of it as JSON, which --describe prints: man pages and completions are made from it (scripts/program-pages).
void options_add_description(struct text *out, const struct program *program, const void *defaults);
