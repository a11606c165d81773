// Import of a graph: inputs and initializers become leaves, then each node, in the model's order, goes through its row
// of the table of operators (operators.def). What has no row, or is refused, becomes an opaque node. Nodes whose inputs
// are all weights are computed at once, up to the limit.
#include "onnx/convert/import/import.h"

#include "core/text/log.h"
#include "expressions/elements.h"
#include "onnx/convert/bind_shapes.h"
#include "onnx/convert/build.h"
#include "onnx/convert/constant_cache.h"
#include "onnx/convert/exact_places.h"
#include "onnx/convert/fold_constants.h"
#include "onnx/convert/import/equal_nodes.h"
#include "onnx/convert/opaque/opaque_types.h"
#include "onnx/convert/operators/converters.h"
#include "onnx/convert/read_node.h"
#include "onnx/format/check.h"

#include <inttypes.h>
#include <string.h>

#define SMALL_CONSTANT 4096   // elements

// ---- leaves ----

static void define_name(struct importer *im, const struct onnx_string *name, tensor_id tensor, uint32_t node,
                        uint32_t output)
{
    struct imported_weight *w = weight_of(im->model, tensor);
    if (w && !w->name)
        w->name = name->text;
    name_enter(im, name)->tensor = tensor;
    origin_remember(im->model, tensor, name->text, node, output);
}

static void import_initializers(struct importer *im)
{
    const struct onnx_graph *g = im->source;
    for (size_t i = 0; i < g->initializers.count; i++) {
        const struct onnx_tensor *t = g->initializers.items[i];
        struct imported_weight w = {.name = t->name.text, .tensor = t, .type = type_of_tensor(t)};
        define_name(im, &t->name, weight_add(im->model, w), NO_ORIGIN, 0);
    }
    for (size_t i = 0; i < g->sparse_initializers.count; i++) {
        const struct onnx_sparse_tensor *s = g->sparse_initializers.items[i];
        struct imported_weight w = {.name = s->values->name.text, .sparse = s, .type = {.rank = RANK_UNKNOWN}};
        define_name(im, &s->values->name, weight_add(im->model, w), NO_ORIGIN, 0);
    }
}

static void import_input(struct importer *im, const struct onnx_value_info *info, const struct type *type)
{
    struct imported_model *m = im->model;
    if (name_enter(im, &info->name)->tensor != NO_TENSOR)
        return;
    tensor_id tensor = graph_add_leaf(&m->graph, operators[OP_INPUT], (int64_t)m->inputs.count, type);
    vec_push(&m->inputs, ((struct imported_value){info->name.text, tensor}));
    m->symbols.n_unbound +=
        info->type && info->type->tensor && (ANY(int, i, type->rank, type->dim[i] < 0) || type->rank == RANK_UNKNOWN);
    define_name(im, &info->name, tensor, NO_ORIGIN, 0);
}

static bool import_inputs(struct importer *im)
{
    size_t n = im->source->inputs.count;
    struct type *types = arena_array(&im->scratch, struct type, n + 1);
    if (!bind_shapes(im, types))
        return false;
    for (size_t i = 0; i < n; i++)
        import_input(im, im->source->inputs.items[i], &types[i]);
    return true;
}

static void note_declared_types(struct importer *im, const struct onnx_list *infos)
{
    for (size_t i = 0; i < infos->count; i++) {
        const struct onnx_value_info *info = infos->items[i];
        if (info->name.size && info->type)
            name_enter(im, &info->name)->declared = info->type;
    }
}

// ---- nodes ----

static tensor_id *tensors_of_inputs(struct importer *im, const struct onnx_node *n)
{
    tensor_id *tensors = arena_array(&im->model->arena, tensor_id, n->inputs.count + 1);
    for (size_t i = 0; i < n->inputs.count; i++) {
        const struct named_value *value = name_find(im, &n->inputs.items[i]);
        tensors[i] = value ? value->tensor : NO_TENSOR;
    }
    tensors[n->inputs.count] = NO_TENSOR;
    return tensors;
}

static bool has_varying_type(const struct importer *im, const struct onnx_string *name)
{
    const struct named_value *own = name_find(im, name);
    for (int k = 0; im->part.peers && own && own->tensor != NO_TENSOR && k < N_PROBES; k++) {
        const struct named_value *other = name_find(&im->part.peers[k], name);
        if (!other || other->tensor == NO_TENSOR ||
            !type_equal(graph_type(&im->model->graph, own->tensor),
                        graph_type(&im->part.peers[k].model->graph, other->tensor)))
            return true;
    }
    return false;
}

// Sizes of an input, or of what a subgraph reads, of a model with symbols.
static bool reads_what_varies(struct importer *im, const struct conversion *c)
{
    uint32_t n_captured;
    const char **captured = names_captured_by(im, c->node, &n_captured);
    return ANY(uint32_t, i, c->n_inputs, has_varying_type(im, &c->node->inputs.items[i])) ||
           ANY(uint32_t, i, n_captured, has_varying_type(im, &(struct onnx_string){captured[i], strlen(captured[i])}));
}

// A flag of the node's that is neither 0 nor 1; NULL: none. Runtimes take such a one for yes or for no, each by itself.
static const char *find_odd_flag(const struct conversion *c)
{
    static const char flags[] =
        "align_corners\0allowzero\0antialias\0ceil_mode\0count_include_pad\0detect_negative\0"
        "detect_positive\0exclude_outside\0exclusive\0fmod\0input_forget\0inverse\0keepdims\0"
        "largest\0layout\0linear_before_reset\0noop_with_empty_axes\0onesided\0reverse\0"
        "select_last_index\0sorted\0spatial\0storage_order\0training_mode\0transA\0transB\0upper\0";
    for (const char *flag = flags; onnx_node_has_standard_domain(c->node) && *flag; flag += strlen(flag) + 1) {
        int64_t value = int_attribute(c, flag, 0);
        if (value != 0 && value != 1)
            return flag;
    }
    return NULL;
}

// Types that follow from those that go in. A declared type was true where it was traced, and ONNX Runtime runs
// it with other sizes: it is read for its element type, and where it contradicts, nothing is known.
void import_infer_types(struct importer *im, struct conversion *c, struct type *ret_types)
{
    for (uint32_t i = 0; i < c->n_outputs; i++)
        ret_types[i] = (struct type){.rank = RANK_UNKNOWN};
    if (!find_odd_flag(c) && (!has_subgraphs(c->node) || !reads_what_varies(im, c)))
        infer_opaque_types(c, ret_types);
    for (uint32_t i = 0; i < c->n_outputs; i++) {
        if (c->known_types && type_is_known(&c->known_types[i]))
            ret_types[i] = c->known_types[i];
        const struct named_value *value = name_find(im, &c->node->outputs.items[i]);
        struct type declared = type_from_onnx(im, value ? value->declared : NULL);
        if (!type_is_known(&ret_types[i]))
            ret_types[i] = (struct type){.dtype = declared.dtype, .rank = RANK_UNKNOWN};
        else if (type_is_known(&declared) && !type_equal(&declared, &ret_types[i]))
            ret_types[i].rank = RANK_UNKNOWN;
        ret_types[i] = type_within_limits(ret_types[i]);
    }
}

static void give_outputs_of(struct conversion *c, const struct imported_opaque *equal)
{
    for (uint32_t i = 0; i < c->n_outputs; i++)
        c->outputs[i] = equal->first_output + i;
    c->is_rewritten = true;
}

void import_opaque(struct importer *im, struct conversion *c, const struct type *types, uint32_t equal)
{
    struct imported_model *m = im->model;
    c->stands_for.inputs = NULL;
    if (equal != TABLE_NONE) {
        give_outputs_of(c, &m->opaques.items[equal]);
        return;
    }
    struct imported_opaque o = {.node = c->index, .reason = arena_string(&m->arena, c->reason)};
    o.captured = names_captured_by(im, c->node, &o.n_captured);
    tensor_id *inputs = arena_array(&im->scratch, tensor_id, c->n_inputs + o.n_captured + 1);
    for (uint32_t i = 0; i < c->n_inputs; i++)
        if (c->inputs[i] != NO_TENSOR)
            inputs[o.n_inputs++] = c->inputs[i];
    for (uint32_t i = 0; i < o.n_captured; i++) {
        struct onnx_string name = {o.captured[i], strlen(o.captured[i])};
        inputs[o.n_inputs + i] = name_find(im, &name)->tensor;
    }
    node_id node =
        graph_add_opaque(&m->graph, (int64_t)m->opaques.count, o.n_inputs + o.n_captured, inputs, c->n_outputs, types);
    graph_set_origin(&m->graph, node, c->index);
    o.first_output = m->graph.nodes.items[node].first_output;
    o.n_outputs = c->n_outputs;
    vec_push(&m->opaques, o);
    import_note_kept(im, c);
    for (uint32_t i = 0; i < c->n_outputs; i++)
        c->outputs[i] = graph_output_of(&m->graph, node, i);
    log_debug(im->options->log, "node %s (%s) is kept as it is: %s",
              c->node->name.size ? c->node->name.text : "without a name", c->node->op_type.text, c->reason);
}

static bool is_repetition(const struct conversion *c, tensor_id tensor)
{
    const struct graph *g = &c->model->graph;
    const struct node *n = graph_producer(g, tensor);
    const tensor_id *inputs = graph_inputs(g, g->tensors.items[tensor].producer);
    bool is_of_one = n->op->id == OP_CONCAT;
    for (uint32_t i = 1; i < n->n_inputs; i++)
        is_of_one &= inputs[i] == inputs[0];
    return n->op->id == OP_BROADCAST || n->op->id == OP_ONEHOT || is_of_one;
}

// A large constant that says the same thing many times (an expanded number) is better left as it is.
static bool grows_by_repetition(const struct conversion *c)
{
    int64_t in = 0, out = 0;
    bool repeats = false;
    for (uint32_t i = 0; i < c->n_inputs; i++)
        in += c->inputs[i] == NO_TENSOR ? 0 : type_elements(type_of(c, c->inputs[i]));
    for (uint32_t i = 0; i < c->n_outputs; i++) {
        out += c->outputs[i] == NO_TENSOR ? 0 : type_elements(type_of(c, c->outputs[i]));
        repeats |= c->outputs[i] != NO_TENSOR && is_repetition(c, c->outputs[i]);
    }
    return out > SMALL_CONSTANT && out > in && repeats;
}

static bool can_be_folded(const struct importer *im, struct conversion *c)
{
    uint32_t n_constant = 0;
    for (uint32_t i = 0; i < c->n_inputs; i++) {
        if (c->inputs[i] != NO_TENSOR && !is_constant(c, c->inputs[i]))
            return false;
        n_constant += c->inputs[i] != NO_TENSOR;
    }
    for (uint32_t i = 0; i < c->n_outputs; i++) {
        const struct type *t = c->outputs[i] == NO_TENSOR ? NULL : type_of(c, c->outputs[i]);
        if (t &&
            (is_weight(c, c->outputs[i]) || !dtype_has_numbers(t->dtype) || !folding_has_room(im, type_elements(t))))
            return false;
    }
    return n_constant > 0 && !grows_by_repetition(c);
}

void import_take_back(struct importer *im, struct graph_mark mark)
{
    graph_rollback(&im->model->graph, mark);
    if (im->folding.is_constant.count > mark.nodes)
        im->folding.is_constant.count = mark.nodes;
}

// NULL: it cannot be computed.
static const void *value_of_output(struct importer *im, const struct conversion *c, uint32_t output)
{
    struct imported_model *m = im->model;
    double before = im->folding.operations;
    if (!folding_take_room_for(im, &m->graph, c->outputs[output]))
        return NULL;
    double operations = im->folding.operations - before;
    const void *data = constant_cache_find(c, output, operations);
    if (data)
        return data;
    struct arena *kept = constant_cache_arena(c, output, operations);
    constant_cache_count(c, operations);
    data = evaluate_constant(m, &m->graph, c->outputs[output], kept ? kept : &m->arena);
    if (data && kept)
        constant_cache_note(c, output, data);
    return data;
}

// The fold of an output: a weight, which is broadcast where it says the same many times.
struct folded {
    const void *data;   // NULL: there is no such output
    struct type type, weight;
};

// A value that is large and more than it is computed of, without its repetitions. False: it has none.
static bool fold_repetition(struct importer *im, const struct conversion *c, uint32_t output, struct folded *ret)
{
    ARENA(whole);
    const struct graph *g = &im->model->graph;
    double before = im->folding.operations;
    void *data = folding_take_room_for(im, g, c->outputs[output])
                     ? (void *)(uintptr_t)evaluate_constant(im->model, g, c->outputs[output], &whole)
                     : NULL;
    constant_cache_count(c, im->folding.operations - before);
    bool has_some = data && elements_without_repetition(&ret->type, data, &ret->weight);
    if (has_some)
        ret->data = arena_copy(&im->model->arena, data, type_bytes(&ret->weight), _Alignof(max_align_t));
    return has_some;
}

// False: it stays as it is, as it cannot be computed, or would be a large copy of what there is.
static bool fold_output(struct importer *im, const struct conversion *c, uint32_t output, struct folded *ret)
{
    const struct type *t = type_of(c, c->outputs[output]);
    bool is_moved;
    ret->type = ret->weight = type_make(t->dtype, t->rank, t->dim);
    bool grows = type_elements(t) > SMALL_CONSTANT && constant_grows(&im->model->graph, c->outputs[output], &is_moved);
    if (grows && fold_repetition(im, c, output, ret))
        return true;
    ret->data = grows && is_moved ? NULL : value_of_output(im, c, output);
    return ret->data != NULL;
}

// The outputs, which depend on weights only, become weights themselves; what was built for them is taken back.
static bool fold_outputs(struct importer *im, struct conversion *c, struct graph_mark mark)
{
    struct imported_model *m = im->model;
    int64_t n_elements = 0;
    struct folded *folded = arena_array(&im->scratch, struct folded, c->n_outputs + 1);
    if (ANY(uint32_t, i, c->n_outputs, c->outputs[i] != NO_TENSOR && !fold_output(im, c, i, &folded[i])))
        return false;
    import_take_back(im, mark);
    for (uint32_t i = 0; i < c->n_outputs; i++) {
        if (!folded[i].data)
            continue;
        struct imported_weight w = {.type = folded[i].weight, .data = folded[i].data};
        w.name = type_equal(&w.type, &folded[i].type) ? c->node->outputs.items[i].text : NULL;
        c->outputs[i] = broadcast_to(c, weight_add(m, w), folded[i].type.rank, folded[i].type.dim);
        n_elements += type_elements(&w.type);
    }
    im->folding.elements += n_elements;
    m->counts.folded++;
    c->is_rewritten = true;
    return true;
}

static bool is_fresh(const struct conversion *c, struct graph_mark mark)
{
    return !ANY(uint32_t, i, c->n_outputs,
                c->outputs[i] != NO_TENSOR && c->model->graph.tensors.items[c->outputs[i]].producer < mark.nodes);
}

static void note_types(struct importer *im, struct conversion *c)
{
    c->known_types = arena_array(&im->scratch, struct type, c->n_outputs + 1);
    for (uint32_t i = 0; i < c->n_outputs; i++) {
        const struct type *t = c->outputs[i] == NO_TENSOR ? NULL : type_of(c, c->outputs[i]);
        c->known_types[i] = t ? type_make(t->dtype, t->rank, t->dim) : (struct type){.rank = RANK_UNKNOWN};
    }
}

static bool keep_for(struct conversion *c, const char *reason)
{
    for (uint32_t i = 0; i < c->n_outputs; i++)
        c->outputs[i] = NO_TENSOR;
    c->is_rewritten = false;
    c->reason[0] = '\0';
    return cannot(c, "%s", reason);
}

static const struct converter *find_row(struct conversion *c)
{
    const struct converter *row = converter_find(c->node->op_type.text);
    const char *flag = find_odd_flag(c);
    if (!onnx_node_has_standard_domain(c->node))
        cannot(c, "it is of the domain %s", c->node->domain.text);
    else if (!row)
        cannot(c, "the operator is not known");
    else if (c->opset < row->first_opset || c->opset > row->last_opset)
        cannot(c, "its meaning in operator set %" PRId64 " is not known", c->opset);
    else if (flag)
        cannot(c, "its %s is neither 0 nor 1", flag);
    else
        return row;
    return NULL;
}

static bool gives_all_outputs(struct conversion *c, const struct converter *row)
{
    uint32_t n_needed = row->n_inputs == ALL_INPUTS ? c->n_inputs + !c->n_inputs : row->n_inputs;
    c->parameter = row->parameter;
    bool is_converted = (n_needed == 0 || has_known_inputs(c, n_needed)) && row->convert(c);
    for (uint32_t i = 0; is_converted && i < c->n_outputs; i++)
        if (c->outputs[i] == NO_TENSOR && wants_output(c, i))
            is_converted = cannot(c, "its output %u is not known", i + 1);
    return is_converted;
}

bool import_convert(struct importer *im, struct conversion *c)
{
    const struct converter *row = find_row(c);
    if (!row)
        return false;
    bool is_exact = im->part.is_exact && im->depth == 0 && im->part.is_exact[c->index];
    bool is_kept = is_exact || (row->keeping != CONVERTED && !im->options->expands);
    if (is_kept && row->keeping == KEPT_UNREAD)
        return keep_for(c, row->reason);
    struct graph_mark mark = graph_mark(&im->model->graph);
    bool is_converted = gives_all_outputs(c, row);
    bool may_fold = is_converted && !im->folding.is_forbidden && !(is_kept && row->keeping == KEPT);
    bool is_folded = may_fold && is_fresh(c, mark) && can_be_folded(im, c) && fold_outputs(im, c, mark);
    if (is_kept && !is_folded) {
        if (is_converted)
            note_types(im, c);
        is_converted = keep_for(c, is_exact ? "rounding, or what is not finite, is meant there" : row->reason);
    }
    if (!is_converted)
        import_take_back(im, mark);
    return is_converted;
}

// Outputs that are no longer of one application cannot be written as one ONNX node again.
static bool is_scattered(const struct conversion *c)
{
    const struct tensor *tensors = c->model->graph.tensors.items;
    node_id producer = NO_NODE;
    for (uint32_t i = 0; i < c->n_outputs; i++) {
        if (c->outputs[i] == NO_TENSOR)
            continue;
        if (producer != NO_NODE && producer != tensors[c->outputs[i]].producer)
            return true;
        producer = tensors[c->outputs[i]].producer;
    }
    return false;
}

void import_define_outputs(struct importer *im, const struct conversion *c)
{
    bool stands_for_earlier = c->stands_for.inputs && !c->is_rewritten;
    uint32_t origin = c->is_rewritten || is_scattered(c) ? NO_ORIGIN
                      : stands_for_earlier               ? c->stands_for.node
                                                         : c->index;
    if (stands_for_earlier)
        im->model->origins.node_inputs[origin] = c->stands_for.inputs;
    for (uint32_t i = 0; i < c->n_outputs; i++)
        if (c->outputs[i] != NO_TENSOR && c->node->outputs.items[i].size)
            define_name(im, &c->node->outputs.items[i], c->outputs[i], origin, i);
}

struct conversion import_begin_node(struct importer *im, uint32_t index)
{
    const struct onnx_node *n = im->source->nodes.items[index];
    struct conversion c = {
        .importer = im,
        .model = im->model,
        .node = n,
        .index = index,
        .opset = im->model->opset,
        .inputs = im->model->origins.node_inputs[index] = tensors_of_inputs(im, n),
        .n_inputs = (uint32_t)n->inputs.count,
        .outputs = arena_array(&im->scratch, tensor_id, n->outputs.count + 1),
        .n_outputs = (uint32_t)n->outputs.count,
    };
    memset(c.outputs, 0xff, (n->outputs.count + 1) * sizeof *c.outputs);
    return c;
}

static void import_node(struct importer *im, uint32_t index)
{
    ARENA_MARK(mark, &im->scratch);
    struct conversion c = import_begin_node(im, index);
    if (!import_convert(im, &c)) {
        struct type *types = arena_array(&im->scratch, struct type, c.n_outputs + 1);
        import_infer_types(im, &c, types);
        import_opaque(im, &c, types, import_find_equal(im, &c, types));
        if (c.is_unfit)
            vec_push(&im->unfit, index);
    }
    import_define_outputs(im, &c);
}

void import_outputs(struct importer *im)
{
    for (size_t i = 0; i < im->source->outputs.count; i++) {
        const struct onnx_value_info *info = im->source->outputs.items[i];
        tensor_id tensor = name_find(im, &info->name)->tensor;
        vec_push(&im->model->outputs, ((struct imported_value){info->name.text, tensor}));
        graph_add_output(&im->model->graph, tensor);
    }
}

static void import_nodes(struct importer *im, const bool *is_live)
{
    for (size_t i = 0; i < im->source->nodes.count; i++)
        if (is_live[i])
            import_node(im, (uint32_t)i);
    import_outputs(im);
}

static const bool *begin_nodes(struct importer *im)
{
    const bool *is_live = names_find_live(im);
    names_count_uses(im, is_live);
    import_initializers(im);
    if (im->options->keeps_rounding && im->depth == 0)
        im->part.is_exact = exact_places_find(im, is_live);
    im->model->origins.node_inputs = arena_array(&im->model->arena, const tensor_id *, im->source->nodes.count + 1);
    return is_live;
}

static void import_subgraph(struct importer *im)
{
    import_nodes(im, begin_nodes(im));
}

bool import_begin(struct importer *im, const bool **ret_is_live)
{
    im->import_subgraph = import_subgraph;
    note_declared_types(im, &im->source->value_infos);
    note_declared_types(im, &im->source->outputs);
    *ret_is_live = begin_nodes(im);
    return import_inputs(im);
}

bool import_graph(struct importer *im)
{
    const bool *is_live;
    if (!import_begin(im, &is_live))
        return false;
    import_nodes(im, is_live);
    return true;
}

bool import_model(struct imported_model *m, struct onnx_file *file, const struct import_options *options,
                  struct error *error)
{
    struct importer im FREED_BY(importer_free);
    importer_init(&im, m, file, options, error);
    if (onnx_model_check(file->model, file->path, error) && import_graph(&im))
        return true;
    imported_model_free(m);
    return false;
}
