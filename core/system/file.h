// Files: read-only memory maps, and writing that is all or nothing (a file without a name in the same folder, then
// rename).
#pragma once
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
    char *path;
    char *temporary;   // its name until it takes the target's; NULL: it has none yet, or is written in place
    bool is_unnamed;   // a kill leaves nothing of it
    bool is_synchronized;
    uint8_t *buffer;
    size_t buffered;
    uint64_t written;   // bytes so far, buffered ones included
    bool failed;        // sticky: reported by commit
    int failure;        // errno of the first failure
};
bool file_writer_open(struct file_writer *w, const char *path, struct error *error);
void file_write(struct file_writer *w, const void *bytes, size_t size);
// Flush and fsync: the whole file is on the disk, and its target is what it was. On failure as abandon. Of several
// files that belong together each is synchronized before the first is committed.
bool file_writer_synchronize(struct file_writer *w, struct error *error);
// The bytes written so far, to be read before it takes its target's name. Not for what is written in place.
bool file_writer_map(struct file_writer *w, struct file_map *ret_map, struct error *error);
bool file_writer_commit(struct file_writer *w, struct error *error);    // synchronize, rename; on failure as abandon
void file_writer_set_target(struct file_writer *w, const char *path);   // another name in the same folder
void file_writer_abandon(struct file_writer *w);   // removes the temporary file; after commit: nothing
bool file_can_be_replaced(const char *path);       // a regular file or nothing yet: no device, no pipe, no folder
bool file_write_text(const char *path, const char *text, size_t size, struct error *error);   // open, write, commit

// An advisory lock on the file that a path names, for whoever reads, merges and replaces it (a rename ends no lock: it
// is taken again on the new file). Waits; an absent file is made, empty. Where nothing can be locked (no such folder,
// no regular file, a file system without locks) nothing is held, and the caller goes on.
struct file_lock {
    int fd;   // -1: nothing is held
};
void file_lock_take(struct file_lock *lock, const char *path);
void file_lock_release(struct file_lock *lock);

// The user's cache folder for this project ($XDG_CACHE_HOME/taso or ~/.cache/taso), created when absent.
// False when there is none (no HOME); the caller goes on without a cache.
bool file_cache_folder(char *ret_path, size_t size);
