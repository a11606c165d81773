// Found from the path of the running program, so that an installation can be moved.
#include "core/shared_files.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *shared_file_find(const char *name, const char *built, char buffer[SHARED_PATH_SIZE])
{
    ssize_t n = readlink("/proc/self/exe", buffer, SHARED_PATH_SIZE - 1);
    buffer[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(buffer, '/');
    if (!slash)
        return built;
    size_t room = SHARED_PATH_SIZE - (size_t)(slash + 1 - buffer);
    bool fits = (size_t)snprintf(slash + 1, room, "%s/%s", SHARED_FROM_PROGRAMS, name) < room;
    return fits && access(buffer, R_OK) == 0 ? buffer : built;
}
