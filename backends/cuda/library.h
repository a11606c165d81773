// Convolutions and matrix products: what is claimed for the libraries, and how a step is put to them.
#pragma once
#include "backends/cuda/internal.h"

bool cuda_is_library_step(const struct step *step);
// False: the library does not take such a step, a generated kernel has to.
bool library_step_read(const struct plan *plan, const struct step *step, bool allows_tf32,
                       struct library_step *ret_step);
struct library_step library_step_bare(const struct library_step *s);   // without an epilogue
bool cuda_conv_writes_part(const struct planner *p, node_id node, const struct view *part);
bool cuda_product_writes_part(const struct planner *p, node_id node, const struct view *part);
