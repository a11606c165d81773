// Nodes that mean what floating-point numbers do, and not what real numbers would: for imports whose result nobody is
// going to check.
#pragma once
#include <stdbool.h>

struct importer;

// A flag for each node of the graph: in a sum, something that was added is taken away again (x + 12582912 - 12582912
// rounds, and t - a - b of t = a + b is what a compensated sum goes on with), or a constant that is not finite is
// computed with. In the model's arena.
const bool *exact_places_find(const struct importer *im, const bool *is_live);
