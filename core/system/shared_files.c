// Found from the path of the program or library that has this code, so that an installation can be moved.
#define _GNU_SOURCE   // dladdr
#include "core/system/shared_files.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FOLDERS = 4 };   // PREFIX/lib/x86_64-linux-gnu/libtaso.so.1; a Python package has its own share/ beside it

// The path of a program as its caller wrote it says nothing after a change of folders.
static bool find_own_path(char path[SHARED_PATH_SIZE])
{
    Dl_info info;
    bool is_library =
        dladdr((void *)(size_t)shared_file_find, &info) && info.dli_fname && strstr(info.dli_fname, ".so");
    char *real = is_library ? realpath(info.dli_fname, NULL) : realpath("/proc/self/exe", NULL);
    bool fits = real && strlen(real) < SHARED_PATH_SIZE;
    if (fits)
        strcpy(path, real);
    free(real);
    return fits;
}

const char *shared_file_find(const char *name, const char *built, char buffer[SHARED_PATH_SIZE])
{
    char *end = find_own_path(buffer) ? strrchr(buffer, '/') : NULL;
    for (int i = 0; end && i < MOST_FOLDERS; i++) {
        size_t room = SHARED_PATH_SIZE - (size_t)(end - buffer);
        if ((size_t)snprintf(end, room, "/%s/%s", SHARED_IN_PREFIX, name) < room && access(buffer, R_OK) == 0)
            return buffer;
        *end = '\0';
        end = strrchr(buffer, '/');
    }
    return built;
}
