// The parser of definitions: what definition_print_typed writes (expressions/definition_print.h), and a person may.
#pragma once
#include "expressions/definition.h"

// Everything but the vectors of `ret_definition` is allocated in `a`; definition_free it. False: nothing is to be
// freed. `file` names the text in errors.
bool definition_parse(struct arena *a, const char *file, const char *text, size_t size,
                      struct definition *ret_definition, struct error *error);
