// A substitution at other sizes than the enumeration's: is it true there, and which sizes belong together?
//
// Equal at the enumeration's sizes may be luck (1x1 kernels, H = 12). So every size that occurs in a rule (an axis of a
// variable, an entry of a constant's shape, an enlarged kernel's size) is changed: alone, or with the least set of
// others that keeps both sides well-typed. Sizes that change together are one *class*. The rule must hold at all
// changes that are well-typed; else it is false, or, where the size is that of a kernel's window, the rule needs the
// condition that the size is what it is.
#ifndef GENERATOR_SHAPES_H
#define GENERATOR_SHAPES_H
#include "generator/sketch.h"

enum { MAX_SIZES = 64, MAX_WINDOW_SIZE = 3 };

struct size_place {
    enum { SIZE_OF_VARIABLE, SIZE_OF_CONSTANT, SIZE_OF_ATTRIBUTE } kind;
    uint8_t owner;       // variable, leaf or node
    uint8_t attribute;   // ATTRIBUTE: its number
    uint8_t entry;       // axis, or entry of the list
    int64_t base;
};
struct shapes {
    int n;
    struct size_place places[MAX_SIZES];
    int class_of[MAX_SIZES];    // -1: fixed
    int64_t other[MAX_SIZES];   // of each class: a size other than the base at which the rule holds
    int n_classes;
    bool needs_condition[MAX_SIZES];
};
bool shapes_have_condition(const struct shapes *s);
// What happened: the stages of the tests, for the counts.
enum shapes_verdict { SHAPES_HOLD, SHAPES_FALSE_AT_OTHER_SIZES, SHAPES_FALSE_ON_REALS, SHAPES_NEVER_TESTED };

enum shapes_verdict shapes_test(const struct sketch *sk, uint64_t seed, struct arena *scratch,
                                struct shapes *ret_shapes);
// The value of every size at the base and at `n` other, mixed assignments under which the rule is well-typed; gives how
// many were found. ret_sizes[assignment * MAX_SIZES + place].
int shapes_assignments(const struct sketch *sk, const struct shapes *s, uint64_t seed, struct arena *scratch, int n,
                       int64_t *ret_sizes);
// The verdict with given sizes, and with attributes of nodes overridden where `overrides` (may be NULL) has one.
struct attribute_override {
    uint8_t node, attribute;
    struct attribute_value value;
};
enum verdict shapes_judge(const struct sketch *sk, const struct shapes *s, const int64_t *sizes,
                          const struct attribute_override *overrides, int n_overrides, uint64_t seed,
                          struct arena *scratch);
#endif
