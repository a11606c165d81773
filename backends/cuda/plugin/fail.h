// Why the plugin could not do what it was asked.
#pragma once
#include <stdbool.h>

// Writes the reason, of GPU_REASON_SIZE at most, and is false.
bool plugin_fail(char *ret_reason, const char *format, ...) __attribute__((format(printf, 2, 3)));
