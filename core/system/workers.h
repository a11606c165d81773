// Workers on the parts of a step: threads of ours, or the pool of a program that a model is a guest of.
#pragma once

typedef void parallel_function(void *argument, int part, int parts);
struct workers {
    // Calls the function once for each part, in any order, several at a time; returns when all are done. Parts do not
    // wait for each other, so one thread may do them all. NULL: OpenMP's threads.
    void (*run)(void *context, int parts, parallel_function *function, void *argument);
    void *context;
};
