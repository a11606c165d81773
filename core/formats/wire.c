// Reading and writing protobuf records. Every length is checked against what is left before it is used, and the
// remaining size is always computed as end - at, so that no sum can overflow.
#include "core/formats/wire.h"

static const uint8_t CONTINUES = 0x80;

const char *wire_read_varint(struct wire_range *r, uint64_t *ret_value)
{
    uint64_t value = 0;
    const uint8_t *at = r->at;
    for (unsigned shift = 0; shift < 7 * WIRE_MAX_VARINT; shift += 7) {
        if (at == r->end)
            return "a number is cut short";
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1)
            return "a number has more than 64 bits";
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & CONTINUES)) {
            r->at = at;
            *ret_value = value;
            return NULL;
        }
    }
    return "a number is longer than ten bytes";
}

static const char *take_bytes(struct wire_range *r, uint64_t size, struct wire_range *ret_bytes)
{
    if (size > (uint64_t)(r->end - r->at))
        return "a length exceeds what is left";
    *ret_bytes = (struct wire_range){r->at, r->at + size};
    r->at += size;
    return NULL;
}

static const char *read_payload(struct wire_range *r, struct wire_record *record)
{
    const char *reason;
    uint64_t size = 0;
    switch (record->type) {
    case WIRE_VARINT:
        return wire_read_varint(r, &record->value);
    case WIRE_FIXED64:
        reason = take_bytes(r, 8, &record->bytes);
        record->value = reason ? 0 : wire_load32(record->bytes.at) | (uint64_t)wire_load32(record->bytes.at + 4) << 32;
        return reason;
    case WIRE_FIXED32:
        reason = take_bytes(r, 4, &record->bytes);
        record->value = reason ? 0 : wire_load32(record->bytes.at);
        return reason;
    case WIRE_BYTES:
        reason = wire_read_varint(r, &size);
        return reason ? reason : take_bytes(r, size, &record->bytes);
    }
    return "a field has an unknown wire type";
}

const char *wire_read_record(struct wire_range *r, struct wire_record *ret_record)
{
    struct wire_range rest = *r;
    struct wire_record record = {0};
    uint64_t key = 0;
    const char *reason = wire_read_varint(&rest, &key);
    if (reason)
        return reason;
    if (key >> 3 == 0 || key >> 3 > 0x1fffffff)
        return "a field number is out of range";
    record.number = (uint32_t)(key >> 3);
    record.type = (enum wire_type)(key & 7);
    if ((reason = read_payload(&rest, &record)))
        return reason;
    record.whole = (struct wire_range){r->at, rest.at};
    *ret_record = record;
    *r = rest;
    return NULL;
}

bool wire_count_varints(struct wire_range r, size_t *ret_count)
{
    size_t count = 0, length = 0;
    for (const uint8_t *at = r.at; at < r.end; at++) {
        if (++length > WIRE_MAX_VARINT || (length == WIRE_MAX_VARINT && *at > 1))
            return false;
        if (!(*at & CONTINUES)) {
            count++;
            length = 0;
        }
    }
    *ret_count = count;
    return length == 0;
}

uint32_t wire_load32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

size_t wire_size_varint(uint64_t value)
{
    size_t size = 1;
    while (value >>= 7)
        size++;
    return size;
}

void wire_put_bytes(const struct wire_sink *sink, const void *bytes, size_t size)
{
    if (size)
        sink->put(sink->target, bytes, size);
}

void wire_put_varint(const struct wire_sink *sink, uint64_t value)
{
    uint8_t bytes[WIRE_MAX_VARINT];
    size_t size = 0;
    for (; value > 0x7f; value >>= 7)
        bytes[size++] = (uint8_t)(value | CONTINUES);
    bytes[size++] = (uint8_t)value;
    wire_put_bytes(sink, bytes, size);
}

void wire_put_key(const struct wire_sink *sink, uint32_t number, enum wire_type type)
{
    wire_put_varint(sink, (uint64_t)number << 3 | (uint64_t)type);
}

void wire_put_fixed32(const struct wire_sink *sink, uint32_t value)
{
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    wire_put_bytes(sink, bytes, sizeof bytes);
}
