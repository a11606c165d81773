// The clock is asked at every update and decides only what is shown.
#include "core/system/progress.h"
#include "core/system/clock.h"
#include <math.h>
#include <stdarg.h>
#include <unistd.h>

enum { BAR_CELLS = 24 };
static const double SECONDS_BETWEEN_FRAMES = 0.1, SECONDS_BETWEEN_LINES = 10;
static const double SHARE_THAT_TELLS = 0.02;   // the first steps of long work are often its slowest

static bool is_time_to_show(const struct progress *p, double now)
{
    return now - p->shown >= (p->is_terminal ? SECONDS_BETWEEN_FRAMES : SECONDS_BETWEEN_LINES);
}

static void show_duration(FILE *out, double seconds)
{
    unsigned long whole = seconds < 0 ? 0 : seconds > 3.6e8 ? 360000000 : (unsigned long)(seconds + 0.5);
    if (whole >= 3600)
        fprintf(out, "%lu h %02lu min", whole / 3600, whole / 60 % 60);
    else if (whole >= 60)
        fprintf(out, "%lu min %02lu s", whole / 60, whole % 60);
    else
        fprintf(out, "%lu s", whole);
}

static void show_bar(FILE *out, double share)
{
    int filled = (int)(share * BAR_CELLS);
    fputc('[', out);
    for (int i = 0; i < BAR_CELLS; i++)
        fputc(i < filled ? '#' : '.', out);
    fputs("] ", out);
}

// The seconds expected now may be more than those shown: then these stay until it is less.
static void show_seconds_left(struct progress *p, double seconds)
{
    struct countdown *c = p->countdown;
    if (c && c->ends > 0)
        seconds = fmin(seconds, fmax(0, c->ends - clock_seconds()));
    if (c)
        seconds = c->seconds = fmin(c->seconds, seconds);
    fputs(", about ", p->out);
    show_duration(p->out, seconds);
    fputs(c ? " left in all" : " left", p->out);
    if (c && c->news)
        fprintf(p->out, ", as %s", c->news);
}

static double most_left(const struct progress *p, double elapsed)
{
    return p->deadline > 0 ? fmax(p->deadline - (p->started + elapsed), 0) : INFINITY;
}

double progress_seconds_left(double share, double elapsed, double apart, double repeats)
{
    double steady = fmax(0, elapsed - apart);
    return steady / share * (1 - share + repeats) + apart * (1 / sqrt(share) - 1);
}

static double seconds_apart(const struct progress *p)
{
    return p->apart ? *p->apart - p->apart_before : 0;
}

static void show_share_and_estimate(struct progress *p, uint64_t done, double elapsed)
{
    double share = done < p->total ? (double)done / (double)p->total : 1;
    if (p->is_terminal)
        show_bar(p->out, share);
    fprintf(p->out, "%3.0f %%", 100 * share);
    if (share >= SHARE_THAT_TELLS && share < 1)
        show_seconds_left(
            p, fmin(progress_seconds_left(share, elapsed, seconds_apart(p), p->repeats), most_left(p, elapsed)) +
                   p->later);
}

static void show_count_and_time(const struct progress *p, uint64_t done, double elapsed)
{
    fprintf(p->out, "%llu after ", (unsigned long long)done);
    show_duration(p->out, elapsed);
}

void progress_start(struct progress *p, FILE *out, const char *label, uint64_t total)
{
    *p = (struct progress){.out = out, .label = label, .total = total};
    if (!out)
        return;
    p->started = p->shown = clock_seconds();
    p->is_terminal = isatty(fileno(out)) == 1;
}

void progress_update(struct progress *p, uint64_t done, const char *detail, ...)
{
    if (!p->out)
        return;
    double now = clock_seconds();
    if (!is_time_to_show(p, now))
        return;
    fprintf(p->out, "%s%s: ", p->is_terminal ? "\r\033[K" : "", p->label);
    if (p->total)
        show_share_and_estimate(p, done, now - p->started);
    else
        show_count_and_time(p, done, now - p->started);
    if (detail) {
        va_list arguments;
        va_start(arguments, detail);
        fputs("  ", p->out);
        vfprintf(p->out, detail, arguments);
        va_end(arguments);
    }
    if (!p->is_terminal)
        fputc('\n', p->out);
    fflush(p->out);
    p->shown = now;
    p->has_shown = true;
}

void progress_end(struct progress *p)
{
    if (p->out && p->is_terminal && p->has_shown) {
        fputs("\r\033[K", p->out);
        fflush(p->out);
    }
    p->out = NULL;
}
