// The weakest condition under which a rule holds, from a small vocabulary:
//     (= (rank ?x) n)   (= $a $b)   (= $a n)   (= (sum $p) 0)  no padding    (= (product $s) 1)  no stride
//     (= (dims ?x) (dims ?y))   (= (dim ?x i) (dim ?y j))   (= (dim ?x i) 1)
// A condition is a conjunction of up to three of these that no failing instance meets; of all these, the one that the
// most good instances meet.
#pragma once
#include "verifier/testing/judge.h"

#define MAX_SEARCHED_CONDITIONS 3   // in one conjunction
#define MAX_ADDED_CONDITIONS 12

struct found_condition {
    uint32_t count;   // 0: none was found
    struct condition conditions[MAX_ADDED_CONDITIONS];
    bool is_exact;   // every good instance that was looked at meets it
};
struct condition condition_equal(const struct attribute_term *x, const struct attribute_term *y);
const struct attribute_term *integer_term(struct arena *a, int64_t value);
const struct attribute_term *dim_term(struct arena *a, uint32_t variable, int64_t axis);
// The rule gets a list of conditions of its own, in `a`.
void rule_add_conditions(struct rule *r, const struct found_condition *added, struct arena *a);
// Conditions are allocated in `a`. The equation failed at some instance.
struct found_condition find_weakest_condition(struct judge *j, const struct equation *eq, struct arena *a);
// Conditions that say of images alone what the equation says of the spatial axes that it names: tensors of open rank
// have rank 4, and those of which one spatial axis is asked to be 1 have both so. Gives only what is new.
struct found_condition find_condition_on_ranks(const struct equation *eq, struct arena *a);
