// Reading is a private map of a regular file. Writing goes to a new file in the target's folder, which takes the
// target's name only when every byte is on the disk: whoever looks sees the old file or the new one. Until then it has
// no name where the file system knows such files (O_TMPFILE), so that nothing is left of a program that is killed. A
// target that is no regular file (/dev/null, a pipe) cannot be replaced by a rename and is written directly.
#define _GNU_SOURCE   // O_TMPFILE
#include "core/system/file.h"
#include "core/memory/memory.h"
#include "core/system/temporary.h"
#include "core/text/error.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_SIZE = 1 << 18, NAME_ATTEMPTS = 100 };

static bool fail_with_errno(struct error *error, const char *path, const char *what, int number)
{
    return error_set(error, path, 0, 0, "%s: %s", what, strerror(number));
}

// ---- reading ----

static bool map_open_file(struct file_map *map, int fd, const char *path, struct error *error)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail_with_errno(error, path, "cannot read", errno);
    if (!S_ISREG(status.st_mode))
        return error_set(error, path, 0, 0, S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file");
    static const uint8_t nothing[1];
    *map = (struct file_map){nothing, (size_t)status.st_size};
    if (map->size == 0)
        return true;
    void *bytes = mmap(NULL, map->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        *map = (struct file_map){0};
        return fail_with_errno(error, path, "cannot map", errno);
    }
    map->bytes = bytes;
    return true;
}

bool file_map_open(struct file_map *map, const char *path, struct error *error)
{
    *map = (struct file_map){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_with_errno(error, path, "cannot open", errno);
    bool is_mapped = map_open_file(map, fd, path, error);
    close(fd);
    return is_mapped;
}

void file_map_close(struct file_map *map)
{
    if (map->size)
        munmap((void *)(uintptr_t)map->bytes, map->size);
    *map = (struct file_map){0};
}

// ---- writing ----

static char *new_string(size_t length)
{
    return mem_alloc_zero(length + 1);
}

static char *copy_string(const char *text)
{
    size_t length = strlen(text);
    return memcpy(new_string(length), text, length);
}

static void free_string(char *text)
{
    if (text)
        mem_free(text, strlen(text) + 1);
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

// The file that a symbolic link leads to, so that the link itself stays; else the path as it is.
static char *path_behind_links(const char *path)
{
    char *resolved = realpath(path, NULL);
    char *copy = copy_string(resolved ? resolved : path);
    free(resolved);
    return copy;
}

// Calls `make` with names in the target's folder until one is free.
typedef int make_file_fn(const char *name, int fd);

static int make_beside(const char *path, make_file_fn *make, int fd, char **ret_name)
{
    size_t folder = folder_length(path), room = folder + 48;
    char *name = mem_alloc_zero(room);
    memcpy(name, path, folder);
    int made = -1;
    for (int attempt = 0; made < 0 && attempt < NAME_ATTEMPTS; attempt++) {
        snprintf(name + folder, room - folder, ".taso-%ld-%d.tmp", (long)getpid(), attempt);
        made = make(name, fd);
        if (made < 0 && errno != EEXIST)
            break;
    }
    int failure = errno;
    *ret_name = made >= 0 ? copy_string(name) : NULL;
    mem_free(name, room);
    errno = failure;
    return made;
}

static int make_named(const char *name, int fd)
{
    return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static void print_descriptor_path(char *ret_path, size_t size, int fd)
{
    snprintf(ret_path, size, "/proc/self/fd/%d", fd);
}

static int give_name(const char *name, int fd)
{
    char path[40];
    print_descriptor_path(path, sizeof path, fd);
    return linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static char *folder_of(const char *path)
{
    size_t length = folder_length(path);
    char *folder = length ? new_string(length) : copy_string(".");
    if (length)
        memcpy(folder, path, length);
    return folder;
}

// -1: such files are not known there, or could not be given a name later.
static int make_unnamed(const char *path)
{
    char *folder = folder_of(path), shown[40];
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    free_string(folder);
    print_descriptor_path(shown, sizeof shown, fd);
    if (fd >= 0 && access(shown, F_OK) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

// The mode is the usual one for new files.
static void create_beside(struct file_writer *w)
{
    w->fd = make_unnamed(w->path);
    w->is_unnamed = w->fd >= 0;
    if (!w->is_unnamed)
        w->fd = make_beside(w->path, make_named, -1, &w->temporary);
}

static bool open_new_or_replacing(struct file_writer *w, const char *path, const struct stat *old, struct error *error)
{
    if (old && access(path, W_OK) != 0)
        return fail_with_errno(error, path, "cannot write", errno);
    w->path = path_behind_links(path);
    create_beside(w);
    if (w->fd < 0) {
        int failure = errno;
        free_string(w->path);
        return fail_with_errno(error, path, "cannot create a file in this folder", failure);
    }
    if (old)
        (void)!fchmod(w->fd, old->st_mode & 0777);
    return true;
}

static bool open_directly(struct file_writer *w, const char *path, struct error *error)
{
    w->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (w->fd < 0)
        return fail_with_errno(error, path, "cannot write", errno);
    w->path = copy_string(path);
    return true;
}

static bool open_target(struct file_writer *w, const char *path, struct error *error)
{
    struct stat status;
    if (!path[0])
        return error_set(error, NULL, 0, 0, "cannot write to a file with an empty name");
    if (stat(path, &status) != 0)
        return open_new_or_replacing(w, path, NULL, error);
    if (S_ISDIR(status.st_mode))
        return error_set(error, path, 0, 0, "cannot write: is a folder");
    return S_ISREG(status.st_mode) ? open_new_or_replacing(w, path, &status, error) : open_directly(w, path, error);
}

static void note_failure(struct file_writer *w, int number)
{
    if (!w->failed)
        w->failure = number;
    w->failed = true;
}

static void write_through(struct file_writer *w, const uint8_t *bytes, size_t size)
{
    while (size && !w->failed) {
        ssize_t n = write(w->fd, bytes, size);
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (n == 0 || errno != EINTR)
            note_failure(w, n == 0 ? EIO : errno);
    }
}

static void flush_buffer(struct file_writer *w)
{
    write_through(w, w->buffer, w->buffered);
    w->buffered = 0;
}

// Pipes and devices have nothing to synchronize and say so. What goes with the process need not outlast the system.
static void synchronize(struct file_writer *w)
{
    if (!w->failed && !temporary_folder_has(w->path) && fsync(w->fd) != 0 && errno != EINVAL && errno != EROFS &&
        errno != ENOTSUP)
        note_failure(w, errno);
}

// Makes the rename itself durable; where folders cannot be synchronized nothing is lost but that.
static void synchronize_folder_of(const char *path)
{
    char *folder = folder_of(path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!fsync(fd);
        close(fd);
    }
    free_string(folder);
}

static void close_descriptor(struct file_writer *w)
{
    if (close(w->fd) != 0 && errno != EINTR)
        note_failure(w, errno);
    w->fd = -1;
}

static void release(struct file_writer *w)
{
    free_string(w->path);
    free_string(w->temporary);
    mem_free(w->buffer, w->buffer ? BUFFER_SIZE : 0);
    w->path = w->temporary = NULL;
    w->buffer = NULL;
}

bool file_writer_open(struct file_writer *w, const char *path, struct error *error)
{
    *w = (struct file_writer){.fd = -1};
    if (!open_target(w, path, error)) {
        *w = (struct file_writer){.fd = -1};
        return false;
    }
    w->buffer = mem_alloc(BUFFER_SIZE);
    return true;
}

void file_write(struct file_writer *w, const void *bytes, size_t size)
{
    assert(w->buffer);
    w->written += size;
    w->is_synchronized = false;
    if (size > BUFFER_SIZE - w->buffered)
        flush_buffer(w);
    if (size >= BUFFER_SIZE) {
        write_through(w, bytes, size);
    } else if (size) {
        memcpy(w->buffer + w->buffered, bytes, size);
        w->buffered += size;
    }
}

static bool report_failure(struct file_writer *w, struct error *error)
{
    if (!w->failed)
        return false;
    fail_with_errno(error, w->path, "cannot write", w->failure);
    file_writer_abandon(w);
    return true;
}

bool file_writer_synchronize(struct file_writer *w, struct error *error)
{
    assert(w->buffer);
    flush_buffer(w);
    if (!w->is_synchronized)
        synchronize(w);
    w->is_synchronized = true;
    return !report_failure(w, error);
}

bool file_writer_map(struct file_writer *w, struct file_map *ret_map, struct error *error)
{
    char shown[40];
    assert(w->is_unnamed || w->temporary);
    flush_buffer(w);
    print_descriptor_path(shown, sizeof shown, w->fd);
    return !report_failure(w, error) && file_map_open(ret_map, w->temporary ? w->temporary : shown, error);
}

void file_writer_set_target(struct file_writer *w, const char *path)
{
    assert(w->is_unnamed || w->temporary);
    free_string(w->path);
    w->path = copy_string(path);
}

bool file_writer_commit(struct file_writer *w, struct error *error)
{
    if (!file_writer_synchronize(w, error))
        return false;
    if (w->is_unnamed && make_beside(w->path, give_name, w->fd, &w->temporary) < 0)
        note_failure(w, errno);
    close_descriptor(w);
    if (!w->failed && w->temporary && rename(w->temporary, w->path) != 0)
        note_failure(w, errno);
    if (report_failure(w, error))
        return false;
    if (w->temporary && !temporary_folder_has(w->path))
        synchronize_folder_of(w->path);
    release(w);
    return true;
}

void file_writer_abandon(struct file_writer *w)
{
    if (!w->buffer)
        return;
    if (w->fd >= 0)
        close_descriptor(w);
    if (w->temporary)
        unlink(w->temporary);
    release(w);
}

bool file_can_be_replaced(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

bool file_write_text(const char *path, const char *text, size_t size, struct error *error)
{
    struct file_writer w;
    if (!file_writer_open(&w, path, error))
        return false;
    file_write(&w, text, size);
    return file_writer_commit(&w, error);
}

// ---- locks ----

static bool wait_for_lock(int fd)
{
    while (flock(fd, LOCK_EX) != 0)
        if (errno != EINTR)
            return false;
    return true;
}

static bool is_still_named(int fd, const char *path)
{
    struct stat locked, named;
    return fstat(fd, &locked) == 0 && stat(path, &named) == 0 && locked.st_ino == named.st_ino &&
           locked.st_dev == named.st_dev;
}

static int open_to_lock(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || !wait_for_lock(fd))) {
        close(fd);
        return -1;
    }
    return fd;
}

void file_lock_take(struct file_lock *lock, const char *path)
{
    while ((lock->fd = open_to_lock(path)) >= 0 && !is_still_named(lock->fd, path))
        close(lock->fd);
}

void file_lock_release(struct file_lock *lock)
{
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
}

// ---- the cache folder ----

static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool is_made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!is_made)
            return false;
    }
    struct stat status;
    return (mkdir(path, 0700) == 0 || errno == EEXIST) && stat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
           access(path, W_OK) == 0;
}

bool file_cache_folder(char *ret_path, size_t size)
{
    char path[4096];
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (cache && cache[0] == '/')
        length = snprintf(path, sizeof path, "%s/taso", cache);
    else if (home && home[0] == '/')
        length = snprintf(path, sizeof path, "%s/.cache/taso", home);
    if (length < 0 || (size_t)length >= sizeof path || (size_t)length >= size || !make_folders(path))
        return false;
    memcpy(ret_path, path, (size_t)length + 1);
    return true;
}
