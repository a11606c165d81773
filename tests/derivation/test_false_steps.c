// False steps are refused: rules with parameters that are off by one, bounds that are wrong, substitutions that are no
// bijections. A rule that accepts changed parameters must have been right to, which values over the prime field tell; and
// these tell scopes that were changed without a rule.
#include "derivation/programs/check.h"
#include "derivation/rules/factorize.h"
#include "derivation/rules/name_operand.h"
#include "derivation/rules/quotient.h"
#include "derivation/rules/relax_sum.h"
#include "derivation/rules/solve_sum.h"
#include "derivation/rules/substitute_sums.h"
#include "derivation/rules/tighten.h"
#include "derivation/rules/unwrap.h"
#include "tests/derivation/problem.h"
#include "tests/support/cases.h"

#define SCOPES "derivation/scopes.cases"

struct counts {
    int refused, accepted, wrong;   // accepted ones agree; wrong ones do not
};

static void count_equal(struct problem *p, int original, int program, struct counts *counts)
{
    bool is_accepted = program != NO_SCOPE,
         agrees = is_accepted && programs_agree_everywhere(&p->dv, original, program, 3);
    counts->refused += !is_accepted;
    counts->accepted += agrees;
    counts->wrong += is_accepted && !agrees;
}

static void count(struct problem *p, int program, struct counts *counts)
{
    count_equal(p, p->program, program, counts);
}

static int one_off(struct random *random)
{
    return random_below(random, 2) ? 1 : -1;
}

// --- axes ------------------------------------------------------------------------------------------------------------

static void change_substitution(struct pool *p, struct random *random, const struct scope *s,
                                struct axis_substitution *by)
{
    int old = (int)random_below(random, (uint64_t)s->type.rank),
        new = (int)random_below(random, (uint64_t)by->type.rank);
    expr *index = random_below(random, 2) ? &by->old_by_new[old] : &by->new_by_old[new];
    switch (random_below(random, 5)) {
    case 0:
        *index = pool_index_add(p, *index, pool_integer(p, one_off(random)));
        break;
    case 1:
        *index = pool_integer(p, 0);
        break;
    case 2:
        by->type.dim[new] = by->type.dim[new] > 1 ? by->type.dim[new] - 1 : 2;
        break;
    case 3:
        *index = pool_index_mul(p, *index, 2);
        break;
    default:
        by->new_by_old[new] = by->new_by_old[(new + 1) % by->type.rank];
    }
}

static void try_axes(struct problem *p, struct random *random, struct counts *counts)
{
    struct pool *pool = &p->dv.all.pool;
    struct scope s;
    struct axis_substitution by;
    assert_true(scope_take(pool, p->program, &s));
    int axis = (int)random_below(random, (uint64_t)s.type.rank), rest = (axis + 1) % s.type.rank;
    struct quotient q = {axis, scope_axis(pool, &s, axis), 1 + (int64_t)random_below(random, 3)};
    if (s.type.rank > 1 && random_below(random, 2))
        q.index = pool_index_add(pool, q.index, scope_axis(pool, &s, rest));
    struct type old = s.type;
    if (!quotients_substitution(pool, &s, &q, 1, &by))
        return;
    struct scope right = s;
    assert_true(rule_substitute_axes(pool, &right, &by));
    change_substitution(pool, random, &s, &by);
    bool is_accepted = rule_substitute_axes(pool, &s, &by);
    count(p, is_accepted ? scope_copy(pool, &old, scope_make(pool, &s), by.new_by_old) : NO_SCOPE, counts);
}

// --- sums ------------------------------------------------------------------------------------------------------------

static void try_sums(struct problem *p, struct random *random, struct counts *counts)
{
    struct pool *pool = &p->dv.all.pool;
    struct scope s;
    assert_true(scope_take(pool, p->program, &s));
    uint32_t sum = s.sums[random_below(random, (uint64_t)s.n_sums)];
    int64_t extent = variable_extent(pool, sum), tile = 2 + (int64_t)random_below(random, 2);
    struct sum_substitution by = {.n_old = 1, .n_new = 2, .old = {sum}};
    by.new[0] = scope_new_sum(pool, &s, extent / tile + 1 - (int64_t)random_below(random, 2));
    by.new[1] = scope_new_sum(pool, &s, tile + (int64_t)random_below(random, 2));
    expr old = pool_variable(pool, sum), scaled = pool_index_mul(pool, pool_variable(pool, by.new[0]), tile);
    by.old_by_new[0] = pool_index_add(pool, scaled, pool_variable(pool, by.new[1]));
    by.new_by_old[0] = pool_index_div(pool, old, tile + (int64_t)random_below(random, 2));
    by.new_by_old[1] = pool_index_mod(pool, old, tile);
    if (random_below(random, 3) == 0)
        by.old_by_new[0] = pool_index_add(pool, by.old_by_new[0], pool_integer(pool, one_off(random)));
    count(p, rule_substitute_sums(pool, &s, &by) ? scope_make(pool, &s) : NO_SCOPE, counts);
}

static void try_relaxing(struct problem *p, struct random *random, struct counts *counts)
{
    struct pool *pool = &p->dv.all.pool;
    struct scope s;
    assert_true(scope_take(pool, p->program, &s));
    int sum = (int)random_below(random, (uint64_t)s.n_sums);
    int64_t extent = variable_extent(pool, s.sums[sum]) - 1 + (int64_t)random_below(random, 4);
    count(p, rule_relax_sum(pool, &s, sum, extent) ? scope_make(pool, &s) : NO_SCOPE, counts);
}

// A guard of an axis and a sum, with all numbers at random.
static expr random_guard(struct pool *p, struct random *random, const struct scope *s, uint32_t sum)
{
    static const int64_t factors[] = {-2, -1, 1, 1, 2}, signs[] = {-2, -1, -1, -1, 1};
    expr axis = scope_axis(p, s, (int)random_below(random, (uint64_t)s->type.rank));
    expr index = pool_index_mul(p, pool_variable(p, sum), factors[random_below(random, COUNT_OF(factors))]);
    index = pool_index_add(p, index, pool_integer(p, (int64_t)random_below(random, 3) - 1));
    index = pool_index_add(p, index, random_below(random, 4) ? axis : pool_integer(p, 1));
    index = pool_index_mod(p, index, 2 + (int64_t)random_below(random, 2));
    index = pool_index_mul(p, index, signs[random_below(random, COUNT_OF(signs))]);
    return pool_index_add(p, index, pool_integer(p, random_below(random, 3) == 0));
}

static void try_solving(struct problem *p, struct random *random, struct counts *counts)
{
    struct pool *pool = &p->dv.all.pool;
    struct scope s;
    assert_true(scope_take(pool, p->program, &s));
    int sum = (int)random_below(random, (uint64_t)s.n_sums), other = (int)random_below(random, (uint64_t)s.n_sums);
    s.n_guards = 1;
    s.guards[0] = random_guard(pool, random, &s, s.sums[random_below(random, 3) ? sum : other]);
    int original = scope_make(pool, &s);
    count_equal(p, original, rule_solve_sum(pool, &s, sum, 0) ? scope_make(pool, &s) : NO_SCOPE, counts);
}

// A remainder of two iterators, whose factors are near its divisor: an index bounds it, a guard leaves multiples, and
// the read has the quotient, too.
static void try_unwrapping(struct problem *p, struct random *random, struct counts *counts)
{
    struct pool *pool = &p->dv.all.pool;
    struct scope s;
    expr index[MAX_RANK];
    assert_true(scope_take(pool, p->program, &s));
    int64_t divisor = 3 + (int64_t)random_below(random, 12);
    int64_t factor = divisor * (int64_t)random_below(random, 2) - 2 + (int64_t)random_below(random, 4);
    expr sum = pool_variable(pool, s.sums[random_below(random, (uint64_t)s.n_sums)]);
    expr axis = scope_axis(pool, &s, (int)random_below(random, (uint64_t)s.type.rank));
    expr e = pool_index_add(pool, pool_index_mul(pool, random_below(random, 4) ? axis : sum, factor), sum);
    e = pool_index_add(pool, e, pool_integer(pool, (int64_t)random_below(random, 3) - 1));
    expr *read = &s.reads[random_below(random, (uint64_t)s.n_reads)], remainder = pool_index_mod(pool, e, divisor);
    int of = read_tensor_of(pool, *read), rank = definition_tensor(&pool->d, of)->rank;
    for (int i = 0; i < rank; i++)
        index[i] = read_indices(pool, *read)[i];
    index[0] = pool_index_div(pool, e, divisor);
    index[rank - 1] = random_below(random, 2) ? pool_index_div(pool, remainder, 1 + (int64_t)random_below(random, 2))
                                              : pool_index_add(pool, index[0], remainder);
    *read = pool_read(pool, of, index, OUTSIDE_ZERO);
    s.n_guards = (int)random_below(random, 2);
    s.guards[0] = pool_index_mul(pool, pool_index_mod(pool, remainder, 2 + (int64_t)random_below(random, 3)), -1);
    int original = scope_make(pool, &s);
    count_equal(p, original, rule_unwrap(pool, &s, remainder) ? scope_make(pool, &s) : NO_SCOPE, counts);
}

static void try_tightening(struct problem *p, struct random *random, struct counts *counts)
{
    struct pool *pool = &p->dv.all.pool;
    struct scope s;
    struct bounds bounds;
    assert_true(scope_take(pool, p->program, &s));
    if (!tightest_bounds(pool, &s, &bounds))
        for (int i = 0; i < s.type.rank; i++) {
            bounds.low[i] = 0;
            bounds.high[i] = s.type.dim[i];
        }
    int axis = (int)random_below(random, (uint64_t)s.type.rank);
    *(random_below(random, 2) ? &bounds.low[axis] : &bounds.high[axis]) += one_off(random);
    count(p, rule_tighten(pool, p->program, &bounds), counts);
}

// --- operands --------------------------------------------------------------------------------------------------------

// The read as it is, over a tensor of all its variables; then something is changed.
static void try_operand(struct problem *p, struct random *random, struct counts *counts)
{
    struct pool *pool = &p->dv.all.pool;
    struct scope s;
    struct named_operand as = {0};
    struct substitution entries = {0};
    uint32_t variables[MAX_RANK];
    int rank = 0;
    assert_true(scope_take(pool, p->program, &s));
    int read = (int)random_below(random, (uint64_t)s.n_reads);
    for (int i = 0; i < s.type.rank + s.n_sums; i++) {
        uint32_t variable = i < s.type.rank ? s.first_axis + (uint32_t)i : s.sums[i - s.type.rank];
        if (expr_mentions(pool, s.reads[read], variable) && rank < MAX_RANK)
            variables[rank++] = variable;
    }
    int64_t dim[MAX_RANK];
    for (int i = 0; i < rank; i++)
        dim[i] = variable_extent(pool, variables[i]);
    as.type = type_make(DTYPE_F32, rank, dim);
    for (int i = 0; i < rank; i++) {
        as.read_at[i] = pool_variable(pool, variables[i]);
        substitution_add(&entries, variables[i], pool_variable(pool, pool_axes(pool, &as.type) + (uint32_t)i));
    }
    int of = definition_tensor(&pool->d, read_tensor_of(pool, s.reads[read]))->rank;
    for (int axis = 0; axis < of; axis++)
        as.entry_of[axis] = substitution_apply(pool, &entries, read_indices(pool, s.reads[read])[axis]);
    expr *index = random_below(random, 2) ? &as.entry_of[random_below(random, (uint64_t)of)]
                                          : &as.read_at[random_below(random, (uint64_t)rank)];
    *index = pool_index_add(pool, *index, pool_integer(pool, one_off(random)));
    count(p, rule_name_operand(pool, &s, read, &as) ? scope_make(pool, &s) : NO_SCOPE, counts);
}

// --- bilinear algorithms ---------------------------------------------------------------------------------------------

static uint32_t random_iterator(struct random *random, const struct scope *s, bool is_axis)
{
    return is_axis ? s->first_axis + (uint32_t)random_below(random, (uint64_t)s->type.rank)
                   : s->sums[random_below(random, (uint64_t)s->n_sums)];
}

// All algorithms are right, and those with random iterators are accepted only where they are.
TEST(algorithms_fit_or_are_refused)
{
    ARENA(arena);
    struct random random = random_seed(46);
    struct counts counts = {0};
    for (const char **text = texts_of(&arena, SCOPES, "small"); *text; text++) {
        struct scope s;
        struct problem p FREED_BY(problem_free);
        problem_init(&p, *text);
        for (uint64_t i = 0; i < some_of(600); i++) {
            struct bilinear b;
            struct factorization by = {.algorithm = &b, .first = (int)random_below(&random, 2)};
            assert_true(bilinear_take(random_below(&random, bilinear_count()), &b));
            assert_true(scope_take(&p.dv.all.pool, p.program, &s));
            for (int k = 0; k < b.n_iterators; k++)
                by.iterators[k] = random_iterator(&random, &s, b.is_result[k]);
            count(&p, rule_factorize(&p.dv.all.pool, &s, &by), &counts);
        }
    }
    print_message("algorithms: %d refused, %d accepted\n", counts.refused, counts.accepted);
    assert_int_equal(counts.wrong, 0);
    assert_true(counts.accepted > (int)some_of(20) && counts.refused > (int)some_of(500));
}

typedef void try_step(struct problem *p, struct random *random, struct counts *counts);

TEST(false_steps_are_refused)
{
    ARENA(arena);
    static try_step *const steps[] = {try_axes,       try_sums,       try_relaxing, try_solving,
                                      try_unwrapping, try_tightening, try_operand};
    static const char *const names[] = {"axes", "sums", "relaxing", "solving", "unwrapping", "tightening", "operands"};
    struct random random = random_seed(44);
    int refused = 0;
    for (size_t k = 0; k < COUNT_OF(steps); k++) {
        struct counts counts = {0};
        for (const char **text = texts_of(&arena, SCOPES, "step"); *text; text++) {
            struct problem p FREED_BY(problem_free);
            problem_init(&p, *text);
            for (uint64_t i = 0; i < some_of(120); i++)
                steps[k](&p, &random, &counts);
        }
        print_message("%s: %d refused, %d accepted\n", names[k], counts.refused, counts.accepted);
        assert_int_equal(counts.wrong, 0);
        assert_true(counts.refused > (int)some_of(100));
        refused += counts.refused;
    }
    assert_true(refused > (int)some_of(500));
}

// --- what no rule has made -------------------------------------------------------------------------------------------

// One index of one read is off by one, one guard is, or a sum is too short.
static int change_scope(struct pool *p, struct random *random, int tensor)
{
    struct scope s;
    expr index[MAX_RANK];
    assert_true(scope_take(p, tensor, &s));
    expr *read = &s.reads[random_below(random, (uint64_t)s.n_reads)];
    int rank = definition_tensor(&p->d, read_tensor_of(p, *read))->rank;
    for (int axis = 0; axis < rank; axis++)
        index[axis] = read_indices(p, *read)[axis];
    int axis = (int)random_below(random, (uint64_t)rank);
    if (s.n_guards && random_below(random, 2))
        s.guards[0] = pool_index_add(p, s.guards[0], pool_integer(p, one_off(random)));
    else
        index[axis] = pool_index_add(p, index[axis], pool_integer(p, one_off(random)));
    *read = pool_read(p, read_tensor_of(p, *read), index, OUTSIDE_ZERO);
    return scope_make(p, &s);
}

TEST(false_programs_are_told)
{
    ARENA(arena);
    struct random random = random_seed(45);
    const struct check_limits limits = {.n_random = 32, .most_work = 1e6};
    int told = 0;
    for (const char **text = texts_of(&arena, SCOPES, "step"); *text; text++) {
        struct problem p FREED_BY(problem_free);
        problem_init(&p, *text);
        for (uint64_t i = 0; i < some_of(40); i++) {
            int changed = change_scope(&p.dv.all.pool, &random, p.program);
            assert_false(programs_agree_everywhere(&p.dv, p.program, changed, i));
            assert_false(programs_agree(&p.dv, p.program, changed, i, &limits));
            told++;
        }
        assert_true(programs_agree(&p.dv, p.program, p.program, 1, &limits));
    }
    assert_true(told > 3 * (int)some_of(40));
}
