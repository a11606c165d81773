// A step as the library is told of it: its views as tensors, and the attributes of its operator.
#pragma once
#include "backends/cpu/kernel.h"

// f32 as it is; f16 and bf16 copied to f32 first. Other element types: false.
bool cpu_is_computed_in_f32(enum dtype dtype);
struct view cpu_view_in_f32(struct planner *p, tensor_id t, enum layout layout);   // dense in that layout
struct onednn_tensor cpu_tensor_of_view(const struct view *v);
// The same for an image of a step whose images stand in blocks of that size (0: they do not), where they can.
struct onednn_tensor cpu_tensor_of_image(const struct view *v, int block);
int64_t cpu_attribute_int(const struct node *n, enum attribute_role role);
double cpu_attribute_real(const struct node *n, const char *name);
struct onednn_window cpu_window_of(const struct node *n, int spatial, const int64_t *kernel);
