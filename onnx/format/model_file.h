// A model file and everything mapped for it: open in one pass (map, parse, external data, sizes), close in one.
#pragma once
#include "onnx/format/model.h"

// Maps and parses the file, maps its external data, and checks every tensor's sizes (not the graph: onnx_model_check).
// External data must lie in the model's folder. On failure nothing is left open.
bool onnx_file_open(struct onnx_file *file, const char *path, struct error *error);
// onnx_file_open of bytes that are mapped already, of a file that is to have this path: the map is taken.
bool onnx_file_open_mapped(struct onnx_file *file, const char *path, const struct file_map *map, struct error *error);
void onnx_file_close(struct onnx_file *file);
// Lets go of the memory that whole pages of a view take, until it is read again. Not for other memory: that is left
// alone.
void onnx_file_forget(const struct onnx_file *file, const void *bytes, size_t size);
