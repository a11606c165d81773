// Files without a name, for models in memory: what reads models takes paths, and maps them.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;

struct memory_file {
    int descriptor;
    char path[40];   // of this process
};
// Empty. False: error.
bool memory_file_open(struct memory_file *ret_file, struct error *error);
bool memory_file_add(struct memory_file *file, const void *bytes, size_t size, struct error *error);
void memory_file_close(struct memory_file *file);
// Is it the path of such a file? It is none to whoever gave the model.
bool memory_file_is_at(const char *path);
