// The phases that the seconds of a job go to. At any time it is in one phase; who enters one for a while goes back to
// the former.
#pragma once

#define PHASES(X)                                                                                                      \
    X(PHASE_IMPORTING, "importing")                                                                                    \
    X(PHASE_DERIVING, "deriving") /* rules for the model's products (derive/derived_rules.h) */                        \
    X(PHASE_SEARCHING, "searching")                                                                                    \
    X(PHASE_LOADING, "loading")     /* models, to be run for costs or timed */                                         \
    X(PHASE_TUNING, "tuning")       /* schedules of kernels */                                                         \
    X(PHASE_PROFILING, "profiling") /* running models for the costs of their steps */                                  \
    X(PHASE_TIMING, "timing")       /* running them for their own time */                                              \
    X(PHASE_CHECKING, "checking")                                                                                      \
    X(PHASE_WRITING, "writing")

enum phase {
#define PHASE_CONSTANT(constant, name) constant,
    PHASES(PHASE_CONSTANT)
#undef PHASE_CONSTANT
        N_PHASES
};
extern const char *const phase_names[N_PHASES];

struct phases {
    enum phase now;
    double since, processor_since;   // on clock_seconds, on clock_cpu_seconds
    double seconds[N_PHASES], processor_seconds[N_PHASES];
};
void phases_start(struct phases *ret_phases);                 // with importing
enum phase phases_enter(struct phases *p, enum phase next);   // the former one
