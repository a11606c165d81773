// Folders are opened one component after the other, each relative to the one before: what was judged is what is used.
#define _GNU_SOURCE
#include "backends/programs/safe_folder.h"

#include "core/text/error.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES ((off_t)256 << 20)
#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static bool can_be_changed_by_others(const struct stat *s)
{
    bool is_foreign = s->st_uid != 0 && s->st_uid != geteuid();
    return is_foreign || ((s->st_mode & 022) && !(s->st_mode & S_ISVTX));
}

static bool is_shut(const struct stat *s)
{
    return s->st_uid == geteuid() && (s->st_mode & 077) == 0;
}

static int refuse(int folder, const char *path, size_t length, const char *reason, struct error *error)
{
    if (folder >= 0)
        close(folder);
    error_set_code(error, EXIT_UNSUPPORTED, NULL, "%.*s %s", (int)length, path, reason);
    return -1;
}

// The component path[begin .. end) below the open folder, which is closed.
static int descend(int folder, const char *path, size_t begin, size_t end, bool is_made, struct error *error)
{
    char name[256];
    struct stat s;
    if (end - begin >= sizeof name)
        return refuse(folder, path, end, "has a name that is too long", error);
    memcpy(name, path + begin, end - begin);
    name[end - begin] = '\0';
    if (is_made)
        mkdirat(folder, name, 0700);
    int inner = openat(folder, name, FOLDER_FLAGS);
    int failure = errno;
    close(folder);
    if (inner < 0)
        return refuse(-1, path, end,
                      failure == ELOOP || failure == ENOTDIR ? "is a link or no folder" : strerror(failure), error);
    if (fstat(inner, &s) != 0 || can_be_changed_by_others(&s))
        return refuse(inner, path, end, "can be changed by other users", error);
    return inner;
}

int safe_folder_open(const char *path, bool is_made, struct error *error)
{
    size_t length = strlen(path), end;
    struct stat s;
    int folder = path[0] == '/' ? open("/", FOLDER_FLAGS) : -1;
    if (folder < 0)
        return refuse(-1, path, length, "is no absolute path", error);
    for (size_t begin = 1; begin < length && folder >= 0; begin = end + 1) {
        end = begin + strcspn(path + begin, "/");
        if (end > begin)
            folder = descend(folder, path, begin, end, is_made && end == length, error);
    }
    if (folder >= 0 && (fstat(folder, &s) != 0 || !is_shut(&s)))
        return refuse(folder, path, length, "is open to other users (it must be yours, with mode 0700)", error);
    return folder;
}

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size) {
        ssize_t n = write(file, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

static int seal(int memory)
{
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
    if (fcntl(memory, F_ADD_SEALS, seals) == 0)
        return memory;
    close(memory);
    return -1;
}

static bool copy_file(int from, int to, size_t *ret_size)
{
    char piece[1 << 14];
    ssize_t n;
    *ret_size = 0;
    while ((n = read(from, piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR)) {
        if (n > 0 && !write_all(to, piece, (size_t)n))
            return false;
        *ret_size += n > 0 ? (size_t)n : 0;
    }
    return n == 0;
}

// Closes it.
static int sealed_copy(int file, bool is_trusted, size_t *ret_size)
{
    int memory = is_trusted ? memfd_create("program", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;
    bool is_copied = memory >= 0 && copy_file(file, memory, ret_size);
    if (file >= 0)
        close(file);
    if (is_copied)
        return seal(memory);
    if (memory >= 0)
        close(memory);
    return -1;
}

#define FILE_FLAGS (O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)

static bool is_regular(int file, struct stat *s)
{
    return file >= 0 && fstat(file, s) == 0 && S_ISREG(s->st_mode) && s->st_size <= MOST_BYTES;
}

int safe_folder_read(int folder, const char *name, size_t *ret_size)
{
    struct stat s;
    int file = openat(folder, name, FILE_FLAGS);
    return sealed_copy(file, is_regular(file, &s) && s.st_uid == geteuid(), ret_size);
}

int safe_file_read(const char *path, size_t *ret_size)
{
    struct stat s;
    int file = open(path, FILE_FLAGS);
    bool is_trusted = is_regular(file, &s) && (s.st_uid == geteuid() || s.st_uid == 0) && !(s.st_mode & 022);
    return sealed_copy(file, is_trusted, ret_size);
}
