// Compiled models are data that any processor runs, so only the version of their form can rule one out.
#include "provider/compatibility.h"

#include "core/memory/arena.h"
#include "library/library.h"
#include "optimizer/compiled/compiled_model.h"
#include <stdio.h>
#include <string.h>

const char *compatibility_text(struct arena *arena)
{
    char processor[200];
    library_describe_processor(processor, sizeof processor);
    return arena_printf(arena, "taso %s, form %d, %s", taso_version(), COMPILED_VERSION, processor);
}

OrtCompiledModelCompatibility compatibility_of(const char *text)
{
    ARENA(arena);
    int version = 0;
    bool is_this = strcmp(text, compatibility_text(&arena)) == 0;
    if (sscanf(text, "taso %*[^,], form %d,", &version) != 1)
        return OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
    return version != COMPILED_VERSION ? OrtCompiledModelCompatibility_EP_UNSUPPORTED
           : is_this                   ? OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL
                                       : OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION;
}
