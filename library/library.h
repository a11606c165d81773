// The interface that the files of the library share.
#pragma once
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "include/taso.h"
#include "optimizer/job/options.h"

struct workers;
struct taso_options {
    struct arena arena;   // of texts
    struct optimize_arguments arguments;
    taso_progress_function *progress;
    void *context;
};

// Fills `ret_error` (which may be NULL) and gives its status.
taso_status library_report_error(const struct error *error, taso_error *ret_error);
// The same as taso_session_run, on the threads of who calls it, where the options say that it is a guest; `workers` may
// be NULL.
taso_status library_session_run(taso_session *session, const struct workers *workers, const void *const *inputs,
                                void *const *outputs, taso_error *ret_error);
// The text of cpu_describe_processor.
void library_describe_processor(char *ret_text, size_t size);
taso_status library_refuse(taso_status status, taso_error *ret_error, const char *message);
