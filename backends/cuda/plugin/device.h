// The GPU itself: memory, one stream, kernels, captures, moments in time.
#pragma once
#include "backends/cuda/plugin/plugin.h"

struct gpu *plugin_open(int ordinal, char *ret_reason);
void plugin_close(struct gpu *gpu);
void plugin_get_information(struct gpu *gpu, struct gpu_information *ret_information);
void *plugin_allocate(struct gpu *gpu, size_t bytes, char *ret_reason);
void plugin_release(struct gpu *gpu, void *memory);
bool plugin_upload(struct gpu *gpu, void *to, const void *from, size_t bytes);
bool plugin_download(struct gpu *gpu, void *to, const void *from, size_t bytes);
bool plugin_fill(struct gpu *gpu, void *to, int byte, size_t bytes);
bool plugin_synchronize(struct gpu *gpu, char *ret_reason);
struct gpu_kernel *plugin_load(struct gpu *gpu, const void *code, size_t size, char *ret_reason);
void plugin_unload(struct gpu *gpu, struct gpu_kernel *kernel);
bool plugin_launch(struct gpu *gpu, struct gpu_kernel *kernel, unsigned blocks, unsigned threads, int n,
                   void *const *addresses);
bool plugin_begin_capture(struct gpu *gpu, char *ret_reason);
struct gpu_graph *plugin_end_capture(struct gpu *gpu, char *ret_reason);
bool plugin_launch_graph(struct gpu *gpu, struct gpu_graph *graph);
void plugin_free_graph(struct gpu_graph *graph);
bool plugin_note_moment(struct gpu *gpu, int moment);
bool plugin_seconds_between(struct gpu *gpu, int first, int second, double *ret_seconds);
