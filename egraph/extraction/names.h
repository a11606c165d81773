// The names that a file gives to nodes and classes.
#pragma once
#include "egraph/extraction/read_json.h"

void extraction_names_free(struct extraction_names *names);
