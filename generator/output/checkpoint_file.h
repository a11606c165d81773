// A part of the first step's result on disk: what was found in some slices of some family. Checkpoints and shards are
// made of parts. A part carries all that decides the result (the space's text, the options), so that parts of different
// jobs are never mixed, and its own hash, so that a torn file is no part.
#pragma once
#include "generator/enumerate/find_classes.h"

struct checkpoint_header {
    const char *version, *space_name, *space_text, *families, *with;   // "" where not given
    int64_t max_ops, seed, shortcuts;
};
struct part {
    const char *path;   // where it was read; NULL: it was found in this run
    char family[MAX_FAMILY_NAME + 1];
    int first, end;                // slices
    uint64_t terms[MAX_OPS + 1];   // of the whole family, by level; of the last level none
    struct findings findings;
};
bool checkpoint_header_equal(const struct checkpoint_header *a, const struct checkpoint_header *b);
// Writes a file: the header and any number of parts.
bool checkpoint_file_write(const char *path, const struct checkpoint_header *header, const struct part *parts, size_t n,
                           struct error *error);
// Gives the header (strings in `arena`) and appends the parts, which keep the path. What they say was found is not
// looked at (check_findings.h).
typedef VEC(struct part) checkpoint_list;
bool checkpoint_file_read(const char *path, struct arena *arena, struct checkpoint_header *ret_header,
                          checkpoint_list *parts, struct error *error);
void checkpoint_list_free(checkpoint_list *parts);
// Sorts by family and slice.
void checkpoint_list_sort(checkpoint_list *parts);
