// A failing instance made smaller: ranks, sizes and attributes go down as long as the sides differ.
#pragma once
#include "instances/enumerate.h"
#include "verifier/testing/comparison.h"

// The sides of `in`, which was searched by `wanted`, differ as *difference says. Both become those of an instance of
// the same element types with fewer axes, smaller sizes and attributes, at small integers where these tell them apart,
// or stay as they are. The work is bounded by counts, and what is found depends on the instance alone.
void instance_shrink(struct instance *in, struct difference *difference, enum wanted_sides wanted);
