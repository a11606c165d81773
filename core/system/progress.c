// The clock is asked at every update and decides only what is shown.
#include "core/system/progress.h"
#include "core/system/clock.h"
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

static void show_share_and_estimate(const struct progress *p, uint64_t done, double elapsed)
{
    double share = done < p->total ? (double)done / (double)p->total : 1;
    if (p->is_terminal)
        show_bar(p->out, share);
    fprintf(p->out, "%3.0f %%", 100 * share);
    if (p->is_uneven) {
        fputs(" after ", p->out);
        show_duration(p->out, elapsed);
    }
    if (p->is_uneven || share < SHARE_THAT_TELLS || share == 1)
        return;
    fputs(", about ", p->out);
    show_duration(p->out, elapsed / share * (1 - share));
    fputs(" left", p->out);
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
