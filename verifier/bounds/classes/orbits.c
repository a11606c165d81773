// Orbits that fold, where cuts of concatenations overlap like x|y on z|x (bounds.md, 2.2). Removing one position of an
// axis removes all that are read with it: its orbit. When an operand of a concatenation has two positions in one orbit,
// sizes cannot be reduced one by one. What is a concatenation itself has as many positions in an orbit as its operands
// have together (x|x has two), and those are looked at.
#include "verifier/bounds/classes/index_classes.h"

// Others one behind the other: each position is read from exactly one place of them. It has no size of its own.
static bool is_made_of_operands(const struct analysis *an, uint32_t item)
{
    if (item < MAX_RULE_VARIABLES * MAX_RANK)
        return false;
    for (int64_t p = 0; p < an->size[item]; p++) {
        int places = 0;
        for (int i = 0; i < an->n_links; i++) {
            const struct link *l = &an->links[i];
            int64_t q = p + l->offset;
            places += l->to == item && q >= 0 && q < an->size[l->from];
        }
        if (places != 1)
            return false;
    }
    return an->cuts[0][item] > 1 || an->cuts[1][item] > 1;
}

// Are the operands of every concatenation in the class as long as one another, so that cuts stand between groups?
static bool has_even_parts(struct analysis *an, uint32_t class)
{
    for (int i = 0; i < an->n_links; i++)
        for (int j = 0; j < i; j++) {
            const struct link *l = &an->links[i], *m = &an->links[j];
            if (l->is_part && m->is_part && l->to == m->to && classes_find(an, l->to) == class &&
                an->size[l->from] != an->size[m->from])
                return false;
        }
    return true;
}

// What is read place by place from concatenations (their activations, sums, merged kernels) has no size of its own
// either. With groups that is said of even parts alone.
static void find_what_is_made_of_operands(struct analysis *an, bool *ret_is_made)
{
    for (uint32_t i = 0; i < an->n_items; i++)
        ret_is_made[i] = is_made_of_operands(an, i);
    for (bool is_changing = true; is_changing;) {
        is_changing = false;
        for (int i = 0; i < an->n_links; i++) {
            const struct link *l = &an->links[i];
            bool are_nodes = l->from >= MAX_RULE_VARIABLES * MAX_RANK && l->to >= MAX_RULE_VARIABLES * MAX_RANK;
            uint32_t class = classes_find(an, l->from);
            if (!l->is_whole || !are_nodes || ret_is_made[l->from] == ret_is_made[l->to] ||
                ((an->class_flags[class] & HAS_GROUPS) && !has_even_parts(an, class)))
                continue;
            ret_is_made[l->from] = ret_is_made[l->to] = true;
            is_changing = true;
        }
    }
}

static bool has_two_of_one_orbit(const uint32_t *orbit, int64_t size)
{
    for (int64_t p = 0; p < size; p++)
        for (int64_t q = 0; q < p; q++)
            if (orbit[p] == orbit[q])
                return true;
    return false;
}

bool classes_have_folded_orbits(struct analysis *an)
{
    uint32_t first[MAX_ITEMS], n = 0;
    for (uint32_t i = 0; i < an->n_items; i++) {
        first[i] = n;
        n += (uint32_t)an->size[i];
    }
    if (n > MAX_POSITIONS) {
        an->has_too_many = true;
        return true;
    }
    uint32_t *orbit = arena_array(an->in->scratch, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        orbit[i] = i;
    for (bool is_changing = true; is_changing;) {
        is_changing = false;
        for (int i = 0; i < an->n_links; i++) {
            const struct link *l = &an->links[i];
            for (int64_t p = 0; p < an->size[l->to]; p++) {
                int64_t q = p + l->offset;
                if (q < 0 || q >= an->size[l->from])
                    continue;
                uint32_t *x = &orbit[first[l->from] + q], *y = &orbit[first[l->to] + p];
                is_changing = is_changing || *x != *y;
                *x = *y = *x < *y ? *x : *y;
            }
        }
    }
    bool is_made[MAX_ITEMS];
    find_what_is_made_of_operands(an, is_made);
    for (uint32_t i = 0; i < an->n_items; i++)
        if (an->is_operand[i] && !is_made[i] && an->places_of_group[i] == 0 &&
            has_two_of_one_orbit(orbit + first[i], an->size[i]))
            return true;
    return false;
}
