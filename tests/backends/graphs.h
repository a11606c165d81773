// Graphs in text form that together use every kernel of a device, every fusion, and every way through the planner:
// `(graph "...")`.
#pragma once
#include "tests/support/cases.h"

#define CONFORMANCE "backends/conformance.cases"
