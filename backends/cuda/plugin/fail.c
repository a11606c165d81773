// Reasons stand in one line.
#include "backends/cuda/plugin/fail.h"

#include "backends/cuda/gpu.h"
#include <stdarg.h>
#include <stdio.h>

bool plugin_fail(char *ret_reason, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ret_reason, GPU_REASON_SIZE, format, arguments);
    va_end(arguments);
    for (char *c = ret_reason; *c; c++)
        if (*c == '\n')
            *c = ' ';
    return false;
}
