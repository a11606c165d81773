// Parts have shares of the whole at most, whatever they are expected to take: a search of nothing is no search.
#include "optimizer/run/time_limit.h"

#include "core/system/clock.h"
#include "optimizer/limits.def"
#include "optimizer/run/remaining_time.h"
#include <math.h>

static double seconds_of_rest(const struct time_limit *l)
{
    return fmin(MOST_OF_REST * l->seconds, SECONDS_OF_REST + remaining_time_after_contest(l->rest));
}

static double seconds_of_timing(const struct time_limit *l)
{
    double expected = remaining_time_of_timing(l->rest);
    return fmin(MOST_OF_TIMING * l->seconds, expected);
}

double time_limit_of_timing(const struct time_limit *l)
{
    return l->seconds > 0 ? l->started + l->seconds - seconds_of_rest(l) : 0;
}

double time_limit_of_searching(const struct time_limit *l)
{
    return l->seconds > 0 ? time_limit_of_timing(l) - seconds_of_timing(l) : 0;
}

bool time_limit_is_over(const struct time_limit *l)
{
    double end = l->part == TIME_TO_TIME ? time_limit_of_timing(l) : time_limit_of_searching(l);
    return l->seconds > 0 && clock_seconds() >= end;
}

bool time_limit_ends(const struct time_limit *l)
{
    return l->seconds > 0 && !l->is_former_over && !isfinite(interrupt_signalled_at());
}

static bool wants_end(void *context)
{
    struct time_limit *l = context;
    l->is_former_over = l->is_former_over || (l->former && l->former->wants_end(l->former->context));
    return l->is_former_over || time_limit_is_over(l);
}

void time_limit_begin(struct time_limit *ret_limit, double seconds, double started, const struct remaining_time *rest)
{
    *ret_limit =
        (struct time_limit){.seconds = seconds, .started = started, .rest = rest, .former = interrupt_listener()};
    ret_limit->listener = (struct interrupt_listener){wants_end, ret_limit};
    if (seconds > 0)
        interrupt_listen(&ret_limit->listener);
}

void time_limit_enter(struct time_limit *l, enum time_part part)
{
    l->part = part;
    if (l->seconds > 0)
        interrupt_listen(&l->listener);
}

void time_limit_end(struct time_limit *l)
{
    if (l->seconds > 0)
        interrupt_listen(l->former);
}
