// Folders that nobody but this user can change: every component of the path is opened without following links, belongs
// to the user or to root, and can be written by nobody else (folders where only owners may rename aside, as /tmp).
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;

// A descriptor of the folder, which itself is the user's and shut to all others; -1: it is not so, and the error says
// of which component. `is_made`: the last component is made where it is absent.
int safe_folder_open(const char *path, bool is_made, struct error *error);
// A sealed copy in memory of a regular file of the user in that folder; -1: there is no such file, or none to be
// trusted. What is read of the descriptor later is what is read of it now.
int safe_folder_read(int folder, const char *name, size_t *ret_size);
// The same of a file anywhere that belongs to the user or to root, and that nobody else can write.
int safe_file_read(const char *path, size_t *ret_size);
