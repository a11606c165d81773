// A list has the folders that exist, so that whoever handles an interruption can remove them. A copy of the process has
// the list, too, but the folders are not its own.
#include "core/system/temporary.h"

#include "core/memory/memory.h"
#include "core/text/error.h"
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct temporary_folder *folders;
static _Atomic pid_t owner;   // of these folders

bool temporary_folder_make(struct temporary_folder *ret_folder, struct error *error)
{
    const char *base = getenv("TMPDIR");
    struct temporary_folder *f = ret_folder;
    int n = snprintf(f->path, sizeof f->path, "%s/taso-XXXXXX", base && *base ? base : "/tmp");
    bool is_short = n > 0 && (size_t)n < sizeof f->path;
    mem_set_at_end(temporary_folders_remove);
    pthread_mutex_lock(&lock);
    bool is_made = is_short && mkdtemp(f->path);
    int failure = is_short ? errno : ENAMETOOLONG;
    if (is_made) {
        owner = getpid();
        f->next = folders;
        folders = f;
    }
    pthread_mutex_unlock(&lock);
    if (is_made)
        return true;
    error_set_code(error, EXIT_UNSUPPORTED, f->path, "no temporary folder can be made: %s", strerror(failure));
    f->path[0] = '\0';
    return false;
}

// A folder that has another name first is out of reach of processes that still write to it, compilers for one.
static void remove_with_files(const char *path)
{
    char aside[sizeof folders->path + 1];
    snprintf(aside, sizeof aside, "%s~", path);
    path = rename(path, aside) == 0 ? aside : path;
    DIR *folder = opendir(path);
    for (const struct dirent *e; folder && (e = readdir(folder));)
        unlinkat(dirfd(folder), e->d_name, 0);   // refuses "." and ".."
    if (folder)
        closedir(folder);
    rmdir(path);
}

void temporary_folder_remove(struct temporary_folder *f)
{
    if (!f->path[0])
        return;
    pthread_mutex_lock(&lock);
    struct temporary_folder **at = &folders;
    while (*at && *at != f)
        at = &(*at)->next;
    if (*at)
        *at = f->next;
    remove_with_files(f->path);
    pthread_mutex_unlock(&lock);
    *f = (struct temporary_folder){0};
}

bool temporary_folder_has(const char *path)
{
    bool has = false;
    pthread_mutex_lock(&lock);
    for (const struct temporary_folder *f = folders; f && !has; f = f->next) {
        size_t n = strlen(f->path);
        has = strncmp(path, f->path, n) == 0 && path[n] == '/';
    }
    pthread_mutex_unlock(&lock);
    return has;
}

void temporary_folders_remove(void)
{
    if (owner != getpid())
        return;
    pthread_mutex_lock(&lock);
    for (; folders; folders = folders->next)
        remove_with_files(folders->path);
    pthread_mutex_unlock(&lock);
}
