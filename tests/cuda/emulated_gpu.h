// A GPU that is this processor: the plugin's table (backends/cuda/gpu.h) with kernels compiled as C by $TASO_CC and run
// thread by thread, libraries written as plain loops, captures recorded and played back. Memory is poisoned when it is
// allocated and exactly as large as asked, so that sanitizers see a kernel that reads or writes outside of it. Its
// clock goes on by a fixed time for each piece of work, so that costs are the same however busy this machine is.
//
// It takes a library's work $TASO_EMULATED_COLD seconds more (none where that is not set) when its weights are not in
// the cache, which keeps what was touched last. A product of two matrices in rows, or a convolution of images in rows,
// takes it $TASO_EMULATED_ROWS seconds, where that is set.
//
// Convolutions with more groups than one have no engine here, so that kernels from definitions take their place, and
// products no gelu, so that it is done behind them.
#pragma once
#include "backends/cuda/gpu.h"

extern const struct gpu_api emulated_gpu;
// The prelude alone, for tests of kernel text.
extern const char emulated_prelude[];
