// Monotonic time, for timings and progress; results never depend on it.
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H
double clock_seconds(void);        // monotonic, of an arbitrary origin
double clock_cpu_seconds(void);    // CPU time of the whole process
#endif
