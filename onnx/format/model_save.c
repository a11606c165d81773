// The external file is named by its content, so that no other model refers to that name with other data; both files are
// on the disk before the first takes its name, the data first: whenever this ends, the model that stands there has the
// data that it was made with. A tensor that moves is written in another form (no payload, external_data entries); the
// forms are a list in the order of writing, the model itself stays untouched. Tensors that share bytes (tied weights)
// share them in the external file too.
#include "onnx/format/model_save.h"

#include "core/formats/wire.h"
#include "core/memory/hash.h"
#include "core/memory/table.h"
#include "core/system/temporary.h"
#include "core/text/error.h"
#include "onnx/format/model_file.h"
#include "onnx/format/model_write.h"
#include "onnx/format/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SMALL_PAYLOAD 1024       // stays in the model
#define PIECE (4u << 20)         // bytes written between two givings back of pages
#define PAGE_ALIGNED_FROM 4096   // larger payloads begin on a page, so that runtimes can map them
#define PAGE_SIZE_OF_FORMAT 4096
#define SMALL_ALIGNMENT 64
#define DIGITS_OF_HASH 16

struct placement {
    struct onnx_bytes payload;
    const struct onnx_deferred *deferred;   // what gives its bytes, or NULL
    uint64_t offset;
};
struct plan {
    struct arena arena;
    char *location;                          // file name of the external data; its hash is filled in when it is known
    bool moves_large;                        // not only what was external before
    VEC(const struct onnx_tensor *) forms;   // by tensor in the order of writing; NULL: as it is
    VEC(struct placement) placements;        // in the order of the file
    struct table by_address;
    uint64_t end;
};
struct saved_source {
    struct file_writer *writer;
    const struct onnx_file *source;
    uint64_t hash;   // of what was put
};

static void put_in_pieces(void *target, const void *bytes, size_t size)
{
    struct saved_source *saved = target;
    const uint8_t *at = bytes;
    bool gives_back = size >= PIECE;
    while (size) {
        size_t piece = size < PIECE ? size : PIECE;
        saved->hash = hash_bytes(at, piece, saved->hash);   // first: a source that was cut short ends here, by its name
        file_write(saved->writer, at, piece);
        if (gives_back)
            onnx_file_forget(saved->source, at, piece);
        at += piece;
        size -= piece;
    }
}

// ---- the plan ----

static struct onnx_bytes payload_to_move(const struct plan *plan, const struct onnx_tensor *t)
{
    if (onnx_tensor_is_external(t))
        return t->external;
    if (plan->moves_large && t->raw_data.size >= SMALL_PAYLOAD)
        return t->raw_data;
    return (struct onnx_bytes){0};
}

static bool is_same_payload(const void *owner, uint32_t id, const void *key)
{
    const struct plan *plan = owner;
    const struct onnx_bytes *a = &plan->placements.items[id].payload, *b = key;
    return a->at == b->at && a->size == b->size;
}

static uint64_t aligned(uint64_t offset, size_t size)
{
    uint64_t alignment = size >= PAGE_ALIGNED_FROM ? PAGE_SIZE_OF_FORMAT : SMALL_ALIGNMENT;
    return (offset + alignment - 1) / alignment * alignment;
}

static uint64_t place(struct plan *plan, struct onnx_bytes payload, const struct onnx_deferred *deferred)
{
    uint64_t key[2] = {(uintptr_t)payload.at, payload.size};
    uint64_t hash = hash_bytes(key, sizeof key, 0);
    uint32_t id = table_find(&plan->by_address, hash, is_same_payload, plan, &payload);
    if (id == TABLE_NONE) {
        struct placement placement = {payload, deferred, aligned(plan->end, payload.size)};
        id = (uint32_t)plan->placements.count;
        vec_push(&plan->placements, placement);
        table_insert(&plan->by_address, hash, id);
        plan->end = placement.offset + payload.size;
    }
    return plan->placements.items[id].offset;
}

// A value that lives as long as the plan.
static void set_entry(struct plan *plan, struct onnx_list *list, const char *key, const char *value)
{
    size_t place =
        FIRST_OF(size_t, i, list->count, onnx_string_is(&((const struct onnx_entry *)list->items[i])->key, key));
    struct onnx_entry *entry = arena_new(&plan->arena, struct onnx_entry);
    if (place < list->count)
        *entry = *(const struct onnx_entry *)list->items[place];
    entry->key = (struct onnx_string){key, strlen(key)};
    entry->value = (struct onnx_string){value, strlen(value)};
    list->items[place] = entry;
    list->count += place == list->count;
}

// The entries with the new place; others (a checksum) stay.
static struct onnx_list external_entries(struct plan *plan, const struct onnx_list *old, uint64_t offset, size_t size)
{
    struct onnx_list list = {arena_array(&plan->arena, void *, old->count + 3), old->count};
    for (size_t i = 0; i < old->count; i++)
        list.items[i] = old->items[i];
    set_entry(plan, &list, "location", plan->location);
    set_entry(plan, &list, "offset", arena_printf(&plan->arena, "%llu", (unsigned long long)offset));
    set_entry(plan, &list, "length", arena_printf(&plan->arena, "%zu", size));
    return list;
}

static const struct onnx_tensor *external_form(struct plan *plan, const struct onnx_tensor *t,
                                               struct onnx_bytes payload)
{
    struct onnx_tensor *form = arena_copy_array(&plan->arena, t, 1);
    form->raw_data = (struct onnx_bytes){0};
    form->deferred = NULL;
    form->external_data = external_entries(plan, &t->external_data, place(plan, payload, t->deferred), payload.size);
    form->data_location = 1;
    return form;
}

// ONNX Runtime takes a length of 0 for that of the file, and infers shapes from lists only that stand in the model:
// what was the default of an input, of which it does not, may be a constant now.
static bool stands_inside(const struct onnx_tensor *t)
{
    bool is_list = t->dims.count <= 1 && t->data_type == ONNX_INT64;
    return onnx_tensor_is_external(t) && !t->deferred &&
           (t->external.size == 0 || (is_list && t->external.size < SMALL_PAYLOAD));
}

static const struct onnx_tensor *form_inside(struct plan *plan, const struct onnx_tensor *t)
{
    struct onnx_tensor *form = arena_copy_array(&plan->arena, t, 1);
    form->external_data = (struct onnx_list){0};
    form->data_location = 0;
    form->raw_data = t->external;
    return form;
}

static const struct onnx_tensor *form_of(struct plan *plan, const struct onnx_tensor *t)
{
    struct onnx_bytes payload = payload_to_move(plan, t);
    return stands_inside(t) ? form_inside(plan, t) : payload.at ? external_form(plan, t, payload) : NULL;
}

static void make_plan(struct plan *plan, const struct onnx_model *model)
{
    LOCAL_LIST(message_list, tensors);
    vec_clear(&plan->forms);
    vec_clear(&plan->placements);
    table_clear(&plan->by_address);
    plan->end = 0;
    onnx_list_messages(&onnx_model_descriptor, model, &onnx_tensor_descriptor, &tensors);
    for (size_t i = 0; i < tensors.count; i++)
        vec_push(&plan->forms, form_of(plan, tensors.items[i]));
}

static void free_plan(struct plan *plan)
{
    vecs_free(plan, forms, placements);
    table_free(&plan->by_address);
    arena_free(&plan->arena);
}

// ---- the files ----

static void put_padding(struct file_writer *writer, uint64_t until)
{
    static const uint8_t zeros[PAGE_SIZE_OF_FORMAT];
    while (writer->written < until) {
        uint64_t missing = until - writer->written;
        file_write(writer, zeros, missing < sizeof zeros ? (size_t)missing : sizeof zeros);
    }
}

static bool put_payload(struct saved_source *saved, const struct placement *p, struct error *error)
{
    ARENA(arena);
    const void *bytes = p->deferred ? p->deferred->compute(p->deferred->context, &arena, error) : p->payload.at;
    if (bytes)
        put_in_pieces(saved, bytes, p->payload.size);
    return bytes != NULL;
}

static bool write_payloads(const struct plan *plan, const struct onnx_file *source, struct file_writer *writer,
                           const char *path, uint64_t *ret_hash, struct error *error)
{
    struct saved_source saved = {writer, source, 0};
    if (!file_writer_open(writer, path, error))
        return false;
    for (size_t i = 0; i < plan->placements.count && !writer->failed; i++) {
        put_padding(writer, plan->placements.items[i].offset);
        saved.hash = hash_mix(saved.hash, plan->placements.items[i].offset);
        if (!put_payload(&saved, &plan->placements.items[i], error)) {
            file_writer_abandon(writer);
            return false;
        }
    }
    *ret_hash = saved.hash;
    return file_writer_synchronize(writer, error);
}

static bool write_messages(struct onnx_writer *w, const struct onnx_model *model, const struct onnx_file *source,
                           struct file_writer *writer, const char *path, struct error *error)
{
    struct saved_source saved = {writer, source, 0};
    struct wire_sink sink = {put_in_pieces, &saved};
    if (!file_writer_open(writer, path, error))
        return false;
    w->sink = &sink;
    w->error = error;
    onnx_writer_put(w, &onnx_model_descriptor, model);
    w->sink = NULL;
    if (!w->has_failed)
        return file_writer_synchronize(writer, error);
    file_writer_abandon(writer);
    return false;
}

static const char *file_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// NAME.0123456789abcdef.data
static void fill_in_hash(const char *name, char *location, uint64_t hash)
{
    char digits[DIGITS_OF_HASH + 1];
    snprintf(digits, sizeof digits, "%016" PRIx64, hash);
    memcpy(location + strlen(name) + 1, digits, DIGITS_OF_HASH);
}

static bool is_data_of(const char *name, const char *location)
{
    size_t length = strlen(name);
    return strncmp(location, name, length) == 0 && location[length] == '.' &&
           strspn(location + length + 1, "0123456789abcdef") == DIGITS_OF_HASH &&
           strcmp(location + length + 1 + DIGITS_OF_HASH, ".data") == 0;
}

static const char *beside(struct plan *plan, const char *path, const char *location)
{
    return arena_printf(&plan->arena, "%.*s%s", (int)(file_name_of(path) - path), path, location);
}

// The data of the model that is replaced, when it is named as ours are; NULL: there is none.
static const char *superseded_data(struct plan *plan, const char *path)
{
    struct onnx_file old;
    struct error ignored;
    if (!file_can_be_replaced(path) || !onnx_file_open(&old, path, &ignored))
        return NULL;
    const struct onnx_external *data = vec_find(&old.externals, e, is_data_of(file_name_of(path), e->location));
    const char *found = data ? beside(plan, path, data->location) : NULL;
    onnx_file_close(&old);
    return found;
}

static bool is_right(const struct onnx_reader *reader, struct file_writer *text, const char *path, struct error *error)
{
    struct file_map map;
    struct onnx_file written;
    if (!reader)
        return true;
    if (!file_writer_map(text, &map, error) || !onnx_file_open_mapped(&written, path, &map, error))
        return false;
    bool is_right = reader->is_right(reader->context, &written, error);
    onnx_file_close(&written);
    return is_right;
}

static bool commit_if_right(struct file_writer *text, const char *path, const struct onnx_reader *reader,
                            struct error *error)
{
    if (is_right(reader, text, path, error))
        return file_writer_commit(text, error);
    file_writer_abandon(text);
    return false;
}

static bool commit_both(struct file_writer *data, struct file_writer *text, const char *data_path, const char *path,
                        const struct onnx_reader *reader, struct error *error)
{
    bool was_there = access(data_path, F_OK) == 0;
    file_writer_set_target(data, data_path);
    if (!file_writer_commit(data, error)) {
        file_writer_abandon(text);
        return false;
    }
    if (commit_if_right(text, path, reader, error))
        return true;
    if (!was_there)
        unlink(data_path);
    return false;
}

static bool write_both(struct onnx_writer *w, struct plan *plan, const struct onnx_model *model,
                       const struct onnx_file *source, const char *path, const struct onnx_reader *reader,
                       struct error *error)
{
    struct file_writer data, text;
    uint64_t hash;
    if (!file_can_be_replaced(path))
        return error_set_code(error, EXIT_USAGE, path,
                              "is no regular file, and the model has a file of weights that goes beside it");
    if (!write_payloads(plan, source, &data, beside(plan, path, plan->location), &hash, error))
        return false;
    fill_in_hash(file_name_of(path), plan->location, hash);
    if (!write_messages(w, model, source, &text, path, error)) {
        file_writer_abandon(&data);
        return false;
    }
    return commit_both(&data, &text, beside(plan, path, plan->location), path, reader, error);
}

static bool write_one(struct onnx_writer *w, const struct onnx_model *model, const struct onnx_file *source,
                      const char *path, const struct onnx_reader *reader, struct error *error)
{
    struct file_writer text;
    return write_messages(w, model, source, &text, path, error) && commit_if_right(&text, path, reader, error);
}

// A model that goes where nothing can be read back is written to a file of our own first.
static bool write_in_place(struct onnx_writer *w, struct plan *plan, const struct onnx_model *model,
                           const struct onnx_file *source, const char *path, const struct onnx_reader *reader,
                           struct error *error)
{
    struct temporary_folder folder = {0};
    if (reader && !temporary_folder_make(&folder, error))
        return false;
    bool is_found_right =
        !reader || write_one(w, model, source, arena_printf(&plan->arena, "%s/model.onnx", folder.path), reader, error);
    temporary_folder_remove(&folder);
    return is_found_right && write_one(w, model, source, path, NULL, error);
}

static size_t measure(struct onnx_writer *w, struct plan *plan, const struct onnx_model *model)
{
    make_plan(plan, model);
    w->forms = plan->forms.items;
    return onnx_writer_measure(w, &onnx_model_descriptor, model);
}

bool onnx_model_write(const struct onnx_model *model, const struct onnx_file *source, const char *path, size_t limit,
                      const struct onnx_reader *reader, struct error *error)
{
    struct onnx_writer w FREED_BY(onnx_writer_free) = {0};
    struct plan plan FREED_BY(free_plan) = {0};
    plan.location = arena_printf(&plan.arena, "%s.%0*d.data", file_name_of(path), DIGITS_OF_HASH, 0);
    size_t size = measure(&w, &plan, model);
    if (size > (limit ? limit : ONNX_PROTOBUF_LIMIT)) {
        plan.moves_large = true;
        size = measure(&w, &plan, model);
    }
    const char *superseded = superseded_data(&plan, path);
    bool is_written;
    if (size > ONNX_PROTOBUF_LIMIT)
        is_written = error_set_code(error, EXIT_UNSUPPORTED, path,
                                    "the model without its weights exceeds protobuf's limit of 2 GB");
    else if (plan.placements.count)
        is_written = write_both(&w, &plan, model, source, path, reader, error);
    else if (file_can_be_replaced(path))
        is_written = write_one(&w, model, source, path, reader, error);
    else
        is_written = write_in_place(&w, &plan, model, source, path, reader, error);
    if (is_written && superseded && (!plan.placements.count || strcmp(file_name_of(superseded), plan.location) != 0))
        unlink(superseded);
    return is_written;
}
