// Two paths are one file when they lead to one inode, or, where a file is not there yet, to one name in one folder.
#include "core/system/files_used.h"
#include "core/text/error.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    bool exists, is_device;
    struct stat of_file, of_folder;
    const char *name;   // in its folder
    char folder[4096];
};

static bool is_written(const struct used_file *f)
{
    return f->use == FILE_WRITTEN || f->use == FILE_REPLACED;
}

static bool find_place(const char *path, struct place *ret_place)
{
    const char *slash = strrchr(path, '/');
    ret_place->name = slash ? slash + 1 : path;
    ret_place->exists = stat(path, &ret_place->of_file) == 0;
    ret_place->is_device =
        ret_place->exists && !S_ISREG(ret_place->of_file.st_mode) && !S_ISDIR(ret_place->of_file.st_mode);
    int length = slash ? (int)(slash - path) + 1 : 2;
    int n = snprintf(ret_place->folder, sizeof ret_place->folder, "%.*s", length, slash ? path : "./");
    return n < (int)sizeof ret_place->folder && stat(ret_place->folder, &ret_place->of_folder) == 0;
}

static bool is_same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static bool is_same_file(const char *a, const char *b)
{
    struct place x, y;
    if (!find_place(a, &x) || !find_place(b, &y) || x.is_device || y.is_device)
        return false;
    if (x.exists && y.exists)
        return is_same_inode(&x.of_file, &y.of_file);
    return x.exists == y.exists && is_same_inode(&x.of_folder, &y.of_folder) && strcmp(x.name, y.name) == 0;
}

static bool fail(struct error *error, const struct used_file *f, const char *reason)
{
    return error_set(error, f->path, 0, 0, "%s cannot be written: %s", f->name, reason);
}

// A name that may mean standard input or output is not one of a file that is made or missed.
static bool check_name(const struct used_file *f, struct error *error)
{
    struct stat ignored;
    if (strcmp(f->path, "-") != 0)
        return true;
    if (is_written(f))
        return error_set_code(error, EXIT_USAGE, NULL,
                              "%s - names no file; /dev/stdout is standard output, and ./- a file called so", f->name);
    return stat(f->path, &ignored) == 0 ||
           error_set_code(error, EXIT_USAGE, NULL, "%s is not read from standard input", f->name);
}

static bool check_place(const struct used_file *f, struct error *error)
{
    struct place place;
    if (!f->path[0])
        return fail(error, f, "the name is empty");
    if (!find_place(f->path, &place))
        return fail(error, f, strerror(errno));
    if (f->use == FOLDER_WRITTEN && (!place.exists || !S_ISDIR(place.of_file.st_mode)))
        return fail(error, f, "there is no such folder");
    if (place.exists && is_written(f) && S_ISDIR(place.of_file.st_mode))
        return fail(error, f, "is a folder");
    if (place.exists && access(f->path, W_OK) != 0)
        return fail(error, f, strerror(errno));
    return !is_written(f) || place.is_device || access(place.folder, W_OK | X_OK) == 0 ||
           fail(error, f, "its folder cannot be written");
}

static bool is_allowed(const struct used_file *a, const struct used_file *b)
{
    return (!is_written(a) && !is_written(b)) || (a->use == FILE_REPLACED && b->use == FILE_REPLACEABLE) ||
           (a->use == FILE_REPLACEABLE && b->use == FILE_REPLACED);
}

bool files_used_check(const struct used_file *files, size_t n, struct error *error)
{
    for (size_t i = 0; i < n; i++) {
        const struct used_file *a = &files[i];
        if (!a->path)
            continue;
        if (!check_name(a, error) || ((is_written(a) || a->use == FOLDER_WRITTEN) && !check_place(a, error)))
            return false;
        for (size_t k = 0; k < i; k++)
            if (files[k].path && !is_allowed(a, &files[k]) && is_same_file(a->path, files[k].path))
                return error_set_code(error, EXIT_USAGE, a->path, "%s and %s are the same file", files[k].name,
                                      a->name);
    }
    return true;
}
