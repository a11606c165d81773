// --total-time: when each part of the job has to end, so that those behind it have what they need.
//
// The search gets what timing, the check and writing leave; a contest gets what the check and writing leave. Whatever
// asks whether it is interrupted (core/system/interrupt.h) is told so when its part is over, and then ends as it does
// for Ctrl-C: within seconds, with what there is by then.
#pragma once
#include "core/system/interrupt.h"
#include <stdbool.h>

struct remaining_time;

enum time_part { TIME_TO_SEARCH, TIME_TO_TIME };   // with all that belongs to it: loading models, say
struct time_limit {
    double seconds, started;             // 0: there is no limit; on clock_seconds
    enum time_part part;                 // that is under way
    const struct remaining_time *rest;   // what is known of the parts to come
    struct interrupt_listener listener;
    const struct interrupt_listener *former;
    bool is_former_over;   // it has said so
};
// Listens for this thread until the end, beside whoever listens now.
void time_limit_begin(struct time_limit *ret_limit, double seconds, double started, const struct remaining_time *rest);
void time_limit_end(struct time_limit *l);
// A part has time of its own: nothing is interrupted any more because the time of the one before was over.
void time_limit_enter(struct time_limit *l, enum time_part part);
// Ends of parts on clock_seconds; 0: no limit.
double time_limit_of_searching(const struct time_limit *l);
double time_limit_of_timing(const struct time_limit *l);
bool time_limit_is_over(const struct time_limit *l);   // of the part that is under way
bool time_limit_ends(const struct time_limit *l);      // what was cut short: nobody else has asked for an end
