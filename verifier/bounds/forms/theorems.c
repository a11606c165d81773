// The requirements that an equation meets if the theorems of docs/theory/soundness.md speak of it, one row each (T1 to
// T14, and T16).
#include "verifier/bounds/forms/theorems.h"

#include "core/text/text.h"
#include "verifier/bounds/forms/terms.h"
#include "verifier/instances/ranks.h"

// In this order they are asked; what the text says of ranks and lists comes early, since no proof can do without.
static const struct requirement {
    const char *theorem;
    enum theorems_asked of;
    bool (*is_met)(const struct form_question *q);
} requirements[] = {
    {"T1", THEOREMS_OF_ALL, form_names_operators},            // operators
    {"T1", THEOREMS_OF_LAWS, form_is_of_real_numbers},        // numbers are real ones
    {"T16", THEOREMS_OF_LAWS, form_has_element_types},        // outputs have one element type
    {"T14", THEOREMS_OF_KINDS, form_has_functions_defined},   // what divides is lost by no side
    {"T7", THEOREMS_OF_KINDS, form_has_permutations},         // permutations rename entries
    {"T6", THEOREMS_OF_KINDS, form_has_lengths_of_parts},     // parts that are told apart
    {"T5", THEOREMS_OF_KINDS, form_has_ranks_of_windows},     // windows of open rank
    {"T4", THEOREMS_OF_KINDS, form_has_ranks},                // axes that are carried along
    {"T2", THEOREMS_OF_ALL, form_names_attributes},           // attributes
    {"T3", THEOREMS_OF_ALL, form_names_conditions},           // conditions
    {"T8", THEOREMS_OF_ALL, form_has_numbers},                // numbers that depend on sizes (and T12)
    {"T9", THEOREMS_OF_ALL, form_has_groups},                 // numbers of groups
    {"T10", THEOREMS_OF_ALL, form_has_windows},               // windows
};

bool theorems_cover(const struct equation *eq, int max_rank, const struct bounds *bounds, enum theorems_asked asked,
                    struct text *ret_why)
{
    struct form_question q = {.eq = eq, .max_rank = max_rank, .bounds = bounds, .why = ret_why};
    for (size_t i = 0; i < sizeof requirements / sizeof *requirements; i++)
        if (requirements[i].of <= asked && !requirements[i].is_met(&q)) {
            text_printf(ret_why, " (%s)", requirements[i].theorem);
            return false;
        }
    return true;
}

bool theorems_cover_text(const struct equation *eq, enum theorems_asked asked)
{
    struct text why = {0};
    bool are_covered = theorems_cover(eq, ranks_to_test(eq), NULL, asked, &why);
    text_free(&why);
    return are_covered;
}
