#include "verifier/judge.h"

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
    *j = (struct judge){.step_limit = 4000000};
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

// --- ranks
// ------------------------------------------------------------------------------------------------------------

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

// --- exploring
// --------------------------------------------------------------------------------------------------------

struct exploration {
    struct bounds *bounds;
    uint64_t limit;
};

static bool explore_instance(void *context, struct instance *in)
{
    struct exploration *ex = context;
    bounds_add(ex->bounds, in);
    return ex->limit-- > 0;
}

static bool explore(struct judge *j, const struct equation *eq, const struct box *box, struct bounds *ret_bounds)
{
    struct exploration ex = {ret_bounds, 4000};
    struct enumeration e = {.equation = eq,
                            .typing = &j->typing,
                            .scratch = &j->scratch,
                            .box = box,
                            .wanted = WANTED_BOTH,
                            .step_limit = j->step_limit / 4,
                            .visit = explore_instance,
                            .context = &ex};
    enumerate_instances(&e);
    return e.instances > 0;
}

// The smallest uniform box with an instance, and one more size where windows are used differently.
static int find_box(struct judge *j, const struct equation *eq, struct box *ret_box, struct bounds *ret_bounds,
                    int max_rank)
{
    for (int other_dtypes = 0; other_dtypes < 2; other_dtypes++)
        for (int size = 2; size <= 6; size++) {
            memset(ret_bounds, 0, sizeof *ret_bounds);
            *ret_box = box_uniform(max_rank, size);
            ret_box->has_other_dtypes = other_dtypes;
            if (!explore(j, eq, ret_box, ret_bounds))
                continue;
            if (!ret_bounds->has_other_windows || size >= 3)
                return size;
        }
    return 0;
}

// Sizes by what was argued; a type that exploring never met in a well-typed instance is left at the explored size.
static void box_from_bounds(struct box *box, const struct bounds *b)
{
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= box->max_rank; r++)
            for (int a = 0; a < r; a++)
                if (b->size[v][r][a])
                    box->bound[v][r][a] = b->size[v][r][a];
}

// --- testing
// ----------------------------------------------------------------------------------------------------------

struct test {
    struct judge *j;
    struct judgement *result;
    bool only_one_sided;   // instances in which both sides are well-typed were compared already
    judge_visit_fn *visit;
    void *context;
};

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
    if (c == COMPARISON_EQUAL || c == COMPARISON_BOTH_ILL_TYPED)
        return true;
    t->result->failures++;
    t->result->verdict = c == COMPARISON_UNDECIDED ? VERDICT_UNDECIDED : VERDICT_REFUTED;
    text_clear(&t->result->counterexample);
    instance_print_difference(&t->result->counterexample, in, &t->j->pool, &difference);
    return c == COMPARISON_UNDECIDED;
}

static bool test_box(struct test *t, const struct equation *eq, const struct box *box, enum wanted_sides wanted)
{
    struct enumeration e = {.equation = eq,
                            .typing = &t->j->typing,
                            .scratch = &t->j->scratch,
                            .box = box,
                            .wanted = wanted,
                            .step_limit = t->j->step_limit,
                            .visit = test_instance,
                            .context = t};
    bool goes_on = enumerate_instances(&e);
    t->result->was_cut_short = t->result->was_cut_short || e.was_cut_short;
    return goes_on;
}

static bool test_both_ways(struct test *t, const struct equation *eq, const struct box *box)
{
    t->only_one_sided = false;
    if (!test_box(t, eq, box, eq->is_strong ? WANTED_LEFT : WANTED_BOTH))
        return false;
    t->only_one_sided = true;
    return !eq->is_strong || test_box(t, eq, box, WANTED_RIGHT);
}

static void test_everywhere(struct test *t, const struct equation *eq, struct box *box, int explored_size)
{
    if (!test_both_ways(t, eq, box))
        return;
    if (!eq->is_strong && !pattern_looks_at_split_trees(eq->pattern))
        return;
    struct box cut = box_uniform(box->max_rank > 3 ? 3 : box->max_rank, explored_size > 3 ? 3 : explored_size);
    cut.has_split_trees = true;
    test_both_ways(t, eq, &cut);
}

static bool has_complete_domains(const struct equation *eq, int max_rank, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    bool is_complete = true;
    for (uint32_t v = 0; v < eq->pattern->n_attribute_variables; v++)
        is_complete = is_complete && domain_of_variable(eq->pattern, v, max_rank, a).is_complete;
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

static bool choose_box(struct judge *j, const struct equation *eq, struct judgement *r, struct box *ret_box,
                       int *ret_explored)
{
    r->max_rank = rank_to_test(eq->pattern);
    *ret_explored = find_box(j, eq, ret_box, &r->bounds, r->max_rank);
    if (j->fixed_bound) {
        bool has_other_dtypes = ret_box->has_other_dtypes;
        *ret_box = box_uniform(4, j->fixed_bound);
        ret_box->has_other_dtypes = has_other_dtypes;
    } else
        box_from_bounds(ret_box, &r->bounds);
    return *ret_explored > 0;
}

void judge_equation(struct judge *j, const struct equation *eq, struct judgement *ret_result)
{
    struct box box;
    int explored;
    *ret_result = (struct judgement){.verdict = VERDICT_PROVED};
    typing_trim(&j->typing);
    bool has_instances = choose_box(j, eq, ret_result, &box, &explored);
    struct test t = {.j = j, .result = ret_result};
    test_everywhere(&t, eq, &box, has_instances ? explored : 2);
    if (ret_result->verdict != VERDICT_PROVED)
        return;
    if (!has_instances) {
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
    struct box box;
    int explored;
    choose_box(j, eq, &scratch, &box, &explored);
    struct test t = {.j = j, .result = &scratch, .visit = visit, .context = context};
    test_everywhere(&t, eq, &box, explored ? explored : 2);
    judgement_free(&scratch);
}

// --- printing
// ---------------------------------------------------------------------------------------------------------

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
