// Sums are written as terms with coefficients, and constants of one number as one more term. Where a term vanishes, all
// nodes between the one that brought it and the one that takes it away are meant as they stand; what that gives is a
// term of its own from then on. Constants that are not finite are followed through what moves entries, up to what
// computes with them.
#include "onnx/convert/exact_places.h"

#include "core/memory/arena.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include "onnx/convert/importer.h"
#include "onnx/format/tensor.h"
#include <math.h>

enum { MOST_TERMS = 12 };
#define MOST_ELEMENTS ((int64_t)1 << 20)   // of constants that are looked at
#define CONSTANT UINT32_MAX                // the term that constants are
#define VANISHES 1e-6                      // of the largest constant that takes part

struct term {
    uint32_t value;   // its number among the importer's, or CONSTANT
    double factor;    // of CONSTANT: their sum
};
struct sum {
    uint32_t node, n;   // that computes it; NO_ORIGIN: a leaf
    double largest;     // of the constants
    struct term terms[MOST_TERMS];
};
struct places {
    const struct importer *im;
    struct arena scratch;
    struct sum **sums;   // by value; NULL: it is a term itself
    bool *is_infinite;   // by value: it has entries of a constant that is not finite
    bool *is_exact;      // by node
};

static uint32_t number_of(const struct places *p, const struct onnx_string *name)
{
    const struct named_value *value = name->size ? name_find(p->im, name) : NULL;
    return value ? (uint32_t)(value - p->im->values.items) : CONSTANT;
}

// --- constants -------------------------------------------------------------------------------------------------------

// The first element, and whether all are finite; the rest is not kept. False: it is none of real numbers.
static bool look_at_constant(struct places *p, const struct onnx_tensor *tensor, struct type *ret_type,
                             double *ret_first, bool *ret_is_finite)
{
    ARENA_MARK(mark, &p->scratch);
    struct onnx_bytes bytes;
    struct error ignored = {0};
    *ret_type = type_of_tensor(tensor);
    bool is_read = type_is_known(ret_type) && dtype_is_float(ret_type->dtype) && type_elements(ret_type) >= 1 &&
                   type_elements(ret_type) <= MOST_ELEMENTS &&
                   onnx_tensor_decode(tensor, &p->scratch, p->im->model->file->path, &bytes, &ignored);
    if (is_read)
        elements_to_reals(ret_type->dtype, bytes.at, 1, ret_first);
    *ret_is_finite = !is_read || elements_are_finite(ret_type->dtype, bytes.at, (size_t)type_elements(ret_type));
    return is_read;
}

static void note_constant(struct places *p, uint32_t value, const struct onnx_tensor *tensor)
{
    struct type type;
    double first;
    bool is_finite;
    if (value == CONSTANT || !look_at_constant(p, tensor, &type, &first, &is_finite))
        return;
    p->is_infinite[value] = !is_finite;
    if (type_elements(&type) > 1 || !is_finite)
        return;
    struct sum *s = p->sums[value] = arena_new(&p->scratch, struct sum);
    *s = (struct sum){.node = NO_ORIGIN, .n = 1, .largest = fabs(first), .terms = {{CONSTANT, first}}};
}

static void note_initializers(struct places *p)
{
    for (size_t i = 0; i < p->im->source->initializers.count; i++) {
        const struct onnx_tensor *tensor = p->im->source->initializers.items[i];
        note_constant(p, number_of(p, &tensor->name), tensor);
    }
}

// --- sums ------------------------------------------------------------------------------------------------------------

static struct sum sum_of(const struct places *p, uint32_t value)
{
    if (p->sums[value])
        return *p->sums[value];
    return (struct sum){.node = NO_ORIGIN, .n = 1, .terms = {{value, 1}}};
}

static bool has_term(const struct sum *s, uint32_t value)
{
    return ANY(uint32_t, i, s->n, s->terms[i].value == value);
}

// Marks the values that brought the term, down to where it is one by itself.
static void mark(struct places *p, uint32_t value, uint32_t term)
{
    const struct sum *s = p->sums[value];
    if (!s || s->node == NO_ORIGIN || !has_term(s, term))
        return;
    const struct onnx_node *n = p->im->source->nodes.items[s->node];
    p->is_exact[s->node] = true;
    for (size_t i = 0; i < n->inputs.count; i++)
        if (number_of(p, &n->inputs.items[i]) != CONSTANT)
            mark(p, number_of(p, &n->inputs.items[i]), term);
}

static void add_term(struct sum *s, struct term t)
{
    struct term *known = FIND(s->terms, s->n, x, x->value == t.value);
    if (known)
        known->factor += t.factor;
    else
        s->terms[s->n++] = t;
}

static bool has_vanished(const struct sum *s, const struct term *t)
{
    return t->value == CONSTANT ? s->largest > 0 && fabs(t->factor) <= VANISHES * s->largest : t->factor == 0;
}

static void note_sum(struct places *p, uint32_t node, const uint32_t *inputs, size_t n_inputs, double sign)
{
    const struct onnx_node *n = p->im->source->nodes.items[node];
    struct sum s = {.node = node}, parts[2];
    uint32_t result = number_of(p, &n->outputs.items[0]);
    bool is_exact = false;
    for (size_t k = 0; k < n_inputs; k++) {
        parts[k] = sum_of(p, inputs[k]);
        s.largest = fmax(s.largest, parts[k].largest);
        if (s.n + parts[k].n > MOST_TERMS)
            return;
        for (uint32_t i = 0; i < parts[k].n; i++)
            add_term(&s,
                     (struct term){parts[k].terms[i].value, (k + 1 == n_inputs ? sign : 1) * parts[k].terms[i].factor});
    }
    for (uint32_t i = 0; n_inputs == 2 && i < s.n; i++)
        if (has_vanished(&s, &s.terms[i]) && has_term(&parts[0], s.terms[i].value) &&
            has_term(&parts[1], s.terms[i].value)) {
            is_exact = p->is_exact[node] = true;
            mark(p, inputs[0], s.terms[i].value);
            mark(p, inputs[1], s.terms[i].value);
        }
    if (is_exact || result == CONSTANT)
        return;
    p->sums[result] = arena_new(&p->scratch, struct sum);
    *p->sums[result] = s;
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static void look_at_sum(struct places *p, uint32_t node)
{
    const struct onnx_node *n = p->im->source->nodes.items[node];
    size_t n_inputs = onnx_node_is(n, "Identity Neg") ? 1 : onnx_node_is(n, "Add Sub") ? 2 : 0;
    uint32_t inputs[2];
    if (n_inputs == 0 || n->inputs.count != n_inputs || n->outputs.count != 1)
        return;
    for (size_t i = 0; i < n_inputs; i++)
        if ((inputs[i] = number_of(p, &n->inputs.items[i])) == CONSTANT)
            return;
    note_sum(p, node, inputs, n_inputs, onnx_node_is(n, "Sub Neg") ? -1 : 1);
}

static void follow_infinity(struct places *p, uint32_t node)
{
    static const char moves[] =
        "Identity Reshape Transpose Concat Slice Split Squeeze Unsqueeze Expand Where Gather Tile Flatten";
    static const char computes[] =
        "Add Sub Mul Div Neg MatMul Gemm Conv ConvTranspose Sum Mean ReduceSum ReduceMean Einsum";
    const struct onnx_node *n = p->im->source->nodes.items[node];
    bool is_any = false, is_computed = onnx_node_is(n, computes);
    for (size_t i = 0; i < n->inputs.count; i++) {
        uint32_t value = number_of(p, &n->inputs.items[i]);
        is_any = is_any || (value != CONSTANT && p->is_infinite[value]);
    }
    if (!is_any || !(is_computed || onnx_node_is(n, moves)))
        return;
    p->is_exact[node] = p->is_exact[node] || is_computed;
    for (size_t i = 0; i < n->outputs.count; i++)
        if (number_of(p, &n->outputs.items[i]) != CONSTANT)
            p->is_infinite[number_of(p, &n->outputs.items[i])] = true;
}

static void look_at(struct places *p, uint32_t node)
{
    const struct onnx_node *n = p->im->source->nodes.items[node];
    const struct onnx_attribute *value = onnx_node_is(n, "Constant") ? onnx_node_find(n, "value") : NULL;
    if (value && value->t && n->outputs.count == 1)
        note_constant(p, number_of(p, &n->outputs.items[0]), value->t);
    look_at_sum(p, node);
    follow_infinity(p, node);
}

const bool *exact_places_find(const struct importer *im, const bool *is_live)
{
    struct places p = {.im = im};
    p.sums = arena_array(&p.scratch, struct sum *, im->values.count + 1);
    p.is_infinite = arena_array(&p.scratch, bool, im->values.count + 1);
    p.is_exact = arena_array(&im->model->arena, bool, im->source->nodes.count + 1);
    note_initializers(&p);
    for (size_t i = 0; i < im->source->nodes.count; i++)
        if (is_live[i])
            look_at(&p, (uint32_t)i);
    arena_free(&p.scratch);
    return p.is_exact;
}
