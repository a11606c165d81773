// While kernels run, no handler of a signal may: oneDNN's kernels use the stack pointer for other things, and the frame
// of a handler would be written over what lies there (core/system/interrupt.c). Programs of ours have a thread for
// signals; this is for the library in others, where signals wait for the end of a run, or another thread takes them.
#ifndef BACKENDS_CPU_UNDISTURBED_H
#define BACKENDS_CPU_UNDISTURBED_H

// This thread and those of OpenMP, of which `threads` work together, hold signals back until the end.
void undisturbed_begin(int threads);
void undisturbed_end(int threads);
#endif
