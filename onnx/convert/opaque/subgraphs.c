// Types of what nodes with subgraphs make, and calls of the model's functions. What a subgraph declares is what it was
// traced with, and ONNX Runtime runs it with what comes. So it is imported, with the types of its inputs and of the
// outer values that it reads, and thrown away: what its outputs are then follows from these types alone.
#include "onnx/convert/opaque/subgraphs.h"
#include "core/text/error.h"
#include "onnx/convert/import_names.h"
#include "onnx/convert/importer.h"
#include "onnx/convert/opaque/typing.h"
#include "onnx/convert/read_node.h"
#include "onnx/convert/weights.h"
#include "onnx/format/visit.h"

#include <string.h>

#define SUBGRAPH_FOLD_LIMIT 4096                 // elements: of shapes and tables, not of weights
enum { MOST_DEPTH = 64, MOST_NODES = 200000 };   // of functions that call others, or themselves

bool has_subgraphs(const struct onnx_node *n)
{
    for (size_t i = 0; i < n->attributes.count; i++) {
        const struct onnx_attribute *a = n->attributes.items[i];
        if (a->g || a->graphs.count)
            return true;
    }
    return false;
}

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

static void add_outer_value(struct importer *im, const struct importer *outer, tensor_id value,
                            const struct onnx_string *name)
{
    const struct imported_weight *w = weight_of(outer->model, value);
    struct type type = plain(graph_type(&outer->model->graph, value));
    if (!w) {
        add_input(im, name, &type);
        return;
    }
    struct imported_weight same = {.type = type, .tensor = w->tensor, .sparse = w->sparse, .data = w->data};
    name_enter(im, name)->tensor = weight_add(im->model, same);
}

static void add_outer_values(struct importer *im, struct importer *outer, const struct onnx_node *n)
{
    uint32_t count;
    const char **names = names_captured_by(outer, n, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct named_value *value = name_find(outer, &(struct onnx_string){names[i], strlen(names[i])});
        add_outer_value(im, outer, value->tensor, value->name);
    }
}

// A graph that is imported by itself, for a node of another.
struct apart {
    struct import_options options;
    struct imported_model model;
    struct importer importer;
    struct error ignored;
};

// False: there were too many.
static bool begin_apart(const struct conversion *c, const struct onnx_graph *g, struct apart *ret)
{
    struct importer *outer = c->importer;
    outer->n_nodes_apart += g->nodes.count;
    if (outer->depth == MOST_DEPTH || outer->n_nodes_apart > MOST_NODES)
        return false;
    ret->options = *outer->options;
    ret->options.shape_count = 0;
    if (ret->options.fold_limit > SUBGRAPH_FOLD_LIMIT)
        ret->options.fold_limit = SUBGRAPH_FOLD_LIMIT;
    ret->options.log = NULL;
    ret->options.computed = NULL;
    importer_init(&ret->importer, &ret->model, c->model->file, &ret->options, &ret->ignored);
    ret->importer.source = g;
    ret->importer.import_subgraph = outer->import_subgraph;
    ret->importer.depth = outer->depth + 1;
    ret->importer.n_nodes_apart = outer->n_nodes_apart;
    ret->model.opset = c->opset;
    return true;
}

static void end_apart(const struct conversion *c, struct apart *apart, struct type *ret_outputs)
{
    struct importer *im = &apart->importer;
    c->importer->import_subgraph(im);
    for (size_t i = 0; i < apart->model.outputs.count; i++)
        ret_outputs[i] = plain(graph_type(&apart->model.graph, apart->model.outputs.items[i].tensor));
    c->importer->n_nodes_apart = im->n_nodes_apart;
    importer_free(im);
    imported_model_free(&apart->model);
}

// There are as many types as the subgraph has inputs, and outputs.
static void import_types(const struct conversion *c, const struct onnx_graph *g, const struct type *inputs,
                         struct type *ret_outputs)
{
    struct apart apart = {0};
    if (!begin_apart(c, g, &apart))
        return;
    add_outer_values(&apart.importer, c->importer, c->node);
    for (size_t i = 0; i < g->inputs.count; i++)
        add_input(&apart.importer, &((const struct onnx_value_info *)g->inputs.items[i])->name, &inputs[i]);
    end_apart(c, &apart, ret_outputs);
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

static void infer_type_of_if(struct conversion *c, struct type *ret_types)
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

// ---- Loop and Scan: what goes from round to round has the type that it begins with if the body makes it again ----

struct rounds {
    const struct onnx_graph *body;
    struct type *inputs, *outputs;   // of the body
    uint32_t n_states;
    uint32_t first_in, first_out;   // places of states among the body's
    uint32_t first_initial;         // among the node's inputs
};

// A state that is made otherwise is unknown. True: there was none.
static bool forget_changing_states(struct rounds *r)
{
    bool keeps = true;
    for (uint32_t i = 0; i < r->n_states; i++) {
        struct type *in = &r->inputs[r->first_in + i];
        if (!type_is_known(in) || is_same_known_type(in, &r->outputs[r->first_out + i]))
            continue;
        in->rank = RANK_UNKNOWN;
        keeps = false;
    }
    return keeps;
}

static void begin_states(struct conversion *c, struct rounds *r)
{
    for (uint32_t i = 0; i < r->n_states; i++) {
        tensor_id t = input_of(c, r->first_initial + i);
        if (t != NO_TENSOR)
            r->inputs[r->first_in + i] = plain(type_of(c, t));
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
        if (type_is_known(&r->inputs[r->first_in + i]))
            ret_types[i] = r->inputs[r->first_in + i];
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
static void infer_type_of_loop(struct conversion *c, struct type *ret_types)
{
    struct rounds r = {.body = subgraph_of(c, "body"), .first_in = 2, .first_out = 1, .first_initial = 2};
    if (!r.body || r.body->inputs.count != c->n_inputs || c->n_inputs < 2 ||
        r.body->outputs.count < r.body->inputs.count - 1)
        return;
    r.n_states = c->n_inputs - 2;
    r.inputs = types_for(c, r.body->inputs.count);
    r.outputs = types_for(c, r.body->outputs.count);
    r.inputs[0] = type_of_scalar(r.body, 0, DTYPE_I64);
    r.inputs[1] = type_of_scalar(r.body, 1, DTYPE_BOOL);
    if (find_states(c, &r))
        give_states(c, &r, ret_types);
}

// Entry by entry along the first axis. What is said otherwise of axes is left alone.
static bool give_entries(const struct conversion *c, struct rounds *r, int64_t *ret_length)
{
    *ret_length = -1;
    for (uint32_t i = r->n_states; i < c->n_inputs; i++) {
        const struct type *x = c->inputs[i] == NO_TENSOR ? NULL : type_of(c, c->inputs[i]);
        if (!x || !type_is_known(x) || x->rank == 0 || (*ret_length >= 0 && x->dim[0] != *ret_length))
            return false;
        *ret_length = x->dim[0];
        r->inputs[i] = type_make(x->dtype, x->rank - 1, x->dim + 1);
    }
    return *ret_length >= 0;
}

static void infer_type_of_scan(struct conversion *c, struct type *ret_types)
{
    struct rounds r = {.body = subgraph_of(c, "body")};
    int64_t n_scanned = int_attribute(c, "num_scan_inputs", 0), length;
    if (c->opset < 9 || !r.body || n_scanned < 1 || n_scanned > c->n_inputs || r.body->inputs.count != c->n_inputs ||
        r.body->outputs.count != c->n_outputs || has_attribute(c, "scan_input_axes") ||
        has_attribute(c, "scan_output_axes"))
        return;
    r.n_states = c->n_inputs - (uint32_t)n_scanned;
    r.inputs = types_for(c, c->n_inputs);
    r.outputs = types_for(c, c->n_outputs);
    if (r.n_states > c->n_outputs || !give_entries(c, &r, &length) || !find_states(c, &r))
        return;
    give_states(c, &r, ret_types);
    for (uint32_t i = r.n_states; i < c->n_outputs; i++) {
        const struct type *made = &r.outputs[i];
        if (!type_is_known(made) || made->rank == MAX_RANK)
            continue;
        int64_t dim[MAX_RANK] = {length};
        for (int k = 0; k < made->rank; k++)
            dim[k + 1] = made->dim[k];
        ret_types[i] = type_make(made->dtype, made->rank + 1, dim);
    }
}

// ---- functions of the model: what their nodes make of what a call gives them ----

static bool count_reference(void *count, void *attribute)
{
    *(size_t *)count += ((const struct onnx_attribute *)attribute)->ref_attr_name.size > 0;
    return true;
}

static size_t count_references(struct onnx_node *n)
{
    size_t count = 0;
    onnx_message_visit(&onnx_node_descriptor, n, &onnx_attribute_descriptor, count_reference, &count);
    return count;
}

// The attribute's value by the call, or by the function; NULL: neither.
static struct onnx_attribute *find_value(const struct conversion *c, const struct onnx_function *f,
                                         const struct onnx_attribute *reference)
{
    const struct onnx_attribute *given = onnx_node_find(c->node, reference->ref_attr_name.text);
    for (size_t i = 0; !given && i < f->attribute_protos.count; i++) {
        const struct onnx_attribute *standard = f->attribute_protos.items[i];
        given = onnx_string_equal(&standard->name, &reference->ref_attr_name) ? standard : NULL;
    }
    if (!given)
        return NULL;
    struct onnx_attribute *value = arena_new(&c->importer->scratch, struct onnx_attribute);
    *value = *given;
    value->name = reference->name;
    return value;
}

// A node of a function, as a call has it. NULL: subgraphs of it refer to attributes, too.
static struct onnx_node *resolve_node(const struct conversion *c, const struct onnx_function *f, struct onnx_node *n)
{
    size_t n_references = count_references(n);
    if (n_references == 0)
        return n;
    struct onnx_node *resolved = arena_new(&c->importer->scratch, struct onnx_node);
    *resolved = *n;
    resolved->attributes.items = arena_array(&c->importer->scratch, void *, n->attributes.count);
    resolved->attributes.count = 0;
    for (size_t i = 0; i < n->attributes.count; i++) {
        struct onnx_attribute *a = n->attributes.items[i];
        bool is_reference = a->ref_attr_name.size > 0;
        struct onnx_attribute *value = is_reference ? find_value(c, f, a) : a;
        n_references -= is_reference;
        if (value)
            resolved->attributes.items[resolved->attributes.count++] = value;
    }
    return n_references ? NULL : resolved;
}

static bool make_body(const struct conversion *c, const struct onnx_function *f, struct onnx_graph *ret_body)
{
    struct arena *arena = &c->importer->scratch;
    *ret_body = (struct onnx_graph){0};
    ret_body->nodes.items = arena_array(arena, void *, f->nodes.count + 1);
    ret_body->outputs.items = arena_array(arena, void *, f->outputs.count + 1);
    for (; ret_body->nodes.count < f->nodes.count; ret_body->nodes.count++) {
        struct onnx_node *n = resolve_node(c, f, f->nodes.items[ret_body->nodes.count]);
        if (!n)
            return false;
        ret_body->nodes.items[ret_body->nodes.count] = n;
    }
    for (; ret_body->outputs.count < f->outputs.count; ret_body->outputs.count++) {
        struct onnx_value_info *info = arena_new(arena, struct onnx_value_info);
        info->name = f->outputs.items[ret_body->outputs.count];
        ret_body->outputs.items[ret_body->outputs.count] = info;
    }
    return true;
}

static tensor_id given_for(const struct conversion *c, size_t input)
{
    return input < c->n_inputs ? c->inputs[input] : NO_TENSOR;
}

// An input that is omitted is none of the nodes that read it; it has no type where it is an output.
static bool gives_omitted_input(const struct conversion *c, const struct onnx_function *f)
{
    for (size_t i = 0; i < f->inputs.count; i++)
        for (size_t k = 0; given_for(c, i) == NO_TENSOR && k < f->outputs.count; k++)
            if (onnx_string_equal(&f->inputs.items[i], &f->outputs.items[k]))
                return true;
    return false;
}

void infer_type_of_call(struct conversion *c, const struct onnx_function *f, struct type *ret_types)
{
    struct onnx_graph body;
    struct apart apart = {0};
    struct type *types = types_for(c, f->outputs.count);
    if (gives_omitted_input(c, f) || !make_body(c, f, &body) || !begin_apart(c, &body, &apart))
        return;
    apart.model.opset = onnx_version(&f->opsets, "");
    for (size_t i = 0; i < f->inputs.count; i++)
        if (given_for(c, i) != NO_TENSOR)
            add_outer_value(&apart.importer, c->importer, given_for(c, i), &f->inputs.items[i]);
    end_apart(c, &apart, types);
    for (uint32_t i = 0; i < c->n_outputs && i < f->outputs.count; i++)
        ret_types[i] = types[i];
}

const struct typing typings_of_subgraphs[] = {
    {"If", infer_type_of_if},
    {"Loop", infer_type_of_loop},
    {"Scan", infer_type_of_scan},
    {0},
};
