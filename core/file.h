// Files: read-only memory maps, and writing that is all or nothing (a temporary file in the same folder, then rename).
#ifndef CORE_FILE_H
#define CORE_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct file_map {
    const uint8_t *bytes;   // of an open map never NULL, so that bytes + size is always a place
    size_t size;
};
bool file_map_open(struct file_map *map, const char *path, struct error *error);   // regular files only
void file_map_close(struct file_map *map);

struct file_writer {
    int fd;
    char *path, *temporary;
    uint8_t *buffer;
    size_t buffered;
    uint64_t written;        // bytes so far, buffered ones included
    bool failed;             // sticky: reported by commit
    int failure;             // errno of the first failure
};
bool file_writer_open(struct file_writer *w, const char *path, struct error *error);
void file_write(struct file_writer *w, const void *bytes, size_t size);
bool file_writer_commit(struct file_writer *w, struct error *error);   // flush, fsync, rename; on failure as abandon
void file_writer_abandon(struct file_writer *w);                       // removes the temporary file; after commit: nothing
bool file_write_text(const char *path, const char *text, size_t size, struct error *error);   // open, write, commit

// An advisory lock on the file that a path names, for whoever reads, merges and replaces it (a rename ends no lock: it is
// taken again on the new file). Waits; an absent file is made, empty. Where nothing can be locked (no such folder, no
// regular file, a file system without locks) nothing is held, and the caller goes on.
struct file_lock {
    int fd;   // -1: nothing is held
};
void file_lock_take(struct file_lock *lock, const char *path);
void file_lock_release(struct file_lock *lock);

// The user's cache folder for this project ($XDG_CACHE_HOME/taso or ~/.cache/taso), created when absent.
// False when there is none (no HOME); the caller goes on without a cache.
bool file_cache_folder(char *ret_path, size_t size);
#endif
