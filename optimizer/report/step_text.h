// Steps as people read them: `matmul, ewadd of f32 1 64 128, f32 128 32` in place of a graph on many lines.
#pragma once

struct text;

// A step that is no graph in a runtime is told as it is.
void text_add_step(struct text *out, const char *step);
