// Monotonic time, for timings and progress; results never depend on it.
#pragma once
#include <stdbool.h>

double clock_seconds(void);          // monotonic, of an arbitrary origin
double clock_cpu_seconds(void);      // CPU time of the whole process
double clock_thread_seconds(void);   // CPU time of this thread

// Times what this thread does, alone or with others that it waits for, and tells whether other programs came between.
struct stopwatch {
    double wall, thread;
    long switches;   // involuntary, of the whole process
};
struct lap {
    double seconds;      // of this thread alone: without those that other programs took from it. Else on the clock
    bool is_disturbed;   // others took the processor away meanwhile
};
void stopwatch_start(struct stopwatch *ret_watch, bool is_alone);
struct lap stopwatch_stop(const struct stopwatch *watch, bool is_alone);
// Seconds that a hypervisor gave to other machines while this one wanted to run, all processors together; 0: not known.
double clock_stolen_seconds(void);
