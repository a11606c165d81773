// A file in a folder of its own: `TEMPORARY_PATH(path);`. Both go with the block, and nothing else may be in there.
#pragma once
#include "tests/support/check.h"

struct temporary_path {
    char folder[32], path[48];
};

static inline const char *temporary_path_make(struct temporary_path *p)
{
    strcpy(p->folder, "/tmp/taso-test-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->path, sizeof p->path, "%s/file", p->folder);
    return p->path;
}

static inline void temporary_path_remove(struct temporary_path *p)
{
    unlink(p->path);
    assert_int_equal(rmdir(p->folder), 0);
}

#define TEMPORARY_PATH(name)                                                                                           \
    struct temporary_path place_of_##name FREED_BY(temporary_path_remove);                                             \
    const char *name = temporary_path_make(&place_of_##name)
