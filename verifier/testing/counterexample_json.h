// A differing instance as members of a JSON object.
#pragma once
#include <stdint.h>

struct attribute;
struct difference;
struct instance;
struct pattern;
struct text;

void instance_add_json(struct text *out, const struct instance *in, const struct difference *difference);
// An attribute of the pattern that is the variable; NULL: none is it alone.
const struct attribute *attribute_of_variable(const struct pattern *p, uint32_t variable);
