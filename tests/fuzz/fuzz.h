// One reader on any bytes: what a harness has to give, to libFuzzer or to replay.c.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Once, before the first input.
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A path to a file with these bytes, until the next call.
const char *fuzz_file(const uint8_t *data, size_t size);
// Ends the program where something that must hold does not.
#define FUZZ_REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())
