// taso-gen: every substitution between graphs of up to four operators, or five.
#include "core/memory/memory.h"
#include "core/system/file.h"
#include "core/system/files_used.h"
#include "core/system/program.h"
#include "core/system/signals.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/options.h"
#include "core/text/text.h"
#include "generator/job.h"
#include "generator/output/report.h"
#include <stddef.h>
#include <string.h>

static const struct job_options standard_options = {.max_ops = 4, .seed = 1, .shortcuts = 3, .progress = true};
static const struct option_spec specs[] = {
    {"output", OPTION_TEXT, offsetof(struct job_options, output), .letter = 'o', .metavar = "FILE",
     .help = "the rules, or with --shard the part"},
    {"minimal", OPTION_TEXT, offsetof(struct job_options, minimal), .metavar = "FILE", .beside = {"--no-shard"},
     .help = "also write the rules that the others follow from"},
    {"counts", OPTION_TEXT, offsetof(struct job_options, counts), .metavar = "FILE", .beside = {"--no-shard"},
     .help = "also write a table of the counts per family"},
    {"max-ops", OPTION_INTEGER, offsetof(struct job_options, max_ops), .low = 1, .high = MAX_OPS, .metavar = "N",
     .help = "largest number of operators of a graph"},
    {"space", OPTION_TEXT, offsetof(struct job_options, space), .metavar = "FILE",
     .help = "operators and inputs to enumerate (default: built in)"},
    {"families", OPTION_TEXT, offsetof(struct job_options, families), .metavar = "A,B",
     .help = "only these families of the space"},
    {"with", OPTION_TEXT, offsetof(struct job_options, with), .metavar = "OP,OP",
     .help = "only these operators; beside a new one all that only move entries"},
    {"shortcuts", OPTION_INTEGER, offsetof(struct job_options, shortcuts), .low = 0, .high = MAX_OPS, .metavar = "N",
     .help = "derivable rules that make a graph of up to N operators smaller"},
    {"seed", OPTION_INTEGER, offsetof(struct job_options, seed), .low = 0, .high = 1e15, .metavar = "N",
     .help = "of the random tensors"},
    {"threads", OPTION_INTEGER, offsetof(struct job_options, threads), .letter = 'j', .low = 0, .high = 1024,
     .metavar = "N", .help = "0: all that this process may use"},
    {"memory", OPTION_INTEGER, offsetof(struct job_options, memory), .is_size = true, .low = 0, .high = 1e15,
     .metavar = "SIZE", .help = "aim for this much memory; less takes longer (0: as much as it takes)"},
    {"checkpoint", OPTION_TEXT, offsetof(struct job_options, checkpoint), .metavar = "DIR",
     .help = "keep what is finished here, and go on from it"},
    {"shard", OPTION_TEXT, offsetof(struct job_options, shard), .metavar = "I/N",
     .help = "do one of N shares; `taso-gen merge` joins them"},
    {"progress", OPTION_FLAG, offsetof(struct job_options, progress), .help = "show progress"},
    {"quiet", OPTION_FLAG, offsetof(struct job_options, quiet), .letter = 'q', .help = "warnings only"},
    {0}};

static const char epilog[] =
    "taso-gen merge PART... -o FILE  joins the parts that shards wrote to what one run gives.\n"
    "Exit codes: 0 done, 1 interrupted, 2 usage, 3 a file that cannot be read or written, 70 internal error.\n"
    "Examples:\n"
    "  taso-gen --max-ops 4 -o candidates.rules\n"
    "  taso-gen --with gelu,matmul --max-ops 3 -o gelu.rules\n";

static bool write_counts(const struct job *job, struct error *error)
{
    TEXT(text);
    if (!job->options.counts || job->options.shard)
        return true;
    report_counts(&text, &job->candidates);
    return file_write_text(job->options.counts, text.chars, text.count, error);
}

static bool is_empty(const char *list)
{
    return list && !*list;
}

// An option that is given though parts have settled it, as their search is over; NULL: none.
static const char *set_by_parts(const struct job_options *o)
{
    return o->max_ops != standard_options.max_ops       ? "max-ops"
           : o->space                                   ? "space"
           : o->families                                ? "families"
           : o->with                                    ? "with"
           : o->shortcuts != standard_options.shortcuts ? "shortcuts"
           : o->seed != standard_options.seed           ? "seed"
           : o->checkpoint                              ? "checkpoint"
           : o->shard                                   ? "shard"
                                                        : NULL;
}

static bool run(struct job_options *options, bool is_merge, char **paths, int n, struct error *error)
{
    struct log log = {stderr, "taso-gen", options->quiet ? LOG_WARNING : LOG_INFO};
    struct job job;
    if (!options->output)
        return error_set_code(error, EXIT_USAGE, NULL, "give the output with -o FILE");
    if (is_merge ? n == 0 : n > 0)
        return error_set_code(error, EXIT_USAGE, NULL, is_merge ? "merge needs parts" : "unexpected argument %s",
                              paths[0]);
    if (is_merge && set_by_parts(options))
        return error_set_code(error, EXIT_USAGE, NULL, "option --%s has no effect in merge: the parts have it",
                              set_by_parts(options));
    if (is_empty(options->families) || is_empty(options->with))
        return error_set_code(error, EXIT_USAGE, NULL, "%s names nothing",
                              is_empty(options->families) ? "--families" : "--with");
    const struct used_file files[] = {
        {"--space", options->space, FILE_READ},
        {"--output", options->output, FILE_WRITTEN},
        {"--minimal", options->minimal, FILE_WRITTEN},
        {"--counts", options->counts, FILE_WRITTEN},
    };
    if (!files_used_check(files, sizeof files / sizeof *files, error))
        return false;
    job_init(&job, options, &log);
    job.progress_out = options->progress && !options->quiet ? stderr : NULL;
    bool is_done = is_merge ? job_merge(&job, paths, n, error) : job_run(&job, error);
    is_done = is_done && write_counts(&job, error);
    job_free(&job);
    return is_done;
}

static const char examples[] =
    "  taso-gen --max-ops 3 -o candidates.rules                     # all of up to three operators, in minutes\n"
    "  taso-gen --max-ops 4 --checkpoint parts -o candidates.rules  # goes on from there when it is interrupted\n"
    "  taso-gen --with axisscale,matmul,ewmul --max-ops 3 -o new.rules  # what these operators do together\n";

static int run_program(int argc, char **argv)
{
    static const struct program program = {"taso-gen",
                                           "[merge PART...] -o FILE [options]",
                                           "Finds substitutions of tensor graphs: all pairs of graphs of up to N "
                                           "operators that compute the same.",
                                           epilog,
                                           specs,
                                           NULL,
                                           examples};
    struct job_options options = standard_options;
    bool is_merge = argc > 1 && strcmp(argv[1], "merge") == 0;
    char **arguments = argv + 1 + is_merge;
    int code, count = argc - 1 - is_merge;
    struct error error = {0};
    signals_install();
    mem_keep_freed();
    if (!options_begin(&program, &count, arguments, &options, &code))
        return code;
    return run(&options, is_merge, arguments, count, &error) ? EXIT_DONE : error_exit(program.name, &error);
}

int main(int argc, char **argv)
{
    program_begin();
    return program_end("taso-gen", run_program(argc, argv));
}
