// Rules that are instances of others: `(split0 1 (concat 1 ?x ?y))` beside `(split0 $axis (concat $axis ?x ?y))`. They
// come from families, or from sizes, where no other value was well-typed.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Texts of rules without names. Do values for the attribute variables make `special` of `general`?
bool text_is_instance(const char *general, const char *special);
// Equal for a rule and its instances: of what is neither a number nor an attribute variable.
uint64_t text_hash_of_instances(const char *text);
