// Statuses and log lines of ONNX Runtime, from formats.
#include "provider/runtime.h"

#include <stdarg.h>
#include <stdio.h>

enum { LONGEST_LINE = 1024 };

bool runtime_is_done(const struct runtime *r, OrtStatus *status)
{
    if (!status)
        return true;
    r->api->ReleaseStatus(status);
    return false;
}

OrtStatus *runtime_fail(const struct runtime *r, const char *format, ...)
{
    char line[LONGEST_LINE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    return r->api->CreateStatus(ORT_EP_FAIL, line);
}

void runtime_log(const struct runtime *r, const char *format, ...)
{
    char line[LONGEST_LINE];
    va_list arguments;
    if (!r->logger)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    runtime_is_done(r,
                    r->api->Logger_LogMessage(r->logger, ORT_LOGGING_LEVEL_INFO, line, __FILE__, __LINE__, __func__));
}
