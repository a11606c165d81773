// Applications of operators as tests write them: a call whose arguments are types with split trees and values.
//     (concat 1 ((f32 2 3) (split 1 (2 _ any)) 1 2 3 4 5 6) ((f32 2 1) 7 8))
// A tree is _ (none), any, or (left_size left right). Values may be left out.
#pragma once
#include "operators/operator.h"

struct arena;
struct error;
struct sexp;
struct text;

struct typed_call {
    struct operator_call call;
    const struct sexp **values;   // of each input: `n_values[i]` items
    size_t *n_values;
};
// Everything is allocated in `a`, except that values stay in `s`.
bool typed_call_parse(struct arena *a, const struct sexp *s, const char *file, struct typed_call *ret_call,
                      struct error *error);
// "(f32 2 4) (split 1 (2 _ _))"
void typed_call_print_type(struct text *out, const struct type *t);
