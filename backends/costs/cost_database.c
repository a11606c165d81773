// Entries in the order in which they came, found by device and text. What was measured in this run is its own: that
// wins over what the file says, also when the file is read again before it is written.
#include "backends/costs/cost_database.h"

#include "backends/contract/backend.h"
#include "backends/costs/cost_trial.h"
#include "backends/limits.def"
#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/system/file.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FORMAT_VERSION 4
#define OLDEST_FORMAT 1   // that is read
#define SECONDS_FORMAT "%.4e"
#define SPREAD_FORMAT "%.3f"
#define IN_MODEL "in-model"
#define DOUBTFUL "doubtful"
#define OF_VERDICTS "contest "   // what their texts begin with (verdicts.h)
#define ERROR_FORMAT "%.1e"

struct cost_entry {
    const char *device, *text, *choice;
    double seconds, spread, error;
    uint32_t run, replaced_run;   // that measured it; and whose cost it has replaced that it contradicts, 0: none's
    bool is_doubtful, is_cut, is_in_model;
    bool is_own;      // measured in this run, or confirmed: what the file says is no news
    bool is_old;      // neither measured in this run nor confirmed
    bool is_judged;   // divided in the file, as if this run had measured it
    bool is_adopted, is_forgotten;
};
struct cost_database {
    struct arena arena;
    const char *path, *device;
    VEC(struct cost_entry) entries;
    struct table table;   // by device and text
    uint32_t run;         // this one
    cost_trials trials;   // of the others
    size_t n_added, n_dropped;
    struct error first_dropped;
};

// --- entries ---------------------------------------------------------------------------------------------------------

struct wanted {
    const char *device, *text;
};

static uint64_t entry_hash(const char *device, const char *text)
{
    return hash_mix(hash_string(device), hash_string(text));
}

static bool is_entry(const void *owner, uint32_t id, const void *key)
{
    const struct cost_database *costs = owner;
    const struct wanted *w = key;
    const struct cost_entry *e = &costs->entries.items[id];
    return strcmp(e->text, w->text) == 0 && strcmp(e->device, w->device) == 0;
}

static uint32_t find_entry(const struct cost_database *costs, const char *device, const char *text)
{
    struct wanted wanted = {device, text};
    return table_find(&costs->table, entry_hash(device, text), is_entry, costs, &wanted);
}

// So that a cost just measured is the same as when it is read again, and searches that use it are, too.
static double as_written(double value, const char *format)
{
    char written[32];
    snprintf(written, sizeof written, format, value);
    return strtod(written, NULL);
}

static struct cost_entry *find_or_add_entry(struct cost_database *costs, const char *device, const char *text)
{
    uint32_t id = find_entry(costs, device, text);
    if (id == TABLE_NONE) {
        id = (uint32_t)costs->entries.count;
        struct cost_entry fresh = {.device = arena_string(&costs->arena, device),
                                   .text = arena_string(&costs->arena, text)};
        vec_push(&costs->entries, fresh);
        table_insert(&costs->table, entry_hash(device, text), id);
    }
    return &costs->entries.items[id];
}

static bool is_plausible(double seconds)
{
    return seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS;
}

// The factor of its run. Steps that failed have no speed, and a verdict is of the day on which it fell.
static double factor_of(const struct cost_database *costs, const struct cost_entry *e)
{
    bool has_speed = e->seconds < MOST_SECONDS && strncmp(e->text, OF_VERDICTS, strlen(OF_VERDICTS)) != 0 &&
                     strcmp(e->device, costs->device) == 0;
    return has_speed ? cost_trials_factor(&costs->trials, e->run) : 1;
}

static double seconds_of(const struct cost_database *costs, const struct cost_entry *e)
{
    double factor = factor_of(costs, e);
    return factor == 1 ? e->seconds : as_written(fmax(e->seconds / factor, LEAST_SECONDS), SECONDS_FORMAT);
}

// Other programs only make things longer: a doubtful cost that is shorter than another one is nearer to the truth.
static bool is_shorter(const struct cost_database *costs, const struct cost_entry *e, const struct step_cost *other)
{
    return is_plausible(e->seconds) && seconds_of(costs, e) <= other->seconds;
}

// A file's present entry takes the place of one that was only read, and of a doubtful one, unless that is better. What
// this run has written, as it judges other runs' costs, is no news to it.
static void put_entry(struct cost_database *costs, const char *device, const char *text, const struct step_cost *cost,
                      bool is_own)
{
    struct cost_entry *e = find_or_add_entry(costs, device, text);
    bool is_known = (e->is_own && (!e->is_doubtful || cost->is_doubtful || is_shorter(costs, e, cost))) ||
                    (e->is_judged && cost->run == costs->run);
    if (!is_own && (is_known || (e->is_forgotten && cost->run == costs->run)))
        return;
    e->seconds = as_written(cost->seconds, SECONDS_FORMAT);
    e->spread = as_written(cost->spread, SPREAD_FORMAT);
    e->error = as_written(cost->error, ERROR_FORMAT);
    e->is_doubtful = cost->is_doubtful;
    e->is_cut = cost->is_cut;
    e->is_in_model = cost->is_in_model;
    e->run = is_own ? costs->run : cost->run;
    e->replaced_run = 0;
    e->is_own = is_own;
    e->is_old = !is_own;
    e->is_judged = e->is_forgotten = false;
    e->is_adopted = cost->is_adopted;
    e->choice = arena_string(&costs->arena, cost->choice);
}

static bool is_refuted(const struct cost_database *costs, const struct cost_entry *e)
{
    return !e->is_own && cost_trials_verdict(&costs->trials, e->run) == COSTS_REFUTED;
}

bool cost_database_find(const struct cost_database *costs, const char *text, struct step_cost *ret_cost)
{
    uint32_t id = find_entry(costs, costs->device, text);
    if (id == TABLE_NONE || costs->entries.items[id].is_forgotten || is_refuted(costs, &costs->entries.items[id]))
        return false;
    const struct cost_entry *e = &costs->entries.items[id];
    *ret_cost = (struct step_cost){.seconds = seconds_of(costs, e),
                                   .spread = e->spread,
                                   .error = e->error,
                                   .is_doubtful = e->is_doubtful,
                                   .is_cut = e->is_cut,
                                   .is_in_model = e->is_in_model,
                                   .is_old = e->is_old,
                                   .is_adopted = e->is_adopted,
                                   .run = e->run};
    snprintf(ret_cost->choice, sizeof ret_cost->choice, "%s", e->choice);
    return true;
}

void cost_database_replace(struct cost_database *costs, const char *text, const struct step_cost *cost)
{
    struct step_cost added = *cost;
    added.is_doubtful = cost->is_doubtful || !is_plausible(cost->seconds);
    put_entry(costs, costs->device, text, &added, true);
    costs->n_added += is_plausible(added.seconds);
}

void cost_database_forget(struct cost_database *costs, const char *text)
{
    uint32_t id = find_entry(costs, costs->device, text);
    if (id == TABLE_NONE)
        return;
    struct cost_entry *e = &costs->entries.items[id];
    *e = (struct cost_entry){.device = e->device, .text = e->text, .choice = "", .is_forgotten = true};
    costs->n_added++;   // the file is not to have it
}

// The cost is what it is read as: what is thought of its run later makes it doubtful at most.
static void confirm(struct cost_database *costs, struct cost_entry *e)
{
    if (factor_of(costs, e) != 1) {
        e->seconds = seconds_of(costs, e);
        e->replaced_run = e->run;
        e->run = costs->run;
        costs->n_added++;
    }
    e->is_own = true;
    e->is_old = false;
}

// Time that other programs take differs from run to run: where two come to the same, it was next to nothing.
static bool makes_sound(const struct cost_database *costs, const struct cost_entry *e, const struct step_cost *cost)
{
    return e->is_old && e->is_doubtful && e->run != costs->run && e->is_in_model == cost->is_in_model &&
           is_plausible(cost->seconds) && !cost->is_cut && !cost->is_hurried && !is_refuted(costs, e) &&
           fabs(seconds_of(costs, e) - cost->seconds) <= LEAST_DIFFERENCE * seconds_of(costs, e);
}

void cost_database_add(struct cost_database *costs, const char *text, const struct step_cost *cost)
{
    uint32_t id = find_entry(costs, costs->device, text);
    struct cost_entry *e = id == TABLE_NONE ? NULL : &costs->entries.items[id];
    bool is_doubtful = cost->is_doubtful || !is_plausible(cost->seconds);
    bool is_made_sound = e && makes_sound(costs, e, cost);
    if (e && is_doubtful && !is_refuted(costs, e) && is_shorter(costs, e, cost)) {
        confirm(costs, e);
        e->is_cut = cost->is_cut;
    } else
        cost_database_replace(costs, text, cost);
    if (is_made_sound) {
        e->is_doubtful = false;
        costs->n_added++;
    }
}

bool cost_database_is_on_trial(const struct cost_database *costs, const char *text, const struct step_cost *found)
{
    return found->is_old &&
           (found->is_doubtful || (found->run != costs->run && cost_trials_ask_for(&costs->trials, text, found)));
}

static size_t count_of_run(const struct cost_database *costs, uint32_t run)
{
    size_t n = 0;
    vec_each(&costs->entries, e)
        n += !e->is_own && e->run == run && strcmp(e->device, costs->device) == 0;
    return n;
}

// Costs that replaced those of a run that is believed after all were measured while the machine misled.
static void doubt_replacements(struct cost_database *costs, uint32_t run)
{
    vec_each(&costs->entries, e)
        e->is_doubtful = e->is_doubtful || (e->replaced_run && e->replaced_run == run);
}

static void note(struct cost_database *costs, uint32_t run, double kept, const struct step_cost *now,
                 const struct log *log)
{
    enum cost_verdict before = cost_trials_verdict(&costs->trials, run);
    const struct cost_trial *trial = cost_trials_note(&costs->trials, run, kept, now);
    if (trial->verdict == before)
        return;
    cost_trial_tell(trial, count_of_run(costs, run), log);
    costs->n_added++;   // the file has to say so
    if (trial->verdict == COSTS_STAND)
        doubt_replacements(costs, run);
}

void cost_database_try(struct cost_database *costs, const char *text, const struct step_cost *now,
                       const struct log *log)
{
    uint32_t id = find_entry(costs, costs->device, text);
    struct cost_entry *e = id == TABLE_NONE ? NULL : &costs->entries.items[id];
    uint32_t run = e && e->is_old && !e->is_doubtful ? e->run : costs->run;
    if (run == costs->run) {
        cost_database_add(costs, text, now);
        return;
    }
    bool agrees_as_kept = cost_trials_agree(e->seconds, now);
    note(costs, run, e->seconds, now, log);
    if (!is_refuted(costs, e) && cost_trials_agree(seconds_of(costs, e), now)) {
        confirm(costs, e);
        return;
    }
    cost_database_add(costs, text, now);
    e->replaced_run = agrees_as_kept ? 0 : run;
}

const char *cost_database_device(const struct cost_database *costs, size_t entry)
{
    return costs->entries.items[entry].device;
}

const char *cost_database_text(const struct cost_database *costs, size_t entry)
{
    return costs->entries.items[entry].text;
}

size_t cost_database_count(const struct cost_database *costs)
{
    return costs->entries.count;
}

// --- reading ---------------------------------------------------------------------------------------------------------

static bool read_header(const struct sexp *s, const char *path, const char **ret_device, struct error *error)
{
    if (s->count != 3 || s->items[1].kind != SEXP_INTEGER || s->items[2].kind != SEXP_STRING)
        return sexp_error(error, path, s, "expected (costs %d \"device\")", FORMAT_VERSION);
    if (s->items[1].integer < OLDEST_FORMAT || s->items[1].integer > FORMAT_VERSION)
        return sexp_error(error, path, s, "costs of format %lld, not %d to %d", (long long)s->items[1].integer,
                          OLDEST_FORMAT, FORMAT_VERSION);
    *ret_device = s->items[2].text;
    return true;
}

static bool is_number(const struct sexp *s)
{
    return s->kind == SEXP_REAL || s->kind == SEXP_INTEGER;
}

static bool read_error(const struct sexp *s, struct step_cost *cost)
{
    if (!sexp_is_call(s, "error") || s->count != 2 || !is_number(&s->items[1]) || !(s->items[1].real > 0) ||
        s->items[1].real > 1)
        return false;
    cost->error = s->items[1].real;
    return true;
}

static bool read_run(const struct sexp *s, struct step_cost *cost)
{
    if (!sexp_is_call(s, "run") || s->count != 2 || s->items[1].kind != SEXP_INTEGER || s->items[1].integer < 0 ||
        s->items[1].integer > UINT32_MAX)
        return false;
    cost->run = (uint32_t)s->items[1].integer;
    return true;
}

// The marks that may follow text, seconds and spread: the choice, then marks.
static bool read_marks(const struct sexp *s, struct step_cost *cost)
{
    for (size_t i = 3; i < s->count; i++) {
        if (i == 3 && s->items[i].kind == SEXP_STRING)
            snprintf(cost->choice, sizeof cost->choice, "%s", s->items[i].text);
        else if (sexp_is_symbol(&s->items[i], IN_MODEL))
            cost->is_in_model = true;
        else if (sexp_is_symbol(&s->items[i], DOUBTFUL))
            cost->is_doubtful = true;
        else if (!read_error(&s->items[i], cost) && !read_run(&s->items[i], cost))
            return false;
    }
    return true;
}

// A cost that nobody can have measured is as if it was not there. Of other devices nobody asks.
static void note_dropped(struct cost_database *costs, const struct sexp *s, const char *path, const char *device)
{
    if (strcmp(device, costs->device) == 0 && costs->n_dropped++ == 0)
        sexp_error(&costs->first_dropped, path, s, "%g seconds are no time of a step", s->items[1].real);
}

static bool read_entry(struct cost_database *costs, const struct sexp *s, const char *path, const char *device,
                       struct error *error)
{
    struct step_cost cost = {0};
    bool is_sound = s->kind == SEXP_LIST && s->count >= 3 && s->items[0].kind == SEXP_STRING &&
                    is_number(&s->items[1]) && is_number(&s->items[2]) && s->items[2].real >= 0 &&
                    s->items[2].real < 1e9 && read_marks(s, &cost);
    if (!is_sound || !device)
        return sexp_error(error, path, s, "expected (\"step\" seconds spread) after a header");
    if (!is_plausible(s->items[1].real)) {
        note_dropped(costs, s, path, device);
        return true;
    }
    cost.seconds = s->items[1].real;
    cost.spread = s->items[2].real;
    put_entry(costs, device, s->items[0].text, &cost, false);
    return true;
}

static bool read_file(struct cost_database *costs, const char *path, struct error *error)
{
    ARENA(scratch);
    const struct sexp *list;
    const char *device = NULL;
    bool is_read = sexp_parse_file(&scratch, path, &list, error);
    for (size_t i = 0; is_read && i < list->count; i++) {
        if (sexp_is_call(&list->items[i], "costs"))
            is_read = read_header(&list->items[i], path, &device, error);
        else
            is_read = read_entry(costs, &list->items[i], path, device, error);
    }
    return is_read;
}

void cost_database_warn(const struct cost_database *costs, const struct log *log)
{
    const struct error *first = &costs->first_dropped;
    if (costs->n_dropped)
        log_warning(log, "%s:%u: %s; %zu %s dropped, to be measured again", first->file, first->line, first->message,
                    costs->n_dropped, costs->n_dropped == 1 ? "entry is" : "entries are");
}

bool cost_database_open(struct cost_database **ret_costs, const char *path, const char *device, struct error *error)
{
    struct cost_database *costs = mem_alloc_zero(sizeof *costs);
    costs->path = path ? arena_string(&costs->arena, path) : NULL;
    costs->device = arena_string(&costs->arena, device);
    costs->run = (uint32_t)time(NULL);
    if (path && access(path, F_OK) == 0 && !read_file(costs, path, error)) {
        cost_database_free(costs);
        return false;
    }
    *ret_costs = costs;
    return true;
}

bool cost_database_open_for(struct cost_database **ret_costs, const char *file, const char *name, const char *device,
                            const struct log *log, struct error *error)
{
    char folder[4096], path[4096 + 64];
    if (!file && file_cache_folder(folder, sizeof folder)) {
        snprintf(path, sizeof path, "%s/%s.costs", folder, name);
        file = path;
    }
    if (!cost_database_open(ret_costs, file && *file ? file : NULL, device, error))
        return false;
    cost_database_warn(*ret_costs, log);
    return true;
}

// --- writing ---------------------------------------------------------------------------------------------------------

COMPARISON(compare_entries, struct cost_entry, strcmp(x->device, y->device) ?: strcmp(x->text, y->text))

// A run is judged by one device's costs: what it left of others stays.
static bool is_refuted_here(const struct cost_database *costs, const struct cost_entry *e)
{
    return is_refuted(costs, e) && strcmp(e->device, costs->device) == 0;
}

static struct cost_entry *sort_entries_to_keep(struct cost_database *costs, size_t *ret_count, struct arena *arena)
{
    struct cost_entry *sorted = arena_array(arena, struct cost_entry, costs->entries.count + 1);
    size_t count = 0;
    vec_each(&costs->entries, e) {
        if (!is_plausible(e->seconds) || is_refuted_here(costs, e))
            continue;
        bool is_divided = factor_of(costs, e) != 1;
        e->is_judged = e->is_judged || is_divided;
        sorted[count] = *e;
        sorted[count].seconds = seconds_of(costs, e);
        sorted[count++].run = is_divided ? costs->run : e->run;
    }
    qsort(sorted, count, sizeof *sorted, compare_entries);
    *ret_count = count;
    return sorted;
}

static void print_entries(struct text *out, struct cost_database *costs)
{
    ARENA(scratch);
    const char *device = "";
    size_t count;
    struct cost_entry *sorted = sort_entries_to_keep(costs, &count, &scratch);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(device, sorted[i].device) != 0) {
            device = sorted[i].device;
            text_printf(out, "(costs %d ", FORMAT_VERSION);
            text_add_quoted(out, device);
            text_add(out, ")\n");
        }
        text_add(out, "(");
        text_add_quoted(out, sorted[i].text);
        text_printf(out, " " SECONDS_FORMAT " " SPREAD_FORMAT, sorted[i].seconds, sorted[i].spread);
        if (*sorted[i].choice) {
            text_add(out, " ");
            text_add_quoted(out, sorted[i].choice);
        }
        if (sorted[i].error > 0)
            text_printf(out, " (error " ERROR_FORMAT ")", sorted[i].error);
        if (sorted[i].run)
            text_printf(out, " (run %" PRIu32 ")", sorted[i].run);
        text_add(out, sorted[i].is_in_model ? " " IN_MODEL : "");
        text_add(out, sorted[i].is_doubtful ? " " DOUBTFUL ")\n" : ")\n");
    }
}

static bool merge_and_replace(struct cost_database *costs, struct error *error)
{
    TEXT(text);
    if (access(costs->path, F_OK) == 0 && !read_file(costs, costs->path, error))
        return false;
    print_entries(&text, costs);
    return file_write_text(costs->path, text.chars, text.count, error);
}

// Between the reading and the replacing nobody else may write.
bool cost_database_write(struct cost_database *costs, struct error *error)
{
    struct file_lock lock;
    if (!costs->path || costs->n_added == 0)
        return true;
    file_lock_take(&lock, costs->path);
    bool is_written = merge_and_replace(costs, error);
    file_lock_release(&lock);
    if (is_written)
        costs->n_added = 0;
    return is_written;
}

bool cost_database_write_last(struct cost_database *costs, struct error *error)
{
    bool is_written = cost_database_write(costs, error);
    costs->path = NULL;
    return is_written;
}

void cost_database_free(struct cost_database *costs)
{
    vec_free(&costs->entries);
    cost_trials_free(&costs->trials);
    table_free(&costs->table);
    arena_free(&costs->arena);
    mem_free(costs, sizeof *costs);
}
