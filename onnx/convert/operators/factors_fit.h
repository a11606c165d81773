// Numbers that fold into weights have to be numbers there.
#pragma once
#include "onnx/convert/conversion.h"

// Are the products of weights with factors, each of which is for `run` in a row, numbers of their element type, and
// those of halves as precise as themselves? What is not, or is not seen to be, is left to the runtime.
bool factors_fit_weights(struct conversion *c, tensor_id weights, uint32_t n_factors, const double *factors,
                         uint32_t run);
bool sum_fits(struct conversion *c, tensor_id a, tensor_id b);           // of constants, as far as bounds of them tell
bool numbers_fit(enum dtype dtype, uint32_t n, const double *numbers);   // none becomes infinite
