// Parts of the generator's work, as checkpoints and shards have them.
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "generator/output/checkpoint_file.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct checkpoint_header header;
    checkpoint_list parts = {0};
    struct error error;
    arena_init(&arena);
    (void)checkpoint_file_read(fuzz_file(data, size), &arena, &header, &parts, &error);
    checkpoint_list_free(&parts);
    arena_free(&arena);
    return 0;
}
