// The entry of a class is that of its known value, or else one of its oldest e-node's, of entries of what that reads.
#include "compare/sketches.h"

#include "core/numbers/random.h"
#include "expressions/elements.h"
#include "expressions/evaluation/evaluate_entry.h"
#include <math.h>
#include <string.h>

#define MOST_OPERATIONS 1e5   // of an entry

// --- entries ---------------------------------------------------------------------------------------------------------

struct entry_definition {
    struct definition d;
    double *costs;   // of an entry of each output
};
struct entry_reader {
    struct constants *k;
    enode_id application;
};

static double cost_of_class(struct constants *k, eclass_id c);

static bool define(struct constants *k, enode_id n, struct entry_definition *ret)
{
    const struct egraph *e = k->e;
    const struct enode *node = &e->nodes.items[n];
    const struct operator* op = egraph_operator(e, n);
    struct type *types = arena_array(&k->values, struct type, node->n_children + 1);
    if (!op->define || op->flags & OPERATOR_IS_LEAF)
        return false;
    for (uint32_t i = 0; i < node->n_children; i++)
        types[i] = *egraph_type(e, egraph_edges(e, n)[i].child);
    const struct operator_call call = {
        .op = op, .attributes = egraph_attributes(e, n), .n_inputs = (int)node->n_children, .inputs = types};
    definition_init(&ret->d, &k->values, call.n_inputs, types);
    if (operator_define(&ret->d, &call) && ret->d.n_outputs == (int)e->types.items[node->type].count)
        return true;
    definition_free(&ret->d);
    return false;
}

static void add_costs(struct constants *k, enode_id n, struct entry_definition *made)
{
    uint32_t n_children = k->e->nodes.items[n].n_children;
    double *of_children = arena_array(&k->values, double, n_children + 1);
    made->costs = arena_array(&k->values, double, (size_t)made->d.n_outputs);
    for (uint32_t i = 0; i < n_children; i++)
        of_children[i] = cost_of_class(k, egraph_edges(k->e, n)[i].child);
    for (int i = 0; i < made->d.n_outputs; i++)
        made->costs[i] = definition_entry_cost(&made->d, i, of_children);
}

// NULL: the application has no meaning.
static const struct entry_definition *definition_of(struct constants *k, enode_id n)
{
    struct constant *of = &k->of_nodes.items[n];
    if (of->is_defined)
        return of->definition;
    struct entry_definition *made = arena_new(&k->values, struct entry_definition);
    of->is_defined = true;
    if (!define(k, n, made))
        return NULL;
    vec_push(&k->definitions, &made->d);
    add_costs(k, n, made);
    return k->of_nodes.items[n].definition = made;
}

// The application that makes a class, and which of its outputs that is.
static const struct entry_definition *application_of(struct constants *k, eclass_id c, enode_id *ret_application,
                                                     uint32_t *ret_output)
{
    enode_id oldest = constants_oldest_node(k->e, c);
    const struct enode *node = &k->e->nodes.items[oldest];
    bool is_projection = node->op == PROJECTION;
    *ret_output = is_projection ? node->attributes : 0;
    *ret_application = is_projection ? constants_oldest_node(k->e, egraph_edges(k->e, oldest)[0].child) : oldest;
    return definition_of(k, *ret_application);
}

static double cost_of_class(struct constants *k, eclass_id c)
{
    enode_id application;
    uint32_t output;
    if (constants_find_known(k, c))
        return 1;
    const struct entry_definition *made = application_of(k, c, &application, &output);
    return made ? made->costs[output] : INFINITY;
}

double constant_cost(struct constants *k, eclass_id c)
{
    return cost_of_class(k, c) * (double)type_elements(egraph_type(k->e, c));
}

static double entry_of_value(const struct tensor_value *value, const int64_t *index)
{
    int64_t at = 0;
    double entry;
    for (int i = 0; i < value->type.rank; i++)
        at = at * value->type.dim[i] + index[i];
    elements_to_reals(value->type.dtype, (const char *)value->data + (size_t)at * dtype_size(value->type.dtype), 1,
                      &entry);
    return entry;
}

static double entry_of_class(struct constants *k, eclass_id c, const int64_t *index);

static double read_child(void *context, int input, const int64_t *index)
{
    const struct entry_reader *r = context;
    return entry_of_class(r->k, egraph_edges(r->k->e, r->application)[input].child, index);
}

static double entry_of_class(struct constants *k, eclass_id c, const int64_t *index)
{
    const struct constant *known = constants_find_known(k, c);
    struct entry_reader reader = {.k = k};
    uint32_t output;
    if (known)
        return entry_of_value(&known->value, index);
    const struct entry_definition *made = application_of(k, c, &reader.application, &output);
    return evaluate_f64_entry(&made->d, (int)output, index, read_child, &reader);
}

// --- sketches --------------------------------------------------------------------------------------------------------

// The first entry, the last, and some between.
static void choose_place(const struct type *t, struct random *random, int sample, int64_t *ret_index)
{
    for (int i = 0; i < t->rank; i++)
        ret_index[i] = sample == 0   ? 0
                       : sample == 1 ? t->dim[i] - 1
                                     : (int64_t)random_below(random, (uint64_t)t->dim[i]);
}

static double *make_sketch(struct constants *k, eclass_id c)
{
    const struct type *type = egraph_type(k->e, c);
    struct random random = random_seed((uint64_t)type_elements(type));
    if (!dtype_is_float(type->dtype) || type_elements(type) == 0 || !(cost_of_class(k, c) <= MOST_OPERATIONS))
        return NULL;
    double *entries = arena_array(&k->values, double, SKETCH_ENTRIES);
    for (int i = 0; i < SKETCH_ENTRIES; i++) {
        int64_t index[MAX_RANK];
        choose_place(type, &random, i, index);
        entries[i] = entry_of_class(k, c, index);
    }
    return entries;
}

const double *constant_sketch(struct constants *k, enode_id n)
{
    if (!k->of_nodes.items[n].is_sketched) {
        double *made = make_sketch(k, egraph_find(k->e, n));
        k->of_nodes.items[n].sketch = made;
        k->of_nodes.items[n].is_sketched = true;
    }
    return k->of_nodes.items[n].sketch;
}

static double tolerance_of(const struct type *type)
{
    return dtype_size(type->dtype) < 4 ? 5e-2 : 1e-3;
}

static bool is_at(const double *sketch, int64_t (*places)[MAX_RANK], double tolerance, const struct tensor_value *whole,
                  int axis, int64_t offset)
{
    for (int i = 0; i < SKETCH_ENTRIES; i++) {
        int64_t index[MAX_RANK];
        memcpy(index, places[i], sizeof index);
        index[axis] += offset;
        if (!(fabs(entry_of_value(whole, index) - sketch[i]) <= tolerance))
            return false;
    }
    return true;
}

// The part's entries alone are the scale: how large those of the rest of the whole are says nothing of it.
bool sketch_is_of_part(const struct type *part, const double *sketch, const struct tensor_value *whole, int axis)
{
    int64_t places[SKETCH_ENTRIES][MAX_RANK] = {{0}};
    struct random random = random_seed((uint64_t)type_elements(part));
    double scale = 0;
    for (int i = 0; i < SKETCH_ENTRIES; i++) {
        choose_place(part, &random, i, places[i]);
        scale = fmax(scale, fabs(sketch[i]));
    }
    for (int64_t offset = 0; offset <= whole->type.dim[axis] - part->dim[axis]; offset++)
        if (is_at(sketch, places, tolerance_of(part) * scale, whole, axis, offset))
            return true;
    return false;
}

bool sketches_are_near(const struct type *type, const double *a, const double *b)
{
    double scale = 0, tolerance = tolerance_of(type);
    for (int i = 0; i < SKETCH_ENTRIES; i++)
        scale = fmax(scale, fmax(fabs(a[i]), fabs(b[i])));
    for (int i = 0; i < SKETCH_ENTRIES; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * scale))
            return false;
    return true;
}
