// Quotas of control groups: microseconds of processor time in each period, "150000 100000" in cpu.max (version 2), or a
// number in each of two files (version 1). In a container the own group mostly is the root of what can be seen.
#define _GNU_SOURCE   // CPU_COUNT_S
#include "core/system/cores.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define GROUPS "/sys/fs/cgroup"
#define MOST_PROCESSORS ((size_t)1 << 20)

static bool read_line(const char *folder, const char *file, char *ret_line, size_t size)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *from = n > 0 && (size_t)n < sizeof path ? fopen(path, "r") : NULL;
    bool is_read = from && fgets(ret_line, (int)size, from);
    if (from)
        fclose(from);
    return is_read;
}

// Part of a processor is one.
static int quota_of_folder(const char *folder)
{
    char line[128], period_line[64];
    long long quota = -1, period = 0;
    if (read_line(folder, "cpu.max", line, sizeof line))
        (void)!sscanf(line, "%lld %lld", &quota, &period);
    else if (read_line(folder, "cpu.cfs_quota_us", line, sizeof line) &&
             read_line(folder, "cpu.cfs_period_us", period_line, sizeof period_line))
        (void)!(sscanf(line, "%lld", &quota) + sscanf(period_line, "%lld", &period));
    return quota <= 0 || period <= 0 ? 0 : quota < period ? 1 : quota / period < INT_MAX ? (int)(quota / period) : 0;
}

int cores_of_quota(const char *root, const char *group)
{
    char path[PATH_MAX];
    int least = 0, n = snprintf(path, sizeof path, "%s%s", root, group);
    for (size_t length = n > 0 && (size_t)n < sizeof path ? (size_t)n : 0; length >= strlen(root) && length > 0;) {
        path[length] = '\0';
        int quota = quota_of_folder(path);
        least = quota && (!least || quota < least) ? quota : least;
        do
            length--;
        while (length > strlen(root) && path[length] != '/');
    }
    return least;
}

// The line of version 2 is "0::/a/b".
static void find_own_group(char *ret_group, size_t size)
{
    char line[PATH_MAX];
    FILE *from = fopen("/proc/self/cgroup", "r");
    *ret_group = '\0';
    while (from && fgets(line, sizeof line, from))
        if (strncmp(line, "0::/", 4) == 0)
            snprintf(ret_group, size, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    if (from)
        fclose(from);
}

static int quota(void)
{
    char group[PATH_MAX];
    find_own_group(group, sizeof group);
    int cores = cores_of_quota(GROUPS, group);
    return cores ? cores : cores_of_quota(GROUPS "/cpu", "");
}

// Processors that the kernel tells of in a set for so many; 0: it has more.
static int cores_of_set(size_t processors)
{
    cpu_set_t *set = CPU_ALLOC(processors);
    size_t bytes = CPU_ALLOC_SIZE(processors);
    int cores = set && sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    return cores;
}

static int cores_of_affinity(void)
{
    for (size_t processors = CPU_SETSIZE; processors <= MOST_PROCESSORS; processors *= 4) {
        int cores = cores_of_set(processors);
        if (cores)
            return cores;
    }
    return 1;
}

int cores_available(void)
{
    int cores = cores_of_affinity(), limit = quota();
    return limit && limit < cores ? limit : cores;
}

bool cores_are_limited(void)
{
    return cores_available() < cores_of_affinity();
}
