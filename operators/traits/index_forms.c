// Every read and every comparison of the definition against the table of forms.
#include "operators/traits/index_forms.h"

#include "core/memory/memory.h"
#include "expressions/affine.h"
#include "operators/traits.h"

struct place {
    const struct definition *d;
    const struct operator_call *call;
    int stage;
    int64_t tensor;
    int axis;
    int64_t size;   // of the axis
    struct affine_form f;
};

static int64_t value_of(const struct operator_call *call, enum attribute_role role, uint32_t entry, int64_t standard)
{
    int attribute = operator_find_role(call->op, role);
    return attribute >= 0 && entry < call->attributes[attribute].count ? call->attributes[attribute].ints[entry]
                                                                       : standard;
}

// A variable with nothing added that takes each place of the axis once; others beside it take the place 0 alone.
static bool is_whole_axis(const struct place *p)
{
    int64_t places = 1;
    bool is_whole = p->f.base == 0 && affine_form_is_of_variables(p->d, &p->f);
    for (int i = 0; i < p->f.n && is_whole; i++) {
        int64_t extent = p->d->extents.items[p->d->nodes.items[p->f.terms[i].atom].value];
        is_whole = extent == 1 || (places == 1 && p->f.terms[i].factor == 1);
        places *= extent;
    }
    return is_whole && places == p->size;
}

static bool is_window(const struct place *p)
{
    if (!operator_has_windows(p->call->op) || p->tensor != 0 || p->axis < 2)
        return false;
    uint32_t spatial = (uint32_t)p->axis - 2;
    return p->f.n == 2 && p->f.base == -value_of(p->call, ROLE_WINDOW_PADS, spatial, 0) &&
           affine_form_is_of_variables(p->d, &p->f) &&
           p->f.terms[0].factor == value_of(p->call, ROLE_STRIDE, spatial, 1) &&
           p->f.terms[1].factor == value_of(p->call, ROLE_DILATION, spatial, 1);
}

static bool is_moved_by(const struct place *p, int64_t base)
{
    return p->f.n == 1 && p->f.base == base && p->f.terms[0].factor == 1 && affine_form_is_of_variables(p->d, &p->f);
}

static int64_t sizes_of_inputs_before(const struct place *p, int64_t input)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < input; i++)
        sum += p->d->inputs[i].dim[p->axis];
    return sum;
}

static bool is_part(const struct place *p)
{
    if (value_of(p->call, ROLE_AXIS, 0, -1) != p->axis)
        return false;
    int64_t sum = 0;
    for (int output = 0; output < p->d->n_outputs && p->d->outputs[output] < p->stage; output++)
        sum += definition_output(p->d, output)->dim[p->axis];
    return (operator_splits(p->call->op) && is_moved_by(p, sum)) ||
           (operator_joins(p->call->op) && is_moved_by(p, -sizes_of_inputs_before(p, p->tensor)));
}

// The number that the variable is divided by in a term; 0: the term is no quotient of a variable.
static int64_t divisor_of(const struct definition *d, expr atom)
{
    const struct expr_node *n = &d->nodes.items[atom];
    return n->kind == EXPR_INDEX_DIV && d->nodes.items[n->a].kind == EXPR_VARIABLE ? n->value : 0;
}

static bool is_group(const struct place *p)
{
    int64_t groups = value_of(p->call, ROLE_GROUPS, 0, 0);
    if (!operator_has_windows(p->call->op) || p->d->n_inputs != 2 || groups < 1 || p->tensor != 0 || p->axis != 1 ||
        p->f.n != 2 || p->f.base)
        return false;
    expr quotient = p->f.terms[0].atom;
    bool is_of_filters = divisor_of(p->d, quotient) == p->d->inputs[1].dim[0] / groups ||
                         (p->d->inputs[1].dim[0] == groups && p->d->nodes.items[quotient].kind == EXPR_VARIABLE);
    return is_of_filters && p->f.terms[0].factor == p->size / groups && p->f.terms[1].factor == 1 &&
           p->d->nodes.items[p->f.terms[1].atom].kind == EXPR_VARIABLE;
}

static bool is_block(const struct place *p)
{
    int64_t groups = value_of(p->call, ROLE_GROUPS, 0, 0), count = value_of(p->call, ROLE_MERGED_GROUPS, 0, 0);
    if (!operator_merges_groups(p->call->op) || groups < 1 || p->axis != 1 || p->f.n != 2 || p->f.base)
        return false;
    const struct expr_node *block = &p->d->nodes.items[p->f.terms[1].atom];
    int64_t filters = p->d->inputs[0].dim[0] / groups;
    bool is_of_filters = block->kind == EXPR_INDEX_MOD && block->value == count &&
                         (divisor_of(p->d, block->a) == filters || filters == 1);
    return is_of_filters && p->f.terms[0].factor == 1 && p->f.terms[1].factor == -p->size &&
           p->d->nodes.items[p->f.terms[0].atom].kind == EXPR_VARIABLE;
}

static bool is_middle(const struct place *p)
{
    int64_t grown = definition_output(p->d, 0)->dim[p->axis] - p->size;
    return operator_enlarges(p->call->op) && p->axis >= 2 && is_moved_by(p, -grown / 2);
}

static bool (*const forms[])(const struct place *p) = {is_whole_axis, is_window, is_part,
                                                       is_group,      is_block,  is_middle};

static bool is_plain_place(struct place *p, expr index)
{
    if (!affine_form_of(p->d, index, &p->f))
        return false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i](p))
            return true;
    return false;
}

static bool is_plain_read(struct place *p, const struct expr_node *read)
{
    p->tensor = read->value;
    for (p->axis = 0; p->axis < (int)read->count; p->axis++) {
        p->size = definition_tensor(p->d, read->value)->dim[p->axis];
        if (!is_plain_place(p, p->d->indices.items[read->a + (uint32_t)p->axis]))
            return false;
    }
    return true;
}

// --- comparisons -----------------------------------------------------------------------------------------------------

static bool are_opposite(const struct affine_form *f, const struct affine_form *g, int64_t sum)
{
    if (f->n != g->n || f->base + g->base != sum)
        return false;
    for (int i = 0; i < f->n; i++)
        if (f->terms[i].atom != g->terms[i].atom || f->terms[i].factor != -g->terms[i].factor)
            return false;
    return true;
}

static bool is_middle_of_axis(const struct definition *d, const struct affine_form *f)
{
    return f->n == 1 && d->nodes.items[f->terms[0].atom].kind == EXPR_VARIABLE &&
           f->base == -(d->extents.items[d->nodes.items[f->terms[0].atom].value] / 2);
}

// Are two indices, or one and the middle of its axis, compared for equality: e >= 0, and then -e >= 0?
static bool compares_for_equality(const struct place *p, const struct expr_node *select)
{
    const struct expr_node *then = &p->d->nodes.items[select->b];
    struct affine_form f, g;
    if (then->kind != EXPR_SELECT || then->c != select->c || !affine_form_of(p->d, select->a, &f) ||
        !affine_form_of(p->d, then->a, &g) || !affine_form_is_of_variables(p->d, &f))
        return false;
    bool is_of_two = f.n == 2 && f.base == 0 && f.terms[0].factor == 1 && f.terms[1].factor == -1;
    return are_opposite(&f, &g, 0) && (is_of_two || is_middle_of_axis(p->d, &f));
}

// Is a place of a window beside the image: e >= 0, and then size - 1 - e >= 0?
static bool compares_with_image(struct place *p, const struct expr_node *select)
{
    const struct expr_node *then = &p->d->nodes.items[select->b];
    struct affine_form g;
    if (!operator_has_windows(p->call->op) || then->kind != EXPR_SELECT || then->c != select->c ||
        !affine_form_of(p->d, select->a, &p->f) || !affine_form_of(p->d, then->a, &g))
        return false;
    p->tensor = 0;
    for (p->axis = 2; p->axis < p->d->inputs[0].rank; p->axis++)
        if (is_window(p) && are_opposite(&p->f, &g, p->d->inputs[0].dim[p->axis] - 1))
            return true;
    return false;
}

static bool compares_with_parts(struct place *p, const struct expr_node *select)
{
    p->axis = (int)value_of(p->call, ROLE_AXIS, 0, -1);
    if (!operator_joins(p->call->op) || !affine_form_of(p->d, select->a, &p->f))
        return false;
    for (int i = 1; i < p->d->n_inputs; i++)
        if (is_moved_by(p, -sizes_of_inputs_before(p, i)))
            return true;
    return false;
}

static bool is_plain(struct place *p, expr e)
{
    const struct expr_node *n = &p->d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
        return true;
    case EXPR_READ:
        return is_plain_read(p, n);
    case EXPR_APPLY:
        return is_plain(p, n->a) && (function_arity(n->fn) < 2 || is_plain(p, n->b)) &&
               (function_arity(n->fn) < 3 || is_plain(p, n->c));
    case EXPR_REDUCE:
        return n->fn != FN_MUL && is_plain(p, n->a);
    case EXPR_SELECT:
        if (compares_for_equality(p, n) || compares_with_image(p, n))
            return is_plain(p, p->d->nodes.items[n->b].b) && is_plain(p, n->c);
        return compares_with_parts(p, n) && is_plain(p, n->b) && is_plain(p, n->c);
    default:
        return false;
    }
}

// --- views -----------------------------------------------------------------------------------------------------------

static int64_t place_read(const struct definition *d, const struct expr_node *read, const int64_t *variables)
{
    int64_t place = 0;
    for (uint32_t i = 0; i < read->count; i++)
        place = place * d->inputs[0].dim[i] + index_value(d, d->indices.items[read->a + i], variables);
    return place;
}

// Is each entry of the result the entry of the input at the same place in row-major order?
static bool keeps_order(const struct definition *d)
{
    const struct stage *z = &d->stages[0];
    const struct expr_node *read = &d->nodes.items[z->body];
    bool keeps = d->n_stages == 1 && d->n_inputs == 1 && read->kind == EXPR_READ && !d->is_data_dependent &&
                 type_elements(&z->type) == type_elements(&d->inputs[0]);
    int64_t *variables = mem_new_array(int64_t, d->extents.count + 1);
    for (int64_t place = 0; keeps && place < type_elements(&z->type); place++) {
        int64_t left = place;
        for (int axis = z->type.rank; axis-- > 0; left /= z->type.dim[axis])
            variables[z->first_variable + (uint32_t)axis] = left % z->type.dim[axis];
        keeps = place_read(d, read, variables) == place;
    }
    mem_free_array(variables, d->extents.count + 1);
    return keeps;
}

bool index_forms_are_plain(const struct definition *d, const struct operator_call *call)
{
    struct place p = {.d = d, .call = call};
    if (operator_is_view(call->op))
        return keeps_order(d);
    for (p.stage = 0; p.stage < d->n_stages; p.stage++)
        if (!d->stages[p.stage].has_body || !is_plain(&p, d->stages[p.stage].body))
            return false;
    return true;
}
