// TASO's own format for substitutions (protobuf, src/core/rules.proto of that project): what its optimizer reads.
#pragma once
#include "generator/output/candidates.h"

struct error;

// Writes the rules that the format can say, in order; `path` NULL: nothing. Left out are rules with operators that TASO
// has not, with pads that are neither SAME nor VALID, and those whose target is one of its inputs.
bool export_pb_write(const char *path, const struct candidates *c, struct error *error);
