// Learned from applications at small sizes (T15 of docs/theory/soundness.md). Two axes are taken for one size where
// one variable of the definition goes along both, in all applications that are tried: sizes all alike, one axis or all
// axes of one size changed, several at random, and each attribute that is open, or a larger number, changed. A
// definition has one form, so that what is so at these is so at all. That no inputs have such ranks is believed where
// no application is found, whatever the numbers in attributes are.
#include "verifier/kinds/axis_forms.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/memory/union_find.h"
#include "core/numbers/random.h"
#include "expressions/affine.h"
#include "operators/traits.h"
#include <string.h>

struct learner {
    const struct application *of;
    struct arena *arena;
    struct definition d;
    struct type inputs[MOST_FORM_INPUTS];
    struct attribute_value attributes[MAX_ATTRIBUTES];
    struct axis_forms forms;
    int n_axes;          // of the inputs, as they are numbered
    unsigned cuts_met;   // axes of the output, one bit each
    uint64_t n_met;      // applications
    bool differs;        // in what everything else rests on
};

// --- one definition --------------------------------------------------------------------------------------------------

// The variable that goes along an axis from its first place to its last, or -1. What is 0 at all places adds nothing.
static int64_t variable_along(const struct definition *d, expr index, int64_t size)
{
    struct affine_form f;
    int64_t variable = -1;
    if (!affine_form_of(d, index, &f) || f.base != 0)
        return -1;
    for (int i = 0; i < f.n; i++) {
        const struct expr_node *atom = &d->nodes.items[f.terms[i].atom];
        struct index_range range = index_range(d, f.terms[i].atom);
        bool is_variable = atom->kind == EXPR_VARIABLE && f.terms[i].factor == 1 && variable < 0;
        if (!is_variable && (range.low != 0 || range.high != 0))
            return -1;
        if (is_variable && (d->extents.items[atom->value] > 1 || f.n == 1))
            variable = atom->value;
    }
    return variable >= 0 && d->extents.items[variable] == size ? variable : -1;
}

// Variables and axes of tensors, those with one size in one class.
struct classes {
    const struct definition *d;
    uint32_t n_variables;
    uint16_t *parents;
};

static uint32_t item_of_axis(const struct classes *c, int64_t tensor, int axis)
{
    return c->n_variables + (uint32_t)tensor * MAX_RANK + (uint32_t)axis;
}

static void join(struct classes *c, int64_t variable, int64_t tensor, int axis)
{
    union_find_join(c->parents, (uint32_t)variable, item_of_axis(c, tensor, axis));
}

static struct classes classes_of(const struct definition *d, struct arena *arena)
{
    struct classes c = {.d = d, .n_variables = (uint32_t)d->extents.count};
    uint32_t n = c.n_variables + (uint32_t)(d->n_inputs + d->n_stages) * MAX_RANK;
    c.parents = arena_array(arena, uint16_t, n);
    union_find_init(c.parents, n);
    for (int s = 0; s < d->n_stages; s++)
        for (int axis = 0; axis < d->stages[s].type.rank; axis++)
            join(&c, d->stages[s].first_variable + axis, d->n_inputs + s, axis);
    for (size_t e = 0; e < d->nodes.count; e++) {
        const struct expr_node *read = &d->nodes.items[e];
        for (int axis = 0; read->kind == EXPR_READ && axis < (int)read->count; axis++) {
            int64_t size = definition_tensor(d, read->value)->dim[axis];
            int64_t variable = variable_along(d, d->indices.items[read->a + (uint32_t)axis], size);
            if (variable >= 0)
                join(&c, variable, read->value, axis);
        }
    }
    return c;
}

static int rank_of(const struct learner *l, int tensor)
{
    return tensor < l->of->n_inputs ? l->of->ranks[tensor] : l->forms.rank;
}

static bool is_axis(const struct learner *l, int axis)
{
    return axis % MAX_RANK < rank_of(l, axis / MAX_RANK);
}

static void axes_that_are_alike(const struct learner *l, uint8_t *ret_like)
{
    struct classes c = classes_of(&l->d, l->arena);
    int last = (l->of->n_inputs + 1) * MAX_RANK;
    uint32_t root[MOST_FORM_AXES];
    for (int i = 0; i < last; i++) {
        bool is_input = i / MAX_RANK < l->of->n_inputs;
        root[i] = union_find_root(
            c.parents, item_of_axis(&c, is_input ? i / MAX_RANK : l->d.n_inputs + l->d.outputs[0], i % MAX_RANK));
        ret_like[i] = (uint8_t)i;
        for (int j = 0; j < i && is_axis(l, i); j++)
            if (is_axis(l, j) && root[j] == root[i] && ret_like[i] == i)
                ret_like[i] = (uint8_t)j;
    }
}

static bool define(struct learner *l)
{
    struct operator_call call = {l->of->op, l->of->n_inputs, l->inputs, l->attributes};
    definition_clear(&l->d, l->of->n_inputs, l->inputs);
    l->d.is_silent = true;
    return operator_define(&l->d, &call) && l->d.n_outputs == 1;
}

// --- where axes were joined ------------------------------------------------------------------------------------------

// All inputs are joined behind the first place of each axis. Another tree is that of a join in the definition.
static enum cut_form form_of_tree(const struct split_tree *t)
{
    if (!t || t == SPLIT_ANY)
        return t ? CUT_FORM_ANY : CUT_FORM_NONE;
    return t->left_size == 1 && !t->left && !t->right ? CUT_FORM_OF_INPUTS : CUT_FORM_UNKNOWN;
}

static bool is_joined_everywhere(const struct learner *l)
{
    bool is = true;
    for (int i = 0; i < l->n_axes && is; i++)
        is = !is_axis(l, i) || l->inputs[i / MAX_RANK].split[i % MAX_RANK];
    return is;
}

static void note_cuts(struct learner *l)
{
    struct axis_forms *f = &l->forms;
    for (int axis = 0; axis < f->rank && is_joined_everywhere(l); axis++) {
        enum cut_form cut = form_of_tree(definition_output(&l->d, 0)->split[axis]);
        f->cut[axis] = !(l->cuts_met >> axis & 1) || f->cut[axis] == cut ? cut : CUT_FORM_UNKNOWN;
        l->cuts_met |= 1u << axis;
    }
}

// All but one axis are joined: which axes of the output do not know any more?
static void note_inputs_of_cuts(struct learner *l)
{
    for (int i = 0; i < l->n_axes && is_joined_everywhere(l); i++) {
        const struct split_tree **split = &l->inputs[i / MAX_RANK].split[i % MAX_RANK], *tree = *split;
        if (!is_axis(l, i))
            continue;
        *split = NULL;
        bool is_defined = define(l);
        for (int axis = 0; axis < l->forms.rank && is_defined; axis++)
            if (l->forms.cut[axis] == CUT_FORM_OF_INPUTS && !definition_output(&l->d, 0)->split[axis])
                l->forms.cut_inputs[axis] |= (uint64_t)1 << i;
        *split = tree;
    }
}

// --- all definitions -------------------------------------------------------------------------------------------------

// What both say: axes are alike where they are in both.
static void meet(const struct learner *l, uint8_t *like, const uint8_t *other)
{
    uint8_t both[MOST_FORM_AXES];
    for (int i = 0; i < (l->of->n_inputs + 1) * MAX_RANK; i++) {
        both[i] = (uint8_t)i;
        for (int j = i; j-- > 0;)
            if (like[j] == like[i] && other[j] == other[i])
                both[i] = (uint8_t)j;
    }
    memcpy(like, both, sizeof both);
}

static void note_definition(struct learner *l)
{
    struct axis_forms *f = &l->forms;
    const struct type *z = definition_output(&l->d, 0);
    uint8_t like[MOST_FORM_AXES];
    l->differs = l->differs || (f->is_known && f->rank != z->rank);
    if (l->differs)
        return;
    f->rank = z->rank;
    axes_that_are_alike(l, like);
    for (int axis = 0; axis < z->rank; axis++)
        f->is_one[axis] = (!f->is_known || f->is_one[axis]) && z->dim[axis] == 1 && z->split[axis] == SPLIT_ANY;
    if (f->is_known)
        meet(l, f->like, like);
    else
        memcpy(f->like, like, sizeof like);
    f->is_known = true;
    note_cuts(l);
}

static bool try_sizes(struct learner *l)
{
    bool is_defined = define(l);
    l->n_met += is_defined;
    if (is_defined)
        note_definition(l);
    return is_defined;
}

// --- sizes -----------------------------------------------------------------------------------------------------------

static void set_size(struct learner *l, int axis, int64_t size)
{
    struct type *of = &l->inputs[axis / MAX_RANK];
    if (!is_axis(l, axis))
        return;
    of->dim[axis % MAX_RANK] = size;
    of->split[axis % MAX_RANK] = size > 1 ? split_tree_join(l->arena, 1, NULL, NULL) : NULL;
}

// `like` NULL: of the one axis.
static void set_size_of_all(struct learner *l, const uint8_t *like, int axis, int64_t size)
{
    set_size(l, axis, size);
    for (int i = 0; like && i < l->n_axes; i++)
        if (like[i] == like[axis])
            set_size(l, i, size);
}

// Bases from which axes are changed, of each size.
enum { LARGEST_BASE = 4, NEIGHBOURS = 6, RANDOM_SIZES = 40 };
static void try_around(struct learner *l, int64_t size);

// One axis is changed, or all that are alike, and from the first applications on that are found so, again.
static void try_neighbours(struct learner *l, const uint8_t *like, int64_t size, int n_further)
{
    const int64_t others[] = {size + 1, 2 * size, 1};
    struct type base[MOST_FORM_INPUTS];
    memcpy(base, l->inputs, sizeof base);
    for (int axis = 0; axis < l->n_axes && !l->differs; axis++)
        for (size_t i = 0; is_axis(l, axis) && i < sizeof others / sizeof *others; i++) {
            set_size_of_all(l, like, axis, others[i]);
            if (try_sizes(l) && n_further-- > 0)
                try_around(l, size);
            memcpy(l->inputs, base, sizeof base);
        }
}

static void try_around(struct learner *l, int64_t size)
{
    uint8_t like[MOST_FORM_AXES];
    memcpy(like, l->forms.like, sizeof like);
    note_inputs_of_cuts(l);
    try_neighbours(l, like, size, 0);
    try_neighbours(l, NULL, size, 0);
}

// Several axes at once.
static void try_random_sizes(struct learner *l, int64_t size)
{
    const int64_t sizes[] = {size, size, size + 1, 2 * size, 1, 1};
    struct random r = random_seed((uint64_t)size);
    int n_further = NEIGHBOURS;
    for (int i = 0; i < RANDOM_SIZES && !l->differs; i++) {
        for (int axis = 0; axis < l->n_axes; axis++)
            set_size(l, axis, sizes[random_below(&r, sizeof sizes / sizeof *sizes)]);
        if (try_sizes(l) && n_further-- > 0)
            try_around(l, size);
    }
}

static void try_from_size(struct learner *l, int64_t size)
{
    for (int axis = 0; axis < l->n_axes; axis++)
        set_size(l, axis, size);
    if (try_sizes(l))
        try_around(l, size);
    else
        try_neighbours(l, NULL, size, NEIGHBOURS);
    try_random_sizes(l, size);
}

static bool try_all_sizes(struct learner *l)
{
    uint64_t before = l->n_met;
    for (int64_t size = 1; size <= LARGEST_BASE && !l->differs; size++)
        try_from_size(l, size);
    return l->n_met > before;
}

// --- attributes ------------------------------------------------------------------------------------------------------

static uint32_t length_of(const struct learner *l, const struct attribute *attribute)
{
    uint32_t rank = l->of->n_inputs ? (uint32_t)l->of->ranks[0] : 0, spatial = rank > 2 ? rank - 2 : 0;
    enum attribute_role role = attribute->role;
    if (attribute->kind != ATTRIBUTE_INTS)
        return 1;
    if (role == ROLE_STRIDE || role == ROLE_DILATION || role == ROLE_KERNEL)
        return spatial;
    if (role == ROLE_WINDOW_PADS)
        return 2 * spatial;
    return role == ROLE_PADS ? 2 * rank : rank;
}

static int64_t standard_entry(const struct attribute *attribute)
{
    bool is_pad = attribute->role == ROLE_WINDOW_PADS || attribute->role == ROLE_PADS || attribute->role == ROLE_START;
    if (attribute->kind == ATTRIBUTE_REAL)
        return real_to_bits(attribute->is_required ? 1 : attribute->standard_real);
    if (attribute->kind == ATTRIBUTE_CHOICE || attribute->kind == ATTRIBUTE_DTYPE)
        return attribute->is_required ? 1 : attribute->standard;
    return is_pad ? 0 : 1;
}

// Larger numbers leave too few of the sizes that are tried: five channels are all that five groups have up to 8, and as
// many as there are filters.
enum { LARGEST_ENTRY = 3 };
static bool has_large_entry(const struct attribute *attribute, const struct attribute_value *value)
{
    bool is_number = attribute->kind == ATTRIBUTE_INT || attribute->kind == ATTRIBUTE_INTS, has = false;
    for (uint32_t i = 0; is_number && i < value->count && !has; i++)
        has = value->ints[i] > LARGEST_ENTRY || value->ints[i] < -LARGEST_ENTRY;
    return has;
}

static bool is_left(const struct learner *l, int i, bool with_values)
{
    const struct attribute *attribute = &l->of->op->attributes[i];
    const struct attribute_value *value = &l->of->attributes[i];
    enum attribute_role role = attribute->role;
    bool says_axes = role == ROLE_AXIS || role == ROLE_AXES || role == ROLE_PERMUTATION || role == ROLE_KEEPDIMS;
    if (value->count == UINT32_MAX || !value->ints)
        return true;
    return !says_axes && (!with_values || has_large_entry(attribute, value));
}

static void set_entries(struct learner *l, int i, int64_t entry)
{
    uint32_t count = l->of->attributes[i].count;
    count = count == UINT32_MAX ? length_of(l, &l->of->op->attributes[i]) : count;
    int64_t *items = arena_array(l->arena, int64_t, count + 1);
    for (uint32_t j = 0; j < count; j++)
        items[j] = entry;
    l->attributes[i] = (struct attribute_value){count, items};
}

// All standard, and each in turn another number.
static bool try_attributes(struct learner *l, bool with_values)
{
    int n = operator_n_attributes(l->of->op);
    for (int i = 0; i < n; i++)
        if (is_left(l, i, with_values))
            set_entries(l, i, standard_entry(&l->of->op->attributes[i]));
        else
            l->attributes[i] = l->of->attributes[i];
    bool is_met = try_all_sizes(l);
    for (int i = 0; i < n && !l->differs; i++) {
        const struct attribute *attribute = &l->of->op->attributes[i];
        bool is_number = attribute->kind == ATTRIBUTE_INT || attribute->kind == ATTRIBUTE_INTS;
        for (int64_t entry = 0; is_number && is_left(l, i, with_values) && entry <= LARGEST_ENTRY; entry++) {
            set_entries(l, i, entry);
            is_met = try_all_sizes(l) || is_met;
        }
        if (is_left(l, i, with_values))
            set_entries(l, i, standard_entry(attribute));
    }
    return is_met;
}

// --- element types ---------------------------------------------------------------------------------------------------

static bool try_types(struct learner *l, bool with_values)
{
    static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_I64, DTYPE_BOOL};
    unsigned others = operator_traits[l->of->op->id].inputs_of_other_types;
    for (size_t i = 0; i < 9; i++) {
        for (int input = 0; input < l->of->n_inputs; input++)
            l->inputs[input] =
                (struct type){.dtype = dtypes[others >> input & 1 ? i / 3 : i % 3], .rank = l->of->ranks[input]};
        if (try_attributes(l, with_values))
            return true;
    }
    return false;
}

// Cuts go along with sizes: what is said of axes that are not always alike was so by chance.
static void keep_cuts_of_alike_axes(const struct learner *l, struct axis_forms *f)
{
    for (int axis = 0; axis < f->rank; axis++)
        for (uint64_t left = f->cut_inputs[axis]; left; left &= left - 1)
            if (f->like[__builtin_ctzll(left)] != f->like[l->n_axes + axis])
                f->cut[axis] = CUT_FORM_UNKNOWN;
}

// With attributes as they are, but for large numbers, or else with any numbers in them.
struct axis_forms axis_forms_learn(const struct application *a, struct arena *arena)
{
    struct arena_mark mark = arena_mark(arena);
    struct learner l = {.of = a, .arena = arena, .n_axes = a->n_inputs * MAX_RANK};
    definition_init(&l.d, arena, 0, NULL);
    bool is_met = try_types(&l, true) || try_types(&l, false);
    struct axis_forms forms = l.differs ? (struct axis_forms){0} : l.forms;
    forms.is_impossible = !is_met;
    keep_cuts_of_alike_axes(&l, &forms);
    definition_free(&l.d);
    arena_release(arena, mark);
    return forms;
}

// --- what was learned ------------------------------------------------------------------------------------------------

void learned_forms_free(struct learned_forms *l)
{
    table_free(&l->by_application);
    vec_free(&l->applications);
    vec_free(&l->forms);
    arena_free(&l->arena);
}

static uint64_t hash_of_application(const struct application *a)
{
    uint64_t hash = hash_step(a->op->id, (uint64_t)a->n_inputs);
    for (int i = 0; i < a->n_inputs; i++)
        hash = hash_step(hash, (uint64_t)a->ranks[i]);
    for (int i = 0; i < operator_n_attributes(a->op); i++) {
        const struct attribute_value *value = &a->attributes[i];
        hash = hash_step(hash, value->ints ? value->count : (uint64_t)value->count + UINT32_MAX);
        if (value->ints)
            hash = hash_mix(hash, hash_bytes(value->ints, value->count * sizeof *value->ints, value->count));
    }
    return hash;
}

static bool are_same_entries(const struct attribute_value *a, const struct attribute_value *b)
{
    if (a->count != b->count || !a->ints != !b->ints)
        return false;
    return !a->ints || memcmp(a->ints, b->ints, a->count * sizeof *a->ints) == 0;
}

static bool is_same_application(const void *owner, uint32_t id, const void *key)
{
    const struct application *a = &((const struct learned_forms *)owner)->applications.items[id], *b = key;
    bool is_same = a->op == b->op && a->n_inputs == b->n_inputs;
    for (int i = 0; is_same && i < a->n_inputs; i++)
        is_same = a->ranks[i] == b->ranks[i];
    for (int i = 0; is_same && i < operator_n_attributes(a->op); i++)
        is_same = are_same_entries(&a->attributes[i], &b->attributes[i]);
    return is_same;
}

static struct application keep_application(struct learned_forms *l, const struct application *a)
{
    struct application kept = *a;
    for (int i = 0; i < operator_n_attributes(a->op); i++)
        if (a->attributes[i].ints) {
            int64_t *ints = arena_array(&l->arena, int64_t, a->attributes[i].count + 1);
            memcpy(ints, a->attributes[i].ints, a->attributes[i].count * sizeof *ints);
            kept.attributes[i].ints = ints;
        }
    return kept;
}

uint32_t learned_forms_of(struct learned_forms *l, const struct application *a, struct arena *arena)
{
    uint64_t hash = hash_of_application(a);
    uint32_t id = table_find(&l->by_application, hash, is_same_application, l, a);
    if (id == TABLE_NONE) {
        id = (uint32_t)l->forms.count;
        vec_push(&l->applications, keep_application(l, a));
        vec_push(&l->forms, axis_forms_learn(a, arena));
        table_insert(&l->by_application, hash, id);
    }
    return id;
}
