// The job, from top to bottom: options; the space; find (from checkpoints, then slices not found yet); reduce each
// family; write.
#include "generator/job.h"

#include "core/system/clock.h"
#include "core/system/file.h"
#include "core/system/interrupt.h"
#include "core/system/progress.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "generator/default_space.h"
#include "generator/enumerate/check_findings.h"
#include "generator/output/report.h"
#include "generator/reduce/join.h"
#include "generator/reduce/shortcuts.h"
#include <dirent.h>
#include <errno.h>
#include <omp.h>
#include <string.h>
#include <sys/stat.h>

void job_init(struct job *job, const struct job_options *options, struct log *log)
{
    memset(job, 0, sizeof *job);
    job->options = *options;
    job->log = log;
    space_init(&job->space, &job->arena);
    candidate_rules_init(&job->candidates, &job->arena);
    if (job->options.threads == 0)
        job->options.threads = omp_get_max_threads();
}

void job_free(struct job *job)
{
    candidate_rules_free(&job->candidates);
    space_free(&job->space);
    arena_free(&job->arena);
}

// --- what to do ------------------------------------------------------------------------------------------------------

static bool stop_if_interrupted(struct error *error)
{
    return !interrupt_requested() || error_set_code(error, EXIT_CHECK_FAILED, NULL, "interrupted");
}

static bool read_space_text(struct job *job, struct error *error)
{
    struct file_map map FREED_BY(file_map_close) = {0};
    job->header.space_name = job->options.space ? job->options.space : "default.space";
    if (!job->options.space) {
        job->header.space_text = default_space;
        return true;
    }
    if (!file_map_open(&map, job->options.space, error))
        return false;
    job->header.space_text = arena_string_n(&job->arena, (const char *)map.bytes, map.size);
    return true;
}

static bool make_space(struct job *job, struct error *error)
{
    const struct checkpoint_header *h = &job->header;
    struct error choice;
    if (!space_parse(&job->space, h->space_name, h->space_text, strlen(h->space_text), error))
        return false;
    if (h->families[0] && !space_keep_families(&job->space, h->families, &choice)) {
        *error = choice;
        return false;
    }
    return !h->with[0] || space_keep_operators(&job->space, h->with, error);
}

static bool read_options(struct job *job, struct error *error)
{
    const struct job_options *o = &job->options;
    job->header.version = TASO_VERSION;
    job->header.families = o->families ? o->families : "";
    job->header.with = o->with ? o->with : "";
    job->header.max_ops = o->max_ops;
    job->header.seed = o->seed;
    job->header.shortcuts = o->shortcuts;
    return read_space_text(job, error) && make_space(job, error);
}

static int max_ops_of(const struct job *job, const struct family *f)
{
    return f->max_ops < job->header.max_ops ? f->max_ops : (int)job->header.max_ops;
}

// A shard takes whole families where there are enough of them, else a range of slices of each.
static bool slices_of_shard(const struct job *job, size_t family, int *ret_first, int *ret_end, struct error *error)
{
    int i = 1, n = 1, length = 0;
    *ret_first = *ret_end = 0;
    const char *shard = job->options.shard;
    if (shard && (sscanf(shard, "%d/%d%n", &i, &n, &length) != 2 || shard[length] || i < 1 || n < 1 || i > n ||
                  n > FINGERPRINT_SLICES))
        return error_set_code(error, EXIT_USAGE, NULL, "--shard takes I/N with I from 1 to N, at most %d",
                              FINGERPRINT_SLICES);
    bool are_whole = (size_t)n <= job->space.families.count;
    *ret_first = are_whole ? 0 : FINGERPRINT_SLICES * (i - 1) / n;
    *ret_end = are_whole ? FINGERPRINT_SLICES : FINGERPRINT_SLICES * i / n;
    if (are_whole && (int)(family % (size_t)n) != i - 1)
        *ret_end = 0;
    return true;
}

// --- checkpoints -----------------------------------------------------------------------------------------------------

static bool make_checkpoint_folder(const struct job *job, struct error *error)
{
    const char *dir = job->options.checkpoint;
    return !dir || mkdir(dir, 0777) == 0 || errno == EEXIST ||
           error_set(error, dir, 0, 0, "cannot make the folder: %s", strerror(errno));
}

// Parts of an earlier run; a part of another job is an error, a torn file cannot be (files appear whole).
static bool read_checkpoint(struct job *job, checkpoint_list *parts, struct error *error)
{
    const char *path = job->options.checkpoint;
    DIR *dir = path ? opendir(path) : NULL;
    bool is_good = true;
    if (!dir)
        return !path || error_set(error, path, 0, 0, "cannot read the folder: %s", strerror(errno));
    for (struct dirent *entry; is_good && (entry = readdir(dir));) {
        struct checkpoint_header header;
        if (!text_ends_with(entry->d_name, ".part"))
            continue;
        const char *file = arena_printf(&job->arena, "%s/%s", path, entry->d_name);
        is_good = checkpoint_file_read(file, &job->arena, &header, parts, error);
        if (is_good && !checkpoint_header_equal(&header, &job->header))
            is_good = error_set(error, file, 0, 0, "a part of a job with other options");
    }
    closedir(dir);
    return is_good;
}

static bool save_part(struct job *job, const struct part *p, struct error *error)
{
    if (!job->options.checkpoint)
        return true;
    const char *path =
        arena_printf(&job->arena, "%s/%s-%04d-%04d.part", job->options.checkpoint, p->family, p->first, p->end);
    return checkpoint_file_write(path, &job->header, p, 1, error);
}

// --- finding ---------------------------------------------------------------------------------------------------------

static bool is_covered(const checkpoint_list *parts, const char *family, int slice)
{
    return ANY(size_t, i, parts->count,
               strcmp(parts->items[i].family, family) == 0 && parts->items[i].first <= slice &&
                   slice < parts->items[i].end);
}

static double mebibytes(double bytes)
{
    return bytes / (1 << 20);
}

// A warning as soon as it is known, as the rest of the job may take long.
static void say_if_memory_is_exceeded(struct job *job, const struct family *f)
{
    double memory = (double)job->options.memory, peak = memory > 0 ? (double)mem_peak_resident() : 0;
    if (peak > memory && !job->is_memory_exceeded)
        log_warning(job->log, "%s: --memory %.1fM is not kept: %.1fM are taken", f->name, mebibytes(memory),
                    mebibytes(peak));
    job->is_memory_exceeded = job->is_memory_exceeded || peak > memory;
}

// How many slices fit into the memory that is left at once, but for a reserve (what every thread remembers, the program
// itself). Every batch visits the whole level again, so there are no more than MAX_BATCHES: where not even that keeps
// the bound, it is said.
enum { MAX_BATCHES = 16 };
static const double RESERVE = 0.3;

static int slices_at_once(const struct job *job, const struct tensor_store *s)
{
    double bytes_of_term = 1.1 * sizeof(struct member), memory = (double)job->options.memory;
    if (job->options.memory == 0)
        return FINGERPRINT_SLICES;
    double bytes = bytes_of_term * (double)(s->tensors.count + classes_count_last_terms(s) + 1);
    double taken = (double)mem_in_use();   // with how to evaluate the last level, which the visit has found out
    double share = ((1 - RESERVE) * memory - taken) / bytes;
    if (share < 1.0 / MAX_BATCHES)
        log_warning(job->log, "%s: --memory %.1fM cannot be kept: this takes %.1fM", s->family->name, mebibytes(memory),
                    mebibytes((taken + bytes / MAX_BATCHES) / (1 - RESERVE)));
    int slices = share >= 1 ? FINGERPRINT_SLICES : (int)(share * FINGERPRINT_SLICES);
    int least = FINGERPRINT_SLICES / MAX_BATCHES;
    return slices < least ? least : slices;
}

struct family_work {
    struct job *job;
    const struct family *family;
    struct family_types family_types;
    struct tensor_store store;
    checkpoint_list *parts;
    uint64_t terms[MAX_OPS + 1];   // stored ones, by level
};

static bool find_range(struct family_work *w, int first, int end, struct error *error)
{
    struct part p = {.first = first, .end = end};
    struct progress progress;
    snprintf(p.family, sizeof p.family, "%s", w->family->name);
    memcpy(p.terms, w->terms, sizeof p.terms);
    progress_start(&progress, w->job->progress_out, w->family->name, w->store.tensors.count);
    bool is_done = findings_collect(&w->store, first, end, &progress, &p.findings);
    progress_end(&progress);
    vec_push(w->parts, p);
    return is_done ? save_part(w->job, &p, error) : stop_if_interrupted(error);
}

static bool find_slices(struct family_work *w, int first, int end, struct error *error)
{
    int step = slices_at_once(w->job, &w->store);
    for (int at = first; at < end;) {
        int stop = at;
        while (stop < end && stop - at < step && !is_covered(w->parts, w->family->name, stop))
            stop++;
        if (stop > at && !find_range(w, at, stop, error))
            return false;
        at = stop > at ? stop : at + 1;
    }
    return true;
}

static bool needs_work(const struct family_work *w, int first, int end)
{
    return ANY(int, i, end - first, !is_covered(w->parts, w->family->name, first + i));
}

static bool make_family_types(struct job *job, const struct family *f, struct family_types *ret_types,
                              struct error *error)
{
    char reason[200];
    uint64_t seed = (uint64_t)job->header.seed;
    job->random = job->random ? job->random : family_types_draw(&job->arena, seed);
    if (family_types_init(ret_types, f, seed, (int)job->options.threads, job->random, reason))
        return true;
    family_types_free(ret_types);
    return error_set(error, job->header.space_name, 0, 0, "family %s: an ill-typed constant: %s", f->name, reason);
}

static bool find_family(struct job *job, size_t i, checkpoint_list *parts, struct error *error)
{
    struct family_work w = {.job = job, .family = job->space.families.items[i], .parts = parts};
    int first, end;
    if (!slices_of_shard(job, i, &first, &end, error))
        return false;
    if (!needs_work(&w, first, end))
        return true;
    if (!make_family_types(job, w.family, &w.family_types, error))
        return false;
    double start = clock_cpu_seconds();
    tensor_store_init(&w.store, &w.family_types, max_ops_of(job, w.family));
    for (size_t tensor = 0; tensor < w.store.tensors.count; tensor++)
        w.terms[w.store.tensors.items[tensor].level]++;
    bool is_done = stop_if_interrupted(error) && find_slices(&w, first, end, error);
    log_info(job->log, "%s: terms sorted into classes, %.1f CPU seconds", w.family->name, clock_cpu_seconds() - start);
    say_if_memory_is_exceeded(job, w.family);
    tensor_store_free(&w.store);
    family_types_free(&w.family_types);
    return is_done;
}

// --- reducing --------------------------------------------------------------------------------------------------------

static bool check_part(const struct job *job, struct family_types *u, const struct part *p, struct error *error)
{
    return !p->path || findings_are_sound(u, max_ops_of(job, u->family), &p->findings) ||
           error_set(error, p->path, 0, 0, "family %s: what it says was found are no terms of this space", p->family);
}

// Takes the findings out of the parts.
static bool gather_family(const struct job *job, struct family_types *u, checkpoint_list *parts,
                          struct findings *ret_findings, struct family_counts *counts, struct error *error)
{
    const struct family *f = u->family;
    int covered = 0;
    vec_each(parts, p) {
        if (strcmp(p->family, f->name) != 0)
            continue;
        if (p->first != covered)
            return error_set(error, NULL, 0, 0, "family %s: slices %d to %d are %s", f->name,
                             p->first < covered ? p->first : covered, p->first < covered ? covered : p->first,
                             p->first < covered ? "there twice" : "missing");
        if (!check_part(job, u, p, error))
            return false;
        covered = p->end;
        memcpy(counts->terms, p->terms, sizeof counts->terms);
        findings_move(ret_findings, &p->findings);
    }
    counts->classes = ret_findings->counts;
    uint64_t stored = SUM_ALL(uint64_t, int, level, max_ops_of(job, f), counts->terms[level]);
    counts->terms[max_ops_of(job, f)] = counts->classes.terms - stored;
    return covered == FINGERPRINT_SLICES ||
           error_set(error, NULL, 0, 0, "family %s: slices %d to %d are missing", f->name, covered, FINGERPRINT_SLICES);
}

// Memory for what every thread has evaluated: as much as is of use, or a sixteenth of what is left to all.
static size_t bytes_of_calls(const struct job *job)
{
    size_t memory = (size_t)job->options.memory, used = mem_in_use(), most = (size_t)1 << 26, least = (size_t)1 << 20;
    size_t share = memory > used ? (memory - used) / 16 / (size_t)job->options.threads : 0;
    if (memory == 0 || share > most)
        return most;
    return share < least ? least : share;
}

static bool reduce_family(struct job *job, const struct family *f, checkpoint_list *parts, struct error *error)
{
    struct family_counts counts = {.family = f->name};
    struct findings findings FREED_BY(findings_free) = {0};
    struct family_types family_types;
    struct reduction r;
    if (!make_family_types(job, f, &family_types, error))
        return false;
    if (!gather_family(job, &family_types, parts, &findings, &counts, error)) {
        family_types_free(&family_types);
        return false;
    }
    int max_ops = max_ops_of(job, f);
    int shortcuts = job->header.shortcuts < max_ops ? (int)job->header.shortcuts : max_ops;
    double start = clock_cpu_seconds();
    class_reduction_init(&r, &family_types, &findings, (uint64_t)job->header.seed + 1, bytes_of_calls(job));
    reduction_find_minimal(&r, max_ops);
    log_info(job->log, "%s: minimal set after %.1f CPU seconds", f->name, clock_cpu_seconds() - start);
    say_if_memory_is_exceeded(job, f);
    join_find_equations(&r, max_ops, &counts.joined, &counts.joined_pruned);
    shortcuts_find(&r, shortcuts);
    log_info(job->log, "%s: all equations after %.1f CPU seconds", f->name, clock_cpu_seconds() - start);
    say_if_memory_is_exceeded(job, f);
    counts.reduced = r.counts;
    candidate_rules_add(&job->candidates, &r, &counts);
    log_info(job->log, "%s: %llu rules, %.1f CPU seconds", f->name, (unsigned long long)counts.rules,
             clock_cpu_seconds() - start);
    class_reduction_free(&r);
    family_types_free(&family_types);
    return stop_if_interrupted(error);
}

// --- writing ---------------------------------------------------------------------------------------------------------

static bool write_rules(const struct job *job, const char *path, bool only_minimal, struct error *error)
{
    TEXT(text);
    if (!path)
        return true;
    report_header(&text, &job->header, &job->candidates, only_minimal);
    candidate_rules_print(&text, &job->candidates, only_minimal);
    return file_write_text(path, text.chars, text.count, error);
}

// A new operator that no rule has is one that its author learns nothing of.
static void say_what_has_no_rule(struct job *job)
{
    TEXT(rules);
    TEXT(call);
    candidate_rules_print(&rules, &job->candidates, false);
    for (size_t i = 0; i < job->space.added.count; i++) {
        const char *name = job->space.added.items[i]->name;
        text_clear(&call);
        text_printf(&call, "(%s ", name);
        if (rules.count == 0 || !strstr(rules.chars, call.chars))
            log_warning(job->log,
                        "%s: no rule was found; name more operators for it to be combined with, or describe it in a "
                        "space file (--space)",
                        name);
    }
}

static bool write_all(struct job *job, struct error *error)
{
    candidate_rules_finish(&job->candidates);
    say_what_has_no_rule(job);
    return write_rules(job, job->options.output, false, error) && write_rules(job, job->options.minimal, true, error);
}

static bool start_finding(struct job *job, checkpoint_list *parts, struct error *error)
{
    return read_options(job, error) && make_checkpoint_folder(job, error) && read_checkpoint(job, parts, error);
}

// Family by family, so that the findings of one at a time are in memory.
static bool find_and_reduce(struct job *job, checkpoint_list *parts, struct error *error)
{
    if (!start_finding(job, parts, error))
        return false;
    for (size_t i = 0; i < job->space.families.count; i++) {
        if (!find_family(job, i, parts, error))
            return false;
        checkpoint_list_sort(parts);
        if (!reduce_family(job, job->space.families.items[i], parts, error))
            return false;
    }
    return write_all(job, error);
}

static bool find_shard(struct job *job, checkpoint_list *parts, struct error *error)
{
    return start_finding(job, parts, error) &&
           ALL(size_t, i, job->space.families.count, find_family(job, i, parts, error)) &&
           checkpoint_file_write(job->options.output, &job->header, parts->items, parts->count, error);
}

// The reduction takes what it takes, which is known when it is done.
static void say_whether_memory_was_kept(const struct job *job)
{
    double memory = (double)job->options.memory, peak = (double)mem_peak_resident();
    if (memory > 0 && peak > memory)
        log_warning(job->log, "--memory %.1fM was not kept: %.1fM were taken", mebibytes(memory), mebibytes(peak));
}

bool job_run(struct job *job, struct error *error)
{
    checkpoint_list parts FREED_BY(checkpoint_list_free) = {0};
    bool is_done = job->options.shard ? find_shard(job, &parts, error) : find_and_reduce(job, &parts, error);
    say_whether_memory_was_kept(job);
    return is_done;
}

static bool reduce_parts(struct job *job, checkpoint_list *parts, struct error *error)
{
    if (!make_space(job, error))
        return false;
    checkpoint_list_sort(parts);
    return ALL(size_t, i, job->space.families.count, reduce_family(job, job->space.families.items[i], parts, error)) &&
           write_all(job, error);
}

bool job_merge(struct job *job, char **paths, int n, struct error *error)
{
    checkpoint_list parts FREED_BY(checkpoint_list_free) = {0};
    bool is_good = true;
    for (int i = 0; i < n && is_good; i++) {
        struct checkpoint_header header;
        is_good = checkpoint_file_read(paths[i], &job->arena, &header, &parts, error);
        if (is_good && strcmp(header.version, TASO_VERSION) != 0)
            is_good = error_set(error, paths[i], 0, 0, "a part of another version: taso-gen %s", header.version);
        if (is_good && i > 0 && !checkpoint_header_equal(&header, &job->header))
            is_good = error_set(error, paths[i], 0, 0, "a part of a job with other options than %s", paths[0]);
        job->header = is_good ? header : job->header;
    }
    is_good = is_good && reduce_parts(job, &parts, error);
    return is_good;
}
