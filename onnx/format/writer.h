// The writer's state, shared by model_write.c (messages) and model_save.c (files). Private to onnx.
#pragma once
#include "core/memory/vec.h"
#include "onnx/format/model.h"

struct onnx_writer {
    const struct wire_sink *sink;
    VEC(size_t) sizes;   // of all messages within the outermost one, in the order of writing
    size_t next_size;
    bool is_measuring;   // what is put is counted, and nothing is computed
    size_t measured;
    const struct onnx_tensor **forms;   // one per tensor in the order of writing: what to write instead, or NULL
    size_t next_form;
    struct error *error;
    bool has_failed;   // deferred elements could not be computed, and *error says why: what was written is no model
};
