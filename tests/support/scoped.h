// Things that end with the block in which they are declared, so that a test says what it is about and no more.
#pragma once
#include "core/memory/arena.h"
#include "core/text/text.h"

// `struct plan plan FREED_BY(plan_free);`: initialized before the block is left, and freed whichever way that is.
#define FREED_BY(function) __attribute__((cleanup(function)))
#define ARENA(name)                                                                                                    \
    struct arena name FREED_BY(arena_free);                                                                            \
    arena_init(&name)
#define TEXT(name) struct text name FREED_BY(text_free) = {0}
// A struct fixture of the test's file, by its set_up and tear_down: `FIXTURE(&f, argument...)`.
#define FIXTURE(...)                                                                                                   \
    struct fixture f FREED_BY(tear_down);                                                                              \
    set_up(__VA_ARGS__)
