// .npy files: what is read has the size of its type.
#include "core/text/error.h"
#include "optimizer/run/npy.h"
#include "tests/fuzz/fuzz.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct type types[] = {{.dtype = DTYPE_F32, .rank = 2, .dim = {2, 3}},
                                        {.dtype = DTYPE_I64, .rank = 0},
                                        {.dtype = DTYPE_BOOL, .rank = 1}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        ARENA(arena);
        struct error error = {0};
        const void *values = npy_parse("fuzz", "input x", &types[i], data, size, &arena, &error);
        char copy[64];
        FUZZ_REQUIRE(values || error.message[0]);
        if (values)
            memcpy(copy, values, type_bytes(&types[i]));
    }
    return 0;
}
