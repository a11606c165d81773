// Element-wise functions, for converters that are made of them.
#pragma once
#include "onnx/convert/conversion.h"

tensor_id clip_between(struct conversion *c, tensor_id x, double low, double high);
