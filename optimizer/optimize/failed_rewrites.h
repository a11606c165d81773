// Results that fail the check.
#pragma once
#include <stdbool.h>

struct optimizing;

// Searches, and judges what is found; as long as that fails the check, the rewrite is found that makes it fail, and its
// rules are left out of the next search. In the end o->found agrees, or is the original. False: the device failed.
bool failed_rewrites_search(struct optimizing *o);
