// Saving a model: which tensors go to the external file and where in it, then both files.
#pragma once
#include "onnx/format/model.h"

// All or nothing: whenever this ends, PATH and its data are the old ones or the new ones. Tensors with external data
// stay external, in one file beside the model, `PATH.HASH.data` by a hash of its content, so that it is no other
// model's; when the model would exceed `limit` bytes (0: protobuf's limit), all larger tensors are moved there. The
// data of a model that was written there before is removed. Payloads go from map to file in pieces, and the pages of
// `source` (which may be NULL) are given back as they are written, so that memory does not grow with the model. The
// model is left as it was.
bool onnx_model_write(const struct onnx_model *model, const struct onnx_file *source, const char *path, size_t limit,
                      const struct onnx_reader *reader, struct error *error);
