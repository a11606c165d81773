// Types of what nodes with subgraphs make. What a subgraph declares is what it was traced with, and ONNX Runtime runs
// it with what comes. So it is imported, with the types of its inputs and of the outer values that it reads, and thrown
// away: what its outputs are then follows from these types alone.
#include "core/text/error.h"
#include "onnx/convert/importer.h"
#include "onnx/convert/opaque/opaque_types.h"

#include <string.h>

#define SUBGRAPH_FOLD_LIMIT 4096   // elements: of shapes and tables, not of weights

static const struct onnx_graph *subgraph_of(const struct conversion *c, const char *name)
{
    const struct onnx_attribute *a = onnx_node_find(c->node, name);
    return a ? a->g : NULL;
}

static struct type plain(const struct type *t)
{
    return type_is_known(t) ? type_make(t->dtype, t->rank, t->dim)
                            : (struct type){.dtype = t->dtype, .rank = RANK_UNKNOWN};
}

// ---- importing one ----

static tensor_id add_input(struct importer *im, const struct onnx_string *name, const struct type *type)
{
    tensor_id t = graph_add_leaf(&im->model->graph, operators[OP_INPUT], (int64_t)im->values.count, type);
    return name_enter(im, name)->tensor = t;
}

static void add_outer_value(struct importer *im, const struct importer *outer, const struct named_value *value)
{
    const struct imported_weight *w = weight_of(outer->model, value->tensor);
    struct type type = plain(graph_type(&outer->model->graph, value->tensor));
    if (!w) {
        add_input(im, value->name, &type);
        return;
    }
    struct imported_weight same = {.type = type, .tensor = w->tensor, .sparse = w->sparse, .data = w->data};
    name_enter(im, value->name)->tensor = weight_add(im->model, same);
}

static void add_outer_values(struct importer *im, struct importer *outer, const struct onnx_node *n)
{
    uint32_t count;
    const char **names = names_captured_by(outer, n, &count);
    for (uint32_t i = 0; i < count; i++)
        add_outer_value(im, outer, name_find(outer, &(struct onnx_string){names[i], strlen(names[i])}));
}

// There are as many types as the subgraph has inputs, and outputs.
static void import_types(const struct conversion *c, const struct onnx_graph *g, const struct type *inputs,
                         struct type *ret_outputs)
{
    struct importer *outer = c->importer;
    struct import_options options = {.fold_limit = outer->options->fold_limit, .expands = outer->options->expands};
    struct imported_model model FREED_BY(imported_model_free);
    struct importer im FREED_BY(importer_free);
    struct error ignored;
    if (options.fold_limit > SUBGRAPH_FOLD_LIMIT)
        options.fold_limit = SUBGRAPH_FOLD_LIMIT;
    importer_init(&im, &model, c->model->file, &options, &ignored);
    im.source = g;
    im.import_subgraph = outer->import_subgraph;
    im.depth = outer->depth + 1;
    model.opset = c->opset;
    add_outer_values(&im, outer, c->node);
    for (size_t i = 0; i < g->inputs.count; i++)
        add_input(&im, &((const struct onnx_value_info *)g->inputs.items[i])->name, &inputs[i]);
    outer->import_subgraph(&im);
    for (size_t i = 0; i < model.outputs.count; i++)
        ret_outputs[i] = plain(graph_type(&model.graph, model.outputs.items[i].tensor));
}

static struct type *types_for(struct conversion *c, size_t n)
{
    struct type *types = arena_array(&c->importer->scratch, struct type, n + 1);
    for (size_t i = 0; i < n; i++)
        types[i] = (struct type){.rank = RANK_UNKNOWN};
    return types;
}

static bool is_same_known_type(const struct type *a, const struct type *b)
{
    return type_is_known(a) && type_is_known(b) && type_equal(a, b);
}

// ---- If: what both branches make ----

static void infer_type_of_if(struct conversion *c, const struct type *x, struct type *ret_types)
{
    const struct onnx_graph *then = subgraph_of(c, "then_branch"), *other = subgraph_of(c, "else_branch");
    if (!then || !other || then->inputs.count || other->inputs.count)
        return;
    struct type *a = types_for(c, then->outputs.count), *b = types_for(c, other->outputs.count);
    import_types(c, then, NULL, a);
    import_types(c, other, NULL, b);
    for (uint32_t i = 0; i < c->n_outputs && i < then->outputs.count && i < other->outputs.count; i++)
        if (is_same_known_type(&a[i], &b[i]))
            ret_types[i] = a[i];
}

// ---- Loop: what goes from round to round has the type that it begins with if the body makes it again ----

enum { FIRST_IN = 2, FIRST_OUT = 1 };   // places of states among inputs, of the node and of the body, and its outputs
struct rounds {
    const struct onnx_graph *body;
    struct type *inputs, *outputs;   // of the body
    uint32_t n_states;
};

// A state that is made otherwise is unknown. True: there was none.
static bool forget_changing_states(struct rounds *r)
{
    bool keeps = true;
    for (uint32_t i = 0; i < r->n_states; i++) {
        struct type *in = &r->inputs[FIRST_IN + i];
        if (!type_is_known(in) || is_same_known_type(in, &r->outputs[FIRST_OUT + i]))
            continue;
        in->rank = RANK_UNKNOWN;
        keeps = false;
    }
    return keeps;
}

static void begin_states(struct conversion *c, struct rounds *r)
{
    for (uint32_t i = 0; i < r->n_states; i++) {
        tensor_id t = input_of(c, FIRST_IN + i);
        if (t != NO_TENSOR)
            r->inputs[FIRST_IN + i] = plain(type_of(c, t));
    }
}

// All states at once are what they begin with; those that do not stay so may yet leave others as they are. Within other
// subgraphs that is not tried again: imports would double at each depth.
static bool find_states(struct conversion *c, struct rounds *r)
{
    begin_states(c, r);
    for (int trial = 0; trial < (c->importer->depth ? 1 : 3); trial++) {
        import_types(c, r->body, r->inputs, r->outputs);
        if (forget_changing_states(r))
            return true;
    }
    return false;
}

static void give_states(const struct conversion *c, const struct rounds *r, struct type *ret_types)
{
    for (uint32_t i = 0; i < r->n_states && i < c->n_outputs; i++)
        if (type_is_known(&r->inputs[FIRST_IN + i]))
            ret_types[i] = r->inputs[FIRST_IN + i];
}

// The number of a round and whether to go on are scalars. ONNX Runtime gives a body that says so vectors of one entry.
static struct type type_of_scalar(const struct onnx_graph *body, size_t input, enum dtype dtype)
{
    const struct onnx_type *declared = ((const struct onnx_value_info *)body->inputs.items[input])->type;
    const struct onnx_shape *shape = declared && declared->tensor ? declared->tensor->shape : NULL;
    return shape && shape->dimensions.count == 0 ? type_make(dtype, 0, NULL)
                                                 : (struct type){.dtype = dtype, .rank = RANK_UNKNOWN};
}

// How many rounds there are, which other results depend on, is not known.
static void infer_type_of_loop(struct conversion *c, const struct type *x, struct type *ret_types)
{
    struct rounds r = {.body = subgraph_of(c, "body")};
    if (!r.body || r.body->inputs.count != c->n_inputs || c->n_inputs < FIRST_IN ||
        r.body->outputs.count < r.body->inputs.count - 1)
        return;
    r.n_states = c->n_inputs - FIRST_IN;
    r.inputs = types_for(c, r.body->inputs.count);
    r.outputs = types_for(c, r.body->outputs.count);
    r.inputs[0] = type_of_scalar(r.body, 0, DTYPE_I64);
    r.inputs[1] = type_of_scalar(r.body, 1, DTYPE_BOOL);
    if (find_states(c, &r))
        give_states(c, &r, ret_types);
}

const struct typing typings_of_subgraphs[] = {
    {"If", infer_type_of_if, .needs_no_input = true},
    {"Loop", infer_type_of_loop, .needs_no_input = true},
    {0},
};
