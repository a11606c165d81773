// Linux tells in /proc/loadavg: "9.03 4.12 2.00 10/412 12345", the fourth being threads that run, this one among them.
#define _DEFAULT_SOURCE   // getloadavg
#include "core/system/machine_load.h"
#include "core/memory/vec.h"
#include "core/system/cores.h"
#include "core/text/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOOKS 5
#define NANOSECONDS_BETWEEN_LOOKS 10000000L

static int count_running(void)
{
    int n_running = 1;
    FILE *f = fopen("/proc/loadavg", "r");
    if (!f)
        return 0;
    if (fscanf(f, "%*f %*f %*f %d/", &n_running) != 1)
        n_running = 1;
    fclose(f);
    return n_running > 1 ? n_running - 1 : 0;
}

COMPARISON(compare_counts, int, ORDER(*x, *y))

int machine_others_running(void)
{
    int counts[LOOKS];
    if (count_running() == 0)
        return 0;
    for (int i = 0; i < LOOKS; i++) {
        nanosleep(&(struct timespec){0, NANOSECONDS_BETWEEN_LOOKS}, NULL);
        counts[i] = count_running();
    }
    qsort(counts, LOOKS, sizeof *counts, compare_counts);
    return counts[LOOKS / 2];
}

void machine_print_load(struct text *out)
{
    double load;
    int n = cores_available();
    if (getloadavg(&load, 1) == 1)
        text_printf(out, "load %.0f on %d processor%s", load, n, n == 1 ? "" : "s");
}
