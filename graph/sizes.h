// Sizes that are functions of a model's symbols: its dimensions without a number.
//
// A graph has numbers only. So a model with symbols is made at several *probes*, bindings of the symbols that are told
// apart, and what is a size at all of them is read as a function of the symbols: a product of a number and *factors*,
// each of which is a symbol or a sum of symbols and a number (batch * 12, past + sequence). The graph that is kept is
// that of the first probe, where symbols are primes which divide no other number of the model. There a number says by
// itself which function it is, and a graph, or a part of one, can be made anew for any binding.
#pragma once
#include "graph/graph.h"

#define MAX_SYMBOLS 8
#define N_PROBES 5
#define MAX_FACTORS 64

struct size_form {
    int64_t constant;
    uint8_t powers[MAX_FACTORS];
};
// (constant + the sum of weights times symbols) / divisor, rounded down. The divisor has no divisor in common with all
// weights, so that two factors are one function only if they are one.
struct size_factor {
    int64_t constant, weights[MAX_SYMBOLS], divisor;
};
struct noted_size {
    int64_t at[N_PROBES];
    struct size_form form;
};
// {0} has no symbols.
struct sizes {
    uint32_t n_symbols, n_factors;
    int64_t probes[N_PROBES][MAX_SYMBOLS];
    struct size_factor factors[MAX_FACTORS];   // the first ones are the symbols, each divided by its unit
    VEC(struct noted_size) noted;
};

// One size for each probe; all sizes of the symbol are multiples of the unit.
void sizes_add_symbol(struct sizes *s, int64_t unit, const int64_t *at);
int64_t sizes_round_up(const struct sizes *s, uint32_t symbol, int64_t size);   // to such a multiple
void sizes_free(struct sizes *s);

// Which function of the symbols has these values at the probes? It is noted. False: none that is known here.
bool sizes_fit(struct sizes *s, const int64_t *at, struct size_form *ret_form);
// (x + addend) / divisor, rounded down, where x has these values at the probes: from now on sizes_fit knows it. Nothing
// is added for what is no factor here, as quotients of products.
void sizes_add_quotient(struct sizes *s, const int64_t *at, int64_t addend, int64_t divisor);
// Does each number that was noted say at the first probe by itself what it is at the others?
bool sizes_are_told_apart(const struct sizes *s);
// Sizes of the symbols at which what was noted would be told apart at a first probe, none below `least`, which becomes
// that many times as large for a symbol that is divided. False: none are found.
bool sizes_find_first_probe(const struct sizes *s, int64_t least, int64_t *ret_probe);

// The form of a number at the first probe.
struct size_form sizes_form_of(const struct sizes *s, int64_t number);
bool sizes_varies(const struct sizes *s, int64_t number);
bool sizes_type_varies(const struct sizes *s, const struct type *t);
bool sizes_depends(const struct sizes *s, int64_t number, uint32_t symbol);
// The size at a binding of the symbols; -1: beyond any tensor, or below zero.
int64_t sizes_form_at(const struct sizes *s, const struct size_form *form, const int64_t *binding);
int64_t sizes_at(const struct sizes *s, int64_t number, const int64_t *binding);
struct type sizes_type_at(const struct sizes *s, const struct type *t, const int64_t *binding);

// Attributes that may depend on symbols: shapes, sizes of parts, of slices and of windows.
bool sizes_role_varies(const struct operator* op, int attribute);
// A node as another graph, of the first probe, has it, made at a binding over given inputs, which have their sizes
// there. False: it is ill-typed.
bool sizes_add_node(const struct sizes *s, const int64_t *binding, struct graph *g, const struct graph *from,
                    node_id node, const tensor_id *inputs, node_id *ret_node);
