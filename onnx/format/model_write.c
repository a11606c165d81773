// The writer. Protobuf wants the length of a message before its contents, so everything is put twice: first where it is
// only counted, which lists the sizes of messages in the order of writing, then where it is to go. Fields go out in
// ascending order of number, as protobuf's own serializers do, so that a model written by those comes back byte for
// byte.
#include "onnx/format/model_write.h"

#include "core/formats/wire.h"
#include "core/numbers/float_bits.h"
#include "core/text/error.h"

#include <assert.h>
#include <string.h>

static size_t size_of_varints(const struct onnx_ints *ints)
{
    return SUM_ALL(size_t, size_t, i, ints->count, wire_size_varint((uint64_t)ints->items[i]));
}

static void *pointer_at(const void *member)
{
    void *pointer;
    memcpy(&pointer, member, sizeof pointer);
    return pointer;
}

// A tensor may be written in another form (its payload moved to an external file): see struct onnx_writer.
static const void *form_to_write(struct onnx_writer *w, const struct onnx_descriptor *d, const void *message)
{
    if (d != &onnx_tensor_descriptor || !w->forms)
        return message;
    const struct onnx_tensor *form = w->forms[w->next_form++];
    return form ? form : message;
}

static void put_payload(const struct wire_sink *sink, uint32_t number, const void *bytes, size_t size)
{
    wire_put_key(sink, number, WIRE_BYTES);
    wire_put_varint(sink, size);
    wire_put_bytes(sink, bytes, size);
}

static void put_blobs(const struct wire_sink *sink, const struct onnx_blobs *blobs)
{
    for (size_t i = 0; i < blobs->count; i++)
        wire_put_bytes(sink, blobs->items[i].at, blobs->items[i].size);
}

static void put_float(const struct wire_sink *sink, float value)
{
    wire_put_fixed32(sink, bits_of_float(value));
}

static void put_ints(const struct wire_sink *sink, uint32_t number, const struct onnx_ints *ints)
{
    if (ints->is_packed && ints->count) {
        wire_put_key(sink, number, WIRE_BYTES);
        wire_put_varint(sink, size_of_varints(ints));
    }
    for (size_t i = 0; i < ints->count; i++) {
        if (!ints->is_packed)
            wire_put_key(sink, number, WIRE_VARINT);
        wire_put_varint(sink, (uint64_t)ints->items[i]);
    }
}

static void put_floats(const struct wire_sink *sink, uint32_t number, const struct onnx_floats *floats)
{
    if (floats->is_packed && floats->count) {
        wire_put_key(sink, number, WIRE_BYTES);
        wire_put_varint(sink, 4 * floats->count);
    }
    for (size_t i = 0; i < floats->count; i++) {
        if (!floats->is_packed)
            wire_put_key(sink, number, WIRE_FIXED32);
        put_float(sink, floats->items[i]);
    }
}

static void put_message(struct onnx_writer *w, const struct onnx_descriptor *d, const void *message);

static size_t measure_message(struct onnx_writer *w, const struct onnx_descriptor *d, const void *message)
{
    size_t before = w->measured;
    w->measured = 0;
    put_message(w, d, message);
    size_t size = w->measured;
    w->measured = before;
    return size;
}

static void put_child(struct onnx_writer *w, const struct onnx_field *f, const void *child)
{
    size_t slot = w->next_size++;
    if (w->is_measuring) {
        vec_push(&w->sizes, 0);
        size_t size = measure_message(w, f->message, child);
        w->sizes.items[slot] = size;
        w->measured += size;
    }
    wire_put_key(w->sink, f->number, WIRE_BYTES);
    wire_put_varint(w->sink, w->sizes.items[slot]);
    if (!w->is_measuring)
        put_message(w, f->message, child);
}

static void put_field(struct onnx_writer *w, const struct onnx_field *f, const char *message)
{
    const void *member = message + f->offset;
    uint32_t n = f->number;
    bool is_present = ((const struct onnx_message *)message)->has >> n & 1;
    switch (f->kind) {
    case ONNX_FIELD_INT:
        if (is_present || *(const int64_t *)member) {
            wire_put_key(w->sink, n, WIRE_VARINT);
            wire_put_varint(w->sink, (uint64_t) * (const int64_t *)member);
        }
        return;
    case ONNX_FIELD_FLOAT:
        if (is_present) {
            wire_put_key(w->sink, n, WIRE_FIXED32);
            put_float(w->sink, *(const float *)member);
        }
        return;
    case ONNX_FIELD_STRING: {
        const struct onnx_string *s = member;
        if (s->text)
            put_payload(w->sink, n, s->text, s->size);
        return;
    }
    case ONNX_FIELD_BYTES: {
        const struct onnx_bytes *b = member;
        if (b->at)
            put_payload(w->sink, n, b->at, b->size);
        return;
    }
    case ONNX_FIELD_INTS:
        put_ints(w->sink, n, member);
        return;
    case ONNX_FIELD_FLOATS:
        put_floats(w->sink, n, member);
        return;
    case ONNX_FIELD_STRINGS: {
        const struct onnx_strings *list = member;
        for (size_t i = 0; i < list->count; i++)
            put_payload(w->sink, n, list->items[i].text, list->items[i].size);
        return;
    }
    case ONNX_FIELD_BLOBS: {
        const struct onnx_blobs *list = member;
        for (size_t i = 0; i < list->count; i++)
            put_payload(w->sink, n, list->items[i].at, list->items[i].size);
        return;
    }
    case ONNX_FIELD_RECORDS:
        put_blobs(w->sink, member);
        return;
    case ONNX_FIELD_MESSAGE: {
        const void *child = pointer_at(member);
        if (child)
            put_child(w, f, child);
        return;
    }
    case ONNX_FIELD_MESSAGES: {
        const struct onnx_list *list = member;
        for (size_t i = 0; i < list->count; i++)
            put_child(w, f, list->items[i]);
        return;
    }
    }
}

static void put_fields(struct onnx_writer *w, const struct onnx_descriptor *d, const void *message)
{
    for (size_t i = 0; i < d->field_count; i++)
        put_field(w, &d->fields[i], message);
    put_blobs(w->sink, &((const struct onnx_message *)message)->unknown);
}

static void put_deferred(struct onnx_writer *w, const struct onnx_tensor *t)
{
    struct onnx_tensor computed = *t;
    ARENA(arena);
    computed.raw_data.at = w->has_failed ? NULL : t->deferred->compute(t->deferred->context, &arena, w->error);
    w->has_failed = w->has_failed || !computed.raw_data.at;
    if (!w->has_failed)
        put_fields(w, &onnx_tensor_descriptor, &computed);
}

static void put_message(struct onnx_writer *w, const struct onnx_descriptor *d, const void *message)
{
    message = form_to_write(w, d, message);
    if (d == &onnx_tensor_descriptor && ((const struct onnx_tensor *)message)->deferred && !w->is_measuring)
        put_deferred(w, message);
    else
        put_fields(w, d, message);
}

static void count_bytes(void *target, const void *bytes, size_t size)
{
    *(size_t *)target += size;
}

size_t onnx_writer_measure(struct onnx_writer *w, const struct onnx_descriptor *d, const void *message)
{
    struct wire_sink counting = {count_bytes, &w->measured};
    const struct wire_sink *sink = w->sink;
    vec_clear(&w->sizes);
    w->sink = &counting;
    w->is_measuring = true;
    w->next_size = w->next_form = 0;
    size_t size = measure_message(w, d, message);
    w->is_measuring = false;
    w->sink = sink;
    return size;
}

void onnx_writer_put(struct onnx_writer *w, const struct onnx_descriptor *d, const void *message)
{
    w->next_size = w->next_form = 0;
    put_message(w, d, message);
}

void onnx_writer_free(struct onnx_writer *w)
{
    vec_free(&w->sizes);
}

size_t onnx_message_put(const struct onnx_descriptor *d, const void *message, const struct wire_sink *sink)
{
    struct error error;
    struct onnx_writer w FREED_BY(onnx_writer_free) = {.sink = sink, .error = &error};
    size_t size = onnx_writer_measure(&w, d, message);
    if (sink)
        onnx_writer_put(&w, d, message);
    assert(!w.has_failed);
    return size;
}

static void put_into_memory(void *target, const void *bytes, size_t size)
{
    uint8_t **at = target;
    memcpy(*at, bytes, size);
    *at += size;
}

struct onnx_bytes onnx_message_encode(struct arena *a, const struct onnx_descriptor *d, const void *message)
{
    size_t size = onnx_message_put(d, message, NULL);
    uint8_t *bytes = arena_alloc(a, size + 1, 1), *at = bytes;
    onnx_message_put(d, message, &(struct wire_sink){put_into_memory, &at});
    return (struct onnx_bytes){bytes, size};
}

bool onnx_messages_are_equal(struct arena *scratch, const struct onnx_descriptor *d, const void *a, const void *b)
{
    struct onnx_bytes x = onnx_message_encode(scratch, d, a), y = onnx_message_encode(scratch, d, b);
    return x.size == y.size && memcmp(x.at, y.at, x.size) == 0;
}
