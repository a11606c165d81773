// Tensor elements in memory and as numbers: between arrays of an element type and arrays of doubles or 64-bit integers,
// which is what the evaluators work on.
//
// To a narrower floating-point type values are rounded to nearest, ties to even; to an integer type from doubles they
// are cut off and saturated, from integers they wrap; to bool everything but 0 is true. Arrays need no alignment.
#pragma once
#include "expressions/type.h"

// Element types with numbers: all but strings, complex and unknown ones.
bool dtype_has_numbers(enum dtype dtype);
void elements_to_reals(enum dtype dtype, const void *elements, size_t n, double *ret_reals);
void elements_from_reals(enum dtype dtype, const double *reals, size_t n, void *ret_elements);
// False: an integer among them has more digits than a double.
bool elements_fit_reals(enum dtype dtype, const void *elements, size_t n);
bool elements_are_finite(enum dtype dtype, const void *elements, size_t n);   // all but infinities and NaN
// The largest magnitude of those that are finite, 0 where there are none; and whether all are.
double elements_largest(enum dtype dtype, const void *elements, size_t n, bool *ret_are_finite);
void elements_to_integers(enum dtype dtype, const void *elements, size_t n, int64_t *ret_integers);
void elements_from_integers(enum dtype dtype, const int64_t *integers, size_t n, void *ret_elements);

float half_to_float(uint16_t bits);
uint16_t half_from_float(float value);
float bfloat_to_float(uint16_t bits);
uint16_t bfloat_from_float(float value);
