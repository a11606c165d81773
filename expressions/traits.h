// Traits of what a definition computes, read off its form. Who asks whether something is linear, or keeps zeros, asks
// the definition: there is no list of operators to be kept true beside it.
#pragma once

struct definition;

enum trait {
    TRAIT_POLYNOMIAL = 1,           // sums of products of entries and numbers, or entries that are moved
    TRAIT_SMOOTH = 2,               // besides functions that no sign matters to: sigmoid, exp
    TRAIT_KEEPS_ZERO = 4,           // zeros everywhere make zeros everywhere
    TRAIT_ENTRY_BY_ENTRY = 8,       // each entry of entries at its place, and of tensors of rank 0
    TRAIT_CONTRACTS = 16,           // a sum over an axis of two inputs
    TRAIT_UNIFORM = 32,             // no inputs, and one number everywhere
    TRAIT_KEEPS_RANK = 64,          // all inputs and outputs have one rank
    TRAIT_KEEPS_FIRST_RANK = 128,   // the outputs have that of the first input
    TRAIT_ADDS = 256,               // entries to others, of which each has one place
    TRAIT_SUBTRACTS = 512,          // entries occur with a minus
    TRAIT_SUMS = 1024,              // goes along an axis: a sum, a product, a maximum
    TRAIT_CONVERTS = 2048,          // gives entries as numbers of another type
    TRAIT_ASKS_NUMBER = 4096,       // asks whether an entry is a number
    TRAIT_DIVIDES = 8192,           // applies a function that is not defined everywhere
    TRAIT_PARTIAL = 16384,          // to what may be outside of its domain, where attributes are positive
};
// An operator has a trait of the first kind when all of its definitions have it, one of the second when one has.
enum {
    TRAITS_OF_SOME =
        TRAIT_ADDS | TRAIT_SUBTRACTS | TRAIT_SUMS | TRAIT_CONVERTS | TRAIT_ASKS_NUMBER | TRAIT_DIVIDES | TRAIT_PARTIAL,
    TRAITS_OF_ALL = TRAIT_ADDS - 1,
};

unsigned definition_traits(const struct definition *d);
