// The files that a command line names, judged before anything takes long: an output must not be another output or an
// input, by whatever path, and its place must be one that can be written.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;

enum file_use {
    FILE_READ,
    FILE_WRITTEN,
    FILE_REPLACED,      // written, and may be the one that is FILE_REPLACEABLE
    FILE_REPLACEABLE,   // read
    FOLDER_WRITTEN,     // a folder that files are written into
};
struct used_file {
    const char *name;   // as the user gave it, for messages: "--json", "the model"
    const char *path;   // NULL: not given
    enum file_use use;
};
// False: EXIT_USAGE for files that are the same and for `-`, EXIT_BAD_INPUT for places. Devices and pipes may be
// written by several options.
bool files_used_check(const struct used_file *files, size_t n, struct error *error);
