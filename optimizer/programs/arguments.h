// The options of taso-opt, for everybody who takes them: the program's command line, and the library's options by name.
#pragma once
#include "optimizer/optimize.h"

struct optimize_arguments {
    struct optimize_options optimize;
    const char *json, *html;
    bool is_quiet, is_verbose, is_explained, is_validated, is_checked, is_timed, is_simplified, is_calibrated,
        is_strict;
};
extern const struct option_spec optimize_option_specs[];   // ends with {0}; offsets are into struct optimize_arguments

struct optimize_arguments optimize_standard_arguments(void);   // of all but the rules
// Takes what the flags say over into the job's options.
void optimize_arguments_finish(struct optimize_arguments *a);
