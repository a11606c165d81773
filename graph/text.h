// The text form of graphs; parse after print is the identity.
//     (graph
//       (let t0 (input 0) (f32 1 64))
//       (let t1 (weight 0) (f32 64 32))
//       (let t2 (matmul :act relu t0 t1))
//       (let (t3 t4) (split 1 :sizes 16 16 t2))
//       (let (t5) (opaque 3 t3) (? ...))
//       (output t4 t5))
// Leaves and opaque nodes are followed by their types; all other types follow from the definitions.
#pragma once
#include <stdbool.h>

struct error;
struct graph;
struct sexp;
struct text;

void graph_print(struct text *out, const struct graph *g);
// `g` was initialised and is empty. On failure it is left half built, for the caller to free.
bool graph_parse(const struct sexp *s, const char *file, struct graph *g, struct error *error);
