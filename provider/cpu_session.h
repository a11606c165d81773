// A region in a session of its own: as ONNX Runtime's own provider for processors runs it, for runs that no compiled
// form is there for, and to be timed against; and as this provider runs what was compiled, on a session's threads.
#pragma once
#include "provider/model_bytes.h"

struct cpu_session {
    const struct runtime *runtime;
    OrtEnv *env;
    OrtSession *session;
    OrtMemoryInfo *memory;
    const char **input_names, **output_names;
    size_t n_inputs, n_outputs;
    double seconds_to_open;
};
// `compiled` NULL: by ONNX Runtime's own provider; else by this one, of the file that context_node_write_model made of
// it. `threads` 0: as many as ONNX Runtime likes. The model outlives the session. False: error.
bool cpu_session_open(struct cpu_session *ret_session, const struct runtime *r, const struct model_bytes *model,
                      const char *compiled, int threads, struct arena *arena, struct error *error);
void cpu_session_close(struct cpu_session *s);   // also where it did not open
// Outputs are NULL, or tensors of the right sizes; the caller releases them. Several may run at once.
OrtStatus *cpu_session_run(const struct cpu_session *s, const OrtValue *const *inputs, OrtValue **outputs);
