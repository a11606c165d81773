// Header and checksum. The checksum covers every byte before it, and its pieces are hashed by all threads: it costs
// about as much as reading the file, which the first run would do anyway.
#include "optimizer/compiled/compiled_file.h"

#include "core/memory/hash.h"
#include "core/text/error.h"
#include "optimizer/compiled/compiled_model.h"
#include <string.h>

#define PIECE ((size_t)1 << 20)
#define PIECES_OF_ONE_THREAD 16   // are hashed sooner than other threads are awake
#define CHECKSUM_BYTES sizeof(uint64_t)
#define OUR_BYTE_ORDER UINT32_C(0x01020304)

// The magic's first and last bytes are what programs that take it for text change.
static const char magic[8] = {(char)0x89, 't', 'a', 's', 'o', '\r', '\n', (char)0x1a};

struct header {
    char magic[8];
    uint32_t byte_order, version;
    uint64_t manifest_size, weights_size, zero[2];
};

static size_t rounded_up(size_t n)
{
    return (n + COMPILED_ALIGNMENT - 1) / COMPILED_ALIGNMENT * COMPILED_ALIGNMENT;
}

// --- reading ---------------------------------------------------------------------------------------------------------

bool compiled_frame_is_at(const void *bytes, size_t size)
{
    return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static bool check_header(const struct header *h, size_t size, const char *path, struct error *error)
{
    if (memcmp(h->magic, magic, sizeof magic) != 0)
        return error_set(error, path, 0, 0, "is no compiled model");
    if (size < sizeof *h + CHECKSUM_BYTES)
        return error_set(error, path, 0, 0, "is cut short: it has %zu bytes", size);
    if (h->byte_order != OUR_BYTE_ORDER)
        return error_set_code(error, EXIT_UNSUPPORTED, path, "was compiled for processors with another byte order");
    if (h->version != COMPILED_VERSION)
        return error_set_code(error, EXIT_UNSUPPORTED, path,
                              "has version %u of compiled models, and this program reads version %d: compile it again",
                              h->version, COMPILED_VERSION);
    return true;
}

bool compiled_frame_read(struct compiled_frame *ret_frame, const char *path, const void *bytes, size_t size,
                         struct error *error)
{
    struct header h = {0};
    memcpy(&h, bytes, size < sizeof h ? size : sizeof h);
    if (!check_header(&h, size, path, error))
        return false;
    size_t room = size - sizeof h - CHECKSUM_BYTES, begin = rounded_up(sizeof h + (size_t)h.manifest_size);
    if (h.manifest_size > room || h.weights_size > room || begin + h.weights_size + CHECKSUM_BYTES != size)
        return error_set(error, path, 0, 0, "is cut short, or grew: %zu bytes are not what its header says", size);
    const uint8_t *first = bytes;
    *ret_frame = (struct compiled_frame){(const char *)first + sizeof h, (size_t)h.manifest_size, first + begin,
                                         (size_t)h.weights_size};
    return true;
}

static uint64_t hash_all(const uint8_t *bytes, size_t size)
{
    size_t n = (size + PIECE - 1) / PIECE;
    LOCAL_ARRAY(uint64_t, hashes, n + 1);
#pragma omp parallel for schedule(dynamic) if (n > PIECES_OF_ONE_THREAD)
    for (size_t i = 0; i < n; i++)
        hashes[i] = hash_bytes(bytes + i * PIECE, mem_smaller(PIECE, size - i * PIECE), i);
    return hash_bytes(hashes, n * sizeof *hashes, n);
}

bool compiled_frame_check(const char *path, const void *bytes, size_t size, struct error *error)
{
    struct compiled_frame ignored;
    uint64_t expected;
    if (!compiled_frame_read(&ignored, path, bytes, size, error))
        return false;
    memcpy(&expected, (const uint8_t *)bytes + size - CHECKSUM_BYTES, CHECKSUM_BYTES);
    return hash_all(bytes, size - CHECKSUM_BYTES) == expected ||
           error_set(error, path, 0, 0, "is damaged: its checksum does not fit");
}

// --- writing ---------------------------------------------------------------------------------------------------------

static void end_piece(struct compiled_writer *w)
{
    if (w->filled == 0)
        return;
    uint64_t hash = hash_bytes(w->piece, w->filled, w->hashes.count);
    vec_push(&w->hashes, hash);
    file_write(&w->file, w->piece, w->filled);
    w->filled = 0;
}

static void add(struct compiled_writer *w, const void *bytes, size_t size)
{
    for (const uint8_t *from = bytes; size > 0;) {
        size_t n = mem_smaller(size, PIECE - w->filled);
        memcpy(w->piece + w->filled, from, n);
        w->filled += n;
        from += n;
        size -= n;
        if (w->filled == PIECE)
            end_piece(w);
    }
}

void compiled_writer_add(struct compiled_writer *w, const void *bytes, size_t size)
{
    static const uint8_t zeros[COMPILED_ALIGNMENT];
    add(w, bytes, size);
    add(w, zeros, rounded_up(size) - size);
}

bool compiled_writer_open(struct compiled_writer *w, const char *path, const char *manifest, size_t manifest_size,
                          size_t weights_size, struct error *error)
{
    struct header h = {.byte_order = OUR_BYTE_ORDER,
                       .version = COMPILED_VERSION,
                       .manifest_size = manifest_size,
                       .weights_size = weights_size};
    static const uint8_t zeros[COMPILED_ALIGNMENT];
    *w = (struct compiled_writer){0};
    if (!file_writer_open(&w->file, path, error))
        return false;
    w->piece = mem_alloc_zero(PIECE);
    memcpy(h.magic, magic, sizeof magic);
    add(w, &h, sizeof h);
    add(w, manifest, manifest_size);
    add(w, zeros, rounded_up(sizeof h + manifest_size) - sizeof h - manifest_size);
    return true;
}

static void free_writer(struct compiled_writer *w)
{
    mem_free(w->piece, PIECE);
    vec_free(&w->hashes);
}

bool compiled_writer_commit(struct compiled_writer *w, struct error *error)
{
    end_piece(w);
    uint64_t hash = hash_bytes(w->hashes.items, w->hashes.count * sizeof *w->hashes.items, w->hashes.count);
    file_write(&w->file, &hash, sizeof hash);
    free_writer(w);
    return file_writer_commit(&w->file, error);
}

void compiled_writer_abandon(struct compiled_writer *w)
{
    file_writer_abandon(&w->file);
    free_writer(w);
}
