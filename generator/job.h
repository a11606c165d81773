// The whole job: options in, files out. Three steps, of which the first can be split over processes and resumed:
//     find     the classes of equal terms of every family, by slices of the fingerprint space (classes.h)
//     reduce   substitutions from the classes (minimal_equations.h, join.h, shortcuts.h)
//     write    rules, sorted
#pragma once
#include "generator/output/candidates.h"
#include "generator/output/checkpoint_file.h"
#include <stdio.h>

struct log;

struct job_options {
    const char *space, *families, *with;   // NULL: the default space, all families, all operators
    int64_t max_ops, seed, threads, memory, shortcuts;
    const char *output, *minimal, *checkpoint, *shard, *counts;
    bool progress, quiet;
};
struct job {
    struct job_options options;
    struct log *log;
    FILE *progress_out;        // NULL: none
    bool is_memory_exceeded;   // said already
    struct arena arena;
    struct checkpoint_header header;
    const uint64_t *random;   // of all families (family_types.h); NULL: not drawn yet
    struct space space;
    struct candidates candidates;
};
void job_init(struct job *job, const struct job_options *options, struct log *log);
void job_free(struct job *job);
bool job_run(struct job *job, struct error *error);
// Joins the files that shards wrote.
bool job_merge(struct job *job, char **paths, int n, struct error *error);
