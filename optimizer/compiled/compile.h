// Writing: the graph is folded, printed and read back, so that its tensors are numbered as its reader will number them;
// then planned and prepared as for running, and what that packed is written as it stands in memory.
#pragma once
#include "optimizer/compiled/compiled_model.h"

// Writes the compiled model as a whole or not at all. EXIT_UNSUPPORTED: the backend runs no such graph.
bool compiled_model_write(const struct compile_request *r, const char *path, struct error *error);
