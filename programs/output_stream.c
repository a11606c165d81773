// A model for standard output is written to a file first, and sent when it is whole.
#include "programs/output_stream.h"

#include "core/memory/memory.h"
#include "core/system/file.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool output_stream_open(struct output_stream *ret_stream, struct error *error)
{
    *ret_stream = (struct output_stream){0};
    if (!temporary_folder_make(&ret_stream->folder, error))
        return false;
    snprintf(ret_stream->path, sizeof ret_stream->path, "%s/model.onnx", ret_stream->folder.path);
    return true;
}

// Names of external data are the writer's affair.
static size_t count_files(const struct output_stream *s)
{
    size_t n = 0;
    DIR *folder = opendir(s->folder.path);
    for (const struct dirent *e; folder && (e = readdir(folder));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (folder)
        closedir(folder);
    return n;
}

// Not through stdio, which would remember a failure and tell of it again in the end.
static bool write_all(const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(STDOUT_FILENO, bytes, size);
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (errno != EINTR)
            return false;
    }
    return true;
}

bool output_stream_send(struct output_stream *s, struct error *error)
{
    struct file_map map FREED_BY(file_map_close) = {0};
    if (count_files(s) > 1)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL,
                              "a model with external data is two files: it cannot go to standard output");
    if (!file_map_open(&map, s->path, error))
        return false;
    output_stream_close(s);
    interrupt_end_soon(true);
    bool is_sent = write_all(map.bytes, map.size);
    int failure = errno;
    interrupt_end_soon(false);
    return is_sent ||
           error_set_code(error, EXIT_BAD_INPUT, NULL, "cannot write standard output: %s", strerror(failure));
}

void output_stream_close(struct output_stream *s)
{
    temporary_folder_remove(&s->folder);
}
