// Parts of the generator's work, as checkpoints and shards have them. An input is read as it is, and once more with the
// hash at its end made right, so that mutations get past it.
#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/text/error.h"
#include "generator/output/checkpoint_file.h"
#include "tests/fuzz/fuzz.h"
#include <string.h>

static void require_classes_in_order(const struct findings *f)
{
    for (size_t i = 0; i < f->members.count; i++) {
        const struct found_member *m = &f->members.items[i];
        uint32_t before = i ? m[-1].class : 0;
        FUZZ_REQUIRE(m->class < f->n_classes && (m->class == before || m->class == before + 1));
    }
}

static void read_parts(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct checkpoint_header header;
    checkpoint_list parts = {0};
    struct error error;
    arena_init(&arena);
    if (checkpoint_file_read(fuzz_file(data, size), &arena, &header, &parts, &error))
        for (size_t i = 0; i < parts.count; i++)
            require_classes_in_order(&parts.items[i].findings);
    checkpoint_list_free(&parts);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    read_parts(data, size);
    if (size < sizeof(uint64_t))
        return 0;
    arena_init(&arena);
    uint8_t *hashed = arena_alloc(&arena, size, 1);
    uint64_t hash = hash_bytes(data, size - sizeof hash, 0);
    memcpy(hashed, data, size);
    memcpy(hashed + size - sizeof hash, &hash, sizeof hash);
    read_parts(hashed, size);
    arena_free(&arena);
    return 0;
}
