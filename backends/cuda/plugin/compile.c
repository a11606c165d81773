// Kernel text to machine code by NVRTC: no GPU is needed, and the same text gives the same bytes.
#include "backends/cuda/plugin/compile.h"

#include "backends/cuda/plugin/fail.h"
#include <dlfcn.h>
#include <glob.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// NVRTC looks for its second library by name alone, in places where it need not be: it is loaded from beside the first.
static void load_builtins(void)
{
    Dl_info nvrtc;
    glob_t found;
    char pattern[4096];
    void *function;
    nvrtcResult (*version)(int *, int *) = nvrtcVersion;
    memcpy(&function, &version, sizeof function);
    if (!dladdr(function, &nvrtc) || !nvrtc.dli_fname)
        return;
    const char *slash = strrchr(nvrtc.dli_fname, '/');
    snprintf(pattern, sizeof pattern, "%.*slibnvrtc-builtins.so*", slash ? (int)(slash + 1 - nvrtc.dli_fname) : 0,
             nvrtc.dli_fname);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_GLOBAL))
            break;
    globfree(&found);
}

static bool take_code(nvrtcProgram program, void **ret_code, size_t *ret_size)
{
    size_t size = 0;
    if (nvrtcGetCUBINSize(program, &size) != NVRTC_SUCCESS || size == 0)
        return false;
    void *code = malloc(size);
    if (nvrtcGetCUBIN(program, code) != NVRTC_SUCCESS) {
        free(code);
        return false;
    }
    *ret_code = code;
    *ret_size = size;
    return true;
}

static void take_log(nvrtcProgram program, nvrtcResult result, char *ret_reason)
{
    size_t size = 0;
    char *log = nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS ? malloc(size + 1) : NULL;
    if (log && nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS && size > 1)
        plugin_fail(ret_reason, "%.400s", log);
    else
        plugin_fail(ret_reason, "NVRTC: %s", nvrtcGetErrorString(result));
    free(log);
}

bool plugin_compile(const char *source, const char *architecture, void **ret_code, size_t *ret_size, char *ret_reason)
{
    char target[64];
    const char *options[] = {target, "--std=c++17", "-w"};
    nvrtcProgram program;
    snprintf(target, sizeof target, "--gpu-architecture=%s", architecture);
    load_builtins();
    nvrtcResult result = nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL);
    if (result != NVRTC_SUCCESS)
        return plugin_fail(ret_reason, "NVRTC: %s", nvrtcGetErrorString(result));
    result = nvrtcCompileProgram(program, sizeof options / sizeof *options, options);
    bool is_done = result == NVRTC_SUCCESS && take_code(program, ret_code, ret_size);
    if (!is_done)
        take_log(program, result, ret_reason);
    nvrtcDestroyProgram(&program);
    return is_done;
}

void plugin_free_code(void *code)
{
    free(code);
}
