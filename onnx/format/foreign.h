// Files that are no models of ONNX, told apart by how they begin.
#pragma once
#include <stdbool.h>

struct error;
struct file_map;

// False (EXIT_BAD_INPUT): the file is of another kind that people have; the error names it, and says what to do.
bool onnx_file_is_no_other(const char *path, const struct file_map *map, struct error *error);
// The same of a file that can be read at all.
bool onnx_file_may_be_model(const char *path, struct error *error);
