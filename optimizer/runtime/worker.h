// The worker (python/taso/worker.py) that runs models in ONNX Runtime: one request after the other.
// All errors are EXIT_UNSUPPORTED: somebody else's runtime failed, and the caller goes on without it.
#pragma once
#include "core/memory/vec.h"
#include "core/system/process.h"
#include "core/text/text.h"
#include "expressions/value.h"

struct worker {
    struct process process;
    struct text answer;
    char name[200];   // the Python's; after worker_greet "onnxruntime 1.31.1 CPUExecutionProvider"
    bool was_late;    // it did not greet in time
    bool is_gone;     // it ended, or did not answer in time: nothing can be asked any more
};
typedef VEC(double) worker_numbers;
// A kernel of a session, by the name that the runtime gives it. Names are the answer's.
struct worker_kernel {
    const char *name;
    double seconds;
};
typedef VEC(struct worker_kernel) worker_kernels;

// `python` (NULL: TASO_PYTHON of the environment, or python3) begins to run; `provider` NULL: its processor. `threads`
// 0: as many as the runtime takes.
bool worker_start(struct worker *ret_worker, const char *python, const char *provider, int threads,
                  struct error *error);
// Waits until it is there. False: it has no ONNX Runtime, or that has no such provider.
bool worker_greet(struct worker *w, struct error *error);
void worker_end(struct worker *w);

// Models have names of the caller's choice, without spaces; a name that is in use is loaded anew.
bool worker_load_file(struct worker *w, const char *id, const char *path, struct error *error);
bool worker_load_bytes(struct worker *w, const char *id, const void *bytes, size_t size, struct error *error);
bool worker_drop(struct worker *w, const char *id, struct error *error);
// An input called `name`, in set number `set`. Inputs that are not given are made up.
bool worker_set_input(struct worker *w, int set, const char *name, const struct tensor_value *value,
                      struct error *error);
// Four numbers for each output: max|a - b|, max|a|, and twice 1 or 0: does it say anything, and is a finite, in some
// set? The worst of all sets.
bool worker_compare(struct worker *w, const char *a, const char *b, int n_sets, worker_numbers *ret_numbers,
                    struct error *error);
// Sets of inputs: from now on worker_run runs a model on so many sets, one after the other, and takes all of them for
// one run. The standard is one.
bool worker_time_sets(struct worker *w, int n_sets, struct error *error);
// Threads of models that are loaded from now on.
bool worker_use_threads(struct worker *w, int threads, struct error *error);
bool worker_run(struct worker *w, const char *id, double *ret_seconds, struct error *error);
// Seconds of at least that many runs of a model alone, for about that long, on inputs made up and bound where the
// provider computes: nothing but its own work. `is_cold`: the caches are emptied before each run, as the rest of a
// large model does.
bool worker_time_bound(struct worker *w, const char *id, bool is_cold, double seconds, int least_runs,
                       worker_numbers *ret_seconds, struct error *error);
// Loads the first file for this alone and runs it on a set for about that long: what its kernels take, in the order in
// which they ran, and what a run takes without a profile. The second file, if not NULL, is run by turns with it: what a
// run of that takes; else 0. Names last until it is asked again.
bool worker_profile(struct worker *w, const char *const paths[2], int set, double seconds, int least_runs,
                    worker_kernels *ret_kernels, double ret_wholes[2], struct error *error);
