// Asks for counts first, then for the arrays.
#include "provider/graph_view.h"

static bool read_values(const struct runtime *r, const OrtValueInfo **infos, size_t n, struct graph_value *ret_values)
{
    for (size_t i = 0; i < n; i++) {
        struct graph_value *v = &ret_values[i];
        v->info = infos[i];
        if (infos[i] && (!runtime_is_done(r, r->api->GetValueInfoName(infos[i], &v->name)) ||
                         !runtime_is_done(r, r->api->ValueInfo_IsConstantInitializer(infos[i], &v->is_constant))))
            return false;
    }
    return true;
}

typedef OrtStatus *ORT_API_CALL count_function(const OrtNode *node, size_t *ret_n);
typedef OrtStatus *ORT_API_CALL list_function(const OrtNode *node, const OrtValueInfo **ret_infos, size_t n);

static bool read_list(const struct runtime *r, const OrtNode *node, count_function *count, list_function *list,
                      size_t *ret_n, const struct graph_value **ret_values, struct arena *arena)
{
    if (!runtime_is_done(r, count(node, ret_n)))
        return false;
    const OrtValueInfo **infos = arena_array(arena, const OrtValueInfo *, *ret_n + 1);
    struct graph_value *values = arena_array(arena, struct graph_value, *ret_n + 1);
    *ret_values = values;
    return runtime_is_done(r, list(node, infos, *ret_n)) && read_values(r, infos, *ret_n, values);
}

static bool read_provider(const struct runtime *r, struct graph_node *n)
{
    const char *provider = NULL;
    if (!runtime_is_done(r, r->api->Node_GetEpName(n->node, &provider)))
        return false;
    n->is_taken = provider && *provider;
    return true;
}

bool graph_node_read(struct graph_node *n, const struct runtime *r, struct arena *arena)
{
    const OrtApi *api = r->api;
    return runtime_is_done(r, api->Node_GetName(n->node, &n->name)) &&
           runtime_is_done(r, api->Node_GetOperatorType(n->node, &n->type)) &&
           runtime_is_done(r, api->Node_GetDomain(n->node, &n->domain)) &&
           runtime_is_done(r, api->Node_GetNumImplicitInputs(n->node, &n->n_implicit)) &&
           runtime_is_done(r, api->Node_GetNumSubgraphs(n->node, &n->n_subgraphs)) && read_provider(r, n) &&
           read_list(r, n->node, api->Node_GetNumInputs, api->Node_GetInputs, &n->n_inputs, &n->inputs, arena) &&
           read_list(r, n->node, api->Node_GetNumOutputs, api->Node_GetOutputs, &n->n_outputs, &n->outputs, arena);
}

static bool read_opsets(struct graph_view *v, const struct runtime *r, struct arena *arena)
{
    if (!runtime_is_done(r, r->api->Graph_GetOnnxIRVersion(v->graph, &v->ir_version)) ||
        !runtime_is_done(r, r->api->Graph_GetNumOperatorSets(v->graph, &v->n_opsets)))
        return false;
    v->domains = arena_array(arena, const char *, v->n_opsets);
    v->versions = arena_array(arena, int64_t, v->n_opsets);
    return runtime_is_done(r, r->api->Graph_GetOperatorSets(v->graph, v->domains, v->versions, v->n_opsets));
}

static bool read_nodes(struct graph_view *v, const struct runtime *r, struct arena *arena)
{
    if (!runtime_is_done(r, r->api->Graph_GetNumNodes(v->graph, &v->n_nodes)))
        return false;
    const OrtNode **nodes = arena_array(arena, const OrtNode *, v->n_nodes + 1);
    v->nodes = arena_array(arena, struct graph_node, v->n_nodes + 1);
    if (!runtime_is_done(r, r->api->Graph_GetNodes(v->graph, nodes, v->n_nodes)))
        return false;
    for (size_t i = 0; i < v->n_nodes; i++) {
        v->nodes[i].node = nodes[i];
        if (!graph_node_read(&v->nodes[i], r, arena))
            return false;
    }
    return true;
}

bool graph_view_make(struct graph_view *ret_view, const struct runtime *r, const OrtGraph *graph, struct arena *arena)
{
    *ret_view = (struct graph_view){.graph = graph};
    return runtime_is_done(r, r->api->Graph_GetModelPath(graph, &ret_view->path)) && read_opsets(ret_view, r, arena) &&
           read_nodes(ret_view, r, arena);
}
