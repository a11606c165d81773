#include "verifier/judge.h"

#include "core/hash.h"
#include "verifier/domain.h"
#include <string.h>

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICT_COUNT] = {
        [VERDICT_PROVED] = "proved",       [VERDICT_TESTED] = "tested",   [VERDICT_REFUTED] = "refuted",
        [VERDICT_UNDECIDED] = "undecided", [VERDICT_VACUOUS] = "vacuous",
    };
    return names[verdict];
}

void judge_init(struct judge *j)
{
    *j = (struct judge){.step_limit = 100000000, .instance_limit = UINT64_MAX};
    typing_init(&j->typing);
    polynomial_pool_init(&j->pool);
    arena_init(&j->scratch);
}

void judge_free(struct judge *j)
{
    typing_free(&j->typing);
    polynomial_pool_free(&j->pool);
    arena_free(&j->scratch);
}

void judgement_free(struct judgement *result)
{
    text_free(&result->counterexample);
}

// --- ranks -----------------------------------------------------------------------------------------------------------

static int64_t largest_integer(const struct attribute_term *t)
{
    int64_t largest = t->kind == TERM_INTEGER ? t->value : 0;
    for (uint32_t i = 0; i < t->count; i++) {
        int64_t n = largest_integer(t->operands[i]);
        largest = n > largest ? n : largest;
    }
    return largest;
}

static int64_t largest_axis_named(const struct pattern *p)
{
    int64_t largest = 0;
    for (size_t n = 0; n < p->nodes.count; n++) {
        const struct pattern_node *node = &p->nodes.items[n];
        int axis = operator_find_attribute(node->op, "axis");
        for (uint32_t j = 0; axis >= 0 && j < node->attributes[axis].count; j++) {
            int64_t named = largest_integer(node->attributes[axis].terms[j]);
            largest = named > largest ? named : largest;
        }
    }
    return largest;
}

// A rank at which every axis named is a leading one that nothing else tells from its neighbours, and the last two axes
// are others; one rank more only adds another such axis.
static int rank_to_test(const struct pattern *p)
{
    int64_t rank = largest_axis_named(p) + 3;
    return rank < 4 ? 4 : rank > 6 ? 6 : (int)rank;
}

// --- exploring -------------------------------------------------------------------------------------------------------

#define MAX_KINDS 256

// Instances whose definitions have the same structure (formulas without the sizes in them) are alike: a few of each
// kind are analysed, the first ones and those without a size of 1.
struct kind {
    uint64_t structure;
    int analysed, without_ones;
};
struct exploration {
    struct bounds *bounds;
    int n_kinds;
    struct kind kinds[MAX_KINDS];
};

static uint64_t structure_of_definition(const struct definition *d, uint64_t hash)
{
    for (size_t i = 0; i < d->nodes.count; i++) {
        const struct expr_node *n = &d->nodes.items[i];
        uint64_t shape = (uint64_t)n->kind << 56 ^ (uint64_t)n->fn << 48 ^ (uint64_t)n->count << 40;
        uint64_t operands = (uint64_t)n->a << 40 ^ (uint64_t)n->b << 20 ^ n->c;
        hash = hash_mix(hash, shape ^ operands ^ (n->kind == EXPR_VARIABLE ? (uint64_t)n->value << 8 : 0));
    }
    return hash;
}

static uint64_t structure_of_instance(struct instance *in, bool *ret_has_ones)
{
    uint64_t hash = 0;
    *ret_has_ones = false;
    for (uint32_t v = 0; v < in->equation->pattern->n_variables; v++) {
        hash = hash * 10 + (in->types[v] ? (uint64_t)in->types[v]->rank + 1 : 0);
        for (int a = 0; in->types[v] && a < in->types[v]->rank; a++)
            *ret_has_ones = *ret_has_ones || in->types[v]->dim[a] == 1;
    }
    for (size_t n = 0; n < in->equation->pattern->nodes.count; n++)
        if (in->calls[n])
            hash = structure_of_definition(typing_definition(in->typing, in->calls[n]), hash);
    return hash;
}

static struct kind *find_kind(struct exploration *ex, uint64_t structure)
{
    for (int i = 0; i < ex->n_kinds; i++)
        if (ex->kinds[i].structure == structure)
            return &ex->kinds[i];
    if (ex->n_kinds == MAX_KINDS)
        return NULL;
    ex->kinds[ex->n_kinds].structure = structure;
    return &ex->kinds[ex->n_kinds++];
}

static bool explore_instance(void *context, struct instance *in)
{
    struct exploration *ex = context;
    bool has_ones;
    struct kind *kind = find_kind(ex, structure_of_instance(in, &has_ones));
    if (!kind)
        ex->bounds->doubt = "too many kinds of instances";
    else if (has_ones ? kind->analysed++ < 6 : kind->without_ones++ < 4)
        bounds_add(ex->bounds, in);
    return true;
}

// Fills the bounds from the instances of a box; false when there are none.
static bool explore(struct judge *j, const struct equation *eq, const struct box *box,
                    const struct attribute_value *attributes, struct bounds *ret_bounds)
{
    struct exploration ex = {.bounds = ret_bounds};
    struct enumeration e = {.equation = eq,
                            .typing = &j->typing,
                            .scratch = &j->scratch,
                            .box = box,
                            .wanted = WANTED_BOTH,
                            .attributes = attributes,
                            .step_limit = j->step_limit / 4,
                            .visit = explore_instance,
                            .context = &ex};
    memset(ret_bounds, 0, sizeof *ret_bounds);
    enumerate_instances(&e);
    j->steps += e.steps;
    return e.instances > 0;
}

// The smallest uniform box with an instance. Split trees and other element types are tried when nothing else has one.
static int find_box(struct judge *j, const struct equation *eq, int max_rank, struct box *ret_box,
                    struct bounds *ret_bounds)
{
    bool may_need_trees = pattern_looks_at_split_trees(eq->pattern);
    for (int attempt = 0; attempt < 4; attempt++)
        for (int size = 2; size <= 6; size++) {
            if ((attempt & 1) && !may_need_trees)
                continue;
            *ret_box = box_uniform(max_rank, size);
            ret_box->has_split_trees = attempt & 1;
            ret_box->has_other_dtypes = attempt & 2;
            if (explore(j, eq, ret_box, NULL, ret_bounds))
                return size;
        }
    *ret_box = box_uniform(max_rank, 2);
    return 0;
}

// Windows on different spatial axes do not meet: where they are used differently the first axis is tested in full, and
// the others up to 3.
static bool has_one_axis_in_full(const struct bounds *b, int rank, int axis)
{
    return !b->has_other_windows || rank < 4 || axis < 3;
}

// Sizes by what was argued; a type that exploring never met in a well-typed instance is left at the explored size.
static void box_from_bounds(struct box *box, const struct bounds *b)
{
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= box->max_rank; r++)
            for (int a = 0; a < r; a++)
                if (b->size[v][r][a])
                    box->bound[v][r][a] = has_one_axis_in_full(b, r, a) || b->size[v][r][a] < 3 ? b->size[v][r][a] : 3;
}

// --- testing ---------------------------------------------------------------------------------------------------------

struct test {
    struct judge *j;
    const struct equation *equation;
    struct judgement *result;
    const struct box *explored;   // a uniform box with instances, of sizes up to
    int explored_size;            // 0: none was found
    bool only_one_sided;          // instances in which both sides are well-typed were compared already
    judge_visit_fn *visit;
    void *context;
};

static bool has_cut_inputs(const struct instance *in)
{
    for (uint32_t v = 0; v < in->equation->pattern->n_variables; v++)
        for (int a = 0; in->types[v] && a < in->types[v]->rank; a++)
            if (in->types[v]->split[a])
                return true;
    return false;
}

static bool test_instance(void *context, struct instance *in)
{
    struct test *t = context;
    struct difference difference;
    enum comparison c = instance_compare(in, &t->j->pool, &difference);
    if (t->only_one_sided && c == COMPARISON_EQUAL)
        return true;
    t->result->instances++;
    t->result->needs_reals = t->result->needs_reals || difference.needs_reals;
    if (t->visit)
        return t->visit(t->context, in, c);
    if (t->result->instances >= t->j->instance_limit)
        t->result->was_cut_short = true;
    if (c == COMPARISON_EQUAL || c == COMPARISON_BOTH_ILL_TYPED)
        return !t->result->was_cut_short;
    t->result->has_cut_inputs = has_cut_inputs(in);
    t->result->failures++;
    t->result->verdict = c == COMPARISON_UNDECIDED ? VERDICT_UNDECIDED : VERDICT_REFUTED;
    text_clear(&t->result->counterexample);
    instance_print_difference(&t->result->counterexample, in, &t->j->pool, &difference);
    return c == COMPARISON_UNDECIDED;
}

static uint64_t steps_left(const struct judge *j)
{
    return j->steps < j->step_limit ? j->step_limit - j->steps : 0;
}

static bool test_box(struct test *t, const struct box *box, const struct attribute_value *attributes,
                     enum wanted_sides wanted)
{
    struct enumeration e = {.equation = t->equation,
                            .typing = &t->j->typing,
                            .scratch = &t->j->scratch,
                            .box = box,
                            .wanted = wanted,
                            .attributes = attributes,
                            .step_limit = steps_left(t->j),
                            .visit = test_instance,
                            .context = t};
    bool goes_on = enumerate_instances(&e);
    t->j->steps += e.steps;
    t->result->was_cut_short = t->result->was_cut_short || e.was_cut_short;
    return goes_on && !e.was_cut_short;
}

static bool test_both_ways(struct test *t, const struct box *box, const struct attribute_value *attributes)
{
    bool is_strong = t->equation->is_strong;
    t->only_one_sided = false;
    if (!test_box(t, box, attributes, is_strong ? WANTED_LEFT : WANTED_BOTH))
        return false;
    t->only_one_sided = true;
    return !is_strong || test_box(t, box, attributes, WANTED_RIGHT);
}

static void merge_bounds(struct bounds *all, const struct bounds *more)
{
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= MAX_RANK; r++)
            for (int a = 0; a < MAX_RANK; a++) {
                if (more->size[v][r][a] > all->size[v][r][a])
                    all->size[v][r][a] = more->size[v][r][a];
                if (more->reason[v][r][a] > all->reason[v][r][a])
                    all->reason[v][r][a] = more->reason[v][r][a];
            }
    all->has_window = all->has_window || more->has_window;
    all->has_other_windows = all->has_other_windows || more->has_other_windows;
    all->doubt = all->doubt ? all->doubt : more->doubt;
}

// One assignment of the attributes: explores small sizes, then tests up to the bounds that these argue for.
static bool test_attributes(void *context, const struct attribute_value *attributes)
{
    struct test *t = context;
    struct box box = *t->explored;
    struct bounds bounds;
    bool is_found = explore(t->j, t->equation, &box, attributes, &bounds);
    if (!is_found && t->explored_size < 3 && t->result->bounds.has_window) {
        box = box_uniform(box.max_rank, 3);
        box.has_split_trees = t->explored->has_split_trees;
        box.has_other_dtypes = t->explored->has_other_dtypes;
        is_found = explore(t->j, t->equation, &box, attributes, &bounds);
    }
    if (t->j->fixed_bound) {
        bool has_other_dtypes = box.has_other_dtypes, has_split_trees = box.has_split_trees;
        box = box_uniform(4, t->j->fixed_bound);
        box.has_split_trees = has_split_trees;
        box.has_other_dtypes = has_other_dtypes;
    } else if (is_found) {
        merge_bounds(&t->result->bounds, &bounds);
        box_from_bounds(&box, &bounds);
    }
    return test_both_ways(t, &box, attributes);
}

static void test_everywhere(struct test *t)
{
    const struct equation *eq = t->equation;
    enum domain_extent extent = t->j->fixed_bound                     ? DOMAIN_ALL
                                : t->result->bounds.has_other_windows ? DOMAIN_ONE_AXIS
                                                                      : DOMAIN_SOME;
    if (!enumerate_attributes(eq, t->result->max_rank, extent, &t->j->scratch, test_attributes, t))
        return;
    if (!eq->is_strong && !pattern_looks_at_split_trees(eq->pattern))
        return;
    struct box cut = box_uniform(t->result->max_rank > 3 ? 3 : t->result->max_rank, 2);
    cut.has_split_trees = true;
    test_both_ways(t, &cut, NULL);
}

static bool has_complete_domains(const struct equation *eq, int max_rank, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    bool is_complete = true;
    for (uint32_t v = 0; v < eq->pattern->n_attribute_variables; v++)
        is_complete = is_complete && domain_of_variable(eq->pattern, v, max_rank, true, a).is_complete;
    arena_release(a, mark);
    return is_complete;
}

static const char *find_doubt(struct judge *j, const struct equation *eq, const struct judgement *r)
{
    if (r->was_cut_short)
        return "too many instances: the search was cut short";
    if (j->fixed_bound)
        return "tested up to the bound that was asked for";
    if (r->bounds.doubt)
        return r->bounds.doubt;
    if (!has_complete_domains(eq, r->max_rank, &j->scratch) && !r->bounds.has_window)
        return "attribute values are tried up to small ones";
    return NULL;
}

static void test_equation(struct judge *j, const struct equation *eq, struct test *t, struct box *explored)
{
    j->steps = 0;
    t->j = j;
    t->equation = eq;
    t->result->max_rank = rank_to_test(eq->pattern);
    t->explored_size = find_box(j, eq, t->result->max_rank, explored, &t->result->bounds);
    t->explored = explored;
    test_everywhere(t);
}

void judge_equation(struct judge *j, const struct equation *eq, struct judgement *ret_result)
{
    struct box explored;
    *ret_result = (struct judgement){.verdict = VERDICT_PROVED};
    struct test t = {.result = ret_result};
    typing_trim(&j->typing);
    test_equation(j, eq, &t, &explored);
    if (ret_result->verdict != VERDICT_PROVED)
        return;
    if (t.explored_size == 0) {
        ret_result->verdict = VERDICT_VACUOUS;
        return;
    }
    ret_result->doubt = find_doubt(j, eq, ret_result);
    if (ret_result->doubt)
        ret_result->verdict = VERDICT_TESTED;
}

void judge_each_instance(struct judge *j, const struct equation *eq, judge_visit_fn *visit, void *context)
{
    struct judgement scratch = {0};
    struct box explored;
    struct test t = {.result = &scratch, .visit = visit, .context = context};
    test_equation(j, eq, &t, &explored);
    judgement_free(&scratch);
}

void judge_explore(struct judge *j, const struct equation *eq, bool (*visit)(void *context, struct instance *in),
                   void *context)
{
    bool may_need_trees = pattern_looks_at_split_trees(eq->pattern);
    for (int attempt = 0; attempt < 4; attempt++)
        for (int size = 2; size <= 6; size++) {
            if ((attempt & 1) && !may_need_trees)
                continue;
            struct box box = box_uniform(rank_to_test(eq->pattern), size);
            box.has_split_trees = attempt & 1;
            box.has_other_dtypes = attempt & 2;
            struct enumeration e = {.equation = eq,
                                    .typing = &j->typing,
                                    .scratch = &j->scratch,
                                    .box = &box,
                                    .wanted = WANTED_BOTH,
                                    .step_limit = j->step_limit / 4,
                                    .visit = visit,
                                    .context = context};
            enumerate_instances(&e);
            if (e.instances > 0)
                return;
        }
}

// --- printing --------------------------------------------------------------------------------------------------------

static void print_bounds_of_variable(struct text *out, const struct equation *eq, const struct judgement *r, uint32_t v,
                                     int rank)
{
    const uint8_t *size = r->bounds.size[v][rank], *reason = r->bounds.reason[v][rank];
    for (int axis = 0; axis < rank; axis++)
        if (size[axis])
            text_printf(out, "  ?%s of rank %d, axis %d: 1..%d (%s)\n", eq->pattern->variables[v], rank, axis,
                        size[axis], bound_reason_text((enum bound_reason)reason[axis]));
}

void judgement_print_bounds(struct text *out, const struct equation *eq, const struct judgement *r)
{
    text_printf(out, "  ranks up to %d, %llu instances\n", r->max_rank, (unsigned long long)r->instances);
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        for (int rank = 1; rank <= r->max_rank; rank++)
            print_bounds_of_variable(out, eq, r, v, rank);
}
