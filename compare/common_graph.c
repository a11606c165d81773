// Both models in one graph: equal weights, opaque nodes and inputs are one leaf.
#include "compare/common_graph.h"

#include "compare/meaning.h"
#include "compare/unread_pads.h"
#include "core/memory/hash.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "expressions/elements.h"
#include "graph/graph_whole.h"
#include "graph/undone_reshapes.h"
#include "onnx/convert/fold_constants.h"
#include "operators/traits.h"
#include <string.h>

// --- contents --------------------------------------------------------------------------------------------------------

static bool is_content(const void *owner, uint32_t id, const void *key)
{
    const struct content *x = (const struct content *)owner + id, *y = key;
    return x->size == y->size && type_equal(&x->value.type, &y->value.type) &&
           (x->size == 0 || memcmp(x->bytes, y->bytes, x->size) == 0);
}

static struct content content_of(const void *bytes, size_t size, const struct type *type)
{
    uint64_t hash = hash_mix(type_hash(type), hash_bytes(bytes, size, 0));
    return (struct content){.hash = hash, .bytes = bytes, .size = size, .value.type = *type};
}

// The type's unused dimensions are not cleared: types are compared by type_equal, bytes by content.
static uint32_t number_of_content(content_list *known, struct table *by_content, const struct content *content)
{
    uint32_t found = table_find(by_content, content->hash, is_content, known->items, content);
    if (found != TABLE_NONE)
        return found;
    table_insert(by_content, content->hash, (uint32_t)known->count);
    vec_push(known, *content);
    return (uint32_t)known->count - 1;
}

// Strings and sparse tensors are compared by what they mean.
static struct content encoded_weight(struct common_graph *c, const struct imported_model *m,
                                     const struct imported_weight *w)
{
    TEXT(text);
    if (w->tensor)
        meaning_of_tensor(&text, &c->arena, m->file->path, w->tensor);
    else if (w->sparse)
        meaning_of_sparse_tensor(&text, &c->arena, m->file->path, w->sparse);
    return content_of(arena_copy(&c->arena, text.chars, text.count, 1), text.count, &w->type);
}

static bool has_numbers(const struct imported_weight *w)
{
    return !w->sparse && type_is_known(&w->type) && dtype_size(w->type.dtype) > 0;
}

static bool add_weight(struct common_graph *c, struct imported_model *m, size_t index, tensor_id *ret_tensor,
                       struct error *error)
{
    const struct imported_weight *w = &m->weights.items[index];
    struct content content;
    if (has_numbers(w)) {
        const void *data;
        if (!imported_weight_data(m, index, &data, error))
            return false;
        content = content_of(data, type_bytes(&w->type), &w->type);
        content.value.data = (void *)(uintptr_t)data;
        content.is_computed = !w->name;
    } else
        content = encoded_weight(c, m, w);
    *ret_tensor = graph_add_leaf(&c->graph, operators[OP_WEIGHT],
                                 number_of_content(&c->weights, &c->weight_by_content, &content), &w->type);
    return true;
}

// --- opaque nodes ----------------------------------------------------------------------------------------------------

#define RANDOM_OPERATORS "RandomNormal RandomNormalLike RandomUniform RandomUniformLike Multinomial Bernoulli Dropout"

static bool calls_function(const struct onnx_model *model, const struct onnx_node *n)
{
    return ONNX_FIND(struct onnx_function, f, &model->functions, onnx_string_is(&n->op_type, f->name.text));
}

// A node is random by itself, in a subgraph, or in any function of the model that it or a subgraph calls.
static bool is_random(const struct onnx_model *model, const struct onnx_node *n)
{
    LOCAL_LIST(message_list, nodes);
    onnx_list_messages(&onnx_node_descriptor, n, &onnx_node_descriptor, &nodes);
    bool calls = ANY(size_t, i, nodes.count, calls_function(model, nodes.items[i]));
    for (size_t i = 0; calls && i < model->functions.count; i++)
        onnx_list_messages(&onnx_function_descriptor, model->functions.items[i], &onnx_node_descriptor, &nodes);
    return ONNX_FIND(struct onnx_node, x, &nodes, onnx_words_have(RANDOM_OPERATORS, x->op_type.text));
}

// The inputs that tell something, in order, and which they are. Zeros to begin with are as good as nothing, and
// exporters leave them out.
static uint32_t add_told_inputs(struct text *out, struct imported_model *m, node_id node,
                                const struct onnx_node *source, const tensor_id *inputs, tensor_id *ret_told)
{
    const tensor_id *own = graph_inputs(&m->graph, node);
    uint32_t next = 0, n_told = 0, n_omitted = 0;
    for (size_t i = 0; i < source->inputs.count; i++) {
        bool is_there = source->inputs.items[i].size > 0;
        bool is_told = is_there && !initial_state_is_zero(m, &m->graph, source, (uint32_t)i, own[next]);
        if (is_told) {
            text_printf(out, "%u+", n_omitted);
            ret_told[n_told++] = inputs[next];
        }
        n_omitted = is_told ? 0 : n_omitted + 1;
        next += is_there;
    }
    text_add(out, ";");
    return n_told;
}

// All that decides what the node makes of its inputs. The outer values that its subgraphs read become inputs, in the
// order in which they are read.
static uint32_t describe_opaque(struct text *out, struct common_graph *c, struct common_side *side, node_id node,
                                const tensor_id *inputs, tensor_id *ret_told)
{
    struct imported_model *m = side->model;
    const struct imported_opaque *o = &m->opaques.items[m->graph.nodes.items[node].attributes[0].ints[0]];
    const struct onnx_node *source = m->file->model->graph->nodes.items[o->node];
    struct meaning_context context = {m->file->model,
                                      m->file->path,
                                      o->captured,
                                      o->n_captured,
                                      arena_array(&c->arena, uint32_t, o->n_captured + 1),
                                      0};
    uint32_t n_told = add_told_inputs(out, m, node, source, inputs, ret_told);
    meaning_of_node(out, &c->arena, &context, source);
    for (uint32_t i = 0; i < context.n_read; i++)
        ret_told[n_told++] = inputs[o->n_inputs + context.ret_read[i]];
    if (is_random(m->file->model, source))
        text_printf(out, "#%u", side->n_random++);
    return n_told;
}

// A place among the nodes of the file.
static uint32_t place_of_opaque(const struct imported_model *m, node_id node)
{
    return m->opaques.items[m->graph.nodes.items[node].attributes[0].ints[0]].node;
}

static bool is_better_known(const struct type *a, const struct type *b)
{
    return type_is_known(a) != type_is_known(b) ? type_is_known(a) : a->dtype != DTYPE_NONE && b->dtype == DTYPE_NONE;
}

// A type that one model states holds for the other one, too.
static void learn_types(struct common_graph *c, node_id node, const struct type *types)
{
    const struct node *n = &c->graph.nodes.items[node];
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (is_better_known(&types[i], graph_type(&c->graph, n->first_output + i)))
            c->graph.tensors.items[n->first_output + i].type = &types[i];
}

static node_id add_opaque(struct common_graph *c, struct common_side *side, node_id node, const tensor_id *inputs)
{
    const struct imported_model *m = side->model;
    const struct node *n = &m->graph.nodes.items[node];
    const struct onnx_node *source = m->file->model->graph->nodes.items[place_of_opaque(m, node)];
    uint32_t n_outputs = (uint32_t)meaning_count_named(&source->outputs);
    tensor_id *told = arena_array(&c->arena, tensor_id, n->n_inputs + 1);
    struct type nothing = {0}, *types = arena_array(&c->arena, struct type, n_outputs + 1);
    TEXT(text);
    uint32_t n_told = describe_opaque(&text, c, side, node, inputs, told);
    struct content content = content_of(arena_copy(&c->arena, text.chars, text.count, 1), text.count, &nothing);
    for (uint32_t i = 0; i < n_outputs; i++)
        types[i] = *graph_type(&m->graph, n->first_output + i);
    node_id added = graph_add_opaque(&c->graph, number_of_content(&c->opaques, &c->opaque_by_content, &content), n_told,
                                     told, n_outputs, types);
    learn_types(c, added, types);
    return added;
}

// --- pairing ---------------------------------------------------------------------------------------------------------

static const struct imported_value *value_named(const struct imported_value *values, size_t n, const char *name)
{
    return FIND(values, n, x, strcmp(x->name, name) == 0);
}

// A value of a gets its partner's place in b.
static void pair_values(const struct imported_value *a, const struct imported_value *b, size_t n, size_t *ret_partner,
                        bool *ret_by_position)
{
    bool has_names = ALL(size_t, i, n, value_named(b, n, a[i].name));
    for (size_t i = 0; i < n; i++)
        ret_partner[i] = has_names ? (size_t)(value_named(b, n, a[i].name) - b) : i;
    *ret_by_position = *ret_by_position || !has_names;
}

// Less may be known of what an opaque node makes in one model than in the other.
static bool may_be_equal(const struct type *x, const struct type *y)
{
    bool may = (x->dtype == y->dtype || x->dtype == DTYPE_NONE || y->dtype == DTYPE_NONE) &&
               (x->rank == y->rank || x->rank == RANK_UNKNOWN || y->rank == RANK_UNKNOWN);
    for (int i = 0; may && i < x->rank && i < y->rank; i++)
        may = x->dim[i] == y->dim[i] || x->dim[i] < 0 || y->dim[i] < 0;
    return may;
}

static bool check_pairs(const struct common_graph *c, const char *what, const struct imported_value *a,
                        const struct imported_value *b, size_t n, const size_t *partner,
                        bool are_alike(const struct type *, const struct type *), struct error *error)
{
    for (size_t i = 0; i < n; i++) {
        const struct type *x = graph_type(&c->sides[0].model->graph, a[i].tensor);
        const struct type *y = graph_type(&c->sides[1].model->graph, b[partner[i]].tensor);
        TEXT(text);
        if (are_alike(x, y))
            continue;
        type_print(&text, x);
        text_add(&text, " and ");
        type_print(&text, y);
        error_set_code(error, EXIT_UNSUPPORTED, c->sides[1].model->file->path,
                       "the models cannot be compared: %s %s has the types %s", what, a[i].name, text.chars);
        return false;
    }
    return true;
}

static bool check_count(const struct common_graph *c, const char *what, size_t n, size_t m, struct error *error)
{
    return n == m || error_set_code(error, EXIT_UNSUPPORTED, c->sides[1].model->file->path,
                                    "the models cannot be compared: %zu %s and %zu", n, what, m);
}

// --- copying ---------------------------------------------------------------------------------------------------------

static bool add_known(struct common_graph *c, const struct node *node, const tensor_id *inputs, node_id *ret_added)
{
    struct type *types = arena_array(&c->arena, struct type, node->n_inputs + 1);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        types[i] = *graph_type(&c->graph, inputs[i]);
    const struct operator_call call = {
        .op = node->op, .n_inputs = (int)node->n_inputs, .inputs = types, .attributes = node->attributes};
    return graph_add(&c->graph, node->op, attributes_without_unread_pads(&c->arena, &call), node->n_inputs, inputs,
                     ret_added);
}

// The written model leaves reshapes out that others undo; so does each side.
static bool add_view_as_written(struct common_graph *c, const struct graph *from, const struct node *node,
                                tensor_id input, tensor_id *ret_added)
{
    const struct type *around = graph_type(from, node->first_output);
    *ret_added = operator_is_view(node->op) ? graph_add_without_reshapes(&c->graph, input, around, NULL) : NO_TENSOR;
    return *ret_added != NO_TENSOR;
}

// A transposition that leaves the axes of more than one entry in their order.
static bool moves_single_entries(const struct node *node, const struct type *x)
{
    int role = operator_find_role(node->op, ROLE_PERMUTATION);
    int64_t last = -1;
    for (int i = 0; role >= 0 && i < x->rank; i++) {
        int64_t axis = node->attributes[role].ints[i];
        if (x->dim[axis] == 1)
            continue;
        if (axis < last)
            return false;
        last = axis;
    }
    return role >= 0;
}

// Reshapes of reshapes are one, and one to the shape that was is none.
static bool add_view(struct common_graph *c, const struct graph *from, const struct node *node, tensor_id input,
                     tensor_id *ret_added)
{
    const struct type *z = graph_type(from, node->first_output);
    struct attribute_value attributes[MAX_ATTRIBUTES];
    const struct operator* reshape = operators[OP_RESHAPE];
    node_id added;
    if (!operator_is_view(node->op) && !moves_single_entries(node, graph_type(&c->graph, input)))
        return false;
    while (operator_is_view(graph_producer(&c->graph, input)->op))
        input = graph_inputs(&c->graph, c->graph.tensors.items[input].producer)[0];
    *ret_added = input;
    if (type_equal_shape(graph_type(&c->graph, input), z))
        return true;
    operator_standard_attributes(reshape, &c->arena, attributes);
    attributes[operator_find_role(reshape, ROLE_SHAPE)] = (struct attribute_value){(uint32_t)z->rank, z->dim};
    if (!graph_add(&c->graph, reshape, attributes, 1, &input, &added))
        return false;
    *ret_added = graph_output_of(&c->graph, added, 0);
    return true;
}

// --- what changes nothing --------------------------------------------------------------------------------------------

static bool is_filled_with(const struct tensor_value *v, double number)
{
    double entry;
    for (int64_t i = 0; i < type_elements(&v->type); i++) {
        elements_to_reals(v->type.dtype, (const char *)v->data + (size_t)i * dtype_size(v->type.dtype), 1, &entry);
        if (entry != number)
            return false;
    }
    return true;
}

// Is it this number everywhere, as a model has it, or repeated or moved?
static bool is_number(const struct common_graph *c, tensor_id t, double number)
{
    const struct node *n = graph_producer(&c->graph, t);
    while (operator_repeats(n->op) || operator_is_view(n->op))
        n = graph_producer(&c->graph, c->graph.edges.items[n->first_input]);
    const struct tensor_value *v = n->op->id == OP_WEIGHT ? &c->weights.items[n->attributes[0].ints[0]].value : NULL;
    return v && v->data && dtype_is_float(v->type.dtype) && is_filled_with(v, number);
}

// Adding zeros or multiplying by ones: one model may have such constants where another has none.
static bool add_unchanged(const struct common_graph *c, const struct node *node, const tensor_id *inputs,
                          tensor_id *ret_unchanged)
{
    bool is_sum = operator_adds(node->op), is_neutral = false;
    bool may_be = (node->op->flags & OPERATOR_IS_ELEMENTWISE) && (node->op->flags & OPERATOR_IS_COMMUTATIVE) &&
                  (is_sum || operator_adds_nothing(node->op));
    for (int i = 0; may_be && !is_neutral && i < 2; i++) {
        is_neutral = is_number(c, inputs[i], is_sum ? 0 : 1);
        *ret_unchanged = is_neutral ? inputs[1 - i] : *ret_unchanged;
    }
    return is_neutral;
}

// --- the models ------------------------------------------------------------------------------------------------------

static bool copy_node(struct common_graph *c, struct common_side *side, node_id n, struct error *error)
{
    const struct graph *g = &side->model->graph;
    const struct node *node = &g->nodes.items[n];
    tensor_id inputs[MAX_OUTPUTS], *many = inputs;
    node_id added = NO_NODE;
    if (node->n_inputs > MAX_OUTPUTS)
        many = arena_array(&c->arena, tensor_id, node->n_inputs);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        many[i] = side->tensors[graph_inputs(g, n)[i]];
    if (node->op->id == OP_INPUT)
        return true;
    if (node->op->id == OP_WEIGHT)
        return add_weight(c, side->model, (size_t)node->attributes[0].ints[0], &side->tensors[node->first_output],
                          error);
    if (node->n_inputs == 1 && (add_view_as_written(c, g, node, many[0], &side->tensors[node->first_output]) ||
                                add_view(c, g, node, many[0], &side->tensors[node->first_output])))
        return true;
    if (add_unchanged(c, node, many, &side->tensors[node->first_output]))
        return true;
    if (node->op->flags & OPERATOR_IS_OPAQUE)
        added = add_opaque(c, side, n, many);
    else if (!add_known(c, node, many, &added))
        return error_set_code(error, EXIT_INTERNAL, side->model->file->path, "%s cannot be added again: %s",
                              node->op->name, graph_refusal(&c->graph));
    for (uint32_t i = 0; i < c->graph.nodes.items[added].n_outputs; i++)
        side->tensors[node->first_output + i] = graph_output_of(&c->graph, added, i);
    return true;
}

static bool copy_side(struct common_graph *c, struct common_side *side, struct error *error)
{
    const struct graph *g = &side->model->graph;
    bool is_done = true;
    LOCAL_ZEROS(bool, live, g->nodes.count + 1);
    graph_mark_live(g, live);
    for (node_id n = 0; is_done && n < g->nodes.count; n++)
        if (live[n])
            is_done = copy_node(c, side, n, error);
    return is_done;
}

static void add_inputs(struct common_graph *c, const size_t *partner)
{
    const struct imported_model *a = c->sides[0].model, *b = c->sides[1].model;
    for (size_t i = 0; i < c->n_inputs; i++) {
        tensor_id x = a->inputs.items[i].tensor, y = b->inputs.items[partner[i]].tensor;
        tensor_id leaf = graph_add_leaf(&c->graph, operators[OP_INPUT], (int64_t)i, graph_type(&a->graph, x));
        c->sides[0].tensors[x] = leaf;
        c->sides[1].tensors[y] = leaf;
    }
}

static void note_outputs(struct common_graph *c, const size_t *partner)
{
    for (int s = 0; s < 2; s++) {
        struct common_side *side = &c->sides[s];
        side->outputs = arena_array(&c->arena, tensor_id, c->n_outputs + 1);
        for (size_t i = 0; i < c->n_outputs; i++)
            side->outputs[i] = side->tensors[side->model->outputs.items[s ? partner[i] : i].tensor];
    }
}

static void mark_live(struct common_graph *c, struct common_side *side)
{
    side->is_live = arena_array(&c->arena, bool, c->n_nodes + 1);
    for (size_t i = 0; i < c->n_outputs; i++)
        graph_add_output(&c->graph, side->outputs[i]);
    graph_mark_live(&c->graph, side->is_live);
    vec_clear(&c->graph.outputs);
}

static void start_side(struct common_graph *c, int s, struct imported_model *m)
{
    size_t n = m->graph.tensors.count;
    c->sides[s].model = m;
    c->sides[s].tensors = arena_array(&c->arena, tensor_id, n + 1);
    for (size_t t = 0; t < n; t++)
        c->sides[s].tensors[t] = NO_TENSOR;
}

static bool make(struct common_graph *c, struct imported_model *a, struct imported_model *b, struct error *error)
{
    c->n_inputs = a->inputs.count;
    c->n_outputs = a->outputs.count;
    size_t *inputs = arena_array(&c->arena, size_t, c->n_inputs + 1);
    size_t *outputs = arena_array(&c->arena, size_t, c->n_outputs + 1);
    if (!check_count(c, "inputs", c->n_inputs, b->inputs.count, error) ||
        !check_count(c, "outputs", c->n_outputs, b->outputs.count, error))
        return false;
    pair_values(a->inputs.items, b->inputs.items, c->n_inputs, inputs, &c->has_other_names);
    pair_values(a->outputs.items, b->outputs.items, c->n_outputs, outputs, &c->has_other_names);
    if (!check_pairs(c, "input", a->inputs.items, b->inputs.items, c->n_inputs, inputs, type_equal, error) ||
        !check_pairs(c, "output", a->outputs.items, b->outputs.items, c->n_outputs, outputs, may_be_equal, error))
        return false;
    add_inputs(c, inputs);
    if (!copy_side(c, &c->sides[0], error) || !copy_side(c, &c->sides[1], error))
        return false;
    note_outputs(c, outputs);
    c->n_nodes = c->graph.nodes.count;
    mark_live(c, &c->sides[0]);
    mark_live(c, &c->sides[1]);
    c->class_of = arena_array(&c->arena, tensor_id, c->graph.tensors.count + 1);
    for (tensor_id t = 0; t < c->graph.tensors.count; t++)
        c->class_of[t] = t;
    return true;
}

bool common_graph_make(struct common_graph *c, struct imported_model *a, struct imported_model *b, struct error *error)
{
    *c = (struct common_graph){0};
    graph_init(&c->graph, &c->arena);
    start_side(c, 0, a);
    start_side(c, 1, b);
    if (make(c, a, b, error))
        return true;
    common_graph_free(c);
    return false;
}

void common_graph_free(struct common_graph *c)
{
    graph_free(&c->graph);
    vecs_free(c, weights, opaques);
    table_free(&c->weight_by_content);
    table_free(&c->opaque_by_content);
    arena_free(&c->arena);
}

// --- what is shared --------------------------------------------------------------------------------------------------

static void mark_classes_of(const struct common_graph *c, int side, bool *ret_present)
{
    const struct graph *g = &c->graph;
    for (node_id n = 0; n < c->n_nodes; n++)
        for (uint32_t i = 0; c->sides[side].is_live[n] && i < g->nodes.items[n].n_outputs; i++)
            ret_present[c->class_of[g->nodes.items[n].first_output + i]] = true;
}

void shared_classes_init(struct shared_classes *ret_shared, const struct common_graph *c)
{
    size_t n = c->graph.tensors.count;
    LOCAL_ZEROS(bool, in_first, n + 1);
    LOCAL_ZEROS(bool, in_second, n + 1);
    *ret_shared = (struct shared_classes){.is_shared = mem_alloc_zero(n + 1), .n_tensors = n};
    mark_classes_of(c, 0, in_first);
    mark_classes_of(c, 1, in_second);
    for (size_t t = 0; t < n; t++) {
        ret_shared->is_shared[t] = in_first[c->class_of[t]] && in_second[c->class_of[t]];
        ret_shared->count += ret_shared->is_shared[t];
    }
}

void shared_classes_free(struct shared_classes *shared)
{
    mem_free(shared->is_shared, shared->n_tensors + 1);
}

bool common_outputs_are_equal(const struct common_graph *c)
{
    return ALL(size_t, i, c->n_outputs, common_tensors_are_equal(c, c->sides[0].outputs[i], c->sides[1].outputs[i]));
}

// --- names -----------------------------------------------------------------------------------------------------------

const char *common_graph_name(const struct common_graph *c, int side, tensor_id t)
{
    const struct common_side *s = &c->sides[side];
    const struct graph *g = &s->model->graph;
    for (tensor_id x = 0; x < g->tensors.count; x++) {
        const struct imported_origin *origin =
            s->tensors[x] == t ? imported_model_find_origin(s->model, g->tensors.items[x].value) : NULL;
        if (origin)
            return origin->name;
    }
    return NULL;
}

const char *common_graph_operator(const struct common_graph *c, int side, node_id n)
{
    const struct common_side *s = &c->sides[side];
    const struct graph *g = &s->model->graph;
    const struct operator* op = c->graph.nodes.items[n].op;
    for (tensor_id x = 0; op->flags & OPERATOR_IS_OPAQUE && x < g->tensors.count; x++)
        if (s->tensors[x] == c->graph.nodes.items[n].first_output) {
            uint32_t place = place_of_opaque(s->model, g->tensors.items[x].producer);
            const struct onnx_node *source = s->model->file->model->graph->nodes.items[place];
            return source->op_type.text;
        }
    return op->name;
}

const char *common_graph_output_name(const struct common_graph *c, size_t output)
{
    return c->sides[0].model->outputs.items[output].name;
}
