// The plugin that ONNX Runtime loads: a factory, which makes a provider for each session. A provider takes the regions
// of the session's graph that run faster compiled than in ONNX Runtime's own provider, and leaves the others to it.
#include "provider/provider.h"

#include "core/memory/memory.h"
#include "core/system/clock.h"
#include "core/text/error.h"
#include "library/library.h"
#include "provider/compatibility.h"
#include "provider/compiled_region.h"
#include "provider/context_node.h"
#include "provider/regions.h"
#include <string.h>

#define OPENING_SECONDS 10.0   // that a session's regions are searched and timed for, unless `time` says otherwise
#define SHARE_OF_OPENING 0.5   // of what a session of the region took to open: what this one takes without us
#define OPTION_PREFIX "ep.tasoexecutionprovider."

struct factory {
    OrtEpFactory base;
    struct runtime runtime;
};
struct provider {
    OrtEp base;
    struct runtime runtime;
    taso_options *options;
    double created;   // on clock_seconds: the session opens from then on
    struct context_options contexts;
    size_t n_contexts;    // that were written
    struct arena arena;   // of the regions' names
    const char *compatibility;
    VEC(struct compiled_region *) regions;
};
struct region_kernel {
    OrtNodeComputeInfo base;
    struct compiled_region *region;
};

// --- kernels ---------------------------------------------------------------------------------------------------------

static OrtStatus *ORT_API_CALL create_state(OrtNodeComputeInfo *this, OrtNodeComputeContext *context, void **ret_state)
{
    *ret_state = ((struct region_kernel *)this)->region;
    return NULL;
}

static OrtStatus *ORT_API_CALL compute(OrtNodeComputeInfo *this, void *state, OrtKernelContext *context)
{
    return compiled_region_run(state, context);
}

static void ORT_API_CALL release_state(OrtNodeComputeInfo *this, void *state)
{
}

static struct region_kernel *make_kernel(struct compiled_region *region)
{
    struct region_kernel *k = mem_alloc_zero(sizeof *k);
    k->base = (OrtNodeComputeInfo){ORT_API_VERSION, create_state, compute, release_state};
    k->region = region;
    return k;
}

// --- which regions are taken -----------------------------------------------------------------------------------------

static bool offer(struct provider *p, const struct graph_view *view, const struct region *region,
                  OrtEpGraphSupportInfo *info)
{
    const OrtNodeFusionOptions options = {ORT_API_VERSION, .drop_constant_initializers = true};
    const OrtNode **nodes = arena_array(&p->arena, const OrtNode *, region->n);
    for (size_t i = 0; i < region->n; i++)
        nodes[i] = view->nodes[region->nodes[i]].node;
    return runtime_is_done(&p->runtime,
                           p->runtime.ep->EpGraphSupportInfo_AddNodesToFuse(info, nodes, region->n, &options));
}

static bool is_worth_it(struct provider *p, struct compiled_region *c, size_t n_nodes, double ends, struct error *error)
{
    if (!compiled_region_is_fixed(c) && p->contexts.is_written)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "no EPContext node can have unknown sizes");
    double ratio = compiled_region_judge(c, ends - clock_seconds(), error);
    if (ratio > 0)
        runtime_log(&p->runtime, "taso: %zu nodes are run %.2f times faster%s", n_nodes, ratio,
                    compiled_region_is_fixed(c) ? "" : " at likely sizes");
    return ratio > 0;
}

static void judge_region(struct provider *p, const struct graph_view *view, struct regions *regions,
                         const struct region *region, double ends, OrtEpGraphSupportInfo *info)
{
    struct error error = {0};
    struct model_bytes model;
    struct compiled_region *c = NULL;
    double started = clock_seconds();
    if (regions_make_model(regions, region, &p->runtime, view, &p->arena, &model, &error))
        c = compiled_region_open(&p->runtime, &model, p->options, &error);
    double of_theirs = SHARE_OF_OPENING * (clock_seconds() - started);
    if (c && is_worth_it(p, c, region->n, ends - of_theirs, &error) && offer(p, view, region, info)) {
        vec_push(&p->regions, c);
        return;
    }
    compiled_region_close(c);
    runtime_log(&p->runtime, "taso: %zu nodes are left to ONNX Runtime: %s", region->n,
                *error.message ? error.message : "they are not run faster");
}

COMPARISON(compare_sizes, struct region, ORDER(y->n, x->n) ?: ORDER(x->nodes[0], y->nodes[0]))

// The largest regions first, each for its share of what is left of the time. How long the own provider takes to open
// the region is kept for it, should it be the one that runs it.
static void judge_regions(struct provider *p, const struct graph_view *view, struct regions *regions,
                          OrtEpGraphSupportInfo *info)
{
    double seconds = compiled_region_seconds(p->options), now = clock_seconds(), left;
    size_t n_left = regions->n_taken, i = 0;
    vec_sort(&regions->items, compare_sizes);
    for (; i < regions->items.count && (left = p->created + seconds - now) > 0; i++, now = clock_seconds()) {
        const struct region *region = &regions->items.items[i];
        judge_region(p, view, regions, region, now + left * (double)region->n / (double)n_left, info);
        n_left -= region->n;
    }
    if (n_left > 0)
        runtime_log(&p->runtime, "taso: %zu nodes are left to ONNX Runtime: the time is over", n_left);
    runtime_log(&p->runtime, "taso: %zu of %zu nodes are understood; opening has taken %.1f s of %.1f",
                regions->n_taken, view->n_nodes, now - p->created, seconds);
}

// A model with EPContext nodes holds nothing else of ours.
static bool offer_contexts(struct provider *p, const struct graph_view *view, OrtEpGraphSupportInfo *info)
{
    bool has_contexts = false;
    for (size_t i = 0; i < view->n_nodes; i++)
        if (context_node_is_ours(&p->runtime, &view->nodes[i]))
            has_contexts = offer(p, view, &(struct region){&i, 1}, info) || has_contexts;
    return has_contexts;
}

static OrtStatus *ORT_API_CALL get_capability(OrtEp *this, const OrtGraph *graph, OrtEpGraphSupportInfo *info)
{
    struct provider *p = (struct provider *)this;
    struct graph_view view;
    struct regions regions;
    struct error error = {0};
    if (!graph_view_make(&view, &p->runtime, graph, &p->arena))
        return runtime_fail(&p->runtime, "taso: the graph cannot be read");
    if (offer_contexts(p, &view, info))
        return NULL;
    if (regions_find(&regions, &p->runtime, &view, &p->arena, &error))
        judge_regions(p, &view, &regions, info);
    else
        runtime_log(&p->runtime, "taso: nothing is taken: %s", error.message);
    regions_free(&regions);
    return NULL;
}

// --- compiling -------------------------------------------------------------------------------------------------------

static size_t find_name(const struct model_value *values, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(values[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

// The region that makes the node's first output.
static struct compiled_region *find_region(const struct provider *p, const struct graph_node *fused)
{
    for (size_t i = p->regions.count; i-- > 0;) {
        const struct model_bytes *m = compiled_region_model(p->regions.items[i]);
        if (fused->n_outputs > 0 && find_name(m->outputs.items, m->outputs.count, fused->outputs[0].name) != SIZE_MAX)
            return p->regions.items[i];
    }
    return NULL;
}

// False: it has an output that the region does not make.
static bool bind(struct provider *p, struct compiled_region *c, const struct graph_node *fused)
{
    const struct model_bytes *m = compiled_region_model(c);
    size_t *inputs = arena_array(&p->arena, size_t, fused->n_inputs + 1);
    size_t *outputs = arena_array(&p->arena, size_t, fused->n_outputs + 1);
    for (size_t i = 0; i < fused->n_inputs; i++)
        inputs[i] =
            fused->inputs[i].info ? find_name(m->inputs.items, m->inputs.count, fused->inputs[i].name) : SIZE_MAX;
    for (size_t i = 0; i < fused->n_outputs; i++) {
        outputs[i] = find_name(m->outputs.items, m->outputs.count, fused->outputs[i].name);
        if (outputs[i] == SIZE_MAX)
            return false;
    }
    compiled_region_bind(c, inputs, fused->n_inputs, outputs, fused->n_outputs);
    return true;
}

// The region of an EPContext node. NULL: error.
static struct compiled_region *restore(struct provider *p, const struct graph_view *view, struct error *error)
{
    struct compiled_region *c = compiled_region_begin_restoring(&p->runtime, p->options, error);
    if (c && context_node_unpack(&p->runtime, &view->nodes[0], view->path, compiled_region_file(c), error) &&
        compiled_region_restore(c, error)) {
        vec_push(&p->regions, c);
        return c;
    }
    compiled_region_close(c);
    return NULL;
}

// The kernel of one graph, which is a region or an EPContext node.
static OrtStatus *compile_one(struct provider *p, const OrtGraph *graph, const OrtNode *node,
                              OrtNodeComputeInfo **ret_info, OrtNode **ret_context)
{
    struct graph_node fused = {.node = node};
    struct graph_view view;
    struct error error = {0};
    if (!graph_node_read(&fused, &p->runtime, &p->arena) || !graph_view_make(&view, &p->runtime, graph, &p->arena))
        return runtime_fail(&p->runtime, "taso: a node cannot be read");
    bool is_context = view.n_nodes == 1 && context_node_is_ours(&p->runtime, &view.nodes[0]);
    struct compiled_region *region = is_context ? restore(p, &view, &error) : find_region(p, &fused);
    if (!region || !bind(p, region, &fused))
        return runtime_fail(&p->runtime, "taso: %s: %s", fused.name,
                            *error.message ? error.message : "it is none of the regions that were taken");
    if (p->contexts.is_written && !is_context)
        *ret_context = context_node_make(&p->runtime, &p->contexts, &fused, compiled_region_file(region), view.path,
                                         p->n_contexts++, &error);
    if (*error.message)
        return runtime_fail(&p->runtime, "taso: %s", error.message);
    *ret_info = &make_kernel(region)->base;
    return NULL;
}

static OrtStatus *ORT_API_CALL compile(OrtEp *this, const OrtGraph **graphs, const OrtNode **fused_nodes, size_t count,
                                       OrtNodeComputeInfo **ret_infos, OrtNode **ret_contexts)
{
    struct provider *p = (struct provider *)this;
    OrtStatus *status = NULL;
    for (size_t i = 0; i < count && !status; i++)
        status = compile_one(p, graphs[i], fused_nodes[i], &ret_infos[i], ret_contexts ? &ret_contexts[i] : NULL);
    return status;
}

static void ORT_API_CALL release_infos(OrtEp *this, OrtNodeComputeInfo **infos, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (infos[i])
            mem_free(infos[i], sizeof(struct region_kernel));
}

static const char *ORT_API_CALL compatibility_info(OrtEp *this, const OrtGraph *graph)
{
    return ((struct provider *)this)->compatibility;
}

// --- providers -------------------------------------------------------------------------------------------------------

static const char *ORT_API_CALL name_of_provider(const OrtEp *this)
{
    return PROVIDER_NAME;
}

// Options are taso-opt's, by their names behind the provider's prefix. They are kept for sessions that time regions.
static void read_entries(struct provider *p, const OrtKeyValuePairs *entries, taso_error *ret_error)
{
    const char *const *keys, *const *values;
    size_t n;
    p->runtime.api->GetKeyValuePairs(entries, &keys, &values, &n);
    const char **own_keys = arena_array(&p->arena, const char *, n + 1);
    const char **own_values = arena_array(&p->arena, const char *, n + 1);
    for (size_t i = 0; i < n && ret_error->status == TASO_DONE; i++)
        if (strncmp(keys[i], OPTION_PREFIX, strlen(OPTION_PREFIX)) == 0) {
            own_keys[p->runtime.n_entries] = arena_string(&p->arena, keys[i]);
            own_values[p->runtime.n_entries++] = arena_string(&p->arena, values[i]);
            taso_options_set(p->options, keys[i] + strlen(OPTION_PREFIX), values[i], ret_error);
        }
    p->runtime.keys = own_keys;
    p->runtime.values = own_values;
    p->contexts = context_options_read(keys, values, n, &p->arena);
}

static OrtStatus *set_options(struct provider *p, const OrtSessionOptions *session)
{
    OrtKeyValuePairs *entries;
    taso_error error = {0};
    OrtStatus *status = p->runtime.api->GetSessionOptionsConfigEntries(session, &entries);
    if (status)
        return status;
    read_entries(p, entries, &error);
    p->runtime.api->ReleaseKeyValuePairs(entries);
    return error.status == TASO_DONE ? NULL : runtime_fail(&p->runtime, "taso: %s", error.message);
}

static void close_provider(struct provider *p)
{
    for (size_t i = 0; i < p->regions.count; i++)
        compiled_region_close(p->regions.items[i]);
    vec_free(&p->regions);
    taso_options_free(p->options);
    arena_free(&p->arena);
    mem_free(p, sizeof *p);
}

static OrtStatus *ORT_API_CALL create_provider(OrtEpFactory *this, const OrtHardwareDevice *const *devices,
                                               const OrtKeyValuePairs *const *metadata, size_t n_devices,
                                               const OrtSessionOptions *session, const OrtLogger *logger,
                                               OrtEp **ret_provider)
{
    struct provider *p = mem_alloc_zero(sizeof *p);
    p->runtime = ((struct factory *)this)->runtime;
    p->runtime.logger = logger;
    p->created = clock_seconds();
    p->options = taso_options_new();
    p->options->arguments.optimize.seconds = OPENING_SECONDS;
    p->options->arguments.optimize.is_guest = true;
    p->base = (OrtEp){.ort_version_supported = ORT_API_VERSION,
                      .GetName = name_of_provider,
                      .GetCapability = get_capability,
                      .Compile = compile,
                      .ReleaseNodeComputeInfos = release_infos,
                      .GetCompiledModelCompatibilityInfo = compatibility_info};
    p->compatibility = compatibility_text(&p->arena);
    OrtStatus *status = set_options(p, session);
    if (status)
        close_provider(p);
    else
        *ret_provider = &p->base;
    return status;
}

static void ORT_API_CALL release_provider(OrtEpFactory *this, OrtEp *provider)
{
    close_provider((struct provider *)provider);
}

// --- the factory -----------------------------------------------------------------------------------------------------

static const char *ORT_API_CALL name_of_factory(const OrtEpFactory *this)
{
    return PROVIDER_NAME;
}

static const char *ORT_API_CALL vendor(const OrtEpFactory *this)
{
    return "taso";
}

static uint32_t ORT_API_CALL vendor_id(const OrtEpFactory *this)
{
    return 0;   // none of PCI's
}

static const char *ORT_API_CALL version(const OrtEpFactory *this)
{
    return taso_version();
}

static OrtStatus *ORT_API_CALL list_devices(OrtEpFactory *this, const OrtHardwareDevice *const *devices,
                                            size_t n_devices, OrtEpDevice **ret_devices, size_t limit, size_t *ret_n)
{
    const struct runtime *r = &((struct factory *)this)->runtime;
    *ret_n = 0;
    for (size_t i = 0; i < n_devices && *ret_n < limit; i++) {
        if (r->api->HardwareDevice_Type(devices[i]) != OrtHardwareDeviceType_CPU)
            continue;
        OrtStatus *status = r->ep->CreateEpDevice(this, devices[i], NULL, NULL, &ret_devices[*ret_n]);
        if (status)
            return status;
        ++*ret_n;
    }
    return NULL;
}

static OrtStatus *ORT_API_CALL check_compatibility(OrtEpFactory *this, const OrtHardwareDevice *const *devices,
                                                   size_t n_devices, const char *text,
                                                   OrtCompiledModelCompatibility *ret_compatibility)
{
    *ret_compatibility = compatibility_of(text);
    return NULL;
}

// Memory is ONNX Runtime's own.
static OrtStatus *ORT_API_CALL no_transfer(OrtEpFactory *this, OrtDataTransferImpl **ret_transfer)
{
    *ret_transfer = NULL;
    return NULL;
}

static bool has_no_streams(const OrtEpFactory *this)
{
    return false;
}

OrtStatus *CreateEpFactories(const char *name, const OrtApiBase *base, const OrtLogger *logger,
                             OrtEpFactory **ret_factories, size_t limit, size_t *ret_n)
{
    const OrtApi *api = base->GetApi(ORT_API_VERSION);
    if (!api) {   // an older ONNX Runtime, which has other numbers for the same functions up to its version
        api = base->GetApi(1);
        return api ? api->CreateStatus(ORT_NOT_IMPLEMENTED, "taso: ONNX Runtime is older than version 1.23") : NULL;
    }
    if (limit < 1)
        return api->CreateStatus(ORT_INVALID_ARGUMENT, "taso: there is no room for a factory");
    struct factory *f = mem_alloc_zero(sizeof *f);
    f->runtime = (struct runtime){api, api->GetEpApi(), logger};
    f->base = (OrtEpFactory){.ort_version_supported = ORT_API_VERSION,
                             .GetName = name_of_factory,
                             .GetVendor = vendor,
                             .GetSupportedDevices = list_devices,
                             .CreateEp = create_provider,
                             .ReleaseEp = release_provider,
                             .GetVendorId = vendor_id,
                             .GetVersion = version,
                             .ValidateCompiledModelCompatibilityInfo = check_compatibility,
                             .CreateDataTransfer = no_transfer,
                             .IsStreamAware = has_no_streams};
    ret_factories[0] = &f->base;
    *ret_n = 1;
    return NULL;
}

OrtStatus *ReleaseEpFactory(OrtEpFactory *factory)
{
    mem_free(factory, sizeof(struct factory));
    return NULL;
}
