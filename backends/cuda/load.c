// Places where the plugin is looked for, and what is said when it cannot be used.
#include "backends/cuda/load.h"

#include "core/memory/vec.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096

// The folder of the running program, with the last slash; empty when it is not known.
static void folder_of_program(char *ret_folder)
{
    ssize_t n = readlink("/proc/self/exe", ret_folder, PATH_SIZE - 1);
    ret_folder[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(ret_folder, '/');
    ret_folder[slash ? slash + 1 - ret_folder : 0] = '\0';
}

static bool find_plugin(char *ret_path)
{
    static const char *const beside[] = {"", "../backends/cuda/plugin/", "../../backends/cuda/plugin/",
                                         GPU_PLUGIN_INSTALLED};
    char folder[PATH_SIZE];
    const char *wanted = getenv("TASO_CUDA_PLUGIN");
    if (wanted && *wanted) {
        snprintf(ret_path, PATH_SIZE, "%s", wanted);
        return true;
    }
    folder_of_program(folder);
    return ANY(size_t, i, sizeof beside / sizeof *beside,
               snprintf(ret_path, PATH_SIZE, "%s%staso_cuda.so", folder, beside[i]) < PATH_SIZE &&
                   access(ret_path, R_OK) == 0);
}

const struct gpu_api *gpu_load(char *ret_reason)
{
    char path[PATH_SIZE];
    gpu_entry *entry;
    if (!find_plugin(path)) {
        snprintf(ret_reason, GPU_REASON_SIZE, "this build has no CUDA plugin (taso_cuda.so)");
        return NULL;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(ret_reason, GPU_REASON_SIZE, "the CUDA plugin cannot be loaded: %s", dlerror());
        return NULL;
    }
    void *symbol = dlsym(library, GPU_ENTRY);
    memcpy(&entry, &symbol, sizeof entry);
    const struct gpu_api *api = symbol ? entry() : NULL;
    if (api && api->version == GPU_API_VERSION)
        return api;
    snprintf(ret_reason, GPU_REASON_SIZE, "%.400s is not the CUDA plugin of this version", path);
    dlclose(library);
    return NULL;
}
