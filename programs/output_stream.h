// `-o -`: a model is written all or nothing, so it goes to a file of its own first, and from there to standard output.
#pragma once
#include "core/system/temporary.h"

struct output_stream {
    struct temporary_folder folder;   // nothing else is in it
    char path[280];                   // what is written goes there
};
// Makes a place to write to: `path`.
bool output_stream_open(struct output_stream *ret_stream, struct error *error);
// Copies what is there to standard output, and removes the folder before: writing ends the process where nobody reads.
// False: that fails, or the model has data beside it (EXIT_UNSUPPORTED).
bool output_stream_send(struct output_stream *s, struct error *error);
void output_stream_close(struct output_stream *s);   // removes the folder and what is in it
