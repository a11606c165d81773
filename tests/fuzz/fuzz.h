// One reader on any bytes: what a harness has to give, to libFuzzer or to replay.c.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

// Once, before the first input.
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A path to a file with these bytes, until the next call.
const char *fuzz_file(const uint8_t *data, size_t size);
// A path that the harness may write to: one of this process, in memory where it can be (disks wait when files are cut),
// removed at the end.
const char *fuzz_output(void);
void fuzz_put_file(const char *path, const void *data, size_t size);

// Reads the bytes and prints what they say; false: they cannot be read.
typedef bool fuzz_print_fn(const uint8_t *data, size_t size, struct text *out);
// The printed text has to be read back, and printed as the same text.
void fuzz_require_printed_again(const uint8_t *data, size_t size, fuzz_print_fn *print);
// A harness that requires no more.
#define FUZZ_PRINTED_AGAIN(print)                                                                                      \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                                       \
    {                                                                                                                  \
        fuzz_require_printed_again(data, size, print);                                                                 \
        return 0;                                                                                                      \
    }
// Ends the program where something that must hold does not.
#define FUZZ_REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())
