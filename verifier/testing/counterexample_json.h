// A differing instance as members of a JSON object.
#pragma once

struct difference;
struct instance;
struct text;

void instance_add_json(struct text *out, const struct instance *in, const struct difference *difference);
