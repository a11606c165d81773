// The frame of the file of a compiled model: header, manifest, weights, checksum (compiled_model.h).
#pragma once
#include "core/memory/vec.h"
#include "core/system/file.h"

#define COMPILED_ALIGNMENT 64

struct compiled_frame {   // places within a file's bytes
    const char *manifest;
    size_t manifest_size;
    const uint8_t *weights;
    size_t weights_size;
};
bool compiled_frame_is_at(const void *bytes, size_t size);   // by its first bytes
// False: it is no compiled model, of another version, or cut short.
bool compiled_frame_read(struct compiled_frame *ret_frame, const char *path, const void *bytes, size_t size,
                         struct error *error);
// The same as compiled_frame_read, and false when the checksum does not fit.
bool compiled_frame_check(const char *path, const void *bytes, size_t size, struct error *error);

struct compiled_writer {
    struct file_writer file;
    uint8_t *piece;   // that is not written yet
    size_t filled;
    VEC(uint64_t) hashes;
};
bool compiled_writer_open(struct compiled_writer *w, const char *path, const char *manifest, size_t manifest_size,
                          size_t weights_size, struct error *error);
void compiled_writer_add(struct compiled_writer *w, const void *bytes, size_t size);   // and zeros up to the alignment
bool compiled_writer_commit(struct compiled_writer *w, struct error *error);
void compiled_writer_abandon(struct compiled_writer *w);
