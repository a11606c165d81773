// How many processors this process may keep busy.
#pragma once
#include <stdbool.h>

// Processors that the program may run on, but no more than the time that its control groups give it is worth: a thread
// beyond that waits most of the time, and the others wait for it. At least one. What else runs now does not count.
int cores_available(void);
bool cores_are_limited(void);   // by control groups, not by affinity
// The least quota of a group and those above it, in whole processors, where version 2 of control groups lies below
// `root` and `group` is a path there ("/a/b"); for a single folder of version 1 `group` is "". 0: there is none.
int cores_of_quota(const char *root, const char *group);
