// The reader: one interpreter over the tables of model.c. Lists grow by doubling, packed ones at once; payloads are
// skipped over, so the cost does not depend on the size of weights. Every byte is read once, and nesting is bounded, so
// that a hostile file gets an error and not a stack overflow.
//
// Protobuf wants that the last of several values of a singular field counts, a known field of another wire type is an
// unknown one, packed and unpacked numbers mix. Unlike protobuf, a singular message that occurs twice is an error:
// merging two graphs is no model that anyone meant.
#include "onnx/format/model_read.h"

#include "core/formats/wire.h"
#include "core/numbers/float_bits.h"
#include "core/text/error.h"

#include <string.h>

#define FIELD_NUMBERS 32   // all known numbers are below; 0 stands for the unknown records
#define MESSAGES_PER_SUBGRAPH 3
#define CUT_SHORT "a packed list of numbers is cut short"
#define MAX_DEPTH (ONNX_MAX_SUBGRAPHS * MESSAGES_PER_SUBGRAPH + 8)

struct reader {
    struct arena *arena;
    const char *file;
    const uint8_t *origin;
    struct error *error;
};

// A message that is being read.
struct reading {
    size_t capacity[FIELD_NUMBERS];   // of its lists
    const uint8_t *run_end[FIELD_NUMBERS];
    uint32_t seen;   // fields that may stand once
};

// A file that is no model at all fails at the outermost message.
static bool malformed(struct reader *r, const struct onnx_descriptor *d, const uint8_t *at, const char *reason)
{
    return error_set(r->error, r->file, 0, 0, "byte %zu, in %s: %s%s", (size_t)(at - r->origin), d->name, reason,
                     d == &onnx_model_descriptor ? " (is this an ONNX model?)" : "");
}

static bool accepts(enum onnx_field_kind kind, enum wire_type type)
{
    switch (kind) {
    case ONNX_FIELD_INT:
        return type == WIRE_VARINT;
    case ONNX_FIELD_FLOAT:
        return type == WIRE_FIXED32;
    case ONNX_FIELD_INTS:
        return type == WIRE_VARINT || type == WIRE_BYTES;
    case ONNX_FIELD_FLOATS:
        return type == WIRE_FIXED32 || type == WIRE_BYTES;
    case ONNX_FIELD_RECORDS:
        return true;
    default:
        return type == WIRE_BYTES;
    }
}

static const struct onnx_field *field_of(const struct onnx_descriptor *d, const struct wire_record *record)
{
    const struct onnx_field *f = onnx_find_field(d, record->number);
    return f && accepts(f->kind, record->type) ? f : NULL;
}

// Room for so many more items, which it counts, in a list of any kind: its items and count are its first members.
static void *add_items(struct reader *r, struct reading *m, unsigned number, void *list, size_t n, size_t size)
{
    struct onnx_list any;
    memcpy(&any, list, sizeof any);
    size_t *capacity = &m->capacity[number], count = any.count;
    any.count += n;
    if (any.count > *capacity) {
        *capacity = any.count > 2 * *capacity ? any.count : 2 * *capacity;
        void *items = arena_alloc_zero(r->arena, mem_product(size, *capacity), _Alignof(max_align_t));
        if (count)
            memcpy(items, any.items, count * size);
        any.items = items;
    }
    memcpy(list, &any, sizeof any);
    return (char *)any.items + count * size;
}

static bool has_zero_byte(const struct wire_record *record)
{
    size_t size = (size_t)(record->bytes.end - record->bytes.at);
    return size && memchr(record->bytes.at, 0, size);
}

static struct onnx_string copy_string(struct reader *r, struct wire_range bytes)
{
    size_t size = (size_t)(bytes.end - bytes.at);
    return (struct onnx_string){arena_string_n(r->arena, (const char *)bytes.at, size), size};
}

static struct onnx_bytes view(struct wire_range range)
{
    return (struct onnx_bytes){range.at, (size_t)(range.end - range.at)};
}

// A run is a stretch of neighbouring records of one number, kept as one view.
static void add_run(struct reader *r, struct reading *m, unsigned number, struct onnx_blobs *runs,
                    const struct wire_record *record)
{
    bool goes_on = m->run_end[number] == record->whole.at;
    m->run_end[number] = record->whole.end;
    if (goes_on)
        runs->items[runs->count - 1].size += (size_t)(record->whole.end - record->whole.at);
    else
        *(struct onnx_bytes *)add_items(r, m, number, runs, 1, sizeof *runs->items) = view(record->whole);
}

static const char *add_ints(struct reader *r, struct reading *m, unsigned number, struct onnx_ints *ints,
                            const struct wire_record *record)
{
    struct wire_range rest = record->bytes;
    size_t n = 1;
    uint64_t value = record->value;
    ints->is_packed = ints->is_packed || record->type == WIRE_BYTES;
    if (record->type == WIRE_BYTES && !wire_count_varints(rest, &n))
        return CUT_SHORT;
    int64_t *to = add_items(r, m, number, ints, n, sizeof *to);
    for (size_t i = 0; i < n; i++) {
        if (record->type == WIRE_BYTES && wire_read_varint(&rest, &value))
            return CUT_SHORT;
        to[i] = (int64_t)value;
    }
    return rest.at == rest.end || record->type != WIRE_BYTES ? NULL : "a packed list changed while it was read";
}

static const char *add_floats(struct reader *r, struct reading *m, unsigned number, struct onnx_floats *floats,
                              const struct wire_record *record)
{
    bool is_packed = record->type == WIRE_BYTES;
    size_t size = is_packed ? (size_t)(record->bytes.end - record->bytes.at) : 4;
    floats->is_packed = floats->is_packed || is_packed;
    if (size % 4 != 0)
        return CUT_SHORT;
    float *to = add_items(r, m, number, floats, size / 4, sizeof *to);
    for (size_t i = 0; i < size / 4; i++)
        to[i] = float_of_bits(is_packed ? wire_load32(record->bytes.at + 4 * i) : (uint32_t)record->value);
    return NULL;
}

static bool parse_message(struct reader *r, const struct onnx_descriptor *d, struct wire_range range, unsigned depth,
                          char *message);

static bool parse_submessage(struct reader *r, const struct onnx_field *f, const struct wire_record *record,
                             unsigned depth, void **ret_message)
{
    if (depth == MAX_DEPTH)
        return malformed(r, f->message, record->whole.at,
                         "graphs or types are nested too deeply (more than 64 levels)");
    char *message = arena_alloc_zero(r->arena, f->message->size, _Alignof(max_align_t));
    *ret_message = message;
    return parse_message(r, f->message, record->bytes, depth + 1, message);
}

static const char *check_record(struct reading *m, const struct onnx_field *f, const struct wire_record *record)
{
    bool is_again = m->seen >> f->number & 1;
    m->seen |= UINT32_C(1) << f->number;
    if ((f->kind == ONNX_FIELD_STRING || f->kind == ONNX_FIELD_STRINGS) && !f->is_text && has_zero_byte(record))
        return "a name has a zero byte in it";
    return f->kind == ONNX_FIELD_MESSAGE && is_again ? "a message that may stand once occurs twice" : NULL;
}

// A member that is no message. Empty bytes inside a file still have an address, so that presence is kept.
static const char *fill_member(struct reader *r, struct reading *m, const struct onnx_field *f,
                               const struct wire_record *record, void *member)
{
    switch (f->kind) {
    case ONNX_FIELD_INT:
        *(int64_t *)member = (int64_t)record->value;
        return NULL;
    case ONNX_FIELD_FLOAT:
        *(float *)member = float_of_bits((uint32_t)record->value);
        return NULL;
    case ONNX_FIELD_STRING:
        *(struct onnx_string *)member = copy_string(r, record->bytes);
        return NULL;
    case ONNX_FIELD_BYTES:
        *(struct onnx_bytes *)member = view(record->bytes);
        return NULL;
    case ONNX_FIELD_INTS:
        return add_ints(r, m, f->number, member, record);
    case ONNX_FIELD_FLOATS:
        return add_floats(r, m, f->number, member, record);
    case ONNX_FIELD_STRINGS:
        *(struct onnx_string *)add_items(r, m, f->number, member, 1, sizeof(struct onnx_string)) =
            copy_string(r, record->bytes);
        return NULL;
    case ONNX_FIELD_BLOBS:
        *(struct onnx_bytes *)add_items(r, m, f->number, member, 1, sizeof(struct onnx_bytes)) = view(record->bytes);
        return NULL;
    default:
        add_run(r, m, f->number, member, record);
        return NULL;
    }
}

static bool fill_record(struct reader *r, struct reading *m, const struct onnx_descriptor *d,
                        const struct onnx_field *f, const struct wire_record *record, unsigned depth, char *message)
{
    void *member = message + f->offset, *child = NULL;
    const char *reason = check_record(m, f, record);
    if (!reason && f->kind != ONNX_FIELD_MESSAGE && f->kind != ONNX_FIELD_MESSAGES)
        reason = fill_member(r, m, f, record, member);
    if (reason)
        return malformed(r, d, record->whole.at, reason);
    if (f->kind == ONNX_FIELD_INT || f->kind == ONNX_FIELD_FLOAT)
        ((struct onnx_message *)message)->has |= UINT32_C(1) << f->number;
    if (f->kind != ONNX_FIELD_MESSAGE && f->kind != ONNX_FIELD_MESSAGES)
        return true;
    bool is_fine = parse_submessage(r, f, record, depth, &child);
    if (f->kind == ONNX_FIELD_MESSAGES)
        member = add_items(r, m, f->number, member, 1, sizeof child);
    memcpy(member, &child, sizeof child);
    return is_fine;
}

static void clear_member(const struct onnx_field *f, char *message)
{
    void *none = NULL;
    ((struct onnx_message *)message)->has &= ~(UINT32_C(1) << f->number);
    if (f->kind == ONNX_FIELD_STRING)
        memset(message + f->offset, 0, sizeof(struct onnx_string));
    else if (f->kind == ONNX_FIELD_MESSAGE)
        memcpy(message + f->offset, &none, sizeof none);
    else
        memset(message + f->offset, 0, sizeof(int64_t));
}

static void clear_alternatives(const struct onnx_descriptor *d, unsigned number, char *message)
{
    if (!(d->one_of >> number & 1))
        return;
    for (size_t i = 0; i < d->field_count; i++)
        if (d->fields[i].number != number && d->one_of >> d->fields[i].number & 1)
            clear_member(&d->fields[i], message);
}

static bool parse_message(struct reader *r, const struct onnx_descriptor *d, struct wire_range range, unsigned depth,
                          char *message)
{
    struct reading m = {.seen = 0};
    while (range.at < range.end) {
        struct wire_record record;
        const uint8_t *start = range.at;
        const char *reason = wire_read_record(&range, &record);
        if (reason)
            return malformed(r, d, start, reason);
        const struct onnx_field *f = field_of(d, &record);
        if (!f) {
            add_run(r, &m, 0, &((struct onnx_message *)message)->unknown, &record);
            continue;
        }
        clear_alternatives(d, f->number, message);
        if (!fill_record(r, &m, d, f, &record, depth, message))
            return false;
    }
    return true;
}

bool onnx_message_parse(struct arena *a, const struct onnx_descriptor *d, const char *file, const uint8_t *bytes,
                        size_t size, void **ret_message, struct error *error)
{
    static const uint8_t nothing[1];
    if (!bytes)
        bytes = nothing;
    struct reader r = {a, file, bytes, error};
    char *message = arena_alloc_zero(a, d->size, _Alignof(max_align_t));
    if (!parse_message(&r, d, (struct wire_range){bytes, bytes + size}, 0, message))
        return false;
    *ret_message = message;
    return true;
}

bool onnx_model_parse(struct arena *a, const char *file, const uint8_t *bytes, size_t size,
                      struct onnx_model **ret_model, struct error *error)
{
    void *message;
    if (size == 0)
        return error_set(error, file, 0, 0, "the file is empty");
    if (!onnx_message_parse(a, &onnx_model_descriptor, file, bytes, size, &message, error))
        return false;
    struct onnx_model *model = message;
    if (!model->graph)
        return error_set(error, file, 0, 0, "this is not an ONNX model: it has no graph");
    if (model->ir_version < 1 || model->opsets.count == 0)
        return error_set(error, file, 0, 0, "this is not an ONNX model: it has no %s",
                         model->ir_version < 1 ? "IR version" : "operator set");
    *ret_model = model;
    return true;
}
