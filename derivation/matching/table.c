// An application's scope is taken apart; quotients of axes part them first (groups), by variable substitution.
#include "derivation/matching/table.h"

#include "core/memory/arena.h"
#include "derivation/rules/quotient.h"
#include "derivation/rules/substitute_axes.h"
#include "expressions/affine.h"
#include "expressions/composition/composition.h"
#include "operators/traits.h"
#include <string.h>

// The scope of an application whose axes were parted, and the axes of the result in variables of the scope.
struct parted {
    struct pool *p;
    struct scope s;
    struct iterator_table *table;
    uint32_t variables[MOST_TABLE_ITERATORS];
};

// --- axes ------------------------------------------------------------------------------------------------------------

static int iterator_of(const struct parted *t, int64_t variable)
{
    return PLACE_OF(int, i, t->table->n_iterators, t->variables[i] == variable);
}

static bool add_iterator(struct parted *t, uint32_t variable, uint8_t signature)
{
    int n = t->table->n_iterators;
    if (n == MOST_TABLE_ITERATORS)
        return false;
    for (int i = 0; i < t->s.n_reads; i++)
        if (expr_mentions(t->p, t->s.reads[i], variable))
            signature |= (uint8_t)(IN_FIRST << i);
    t->table->signatures[n] = signature;
    t->variables[n] = variable;
    t->table->n_iterators++;
    return true;
}

static bool collect_iterators(struct parted *t)
{
    for (int axis = 0; axis < t->s.type.rank; axis++)
        if (!add_iterator(t, t->s.first_axis + (uint32_t)axis, IN_RESULT))
            return false;
    return ALL(int, i, t->s.n_sums, add_iterator(t, t->s.sums[i], 0));
}

static int by_falling_factor(const struct affine_form *f, int a, int b)
{
    return f->terms[a].factor > f->terms[b].factor ? a : b;
}

// The terms in the order of falling factors; each factor is the product of the extents behind, or all are 1: a window.
static bool read_axis(const struct parted *t, expr index, struct table_axis *ret_axis)
{
    struct affine_form f;
    int64_t factor = 1;
    if (!affine_form_of(&t->p->d, index, &f) || f.base || f.n > MOST_OF_AXIS ||
        !affine_form_is_of_variables(&t->p->d, &f))
        return false;
    *ret_axis = (struct table_axis){.n = f.n, .is_window = f.n == 2 && f.terms[0].factor == f.terms[1].factor};
    if (f.n == 2 && by_falling_factor(&f, 0, 1) == 1) {
        struct scaled_atom kept = f.terms[0];
        f.terms[0] = f.terms[1];
        f.terms[1] = kept;
    }
    for (int i = f.n; i-- > 0;) {
        int64_t variable = t->p->d.nodes.items[f.terms[i].atom].value;
        ret_axis->iterators[i] = iterator_of(t, variable);
        if (ret_axis->iterators[i] < 0 || f.terms[i].factor != (ret_axis->is_window ? 1 : factor))
            return false;
        factor *= variable_extent(t->p, (uint32_t)variable);
    }
    return true;
}

// The iterator of the result stands first.
static bool order_window(const struct iterator_table *table, struct table_axis *axis)
{
    int first = axis->iterators[0];
    if (!(table->signatures[first] & IN_RESULT)) {
        axis->iterators[0] = axis->iterators[1];
        axis->iterators[1] = first;
    }
    return (table->signatures[axis->iterators[0]] & IN_RESULT) && !(table->signatures[axis->iterators[1]] & IN_RESULT);
}

static bool read_operand(struct parted *t, int operand)
{
    int rank = definition_tensor(&t->p->d, operand)->rank;
    t->table->operand_rank[operand] = rank;
    for (int axis = 0; axis < rank; axis++) {
        struct table_axis *to = &t->table->operands[operand][axis];
        if (!read_axis(t, read_indices(t->p, t->s.reads[operand])[axis], to) ||
            (to->is_window && !order_window(t->table, to)))
            return false;
    }
    return true;
}

// --- the scope -------------------------------------------------------------------------------------------------------

// A quotient of one axis by a number, somewhere in the reads.
static bool find_quotient(const struct pool *p, const struct scope *s, expr e, int *ret_axis, int64_t *ret_divisor)
{
    const struct expr_node *n = &p->d.nodes.items[e];
    struct operands below = expr_operands(&p->d, e);
    for (int axis = 0; n->kind == EXPR_INDEX_DIV && axis < s->type.rank; axis++)
        if (p->d.nodes.items[n->a].kind == EXPR_VARIABLE && p->d.nodes.items[n->a].value == s->first_axis + axis) {
            *ret_axis = axis;
            *ret_divisor = n->value;
            return true;
        }
    return ANY(uint32_t, i, below.n, find_quotient(p, s, below.items[i], ret_axis, ret_divisor));
}

// Axis `axis` becomes two; the axes of the result behind it count one more.
static bool part_axis(struct parted *t, int axis, int64_t divisor)
{
    struct quotient q = {.axis = axis, .index = scope_axis(t->p, &t->s, axis), .divisor = divisor};
    struct axis_substitution by;
    if (!quotients_substitution(t->p, &t->s, &q, 1, &by) || !rule_substitute_axes(t->p, &t->s, &by))
        return false;
    EACH(t->table->result, t->table->rank, to) {
        for (int k = to->n; k-- > 0;)
            if (to->iterators[k] == axis && to->n < MOST_OF_AXIS) {
                memmove(&to->iterators[k + 1], &to->iterators[k], (size_t)(to->n++ - k) * sizeof *to->iterators);
                to->iterators[k + 1] = axis + 1;
            } else if (to->iterators[k] > axis)
                to->iterators[k]++;
    }
    return true;
}

static bool part_axes(struct parted *t)
{
    int axis;
    int64_t divisor;
    t->table->rank = t->s.type.rank;
    for (int i = 0; i < t->table->rank; i++)
        t->table->result[i] = (struct table_axis){.n = 1, .iterators = {i}};
    while (find_quotient(t->p, &t->s, t->s.reads[0], &axis, &divisor) ||
           find_quotient(t->p, &t->s, t->s.reads[1], &axis, &divisor))
        if (!part_axis(t, axis, divisor))
            return false;
    return true;
}

static void sort_reads(struct parted *t)
{
    expr first = t->s.reads[0];
    if (read_tensor_of(t->p, first) == 0)
        return;
    t->s.reads[0] = t->s.reads[1];
    t->s.reads[1] = first;
}

bool iterator_is_of_window(const struct iterator_table *t, int iterator)
{
    return ANY(int, axis, t->operand_rank[0],
               t->operands[0][axis].is_window &&ANY(int, k, 2, t->operands[0][axis].iterators[k] == iterator));
}

static int shared_by_all(const struct iterator_table *t)
{
    return PLACE_OF(int, i, t->n_iterators, t->signatures[i] == (IN_FIRST | IN_SECOND | IN_RESULT));
}

static bool read_table(struct pool *p, int tensor, struct iterator_table *ret_table)
{
    struct parted t = {.p = p, .table = ret_table};
    if (!scope_take(p, tensor, &t.s) || t.s.n_reads != OPERANDS || t.s.n_guards || t.s.factor != 1 || t.s.divisor != 1)
        return false;
    sort_reads(&t);
    if (read_tensor_of(p, t.s.reads[0]) != 0 || read_tensor_of(p, t.s.reads[1]) != 1 || !part_axes(&t) ||
        !collect_iterators(&t) || !read_operand(&t, 0) || !read_operand(&t, 1))
        return false;
    ret_table->shared = shared_by_all(ret_table);
    return true;
}

// False: the application is no sum of products of its two inputs, or its places are of other forms.
static bool table_of_call(struct arena *a, const struct operator_call *call, struct iterator_table *ret_table)
{
    struct definition d FREED_BY(definition_free);
    struct composition own FREED_BY(composition_free);
    int inputs[OPERANDS] = {0, 1}, outputs[MAX_OUTPUTS];
    definition_init(&d, a, call->n_inputs, call->inputs);
    composition_init(&own, a, call->n_inputs, call->inputs);
    own.keeps_scopes = own.pool.keeps_conditions = true;
    if (call->n_inputs != OPERANDS || !operator_define(&d, call) || d.n_outputs != 1)
        return false;
    composition_add(&own, &d, inputs, outputs);
    *ret_table = (struct iterator_table){.op = call->op, .shared = -1};
    return read_table(&own.pool, outputs[0], ret_table);
}

// --- all operators ---------------------------------------------------------------------------------------------------

enum { LOWEST_RANK = 2, HIGHEST_RANK = 4 };
// Sizes that tell axes apart; those of the second operand are some of the first one's, or of these.
static const int64_t first_sizes[HIGHEST_RANK] = {7, 6, 11, 13}, other_sizes[] = {3, 5, 10};
enum { CHOICES = HIGHEST_RANK + 3 };

struct instances {
    struct arena *a;
    struct iterator_tables *tables;
    struct attribute_value attributes[MAX_ATTRIBUTES];
    struct type inputs[OPERANDS];
    struct operator_call call;
};

// Does each iterator occur in two tensors at least, and no two alike but in windows? What has more axes of one kind
// says nothing that fewer do not say.
static bool tells_iterators_apart(const struct iterator_table *t)
{
    for (int i = 0; i < t->n_iterators; i++) {
        if (__builtin_popcount(t->signatures[i]) < 2)
            return false;
        for (int k = 0; k < i && !iterator_is_of_window(t, i); k++)
            if (t->signatures[i] == t->signatures[k] && !iterator_is_of_window(t, k))
                return false;
    }
    return true;
}

static bool is_known(const struct iterator_tables *tables, const struct iterator_table *table)
{
    return ANY(size_t, i, tables->items.count, memcmp(&tables->items.items[i], table, sizeof *table) == 0);
}

static void add_table(struct instances *in)
{
    struct arena_mark mark = arena_mark(in->a);
    struct iterator_table table;
    bool agrees = operator_agreement(&in->call, 0) == operator_agreement(&in->call, 1);
    if (agrees && table_of_call(in->a, &in->call, &table) && tells_iterators_apart(&table) &&
        !is_known(in->tables, &table))
        vec_push(&in->tables->items, table);
    arena_release(in->a, mark);
}

static void add_tables_of_ranks(struct instances *in, int first, int second)
{
    int n = 1, choice;
    in->inputs[0] = type_make(DTYPE_F32, first, first_sizes);
    for (int i = 0; i < second; i++)
        n *= CHOICES;
    for (int k = 0; k < n; k++) {
        int64_t dim[HIGHEST_RANK];
        choice = k;
        for (int i = 0; i < second; i++, choice /= CHOICES)
            dim[i] = choice % CHOICES < HIGHEST_RANK ? first_sizes[choice % CHOICES]
                                                     : other_sizes[choice % CHOICES - HIGHEST_RANK];
        in->inputs[1] = type_make(DTYPE_F32, second, dim);
        add_table(in);
    }
}

static void add_tables_of(struct instances *in, const struct operator* op)
{
    static const int64_t groups[] = {1, 2};
    int role = operator_find_role(op, ROLE_GROUPS);
    operator_standard_attributes(op, in->a, in->attributes);
    in->call = (struct operator_call){op, OPERANDS, in->inputs, in->attributes};
    for (int g = 0; g < (role < 0 ? 1 : 2); g++) {
        if (role >= 0)
            in->attributes[role] = (struct attribute_value){1, &groups[g]};
        for (int first = LOWEST_RANK; first <= HIGHEST_RANK; first++)
            for (int second = LOWEST_RANK; second <= HIGHEST_RANK; second++)
                add_tables_of_ranks(in, first, second);
    }
}

void iterator_tables_compute(struct arena *a, struct iterator_tables *ret_tables)
{
    struct instances in = {.a = a, .tables = ret_tables};
    *ret_tables = (struct iterator_tables){0};
    for (int id = 0; id < operator_count(); id++)
        if (operator_has(operators[id], TRAIT_CONTRACTS) && operators[id]->min_inputs == OPERANDS &&
            operator_most_inputs(operators[id]) == OPERANDS)
            add_tables_of(&in, operators[id]);
}

void iterator_tables_free(struct iterator_tables *tables)
{
    vec_free(&tables->items);
}
