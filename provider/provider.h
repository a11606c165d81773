// The functions that ONNX Runtime looks for in a plugin: all that libonnxruntime_providers_taso.so exports.
#pragma once
#include "provider/runtime.h"

TASO_API OrtStatus *CreateEpFactories(const char *name, const OrtApiBase *base, const OrtLogger *logger,
                                      OrtEpFactory **ret_factories, size_t limit, size_t *ret_n);
TASO_API OrtStatus *ReleaseEpFactory(OrtEpFactory *factory);
