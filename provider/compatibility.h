// Whether a compiled form fits this plugin and machine, which is asked before a session with EPContext nodes opens.
#pragma once
#include "provider/runtime.h"

// "taso 0.1.0, form 2, AMD EPYC avx512": who compiled it, the version of compiled models, and for which processor.
const char *compatibility_text(struct arena *arena);
// Forms of other versions are not read; those for other processors serve, with kernels that were chosen elsewhere.
OrtCompiledModelCompatibility compatibility_of(const char *text);
