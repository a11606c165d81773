// A last axis in memory whose place is divided by more than a few is cut in two first, as a reshape does, and divided
// no more; so is one that is too long for a row.
#include "backends/generated/stage_kernel.h"

#include "core/memory/arena.h"
#include "core/text/text.h"
#include "expressions/affine.h"
#include "expressions/composition/composition.h"
#include <math.h>
#include <string.h>

enum { MOST_SUMS = 12, MOST_GUARDS = 40, MOST_READS = 6, MOST_PHASES = 4, LONGEST_ROW = 16384 };

struct sums {
    struct text *text;
    const struct definition *d;
    const struct stage *stage;
    const int64_t *const *strides;
    int order[MAX_RANK];   // axes of the result, from those whose neighbours are farthest apart on
    int last_axis;         // in this order
    uint32_t last;         // its variable
    int n_sums, n_guards, n_reads;
    uint32_t sums[MOST_SUMS];
    struct guard {
        expr index;
        int64_t factor, base;   // factor * index + base >= 0
    } guards[MOST_GUARDS];
    expr reads[MOST_READS];
    double factor;
    bool is_relu;   // of the sum
    int64_t phases;
};

static long long as_long(int64_t i)
{
    return (long long)i;
}

// --- how tensors stand -----------------------------------------------------------------------------------------------

static int64_t stride_of(const struct sums *s, int tensor, int axis)
{
    const struct type *type = definition_tensor(s->d, tensor);
    if (s->strides && s->strides[tensor])
        return s->strides[tensor][axis];
    return PRODUCT_ALL(int64_t, int, i, type->rank - axis - 1, type->dim[axis + 1 + i]);
}

// Axes of one place stay where they are.
static void find_order(struct sums *s)
{
    int rank = s->stage->type.rank, result = s->d->n_inputs;
    for (int i = 0, at; i < rank; i++) {
        for (at = i; at > 0 && stride_of(s, result, s->order[at - 1]) < stride_of(s, result, i); at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = i;
    }
    s->last_axis = s->order[rank - 1];
    s->last = s->stage->first_variable + (uint32_t)s->last_axis;
}

static int64_t width_of(const struct sums *s)
{
    return s->stage->type.dim[s->last_axis];
}

// --- the form --------------------------------------------------------------------------------------------------------

static bool is_zero(const struct sums *s, expr e)
{
    const struct expr_node *n = &s->d->nodes.items[e];
    return n->kind == EXPR_REAL && n->real == 0 && !signbit(n->real);
}

static bool add_guard(struct sums *s, expr index, int64_t factor, int64_t base)
{
    if (s->n_guards == MOST_GUARDS)
        return false;
    s->guards[s->n_guards++] = (struct guard){index, factor, base};
    return true;
}

static bool take_read(struct sums *s, expr e)
{
    const struct expr_node *n = &s->d->nodes.items[e];
    const struct type *type = definition_tensor(s->d, n->value);
    if (s->n_reads == MOST_READS || n->b == OUTSIDE_LOWEST || type->dtype != DTYPE_F32)
        return false;
    for (int axis = 0; axis < type->rank; axis++) {
        expr index = s->d->indices.items[n->a + (expr)axis];
        if (!index_stays_inside(s->d, index, type->dim[axis]) &&
            (!add_guard(s, index, 1, 0) || !add_guard(s, index, -1, type->dim[axis] - 1)))
            return false;
    }
    s->reads[s->n_reads++] = e;
    return true;
}

static bool take(struct sums *s, expr e)
{
    const struct expr_node *n = &s->d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
        s->factor *= n->real;
        return true;
    case EXPR_READ:
        return take_read(s, e);
    case EXPR_REDUCE:
        if (n->fn != FN_ADD || s->n_sums == MOST_SUMS)
            return false;
        s->sums[s->n_sums++] = (uint32_t)n->value;
        return take(s, n->a);
    case EXPR_SELECT:
        return is_zero(s, n->c)   ? add_guard(s, n->a, 1, 0) && take(s, n->b)
               : is_zero(s, n->b) ? add_guard(s, n->a, -1, -1) && take(s, n->c)
                                  : false;
    case EXPR_APPLY:
        return n->fn == FN_MUL && take(s, n->a) && take(s, n->b);
    default:
        return false;
    }
}

static bool take_result(struct sums *s, expr e)
{
    const struct expr_node *n = &s->d->nodes.items[e];
    s->is_relu = n->kind == EXPR_APPLY && n->fn == FN_RELU;
    return take(s, s->is_relu ? n->a : e);
}

// --- phases ----------------------------------------------------------------------------------------------------------

static bool depends_on_last(const struct sums *s, expr e)
{
    const struct expr_node *n = &s->d->nodes.items[e];
    struct operands below = expr_operands(s->d, e);
    return (n->kind == EXPR_VARIABLE && n->value == s->last) ||
           ANY(uint32_t, i, below.n, depends_on_last(s, below.items[i]));
}

// Is the quotient the same along the whole row, as what else is divided comes in multiples that the row does not fill?
static bool is_quotient_of_row(const struct sums *s, const struct expr_node *n)
{
    struct affine_form f;
    if (!affine_form_of(s->d, n->a, &f))
        return false;
    int64_t multiple = n->value, low = f.base, high = f.base;
    EACH(f.terms, f.n, t) {
        struct index_range range = index_range(s->d, t->atom);
        if (!depends_on_last(s, t->atom)) {
            multiple = greatest_common_divisor(multiple, t->factor);
            continue;
        }
        low += t->factor * (t->factor > 0 ? range.low : range.high);
        high += t->factor * (t->factor > 0 ? range.high : range.low);
    }
    return floor_quotient(low, multiple) == floor_quotient(high, multiple);
}

// The step of the index from one q to the next; otherwise a number by which there must be more phases.
static bool find_step(const struct sums *s, expr e, int64_t *ret_step, int64_t *ret_lacking)
{
    const struct expr_node *n = &s->d->nodes.items[e];
    int64_t of_b = 0;
    *ret_step = 0;
    switch ((enum expr_kind)n->kind) {
    case EXPR_VARIABLE:
        *ret_step = n->value == s->last ? s->phases : 0;
        return true;
    case EXPR_INDEX_ADD:
        if (!find_step(s, n->a, ret_step, ret_lacking) || !find_step(s, n->b, &of_b, ret_lacking))
            return false;
        *ret_step += of_b;
        return true;
    case EXPR_INDEX_MUL:
        if (!find_step(s, n->a, ret_step, ret_lacking))
            return false;
        *ret_step *= n->value;
        return true;
    case EXPR_INDEX_DIV:
    case EXPR_INDEX_MOD:
        if (!find_step(s, n->a, ret_step, ret_lacking))
            return false;
        if (is_quotient_of_row(s, n)) {
            *ret_lacking = 1;
            *ret_step = n->kind == EXPR_INDEX_DIV ? 0 : *ret_step;
            return true;
        }
        *ret_lacking = n->value / greatest_common_divisor(n->value, *ret_step);
        *ret_step = n->kind == EXPR_INDEX_DIV ? *ret_step / n->value : 0;
        return *ret_lacking == 1;
    default:
        *ret_lacking = 1;
        return n->kind == EXPR_INTEGER;
    }
}

static int64_t step_of(const struct sums *s, expr e)
{
    int64_t step, lacking;
    find_step(s, e, &step, &lacking);
    return step;
}

static bool all_have_steps(const struct sums *s, int64_t *ret_lacking)
{
    int64_t step;
    for (int i = 0; i < s->n_guards; i++)
        if (!find_step(s, s->guards[i].index, &step, ret_lacking))
            return false;
    for (int i = 0; i < s->n_reads; i++) {
        const struct expr_node *n = &s->d->nodes.items[s->reads[i]];
        for (int axis = 0; axis < n->count; axis++)
            if (!find_step(s, s->d->indices.items[n->a + (expr)axis], &step, ret_lacking))
                return false;
    }
    return true;
}

static bool find_phases(struct sums *s)
{
    int64_t lacking = 1;
    for (s->phases = 1; s->phases <= MOST_PHASES; s->phases *= lacking)
        if (all_have_steps(s, &lacking))
            return true;
        else if (lacking == 1)
            return false;
    return false;
}

// --- text ------------------------------------------------------------------------------------------------------------

// The index at q = 0 of the phase.
static void print_index(const struct sums *s, expr e, int64_t phase)
{
    const struct expr_node *n = &s->d->nodes.items[e];
    if (n->kind == EXPR_INTEGER || (n->kind == EXPR_VARIABLE && n->value == s->last)) {
        text_printf(s->text, "(I)%lld", as_long(n->kind == EXPR_INTEGER ? n->value : phase));
        return;
    }
    if (n->kind == EXPR_VARIABLE) {
        text_printf(s->text, "v%lld", as_long(n->value));
        return;
    }
    text_add(s->text, n->kind == EXPR_INDEX_DIV ? "DIV(" : n->kind == EXPR_INDEX_MOD ? "MOD(" : "(");
    print_index(s, n->a, phase);
    text_add(s->text, n->kind == EXPR_INDEX_ADD ? " + " : n->kind == EXPR_INDEX_MUL ? " * " : ", ");
    if (n->kind == EXPR_INDEX_ADD)
        print_index(s, n->b, phase);
    else
        text_printf(s->text, "(I)%lld", as_long(n->value));
    text_add(s->text, ")");
}

// An interval of q for guards that it decides, and a condition for others.
static void print_guard(const struct sums *s, const struct guard *g, int64_t phase)
{
    int64_t step = g->factor * step_of(s, g->index);
    text_printf(s->text, "g = %lld * ", as_long(g->factor));
    print_index(s, g->index, phase);
    text_printf(s->text, " + %lld;\n", as_long(g->base));
    if (step > 0)
        text_printf(s->text, "g = -DIV(g, (I)%lld); low = g > low ? g : low;\n", as_long(step));
    else if (step < 0)
        text_printf(s->text, "g = DIV(g, (I)%lld) + 1; high = g < high ? g : high;\n", as_long(-step));
    else
        text_add(s->text, "high = g >= 0 ? high : low;\n");
}

static int64_t step_of_read(const struct sums *s, const struct expr_node *read)
{
    return SUM_ALL(int64_t, int, axis, read->count,
                   stride_of(s, (int)read->value, axis) * step_of(s, s->d->indices.items[read->a + (expr)axis]));
}

static void print_address(const struct sums *s, int number, int64_t phase)
{
    const struct expr_node *n = &s->d->nodes.items[s->reads[number]];
    text_printf(s->text, "const I a%d = 0", number);
    for (int axis = 0; axis < n->count; axis++) {
        text_printf(s->text, " + (I)%lld * ", as_long(stride_of(s, (int)n->value, axis)));
        print_index(s, s->d->indices.items[n->a + (expr)axis], phase);
    }
    text_add(s->text, ";\n");
}

static void print_phase(const struct sums *s, int64_t phase, int64_t first, int64_t length)
{
    text_printf(s->text, "{\nI low = 0, high = %lld, g;\n", as_long(length));
    for (int i = 0; i < s->n_guards; i++)
        print_guard(s, &s->guards[i], phase);
    for (int i = 0; i < s->n_reads; i++)
        print_address(s, i, phase);
    text_printf(s->text, "for (I q = low; q < high; q++)\nz[%lld + q] %s ", as_long(first),
                s->n_sums ? "+=" : "=");   // what is no sum keeps the signs of zeros
    for (int i = 0; i < s->n_reads; i++) {
        const struct expr_node *n = &s->d->nodes.items[s->reads[i]];
        text_printf(s->text, "%sx[%lld][a%d + q * (I)%lld]", i ? " * " : "", as_long(n->value), i,
                    as_long(step_of_read(s, n)));
    }
    text_add(s->text, s->n_reads ? ";\n}\n" : "1;\n}\n");
}

static int64_t length_of_phase(int64_t width, int64_t phases, int64_t phase)
{
    return (width - phase + phases - 1) / phases;
}

static void print_row(const struct sums *s)
{
    int64_t width = width_of(s), first = 0;
    text_printf(s->text, "float z[%lld] = {0};\n", as_long(width));
    for (int i = 0; i < s->n_sums; i++)
        text_printf(s->text, "for (I v%u = 0; v%u < %lld; v%u++)\n", s->sums[i], s->sums[i],
                    as_long(s->d->extents.items[s->sums[i]]), s->sums[i]);
    text_add(s->text, "{\n");
    for (int64_t phase = 0; phase < s->phases; first += length_of_phase(width, s->phases, phase++))
        print_phase(s, phase, first, length_of_phase(width, s->phases, phase));
    text_add(s->text, "}\n");
    first = 0;
    for (int64_t phase = 0; phase < s->phases; first += length_of_phase(width, s->phases, phase++))
        text_printf(s->text,
                    "for (I q = 0; q < %lld; q++) {\nconst float t = (float)%.17g * z[%lld + q];\n"
                    "y[row * %lld + q * %lld + %lld] = %s;\n}\n",
                    as_long(length_of_phase(width, s->phases, phase)), s->factor, as_long(first), as_long(width),
                    as_long(s->phases), as_long(phase), s->is_relu ? "t < 0 ? 0 : t" : "t");
}

static void print_kernel(const struct sums *s)
{
    const struct type *type = &s->stage->type;
    int64_t rows = type_elements(type) / width_of(s), behind = 1;
    text_add(s->text, "#undef I\n#define I __INT64_TYPE__\n"
                      "#undef DIV\n#define DIV(a, n) ((a) >= 0 ? (a) / (n) : -(((n) - 1 - (a)) / (n)))\n"
                      "#undef MOD\n#define MOD(a, n) ((a) - (n) * DIV(a, n))\n"
                      "void NAMED(run)(const void *const *given, float *scratch, int part, int parts)\n{\n"
                      "const float *const *x = given[0];\nfloat *restrict y = (float *)given[1];\n");
    text_printf(s->text, "for (I row = (I)%lld * part / parts; row < (I)%lld * (part + 1) / parts; row++) {\n",
                as_long(rows), as_long(rows));
    for (int i = type->rank - 1; i-- > 0; behind *= type->dim[s->order[i]])
        text_printf(s->text, "const I v%u = row / %lld %% %lld;\n", s->stage->first_variable + (uint32_t)s->order[i],
                    as_long(behind), as_long(type->dim[s->order[i]]));
    print_row(s);
    text_add(s->text, "}\n}\n");
}

// --- long quotients --------------------------------------------------------------------------------------------------

static int64_t longest_part_of_row(int64_t width)
{
    int64_t length = width < LONGEST_ROW ? width : LONGEST_ROW;
    while (length > 1 && width % length != 0)
        length--;
    return length;
}

// The smallest number, beyond that of phases, by which the place on the last axis alone is divided.
static void find_divisor(const struct sums *s, expr e, int64_t *ret_divisor)
{
    const struct expr_node *n = &s->d->nodes.items[e];
    struct operands below = expr_operands(s->d, e);
    if (n->kind == EXPR_INDEX_DIV || n->kind == EXPR_INDEX_MOD) {
        const struct expr_node *of = &s->d->nodes.items[n->a];
        if (of->kind == EXPR_VARIABLE && of->value == s->last && n->value > MOST_PHASES &&
            width_of(s) % n->value == 0 && (*ret_divisor == 0 || n->value < *ret_divisor))
            *ret_divisor = n->value;
    }
    for (uint32_t i = 0; i < below.n; i++)
        find_divisor(s, below.items[i], ret_divisor);
}

// The same entries with an axis cut in two, the second of which comes last.
static void cut_axis(const struct type *type, int cut_one, int64_t divisor, struct definition *cut)
{
    int64_t dim[MAX_RANK];
    expr index[MAX_RANK];
    memcpy(dim, type->dim, sizeof dim);
    dim[cut_one] /= divisor;
    dim[type->rank] = divisor;
    int z = output_add(cut, type->dtype, type->rank + 1, dim);
    for (int axis = 0; axis < type->rank; axis++)
        index[axis] = stage_index(cut, z, axis);
    index[cut_one] = index_add(cut, index_mul(cut, index[cut_one], divisor), stage_index(cut, z, type->rank));
    stage_set_body(cut, z, scalar_read(cut, 0, index));
}

static bool print_definition(struct text *text, const struct definition *d, const int64_t *const *strides,
                             struct arena *scratch);

static const int64_t *const *strides_of_cut(const struct sums *s, int64_t divisor, struct arena *scratch)
{
    int n_inputs = s->d->n_inputs, rank = s->stage->type.rank;
    const int64_t **strides = arena_array(scratch, const int64_t *, n_inputs + 1);
    int64_t *of_result = arena_array(scratch, int64_t, rank + 1);
    for (int i = 0; i < n_inputs; i++)
        strides[i] = s->strides ? s->strides[i] : NULL;
    for (int axis = 0; axis < rank; axis++)
        of_result[axis] = stride_of(s, n_inputs, axis) * (axis == s->last_axis ? divisor : 1);
    of_result[rank] = stride_of(s, n_inputs, s->last_axis);
    strides[n_inputs] = of_result;
    return strides;
}

static bool print_cut(const struct sums *s, int64_t divisor, struct arena *scratch)
{
    const struct definition *d = s->d;
    struct composition all FREED_BY(composition_free);
    struct definition axis FREED_BY(definition_free), cut FREED_BY(definition_free);
    int *inputs = arena_array(scratch, int, d->n_inputs + 1), first, second;
    for (int i = 0; i < d->n_inputs; i++)
        inputs[i] = i;
    composition_init(&all, scratch, d->n_inputs, d->inputs);
    all.pool.keeps_conditions = true;
    composition_add(&all, d, inputs, &first);
    definition_init(&axis, scratch, 1, &s->stage->type);
    cut_axis(&s->stage->type, s->last_axis, divisor, &axis);
    composition_add(&all, &axis, &first, &second);
    composition_extract(&all, second, &cut);
    return print_definition(s->text, &cut, strides_of_cut(s, divisor, scratch), scratch);
}

static bool print_definition(struct text *text, const struct definition *d, const int64_t *const *strides,
                             struct arena *scratch)
{
    struct sums s = {.text = text, .d = d, .stage = &d->stages[0], .strides = strides, .factor = 1};
    int64_t divisor = 0;
    if (d->n_stages != 1 || s.stage->type.rank < 1 || s.stage->type.dtype != DTYPE_F32)
        return false;
    find_order(&s);
    if (width_of(&s) == 0)
        return false;
    find_divisor(&s, s.stage->body, &divisor);
    if (divisor == 0 && width_of(&s) > LONGEST_ROW)
        divisor = longest_part_of_row(width_of(&s));
    if (divisor > 1 && s.stage->type.rank < MAX_RANK)
        return print_cut(&s, divisor, scratch);
    if (width_of(&s) > LONGEST_ROW || !take_result(&s, s.stage->body) || !find_phases(&s))
        return false;
    print_kernel(&s);
    return true;
}

bool stage_kernel_print(struct text *text, const struct definition *d, const int64_t *const *strides,
                        struct arena *scratch)
{
    return !d->is_data_dependent && d->n_outputs == 1 && print_definition(text, d, strides, scratch);
}
