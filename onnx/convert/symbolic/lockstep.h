// Import of a model at all probes at once. Private to onnx.
#pragma once
#include "onnx/convert/symbolic/probes.h"

bool import_everywhere(struct lockstep *l);   // into all models
