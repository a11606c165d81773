// Folders for files that nobody else is to see, in $TMPDIR or /tmp. What ends the process through
// core/system/signals.h removes them, too, and so does memory that runs out.
#pragma once
#include <stdbool.h>

struct error;

struct temporary_folder {   // stays where it is while the folder is there; zero: no folder
    char path[256];
    struct temporary_folder *next;   // of those that are there
};
bool temporary_folder_make(struct temporary_folder *ret_folder, struct error *error);
void temporary_folder_remove(struct temporary_folder *f);   // with its files, if it was made
bool temporary_folder_has(const char *path);                // a file of one of them
void temporary_folders_remove(void);                        // all of this process, which ends
