// Parts of sums are all subsets; axes are substituted by quotients that indices have or ask for, each alone and as many
// as go together, and long ones by tiles where two make a band; sums in windows are parted in tiles of few sizes, and
// relaxed to multiples of these.
#include "derivation/search/suggestions.h"

#include "derivation/matching/windows.h"
#include "derivation/rules/factorize.h"
#include "derivation/rules/merge_scopes.h"
#include "derivation/rules/quotient.h"
#include "derivation/rules/relax_sum.h"
#include "derivation/rules/solve_sum.h"
#include "derivation/rules/split_sum.h"
#include "derivation/rules/substitute_sums.h"
#include "derivation/rules/tighten.h"
#include "derivation/rules/unwrap.h"
#include "expressions/affine.h"

enum { MOST_QUOTIENTS = 16, SMALLEST_TILE = 2, LARGEST_TILE = 3, MOST_SPLIT_SUMS = 6 };
// A band is computed as products of tiles of its rows, which are wider than it by a tile.
enum { TILES_OF_BAND = 4, SMALLEST_TILE_OF_BAND = 8 };

const char *derivation_rule_name(enum derivation_rule rule)
{
    static const char *const names[RULE_COUNT] = {"split sum", "substitute axes", "substitute sums",
                                                  "relax sum", "solve sum",       "unwrap",
                                                  "tighten",   "merge scopes",    "factorize"};
    return names[rule];
}

struct suggesting {
    struct pool *p;
    int tensor;
    struct scope s;
    struct suggestions *to;
    int n;
    struct quotient quotients[MOST_QUOTIENTS];
};

static void add(struct suggesting *g, enum derivation_rule rule, int equal)
{
    struct suggestion suggestion = {rule, equal};
    if (equal != NO_SCOPE && equal != g->tensor)
        vec_push(&g->to->items, suggestion);
}

static void suggest_split_sums(struct suggesting *g)
{
    for (unsigned inner = 1; g->s.n_sums <= MOST_SPLIT_SUMS && inner + 1 < 1u << g->s.n_sums; inner++)
        add(g, RULE_SPLIT_SUM, rule_split_sum(g->p, g->tensor, inner));
}

static void suggest_tighter(struct suggesting *g)
{
    struct bounds bounds;
    if (tightest_bounds(g->p, &g->s, &bounds))
        add(g, RULE_TIGHTEN, rule_tighten(g->p, g->tensor, &bounds));
}

static void suggest_merged(struct suggesting *g)
{
    for (int i = 0; i < g->s.n_reads; i++)
        add(g, RULE_MERGE_SCOPES, rule_merge_scopes(g->p, g->tensor, i));
}

// --- quotients -------------------------------------------------------------------------------------------------------

static int axis_of_term(const struct suggesting *g, const struct scaled_atom *term)
{
    const struct expr_node *n = &g->p->d.nodes.items[term->atom];
    int64_t axis = n->value - g->s.first_axis;
    return n->kind == EXPR_VARIABLE && axis >= 0 && axis < g->s.type.rank ? (int)axis : -1;
}

static bool mentions_sums(const struct suggesting *g, expr e)
{
    return ANY(int, i, g->s.n_sums, expr_mentions(g->p, e, g->s.sums[i]));
}

static void add_quotient(struct suggesting *g, int axis, expr index, int64_t divisor)
{
    struct quotient q = {axis, index, divisor};
    bool is_parted = divisor > 1 && divisor >= g->s.type.dim[axis] && index == scope_axis(g->p, &g->s, axis);
    for (int i = 0; i < g->n; i++)
        if (g->quotients[i].axis == axis && g->quotients[i].index == index && g->quotients[i].divisor == divisor)
            return;
    if (g->n < MOST_QUOTIENTS && !is_parted)
        g->quotients[g->n++] = q;
}

// The part of the index that is of axes alone.
static expr part_of_axes(struct suggesting *g, const struct affine_form *f, int *ret_n)
{
    expr part = pool_integer(g->p, 0);
    *ret_n = 0;
    for (int i = 0; i < f->n; i++)
        if (!mentions_sums(g, f->terms[i].atom)) {
            part = pool_index_add(g->p, part, pool_index_mul(g->p, f->terms[i].atom, f->terms[i].factor));
            ++*ret_n;
        }
    return part;
}

static void find_skews_and_tiles(struct suggesting *g, const struct affine_form *f)
{
    int n;
    expr part = part_of_axes(g, f, &n);
    for (int i = 0; i < f->n; i++) {
        int axis = axis_of_term(g, &f->terms[i]);
        if (axis >= 0 && f->terms[i].factor == 1 && n > 1)
            add_quotient(g, axis, part, 1);
        for (int k = 0; axis >= 0 && k < f->n; k++)
            if (f->terms[i].factor > 0 && f->terms[k].factor > f->terms[i].factor &&
                f->terms[k].factor % f->terms[i].factor == 0)
                add_quotient(g, axis, f->terms[i].atom, f->terms[k].factor / f->terms[i].factor);
    }
}

// Two axes of one factor in an index: rows and the columns of their band. Either may be skewed by the other, and rows
// taken in tiles, a quarter as long as the band.
static void find_band(struct suggesting *g, const struct affine_form *f, int rows, int columns)
{
    int axis = axis_of_term(g, &f->terms[rows]), other = axis_of_term(g, &f->terms[columns]);
    if (rows == columns || axis < 0 || other < 0 || f->terms[rows].factor != f->terms[columns].factor)
        return;
    int64_t size = g->s.type.dim[axis], n = (TILES_OF_BAND * size - 1) / g->s.type.dim[other] + 1;
    int64_t tile = (size + n - 1) / n;
    add_quotient(g, axis, pool_index_add(g->p, f->terms[rows].atom, f->terms[columns].atom), 1);
    if (tile >= SMALLEST_TILE_OF_BAND && tile < size)
        add_quotient(g, axis, f->terms[rows].atom, tile);
}

static void find_bands(struct suggesting *g, const struct affine_form *f)
{
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->n; k++)
            find_band(g, f, i, k);
}

// A quotient or remainder of what is of axes alone.
static void find_phases(struct suggesting *g, expr index, int64_t divisor)
{
    struct affine_form f;
    if (mentions_sums(g, index) || !affine_form_of(&g->p->d, index, &f))
        return;
    for (int i = 0; i < f.n; i++)
        if (axis_of_term(g, &f.terms[i]) >= 0 && f.terms[i].factor == 1)
            add_quotient(g, axis_of_term(g, &f.terms[i]), index, divisor);
}

static void find_quotients(struct suggesting *g, expr index)
{
    const struct expr_node n = g->p->d.nodes.items[index];
    struct affine_form f;
    if (affine_form_of(&g->p->d, index, &f)) {
        find_skews_and_tiles(g, &f);
        find_bands(g, &f);
    }
    if (n.kind == EXPR_INDEX_DIV || n.kind == EXPR_INDEX_MOD)
        find_phases(g, n.a, n.value);
    for (int i = 0; n.kind != EXPR_VARIABLE && n.kind != EXPR_INTEGER && i < f.n; i++)
        if (f.terms[i].atom != index)
            find_quotients(g, f.terms[i].atom);
}

static void substitute(struct suggesting *g, const struct quotient *quotients, int n)
{
    struct axis_substitution by;
    struct scope made = g->s;
    if (!quotients_substitution(g->p, &g->s, quotients, n, &by) || !rule_substitute_axes(g->p, &made, &by))
        return;
    int scope = scope_make(g->p, &made);
    if (scope != NO_SCOPE)
        add(g, RULE_SUBSTITUTE_AXES, scope_copy(g->p, &g->s.type, scope, by.new_by_old));
}

static bool goes_with(const struct suggesting *g, const struct quotient *chosen, int n, const struct quotient *q)
{
    return ALL(int, i, n,
               chosen[i].divisor == q->divisor && chosen[i].axis != q->axis &&
                   !expr_mentions(g->p, chosen[i].index, g->s.first_axis + (uint32_t)q->axis) &&
                   !expr_mentions(g->p, q->index, g->s.first_axis + (uint32_t)chosen[i].axis));
}

// Substitutes whatever goes together, from `begin` on, round and round.
static void substitute_together(struct suggesting *g, int begin, int step)
{
    struct quotient chosen[MAX_RANK];
    int n = 0;
    for (int k = 0; k < g->n; k++) {
        const struct quotient *q = &g->quotients[(begin + step * k + 2 * g->n) % g->n];
        if (n < MAX_RANK && goes_with(g, chosen, n, q))
            chosen[n++] = *q;
    }
    if (n > 1)
        substitute(g, chosen, n);
}

static void suggest_axes(struct suggesting *g)
{
    for (int i = 0; i < g->s.n_reads; i++) {
        int rank = definition_tensor(&g->p->d, read_tensor_of(g->p, g->s.reads[i]))->rank;
        for (int axis = 0; axis < rank; axis++)
            find_quotients(g, read_indices(g->p, g->s.reads[i])[axis]);
    }
    for (int i = 0; i < g->s.n_guards; i++)
        find_quotients(g, g->s.guards[i]);
    for (int i = 0; i < g->n; i++) {
        substitute(g, &g->quotients[i], 1);
        substitute_together(g, i, 1);
        substitute_together(g, i, -1);
    }
}

// --- windows ---------------------------------------------------------------------------------------------------------

// Does the iterator share an index with another one?
static bool is_in_window(const struct suggesting *g, uint32_t sum)
{
    struct affine_form f;
    for (int i = 0; i < g->s.n_reads; i++)
        for (int axis = 0; axis < g->p->d.nodes.items[g->s.reads[i]].count; axis++) {
            expr index = read_indices(g->p, g->s.reads[i])[axis];
            if (expr_mentions(g->p, index, sum) && affine_form_of(&g->p->d, index, &f) && f.n > 1)
                return true;
        }
    return false;
}

static int64_t multiple_of(int64_t size, int64_t tile)
{
    return (size + tile - 1) / tile * tile;
}

static void suggest_relaxed(struct suggesting *g, int64_t tile)
{
    struct scope made = g->s;
    bool is_changed = false;
    for (int i = 0; i < g->s.n_sums; i++) {
        int64_t extent = variable_extent(g->p, g->s.sums[i]), relaxed = multiple_of(extent, tile);
        if (extent > tile && relaxed > extent && is_in_window(g, g->s.sums[i]))
            is_changed = rule_relax_sum(g->p, &made, i, relaxed) || is_changed;
    }
    if (is_changed)
        add(g, RULE_RELAX_SUM, scope_make(g->p, &made));
}

// Relaxed to a multiple of the phases, where there are fewer terms.
static bool solve(struct pool *p, struct scope *s, int sum, int guard)
{
    struct scope made = *s;
    expr index;
    int64_t divisor, extent = variable_extent(p, s->sums[sum]);
    if (!guard_of_remainder(p, s->guards[guard], &index, &divisor) || !expr_mentions(p, index, s->sums[sum]) ||
        (extent % divisor != 0 && !rule_relax_sum(p, &made, sum, multiple_of(extent, divisor))) ||
        !rule_solve_sum(p, &made, sum, guard))
        return false;
    *s = made;
    return true;
}

// All guards that say of a sum which terms are left.
static void suggest_solved(struct suggesting *g)
{
    struct scope made = g->s;
    for (int guard = made.n_guards; guard-- > 0;)
        for (int sum = 0; guard < made.n_guards && sum < made.n_sums; sum++)
            solve(g->p, &made, sum, guard);
    if (made.n_guards < g->s.n_guards)
        add(g, RULE_SOLVE_SUM, scope_make(g->p, &made));
}

// Remainders that reads have, or quotients of them.
static void suggest_unwrapped(struct suggesting *g)
{
    struct scope made = g->s;
    for (int i = 0; i < g->s.n_reads; i++)
        for (int axis = 0; axis < g->p->d.nodes.items[g->s.reads[i]].count; axis++) {
            expr index = read_indices(g->p, g->s.reads[i])[axis];
            const struct expr_node *n = &g->p->d.nodes.items[index];
            rule_unwrap(g->p, &made, n->kind == EXPR_INDEX_DIV ? n->a : index);
        }
    if (made.n_guards > g->s.n_guards)
        add(g, RULE_UNWRAP, scope_make(g->p, &made));
}

// sum = tile * which + within
static bool part_sum(struct pool *p, struct scope *s, uint32_t sum, int64_t tile, uint32_t *ret_which)
{
    struct sum_substitution by = {.n_old = 1, .n_new = 2, .old = {sum}};
    expr old = pool_variable(p, sum);
    by.new[0] = scope_new_sum(p, s, variable_extent(p, sum) / tile);
    by.new[1] = scope_new_sum(p, s, tile);
    *ret_which = by.new[0];
    by.new_by_old[0] = pool_index_div(p, old, tile);
    by.new_by_old[1] = pool_index_mod(p, old, tile);
    by.old_by_new[0] =
        pool_index_add(p, pool_index_mul(p, pool_variable(p, by.new[0]), tile), pool_variable(p, by.new[1]));
    return rule_substitute_sums(p, s, &by);
}

static void suggest_tiles(struct suggesting *g, int64_t tile)
{
    struct scope made = g->s;
    bool is_changed = false;
    uint32_t which;
    for (int i = 0; i < g->s.n_sums; i++) {
        int64_t extent = variable_extent(g->p, g->s.sums[i]);
        if (extent > tile && extent % tile == 0 && is_in_window(g, g->s.sums[i]))
            is_changed = part_sum(g->p, &made, g->s.sums[i], tile, &which) || is_changed;
    }
    if (is_changed)
        add(g, RULE_SUBSTITUTE_SUMS, scope_make(g->p, &made));
}

// --- bilinear algorithms ---------------------------------------------------------------------------------------------

// The scope over other axes, as the algorithm has it there.
static void factorize_over(struct suggesting *g, const struct scope *over, const struct axis_substitution *axes,
                           const struct factorization *by)
{
    int made = rule_factorize(g->p, over, by);
    if (made != NO_SCOPE)
        add(g, RULE_FACTORIZE, axes ? scope_copy(g->p, &g->s.type, made, axes->new_by_old) : made);
}

// Windows become tiles of the algorithm's results.
static void factorize_window(struct suggesting *g, const struct bilinear *b, const struct window_pair *pair, int first)
{
    int axis = (int)(pair->of_result - g->s.first_axis);
    struct quotient tiles = {axis, scope_axis(g->p, &g->s, axis), b->extents[0]};
    struct factorization by = {.algorithm = b, .iterators = {pair->of_result, pair->of_sum}, .first = first};
    struct axis_substitution axes;
    struct scope over = g->s;
    if (g->s.type.dim[axis] == b->extents[0])
        factorize_over(g, &over, NULL, &by);
    if (g->s.type.dim[axis] <= b->extents[0] || !quotients_substitution(g->p, &g->s, &tiles, 1, &axes) ||
        !rule_substitute_axes(g->p, &over, &axes))
        return;
    by.iterators[0] = over.first_axis + (uint32_t)axis + 1;
    factorize_over(g, &over, &axes, &by);
}

static void factorize_windows(struct suggesting *g, const struct bilinear *b, int first)
{
    struct window_pairs pairs;
    find_windows(g->p, &g->s, g->s.reads[first], g->s.reads[1 - first], &pairs);
    EACH(pairs.items, pairs.n, pair)
        if (pair->of_sum != NO_VARIABLE && pair->stride == 1 && pair->dilation == 1 &&
            variable_extent(g->p, pair->of_sum) == b->extents[1])
            factorize_window(g, b, pair, first);
}

// The longest axis that this read has and the other has not, or -1.
static int longest_axis(const struct suggesting *g, int read)
{
    int longest = -1;
    for (int axis = 0; axis < g->s.type.rank; axis++) {
        uint32_t variable = g->s.first_axis + (uint32_t)axis;
        if (g->s.type.dim[axis] > 2 && expr_mentions(g->p, g->s.reads[read], variable) &&
            !expr_mentions(g->p, g->s.reads[1 - read], variable) &&
            (longest < 0 || g->s.type.dim[axis] > g->s.type.dim[longest]))
            longest = axis;
    }
    return longest;
}

static int longest_even_sum(const struct suggesting *g)
{
    int longest = -1;
    for (int i = 0; i < g->s.n_sums; i++) {
        int64_t extent = variable_extent(g->p, g->s.sums[i]);
        if (extent > 2 && extent % 2 == 0 && (longest < 0 || extent > variable_extent(g->p, g->s.sums[longest])))
            longest = i;
    }
    return longest;
}

// Matrices become halves of both operands.
static void factorize_matrices(struct suggesting *g, const struct bilinear *b)
{
    int rows = longest_axis(g, 0), columns = longest_axis(g, 1), sum = longest_even_sum(g);
    struct factorization by = {.algorithm = b};
    struct axis_substitution axes;
    struct scope over = g->s;
    if (rows < 0 || columns < 0 || sum < 0)
        return;
    struct quotient halves[] = {{rows, scope_axis(g->p, &g->s, rows), (g->s.type.dim[rows] + 1) / 2},
                                {columns, scope_axis(g->p, &g->s, columns), (g->s.type.dim[columns] + 1) / 2}};
    if (!quotients_substitution(g->p, &g->s, halves, 2, &axes) || !rule_substitute_axes(g->p, &over, &axes) ||
        !part_sum(g->p, &over, g->s.sums[sum], variable_extent(g->p, g->s.sums[sum]) / 2, &by.iterators[1]))
        return;
    by.iterators[0] = over.first_axis + (uint32_t)(rows + (columns < rows));
    by.iterators[2] = over.first_axis + (uint32_t)(columns + (rows < columns));
    factorize_over(g, &over, &axes, &by);
}

static void suggest_factorized(struct suggesting *g)
{
    struct bilinear b;
    for (size_t i = 0; i < bilinear_count() && g->s.n_reads == 2; i++) {
        if (!bilinear_take(i, &b))
            continue;
        if (!b.is_window)
            factorize_matrices(g, &b);
        for (int first = 0; first < 2 && b.is_window; first++)
            factorize_windows(g, &b, first);
    }
}

void suggest(struct pool *p, int tensor, bool factorizes, struct suggestions *suggestions)
{
    struct suggesting g = {.p = p, .tensor = tensor, .to = suggestions};
    if (!scope_take(p, tensor, &g.s))
        return;
    suggest_split_sums(&g);
    suggest_axes(&g);
    for (int64_t tile = SMALLEST_TILE; tile <= LARGEST_TILE; tile++) {
        suggest_relaxed(&g, tile);
        suggest_tiles(&g, tile);
    }
    suggest_solved(&g);
    suggest_unwrapped(&g);
    suggest_tighter(&g);
    suggest_merged(&g);
    if (factorizes)
        suggest_factorized(&g);
}
