// Takes each index of a definition apart into what lanes, loops and both together add, and fills tables for lanes. Sums
// and products wrap around, as those of offsets that are never used may be large.
#include "expressions/evaluation/evaluation_plan.h"

#include "core/memory/arena.h"
#include "expressions/affine.h"
#include "expressions/evaluation/evaluate.h"
#include <assert.h>
#include <string.h>

// --- forms -----------------------------------------------------------------------------------------------------------

enum part { PART_LANE, PART_LOOP, PART_MIXED, PARTS };
struct draft {
    int64_t base;
    int n[PARTS];
    struct term terms[PARTS][MAX_RANK * MAX_AFFINE_TERMS];
};
struct planner {
    const struct definition *d;
    struct arena *arena;
    const struct stage *stage;
    struct planned_stage *planned;   // it
    VEC(const struct form *) with_tables;
    bool needs_variables;   // something is computed lane by lane
    struct draft draft;     // the form being made
};

static bool is_of_stage(const struct stage *s, int64_t variable)
{
    return variable >= s->first_variable && variable < (int64_t)s->first_variable + s->type.rank;
}

static bool depends_on_stage_alone(const struct planner *p, expr e)
{
    const struct expr_node *n = &p->d->nodes.items[e];
    struct operands below = expr_operands(p->d, e);
    bool depends = n->kind == EXPR_VARIABLE ? is_of_stage(p->stage, n->value) : n->kind != EXPR_INDEX_OF;
    return depends && ALL(uint32_t, i, below.n, depends_on_stage_alone(p, below.items[i]));
}

static void add_term(struct draft *draft, enum part part, uint32_t atom, bool is_expression, int64_t coefficient)
{
    struct term *terms = draft->terms[part];
    struct term *known = FIND(terms, draft->n[part], t, t->is_expression == is_expression && t->atom == atom);
    if (known)
        known->coefficient = wrapping_sum(known->coefficient, coefficient);
    else
        terms[draft->n[part]++] = (struct term){atom, is_expression, coefficient};
}

static void add_atom(struct planner *p, expr e, int64_t factor)
{
    add_term(&p->draft, depends_on_stage_alone(p, e) ? PART_LANE : PART_MIXED, e, true, factor);
}

static void add_atom_or_variable(struct planner *p, const struct scaled_atom *term, int64_t factor)
{
    const struct expr_node *n = &p->d->nodes.items[term->atom];
    int64_t coefficient = wrapping_product(factor, term->factor);
    if (n->kind != EXPR_VARIABLE)
        add_atom(p, term->atom, coefficient);
    else if (p->d->extents.items[n->value] > 1)
        add_term(&p->draft, is_of_stage(p->stage, n->value) ? PART_LANE : PART_LOOP, (uint32_t)n->value, false,
                 coefficient);
}

// A form with too many terms is an atom itself.
static void add_index(struct planner *p, expr e, int64_t factor)
{
    struct affine_form form;
    if (!affine_form_of(p->d, e, &form)) {
        add_atom(p, e, factor);
        return;
    }
    p->draft.base = wrapping_sum(p->draft.base, wrapping_product(factor, form.base));
    for (int i = 0; i < form.n; i++)
        add_atom_or_variable(p, &form.terms[i], factor);
}

static void start_form(struct planner *p)
{
    p->draft.base = 0;
    memset(p->draft.n, 0, sizeof p->draft.n);
}

static const struct term *keep_terms(struct planner *p, enum part part, int *ret_n)
{
    struct term *terms = p->draft.terms[part];
    int n = 0;
    for (int i = 0; i < p->draft.n[part]; i++)
        if (terms[i].coefficient)
            terms[n++] = terms[i];
    *ret_n = n;
    return n ? arena_copy_array(p->arena, terms, n) : NULL;
}

static void finish_form(struct planner *p, struct form *ret_form)
{
    struct form *f = ret_form;
    f->base = p->draft.base;
    f->lane = keep_terms(p, PART_LANE, &f->n_lane);
    f->loop = keep_terms(p, PART_LOOP, &f->n_loop);
    f->mixed = keep_terms(p, PART_MIXED, &f->n_mixed);
    p->needs_variables = p->needs_variables || f->n_mixed > 0;
    f->table = NO_TABLE;
}

// The form must stay where it is.
static void give_table(struct planner *p, struct form *f)
{
    if (f->n_lane == 0)
        return;
    f->table = (uint32_t)p->with_tables.count;
    vec_push(&p->with_tables, f);
}

static int64_t lane_coefficient(const struct form *f, int64_t variable)
{
    const struct term *known = FIND(f->lane, f->n_lane, t, !t->is_expression && t->atom == variable);
    return known ? known->coefficient : 0;
}

// Is the lane part the linear index of the stage's entry?
static bool is_linear_index(const struct stage *s, const struct form *f)
{
    int64_t stride = 1;
    if (ANY(int, i, f->n_lane, f->lane[i].is_expression))
        return false;
    for (int axis = s->type.rank - 1; axis >= 0; axis--) {
        if (s->type.dim[axis] > 1 && lane_coefficient(f, s->first_variable + axis) != stride)
            return false;
        stride *= s->type.dim[axis];
    }
    return true;
}

// --- accesses --------------------------------------------------------------------------------------------------------

static void bound_axes(struct planner *p, const struct expr_node *n, struct read_access *access)
{
    const struct type *t = definition_tensor(p->d, n->value);
    struct bound *bounds = NULL;
    for (int axis = 0; axis < t->rank; axis++) {
        expr index = p->d->indices.items[n->a + (expr)axis];
        if (index_stays_inside(p->d, index, t->dim[axis]))
            continue;
        if (!bounds)
            access->bounds = bounds = arena_array(p->arena, struct bound, MAX_RANK);
        start_form(p);
        add_index(p, index, 1);
        struct bound *bound = &bounds[access->n_bounds++];
        finish_form(p, &bound->place);
        give_table(p, &bound->place);
        bound->size = t->dim[axis];
    }
}

static void plan_expr(struct planner *p, expr e);

static void plan_access(struct planner *p, expr e)
{
    const struct expr_node *n = &p->d->nodes.items[e];
    const struct type *t = definition_tensor(p->d, n->value);
    struct read_access *access = arena_new(p->arena, struct read_access);
    p->planned->accesses[e] = access;
    access->tensor = (int)n->value;
    access->outside = (enum outside)n->b;
    access->elements = type_elements(t);
    bound_axes(p, n, access);
    start_form(p);
    int64_t stride = 1;
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        add_index(p, p->d->indices.items[n->a + (expr)axis], stride);
        stride *= t->dim[axis];
    }
    finish_form(p, &access->offset);
    access->is_linear =
        access->n_bounds == 0 && access->offset.n_mixed == 0 && is_linear_index(p->stage, &access->offset);
    if (!access->is_linear)
        give_table(p, &access->offset);
    for (int axis = 0; axis < t->rank; axis++)
        plan_expr(p, p->d->indices.items[n->a + (expr)axis]);
}

static void plan_form(struct planner *p, expr node, expr index)
{
    struct form *f = arena_new(p->arena, struct form);
    p->planned->conditions[node] = f;
    start_form(p);
    add_index(p, index, 1);
    finish_form(p, f);
    give_table(p, f);
    plan_expr(p, index);
}

// Plans all reads and conditions under e, those under data-dependent indices included.
static void plan_expr(struct planner *p, expr e)
{
    const struct expr_node *n = &p->d->nodes.items[e];
    struct operands below = expr_operands(p->d, e);
    bool has_form = n->kind == EXPR_SELECT || n->kind == EXPR_SCALAR_OF;
    if (n->kind == EXPR_READ) {
        if (!p->planned->accesses[e])
            plan_access(p, e);
        return;
    }
    if (has_form && !p->planned->conditions[e])
        plan_form(p, e, n->a);
    for (uint32_t i = has_form; i < below.n; i++)
        plan_expr(p, below.items[i]);
}

// --- lanes -----------------------------------------------------------------------------------------------------------

static int64_t *new_numbers(struct arena *a, int n)
{
    return arena_alloc(a, sizeof(int64_t) * (size_t)n, _Alignof(int64_t));
}

static void allocate_tables(struct arena *a, const struct planned_stage *planned, struct lanes *lanes)
{
    lanes->stage = planned->stage;
    lanes->capacity = planned->capacity;
    lanes->tables = arena_array(a, struct lane_table, planned->n_tables);
    for (uint32_t i = 0; i < planned->n_tables; i++)
        lanes->tables[i].values = new_numbers(a, planned->capacity);
}

void lanes_allocate(struct arena *a, const struct planned_stage *planned, struct lanes *lanes)
{
    allocate_tables(a, planned, lanes);
    lanes->variables = new_numbers(a, planned->stage->type.rank * planned->capacity);
}

static void fill_variables(struct lanes *lanes)
{
    const struct type *t = &lanes->stage->type;
    int64_t rest = lanes->first, place[MAX_RANK];
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        place[axis] = rest % t->dim[axis];
        rest /= t->dim[axis];
    }
    for (int lane = 0; lane < lanes->n; lane++) {
        for (int axis = 0; axis < t->rank; axis++)
            lanes->variables[axis * lanes->capacity + lane] = place[axis];
        for (int axis = t->rank - 1; axis >= 0 && ++place[axis] == t->dim[axis]; axis--)
            place[axis] = 0;
    }
}

static const int64_t *variable_in_lanes(const struct lanes *lanes, int64_t variable)
{
    return &lanes->variables[(variable - lanes->stage->first_variable) * lanes->capacity];
}

static void fill_table(const struct lanes *lanes, const struct form *f, struct lane_table *table)
{
    int64_t value[PLAN_LANES];
    memset(table->values, 0, sizeof *table->values * (size_t)lanes->n);
    EACH(f->lane, f->n_lane, t) {
        const int64_t *atom = t->is_expression ? value : variable_in_lanes(lanes, t->atom);
        if (t->is_expression)
            lanes_index(lanes, t->atom, value);
        for (int lane = 0; lane < lanes->n; lane++)
            table->values[lane] = wrapping_sum(table->values[lane], wrapping_product(t->coefficient, atom[lane]));
    }
    table->low = table->high = table->values[0];
    for (int lane = 1; lane < lanes->n; lane++) {
        table->low = table->values[lane] < table->low ? table->values[lane] : table->low;
        table->high = table->values[lane] > table->high ? table->values[lane] : table->high;
    }
}

void lanes_fill(const struct planned_stage *planned, struct lanes *lanes)
{
    fill_variables(lanes);
    for (uint32_t i = 0; i < planned->n_tables; i++)
        fill_table(lanes, planned->forms[i], &lanes->tables[i]);
}

static void fill_with(int64_t *values, int n, int64_t value)
{
    for (int lane = 0; lane < n; lane++)
        values[lane] = value;
}

static void add_lanes(const struct lanes *lanes, expr e, int64_t *values)
{
    int64_t other[PLAN_LANES];
    lanes_index(lanes, e, other);
    for (int lane = 0; lane < lanes->n; lane++)
        values[lane] = wrapping_sum(values[lane], other[lane]);
}

void lanes_index(const struct lanes *lanes, expr e, int64_t *ret_values)
{
    const struct expr_node *n = &lanes->d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_INTEGER:
        fill_with(ret_values, lanes->n, n->value);
        break;
    case EXPR_VARIABLE:
        if (is_of_stage(lanes->stage, n->value))
            memcpy(ret_values, variable_in_lanes(lanes, n->value), sizeof *ret_values * (size_t)lanes->n);
        else
            fill_with(ret_values, lanes->n, lanes->loop[n->value]);
        break;
    case EXPR_INDEX_ADD:
        lanes_index(lanes, n->a, ret_values);
        add_lanes(lanes, n->b, ret_values);
        break;
    case EXPR_INDEX_MUL:
        lanes_index(lanes, n->a, ret_values);
        for (int lane = 0; lane < lanes->n; lane++)
            ret_values[lane] = wrapping_product(ret_values[lane], n->value);
        break;
    case EXPR_INDEX_DIV:
        lanes_index(lanes, n->a, ret_values);
        for (int lane = 0; lane < lanes->n; lane++)
            ret_values[lane] = floor_quotient(ret_values[lane], n->value);
        break;
    case EXPR_INDEX_MOD:
        lanes_index(lanes, n->a, ret_values);
        for (int lane = 0; lane < lanes->n; lane++)
            ret_values[lane] = floor_remainder(ret_values[lane], n->value);
        break;
    case EXPR_INDEX_OF:
        lanes->index_of(lanes->context, n->a, ret_values);
        break;
    default:
        assert(!"not an index expression");
    }
}

int64_t form_loop_part(const struct lanes *lanes, const struct form *f)
{
    int64_t value = f->base;
    for (int i = 0; i < f->n_loop; i++)
        value = wrapping_sum(value, wrapping_product(f->loop[i].coefficient, lanes->loop[f->loop[i].atom]));
    return value;
}

// --- plans -----------------------------------------------------------------------------------------------------------

// A stage of one block has its lanes filled once and for all.
static void cache_lanes(struct planner *p, struct planned_stage *planned)
{
    struct lanes lanes = {.d = p->d, .n = (int)planned->elements};
    planned->is_cached = planned->elements > 0 && planned->elements <= PLAN_LANES;
    if (!planned->is_cached)
        return;
    int64_t variables[MAX_RANK * PLAN_LANES];   // of use for the tables alone where nothing is computed lane by lane
    allocate_tables(p->arena, planned, &lanes);
    lanes.variables =
        p->needs_variables ? new_numbers(p->arena, planned->stage->type.rank * planned->capacity) : variables;
    lanes_fill(planned, &lanes);
    planned->tables = lanes.tables;
    planned->variables = p->needs_variables ? lanes.variables : NULL;
}

static void plan_stage(struct planner *p, const struct stage *s, struct planned_stage *planned)
{
    int64_t elements = type_elements(&s->type);
    *planned = (struct planned_stage){
        .stage = s,
        .elements = elements,
        .capacity = elements < PLAN_LANES ? (int)elements : PLAN_LANES,
        .accesses = arena_array(p->arena, struct read_access *, p->d->nodes.count),
        .conditions = arena_array(p->arena, struct form *, p->d->nodes.count),
    };
    p->stage = s;
    p->planned = planned;
    p->needs_variables = false;
    vec_clear(&p->with_tables);
    plan_expr(p, s->body);
    planned->n_tables = (uint32_t)p->with_tables.count;
    planned->forms = arena_copy_array(p->arena, p->with_tables.items, p->with_tables.count);
    cache_lanes(p, planned);
}

const struct evaluation_plan *evaluation_plan_make(const struct definition *d, struct arena *arena)
{
    struct evaluation_plan *plan = arena_new(arena, struct evaluation_plan);
    struct planner p;
    p.d = d;
    p.arena = arena;
    memset(&p.with_tables, 0, sizeof p.with_tables);
    plan->d = d;
    plan->stages = arena_array(arena, struct planned_stage, d->n_stages);
    for (int i = 0; i < d->n_stages; i++)
        plan_stage(&p, &d->stages[i], &plan->stages[i]);
    vec_free(&p.with_tables);
    return plan;
}
