// Work in a copy of this process, for code that cannot be asked to stop: the copy is ended as soon as that is wanted.
// Only the thread that calls is copied, so the work may rely on no other one.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct forked_work {
    void (*run)(void *context, void *ret_result);   // what it changes beside the result is lost
    void *context;
    bool (*wants_end)(void *of_end);   // asked every 20 ms
    void *of_end;
};
// ret_result: `size` bytes. False: the work was ended, it failed, or no copy could be made.
bool forked_work_run(const struct forked_work *work, void *ret_result, size_t size);
