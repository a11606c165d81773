// Processors that control groups leave to a process, of folders made up, and that affinity does.
#define _GNU_SOURCE
#include "core/system/cores.h"

#include "core/system/temporary.h"
#include "tests/support/check.h"
#include <sched.h>
#include <sys/stat.h>

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int quota_of(const char *text)
{
    struct temporary_folder folder FREED_BY(temporary_folder_remove) = {0};
    OK(temporary_folder_make(&folder, &error));
    write_file(folder.path, "cpu.max", text);
    return cores_of_quota(folder.path, "");
}

TEST(reads_quotas)
{
    assert_int_equal(quota_of("max 100000\n"), 0);
    assert_int_equal(quota_of("400000 100000\n"), 4);
    assert_int_equal(quota_of("250000 100000\n"), 2);
    assert_int_equal(quota_of("50000 100000\n"), 1);
    assert_int_equal(quota_of("nonsense"), 0);
    assert_int_equal(quota_of("-1 0\n"), 0);
    assert_int_equal(cores_of_quota("/nowhere", "/a/b"), 0);
}

// The least of a group and those above it; the root of all has no file.
TEST(follows_groups_up)
{
    struct temporary_folder root FREED_BY(temporary_folder_remove) = {0};
    char outer[400], inner[420];
    assert_true(temporary_folder_make(&root, NULL));
    snprintf(outer, sizeof outer, "%s/a", root.path);
    snprintf(inner, sizeof inner, "%s/b", outer);
    assert_int_equal(mkdir(outer, 0700) | mkdir(inner, 0700), 0);
    write_file(outer, "cpu.max", "300000 100000\n");
    write_file(inner, "cpu.max", "max 100000\n");
    assert_int_equal(cores_of_quota(root.path, "/a/b"), 3);
    write_file(inner, "cpu.max", "200000 100000\n");
    assert_int_equal(cores_of_quota(root.path, "/a/b"), 2);
    assert_int_equal(cores_of_quota(root.path, "/a"), 3);
    assert_int_equal(cores_of_quota(root.path, "/"), 0);
    for (const char **f = (const char *[]){inner, outer, NULL}; *f; f++) {
        char path[440];
        snprintf(path, sizeof path, "%s/cpu.max", *f);
        unlink(path);
        rmdir(*f);
    }
}

TEST(reads_the_first_version)
{
    struct temporary_folder root FREED_BY(temporary_folder_remove) = {0};
    assert_true(temporary_folder_make(&root, NULL));
    write_file(root.path, "cpu.cfs_quota_us", "-1\n");
    write_file(root.path, "cpu.cfs_period_us", "100000\n");
    assert_int_equal(cores_of_quota(root.path, ""), 0);
    write_file(root.path, "cpu.cfs_quota_us", "350000\n");
    assert_int_equal(cores_of_quota(root.path, ""), 3);
}

TEST(respects_affinity)
{
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    assert_true(cores_available() >= 1 && cores_available() <= CPU_COUNT(&all));
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(cores_available(), 1);
    sched_setaffinity(0, sizeof all, &all);
}
