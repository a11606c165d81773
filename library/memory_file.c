// Files of memfd_create, by the names that /proc gives descriptors.
#define _GNU_SOURCE   // memfd_create
#include "library/memory_file.h"

#include "core/text/error.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FOLDER_OF_DESCRIPTORS "/proc/self/fd/"

static bool fail(struct memory_file *file, struct error *error)
{
    error_set_code(error, EXIT_UNSUPPORTED, NULL, "cannot hold a model in memory: %s", strerror(errno));
    memory_file_close(file);
    return false;
}

bool memory_file_open(struct memory_file *ret_file, struct error *error)
{
    ret_file->descriptor = memfd_create("model.onnx", MFD_CLOEXEC);
    if (ret_file->descriptor < 0)
        return fail(ret_file, error);
    snprintf(ret_file->path, sizeof ret_file->path, FOLDER_OF_DESCRIPTORS "%d", ret_file->descriptor);
    return true;
}

bool memory_file_add(struct memory_file *file, const void *bytes, size_t size, struct error *error)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t n = write(file->descriptor, at, size);
        if (n < 0 && errno != EINTR)
            return fail(file, error);
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

void memory_file_close(struct memory_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
}

bool memory_file_is_at(const char *path)
{
    return strncmp(path, FOLDER_OF_DESCRIPTORS, sizeof FOLDER_OF_DESCRIPTORS - 1) == 0;
}
