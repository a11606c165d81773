// External data: where a tensor's bytes are, when not in the model. Private to onnx.
#pragma once
#include "onnx/format/model.h"

// Maps the file that `t` names (once per file) and sets t->external. The file must be a regular one inside the folder
// of the model, also when every symbolic link is followed, and must hold all of the bytes named.
bool onnx_external_map(struct onnx_file *file, struct onnx_tensor *t, struct error *error);
