// A region compiled for one list of sizes: as many sessions of its file as run at once, whose weights share the file's
// pages, and what the contest with ONNX Runtime's own provider came to.
#pragma once
#include "core/system/temporary.h"
#include "library/library.h"
#include "provider/cpu_session.h"

enum { MOST_SESSIONS = 4 };

struct variant {
    const struct model_bytes *model;
    const taso_options *options;
    const int64_t *dims;   // of all inputs, one after the other
    double ends;           // on clock_seconds, when the search has to be done
    char path[300];        // of the compiled file
    size_t n_idle, n_open;
    taso_session *idle[MOST_SESSIONS];
    const taso_session *lent;   // by the variant that is on trial: it is not closed here
    double ratio;   // how many times faster it is than `theirs`, or 1 where `measure` is off; 0: it is not to be used
};
// Compiles and judges within these seconds, of which the search has the most. `path` is where the compiled file goes.
// True: a session of it is open. False: it does not pay, or, with an error, it cannot be compiled, gives other results,
// or was not judged in time; the caller closes it.
bool variant_compile(struct variant *v, const struct cpu_session *theirs, uint64_t seed, double seconds,
                     struct error *error);
// Opens a session of the file that is there, or takes the one that is on trial in this thread. False: error.
bool variant_open(struct variant *v, struct error *error);
void variant_close(struct variant *v);
// The caller keeps these two from running at once. NULL: all sessions are busy, and no other can be opened.
taso_session *variant_take(struct variant *v);
void variant_give(struct variant *v, taso_session *session);
