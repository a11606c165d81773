// An instance at which the sides of an equation differ, for people and for programs.
#pragma once
#include "core/text/text.h"

struct difference;
struct instance;

struct counterexample {
    struct text text;   // one or more lines; empty: there is none
    struct text json;   // members of an object: kind, variables, attributes, output, left, right, entry, place
};
void counterexample_note(struct counterexample *out, const struct instance *in, const struct difference *difference);
void counterexample_free(struct counterexample *c);
// An object with this key, or null.
void counterexample_add_json(struct text *out, const char *key, const struct counterexample *c);
