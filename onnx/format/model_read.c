// The reader: one interpreter over the tables of schema.c. Each message is scanned twice, first to count what repeats
// and to meet every malformed byte, then to fill arrays of the right size; payloads are skipped over, so the cost does
// not depend on the size of weights. Nesting is bounded, so a hostile file gets an error and not a stack overflow, and
// so does one that somebody writes to between the scans.
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
#define MAX_DEPTH (ONNX_MAX_SUBGRAPHS * MESSAGES_PER_SUBGRAPH + 8)

struct reader {
    struct arena *arena;
    const char *file;
    const uint8_t *origin;
    struct error *error;
};

struct tally {
    size_t count[FIELD_NUMBERS];   // while arrays are filled: of places that are left
    const uint8_t *run_end[FIELD_NUMBERS];
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

// A run is a stretch of neighbouring records of one number, kept as one view.
static bool begins_run(struct tally *tally, unsigned number, const struct wire_record *record)
{
    bool begins = tally->run_end[number] != record->whole.at;
    tally->run_end[number] = record->whole.end;
    return begins;
}

static const char *count_numbers(const struct onnx_field *f, const struct wire_record *record, size_t *count)
{
    size_t size = (size_t)(record->bytes.end - record->bytes.at), packed = 0;
    if (record->type != WIRE_BYTES) {
        *count += 1;
        return NULL;
    }
    if (f->kind == ONNX_FIELD_FLOATS ? size % 4 != 0 : !wire_count_varints(record->bytes, &packed))
        return "a packed list of numbers is cut short";
    *count += f->kind == ONNX_FIELD_FLOATS ? size / 4 : packed;
    return NULL;
}

static bool has_zero_byte(const struct wire_record *record)
{
    size_t size = (size_t)(record->bytes.end - record->bytes.at);
    return size && memchr(record->bytes.at, 0, size);
}

static const char *count_record(const struct onnx_field *f, struct tally *tally, const struct wire_record *record)
{
    unsigned number = f ? f->number : 0;
    size_t *count = &tally->count[number];
    if (!f || f->kind == ONNX_FIELD_RECORDS) {
        *count += begins_run(tally, number, record);
        return NULL;
    }
    if (f->kind == ONNX_FIELD_INTS || f->kind == ONNX_FIELD_FLOATS)
        return count_numbers(f, record, count);
    *count += 1;
    if ((f->kind == ONNX_FIELD_STRING || f->kind == ONNX_FIELD_STRINGS) && !f->is_text && has_zero_byte(record))
        return "a name has a zero byte in it";
    return f->kind == ONNX_FIELD_MESSAGE && *count > 1 ? "a message that may stand once occurs twice" : NULL;
}

static bool count_records(struct reader *r, const struct onnx_descriptor *d, struct wire_range range,
                          struct tally *tally)
{
    while (range.at < range.end) {
        struct wire_record record;
        const uint8_t *start = range.at;
        const char *reason = wire_read_record(&range, &record);
        if (!reason)
            reason = count_record(field_of(d, &record), tally, &record);
        if (reason)
            return malformed(r, d, start, reason);
    }
    return true;
}

// The items of lists, which are the first member of each.
static const size_t item_sizes[ONNX_FIELD_RECORDS + 1] = {
    [ONNX_FIELD_INTS] = sizeof(int64_t),
    [ONNX_FIELD_FLOATS] = sizeof(float),
    [ONNX_FIELD_STRINGS] = sizeof(struct onnx_string),
    [ONNX_FIELD_BLOBS] = sizeof(struct onnx_bytes),
    [ONNX_FIELD_MESSAGES] = sizeof(void *),
    [ONNX_FIELD_RECORDS] = sizeof(struct onnx_bytes),
};

static void allocate_lists(struct reader *r, const struct onnx_descriptor *d, const struct tally *tally, char *message)
{
    struct onnx_message *m = (struct onnx_message *)message;
    if (tally->count[0])
        m->unknown.items = arena_array(r->arena, struct onnx_bytes, tally->count[0]);
    for (size_t i = 0; i < d->field_count; i++) {
        const struct onnx_field *f = &d->fields[i];
        size_t n = tally->count[f->number];
        if (n == 0 || item_sizes[f->kind] == 0)
            continue;
        void *items = arena_alloc_zero(r->arena, mem_product(item_sizes[f->kind], n), _Alignof(max_align_t));
        memcpy(message + f->offset, &items, sizeof items);
    }
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

// False: there was less when the places were counted.
static bool take_place(size_t *places)
{
    return *places > 0 && (*places)-- > 0;
}

static bool add_run(struct onnx_blobs *runs, struct tally *tally, unsigned number, const struct wire_record *record)
{
    if (!begins_run(tally, number, record))
        runs->items[runs->count - 1].size += (size_t)(record->whole.end - record->whole.at);
    else if (take_place(&tally->count[number]))
        runs->items[runs->count++] = view(record->whole);
    else
        return false;
    return true;
}

static bool add_int(struct onnx_ints *ints, size_t *places, uint64_t value)
{
    if (!take_place(places))
        return false;
    ints->items[ints->count++] = (int64_t)value;
    return true;
}

static bool add_ints(struct onnx_ints *ints, size_t *places, const struct wire_record *record)
{
    struct wire_range rest = record->bytes;
    uint64_t value;
    if (record->type == WIRE_VARINT)
        return add_int(ints, places, record->value);
    ints->is_packed = true;
    while (rest.at < rest.end)
        if (wire_read_varint(&rest, &value) || !add_int(ints, places, value))
            return false;
    return true;
}

static bool add_float(struct onnx_floats *floats, size_t *places, uint32_t bits)
{
    if (!take_place(places))
        return false;
    floats->items[floats->count++] = float_of_bits(bits);
    return true;
}

static bool add_floats(struct onnx_floats *floats, size_t *places, const struct wire_record *record)
{
    if (record->type == WIRE_FIXED32)
        return add_float(floats, places, (uint32_t)record->value);
    floats->is_packed = true;
    for (const uint8_t *at = record->bytes.at; record->bytes.end - at >= 4; at += 4)
        if (!add_float(floats, places, wire_load32(at)))
            return false;
    return true;
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

static bool file_changed(struct reader *r, const struct onnx_descriptor *d, const uint8_t *at)
{
    return malformed(r, d, at, "the file changed while it was read");
}

// Adds an item to a list. False: there is no place for it.
static bool add_item(struct reader *r, const struct onnx_field *f, struct tally *tally,
                     const struct wire_record *record, void *member)
{
    size_t *places = &tally->count[f->number];
    if (f->kind == ONNX_FIELD_INTS)
        return add_ints(member, places, record);
    if (f->kind == ONNX_FIELD_FLOATS)
        return add_floats(member, places, record);
    if (f->kind == ONNX_FIELD_RECORDS)
        return add_run(member, tally, f->number, record);
    if (!take_place(places))
        return false;
    if (f->kind == ONNX_FIELD_STRINGS) {
        struct onnx_strings *list = member;
        list->items[list->count++] = copy_string(r, record->bytes);
    } else if (f->kind == ONNX_FIELD_BLOBS) {
        struct onnx_blobs *list = member;
        list->items[list->count++] = view(record->bytes);
    }
    return true;
}

// Empty bytes inside a file still have an address, so that presence is kept.
static bool fill_record(struct reader *r, const struct onnx_descriptor *d, const struct onnx_field *f,
                        struct tally *tally, const struct wire_record *record, unsigned depth, char *message)
{
    struct onnx_message *m = (struct onnx_message *)message;
    void *member = message + f->offset;
    switch (f->kind) {
    case ONNX_FIELD_INT:
        *(int64_t *)member = (int64_t)record->value;
        m->has |= UINT32_C(1) << f->number;
        return true;
    case ONNX_FIELD_FLOAT:
        *(float *)member = float_of_bits((uint32_t)record->value);
        m->has |= UINT32_C(1) << f->number;
        return true;
    case ONNX_FIELD_STRING:
        *(struct onnx_string *)member = copy_string(r, record->bytes);
        return true;
    case ONNX_FIELD_BYTES:
        *(struct onnx_bytes *)member = view(record->bytes);
        return true;
    case ONNX_FIELD_INTS:
    case ONNX_FIELD_FLOATS:
    case ONNX_FIELD_STRINGS:
    case ONNX_FIELD_BLOBS:
    case ONNX_FIELD_RECORDS:
        return add_item(r, f, tally, record, member) || file_changed(r, d, record->whole.at);
    case ONNX_FIELD_MESSAGE: {
        void *child = NULL;
        bool is_fine = parse_submessage(r, f, record, depth, &child);
        memcpy(member, &child, sizeof child);
        return is_fine;
    }
    case ONNX_FIELD_MESSAGES: {
        struct onnx_list *list = member;
        return add_item(r, f, tally, record, member)
                   ? parse_submessage(r, f, record, depth, &list->items[list->count++])
                   : file_changed(r, d, record->whole.at);
    }
    }
    return true;
}

static void clear_member(const struct onnx_field *f, char *message)
{
    void *none = NULL;
    ((struct onnx_message *)message)->has &= ~(UINT32_C(1) << f->number);
    if (f->kind == ONNX_FIELD_STRING)
        memset(message + f->offset, 0, sizeof(struct onnx_string));
    else if (f->kind == ONNX_FIELD_MESSAGE)
        memcpy(message + f->offset, &none, sizeof none);
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
    struct tally tally = {0};
    if (!count_records(r, d, range, &tally))
        return false;
    allocate_lists(r, d, &tally, message);
    memset(tally.run_end, 0, sizeof tally.run_end);
    while (range.at < range.end) {
        struct wire_record record;
        if (wire_read_record(&range, &record))
            return file_changed(r, d, range.at);
        const struct onnx_field *f = field_of(d, &record);
        if (!f) {
            if (!add_run(&((struct onnx_message *)message)->unknown, &tally, 0, &record))
                return file_changed(r, d, record.whole.at);
            continue;
        }
        clear_alternatives(d, f->number, message);
        if (!fill_record(r, d, f, &tally, &record, depth, message))
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
