// A struct fixture of the test's file, by its set_up and tear_down: `FIXTURE(&f, argument...)`. It ends with the block in
// which it is declared, as what core/memory and core/text declare locally does.
#pragma once
#include "core/memory/arena.h"
#include "core/text/text.h"

#define FIXTURE(...)                                                                                                   \
    struct fixture f FREED_BY(tear_down);                                                                              \
    set_up(__VA_ARGS__)
