// Testing the instances of an equation within bounds, for the files that do it (judge.c, instances_to_test.c,
// attributes_to_test.c).
#pragma once
#include "verifier/direct_proof/doubts.h"
#include "verifier/instances/assignment.h"

struct test {
    struct judge *j;
    const struct equation *equation;
    struct judgement *result;
    bool axes_are_apart;   // what is read on one spatial axis has nothing to do with the others
    struct tried tried;
    uint64_t assignments, all_assignments;   // of the attributes: begun; there are, where there may be many, else 0
    uint64_t work_before;                    // when the first of these began
    uint64_t share, share_end;               // of the work that one assignment may take, if not 0; where it is used up
    bool was_left_early;                     // the assignment, for that
    uint32_t activation;                     // the attribute variable that is one and nothing else; or NO_VARIABLE
    bool has_segments;                       // of which cuts may overlap at sizes that were not explored
    bool is_any_activation;                  // its relu stands for any function
    bool needs_each_activation;              // as the equation is not one of all functions
    bool only_one_sided;                     // instances in which both sides are well-typed were compared already
    bool only_cuts;                          // instances whose inputs have no cuts were compared already
    judge_visit_fn *visit;
    bool (*visit_only)(void *context, struct instance *in);   // nothing is compared
    void *context;
};

// --- instances_to_test.c: instances at given attributes; false: the test is over -------------------------------------

bool test_box(struct test *t, const struct box *box, const struct attribute_value *attributes,
              enum wanted_sides wanted);
// Instances of which either side is well-typed.
bool test_both_ways(struct test *t, const struct box *box, const struct attribute_value *attributes);
// Explores small sizes, then tests up to the bounds that these argue for. The context is the test.
bool test_assignment(void *context, const struct attribute_value *attributes);
// False: there is no small instance.
bool test_explore(struct test *t, const struct attribute_value *attributes, struct box *box, struct bounds *ret_bounds);

// --- attributes_to_test.c: at which attributes -----------------------------------------------------------------------

bool test_all_attributes(struct test *t);
// Within a tenth of the limits, which are as before then. True also where that was not enough.
bool test_within_part(struct test *t, bool (*test)(struct test *t));
uint64_t count_assignments(struct attribute_walk w);   // up to a limit
