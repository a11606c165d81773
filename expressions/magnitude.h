// How large what a definition computes can be at most.
#pragma once

struct definition;

// No entry of the output has a larger absolute value, if none of each input has a larger one than is given for it.
// NaN: none is known, as that of an input is NaN, or something is divided.
double definition_magnitude(const struct definition *d, int output, const double *magnitudes_of_inputs);
