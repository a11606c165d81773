// Kernel text to machine code by NVRTC: no GPU is needed, and the same text gives the same bytes.
#pragma once
#include "backends/cuda/plugin/plugin.h"

bool plugin_compile(const char *source, const char *architecture, void **ret_code, size_t *ret_size, char *ret_reason);
void plugin_free_code(void *code);
