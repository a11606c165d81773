// Strongly connected components of the classes of a problem: a cycle lies within one component.
#pragma once
#include <stdint.h>

struct extraction_problem;

// ret_component: n_classes items, numbered so that what a class reads has its number or a lower one. Gives the number
// of components.
uint32_t components_find(const struct extraction_problem *p, uint32_t *ret_component);
uint32_t components_largest(const struct extraction_problem *p);   // classes of the largest one
