// Numbers that say how much is tried of a rule or a property, and why so much. No proof depends on one of them.
#pragma once

// --- small instances (testing/judge.c) --------------------------------------------------------------------------

enum {
    USUAL_LARGEST_RANK = 4,      // images have it, and it has axes that nothing names beside two that something does
    WRITTEN_LARGEST_RANK = 6,    // where the text says that a tensor has that many axes
    SMALL_SIZE = 2,              // two places of an axis are told apart
    LARGEST_SMALL_SIZE = 6,      // where smaller sizes have no instance
    SMALL_WINDOW_SIZE = 4,       // of spatial axes: a window of 3 places, and one beside it
    SMALL_CUT_RANK = 3,          // of tensors that remember concatenations
    SMALL_CUT_SIZE = 3,          // pieces of one place and of two
    FEWEST_OF_ATTRIBUTES = 12,   // instances at each assignment of attributes, however many assignments there are
};

// --- numbers (testing/comparison.c) -----------------------------------------------------------------------------

// Numbers of three kinds in turn: small integers, positive reals, any reals.
enum { FEW_ENTRIES = 8, ASSIGNMENTS_OF_FEW = 30, ASSIGNMENTS = 3 };

// --- what one rule may take ------------------------------------------------------------------------------------------

enum {
    RULE_INSTANCE_LIMIT = 200,
    CHECKED_INSTANCE_LIMIT = 1000,   // of a rule for which no argument is found
    RULE_STEP_LIMIT = 300000,        // types tried
    TIMES_THE_STEPS = 10,            // until the first instance is found
    MOST_ENTRIES = 1 << 20,          // of an instance, all tensors together
};

// Proofs rest on properties: there are few of them, and much is tried.
enum {
    PROPERTY_INSTANCE_LIMIT = 4000,
    PROPERTY_STEP_LIMIT = 1000000,
};

// --- derivations -----------------------------------------------------------------------------------------------------

// Parts of Z3's steps for a rule.
enum {
    PART_OF_FIRST_STEPS = 6,   // most proofs are found soon, and symbols for sizes are asked before the others
};
