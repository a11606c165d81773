// Writes the table of operators/traits.h: `derive-traits > operator_traits.c`, when the program is built.
//
// Each operator is applied to random inputs and attributes, of sizes that tell axes, windows and groups apart, and
// asked for its definition. What all definitions have, or some, is what the operator has. An operator that none of many
// applications fits has no traits, and no proof speaks of it. None speaks of one that is something else at large ranks,
// large sizes, or numbers of its attributes, either (TRAIT_CHANGES_FORM).
#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include "expressions/definedness.h"
#include "operators/operator.h"
#include "operators/traits.h"
#include "operators/traits/application.h"
#include "operators/traits/carried_axes.h"
#include "operators/traits/larger_sizes.h"
#include "operators/traits/promises.h"
#include "operators/traits/repeated.h"
#include <stdio.h>
#include <stdlib.h>

// --- references ------------------------------------------------------------------------------------------------------
// Operators are taken, by the roles of their attributes and by what they sum over, for ones that join, cut, reduce,
// have windows, or multiply matrices. What proofs know of axes then is what such a one in operators/ does with them.
// An application, and that of another operator to its inputs.

// `call` is the application, whose attributes are explicit, that `d` defines. NULL: it is of no such kind.
static const struct operator* operator_reference(const struct definition *d, const struct operator_call *call)
{
    const struct operator* op = call->op;
    bool contracts = definition_traits(d) & TRAIT_CONTRACTS, names_axes = operator_has_role(op, ROLE_AXIS);
    enum operator_id id = operator_pools(op)           ? OP_POOLMAX
                          : operator_has_windows(op)   ? OP_CONV
                          : operator_enlarges(op)      ? OP_ENLARGE
                          : operator_merges_groups(op) ? OP_MERGE
                          : operator_joins(op)         ? OP_CONCAT
                          : operator_splits(op)        ? OP_SPLIT
                          : operator_permutes(op)      ? OP_TRANSPOSE
                          : operator_reduces_axes(op)  ? OP_REDUCESUM
                          : operator_repeats(op)       ? OP_BROADCAST
                          : operator_is_constant(op)   ? OP_IEWMUL
                          : (contracts && !names_axes) ? OP_MATMUL
                                                       : OP_COUNT;
    return id == OP_COUNT ? NULL : operators[id];
}

static void copy_attributes(const struct operator* reference, const struct operator_call *call,
                            struct attribute_value *values)
{
    for (int i = 0; i < operator_n_attributes(reference); i++) {
        enum attribute_role role = reference->attributes[i].role;
        int own = role == ROLE_NONE ? -1 : operator_find_role(call->op, role);
        values[i] = own < 0 ? values[i] : call->attributes[own];
    }
}

// Is the reference well-typed, of the first inputs and the attributes of the same roles, with results of their sizes?
// Poolings may be of windows that a maximum refuses, as they stand beside the image.
static bool operator_is_typed_like(const struct operator* reference, const struct operator_call *call,
                                   struct arena *scratch)
{
    struct application own, other;
    struct attribute_value values[MAX_ATTRIBUTES];
    struct operator_call asked = *call;
    bool has_fewer_inputs =
        operator_most_inputs(reference) != VARIADIC && call->n_inputs > operator_most_inputs(reference);
    asked.op = reference;
    asked.n_inputs = has_fewer_inputs ? operator_most_inputs(reference) : call->n_inputs;
    asked.attributes = values;
    operator_standard_attributes(reference, scratch, values);
    copy_attributes(reference, call, values);
    if (!application_copy(&own, call) || !application_copy(&other, &asked))
        return false;
    bool are_defined = application_define(&own, scratch), is_refused = !application_define(&other, scratch);
    bool is_like = is_refused ? operator_pools(reference) : are_defined && applications_make_alike(&own, &other);
    definition_free(&own.d);
    definition_free(&other.d);
    return is_like;
}

// --- probes ----------------------------------------------------------------------------------------------------------

// Found of each operator, with an activation and without, and tried at most.
enum {
    WANTED = 60,
    MOST_TRIES = 300000,
    WANTED_OF_OTHERS = 40,   // of large ranks, and of large sizes
    MOST_TRIES_OF_OTHERS = 60000,
    LEAST = 12,
    MOST_INPUTS = MOST_KNOWN_INPUTS
};
static const struct scale {
    int lowest_rank, highest_rank;
    int64_t sizes[5];
} scales[] = {{0, 5, {1, 2, 3, 4, 6}}, {5, MAX_RANK, {1, 2, 3, 1, 2}}, {0, 4, {1, 9, 12, 16, 31}}};

struct probe {
    const struct scale *scale;
    struct application a;
};

// --- applications ----------------------------------------------------------------------------------------------------

static bool is_one_of(struct random *r, uint64_t n)
{
    return random_below(r, n) == 0;
}

static struct type random_type(struct random *r, const struct scale *scale)
{
    static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_F32, DTYPE_F32, DTYPE_F32, DTYPE_I64, DTYPE_BOOL, DTYPE_F64};
    int64_t dim[MAX_RANK];
    int rank = scale->lowest_rank + (int)random_below(r, (uint64_t)(scale->highest_rank - scale->lowest_rank) + 1);
    for (int i = 0; i < rank; i++)
        dim[i] = scale->sizes[random_below(r, 5)];
    return type_make(dtypes[random_below(r, 7)], rank, dim);
}

// Often the type of the one before, some of its last axes, or one of its axes: operators want inputs that fit.
static struct type random_type_after(struct random *r, const struct scale *scale, const struct type *before)
{
    struct type t = random_type(r, scale);
    int rank = before->rank;
    t.dtype = is_one_of(r, 4) ? t.dtype : before->dtype;
    if (rank == 0 || is_one_of(r, 6))
        return t;
    int dropped = is_one_of(r, 2) ? 0 : (int)random_below(r, (uint64_t)rank);
    if (is_one_of(r, 2))
        return type_make(t.dtype, rank - dropped, &before->dim[dropped]);
    t.rank = is_one_of(r, 2) ? rank : t.rank;
    for (int i = 0; i < t.rank; i++)
        t.dim[i] = before->dim[i < rank && is_one_of(r, 2) ? i : (int)random_below(r, (uint64_t)rank)];
    return t;
}

static int64_t random_choice(struct random *r, const struct attribute *attribute)
{
    uint64_t n = 0;
    while (attribute->choices[n])
        n++;
    return (int64_t)random_below(r, n);
}

// A number that no role says anything of: a flag, a count, or none.
static int64_t random_number(struct random *r, const struct attribute *attribute)
{
    static const int64_t others[] = {0, -1, 5, 8, 16, 100};
    if (is_one_of(r, 4))
        return others[random_below(r, 6)];
    return is_one_of(r, 4) ? attribute->standard : 1 + (int64_t)random_below(r, 4);
}

static int64_t random_int(struct random *r, const struct attribute *attribute, const struct probe *p)
{
    int rank = p->a.call.n_inputs ? p->a.inputs[0].rank : p->scale->highest_rank;
    bool is_axis = attribute->role == ROLE_AXIS || attribute->role == ROLE_AXES || attribute->role == ROLE_PERMUTATION;
    if (is_axis)
        return rank ? (int64_t)random_below(r, (uint64_t)rank) : 0;
    if (attribute_roles[attribute->role].is_of_sizes && attribute_roles[attribute->role].plain == 0)
        return (int64_t)random_below(r, 3);
    if (attribute->role == ROLE_NONE)
        return random_number(r, attribute);
    return attribute->role == ROLE_KEEPDIMS ? (int64_t)random_below(r, 2) : 1 + (int64_t)random_below(r, 4);
}

static uint32_t random_length(struct random *r, const struct attribute *attribute, const struct probe *p)
{
    uint64_t lengths = (uint64_t)p->scale->highest_rank + 1;
    int rank = p->a.call.n_inputs ? p->a.inputs[0].rank : (int)random_below(r, lengths);
    return attribute_roles[attribute->role].per_axis ? attribute_role_length(attribute->role, rank)
                                                     : (uint32_t)random_below(r, lengths);
}

static void shuffle(struct random *r, int64_t *items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        items[i] = i;
    for (uint32_t i = n; i-- > 1;) {
        uint32_t j = (uint32_t)random_below(r, i + 1);
        int64_t item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

// Sizes that add up to the axis, or have the product of all.
static uint32_t random_parts(struct random *r, int64_t whole, int64_t *items)
{
    uint32_t n = 0;
    for (; whole > 0 && n < 4; n++, whole -= items[n - 1])
        items[n] = n == 3 ? whole : 1 + (int64_t)random_below(r, (uint64_t)whole);
    return n;
}

static uint32_t random_shape(struct random *r, const struct type *x, int64_t *items)
{
    uint32_t n = 0;
    for (int i = 0; i < x->rank; i++)
        if (i + 1 < x->rank && is_one_of(r, 4))
            items[n++] = x->dim[i] * x->dim[i + 1], i++;
        else if (x->dim[i] % 2 == 0 && n + 2 < MAX_RANK && is_one_of(r, 4))
            items[n++] = x->dim[i] / 2, items[n++] = 2;
        else
            items[n++] = x->dim[i] == 1 && is_one_of(r, 2) ? 3 : x->dim[i];
    return n;
}

static void fill_list(struct random *r, const struct attribute *attribute, struct probe *p, int i)
{
    const struct type *x = &p->a.inputs[0];
    int64_t *items = p->a.ints[i];
    uint32_t n = random_length(r, attribute, p);
    for (uint32_t j = 0; j < n; j++)
        items[j] = random_int(r, attribute, p);
    if (attribute->role == ROLE_PERMUTATION)
        shuffle(r, items, n);
    if (attribute->role == ROLE_PART_SIZES && x->rank > 0)
        n = random_parts(r, x->dim[p->a.ints[0][0]], items);
    if (attribute->role == ROLE_SHAPE && p->a.call.n_inputs && !is_one_of(r, 4))
        n = random_shape(r, x, items);
    if (attribute->role == ROLE_SHAPE && !p->a.call.n_inputs && n > 1 && is_one_of(r, 2))
        items[1] = items[0];
    p->a.attributes[i] = (struct attribute_value){n, items};
}

static void fill_attribute(struct random *r, const struct attribute *attribute, struct probe *p, int i, bool activates)
{
    static const double reals[] = {0.5, -0.25, 1, 2, 0, 100};
    int64_t *value = p->a.ints[i];
    if (attribute->kind == ATTRIBUTE_INTS) {
        fill_list(r, attribute, p, i);
        return;
    }
    if (attribute->kind == ATTRIBUTE_INT)
        *value = random_int(r, attribute, p);
    else if (attribute->kind == ATTRIBUTE_REAL)
        *value = real_to_bits(is_one_of(r, 7) ? attribute->standard_real : reals[random_below(r, 6)]);
    else if (attribute->kind == ATTRIBUTE_DTYPE)
        *value = is_one_of(r, 2) ? DTYPE_F32 : DTYPE_I64;
    else if (attribute->role == ROLE_ACTIVATION)
        *value = activates ? random_choice(r, attribute) : 0;
    else
        *value = random_choice(r, attribute);
    p->a.attributes[i] = (struct attribute_value){1, value};
}

static int most_inputs_tried(const struct operator* op)
{
    int most = operator_most_inputs(op) == VARIADIC ? op->min_inputs + 2 : operator_most_inputs(op);
    return most < MOST_INPUTS ? most : MOST_INPUTS;
}

static void fill_probe(struct random *r, const struct operator* op, bool activates, struct probe *p)
{
    int n = op->min_inputs + (int)random_below(r, (uint64_t)(most_inputs_tried(op) - op->min_inputs) + 1);
    for (int i = 0; i < n; i++)
        p->a.inputs[i] = i ? random_type_after(r, p->scale, &p->a.inputs[i - 1]) : random_type(r, p->scale);
    p->a.call = (struct operator_call){.op = op, .n_inputs = n, .inputs = p->a.inputs, .attributes = p->a.attributes};
    for (int i = 0; i < operator_n_attributes(op); i++)
        fill_attribute(r, &op->attributes[i], p, i, activates);
}

// --- traits ----------------------------------------------------------------------------------------------------------

struct findings {
    unsigned of_all, of_some;
    unsigned ranks[MOST_INPUTS];    // sets
    unsigned other_types, floats;   // likewise
    uint64_t output_types;          // a set
    int n;
    bool drops_axes, changes_functions, has_numbers, refuses_ranks, refuses_sizes;   // of others
    bool counts_none;
    const struct operator* other;   // that it is taken for, and not typed like; NULL: there is none
    const char *broken_promise;     // NULL: none is
};

// A contraction of another kind than that of matrices is one of no kind.
static unsigned kind_of(const struct definition *d, const struct operator_call *call, struct findings *f)
{
    const struct operator* reference = operator_reference(d, call);
    bool is_like = reference && operator_is_typed_like(reference, call, d->arena);
    if (reference && reference->id != OP_MATMUL && !is_like)
        f->other = reference;
    return is_like && reference->id == OP_MATMUL ? TRAIT_MULTIPLIES_MATRICES : 0;
}

static bool has_integers(const struct definition *d)
{
    bool has_some = dtype_is_integer(definition_output(d, 0)->dtype);
    return has_some || ANY(int, i, d->n_inputs, dtype_is_integer(d->inputs[i].dtype));
}

// Nothing is proved of integers, nor of what is read at places that they say.
static void note_form(struct definition *d, const struct operator_call *call, struct findings *f)
{
    if (has_integers(d))
        return;
    f->drops_axes = f->drops_axes || !operator_carries_axes(d, call, d->arena);
    f->refuses_ranks = f->refuses_ranks || !operator_takes_axes_twice(d, call, d->arena);
    f->refuses_sizes = f->refuses_sizes || !operator_takes_larger(call, d->arena);
    f->changes_functions = f->changes_functions || !operator_keeps_functions(d, call, d->arena);
    f->has_numbers = f->has_numbers || !operator_keeps_numbers(d, call, d->arena);
}

static unsigned traits_of_kind(struct definition *d, struct probe *p, struct findings *f)
{
    bool is_kernel = d->n_inputs == 0 && definition_output(d, 0)->rank >= 3;
    if (p->a.call.op->resolve)
        p->a.call.op->resolve(d, &p->a.call, p->a.attributes);
    note_form(d, &p->a.call, f);
    return (is_kernel ? TRAIT_IS_KERNEL : 0) | kind_of(d, &p->a.call, f);
}

// Attributes at which nothing is said of signs say nothing against a function's domain.
static bool has_positive_reals(const struct probe *p)
{
    return !ANY(int, i, operator_n_attributes(p->a.call.op),
                p->a.call.op->attributes[i].kind == ATTRIBUTE_REAL && real_from_bits(p->a.ints[i][0]) <= 0);
}

static bool reads_only_before(const struct definition *d, expr e, int64_t tensor)
{
    const struct expr_node *n = &d->nodes.items[e];
    struct operands below = expr_operands(d, e);
    return (n->kind != EXPR_READ || n->value < tensor) &&
           ALL(uint32_t, i, below.n, reads_only_before(d, below.items[i], tensor));
}

// Tensors are computed in the order in which they were added.
static bool is_in_order(const struct definition *d)
{
    return ALL(int, s, d->n_stages, reads_only_before(d, d->stages[s].body, d->n_inputs + s));
}

static void note_definition(struct definition *d, struct probe *p, struct findings *f)
{
    if (!is_in_order(d)) {
        f->broken_promise = "it reads a tensor before it is added";
        f->n++;
        return;
    }
    unsigned traits = definition_traits(d);
    f->counts_none = f->counts_none || definition_counts_none(d);
    if (!f->broken_promise && p->scale == &scales[0])
        f->broken_promise = operator_broken_promise(&p->a.call, d->arena);
    traits &= has_positive_reals(p) ? UINT32_MAX : ~(unsigned)TRAIT_PARTIAL;
    unsigned repeated = traits & TRAIT_ENTRY_BY_ENTRY ? operator_repeated_traits(&p->a.call, d->arena) : 0;
    f->of_all &= traits | repeated | traits_of_kind(d, p, f);
    f->of_some |= traits & TRAITS_OF_SOME;
    for (int i = 0; i < d->n_inputs; i++) {
        f->ranks[i] |= 1u << d->inputs[i].rank;
        f->other_types |= d->inputs[i].dtype == definition_output(d, 0)->dtype ? 0 : 1u << i;
        f->floats |= dtype_is_float(d->inputs[i].dtype) ? 1u << i : 0;
    }
    f->output_types |= (uint64_t)1 << definition_output(d, 0)->dtype;
    f->n++;
}

static void find_traits_at(const struct scale *scale, const struct operator* op, bool activates, struct findings *f)
{
    bool is_first = scale == &scales[0];
    int wanted = f->n + (is_first ? WANTED : WANTED_OF_OTHERS), tries = is_first ? MOST_TRIES : MOST_TRIES_OF_OTHERS;
    struct random r = random_seed(1);
    ARENA(arena);
    struct definition d FREED_BY(definition_free) = {0};
    struct probe p = {.scale = scale};
    definition_init(&d, &arena, 0, NULL);
    for (int i = 0; i < tries && f->n < wanted; i++) {
        struct arena_mark mark = arena_mark(&arena);
        fill_probe(&r, op, activates, &p);
        definition_clear(&d, p.a.call.n_inputs, p.a.inputs);
        d.is_silent = true;
        if (operator_define(&d, &p.a.call))
            note_definition(&d, &p, f);
        arena_release(&arena, mark);
    }
}

// Are axes carried along? Some applications may go entry by entry where others do not.
static bool has_axes_carried(const struct operator* op, const struct findings *f)
{
    static const enum attribute_role roles[] = {ROLE_AXIS, ROLE_AXES, ROLE_PERMUTATION, ROLE_KERNEL, ROLE_STRIDE};
    bool has_role = ANY(size_t, i, sizeof roles / sizeof *roles, operator_has_role(op, roles[i]));
    return has_role || (f->of_all & (TRAIT_ENTRY_BY_ENTRY | TRAIT_CONTRACTS));
}

// Operators with an axis that do not keep ranks, and those of one rank, are argued of at no others.
static const char *what_is_of_no_form(const struct operator* op, const struct findings *f)
{
    bool carries_axes = !f->drops_axes || (operator_has_role(op, ROLE_AXIS) && !(f->of_all & TRAIT_KEEPS_RANK));
    bool has_ranks = __builtin_popcount(f->ranks[0]) > 1 && has_axes_carried(op, f);
    return !carries_axes || f->changes_functions ? "is another function at other ranks or sizes"
           : has_ranks && f->refuses_ranks       ? "refuses ranks above those that it takes"
           : f->refuses_sizes                    ? "refuses sizes above those that it takes"
           : f->counts_none                      ? "divides by a number of places that is 0"
           : f->has_numbers ? "has numbers that depend on sizes, and divide no sum over as many places"
                            : NULL;
}

static struct findings find_traits(const struct operator* op, bool activates)
{
    struct findings f = {.of_all = TRAITS_OF_ALL | TRAIT_IS_KERNEL | TRAIT_MULTIPLIES_MATRICES | TRAIT_IDEMPOTENT |
                                   TRAIT_INVOLUTION};
    if (!op->define)
        return (struct findings){0};
    for (size_t i = 0; i < sizeof scales / sizeof *scales && op->min_inputs <= MOST_INPUTS; i++)
        find_traits_at(&scales[i], op, activates, &f);
    const char *what = what_is_of_no_form(op, &f);
    if (f.n < LEAST)
        fprintf(stderr, "derive-traits: nothing is known of %s\n", op->name);
    else if (what) {
        fprintf(stderr, "derive-traits: %s %s: no proof speaks of it\n", op->name, what);
        f.of_some |= TRAIT_CHANGES_FORM | (f.counts_none ? TRAIT_PARTIAL : 0);
    }
    return f.n < LEAST ? (struct findings){0} : f;
}

static unsigned traits_of(const struct findings *f)
{
    return f->of_all | f->of_some;
}

// The statements of an operator's table have to be true.
static bool keeps_promises(const struct operator* op, const struct findings *f)
{
    if (f->broken_promise)
        fprintf(stderr, "derive-traits: %s is not what its table says: %s\n", op->name, f->broken_promise);
    else if (f->other)
        fprintf(stderr, "derive-traits: %s is not what its table says: it has the roles of %s, and not its types\n",
                op->name, f->other->name);
    return !f->broken_promise && !f->other;
}

static bool has_true_flags(const struct operator* op, unsigned traits)
{
    bool is_true = (!(op->flags & OPERATOR_IS_ELEMENTWISE) || (traits & TRAIT_ENTRY_BY_ENTRY)) &&
                   (!(op->flags & OPERATOR_KEEPS_RANK) || (traits & TRAIT_KEEPS_RANK));
    if (!is_true)
        fprintf(stderr, "derive-traits: %s does not keep what its flags say\n", op->name);
    return is_true;
}

// The output type of an operator whose inputs may all have others.
static enum dtype output_type(const struct operator* op, const struct findings *f)
{
    bool is_one = op->min_inputs > 0 && operator_most_inputs(op) != VARIADIC &&
                  f->other_types == (1u << operator_most_inputs(op)) - 1 &&
                  (f->output_types & (f->output_types - 1)) == 0;
    return is_one ? (enum dtype)__builtin_ctzll(f->output_types) : DTYPE_NONE;
}

// Inputs that are not tried, of an operator that takes any number, are like the last one that is.
static unsigned of_all_inputs(const struct operator* op, unsigned of_tried)
{
    int last = most_inputs_tried(op) - 1;
    bool goes_on = operator_most_inputs(op) == VARIADIC && (of_tried >> last & 1);
    return (of_tried | (goes_on ? ~0u << last : 0)) & ((1u << MOST_INPUTS) - 1);
}

static void print_traits(const struct operator* op, const struct findings *plain, const struct findings *activated)
{
    printf("    {%#x, %#x, {", traits_of(plain), traits_of(activated));
    for (int i = 0; i < MOST_INPUTS; i++) {
        bool is_one = __builtin_popcount(plain->ranks[i]) == 1;
        printf("%s%d", i ? ", " : "", is_one ? __builtin_ctz(plain->ranks[i]) : RANK_OPEN);
    }
    printf("}, %#x, %#x, %d},   // %s\n", of_all_inputs(op, plain->other_types), of_all_inputs(op, plain->floats),
           output_type(op, plain), op->name);
}

int main(void)
{
    bool is_true = true;
    printf("// Made by derive-traits from the definitions.\n#include \"operators/traits.h\"\n\n"
           "const struct operator_traits operator_traits[OP_COUNT] = {\n");
    for (int i = 0; i < operator_count(); i++) {
        const struct operator* op = operators[i];
        struct findings plain = find_traits(op, false);
        bool has_activation = operator_find_role(op, ROLE_ACTIVATION) >= 0;
        struct findings activated = has_activation ? find_traits(op, true) : plain;
        bool has_true_table = keeps_promises(op, &plain) && keeps_promises(op, &activated);
        is_true = is_true && has_true_table && (!op->define || has_true_flags(op, traits_of(&plain)));
        print_traits(op, &plain, &activated);
    }
    printf("};\n");
    return is_true ? EXIT_SUCCESS : EXIT_FAILURE;
}
