// Parts of the generator's work, as checkpoints and shards have them. An input is read as it is, and once more with the
// hash at its end made right, so that mutations get past it; small ones are reduced to rules, too.
#include "core/text/error.h"
#include "core/text/log.h"
#include "generator/job.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scoped.h"
#include <string.h>

enum { MOST_MEMBERS = 40, MOST_INPUTS = 6 };   // of what is reduced: equations are renamed in all ways

static void require_classes_in_order(const struct findings *f)
{
    for (size_t i = 0; i < f->members.count; i++) {
        const struct found_member *m = &f->members.items[i];
        uint32_t before = i ? m[-1].class : 0;
        FUZZ_REQUIRE(m->class < f->n_classes && (m->class == before || m->class == before + 1));
    }
}

static bool has_few_inputs(const struct checkpoint_header *header, struct arena *arena)
{
    const char *text = header->space_text;
    struct space space FREED_BY(space_free);
    space_init(&space, arena);
    bool is_read = space_parse(&space, header->space_name, text, strlen(text), &(struct error){0});
    int most = 0;
    for (size_t i = 0; is_read && i < space.families.count; i++)
        most = space.families.items[i]->n_inputs > most ? space.families.items[i]->n_inputs : most;
    return most <= MOST_INPUTS;
}

static const uint64_t *draw_once(void)
{
    static struct arena arena;
    static const uint64_t *random;
    if (!random)
        random = family_types_draw(&arena, 1);
    return random;
}

static void merge(const char *path)
{
    static FILE *nowhere;
    struct job_options options = {.threads = 1};
    struct error error = {0};
    nowhere = nowhere ? nowhere : fopen("/dev/null", "w");
    struct log log = {nowhere, "fuzz", LOG_WARNING};
    struct job job FREED_BY(job_free);
    job_init(&job, &options, &log);
    job.random = draw_once();
    if (!job_merge(&job, (char *[]){(char *)(uintptr_t)path}, 1, &error))
        FUZZ_REQUIRE(error.message[0]);
}

static void read_parts(const uint8_t *data, size_t size)
{
    size_t n_members = 0;
    ARENA(arena);
    struct checkpoint_header header;
    checkpoint_list parts = {0};
    const char *path = fuzz_file(data, size);
    bool is_read = checkpoint_file_read(path, &arena, &header, &parts, &(struct error){0});
    for (size_t i = 0; is_read && i < parts.count; i++) {
        require_classes_in_order(&parts.items[i].findings);
        n_members += parts.items[i].findings.members.count;
    }
    if (is_read && n_members <= MOST_MEMBERS && has_few_inputs(&header, &arena))
        merge(path);
    checkpoint_list_free(&parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA(arena);
    read_parts(data, size);
    if (size < sizeof(uint64_t))
        return 0;
    uint8_t *hashed = arena_alloc(&arena, size, 1);
    uint64_t hash = hash_bytes(data, size - sizeof hash, 0);
    memcpy(hashed, data, size);
    memcpy(hashed + size - sizeof hash, &hash, sizeof hash);
    read_parts(hashed, size);
    return 0;
}
