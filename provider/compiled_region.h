// A region of a session's graph, compiled for the sizes that it is run with: an optimized model in this program's own
// executor, or, where that is not faster, the session of ONNX Runtime's own provider that it was timed against. Regions
// of known sizes are compiled and judged when a session opens, others beside the first runs, which the other session
// serves.
#pragma once
#include "library/library.h"
#include "provider/model_bytes.h"

struct compiled_region;

// Takes the model over, also where it fails. The options and the runtime are shared by all regions of a session and
// outlive them. NULL: error.
struct compiled_region *compiled_region_open(const struct runtime *r, struct model_bytes *model,
                                             const taso_options *options, struct error *error);
// A region from what an EPContext node has, unpacked into the region's file (compiled_region_file) by the caller. NULL:
// error.
struct compiled_region *compiled_region_begin_restoring(const struct runtime *r, const taso_options *options,
                                                        struct error *error);
bool compiled_region_restore(struct compiled_region *c, struct error *error);
const char *compiled_region_file(const struct compiled_region *c);   // of the first sizes: an own file of each region
void compiled_region_close(struct compiled_region *c);   // waits for what is being compiled; NULL is allowed
const struct model_bytes *compiled_region_model(const struct compiled_region *c);
// Are all sizes known?
bool compiled_region_is_fixed(const struct compiled_region *c);
double compiled_region_seconds(const taso_options *options);   // the option `time`; many, where it sets no limit
// Compiles and times it within these seconds, at sizes that are likely where they are not known. How many times faster
// it is; 0: it does not pay to take it, and `error` is set where it could not be compiled, or not timed.
double compiled_region_judge(struct compiled_region *c, double seconds, struct error *error);
// Places of the kernel's inputs and outputs among the region's; of an input that the region does not have, SIZE_MAX.
void compiled_region_bind(struct compiled_region *c, const size_t *inputs, size_t n_inputs, const size_t *outputs,
                          size_t n_outputs);
// Several may run at once.
OrtStatus *compiled_region_run(struct compiled_region *c, OrtKernelContext *context);
