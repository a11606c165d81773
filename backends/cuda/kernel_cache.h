// Machine code by the text that it was made from: in memory for this device, and in the user's cache folder for all
// times. Compiling takes most of what a search does on the processor, so texts that will be asked for are said before,
// and compiled together.
#pragma once
#include "backends/cuda/internal.h"

struct kernel_cache *kernel_cache_new(const struct gpu_api *api, struct gpu *gpu, const char *architecture);
void kernel_cache_free(struct kernel_cache *cache);
// Loaded code for a text: from memory, from the cache folder, or compiled now. NULL: error.
struct gpu_kernel *kernel_cache_find(struct kernel_cache *cache, const char *text, struct error *error);
// Notes a text that will be asked for: it is compiled beside the next one that has to be, on all processors.
void kernel_cache_expect(struct kernel_cache *cache, const char *text);
void kernel_cache_make_expected(struct kernel_cache *cache);   // now, until it is interrupted
