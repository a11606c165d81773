// The writer: what is measured first can be put where it is to go.
#pragma once
#include "core/memory/vec.h"
#include "onnx/format/model.h"

struct wire_sink;

// The state, which model_save.c shares.
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

// Encoded into arena memory: equal messages (up to the order of fields) have equal bytes.
struct onnx_bytes onnx_message_encode(struct arena *a, const struct onnx_descriptor *d, const void *message);
bool onnx_messages_are_equal(struct arena *scratch, const struct onnx_descriptor *d, const void *a, const void *b);
// Gives its encoded size, and puts it there; `sink` NULL: nowhere. Nothing of it is deferred.
size_t onnx_message_put(const struct onnx_descriptor *d, const void *message, const struct wire_sink *sink);
size_t onnx_writer_measure(struct onnx_writer *w, const struct onnx_descriptor *d, const void *message);
void onnx_writer_put(struct onnx_writer *w, const struct onnx_descriptor *d, const void *message);   // after measure
void onnx_writer_free(struct onnx_writer *w);
