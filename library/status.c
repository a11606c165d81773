// Errors and models in memory, as the other files of the library need them.
#define _GNU_SOURCE   // memfd_create
#include "library/library.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int taso_abi_version(void)
{
    return TASO_ABI_VERSION;
}

const char *taso_version(void)
{
    return TASO_VERSION;
}

#define FOLDER_OF_DESCRIPTORS "/proc/self/fd/"

// A model in memory is no file to whoever gave it.
static bool is_in_memory(const char *path)
{
    return strncmp(path, FOLDER_OF_DESCRIPTORS, sizeof FOLDER_OF_DESCRIPTORS - 1) == 0;
}

taso_status library_report_error(const struct error *error, taso_error *ret_error)
{
    taso_status status = (taso_status)error->code;
    if (!ret_error)
        return status;
    *ret_error = (taso_error){.status = status, .line = error->line, .column = error->column};
    if (!is_in_memory(error->file))
        snprintf(ret_error->file, sizeof ret_error->file, "%s", error->file);
    snprintf(ret_error->message, sizeof ret_error->message, "%s", error->message);
    return status;
}

taso_status library_refuse(taso_status status, taso_error *ret_error, const char *message)
{
    struct error error = {0};
    error_set_code(&error, (enum exit_code)status, NULL, "%s", message);
    return library_report_error(&error, ret_error);
}

static bool write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(descriptor, bytes, size);
        if (n < 0 && errno != EINTR)
            return false;
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool memory_file_open(struct memory_file *ret_file, const void *bytes, size_t size, struct error *error)
{
    ret_file->descriptor = memfd_create("model.onnx", MFD_CLOEXEC);
    if (ret_file->descriptor < 0 || !write_all(ret_file->descriptor, bytes, size)) {
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "cannot hold a model of %zu bytes in memory: %s", size,
                       strerror(errno));
        memory_file_close(ret_file);
        return false;
    }
    snprintf(ret_file->path, sizeof ret_file->path, FOLDER_OF_DESCRIPTORS "%d", ret_file->descriptor);
    return true;
}

void memory_file_close(struct memory_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
}
