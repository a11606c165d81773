// Why instances that agree are no proof: what no theorem covers, and values that had no instance.
#include "verifier/direct_proof/doubts.h"

#include "substitutions/pattern.h"
#include "verifier/bounds/forms/theorems.h"
#include "verifier/bounds/property_types/group_types.h"
#include "verifier/bounds/property_types/window_types.h"
#include "verifier/bounds/text/conditions.h"
#include "verifier/instances/ranks.h"
#include "verifier/laws/laws.h"

// Do all conditions hold that are on attributes alone?
static bool are_admitted(const struct equation *eq, const struct attribute_value *attributes, struct arena *scratch)
{
    const struct type *none[MAX_RULE_VARIABLES] = {0};
    struct term_bindings b = {none, attributes};
    struct arena_mark mark = arena_mark(scratch);
    bool are_admitted = true;
    for (uint32_t i = 0; i < eq->n_conditions && are_admitted; i++) {
        const struct condition *c = &eq->conditions[i];
        bool is_on_others = condition_is_of_variable(c->kind) || equation_variables_of_condition(c);
        are_admitted = is_on_others || condition_holds(c, &b, NULL, scratch);
    }
    arena_release(scratch, mark);
    return are_admitted;
}

void tried_note(struct tried *t, const struct equation *eq, const struct attribute_value *attributes,
                bool has_instances, struct arena *scratch)
{
    bool is_admitted = are_admitted(eq, attributes, scratch);
    for (uint32_t v = 0; v < eq->pattern->n_attribute_variables; v++)
        for (uint32_t i = 0; attributes[v].count <= MAX_TRIED_LENGTH && i < attributes[v].count; i++) {
            int64_t value = attributes[v].ints[i];
            uint32_t bit = value >= 0 && value < 32 ? 1u << value : 0;
            t->of[v].tried[attributes[v].count][i] |= bit;
            t->of[v].admitted[attributes[v].count][i] |= is_admitted ? bit : 0;
            t->of[v].met[attributes[v].count][i] |= has_instances ? bit : 0;
        }
}

static bool has_complete_domains(const struct equation *eq, int max_rank, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    bool is_complete = true;
    for (uint32_t v = 0; v < eq->pattern->n_attribute_variables; v++)
        is_complete = is_complete && domain_of_variable(eq->pattern, v, max_rank, DOMAIN_ALL, a).is_complete;
    arena_release(a, mark);
    return is_complete;
}

// Is the largest value tried the only one that there were instances at? Then larger ones would have had some, too.
static bool has_only_the_last_value(const struct tries *tries)
{
    for (int length = 1; length <= MAX_TRIED_LENGTH; length++)
        for (int i = 0; i < length; i++) {
            uint32_t met = tries->met[length][i], tried = tries->tried[length][i];
            if (met && met != tried && met == 1u << (31 - __builtin_clz(tried)))
                return true;
        }
    return false;
}

static bool has_too_few_values(const struct pattern *p, const struct tried *tried, int max_rank, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    bool has_too_few = false;
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        struct domain d = domain_of_variable(p, v, max_rank, DOMAIN_SOME, a);
        has_too_few = has_too_few || (d.goes_on && has_only_the_last_value(&tried->of[v]));
    }
    arena_release(a, mark);
    return has_too_few;
}

// Windows beside others may need larger images than those that are explored, at some attributes, or along some axes:
// then nothing was tried there. Lists of lengths that no rank has do not matter, nor do values that conditions exclude.
// `asked`: the values, bit by bit.
static bool has_values_without_instance(const struct tries *tries, uint32_t asked)
{
    for (int length = 1; length <= MAX_TRIED_LENGTH; length++)
        for (int i = 0; i < length; i++)
            if (tries->met[length][i] && (tries->admitted[length][i] & ~tries->met[length][i] & asked))
                return true;
    return false;
}

#define AXES_OF_WINDOWS 0xfu
// Images of named sizes are tried at all attributes that they have room for, and types of properties are argued by
// themselves.
static bool has_untried_windows(const struct equation *eq, const struct tried *tried, const struct judgement *r,
                                struct arena *a)
{
    bool asks = !eq->is_strong && pattern_variables_of_windows(eq->pattern) && !r->bounds.has_named_windows;
    bool is_untried = false;
    struct arena_mark mark = arena_mark(a);
    for (uint32_t v = 0; v < eq->pattern->n_attribute_variables && asks; v++) {
        struct domain d = domain_of_variable(eq->pattern, v, r->max_rank, DOMAIN_SOME, a);
        bool is_of_axes = d.attribute && (d.attribute->role == ROLE_AXIS || d.attribute->role == ROLE_AXES);
        bool is_of_windows = d.goes_on && !attribute_counts_groups(d.attribute);
        is_untried =
            is_untried || ((is_of_axes || is_of_windows) &&
                           has_values_without_instance(&tried->of[v], is_of_axes ? AXES_OF_WINDOWS : UINT32_MAX));
    }
    arena_release(a, mark);
    return is_untried;
}

#define LARGEST_EXTENT 5   // strides of 6 are tried
static bool has_free_strides(const struct pattern *p)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        if (attribute_variables_of_role(&p->nodes.items[n], ROLE_STRIDE))
            return true;
    return false;
}

const char *find_doubt(struct judge *j, const struct equation *eq, const struct tried *tried, struct judgement *r)
{
    if (!j->fixed_bound && law_of_equation(eq) && theorems_cover_text(eq, THEOREMS_OF_LAWS))
        return NULL;
    if (!j->fixed_bound && !theorems_cover(eq, r->max_rank, &r->bounds, THEOREMS_OF_ALL, &r->form))
        return r->form.chars;
    if (r->was_cut_short)
        return "too many instances: the search was cut short";
    if (j->fixed_bound)
        return "tested up to the bound that was asked for";
    if (!kinds_are_met(&j->kinds, &j->learned, eq, r->max_rank))
        return "ranks or axes have larger instances alone than those that were explored (T15)";
    if (ranks_are_too_few(eq))
        return "an axis is named that only larger ranks tell from the others";
    if (pattern_is_too_large_for_parts(eq->pattern))
        return "parts that a reshape names have one entry";
    if (r->bounds.doubt)
        return r->bounds.doubt;
    if (r->bounds.cuts_overlap)
        return "the cuts of concatenations overlap";
    if (tried->has_more_pairs || (r->bounds.has_named_windows && !tried->has_all_attributes))
        return "attributes of windows on two axes have too many values";
    if (r->bounds.has_named_images && pattern_variables_of_windows(eq->pattern))
        return "conditions name sizes of images, which may be too small to tell windows apart";
    if (r->bounds.has_other_windows && r->bounds.largest_extent > LARGEST_EXTENT && has_free_strides(eq->pattern))
        return "windows are larger than the strides that are tried";
    if (has_too_few_values(eq->pattern, tried, r->max_rank, &j->scratch))
        return "an attribute has instances at the largest value only that is tried";
    if (has_untried_windows(eq, tried, r, &j->scratch))
        return "windows have no instance at attributes that are tried";
    if (!has_complete_domains(eq, r->max_rank, &j->scratch))
        return "attribute values are tried up to small ones";
    const char *doubt = group_types_find_doubt(eq);
    return doubt ? doubt : window_types_find_doubt(eq, &j->pool);
}
