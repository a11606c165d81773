// Protobuf messages that are built inside out: a message is a list of pieces, so that what is put into another one, and
// the elements of tensors, are never copied until the whole is written.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/vec.h"
#include "library/memory_file.h"
#include <stdbool.h>
#include <stdint.h>

struct message_piece {
    const void *bytes;
    size_t size;
};
struct message {
    struct arena *arena;   // of small pieces
    VEC(struct message_piece) pieces;
    size_t size;
};

void message_put_integer(struct message *m, uint32_t field, int64_t value);
void message_put_float(struct message *m, uint32_t field, float value);
void message_put_bytes(struct message *m, uint32_t field, const void *bytes, size_t size);   // `bytes` live as long
void message_put_text(struct message *m, uint32_t field, const char *text);                  // copied
void message_put_message(struct message *m, uint32_t field, struct message *part);           // which is gone then
bool message_write(const struct message *m, struct memory_file *file, struct error *error);
void message_free(struct message *m);
