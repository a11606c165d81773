// Statuses and log lines of ONNX Runtime, from formats.
#include "provider/runtime.h"

#include "core/memory/arena.h"
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

bool runtime_read_form(const struct runtime *r, const OrtTensorTypeAndShapeInfo *info, struct tensor_form *ret_form)
{
    enum ONNXTensorElementDataType type;
    size_t rank;
    if (!runtime_is_done(r, r->api->GetTensorElementType(info, &type)) ||
        !runtime_is_done(r, r->api->GetDimensionsCount(info, &rank)) || rank > MOST_AXES)
        return false;
    ret_form->element_type = (int)type;
    ret_form->rank = (int)rank;
    return runtime_is_done(r, r->api->GetDimensions(info, ret_form->dims, rank));
}

bool runtime_read_value(const struct runtime *r, const OrtValue *value, struct tensor_form *ret_form)
{
    OrtTensorTypeAndShapeInfo *info;
    if (!runtime_is_done(r, r->api->GetTensorTypeAndShape(value, &info)))
        return false;
    bool is_read = runtime_read_form(r, info, ret_form) &&
                   runtime_is_done(r, r->api->GetTensorShapeElementCount(info, &ret_form->count));
    r->api->ReleaseTensorTypeAndShapeInfo(info);
    return is_read;
}

void *runtime_read_attribute(const struct runtime *r, const OrtOpAttr *a, OrtOpAttrType type, struct arena *arena,
                             size_t *ret_size)
{
    size_t size = 0;
    runtime_is_done(r, r->api->ReadOpAttr(a, type, NULL, 0, &size));   // fails, and says how much is needed
    void *data = arena_alloc(arena, size + 1, _Alignof(max_align_t));
    return runtime_is_done(r, r->api->ReadOpAttr(a, type, data, size, ret_size)) ? data : NULL;
}
