// Whole models: weights uploaded once, one arena, one stream; the first run launches step by step, later ones launch
// what was captured of it as one graph.
#pragma once
#include "backends/cuda/internal.h"

// Memory of the device, with anything in it; NULL: error.
char *cuda_allocate(struct cuda_backend *b, size_t bytes, struct error *error);
bool cuda_synchronize(struct cuda_backend *b, struct error *error);
// Records launches, to be launched again as one. NULL: something of it fails, or the device cannot capture.
struct gpu_graph *cuda_capture(struct cuda_backend *b, bool (*launch)(void *context), void *context);
