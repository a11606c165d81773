// Files that come with the programs: rules, properties, scripts.
#pragma once

enum { SHARED_PATH_SIZE = 4096 };

// The place where `name` is installed beside the program or library that this code is in, wherever that was moved to
// (PREFIX/bin, PREFIX/lib or below it, and PREFIX/share/taso); else `built`, in the source tree that the program was
// built from. `buffer` may hold what is given.
const char *shared_file_find(const char *name, const char *built, char buffer[SHARED_PATH_SIZE]);
