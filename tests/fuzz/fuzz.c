// Readers take paths: a file in memory is the cheapest that has one. Who runs out of memory ends as one that crashes, so
// that libFuzzer keeps the input.
#define _GNU_SOURCE   // memfd_create
#include "tests/fuzz/fuzz.h"
#include "core/text/text.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[40];
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_REQUIRE(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size && ftruncate(fd, (off_t)size) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

static char output[64];

static void remove_output(void)
{
    unlink(output);
}

const char *fuzz_output(void)
{
    if (!output[0]) {
        snprintf(output, sizeof output, "%s/taso-fuzz-%ld", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                 (long)getpid());
        atexit(remove_output);
    }
    return output;
}

void fuzz_put_file(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    FUZZ_REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
}

void fuzz_require_printed_again(const uint8_t *data, size_t size, fuzz_print_fn *print)
{
    TEXT(first);
    TEXT(second);
    if (print(data, size, &first) && first.count) {
        FUZZ_REQUIRE(print((const uint8_t *)first.chars, first.count, &second));
        FUZZ_REQUIRE(strcmp(first.chars, second.chars) == 0);
    }
}

static void trap(size_t size)
{
    printf("%zu more bytes were wanted\n", size);
    __builtin_trap();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    mem_set_out_of_memory(trap);
    return 0;
}
