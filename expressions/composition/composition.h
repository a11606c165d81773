// Several definitions as one: each computes of what others have computed.
//
// A composition is a pool (pool.h) to which definitions are added, their inputs being tensors that it has. What is read
// of a scope is put in the place of the read, with indices for iterators, so that a tensor that all is for becomes one
// expression of the inputs, as far as a limit of work allows; what is beyond that stays a scope of its own, and so does
// one that is read outside of itself for the lowest value.
#pragma once
#include "core/memory/arena.h"
#include "expressions/composition/pool.h"

struct composition {
    struct pool pool;
    struct arena scratch;
    uint64_t work;       // expressions that were put in place
    bool keeps_scopes;   // nothing is put in place: what is a scope stays one
};
// The types must outlive the composition; stages live in `arena`.
void composition_init(struct composition *c, struct arena *arena, int n_inputs, const struct type *inputs);
void composition_free(struct composition *c);

// Adds what `part` computes of these tensors. Gives the tensors that its outputs are: those of equal expressions and
// types are one.
void composition_add(struct composition *c, const struct definition *part, const int *inputs, int *ret_outputs);

int composition_scope_of(struct composition *c, int tensor);   // of an input: the one that reads it

// A scope with what it needs of the composition, as a definition whose output it is. In the composition's arena;
// definition_free it.
void composition_extract(const struct composition *c, int scope, struct definition *ret_definition);
