// A model for standard output is written to a file first, and sent when it is whole.
#include "optimizer/output_stream.h"

#include "core/system/file.h"
#include "core/text/error.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool output_stream_open(struct output_stream *ret_stream, struct error *error)
{
    const char *base = getenv("TMPDIR");
    struct output_stream s;
    int n = snprintf(s.folder, sizeof s.folder, "%s/taso-XXXXXX", base && *base ? base : "/tmp");
    if (n < 0 || (size_t)n >= sizeof s.folder || !mkdtemp(s.folder))
        return error_set_code(error, EXIT_UNSUPPORTED, s.folder, "no temporary folder can be made");
    snprintf(s.path, sizeof s.path, "%s/model.onnx", s.folder);
    *ret_stream = s;
    return true;
}

// Names of external data are the writer's affair.
static size_t count_files(const struct output_stream *s)
{
    size_t n = 0;
    DIR *folder = opendir(s->folder);
    for (const struct dirent *e; folder && (e = readdir(folder));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (folder)
        closedir(folder);
    return n;
}

bool output_stream_send(const struct output_stream *s, struct error *error)
{
    struct file_map map;
    if (count_files(s) > 1)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL,
                              "a model with external data is two files: it cannot go to standard output");
    if (!file_map_open(&map, s->path, error))
        return false;
    bool is_sent = fwrite(map.bytes, 1, map.size, stdout) == map.size && fflush(stdout) == 0;
    int failure = errno;
    file_map_close(&map);
    return is_sent ||
           error_set_code(error, EXIT_BAD_INPUT, NULL, "standard output cannot be written: %s", strerror(failure));
}

void output_stream_close(const struct output_stream *s)
{
    DIR *folder = opendir(s->folder);
    for (const struct dirent *e; folder && (e = readdir(folder));)
        unlinkat(dirfd(folder), e->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(s->folder);
}
