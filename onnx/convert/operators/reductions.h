// What conversions of reductions and of normalizations share. Private to onnx/convert.
#pragma once
#include "onnx/convert/conversion.h"
#include "onnx/convert/operators/converters.h"

struct axes {
    bool is_nothing;   // noop_with_empty_axes
    uint32_t count;
    int64_t axis[MAX_RANK];   // ascending
};
