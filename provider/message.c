// Keys and small values are pieces in the arena; a part's pieces follow its length.
#include "provider/message.h"

#include "core/formats/wire.h"
#include <string.h>

static void add_piece(struct message *m, const void *bytes, size_t size)
{
    vec_push(&m->pieces, ((struct message_piece){bytes, size}));
    m->size += size;
}

struct small_piece {
    uint8_t bytes[2 * WIRE_MAX_VARINT];
    size_t size;
};

static void put_small(void *target, const void *bytes, size_t size)
{
    struct small_piece *piece = target;
    memcpy(piece->bytes + piece->size, bytes, size);
    piece->size += size;
}

static void add_small(struct message *m, const struct small_piece *piece)
{
    add_piece(m, arena_copy(m->arena, piece->bytes, piece->size, 1), piece->size);
}

void message_put_integer(struct message *m, uint32_t field, int64_t value)
{
    struct small_piece piece = {.size = 0};
    struct wire_sink sink = {put_small, &piece};
    wire_put_key(&sink, field, WIRE_VARINT);
    wire_put_varint(&sink, (uint64_t)value);
    add_small(m, &piece);
}

void message_put_float(struct message *m, uint32_t field, float value)
{
    struct small_piece piece = {.size = 0};
    struct wire_sink sink = {put_small, &piece};
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    wire_put_key(&sink, field, WIRE_FIXED32);
    wire_put_fixed32(&sink, bits);
    add_small(m, &piece);
}

static void put_length(struct message *m, uint32_t field, size_t size)
{
    struct small_piece piece = {.size = 0};
    struct wire_sink sink = {put_small, &piece};
    wire_put_key(&sink, field, WIRE_BYTES);
    wire_put_varint(&sink, size);
    add_small(m, &piece);
}

void message_put_bytes(struct message *m, uint32_t field, const void *bytes, size_t size)
{
    put_length(m, field, size);
    if (size)
        add_piece(m, bytes, size);
}

void message_put_text(struct message *m, uint32_t field, const char *text)
{
    message_put_bytes(m, field, arena_string(m->arena, text), strlen(text));
}

void message_put_message(struct message *m, uint32_t field, struct message *part)
{
    put_length(m, field, part->size);
    for (size_t i = 0; i < part->pieces.count; i++)
        add_piece(m, part->pieces.items[i].bytes, part->pieces.items[i].size);
    message_free(part);
}

bool message_write(const struct message *m, struct memory_file *file, struct error *error)
{
    for (size_t i = 0; i < m->pieces.count; i++)
        if (!memory_file_add(file, m->pieces.items[i].bytes, m->pieces.items[i].size, error))
            return false;
    return true;
}

void message_free(struct message *m)
{
    vec_free(&m->pieces);
    m->size = 0;
}
