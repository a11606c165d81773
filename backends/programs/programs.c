// An object of the cache is a shared object with a line behind it:
//     ELF ...  \n taso program 2 HASH-OF-ALL-BEFORE INSTRUCTION-SET \n
// It has a name for each of its texts, all links to one file. The name is a hash of the text and of what compiled it.
#define _GNU_SOURCE
#include "backends/programs/programs.h"

#include "backends/programs/compiler.h"
#include "backends/programs/safe_folder.h"
#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/memory/key_set.h"
#include "core/system/cores.h"
#include "core/system/file.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define USUAL_SECONDS 60
#define SEAL_SIZE 80
#define SEAL "\ntaso program "
#define SEAL_VERSION SEAL "2 "
#define MOST_TEXTS 64     // that are compiled at a time
#define MOST_WAITING 24   // with those that others wait for: a compiler takes seconds for more
#define MOST_UNITS 4

enum state { UNKNOWN, READY, FAILED };
struct loaded {   // an object; its descriptor stays open, as the loader knows objects by their paths
    void *library;
    int memory;
};
struct entry {   // of a text
    struct program program;
    bool is_there, is_waiting;
};
struct programs {
    pthread_mutex_t lock;
    struct programs_options options;
    struct arena arena;
    enum state compiler_state, folder_state;
    struct compiler compiler;
    int folder;
    bool has_warned;
    struct key_set texts;
    VEC(struct entry) entries;
    VEC(uint32_t) waiting;   // to be compiled, in their order
    size_t n_taken;          // of these
    VEC(struct loaded) objects;
};

static const char *copy_option(struct programs *p, const char *option)
{
    return option ? arena_string(&p->arena, option) : NULL;
}

struct programs *programs_open(const struct programs_options *options)
{
    struct programs *p = mem_alloc_zero(sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    arena_init(&p->arena);
    p->options = *options;
    p->options.instruction_set = copy_option(p, options->instruction_set);
    p->options.compiler = copy_option(p, options->compiler);
    p->options.folder = copy_option(p, options->folder);
    p->options.extra_flag = copy_option(p, options->extra_flag);
    p->folder = -1;
    return p;
}

void programs_close(struct programs *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->objects.count; i++) {
        dlclose(p->objects.items[i].library);
        close(p->objects.items[i].memory);
    }
    if (p->folder >= 0)
        close(p->folder);
    vecs_free(p, objects, entries, waiting);
    key_set_free(&p->texts);
    arena_free(&p->arena);
    pthread_mutex_destroy(&p->lock);
    mem_free(p, sizeof *p);
}

static void warn_once(struct programs *p, const struct error *error, const char *consequence)
{
    if (!p->has_warned)
        log_warning(p->options.log, "%s%s%s: %s", error->file, error->file[0] ? ": " : "", error->message, consequence);
    p->has_warned = true;
}

// --- names and units -------------------------------------------------------------------------------------------------

static void name_hash(struct hash128 hash, const char *before, char *ret_name, size_t size)
{
    snprintf(ret_name, size, "%s%016" PRIx64 "%016" PRIx64, before, hash.high, hash.low);
}

static void prefix_of_text(const struct programs *p, const char *text, char ret_prefix[48])
{
    name_hash(hash_bytes_128(text, strlen(text), hash_string(p->options.instruction_set)), "k", ret_prefix, 48);
}

#define MOST_FLAGS 8
static void list_flags(const struct programs *p, char march[64], const char *ret_flags[MOST_FLAGS])
{
    size_t n = 0;
    snprintf(march, 64, "-march=%s", p->options.instruction_set);
    ret_flags[n++] = "-std=gnu17";
    ret_flags[n++] = "-O2";
    ret_flags[n++] = "-w";
    ret_flags[n++] = "-ffp-contract=fast";
    ret_flags[n++] = "-fno-math-errno";
    ret_flags[n++] = march;
    ret_flags[n] = p->options.extra_flag;
    ret_flags[MOST_FLAGS - 1] = NULL;
}

static void name_file(const struct programs *p, const char *prefix, char ret_name[64])
{
    char march[64];
    const char *flags[MOST_FLAGS];
    uint64_t made_by = hash_mix(hash_string(p->compiler.path), hash_string(p->compiler.version));
    list_flags(p, march, flags);
    for (const char *const *flag = flags; *flag; flag++)
        made_by = hash_mix(made_by, hash_string(*flag));
    name_hash(hash_bytes_128(prefix, strlen(prefix), made_by), "", ret_name, 64);
}

static void add_text(struct text *unit, const char *prefix, const char *text)
{
    text_printf(unit, "#undef NAMED\n#define NAMED(name) %s_##name\nconst char %s_text[] =", prefix, prefix);
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n") + (strchr(line, '\n') != NULL);
        text_add(unit, "\n\"");
        for (size_t i = 0; i < n; i++)
            text_printf(unit, line[i] == '\n' ? "\\n" : strchr("\\\"?", line[i]) ? "\\%c" : "%c", line[i]);
        text_add(unit, "\"");
        line += n;
    }
    text_printf(unit, "%s;\n%s\n", *text ? "" : " \"\"", text);
}

// --- loading ---------------------------------------------------------------------------------------------------------

static void print_seal(const struct programs *p, const void *bytes, size_t size, char ret_seal[SEAL_SIZE])
{
    char hash[40];
    name_hash(hash_bytes_128(bytes, size, 0), "", hash, sizeof hash);
    memset(ret_seal, ' ', SEAL_SIZE);
    int n = snprintf(ret_seal, SEAL_SIZE, SEAL_VERSION "%s %.24s", hash, p->options.instruction_set);
    ret_seal[n] = ' ';
    ret_seal[SEAL_SIZE - 1] = '\n';
}

// The fault of an object; NULL: none.
static const char *fault_of(const struct programs *p, const char *bytes, size_t size)
{
    char seal[SEAL_SIZE];
    const char *end = bytes + size - SEAL_SIZE;
    if (size <= SEAL_SIZE || memcmp(end, SEAL, strlen(SEAL)) != 0)
        return "is no file of kernels";
    if (memcmp(end, SEAL_VERSION, strlen(SEAL_VERSION)) != 0)
        return "is of another version of taso";
    print_seal(p, bytes, size - SEAL_SIZE, seal);
    if (memcmp(end, seal, strlen(SEAL_VERSION) + 32) != 0)
        return "was changed since it was written";
    return memcmp(end, seal, SEAL_SIZE) != 0 ? "is for another instruction set than this processor's" : NULL;
}

static const char *fault_of_memory(const struct programs *p, int memory, size_t size)
{
    const char *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, memory, 0) : MAP_FAILED;
    if (bytes == MAP_FAILED)
        return "cannot be read";
    const char *fault = fault_of(p, bytes, size);
    munmap((void *)bytes, size);
    return fault;
}

// Keeps or closes the descriptor.
static void *load(struct programs *p, int memory, struct error *error)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) {
        vec_push(&p->objects, ((struct loaded){library, memory}));
        return library;
    }
    error_set_code(error, EXIT_UNSUPPORTED, NULL, "a program cannot be loaded: %s", dlerror());
    close(memory);
    return NULL;
}

void *program_function(const struct program *program, const char *name)
{
    char symbol[128];
    int n = snprintf(symbol, sizeof symbol, "%s_%s", program->prefix, name);
    return program->library && n > 0 && (size_t)n < sizeof symbol ? dlsym(program->library, symbol) : NULL;
}

static bool take_from(struct programs *p, void *library, uint32_t id)
{
    struct entry *e = &p->entries.items[id];
    struct program candidate = e->program;
    candidate.library = library;
    const char *text = library ? program_function(&candidate, "text") : NULL;
    e->is_there = text && strcmp(text, p->texts.keys.items[id].bytes) == 0;
    if (e->is_there)
        e->program = candidate;
    return e->is_there;
}

// --- the cache -------------------------------------------------------------------------------------------------------

static bool has_folder(struct programs *p)
{
    char path[4096];
    struct error error;
    if (p->folder_state != UNKNOWN)
        return p->folder_state == READY;
    p->folder_state = FAILED;
    const char *folder = p->options.folder;
    if (!folder && file_cache_folder(path, sizeof path - 16))
        folder = strcat(path, "/programs");
    if (!folder || !*folder)
        return false;
    p->folder = safe_folder_open(folder, true, &error);
    if (p->folder >= 0)
        p->folder_state = READY;
    else
        warn_once(p, &error, "compiled kernels are not kept");
    return p->folder >= 0;
}

static bool find_kept(struct programs *p, uint32_t id)
{
    char name[64];
    size_t size;
    struct error ignored;
    name_file(p, p->entries.items[id].program.prefix, name);
    int memory = safe_folder_read(p->folder, name, &size);
    if (memory < 0)
        return false;
    if (fault_of_memory(p, memory, size)) {
        close(memory);
        return false;
    }
    return take_from(p, load(p, memory, &ignored), id);
}

// The file has the first name when it is whole, then the others as links.
static void keep(struct programs *p, const uint32_t *ids, size_t n, const void *bytes, size_t size)
{
    char seal[SEAL_SIZE], first[64], other[64], temporary[80];
    print_seal(p, bytes, size, seal);
    name_file(p, p->entries.items[ids[0]].program.prefix, first);
    snprintf(temporary, sizeof temporary, "%s.%ld", first, (long)getpid());
    unlinkat(p->folder, temporary, 0);
    int file = openat(p->folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    bool is_written = write(file, bytes, size) == (ssize_t)size && write(file, seal, SEAL_SIZE) == SEAL_SIZE;
    is_written = close(file) == 0 && is_written && renameat(p->folder, temporary, p->folder, first) == 0;
    if (!is_written)
        unlinkat(p->folder, temporary, 0);
    for (size_t i = 1; is_written && i < n; i++) {
        name_file(p, p->entries.items[ids[i]].program.prefix, other);
        unlinkat(p->folder, other, 0);
        (void)!linkat(p->folder, first, p->folder, other, 0);
    }
}

// --- compiling -------------------------------------------------------------------------------------------------------

static bool has_compiler(struct programs *p, struct error *error)
{
    double seconds = p->options.seconds > 0 ? p->options.seconds : USUAL_SECONDS;
    if (p->compiler_state == UNKNOWN) {
        bool is_wanted = !p->options.compiler || *p->options.compiler;
        p->compiler_state =
            is_wanted && compiler_find(&p->compiler, p->options.compiler, seconds, error) ? READY : FAILED;
        if (is_wanted && p->compiler_state == FAILED)
            warn_once(p, error, "no kernels are generated");
    }
    return p->compiler_state == READY || error_set_code(error, EXIT_UNSUPPORTED, NULL, "there is no compiler");
}

bool programs_have_compiler(struct programs *p)
{
    struct error ignored;
    pthread_mutex_lock(&p->lock);
    bool is_there = has_compiler(p, &ignored);
    pthread_mutex_unlock(&p->lock);
    return is_there;
}

// One run of the compiler, which has a copy of what is known of it, as others may run at the same time.
struct unit {
    const struct programs *p;
    struct compiler compiler;
    const uint32_t *ids;
    size_t n, size;
    int memory;   // -1: failed
    struct error error;
    pthread_t thread;
    bool has_thread;
};

static struct unit unit_of(const struct programs *p, const uint32_t *ids, size_t n)
{
    return (struct unit){.p = p, .compiler = p->compiler, .ids = ids, .n = n};
}

static void *compile(void *argument)
{
    struct unit *u = argument;
    TEXT(text);
    char march[64];
    const char *flags[MOST_FLAGS];
    for (size_t i = 0; i < u->n; i++)
        add_text(&text, u->p->entries.items[u->ids[i]].program.prefix, u->p->texts.keys.items[u->ids[i]].bytes);
    list_flags(u->p, march, flags);
    u->memory = compiler_run(&u->compiler, text.chars ? text.chars : "", flags, &u->size, &u->error);
    return NULL;
}

// A compiler that hangs at a text may do for others; one that hangs at none is not asked again.
static bool hangs_at_nothing(const struct programs *p)
{
    struct unit nothing = unit_of(p, NULL, 0);
    compile(&nothing);
    if (nothing.memory >= 0)
        close(nothing.memory);
    return nothing.compiler.is_hanging;
}

static void compile_all(struct programs *p, struct unit *units, size_t n)
{
    bool is_hanging = false;
    for (size_t i = 1; i < n; i++)
        units[i].has_thread = pthread_create(&units[i].thread, NULL, compile, &units[i]) == 0;
    for (size_t i = 0; i < n; i++) {
        if (units[i].has_thread)
            pthread_join(units[i].thread, NULL);
        else
            compile(&units[i]);
        is_hanging = is_hanging || units[i].compiler.is_hanging;
    }
    if (is_hanging && hangs_at_nothing(p))
        p->compiler_state = FAILED;
}

static void keep_memory(struct programs *p, const uint32_t *ids, size_t n, int memory, size_t size)
{
    void *bytes = has_folder(p) ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, memory, 0) : MAP_FAILED;
    if (bytes == MAP_FAILED)
        return;
    keep(p, ids, n, bytes, size);
    munmap(bytes, size);
}

static bool compile_and_load(struct programs *p, const uint32_t *ids, size_t n, struct error *error);

// Several that do not compile together are divided, until what is wrong, or what the compiler hangs at, is alone.
static bool load_unit(struct programs *p, const struct unit *u, struct error *error)
{
    *error = u->error;
    void *library = u->memory >= 0 ? load(p, u->memory, error) : NULL;
    bool is_divided = !library && u->n > 1 && p->compiler_state == READY, is_done = library || is_divided;
    size_t half = u->n / 2;
    if (library)
        keep_memory(p, u->ids, u->n, u->memory, u->size);
    for (size_t i = 0; library && i < u->n; i++)
        is_done = take_from(p, library, u->ids[i]) && is_done;
    if (is_divided) {
        is_done = compile_and_load(p, u->ids, half, error);
        is_done = compile_and_load(p, u->ids + half, u->n - half, error) && is_done;
    } else if (!library) {
        warn_once(p, error, "its kernels are not used");
    }
    return is_done;
}

// Compiles as many units as there are processors.
static bool compile_and_load(struct programs *p, const uint32_t *ids, size_t n, struct error *error)
{
    struct unit units[MOST_UNITS];
    size_t cores = (size_t)cores_available(), n_units = cores < MOST_UNITS ? cores : MOST_UNITS;
    bool is_done = true;
    if (!has_compiler(p, error))
        return false;
    n_units = n < n_units ? n : n_units;
    for (size_t i = 0; i < n_units; i++)
        units[i] = unit_of(p, ids + n * i / n_units, n * (i + 1) / n_units - n * i / n_units);
    compile_all(p, units, n_units);
    for (size_t i = 0; i < n_units; i++) {
        struct error own = {0};
        if (load_unit(p, &units[i], &own))
            continue;
        *error = own;
        is_done = false;
    }
    return is_done;
}

// --- finding ---------------------------------------------------------------------------------------------------------

// A text that is in no object that is loaded, nor kept, and was not tried, waits to be compiled.
static uint32_t note(struct programs *p, const char *text)
{
    size_t count = p->texts.keys.count;
    uint32_t id = key_set_add(&p->texts, &p->arena, text, strlen(text) + 1);
    if (id < count)
        return id;
    struct entry e = {0};
    struct error ignored;
    prefix_of_text(p, text, e.program.prefix);
    vec_push(&p->entries, e);
    bool is_loaded = ANY(size_t, i, p->objects.count, take_from(p, p->objects.items[i].library, id));
    if (!is_loaded && !(has_compiler(p, &ignored) && has_folder(p) && find_kept(p, id))) {
        p->entries.items[id].is_waiting = true;
        vec_push(&p->waiting, id);
    }
    return id;
}

typedef VEC(uint32_t) id_list;
static void take_if_waiting(struct programs *p, uint32_t id, id_list *list)
{
    if (p->entries.items[id].is_waiting)
        vec_push(list, id);
    p->entries.items[id].is_waiting = false;
}

// Compiles with the first ones that wait, up to so many in all.
static bool compile_with_waiting(struct programs *p, id_list *list, size_t most, struct error *error)
{
    while (list->count < most && p->n_taken < p->waiting.count)
        take_if_waiting(p, p->waiting.items[p->n_taken++], list);
    return compile_and_load(p, list->items, list->count, error);
}

// Others that waited may fail, which is no failure of this one.
bool programs_find(struct programs *p, const char *text, struct program *ret_program, struct error *error)
{
    LOCAL_LIST(id_list, new);
    struct error own = {0};
    error_set_code(&own, EXIT_UNSUPPORTED, NULL, "this program could not be made before");
    pthread_mutex_lock(&p->lock);
    uint32_t id = note(p, text);
    take_if_waiting(p, id, &new);
    if (new.count)
        compile_with_waiting(p, &new, MOST_WAITING, &own);
    *ret_program = p->entries.items[id].program;
    bool is_there = p->entries.items[id].is_there;
    pthread_mutex_unlock(&p->lock);
    if (!is_there)
        *error = own;
    return is_there;
}

void programs_expect(struct programs *p, const char *text)
{
    pthread_mutex_lock(&p->lock);
    note(p, text);
    pthread_mutex_unlock(&p->lock);
}

void programs_make_expected(struct programs *p)
{
    struct error ignored;
    pthread_mutex_lock(&p->lock);
    while (p->n_taken < p->waiting.count) {
        LOCAL_LIST(id_list, new);
        compile_with_waiting(p, &new, MOST_TEXTS, &ignored);
    }
    pthread_mutex_unlock(&p->lock);
}

// --- for machines without a compiler ---------------------------------------------------------------------------------

static bool write_object(const struct programs *p, int memory, size_t size, const char *path, struct error *error)
{
    TEXT(all);
    char seal[SEAL_SIZE];
    const char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, memory, 0);
    if (bytes == MAP_FAILED)
        return error_set_code(error, EXIT_UNSUPPORTED, path, "no memory for a program");
    print_seal(p, bytes, size, seal);
    text_add_n(&all, bytes, size);
    text_add_n(&all, seal, SEAL_SIZE);
    bool is_written = file_write_text(path, all.chars, all.count, error);
    munmap((void *)bytes, size);
    return is_written;
}

static bool compile_and_write(struct programs *p, const uint32_t *ids, size_t n, const char *path, struct error *error)
{
    struct unit all = unit_of(p, ids, n);
    compile_all(p, &all, 1);
    *error = all.error;
    if (all.memory < 0)
        return false;
    bool is_written = write_object(p, all.memory, all.size, path, error);
    close(all.memory);
    return is_written;
}

bool programs_write(struct programs *p, const char *path, struct error *error)
{
    LOCAL_VEC(uint32_t, ids);
    pthread_mutex_lock(&p->lock);
    for (uint32_t i = 0; i < p->entries.count; i++)
        if (p->entries.items[i].is_there)
            vec_push(&ids, i);
    bool is_any = ids.count || error_set_code(error, EXIT_UNSUPPORTED, path, "there are no kernels to write");
    bool is_done = is_any && has_compiler(p, error) && compile_and_write(p, ids.items, ids.count, path, error);
    pthread_mutex_unlock(&p->lock);
    return is_done;
}

bool programs_take(struct programs *p, const char *path, struct error *error)
{
    size_t size = 0;
    int memory = safe_file_read(path, &size);
    if (memory < 0)
        return error_set_code(error, EXIT_UNSUPPORTED, path, "no file that you or root alone can write");
    const char *fault = fault_of_memory(p, memory, size);
    if (fault) {
        close(memory);
        return error_set_code(error, EXIT_UNSUPPORTED, path, "%s", fault);
    }
    pthread_mutex_lock(&p->lock);
    bool is_loaded = load(p, memory, error) != NULL;
    pthread_mutex_unlock(&p->lock);
    return is_loaded;
}
