// The text of one application, shared by graphs, rules and properties:
//     (conv :stride 2 2 :pad 1 1 1 1 x w)      (concat 1 x y)      (split0 1 x)
// A required INT attribute stands first, without its name; all others are `:name values...`; arguments come last.
// `opN` for an operator with several outputs means its output N.
#pragma once
#include "operators/operator.h"

struct call_text {
    const struct operator* op;
    int output;   // from the name split1; -1 when the name has none
    struct {
        size_t count;
        const struct sexp *items;   // NULL: not given
    } attributes[MAX_ATTRIBUTES];
    size_t n_arguments;
    const struct sexp *arguments;
};
// Takes a call apart. `is_value` tells attribute values from arguments where a list of integers ends (NULL: integers
// are values); it sees one item.
bool call_text_parse(const struct sexp *s, const char *file, bool (*is_value)(const struct sexp *item),
                     struct call_text *ret_call, struct error *error);
// One constant attribute value from its items (already split off by call_text_parse).
bool attribute_parse(const struct attribute *attribute, const struct sexp *items, size_t count, const char *file,
                     int64_t *ret_ints, struct error *error);
// All of a call, where they are constant; standard ones where none are given.
bool call_text_attributes(const struct call_text *call, const char *file, struct arena *a,
                          struct attribute_value *ret_values, struct error *error);
// Is it what is meant where the attribute is left out?
bool attribute_is_standard(const struct attribute *attribute, const struct attribute_value *value);
// "(concat 1" or "(conv :stride 2 2": all attributes that differ from the standard; the caller adds arguments and ")".
void call_text_print(struct text *out, const struct operator* op, int output, const struct attribute_value *attributes);
