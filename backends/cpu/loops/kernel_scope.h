// The state that holds while kernels are prepared or run, and is as before afterwards:
//
//   signals   no handler may run: oneDNN's kernels use the stack pointer for other things, and the frame of a handler
//             would be written over what lies there (core/system/signals.c). Programs of ours have a thread for them;
//             this is for the library in others, where signals wait for the end of a run, or another thread takes them.
//   threads   oneDNN asks OpenMP how many the calling thread has, when a primitive is made and when it runs, and knows
//             no other way to be told (uxlfoundation/oneDNN, issues 211 and 1201); it must be the same both times. Our
//             own loops say the number themselves.
#pragma once

struct kernel_scope {
    int threads, threads_before;
};
// A scope is of this thread and those of OpenMP, of which `threads` work together. Scopes nest.
struct kernel_scope kernel_scope_begin(int threads);
void kernel_scope_end(const struct kernel_scope *scope);
