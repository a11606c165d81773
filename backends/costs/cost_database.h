// The costs of steps on one device, by their text: a file that people can read, commit and merge.
//     (costs 4 "AMD EPYC ... 2 threads, oneDNN 2.6.3")
//     ("conv conv :stride 2 2 ..." 0.000123 0.01 (run 1795942800))   text, seconds, spread, who measured; sorted
//     ("product matmul ..." 0.000045 0.01 "engine")       and how the device ran it, where it had several ways
//     ("conv conv ... inexact" 0.00005 0.01 "winograd" (error 1.3e-06))   and its error, of one that is inexact
//     ("linear matmul ..." 0.00031 0.02 in-model)          what it took inside of a running model, not alone
//     ("loops {...} ..." 0.00002 0.4 doubtful)             other programs came between: to be measured again first
// A run is a program that measured, by the second in which it opened the database: what else the machine did then is in
// all that it left (cost_trial.h).
// Files of formats 1, which has no marks, 2, which has no errors, and 3, which knows no runs, are read.
// Lines of other devices in the same file are kept, each after its header. Seconds lie between a nanosecond and a day
// (1e-9 to 1e5): entries that say otherwise are dropped, and what was measured so is doubtful and not
// written.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct cost_database;
struct error;
struct log;
struct step_cost;

// Reads `path` when it exists (NULL: nothing is read or written). False: the file is malformed.
bool cost_database_open(struct cost_database **ret_costs, const char *path, const char *device, struct error *error);
// The cache folder's `name`.costs where `file` is NULL, none where it is empty; what was dropped is said.
bool cost_database_open_for(struct cost_database **ret_costs, const char *file, const char *name, const char *device,
                            const struct log *log, struct error *error);
void cost_database_warn(const struct cost_database *costs, const struct log *log);   // in one line, of what was dropped
bool cost_database_find(const struct cost_database *costs, const char *text, struct step_cost *ret_cost);
// Other programs only make things longer: so a doubtful cost serves until it is known better, and replaces longer ones
// only. It is known as soon as another run comes to the same.
void cost_database_add(struct cost_database *costs, const char *text, const struct step_cost *cost);
// The same, whatever is there.
void cost_database_replace(struct cost_database *costs, const char *text, const struct step_cost *cost);
// Forgets what this run knows of a step, now and in the file; what other runs write there comes in.
void cost_database_forget(struct cost_database *costs, const char *text);
// Whether a cost that was found is to be measured again before it is believed: it is doubtful, or its run is on trial.
bool cost_database_is_on_trial(const struct cost_database *costs, const char *text, const struct step_cost *found);
// A cost on trial was measured again: it stays if both agree. Where its run turns out to be wrong, all that the run
// left is as if it was not there, now and in the file; where the machine had another speed then, all of it is divided
// by that, now and in the file, and belongs to this run. One line says so.
void cost_database_try(struct cost_database *costs, const char *text, const struct step_cost *now,
                       const struct log *log);
const char *cost_database_device(const struct cost_database *costs, size_t entry);   // that an entry is of
const char *cost_database_text(const struct cost_database *costs, size_t entry);     // as long as none is added
size_t cost_database_count(const struct cost_database *costs);
// Merges with what the file has by now (other runs may have written) and replaces it, when there is something new; of
// runs that write at the same time each waits for the other. False: it cannot be written, or is malformed by now and
// left; what is new is then written the next time.
bool cost_database_write(struct cost_database *costs, struct error *error);
bool cost_database_write_last(struct cost_database *costs, struct error *error);   // and no more after that
void cost_database_free(struct cost_database *costs);
